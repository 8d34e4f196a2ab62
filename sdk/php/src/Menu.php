<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/**
 * Stored USSD menu, screen by screen; the first is the start: `$pamoja->ussd->createMenu($menu->jsonSerialize())`. Words are
 * a text, or one for each language of the menu.
 */
final class Menu implements \JsonSerializable
{
    /**
     * @param list<string>|null $languages
     * @param array<string, array<string, mixed>> $nodes
     */
    public function __construct(
        public readonly string $name,
        public readonly ?array $languages = null,
        public readonly string $start = '',
        public readonly array $nodes = [],
    ) {
    }

    /**
     * Any screen, by its fields.
     *
     * @param array<string, mixed> $fields
     */
    public function add(string $screen, array $fields): self
    {
        $start = $this->start === '' ? $screen : $this->start;
        return new self($this->name, $this->languages, $start, [...$this->nodes, $screen => $fields]);
    }

    /**
     * Screen with a numbered choice: the label, and the screen that it leads to.
     *
     * @param string|array<string, string> $text
     * @param list<array{string|array<string, string>, string}> $options
     */
    public function choose(string $screen, string|array $text, array $options): self
    {
        $choices = array_map(static fn (array $option): array => ['label' => $option[0], 'next' => $option[1]], $options);
        return $this->add($screen, ['text' => $text, 'options' => $choices]);
    }

    /**
     * Screen that takes what is typed, known as `{{data.<save>}}` from then on; `pattern` and `error` are its rule.
     *
     * @param string|array<string, string> $text
     * @param array<string, mixed> $rule
     */
    public function ask(string $screen, string|array $text, string $save, string $next, array $rule = []): self
    {
        return $this->add($screen, ['text' => $text, 'input' => ['save' => $save, ...$rule], 'next' => $next]);
    }

    /**
     * Screen for which your application is asked first, by POST.
     *
     * @param array<string, mixed> $fields
     */
    public function fetch(string $screen, string $url, array $fields = []): self
    {
        return $this->add($screen, ['fetch' => ['url' => $url], ...$fields]);
    }

    /**
     * Last screen; `sms` texts the subscriber, `pay` asks the phone for money.
     *
     * @param string|array<string, string> $text
     * @param array<string, mixed> $fields
     */
    public function end(string $screen, string|array $text, array $fields = []): self
    {
        return $this->add($screen, ['text' => $text, 'end' => true, ...$fields]);
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        $languages = $this->languages === null ? [] : ['languages' => $this->languages];
        return ['name' => $this->name, ...$languages, 'start' => $this->start, 'nodes' => $this->nodes];
    }
}
