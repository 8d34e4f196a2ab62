// SPDX-License-Identifier: Apache-2.0
// Verdict on money that came, from the words in which a provider tells how much it was, and in which currency.
import { isCurrency, microDecimals, parseAmount } from '../../../kernel/money.ts'
import type { OrderVerdict } from '../providers/provider.ts'

/** Longest part that is kept of words that cannot be read. */
export const maxWords = 60

/** Money as a provider tells of it; absent or empty where it does not. */
interface Told {
  amount?: string | null | undefined
  currency?: string
}

/** Verdict `paid`, or `unreadable`: words that cannot be read are not taken for what was asked for. */
export function paidAs(receipt: string | null, told: Told): OrderVerdict {
  const amount = told.amount ?? ''
  const micros = amount === '' ? null : parseAmount(amount, microDecimals)
  const currency = (told.currency ?? '').trim().toUpperCase()
  const isKnown = isCurrency(currency)
  if ((micros !== null && typeof micros !== 'bigint') || (currency !== '' && !isKnown))
    return { kind: 'unreadable', receipt, words: `${amount} ${told.currency ?? ''}`.trim().slice(0, maxWords) }
  return { kind: 'paid', receipt, micros, ...(isKnown ? { currency } : {}) }
}
