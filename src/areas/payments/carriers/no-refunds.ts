// SPDX-License-Identifier: Apache-2.0
// Refund carrier of a provider that makes no refunds: it refuses each and says why.
import type { RefundCarrier } from '../providers/provider.ts'

/** `why` ends a sentence that begins with the provider's name. */
export function noRefunds(why: string): RefundCarrier {
  return {
    repeatable: false,
    resultsAreFinal: false,
    objection: () => why,
    refund: async () => ({ kind: 'unavailable', reason: why }),
    queryRefund: async () => ({ kind: 'unknown', reason: why }),
    readRefund: () => null,
  }
}
