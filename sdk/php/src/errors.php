<?php
// SPDX-License-Identifier: Apache-2.0
// Errors of the client: a class for each kind of refusal, all with what the server said.
declare(strict_types=1);

namespace Pamoja;

/** A refusal of the server; `errorCode` is what a program decides by. */
class PamojaError extends \RuntimeException
{
    /** The error as it came, with whatever else a code brings. @var array<string, mixed> */
    public readonly array $error;
    /** What exactly was wrong, in the server's words. */
    public readonly string $details;
    /** @var list<array{field: string, code: string, message: string}> */
    public readonly array $fields;
    public readonly string $requestId;
    /** Page of the documentation about the code. */
    public readonly string $docUrl;

    /**
     * @param int $status HTTP status; 0 when there was no answer
     * @param array<string, string> $headers
     * @param float|null $retryAfter seconds after which the server wants to be asked again
     * @param string|null $idempotencyKey key that was sent: the same call with it does nothing twice
     */
    final public function __construct(
        string $message,
        public readonly int $status,
        public readonly string $errorCode,
        public readonly mixed $body = null,
        public readonly array $headers = [],
        public readonly ?float $retryAfter = null,
        public readonly ?string $idempotencyKey = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, $status, $previous);
        $error = is_array($body) && is_array($body['error'] ?? null) ? $body['error'] : [];
        $this->error = $error;
        $this->details = (string) ($error['details'] ?? '');
        $this->fields = $error['fields'] ?? [];
        $this->requestId = (string) ($error['request_id'] ?? $headers['x-request-id'] ?? '');
        $this->docUrl = (string) ($error['doc_url'] ?? '');
    }

    /**
     * Error for an answer that is a refusal. What is no answer of this API has the code HTTP_<status>.
     *
     * @param array<string, string> $headers
     */
    public static function of(int $status, array $headers, string $text, ?string $key): self
    {
        $body = json_decode($text, true) ?? ($text === '' ? null : $text);
        $error = is_array($body) ? ($body['error'] ?? null) : null;
        $isOurs = is_array($error) && is_string($error['code'] ?? null);
        $kind = match (true) {
            $status === 401 => AuthenticationError::class,
            $status === 402 => InsufficientBalanceError::class,
            $status === 403 => PermissionDeniedError::class,
            $status === 404 => NotFoundError::class,
            $status === 409 => ConflictError::class,
            $status === 422 => ValidationError::class,
            $status === 429 => RateLimitError::class,
            $status >= 500 => ServerError::class,
            default => BadRequestError::class,
        };
        $words = $isOurs
            ? ($error['details'] ?? $error['message'] ?? $error['code'])
            : "The server answered $status with something that is no answer of this API";
        $code = $isOurs ? $error['code'] : "HTTP_$status";
        return new $kind((string) $words, $status, $code, $body, $headers, self::seconds($headers['retry-after'] ?? null), $key);
    }

    /** Seconds of a Retry-After, which is a number or a date. */
    private static function seconds(?string $text): ?float
    {
        if ($text === null || $text === '') {
            return null;
        }
        if (is_numeric($text)) {
            return max(0.0, (float) $text);
        }
        $at = strtotime($text);
        return $at === false ? null : max(0.0, $at - microtime(true));
    }
}

class BadRequestError extends PamojaError
{
}

class AuthenticationError extends PamojaError
{
}

class InsufficientBalanceError extends PamojaError
{
}

class PermissionDeniedError extends PamojaError
{
}

class NotFoundError extends PamojaError
{
}

class ConflictError extends PamojaError
{
}

class ValidationError extends PamojaError
{
}

class RateLimitError extends PamojaError
{
}

class ServerError extends PamojaError
{
}

/** Nothing answered: no connection, or one that broke. */
class ConnectionFailedError extends PamojaError
{
}

/** Nothing answered in time. */
class TimedOutError extends ConnectionFailedError
{
}

/** A request that is not to be trusted; `reason` is no_header, too_old, wrong_signature or not_raw. */
final class WebhookVerificationError extends \RuntimeException
{
    public function __construct(public readonly string $reason, string $message)
    {
        parent::__construct($message);
    }
}
