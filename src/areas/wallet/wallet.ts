// SPDX-License-Identifier: Apache-2.0
// A wallet as customers see it: what it holds, what of it can be spent, and whether that is little.
import { createHash } from 'node:crypto'
import { type Id, idOf, uuidText } from '../../kernel/ids.ts'
import { type Currency, microDecimals, parseAmount } from '../../kernel/money.ts'
import { currencyOf } from '../../ledger/currencies.ts'
import { type Wallet, walletsOf } from '../../ledger/wallets.ts'
import { maybe, type Queryable } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { pendingOf } from '../payments/area.ts'
import { findRecharge, type RechargeRow, type Threshold, thresholdOfAccount } from './store.ts'

/** Wallet id, derived and not stored: a UUIDv8 from account, environment and currency, always the same. */
export function walletId({ account, environment }: Tenant, currency: Currency): Id<'wallet'> {
  const bytes = createHash('sha256').update(`${account}/${environment}/${currency}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return idOf('wallet', uuidText(bytes))
}

/** A wallet that nothing was ever paid into or from is empty. */
function walletIn(wallets: readonly Wallet[], currency: Currency, atMs: number): Wallet {
  const empty = { currency, balanceMicros: 0n, heldMicros: 0n, overdraftMicros: 0n, availableMicros: 0n }
  return wallets.find((one) => one.currency === currency) ?? { ...empty, updatedAt: new Date(atMs) }
}

/** Threshold for `available` in micros; null when the account set none for this currency. */
export function thresholdIn(given: Threshold | null, currency: string): bigint | null {
  const micros = given?.currency === currency ? parseAmount(given.threshold, microDecimals) : null
  return typeof micros === 'bigint' ? micros : null
}

export function isLow({ availableMicros }: Wallet, threshold: bigint | null): boolean {
  return threshold !== null && availableMicros < threshold
}

interface Current {
  wallet: Wallet
  /** All wallets, read together with this one. */
  wallets: readonly Wallet[]
  pending: ReadonlyMap<string, bigint>
  threshold: bigint | null
  recharge: RechargeRow | null
}

/** A wallet of this moment, its threshold, and how it is filled by itself. */
export async function currentWallet(
  queryable: Queryable,
  tenant: Tenant,
  currency: Currency,
  atMs: number,
): Promise<Current> {
  const { account } = tenant
  const threshold = thresholdIn(await maybe(queryable.query(thresholdOfAccount, { account })), currency)
  const recharge = await maybe(queryable.query(findRecharge, { ...tenant, currency }))
  const wallets = await walletsOf(queryable, tenant)
  // Afterwards, so that what moves from the one to the other in between is not told twice.
  const pending = await pendingOf(queryable, tenant)
  return { wallet: walletIn(wallets, currency, atMs), wallets, pending, threshold, recharge }
}

export function figuresOf(wallet: Wallet, pending: ReadonlyMap<string, bigint>) {
  return {
    balance: wallet.balanceMicros,
    available: wallet.availableMicros,
    held: wallet.heldMicros,
    pending: pending.get(wallet.currency) ?? 0n,
  }
}

/** The figures of all currencies that there is money in, or that some will come in. */
export function allFigures({ wallets, pending }: Current, atMs: number) {
  const codes = new Set([...wallets.map(({ currency }) => currency), ...[...pending.keys()].map(currencyOf)])
  return [...codes].sort().map((currency) => ({
    currency,
    ...figuresOf(walletIn(wallets, currency, atMs), pending),
  }))
}

export function rechargeFacts({ enabled, paused, threshold, amount, failures }: RechargeRow) {
  const status: 'active' | 'paused' | 'disabled' = !enabled ? 'disabled' : paused ? 'paused' : 'active'
  return { enabled, threshold, amount, status, consecutive_failures: failures }
}

/** Payload that all events of a wallet share. */
export function toldOf(tenant: Tenant, { wallet, pending, threshold, recharge }: Current, sequence: number) {
  const { currency, availableMicros: available, updatedAt: updated_at } = wallet
  return {
    livemode: tenant.environment === 'live',
    sequence,
    currency,
    available,
    threshold,
    wallet: {
      wallet_id: walletId(tenant, currency),
      currency,
      ...figuresOf(wallet, pending),
      low_balance: isLow(wallet, threshold),
      auto_recharge: recharge && rechargeFacts(recharge),
      updated_at,
    },
  }
}
