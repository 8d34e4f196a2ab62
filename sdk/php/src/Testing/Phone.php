<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja\Testing;

use Pamoja\Download;
use Pamoja\Pamoja;

/** Phone of a person in the sandbox: texts, USSD, prompts for money and calls. */
final class Phone
{
    private const OVER = ['completed', 'failed', 'busy', 'rejected', 'timeout'];

    public function __construct(private readonly Pamoja $pamoja, public readonly string $number)
    {
    }

    /**
     * Texts on the phone, newest first.
     *
     * @return list<array<string, mixed>>
     */
    public function texts(int $limit = 20): array
    {
        return $this->pamoja->sandbox->handset(['phone' => $this->number])->toArray($limit);
    }

    /**
     * The newest text that arrived and fits.
     *
     * @return array<string, mixed>
     */
    public function waitForText(string $pattern = '/./', float $within = 30): array
    {
        $fits = static fn (array $text): bool => $text['direction'] === 'received' && preg_match($pattern, (string) $text['message']) === 1;
        return Sandbox::until(fn (): ?array => Sandbox::first($this->texts(), $fits), "a text to {$this->number}", $within);
    }

    /** Digits of the newest code that arrived. */
    public function waitForCode(float $within = 30): string
    {
        preg_match('/\d{4,10}/', $this->waitForText('/\d{4,10}/', $within)['message'], $found);
        return $found[0] ?? '';
    }

    /** Writes a text to one of your numbers. */
    public function text(string $to, string $message): void
    {
        $this->pamoja->sandbox->smsInbound(['from' => $this->number, 'to' => $to, 'message' => $message]);
    }

    /** Dials a USSD code: session_id, message, and action, which is `continue` while it can be answered. @return array<string, mixed> */
    public function dial(string $shortcode): array
    {
        return $this->pamoja->sandbox->ussdDial(['phone' => $this->number, 'shortcode' => $shortcode])->toArray();
    }

    /**
     * Next screen of a session.
     *
     * @param array<string, mixed> $screen
     * @return array<string, mixed>
     */
    public function answer(array $screen, string $input): array
    {
        return $this->pamoja->sandbox->ussdInput(['session_id' => $screen['session_id'], 'input' => $input])->toArray();
    }

    /** Makes the payer answer prompts only when `approve` or `refuse` says so. */
    public function paysByHand(): void
    {
        $phones = $this->pamoja->sandbox->paymentBehaviour()['by_hand'];
        $this->pamoja->sandbox->changePaymentBehaviour(['by_hand' => array_values(array_unique([...$phones, $this->number]))]);
    }

    /** Prompt for money that waits on the phone. @return array<string, mixed> */
    public function waitForPrompt(float $within = 30): array
    {
        $prompts = fn (): array => $this->pamoja->sandbox->listPrompts(['phone' => $this->number])->page()['data'];
        $waits = static fn (array $prompt): bool => $prompt['status'] === 'waiting';
        return Sandbox::until(fn (): ?array => Sandbox::first($prompts(), $waits), "a prompt on {$this->number}", $within);
    }

    /** Types the PIN into the prompt that waits. @return array<string, mixed> */
    public function approve(string $pin = '1234', float $within = 30): array
    {
        return $this->decide(['decision' => 'approve', 'pin' => $pin], $within);
    }

    /** @return array<string, mixed> */
    public function refuse(float $within = 30): array
    {
        return $this->decide(['decision' => 'refuse'], $within);
    }

    /**
     * @param array<string, string> $answer
     * @return array<string, mixed>
     */
    private function decide(array $answer, float $within): array
    {
        $prompt = $this->waitForPrompt($within);
        $this->pamoja->sandbox->answerPrompt($prompt['payment_id'], $answer);
        return $prompt;
    }

    /** Calls one of your numbers; the id of the call. */
    public function call(string $to): string
    {
        return $this->pamoja->sandbox->voiceInbound(['from' => $this->number, 'to' => $to])['call_id'];
    }

    /** Id of the newest call to the phone that is not over. */
    public function waitForCall(float $within = 30): string
    {
        $calls = fn (): array => $this->pamoja->sandbox->voiceCalls(['phone' => $this->number])->page()['data'];
        $isOn = static fn (array $call): bool => !in_array($call['status'], self::OVER, true);
        return Sandbox::until(fn (): ?array => Sandbox::first($calls(), $isOn), "a call to {$this->number}", $within)['call_id'];
    }

    public function pickUp(string $callId): void
    {
        $this->pamoja->sandbox->voiceAnswer($callId);
    }

    public function press(string $callId, string $dtmf): void
    {
        $this->pamoja->sandbox->voiceInput($callId, ['dtmf' => $dtmf]);
    }

    public function hangUp(string $callId): void
    {
        $this->pamoja->sandbox->voiceHangup($callId);
    }

    /** What the phone heard, as WAV. */
    public function heard(string $callId): Download
    {
        return $this->pamoja->sandbox->voiceHeard($callId);
    }
}
