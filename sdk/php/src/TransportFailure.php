<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** A request that nobody answered. */
final class TransportFailure extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $isTimeout, ?\Throwable $previous = null)
    {
        parent::__construct($message, 0, $previous);
    }
}
