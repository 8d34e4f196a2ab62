<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/**
 * Messages as they come: `['id' => …, 'event' => …, 'data' => …]`. A stream that breaks goes on after the last one, and tells
 * none twice.
 *
 * @template T
 * @implements \IteratorAggregate<int, array{id: string, event: string, data: T}>
 */
final class Messages implements \IteratorAggregate
{
    private const MAX_REMEMBERED = 10_000;
    private const MAX_LENGTH = 2 * 1024 * 1024;

    /**
     * @param \Closure(string): \Generator<string> $lines
     * @param \Closure(float): void $pause
     * @param list<string> $times
     */
    public function __construct(private readonly \Closure $lines, private readonly \Closure $pause, private readonly array $times)
    {
    }

    /** @return \Generator<int, array{id: string, event: string, data: T}> */
    public function getIterator(): \Generator
    {
        $told = [];
        $lastId = '';
        for ($failures = 0; ; ) {
            try {
                foreach (self::parsed(($this->lines)($lastId)) as $message) {
                    $failures = 0;
                    $lastId = $message['id'];
                    if ($message['data'] === '' || isset($told[$lastId])) {
                        continue;
                    }
                    $told[$lastId] = true;
                    if (count($told) > self::MAX_REMEMBERED) {
                        array_shift($told);
                    }
                    $data = json_decode($message['data'], true, 512, JSON_THROW_ON_ERROR);
                    yield ['data' => Time::revived($data, $this->times)] + $message;
                }
            } catch (PamojaError $error) {
                if ($error->status < 500 && $error->status !== 429) {
                    throw $error;
                }
            } catch (TransportFailure) {
                // The stream broke: it goes on below.
            }
            ($this->pause)(Client::pauseOf(null, ++$failures));
        }
    }

    /**
     * @param iterable<string> $lines
     * @return \Generator<int, array{id: string, event: string, data: string}>
     */
    private static function parsed(iterable $lines): \Generator
    {
        $message = ['id' => '', 'event' => '', 'data' => ''];
        foreach ($lines as $line) {
            if ($line === '') {
                if ($message['id'] !== '') {
                    yield $message;
                }
                $message = ['id' => '', 'event' => '', 'data' => ''];
                continue;
            }
            [$field, $text] = explode(':', $line, 2) + [1 => ''];
            $text = str_starts_with($text, ' ') ? substr($text, 1) : $text;
            if ($field === 'id' || $field === 'event') {
                $message[$field] = $text;
            } elseif ($field === 'data') {
                $message['data'] .= $message['data'] === '' ? $text : "\n$text";
            }
            if (strlen($message['data']) > self::MAX_LENGTH) {
                throw new \LengthException('a message of the stream is too long');
            }
        }
    }
}
