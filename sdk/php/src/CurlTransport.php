<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Requests by the extension cURL; the connection is kept and used again. */
final class CurlTransport implements Transport
{
    /** Three heartbeats of a stream. */
    private const SILENCE = 45;

    private ?\CurlHandle $handle = null;

    public function __construct(private readonly ?string $caFile)
    {
    }

    public function send(string $method, string $url, array $headers, ?string $body, float $timeout, $into = null): Answer
    {
        $this->handle ??= curl_init() ?: throw new \RuntimeException('The extension cURL does not work');
        curl_reset($this->handle);
        $received = [];
        $text = '';
        curl_setopt_array($this->handle, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($timeout * 1000)),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_WRITEFUNCTION => function (\CurlHandle $handle, string $chunk) use (&$text, $into): int {
                $status = curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
                if ($into !== null && $status >= 200 && $status < 300) {
                    return (int) fwrite($into, $chunk);
                }
                $text .= $chunk;
                return strlen($chunk);
            },
        ] + $this->common($url, $headers, $received));
        if ($body !== null) {
            curl_setopt($this->handle, CURLOPT_POSTFIELDS, $body);
        }
        if ($into !== null) {
            ftruncate($into, 0);
            rewind($into);
        }
        if (curl_exec($this->handle) === false) {
            throw self::failure($this->handle);
        }
        return new Answer(curl_getinfo($this->handle, CURLINFO_RESPONSE_CODE), $received, $text);
    }

    public function lines(string $url, array $headers): \Generator
    {
        $handle = curl_init() ?: throw new \RuntimeException('The extension cURL does not work');
        $received = [];
        $rest = '';
        curl_setopt_array($handle, [
            CURLOPT_LOW_SPEED_LIMIT => 1,
            CURLOPT_LOW_SPEED_TIME => self::SILENCE,
            CURLOPT_WRITEFUNCTION => function (\CurlHandle $handle, string $chunk) use (&$rest): int {
                $rest .= $chunk;
                return strlen($chunk);
            },
        ] + $this->common($url, $headers, $received));
        $many = curl_multi_init();
        curl_multi_add_handle($many, $handle);
        try {
            do {
                $result = curl_multi_exec($many, $isRunning);
                $status = curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
                while ($status === 200 && ($end = strpos($rest, "\n")) !== false) {
                    $line = rtrim(substr($rest, 0, $end), "\r");
                    $rest = substr($rest, $end + 1);
                    yield $line;
                }
                if ($isRunning) {
                    curl_multi_select($many, 1.0);
                }
            } while ($isRunning && $result === CURLM_OK);
            $info = curl_multi_info_read($many);
            if ($status >= 400) {
                throw PamojaError::of($status, $received, $rest, null);
            }
            if ($info !== false && $info['result'] !== CURLE_OK) {
                throw new TransportFailure(curl_strerror($info['result']) ?? 'the connection broke', false);
            }
        } finally {
            curl_multi_remove_handle($many, $handle);
            curl_multi_close($many);
        }
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, string> $received
     * @return array<int, mixed>
     */
    private function common(string $url, array $headers, array &$received): array
    {
        // Without an Expect, cURL would wait for leave to send a large body.
        $lines = ['Expect:'];
        foreach ($headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        return [
            CURLOPT_URL => $url,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_HEADERFUNCTION => function (\CurlHandle $handle, string $line) use (&$received): int {
                if (str_starts_with($line, 'HTTP/')) {
                    $received = [];
                }
                [$name, $value] = explode(':', $line, 2) + [1 => null];
                if ($value !== null) {
                    $received[strtolower(trim($name))] = trim($value);
                }
                return strlen($line);
            },
        ] + ($this->caFile === null ? [] : [CURLOPT_CAINFO => $this->caFile]);
    }

    private static function failure(\CurlHandle $handle): TransportFailure
    {
        return new TransportFailure(curl_error($handle), curl_errno($handle) === CURLE_OPERATION_TIMEDOUT);
    }
}
