// SPDX-License-Identifier: Apache-2.0
// What stands in for the refunds of a provider that cannot be asked for any, and says why.
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
