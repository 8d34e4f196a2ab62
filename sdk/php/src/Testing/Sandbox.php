<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja\Testing;

use Pamoja\Pamoja;

/**
 * Testing helpers for any test runner: phones, mailboxes, payers, a place for webhooks and the clock of the sandbox. They work
 * with a test key. What is waited for is asked for again until it is there, or the time is over.
 */
final class Sandbox
{
    private const PAUSE_MICROSECONDS = 200_000;

    public function __construct(private readonly Pamoja $pamoja)
    {
    }

    /** Phone of a person, by its number. */
    public function phone(string $number): Phone
    {
        return new Phone($this->pamoja, $number);
    }

    /**
     * The newest mail to an address whose subject fits, with its text.
     *
     * @return array<string, mixed>
     */
    public function waitForMail(string $address, string $subject = '/./', float $within = 30): array
    {
        $found = self::until(
            fn (): ?array => self::first($this->pamoja->sandbox->listEmails(['to' => $address])->page()['data'], static fn (array $mail): bool => preg_match($subject, $mail['subject']) === 1),
            "a mail to $address",
            $within,
        );
        return $this->pamoja->sandbox->getEmail($found['id'])->toArray();
    }

    /** Address that keeps what it was sent; the secret lets it check signatures. @return array{id: string, url: string} */
    public function hook(?string $secret = null): array
    {
        return $this->pamoja->sandbox->createHook($secret === null ? [] : ['secret' => $secret])->toArray();
    }

    /**
     * The newest request to a hook that told of an event, or any.
     *
     * @param array{id: string, url: string} $hook
     * @return array<string, mixed>
     */
    public function waitForRequest(array $hook, ?string $event = null, float $within = 30): array
    {
        return self::until(
            fn (): ?array => self::first(
                $this->pamoja->sandbox->listHookRequests($hook['id'])->page()['data'],
                static fn (array $request): bool => $event === null || str_contains($request['body'], json_encode($event, JSON_THROW_ON_ERROR)),
            ),
            "a request to {$hook['url']}",
            $within,
        );
    }

    public function now(): \DateTimeImmutable
    {
        return $this->pamoja->sandbox->clock()['now'];
    }

    /** Moves the time of the test account ahead; what is due then happens. */
    public function advance(int $seconds): \DateTimeImmutable
    {
        return $this->pamoja->sandbox->advanceClock(['advance_seconds' => $seconds])['now'];
    }

    /**
     * @template T
     * @param callable(): (T|null) $look
     * @return T
     */
    public static function until(callable $look, string $what, float $within): mixed
    {
        $until = microtime(true) + $within;
        while (true) {
            $found = $look();
            if ($found !== null) {
                return $found;
            }
            if (microtime(true) > $until) {
                throw new \RuntimeException("waited $within s in vain for $what");
            }
            usleep(self::PAUSE_MICROSECONDS);
        }
    }

    /**
     * @param list<array<string, mixed>> $rows
     * @param callable(array<string, mixed>): bool $fits
     * @return array<string, mixed>|null
     */
    public static function first(array $rows, callable $fits): ?array
    {
        foreach ($rows as $row) {
            if ($fits($row)) {
                return $row;
            }
        }
        return null;
    }
}
