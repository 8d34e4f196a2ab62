// SPDX-License-Identifier: Apache-2.0
// Verdict on money that came, from the words in which a provider tells how much it was, and in which currency.
import { isCurrency, microDecimals, parseAmount } from '../../../kernel/money.ts'
import type { OrderVerdict } from '../providers/provider.ts'

/** Most that is kept of words that cannot be read. */
export const mostWords = 60

/** Empty where the provider does not say. What is there and cannot be read is not taken for what was asked for. */
export function paidAs(receipt: string | null, told: { amount: string; currency: string }): OrderVerdict {
  const micros = told.amount === '' ? null : parseAmount(told.amount, microDecimals)
  const currency = told.currency.trim().toUpperCase()
  const isKnown = isCurrency(currency)
  if ((micros !== null && typeof micros !== 'bigint') || (currency !== '' && !isKnown))
    return { kind: 'unreadable', receipt, words: `${told.amount} ${told.currency}`.trim().slice(0, mostWords) }
  return { kind: 'paid', receipt, micros, ...(isKnown ? { currency } : {}) }
}
