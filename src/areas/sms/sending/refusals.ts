// SPDX-License-Identifier: Apache-2.0
// Refusals of valid messages: the wallet does not cover it, the recipient opted out, or it was sent before.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { type Currency, formatMicros, formatMoney } from '../../../kernel/money.ts'
import { walletsOf } from '../../../ledger/wallets.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Draft } from './draft.ts'

/** The refusal of what the wallet cannot pay, with what it has now. */
export async function beyondWallet(
  queryable: Queryable,
  tenant: Tenant,
  currency: Currency,
  micros: bigint,
): Promise<AppError> {
  const wallet = (await walletsOf(queryable, tenant)).find((one) => one.currency === currency)
  return tooExpensive(currency, micros, wallet?.availableMicros ?? 0n)
}

/** Refusal where the available balance is known. */
export function tooExpensive(currency: Currency, micros: bigint, available: bigint): AppError {
  return new AppError(
    'INSUFFICIENT_BALANCE',
    `it costs ${formatMoney({ micros, currency })}, and the wallet has ${formatMoney({ micros: available, currency })}`,
    { extra: { balance: Number(formatMicros(available)), required: Number(formatMicros(micros)), currency } },
  )
}

export function optedOut({ to, from }: Draft): AppError {
  return new AppError('OPTED_OUT', `${to} has opted out of messages from ${from}`)
}

/** `existing`: the message that has the reference. */
export function referenceUsed({ reference }: Draft, existing: string | null): AppError {
  return new AppError('DUPLICATE_REFERENCE', `the reference ${reference} was used before`, {
    extra: { existing_id: existing && idOf('sms', existing) },
  })
}

/** Outcome that a number ending in 0000NN forces in the test environment, as far as the API itself answers. */
export function forcedRefusal(
  { to }: Draft,
  { tenant }: { tenant: Tenant },
): 'INSUFFICIENT_BALANCE' | 'OPTED_OUT' | null {
  if (tenant.environment !== 'test') return null
  if (to.endsWith('000010')) return 'INSUFFICIENT_BALANCE'
  return to.endsWith('000011') ? 'OPTED_OUT' : null
}
