// SPDX-License-Identifier: Apache-2.0
// Refunds of bank payments: the bank sends the money back to its source, once per refund id.
import { noticeIdIn } from '../../../protocols/bank.ts'
import type { Bank } from './bank.ts'
import { outgoing, type RefundCarrier } from './provider.ts'

export function bankRefunds(bank: Pick<Bank, 'payOut' | 'queryPayout' | 'isSigned'>): RefundCarrier {
  return {
    repeatable: true,
    resultsAreFinal: false,
    objection: ({ payment }) => (payment.providerId === null ? 'knows no payment to give back' : null),
    refund: async ({ id, micros, currency, payment, description, reference, addresses }) =>
      outgoing(
        await bank.payOut({
          ...{ id, micros, currency, description: description || reference, notifyUrl: addresses.result },
          refundOf: payment.providerId ?? '',
        }),
      ),
    queryRefund: async ({ id }) => outgoing(await bank.queryPayout(id)),
    // The notice is signed in a header, and is only a reason to poll.
    readRefund: (topic, body, received) => {
      if (topic !== 'result' || !received || !bank.isSigned(received.bytes, received.headers)) return null
      const id = noticeIdIn(body)
      return id === null ? null : { id, verdict: { kind: 'pending' } }
    },
  }
}
