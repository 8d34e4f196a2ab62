// SPDX-License-Identifier: Apache-2.0
// Requests to aggregators and their calls, as the timeline of a message keeps them. What the aggregator is told beside the
// message, and what it says beside the fate of it, is the operator's own and not shown.
import { type Frame, redacted } from '../../../platform/timeline.ts'
import type { OutboundMessage } from '../carrier.ts'
import type { Answer } from './http-reading.ts'

export function httpFrame(
  bind: string,
  method: string,
  { to, from, text, encoding, trace }: OutboundMessage,
  status: number | string,
  durationMs: number,
  answer: Answer | null = null,
): Frame {
  return {
    kind: 'provider',
    direction: 'out',
    title: `HTTP ${method}`,
    peer: bind,
    status: String(status),
    isOk: answer?.kind === 'sent',
    durationMs,
    request: redacted({ to, from, text: shown(text, trace?.masksText ?? true), encoding }),
    answer: redacted(answer),
  }
}

/** Frame of an aggregator's call: a receipt, or a text from a handset. */
export function callFrame(bind: string, title: string, said: object, isOk: boolean | null): Frame {
  const nothing = { durationMs: null, answer: null, status: '200' }
  return { ...nothing, kind: 'callback', direction: 'in', title, peer: bind, isOk, request: redacted(said) }
}

/** Masked, the length stays and the words go. */
export function shown(text: string, isMasked: boolean): string {
  return isMasked ? '*'.repeat(text.length) : text
}
