// SPDX-License-Identifier: Apache-2.0
// Giving back what was paid by card: the acquirer knows the payment by our attempt and the refund by its own id.
import type { OutgoingVerdict, RefundCarrier } from '../providers/provider.ts'
import type { Acquirer, RefundOutcome } from './acquirer.ts'

export function cardRefunds(acquirer: Pick<Acquirer, 'refund' | 'queryRefund'>): RefundCarrier {
  return {
    repeatable: true,
    resultsAreFinal: false,
    objection: ({ payment }) => (payment.providerId === null ? 'knows no payment to give back' : null),
    refund: async ({ id, payment, micros, currency }) =>
      verdictOf(await acquirer.refund(id, payment.providerId ?? '', { micros, currency })),
    queryRefund: async ({ id }) => verdictOf(await acquirer.queryRefund(id)),
    readRefund: () => null,
  }
}

function verdictOf(outcome: RefundOutcome): OutgoingVerdict {
  switch (outcome.kind) {
    case 'refunded':
      return { kind: 'paid', receipt: outcome.id, micros: null }
    case 'pending':
      return { kind: 'accepted', providerId: outcome.id }
    case 'refused':
      return { kind: 'refused', reason: 'PROVIDER_ERROR', code: outcome.code }
    default:
      return outcome
  }
}
