// SPDX-License-Identifier: Apache-2.0
// Refunds of card payments: the acquirer knows the payment by our attempt and the refund by its own id.

import type { Acquirer, RefundOutcome } from './acquirer.ts'
import type { FailureReason, OutgoingVerdict, RefundCarrier } from './provider.ts'

/** Why an acquirer does not give back. Any other word is a refusal for no reason that customers know. */
const reasons: Readonly<Record<string, FailureReason>> = {
  // The payer's bank has taken the money already.
  charge_disputed: 'REVERSED_BY_PROVIDER',
}

export function cardRefunds(acquirer: Pick<Acquirer, 'refund' | 'queryRefund'>): RefundCarrier {
  return {
    repeatable: true,
    resultsAreFinal: false,
    objection: ({ payment }) => (payment.providerId === null ? 'knows no payment to give back' : null),
    refund: async ({ id, payment, micros, currency }) =>
      verdictOf(await acquirer.refund(id, payment.providerId ?? '', { micros, currency })),
    queryRefund: async ({ id, currency }) => verdictOf(await acquirer.queryRefund(id, currency)),
    readRefund: () => null,
  }
}

function verdictOf(outcome: RefundOutcome): OutgoingVerdict {
  switch (outcome.kind) {
    case 'refunded':
      return { kind: 'paid', receipt: outcome.id, micros: outcome.micros, currency: outcome.currency }
    case 'pending':
      return { kind: 'accepted', providerId: outcome.id }
    case 'refused':
      return { kind: 'refused', reason: reasons[outcome.code] ?? 'PROVIDER_ERROR', code: outcome.code }
    default:
      return outcome
  }
}
