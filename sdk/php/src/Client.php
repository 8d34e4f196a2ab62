<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Client without areas: says who asks, tries again what may be tried again, and turns refusals into errors. */
class Client
{
    private const FIRST_PAUSE = 0.5;
    private const MAX_PAUSE = 8.0;
    /** A longer Retry-After is the caller's to decide on. */
    private const MAX_RETRY_AFTER = 60.0;
    /** A request in progress is asked for again for so long. */
    private const MAX_IN_PROGRESS = 60.0;
    private const RETRIED = [408, 429, 500, 502, 503, 504];
    private const UNFINISHED = ['pending', 'processing', 'requires_action'];

    private readonly ?string $apiKey;
    private readonly string $baseUrl;
    private readonly float $timeout;
    private readonly int $maxRetries;
    private readonly Transport $transport;
    /** @var array<string, mixed> */
    private readonly array $options;

    /**
     * Options: apiKey, baseUrl and caFile, for which PAMOJA_API_KEY, PAMOJA_BASE_URL and PAMOJA_CA_FILE stand in; timeout
     * (seconds for each attempt), maxRetries, headers, appInfo, httpClient with requestFactory and streamFactory (PSR-18 and
     * PSR-17), onRequest and onResponse (hooks, which never see the key), sleep (replaces the pauses, for tests).
     *
     * @param array<string, mixed> $options
     */
    public function __construct(array $options = [])
    {
        $this->options = $options;
        $this->apiKey = $options['apiKey'] ?? self::setting('PAMOJA_API_KEY');
        $this->baseUrl = rtrim($options['baseUrl'] ?? self::setting('PAMOJA_BASE_URL') ?? 'https://localhost:8443', '/');
        $this->timeout = (float) ($options['timeout'] ?? 30.0);
        $this->maxRetries = (int) ($options['maxRetries'] ?? 2);
        $this->transport = isset($options['httpClient'])
            ? new PsrTransport($options['httpClient'], $options['requestFactory'], $options['streamFactory'] ?? $options['requestFactory'])
            : self::transport($options['caFile'] ?? self::setting('PAMOJA_CA_FILE'), $this->timeout);
    }

    /** PSR-18 client of the project, else cURL. */
    private static function transport(?string $caFile, float $timeout): Transport
    {
        $curl = function_exists('curl_init') ? new CurlTransport($caFile) : null;
        return PsrTransport::discovered($caFile, $timeout, $curl)
            ?? $curl
            ?? throw new \RuntimeException('Install the extension cURL, or a client of PSR-18 such as guzzlehttp/guzzle');
    }

    /**
     * Value of an operation.
     *
     * @param array<string, mixed>|string $input
     * @param list<string>|null $queryNames names that go into the query; null: all
     * @param list<string> $times
     * @param array<string, mixed> $options
     */
    public function call(string $method, string $path, array|string $input, ?array $queryNames, string $gives, array $times, array $options): Result
    {
        [$query, $body] = self::parts($method, $input, $queryNames);
        $answer = $this->ask($method, $path, $query, $body, $options);
        $value = $answer->body === '' ? [] : json_decode($answer->body, true, 512, JSON_THROW_ON_ERROR);
        if ($gives === 'page') {
            $value['data'] = array_map(static fn (mixed $row): mixed => Time::revived($row, $times), $value['data']);
        } elseif ($gives === 'flat') {
            unset($value['success']);
        } else {
            $value = $value['data'] ?? [];
        }
        return new Result($gives === 'page' ? $value : Time::revived($value, $times), new Response($answer->status, $answer->headers));
    }

    /**
     * @param array<string, mixed>|string $input
     * @param list<string>|null $queryNames
     * @param list<string> $times
     * @param array<string, mixed> $options
     * @return Listing<mixed>
     */
    public function list(string $method, string $path, array|string $input, ?array $queryNames, string $gives, array $times, array $options): Listing
    {
        return new Listing(fn (?string $cursor): Result => $this->call(
            $method,
            $path,
            $cursor === null || is_string($input) ? $input : ['cursor' => $cursor] + $input,
            $queryNames,
            $gives,
            $times,
            $options,
        ));
    }

    /**
     * @param array<string, mixed>|string $input
     * @param list<string>|null $queryNames
     * @param list<string> $times
     * @param array<string, mixed> $options
     */
    public function download(string $method, string $path, array|string $input, ?array $queryNames, string $gives, array $times, array $options): Download
    {
        [$query, $body] = self::parts($method, $input, $queryNames);
        $into = fopen('php://temp', 'w+b');
        if ($into === false) {
            throw new \RuntimeException('There is no room for a download');
        }
        $answer = $this->ask($method, $path, $query, $body, $options, ['accept' => '*/*'], $into);
        return new Download($into, new Response($answer->status, $answer->headers));
    }

    /**
     * @param array<string, mixed>|string $input
     * @param list<string>|null $queryNames
     * @param list<string> $times
     * @param array<string, mixed> $options
     * @return Messages<mixed>
     */
    public function stream(string $method, string $path, array|string $input, ?array $queryNames, string $gives, array $times, array $options): Messages
    {
        [$query] = self::parts($method, $input, $queryNames);
        $url = $this->baseUrl . $path . self::query($query);
        return new Messages(
            fn (string $lastId): \Generator => $this->transport->lines($url, $this->headers('GET', null, $options, [
                'accept' => 'text/event-stream',
                ...($lastId === '' ? [] : ['last-event-id' => $lastId]),
            ])),
            $this->pause(...),
            $times,
        );
    }

    /**
     * Asks until a thing is over, each time for as long as the server may wait, or the time is over.
     *
     * @param callable(int): Result $get
     */
    public function waited(callable $get, float $within): Result
    {
        $until = microtime(true) + $within;
        while (true) {
            $thing = $get((int) max(0, min(30, ceil($until - microtime(true)))));
            if (!in_array($thing['status'], self::UNFINISHED, true) || microtime(true) >= $until) {
                return $thing;
            }
        }
    }

    /**
     * Path with its names filled in. Nothing that is filled in leads to another path.
     *
     * @param array<string, string> $names
     */
    public static function path(string $template, array $names): string
    {
        foreach ($names as $name => $value) {
            if (in_array($value, ['', '.', '..'], true)) {
                throw new \InvalidArgumentException("$name must be given for $template");
            }
            $template = str_replace('{' . $name . '}', rawurlencode($value), $template);
        }
        return $template;
    }

    /**
     * Gives the answer when it is no refusal. A change has one key for all attempts, so that trying again does nothing twice.
     *
     * @param array<string, mixed> $query
     * @param array<string, mixed>|string|null $body
     * @param array<string, mixed> $options
     * @param array<string, string> $more
     * @param resource|null $into
     */
    private function ask(string $method, string $path, array $query, array|string|null $body, array $options, array $more = [], $into = null): Answer
    {
        [$sent, $type] = Body::encoded($body);
        $headers = $this->headers($method, $type, $options, $more);
        $url = $this->baseUrl . $path . self::query($query);
        $retries = (int) ($options['maxRetries'] ?? $this->maxRetries);
        $timeout = (float) ($options['timeout'] ?? $this->timeout) + (float) ($query['wait'] ?? 0);
        $paused = 0.0;
        for ($attempt = 1; ; $attempt++) {
            try {
                return $this->once($method, $url, $headers, $sent, $timeout, $attempt, $into);
            } catch (PamojaError $error) {
                $isInProgress = $error->errorCode === 'REQUEST_IN_PROGRESS' && $paused < self::MAX_IN_PROGRESS && $retries > 0;
                if (($attempt > $retries && !$isInProgress) || !self::mayTryAgain($error)) {
                    throw $error;
                }
                $pause = self::pauseOf($error->retryAfter, $attempt);
                $paused += $pause;
                $this->pause($pause);
            }
        }
    }

    /**
     * @param array<string, string> $headers
     * @param resource|null $into
     */
    private function once(string $method, string $url, array $headers, ?string $body, float $timeout, int $attempt, $into): Answer
    {
        $visible = array_diff_key($headers, ['authorization' => true]);
        $about = ['method' => $method, 'url' => $url, 'attempt' => $attempt];
        ($this->options['onRequest'] ?? static fn (array $log): mixed => null)($about + ['headers' => $visible]);
        $started = microtime(true);
        $key = $headers['idempotency-key'] ?? null;
        try {
            $answer = $this->transport->send($method, $url, $headers, $body, $timeout, $into);
        } catch (TransportFailure $failure) {
            $this->tell($about, 0, '', $started);
            $words = $failure->isTimeout ? "the server did not answer within $timeout s" : "the server could not be reached: {$failure->getMessage()}";
            throw $failure->isTimeout
                ? new TimedOutError($words, 0, 'TIMEOUT', idempotencyKey: $key, previous: $failure)
                : new ConnectionFailedError($words, 0, 'UNREACHABLE', idempotencyKey: $key, previous: $failure);
        }
        $this->tell($about, $answer->status, $answer->headers['x-request-id'] ?? '', $started);
        if ($answer->status >= 200 && $answer->status < 300) {
            return $answer;
        }
        throw PamojaError::of($answer->status, $answer->headers, $answer->body, $key);
    }

    /** @param array<string, mixed> $about */
    private function tell(array $about, int $status, string $requestId, float $started): void
    {
        $log = $about + ['status' => $status, 'requestId' => $requestId, 'duration' => microtime(true) - $started];
        ($this->options['onResponse'] ?? static fn (array $log): mixed => null)($log);
        if (self::setting('PAMOJA_LOG') === 'debug') {
            fwrite(STDERR, sprintf("pamoja: %s %s %s %d ms, attempt %d %s\n", $log['method'], $log['url'], $status ?: 'unanswered', $log['duration'] * 1000, $log['attempt'], $requestId));
        }
    }

    /**
     * @param array<string, mixed> $options
     * @param array<string, string> $more
     * @return array<string, string>
     */
    private function headers(string $method, ?string $type, array $options, array $more): array
    {
        // A file is sent without a key: the server keeps none to compare, and the same one may be sent again.
        $key = $options['idempotencyKey'] ?? ($type === 'text/csv' ? null : self::uuid());
        return array_filter([
            'accept' => 'application/json',
            'pamoja-envelope' => 'data',
            'user-agent' => sprintf('pamoja-php/%s php/%d.%d %s', Version::VERSION, PHP_MAJOR_VERSION, PHP_MINOR_VERSION, strtolower(PHP_OS_FAMILY)),
            'pamoja-client' => $this->options['appInfo'] ?? null,
            'authorization' => $this->apiKey === null ? null : "Bearer {$this->apiKey}",
            'idempotency-key' => $method === 'GET' ? null : $key,
            'content-type' => $type,
            ...$more,
            ...array_change_key_case($this->options['headers'] ?? []),
            ...array_change_key_case($options['headers'] ?? []),
        ], static fn (?string $value): bool => $value !== null);
    }

    /**
     * @param array<string, mixed>|string $input
     * @param list<string>|null $queryNames
     * @return array{array<string, mixed>, array<string, mixed>|string|null}
     */
    private static function parts(string $method, array|string $input, ?array $queryNames): array
    {
        if (is_string($input)) {
            return [[], $input];
        }
        if ($queryNames === null) {
            return [$input, null];
        }
        $inQuery = array_flip($queryNames);
        $own = array_diff_key($input, $inQuery);
        return [array_intersect_key($input, $inQuery), $own === [] && $method === 'DELETE' ? null : $own];
    }

    /** @param array<string, mixed> $query */
    private static function query(array $query): string
    {
        $pairs = [];
        foreach ($query as $name => $value) {
            if ($value === null || $value === '' || $value === []) {
                continue;
            }
            if (is_array($value) && !array_is_list($value)) {
                foreach ($value as $part => $one) {
                    $pairs["{$name}[{$part}]"] = self::plain($one);
                }
            } else {
                $pairs[$name] = is_array($value) ? implode(',', array_map(self::plain(...), $value)) : self::plain($value);
            }
        }
        return $pairs === [] ? '' : '?' . http_build_query($pairs);
    }

    private static function plain(mixed $value): string
    {
        return match (true) {
            is_bool($value) => $value ? 'true' : 'false',
            $value instanceof \DateTimeInterface => Time::text($value),
            default => (string) $value,
        };
    }

    private static function mayTryAgain(PamojaError $error): bool
    {
        if ($error->retryAfter !== null && $error->retryAfter > self::MAX_RETRY_AFTER) {
            return false;
        }
        return $error->status === 0 || in_array($error->status, self::RETRIED, true) || $error->errorCode === 'REQUEST_IN_PROGRESS';
    }

    /** A pause of at most 0.5 s, doubling to 8 s; never shorter than the server asks for. */
    public static function pauseOf(?float $retryAfter, int $attempt): float
    {
        $most = min(self::MAX_PAUSE, self::FIRST_PAUSE * 2 ** min($attempt - 1, 10));
        return max($most * mt_rand() / mt_getrandmax(), $retryAfter ?? 0.0);
    }

    private function pause(float $seconds): void
    {
        ($this->options['sleep'] ?? static fn (float $for): mixed => usleep((int) ($for * 1e6)))($seconds);
    }

    private static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0F | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3F | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }

    private static function setting(string $name): ?string
    {
        return getenv($name) ?: null;
    }
}
