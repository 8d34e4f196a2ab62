<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Times of requests and replies. */
final class Time
{
    public static function text(\DateTimeInterface $time): string
    {
        return \DateTimeImmutable::createFromInterface($time)->setTimezone(new \DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.v\Z');
    }

    /**
     * Value with the texts at these paths as DateTimeImmutable.
     *
     * @param list<string> $paths
     */
    public static function revived(mixed $value, array $paths): mixed
    {
        foreach ($paths as $path) {
            [$where, $shape] = explode('>', $path) + [1 => ''];
            $value = self::walked($value, $where === '' ? [] : explode('.', $where), $shape);
        }
        return $value;
    }

    /** @param list<string> $steps */
    private static function walked(mixed $value, array $steps, string $shape): mixed
    {
        if ($steps === []) {
            return match (true) {
                $shape === '' => self::parsed($value),
                is_array($value) => self::revived($value, Times::SHAPES[$shape]),
                default => $value,
            };
        }
        if (!is_array($value)) {
            return $value;
        }
        $rest = array_slice($steps, 1);
        if ($steps[0] === '*') {
            return array_map(static fn (mixed $one): mixed => self::walked($one, $rest, $shape), $value);
        }
        if (array_key_exists($steps[0], $value)) {
            $value[$steps[0]] = self::walked($value[$steps[0]], $rest, $shape);
        }
        return $value;
    }

    private static function parsed(mixed $value): mixed
    {
        if (!is_string($value) || !preg_match('/^\d{4}-\d\d-\d\dT/', $value)) {
            return $value;
        }
        try {
            return new \DateTimeImmutable($value);
        } catch (\Exception) {
            return $value;
        }
    }
}
