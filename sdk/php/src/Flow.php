<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Actions of a call, in order: answer with it as JSON, or give its `actions` to `voice->createCall`. */
final class Flow implements \JsonSerializable
{
    /** @param list<array<string, mixed>> $actions */
    public function __construct(public readonly array $actions = [])
    {
    }

    /**
     * Any action, by its name.
     *
     * @param array<string, mixed> $fields
     */
    public function add(string $action, array $fields = []): self
    {
        return new self([...$this->actions, ['action' => $action, ...$fields]]);
    }

    /** @param array<string, mixed> $fields */
    public function talk(string $text, array $fields = []): self
    {
        return $this->add('talk', ['text' => $text, ...$fields]);
    }

    /** @param array<string, mixed> $fields */
    public function play(string $url, array $fields = []): self
    {
        return $this->add('stream', ['streamUrl' => [$url], ...$fields]);
    }

    /** @param array<string, mixed> $fields */
    public function input(array $fields = []): self
    {
        return $this->add('input', ['type' => ['dtmf'], ...$fields]);
    }

    /** @param array<string, mixed> $fields */
    public function record(array $fields = []): self
    {
        return $this->add('record', $fields);
    }

    /**
     * Rings a phone number, or endpoints of which the first that answers wins.
     *
     * @param string|list<array<string, mixed>> $to
     * @param array<string, mixed> $fields
     */
    public function connect(string|array $to, array $fields = []): self
    {
        return $this->add('connect', ['endpoint' => is_string($to) ? [['type' => 'phone', 'number' => $to]] : $to, ...$fields]);
    }

    public function wait(int $seconds): self
    {
        return $this->add('wait', ['timeout' => $seconds]);
    }

    public function hangup(?string $reason = null): self
    {
        return $this->add('hangup', $reason === null ? [] : ['reason' => $reason]);
    }

    /** @return list<array<string, mixed>> */
    public function jsonSerialize(): array
    {
        return $this->actions;
    }

    /** Screen that wants an answer, of a USSD shortcode in the mode `text`. */
    public static function ussdAsk(string $message): string
    {
        return "CON $message";
    }

    /**
     * Screen with a numbered choice.
     *
     * @param list<string> $choices
     */
    public static function ussdMenu(string $title, array $choices): string
    {
        $lines = array_map(static fn (int $index, string $choice): string => ($index + 1) . " $choice", array_keys($choices), $choices);
        return 'CON ' . implode("\n", [$title, ...$lines]);
    }

    /** Last screen. */
    public static function ussdEnd(string $message): string
    {
        return "END $message";
    }
}
