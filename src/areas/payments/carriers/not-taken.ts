// SPDX-License-Identifier: Apache-2.0
// Verdict on an answer in which a provider refuses a request, the same for payments, payouts and refunds.
import type { FailureReason } from '../providers/provider.ts'

type NotTaken =
  /** Come back later. */
  | { kind: 'busy'; code: string }
  /** The token was renewed before, and is not good either. */
  | { kind: 'token' }
  | { kind: 'strange' }
  | { kind: 'refused'; code: string }

type Meaning =
  | { kind: 'unavailable'; reason: string }
  | { kind: 'unknown'; reason: string }
  | { kind: 'refused'; reason: FailureReason; code: string }

/** `reasons` are what the provider's codes mean; any other is its own trouble. */
export function notTaken(
  heard: NotTaken,
  status: number,
  reasons: Readonly<Record<string, FailureReason | undefined>>,
): Meaning {
  switch (heard.kind) {
    case 'busy':
      return { kind: 'unavailable', reason: heard.code }
    case 'token':
      return { kind: 'unavailable', reason: 'the provider does not take our credentials' }
    case 'strange':
      return { kind: 'unknown', reason: `an answer with status ${status}` }
    case 'refused':
      return { kind: 'refused', reason: reasons[heard.code] ?? 'PROVIDER_ERROR', code: heard.code }
  }
}
