// SPDX-License-Identifier: Apache-2.0
// Paying to an account: the bank knows a payout by its own id and takes it once. What it tells is signed in a header, and
// says no more than that it is time to ask.

import { idOf } from '../../../kernel/ids.ts'
import { traced } from '../../../platform/outbound/provider-http.ts'
import { noticeIdIn } from '../../../protocols/bank.ts'
import type { Bank } from './bank.ts'
import { type BankDisbursement, type FailureReason, type Outgoing, type OutgoingVerdict, outgoing } from './provider.ts'

/** Failure reasons of a payer's account in terms of a recipient's, since here we pay. */
const reasons: Partial<Readonly<Record<FailureReason, FailureReason>>> = {
  INSUFFICIENT_FUNDS: 'PROVIDER_FLOAT_LOW',
  PAYER_NOT_FOUND: 'RECIPIENT_NOT_FOUND',
  PAYER_LIMIT_REACHED: 'RECIPIENT_LIMIT_REACHED',
}

export function bankOutgoing(bank: Pick<Bank, 'payOut' | 'queryPayout' | 'isSigned'>): Outgoing<BankDisbursement> {
  return {
    repeatable: true,
    payOut: async ({ id, micros, currency, account, description, addresses, trace }) => {
      const order = {
        id,
        micros,
        currency,
        description: description || idOf('payout', id),
        notifyUrl: addresses.result,
      }
      return ofRecipient(outgoing(await traced(trace, () => bank.payOut({ ...order, account }))))
    },
    queryPayout: async ({ id, trace }) => ofRecipient(outgoing(await traced(trace, () => bank.queryPayout(id)))),
    readPayout: (topic, body, received) => {
      if (topic !== 'result' || !received || !bank.isSigned(received.bytes, received.headers)) return null
      const id = noticeIdIn(body)
      return id === null ? null : { id, verdict: { kind: 'pending' } }
    },
  }
}

function ofRecipient(verdict: OutgoingVerdict): OutgoingVerdict {
  if (verdict.kind !== 'refused') return verdict
  return { ...verdict, reason: reasons[verdict.reason] ?? 'PROVIDER_ERROR' }
}
