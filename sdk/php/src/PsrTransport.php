<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** Requests by a client of PSR-18, which has its own time limits. Streams go by cURL where it is: most clients hold a body back until its end. */
final class PsrTransport implements Transport
{
    public function __construct(
        private readonly ClientInterface $client,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
        private readonly ?Transport $forStreams = null,
    ) {
    }

    /** Client that the project has installed: Guzzle, Symfony's, or what php-http/discovery finds; null when there is none. */
    public static function discovered(?string $caFile, float $timeout, ?Transport $forStreams): ?self
    {
        if (class_exists('GuzzleHttp\\Client') && class_exists('GuzzleHttp\\Psr7\\HttpFactory')) {
            $factory = new \GuzzleHttp\Psr7\HttpFactory();
            $client = new \GuzzleHttp\Client(['timeout' => $timeout, 'http_errors' => false, 'verify' => $caFile ?? true]);
            return new self($client, $factory, $factory, $forStreams);
        }
        if (class_exists('Symfony\\Component\\HttpClient\\Psr18Client') && (class_exists('Nyholm\\Psr7\\Factory\\Psr17Factory') || class_exists('GuzzleHttp\\Psr7\\HttpFactory'))) {
            $options = ['max_duration' => $timeout] + ($caFile === null ? [] : ['cafile' => $caFile]);
            $client = new \Symfony\Component\HttpClient\Psr18Client(\Symfony\Component\HttpClient\HttpClient::create($options));
            return new self($client, $client, $client, $forStreams);
        }
        // A client that is found by name only cannot be told of a file of certificates.
        if ($caFile === null && class_exists('Http\\Discovery\\Psr18ClientDiscovery')) {
            try {
                $requests = \Http\Discovery\Psr17FactoryDiscovery::findRequestFactory();
                $streams = \Http\Discovery\Psr17FactoryDiscovery::findStreamFactory();
                return new self(\Http\Discovery\Psr18ClientDiscovery::find(), $requests, $streams, $forStreams);
            } catch (\Http\Discovery\Exception\NotFoundException) {
                return null;
            }
        }
        return null;
    }

    public function send(string $method, string $url, array $headers, ?string $body, float $timeout, $into = null): Answer
    {
        $request = $this->request($method, $url, $headers);
        if ($body !== null) {
            $request = $request->withBody($this->streams->createStream($body));
        }
        try {
            $response = $this->client instanceof \GuzzleHttp\ClientInterface
                ? $this->client->send($request, ['timeout' => $timeout, 'http_errors' => false, 'allow_redirects' => false])
                : $this->client->sendRequest($request);
        } catch (ClientExceptionInterface $error) {
            $isLate = preg_match('/timed out|timeout|max duration/i', $error->getMessage()) === 1;
            throw new TransportFailure($error->getMessage(), $isLate, $error);
        }
        $received = array_map(static fn (array $values): string => implode(', ', $values), array_change_key_case($response->getHeaders()));
        $status = $response->getStatusCode();
        $text = (string) $response->getBody();
        if ($into === null || $status < 200 || $status > 299) {
            return new Answer($status, $received, $text);
        }
        fwrite($into, $text);
        return new Answer($status, $received, '');
    }

    public function lines(string $url, array $headers): \Generator
    {
        if ($this->forStreams !== null) {
            yield from $this->forStreams->lines($url, $headers);
            return;
        }
        $response = $this->client->sendRequest($this->request('GET', $url, $headers));
        $stream = $response->getBody();
        if ($response->getStatusCode() >= 400) {
            throw PamojaError::of($response->getStatusCode(), [], (string) $stream, null);
        }
        $rest = '';
        while (!$stream->eof()) {
            $rest .= $stream->read(8192);
            $lines = explode("\n", $rest);
            $rest = (string) array_pop($lines);
            foreach ($lines as $line) {
                yield rtrim($line, "\r");
            }
        }
    }

    /** @param array<string, string> $headers */
    private function request(string $method, string $url, array $headers): RequestInterface
    {
        $request = $this->requests->createRequest($method, $url);
        foreach ($headers as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        return $request;
    }
}
