// SPDX-License-Identifier: Apache-2.0
// A frame of a timeline as the API gives it, and how long something took in words.
import type { Pdu } from './pdu.tsx'

export interface Frame {
  at: string
  kind: 'request' | 'state' | 'smpp' | 'provider' | 'callback' | 'webhook'
  direction: 'in' | 'out' | null
  title: string
  peer: string | null
  status: string | null
  is_ok: boolean | null
  duration_ms: number | null
  request: string | null
  answer: string | null
  pdus: Pdu[]
}

export function took(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 90_000 ? `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s` : `${Math.round(ms / 60_000)} min`
}
