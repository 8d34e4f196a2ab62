<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** A file to upload, with its name and type. */
final class File
{
    public function __construct(public readonly string $data, public readonly string $name = 'file', public readonly string $type = 'application/octet-stream')
    {
    }

    public static function of(string $path, string $type = 'application/octet-stream'): self
    {
        $data = file_get_contents($path);
        return $data === false ? throw new \InvalidArgumentException("$path cannot be read") : new self($data, basename($path), $type);
    }
}
