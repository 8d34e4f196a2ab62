<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Webhooks that were received, on the area of a client. */
trait ReceivesWebhooks
{
    /**
     * @param array<string, string|list<string>> $headers
     * @param string|list<string> $secret
     * @return array<string, mixed>
     */
    public function verify(mixed $rawBody, array $headers, string|array $secret, float $tolerance = 300): array
    {
        return Webhooks::verify($rawBody, $headers, $secret, $tolerance);
    }

    /** @return array<string, string> */
    public function sign(string $body, string $secret): array
    {
        return Webhooks::sign($body, $secret);
    }
}
