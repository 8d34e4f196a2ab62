<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Sends requests. */
interface Transport
{
    /**
     * @param array<string, string> $headers
     * @param resource|null $into where the body of a success is written, instead of into the answer
     */
    public function send(string $method, string $url, array $headers, ?string $body, float $timeout, $into = null): Answer;

    /**
     * Lines of a stream as they come; a refusal is thrown.
     *
     * @param array<string, string> $headers
     * @return \Generator<string>
     */
    public function lines(string $url, array $headers): \Generator;
}
