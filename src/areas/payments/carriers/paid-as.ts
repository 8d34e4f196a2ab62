// SPDX-License-Identifier: Apache-2.0
// Verdict on money that came, from the words in which a provider tells how much it was, and in which currency.
import { isCurrency, microDecimals, parseAmount } from '../../../kernel/money.ts'
import type { OrderVerdict } from '../providers/provider.ts'

/** Longest part that is kept of words that cannot be read. */
export const mostWords = 60

/** Verdict `paid`, or `unreadable`: words that cannot be read are not taken for what was asked for. Empty where not told. */
export function paidAs(receipt: string | null, told: { amount: string; currency: string }): OrderVerdict {
  const micros = told.amount === '' ? null : parseAmount(told.amount, microDecimals)
  const currency = told.currency.trim().toUpperCase()
  const isKnown = isCurrency(currency)
  if ((micros !== null && typeof micros !== 'bigint') || (currency !== '' && !isKnown))
    return { kind: 'unreadable', receipt, words: `${told.amount} ${told.currency}`.trim().slice(0, mostWords) }
  return { kind: 'paid', receipt, micros, ...(isKnown ? { currency } : {}) }
}
