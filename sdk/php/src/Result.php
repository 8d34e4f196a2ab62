<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/**
 * Value of an answer: its fields as `$text['message_id']` or `$text->message_id`, and what the answer said beside it as `$text->_response`.
 *
 * @template T
 * @implements \ArrayAccess<string, mixed>
 * @implements \IteratorAggregate<string, mixed>
 */
final class Result implements \ArrayAccess, \IteratorAggregate, \Countable, \JsonSerializable
{
    /** @param array<string, mixed> $value */
    public function __construct(private readonly array $value, public readonly Response $_response)
    {
    }

    public function __get(string $name): mixed
    {
        return $this->value[$name] ?? null;
    }

    public function __isset(string $name): bool
    {
        return isset($this->value[$name]);
    }

    /** @return T */
    public function toArray(): array
    {
        return $this->value;
    }

    public function offsetExists(mixed $offset): bool
    {
        return isset($this->value[$offset]);
    }

    public function offsetGet(mixed $offset): mixed
    {
        return $this->value[$offset] ?? null;
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
        throw new \LogicException('An answer cannot be changed');
    }

    public function offsetUnset(mixed $offset): void
    {
        throw new \LogicException('An answer cannot be changed');
    }

    public function getIterator(): \ArrayIterator
    {
        return new \ArrayIterator($this->value);
    }

    public function count(): int
    {
        return count($this->value);
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        $value = $this->value;
        array_walk_recursive($value, static function (mixed &$one): void {
            $one = $one instanceof \DateTimeInterface ? Time::text($one) : $one;
        });
        return $value;
    }
}
