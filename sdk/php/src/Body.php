<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Bodies of requests: CSV for a text, a form when there is a file in it, JSON else. */
final class Body
{
    /**
     * @param array<string, mixed>|string|null $body
     * @return array{string|null, string|null} its bytes, and their type
     */
    public static function encoded(array|string|null $body): array
    {
        if ($body === null || is_string($body)) {
            return [$body, $body === null ? null : 'text/csv'];
        }
        foreach ($body as $value) {
            if ($value instanceof File || (is_array($value) && ($value[0] ?? null) instanceof File)) {
                return self::form($body);
            }
        }
        return [self::json($body), 'application/json'];
    }

    /** @param array<string, mixed> $body */
    private static function json(array $body): string
    {
        array_walk_recursive($body, static function (mixed &$value): void {
            if ($value instanceof \DateTimeInterface) {
                $value = Time::text($value);
            }
        });
        // An empty list of fields is an object.
        return json_encode($body === [] ? new \stdClass() : $body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION);
    }

    /**
     * @param array<string, mixed> $body
     * @return array{string, string}
     */
    private static function form(array $body): array
    {
        $boundary = bin2hex(random_bytes(16));
        $text = '';
        foreach ($body as $name => $value) {
            $values = is_array($value) && ($value[0] ?? null) instanceof File ? $value : [$value];
            foreach ($values as $one) {
                $text .= "--$boundary\r\n" . self::part((string) $name, $one) . "\r\n";
            }
        }
        return ["$text--$boundary--\r\n", "multipart/form-data; boundary=$boundary"];
    }

    private static function part(string $name, mixed $value): string
    {
        if (!$value instanceof File) {
            $text = is_string($value) ? $value : json_encode($value, JSON_THROW_ON_ERROR);
            return "content-disposition: form-data; name=\"$name\"\r\n\r\n$text";
        }
        $file = str_replace(['"', "\r", "\n"], ['%22', '', ''], $value->name);
        return "content-disposition: form-data; name=\"$name\"; filename=\"$file\"\r\ncontent-type: {$value->type}\r\n\r\n{$value->data}";
    }
}
