// SPDX-License-Identifier: Apache-2.0
// What the suites have to know of a provider of mobile money: what each of its answers means, to a payment, a refund and a
// payout. One that gives nothing back, or pays nobody, says so.
import type { Currency } from '../../src/kernel/money.ts'
import type { Expected, Words } from './answers.ts'
import type { Answer } from './provider.ts'

export interface ProviderRows {
  payments: PaymentRows
  refunds: RefundRows | 'none'
  payouts: PayoutRows | 'none'
}

export interface PaymentRows extends Words {
  country: string
  currency: Currency
  /** Beginning of a payer's number; the last four digits say what happens. */
  beginning: string
  /** Endings of payers who do not pay. */
  endings: Readonly<Record<string, string>>
  /** Words of its answer that it is asked with again, where a script answers. */
  kept?: Readonly<Record<string, string>>
}

export interface RefundRows {
  accepts: readonly [Answer, RefundExpected]
  /** Says that the token is not good; null where there is none. */
  forgets: Answer | null
  refunds: readonly (readonly [Answer, RefundExpected])[]
  /** Answers when it is asked; none where it cannot be. */
  queries: readonly (readonly [Answer, RefundExpected])[]
  /** Calls that it makes, and what they mean. */
  results: readonly (readonly [body: object, id: string | null, RefundExpected])[]
  /** Whether it gives back a part, and a payment whose receipt it never told. */
  takesParts: boolean
  needsReceipt: boolean
}

type RefundExpected = Partial<Record<'kind' | 'reason' | 'code' | 'receipt' | 'providerId', string | null>>

export interface PayoutRows extends Words {
  country: string
  currency: Currency
  /** Beginning of a payee's number; the last four digits say what happens. */
  beginning: string
  /** Answers that come as a call, and what they mean. */
  answers: readonly (readonly [body: object, expected: Expected])[]
  results: readonly (readonly [body: object, expected: Expected])[]
}
