<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Bytes of an answer; large ones lie in a temporary file. */
final class Download
{
    public readonly string $contentType;

    /** @param resource $stream */
    public function __construct(private $stream, public readonly Response $_response)
    {
        rewind($stream);
        $this->contentType = $_response->headers['content-type'] ?? '';
    }

    /** @return resource */
    public function stream()
    {
        return $this->stream;
    }

    public function contents(): string
    {
        rewind($this->stream);
        return (string) stream_get_contents($this->stream);
    }

    public function save(string $path): void
    {
        rewind($this->stream);
        file_put_contents($path, $this->stream);
    }
}
