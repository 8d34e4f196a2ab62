// SPDX-License-Identifier: Apache-2.0
// Ceiling of a wallet, below the range of a bigint: the rest is room for money that can no longer be refused, such as a
// completed payment, and for an overdraft.
import { AppError } from '../kernel/errors.ts'
import { type Currency, formatMicros, maxMicros } from '../kernel/money.ts'
import { one, statement, type Tx } from '../platform/db.ts'
import { mine, type Tenant } from '../platform/tenant.ts'
import { openWallet } from './wallets.ts'

const maxOverdraftMicros = 100_000_000_000_000_000n

const lockBalance = statement.tenant<Tenant & { currency: string }, { balance: bigint }>(
  'ledger.lock_balance',
  `select balance from ledger.wallets
    where ${mine} and currency = $currency
    for update`,
)

/** Refuses what would not fit into a wallet; it stays locked until this transaction ends. */
export async function requireRoom(tx: Tx, tenant: Tenant, currency: Currency, micros: bigint): Promise<void> {
  await openWallet(tx, tenant, currency)
  const { balance } = await one(tx.query(lockBalance, { ...tenant, currency }))
  requireFits(balance, currency, micros)
}

/** Refuses an amount that a wallet with this balance has no room for. */
export function requireFits(balance: bigint, currency: Currency, micros: bigint): void {
  const room = maxMicros - balance
  if (micros > room)
    throw tooHigh(`the ${currency} wallet has room for ${formatMicros(room > 0n ? room : 0n)} more`, currency, room)
}

/** Refuses an overdraft with which sums would not fit any more. */
export function requireOverdraft(currency: Currency, micros: bigint): void {
  if (micros > maxOverdraftMicros)
    throw tooHigh(`an overdraft is at most ${formatMicros(maxOverdraftMicros)}`, currency, maxOverdraftMicros)
}

function tooHigh(details: string, currency: Currency, most: bigint): AppError {
  const max_amount = Number(formatMicros(most > 0n ? most : 0n))
  return new AppError('AMOUNT_TOO_HIGH', details, { extra: { max_amount, currency } })
}
