<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/**
 * Webhooks that were received, without a client. Signatures are those of Standard Webhooks, which cover the time: base64
 * HMAC-SHA256 of `id.timestamp.body`.
 */
final class Webhooks
{
    /**
     * Event of a request, when it was signed with the secret (or one of several) and is not old.
     *
     * @param string $rawBody as it came: file_get_contents('php://input')
     * @param array<string, string|list<string>> $headers getallheaders(), or those of a PSR-7 request
     * @param string|list<string> $secret
     * @return array<string, mixed>
     */
    public static function verify(mixed $rawBody, array $headers, string|array $secret, float $tolerance = 300, ?float $now = null): array
    {
        if (!is_string($rawBody)) {
            throw new WebhookVerificationError('not_raw', "Give the raw body, file_get_contents('php://input'): a parsed one cannot be checked");
        }
        $given = array_map(static fn (mixed $value): string => is_array($value) ? (string) ($value[0] ?? '') : (string) $value, array_change_key_case($headers));
        [$id, $at, $signatures] = [$given['webhook-id'] ?? '', $given['webhook-timestamp'] ?? '', $given['webhook-signature'] ?? ''];
        if ($id === '' || $at === '' || $signatures === '') {
            throw new WebhookVerificationError('no_header', 'The request lacks webhook-id, webhook-timestamp or webhook-signature');
        }
        if (!is_numeric($at) || abs(($now ?? microtime(true)) - (float) $at) > $tolerance) {
            throw new WebhookVerificationError('too_old', "The request was signed at $at, more than $tolerance s from now");
        }
        foreach ((array) $secret as $one) {
            $expected = self::signature($one, $id, $at, $rawBody);
            foreach (explode(' ', $signatures) as $signature) {
                if (hash_equals($expected, $signature)) {
                    $event = json_decode($rawBody, true, 512, JSON_THROW_ON_ERROR);
                    return Time::revived($event, Times::EVENTS[$event['event'] ?? ''] ?? ['timestamp']);
                }
            }
        }
        throw new WebhookVerificationError('wrong_signature', 'The request was not signed with this secret');
    }

    /**
     * Headers of a request as the server would sign it, to try a receiver with.
     *
     * @return array<string, string>
     */
    public static function sign(string $body, string $secret, ?string $id = null, ?int $timestamp = null): array
    {
        $id ??= 'evt_' . bin2hex(random_bytes(16));
        $at = (string) ($timestamp ?? time());
        return ['webhook-id' => $id, 'webhook-timestamp' => $at, 'webhook-signature' => self::signature($secret, $id, $at, $body)];
    }

    private static function signature(string $secret, string $id, string $at, string $body): string
    {
        $key = base64_decode((string) preg_replace('/^whsec_/', '', $secret), true);
        if ($key === false || $key === '') {
            throw new \InvalidArgumentException('The secret is not one of a webhook: it begins with whsec_');
        }
        return 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $key, true));
    }
}
