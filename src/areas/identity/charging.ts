// SPDX-License-Identifier: Apache-2.0
// Prices and charges of checks: the operator's price list, or in the sandbox placeholders; a live check without a price
// is refused. Immediate checks are charged with their reply; verifications hold their price until the verdict. One-time
// codes cost what their channel costs.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { type Currency, formatMicros, formatMoney, isCurrency } from '../../kernel/money.ts'
import { aboutDollars } from '../../kernel/rough-rates.ts'
import { noPrice } from '../../ledger/no-price.ts'
import { capture, hold, post, release, walletsOf } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import type { Charges } from '../../platform/area.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tx } from '../../platform/db.ts'
import { Amount } from '../../platform/schema/fields.ts'
import type { Tenant } from '../../platform/tenant.ts'

const units = ['verification', 'scan', 'face_match', 'liveness', 'risk_score'] as const
type Unit = (typeof units)[number]

const area = 'identity'
const credit = `revenue:${area}`
const holdStep = 'check'

export const identityCharges: Charges = { [area]: units }

/** Placeholder price in US dollar micros: 12 Kenyan shillings for a verification, 4 for a scan. */
const placeholderDollarMicros: Readonly<Record<Unit, bigint>> = {
  verification: 93_000n,
  scan: 31_000n,
  face_match: 18_600n,
  liveness: 18_600n,
  risk_score: 4_650n,
}

/** Cost fields of a reply. */
export const costFields = {
  cost: Amount({ description: 'Amount in major units of `currency`' }),
  currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
} as const

export interface Price {
  readonly cost: bigint
  readonly currency: Currency
}

/** Who pays for a check: a caller, or the account of a hosted page. */
export type Payer = Pick<Caller, 'tenant' | 'receivedMs'> & {
  readonly principal: { readonly facts: { readonly currency: string } }
}

export function priceOf(app: App, { tenant, principal, receivedMs }: Payer, unit: Unit): Price {
  const { currency } = principal.facts
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  const quoted = app.prices.quote({ area, unit, currency, account: tenant.account, atMs: receivedMs })
  if (!quoted && tenant.environment === 'live') throw noPrice(`checks of the kind ${unit}`, currency)
  return { cost: quoted?.micros ?? aboutDollars(placeholderDollarMicros[unit], currency), currency }
}

/** Checks the balance before an engine runs; the charge is made with the reply. */
export async function requireFunds(app: App, caller: Payer, unit: Unit): Promise<Price> {
  const price = priceOf(app, caller, unit)
  if (price.cost === 0n) return price
  const wallet = (await walletsOf(app.db, caller.tenant)).find(({ currency }) => currency === price.currency)
  const available = wallet?.availableMicros ?? 0n
  if (available < price.cost) throw beyondWallet(price, available)
  return price
}

/** Charges an immediate check in the transaction of its reply. */
export async function chargeFor(tx: Tx, caller: Caller, unit: Unit, sourceId: string, price: Price): Promise<void> {
  const { cost: micros, currency } = price
  if (micros === 0n) return
  const legs = [{ debit: 'wallet', credit, micros, currency }]
  const verdict = await post(tx, caller.tenant, { sourceId, step: 'charge' }, legs, caller.receivedMs, {
    description: unit,
  })
  if (verdict === 'insufficient') throw beyondWallet(price, null)
}

/** Holds the price of a verification. */
export async function holdFor(tx: Tx, tenant: Tenant, sourceId: string, price: Price): Promise<void> {
  const { cost, currency } = price
  if (cost === 0n) return
  if ((await hold(tx, tenant, { sourceId, step: holdStep }, cost, currency)) === 'insufficient')
    throw beyondWallet(price, null)
}

/** Charges the hold, or releases it when no check could be made. Idempotent. */
export async function settle(
  tx: Tx,
  tenant: Tenant,
  { id: sourceId, cost }: { readonly id: string; readonly cost: bigint },
  isOwed: boolean,
  atMs: number,
): Promise<void> {
  if (cost === 0n) return
  const held = { sourceId, step: holdStep }
  if (isOwed) await capture(tx, tenant, held, 'verdict', cost, credit, atMs)
  await release(tx, tenant, held)
}

function beyondWallet({ cost, currency }: Price, available: bigint | null): AppError {
  const costs = `it costs ${formatMoney({ micros: cost, currency })}`
  if (available === null) return new AppError('INSUFFICIENT_BALANCE', `${costs}, more than the balance of the wallet`)
  const details = `${costs}, and the wallet has ${formatMoney({ micros: available, currency })}`
  const extra = { balance: Number(formatMicros(available)), required: Number(formatMicros(cost)), currency }
  return new AppError('INSUFFICIENT_BALANCE', details, { extra })
}
