<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/**
 * Rows of a list: walk it, or take a page or an array.
 *
 * @template T
 * @implements \IteratorAggregate<int, T>
 */
final class Listing implements \IteratorAggregate
{
    /** @param \Closure(string|null): Result $ask */
    public function __construct(private readonly \Closure $ask)
    {
    }

    /** One page: the first, or the one that `next_cursor` of another names. */
    public function page(?string $cursor = null): Result
    {
        return ($this->ask)($cursor);
    }

    /** @return \Generator<int, T> */
    public function getIterator(): \Generator
    {
        $cursor = null;
        while (true) {
            $page = ($this->ask)($cursor);
            foreach ($page['data'] as $row) {
                yield $row;
            }
            if (!$page['has_more'] || in_array($page['next_cursor'], [null, $cursor], true)) {
                return;
            }
            $cursor = $page['next_cursor'];
        }
    }

    /**
     * At most so many rows.
     *
     * @return list<T>
     */
    public function toArray(int $limit): array
    {
        $rows = [];
        foreach ($this as $row) {
            $rows[] = $row;
            if (count($rows) >= $limit) {
                break;
            }
        }
        return $rows;
    }
}
