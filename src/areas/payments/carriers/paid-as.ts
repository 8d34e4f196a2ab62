// SPDX-License-Identifier: Apache-2.0
// Verdict on money that came, from the words in which a provider tells how much it was, and in which currency.
import { microDecimals, parseAmount } from '../../../kernel/money.ts'
import type { OrderVerdict } from '../providers/provider.ts'

/** Empty where the provider does not say. An amount that is there and cannot be read says nothing: it is not taken for the one asked for. */
export function paidAs(receipt: string | null, told: { amount: string; currency: string }): OrderVerdict {
  const micros = told.amount === '' ? null : parseAmount(told.amount, microDecimals)
  if (micros !== null && typeof micros !== 'bigint')
    return { kind: 'unknown', reason: 'it was paid, and the amount cannot be read' }
  return {
    kind: 'paid',
    receipt,
    micros,
    ...(told.currency === '' ? {} : { currency: told.currency.trim().toUpperCase() }),
  }
}
