<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** What an answer said beside its value. */
final class Response
{
    public readonly string $requestId;
    /** Whether it is the first answer to this idempotency key again. */
    public readonly bool $isReplayed;
    /** @var array{limit: int, remaining: int, reset: int}|null */
    public readonly ?array $rateLimit;

    /** @param array<string, string> $headers */
    public function __construct(public readonly int $status, public readonly array $headers)
    {
        $this->requestId = $headers['x-request-id'] ?? '';
        $this->isReplayed = ($headers['idempotent-replayed'] ?? '') === 'true';
        $number = static fn (string $name): int => (int) ($headers["x-ratelimit-$name"] ?? 0);
        $this->rateLimit = isset($headers['x-ratelimit-limit'])
            ? ['limit' => $number('limit'), 'remaining' => $number('remaining'), 'reset' => $number('reset')]
            : null;
    }
}
