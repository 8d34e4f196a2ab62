<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Answer of a server, as it came. */
final class Answer
{
    /** @param array<string, string> $headers with small letters */
    public function __construct(public readonly int $status, public readonly array $headers, public readonly string $body)
    {
    }
}
