// SPDX-License-Identifier: Apache-2.0
// Automatic top-ups: when a wallet falls below a threshold, a top-up is requested from the account's phone or charged
// to its saved card. One at a time, up to a daily limit; three failures in a row pause it until the account turns it on
// again.

import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { bucketOf, buckets, idOf, nilUuid, uuidOf } from '../../kernel/ids.ts'
import { type Currency, formatMicros } from '../../kernel/money.ts'
import { dayOf } from '../../kernel/time.ts'
import { currencyOf, currencyTaken, microsOf } from '../../ledger/currencies.ts'
import { walletsOfMany } from '../../ledger/wallets.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../platform/db.ts'
import { type Occasion, occasionNow } from '../../platform/events.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import { Amount, AmountIn, At, Nullable, OneOf, OneOfAnyCase } from '../../platform/schema/fields.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { accept, PaymentCreate, type PaymentRow, type Purpose, phoneOf, requireUnattended } from '../payments/area.ts'
import { walletEvents } from './events.ts'
import {
  beginRecharge,
  clockOffset,
  endRecharge,
  failRecharge,
  listRecharges,
  lockRecharge,
  nameRecharge,
  nextReadyRecharges,
  noteTopup,
  type ReadyRecharge,
  type RechargeRow,
  rechargePaidLate,
  saveRecharge,
  stopRecharge,
} from './store.ts'
import { currentWallet, rechargeFacts, toldOf, walletId } from './wallet.ts'

const defaultPerDay = 3
const pausedAfterFailures = 3
/** Wallets per query. */
const walletsAtOnce = 500

/** Comes before all of them. */
const first = { account_id: nilUuid, environment: 'live', currency: '' } as const

const { phone, phone_number, provider, card_token } = PaymentCreate.properties

const methods = ['mobile_money', 'card'] as const

export const RechargeSet = Type.Object({
  enabled: Type.Boolean({ description: 'False disables it; no other field is needed' }),
  currency: Type.Optional(
    Type.String({ maxLength: 3, description: 'Currency of the wallet to top up; default: the account’s' }),
  ),
  threshold: Type.Optional(AmountIn({ description: 'Available amount below which the wallet is topped up' })),
  amount: Type.Optional(AmountIn({ description: 'Amount of each top-up' })),
  method: Type.Optional(
    OneOfAnyCase(methods, { description: 'Payment method; derived from `phone` or `card_token` by default' }),
  ),
  phone,
  phone_number,
  card_token,
  provider,
  max_per_day: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 24,
      rule: 'must be 1 to 24',
      description: 'Maximum number of top-ups in a day; default 3',
    }),
  ),
  daily_limit: Type.Optional(Nullable(AmountIn(), { description: 'Maximum amount on one day (UTC); null: no limit' })),
})

export const Recharge = Type.Object(
  {
    currency: Type.String({ description: 'Currency of the wallet' }),
    enabled: Type.Boolean({ description: 'True if automatic top-up is enabled' }),
    status: OneOf(['active', 'paused', 'disabled'], {
      description: 'Status; `paused` after three consecutive failures, until it is set again',
    }),
    threshold: Nullable(Amount(), {
      description:
        'Available amount below which the wallet is topped up; null, like amount and method, if it was never set',
    }),
    amount: Nullable(Amount({ description: 'Amount of each top-up, in major units' })),
    method: Nullable(OneOf(methods, { description: 'Payment method' })),
    phone: Nullable(Type.String({ description: 'Phone number that pays' })),
    card_token: Nullable(Type.String({ description: 'Token of the saved card that is charged' })),
    provider: Nullable(Type.String({ description: 'Provider, such as `mpesa`' })),
    max_per_day: Type.Integer({ description: 'Maximum number of top-ups in a day' }),
    daily_limit: Nullable(Amount({ description: 'Maximum amount in a day' })),
    consecutive_failures: Type.Integer({ description: 'Failures since the last success' }),
    last_recharge_at: Nullable(At({ description: 'Time of the last top-up' })),
    created_at: Nullable(At({ description: 'Time at which it was first set; null if never' })),
    updated_at: Nullable(At({ description: 'Time at which it was last set; null if never' })),
  },
  { title: 'AutoRecharge' },
)

/** Sets how a wallet is filled; what is not given stays as it was. Turned on again, it forgets its failures. */
export async function setRecharge(
  app: App,
  tx: Tx,
  input: Static<typeof RechargeSet>,
  caller: Caller,
): Promise<Static<typeof Recharge>> {
  const { tenant, principal, nowMs } = caller
  const currency = currencyTaken(app, input.currency ?? principal.facts.currency)
  const at = new Date(nowMs)
  const before = await maybe(tx.query(lockRecharge, { ...tenant, currency }))
  const row = input.enabled
    ? await one(
        tx.query(saveRecharge, {
          ...tenant,
          currency,
          ...(await wanted(app, tx, tenant, input, before, currency)),
          at,
        }),
      )
    : await maybe(tx.query(stopRecharge, { ...tenant, currency, at }))
  if (!row) return neverSet(currency)
  const after = rechargeOf(row)
  await record(tx, caller, 'wallet.auto_recharge', walletId(tenant, currency), {
    after: { enabled: after.enabled, max_per_day: after.max_per_day },
  })
  return after
}

async function wanted(
  app: App,
  tx: Tx,
  tenant: Tenant,
  input: Static<typeof RechargeSet>,
  before: RechargeRow | null,
  currency: Currency,
) {
  const threshold = given('threshold', input.threshold, currency) ?? before?.threshold
  const amount = given('amount', input.amount, currency) ?? before?.amount
  if (threshold === undefined || amount === undefined)
    throw invalid(threshold === undefined ? 'threshold' : 'amount', 'is required the first time')
  const source = sourceOf(input, before)
  const money = { currency, micros: amount }
  const card_token = source.phone === null ? idOf('cardToken', source.cardToken) : null
  await requireUnattended(app, tx, tenant, { ...source, card_token }, money)
  const dailyLimit = limitOf(input.daily_limit, before?.daily_limit ?? null, currency)
  if (dailyLimit !== null && dailyLimit < amount) throw invalid('daily_limit', 'must not be less than amount')
  return {
    threshold,
    amount,
    ...source,
    maxPerDay: input.max_per_day ?? before?.max_per_day ?? defaultPerDay,
    dailyLimit,
  }
}

type Source =
  | { phone: string; cardToken: null; provider: string | null }
  | { phone: null; cardToken: string; provider: null }

/** Payer of the top-ups: as given, or as before. */
function sourceOf(input: Static<typeof RechargeSet>, before: RechargeRow | null): Source {
  const phone = phoneOf(input)
  const { card_token } = input
  const provider = input.provider?.toLowerCase()
  const method = input.method?.toLowerCase()
  const isPhone = phone !== undefined || provider !== undefined || method === 'mobile_money'
  const isCard = card_token !== undefined || method === 'card'
  if (isPhone && isCard)
    throw invalid('card_token', 'cannot be combined with phone or provider: choose a card or a phone')
  const kept = isPhone || isCard ? null : before?.card_token
  if (isCard || kept) {
    const token = card_token === undefined ? (before?.card_token ?? null) : uuidOf('cardToken', card_token)
    if (token === null && card_token === undefined) throw invalid('card_token', 'is required with method card')
    if (token === null) throw new AppError('INVALID_CARD', 'card_token is not the token of a saved card')
    return { phone: null, cardToken: token, provider: null }
  }
  const asked = phone ?? before?.phone ?? null
  if (asked === null) throw invalid('phone', 'is required the first time, or card_token')
  return { phone: asked, cardToken: null, provider: provider ?? before?.provider ?? null }
}

function given(field: string, value: number | string | undefined, currency: Currency): bigint | undefined {
  return value === undefined ? undefined : microsOf(field, value, currency)
}

/** Daily limit after a change: as before unless given, none when null. */
function limitOf(wanted: number | string | null | undefined, before: bigint | null, currency: Currency): bigint | null {
  return wanted === null ? null : (given('daily_limit', wanted, currency) ?? before)
}

export async function rechargesOf(queryable: Queryable, tenant: Tenant): Promise<Static<typeof Recharge>[]> {
  return (await queryable.query(listRecharges, { ...tenant })).map(rechargeOf)
}

function rechargeOf(row: RechargeRow): Static<typeof Recharge> {
  const { currency, phone, provider, max_per_day, daily_limit, last_recharge_at, created_at, updated_at } = row
  const kept = { currency, phone, provider, max_per_day, daily_limit, last_recharge_at, created_at, updated_at }
  const card_token = row.card_token && idOf('cardToken', row.card_token)
  return { ...kept, ...rechargeFacts(row), card_token, method: card_token ? 'card' : 'mobile_money' }
}

/** Reply when automatic top-up was never on and is turned off. */
function neverSet(currency: string): Static<typeof Recharge> {
  return {
    currency,
    enabled: false,
    status: 'disabled',
    threshold: null,
    amount: null,
    method: null,
    phone: null,
    card_token: null,
    provider: null,
    max_per_day: defaultPerDay,
    daily_limit: null,
    consecutive_failures: 0,
    last_recharge_at: null,
    created_at: null,
    updated_at: null,
  }
}

export function rechargeChore(topup: Purpose): Chore {
  return { name: 'automatic top-ups', everyMs: 30_000, run: (app) => rechargeAll(app, topup) }
}

export async function rechargeAll(app: App, topup: Purpose): Promise<void> {
  let after: Pick<ReadyRecharge, 'account_id' | 'environment' | 'currency'> | undefined = first
  while (after !== undefined) {
    const { account_id: account, environment, currency } = after
    const page = { buckets, account, environment, currency, most: walletsAtOnce }
    const ready: ReadyRecharge[] = await app.db.query(nextReadyRecharges, page)
    await rechargeSome(app, ready, topup)
    after = ready[walletsAtOnce - 1]
  }
}

async function rechargeSome(app: App, ready: readonly ReadyRecharge[], topup: Purpose): Promise<void> {
  if (ready.length === 0) return
  const wallets = await walletsOfMany(app.db, [...new Set(ready.map(({ account_id }) => account_id))])
  const name = (account: string, environment: string, currency: string) => `${account}/${environment}/${currency}`
  const available = new Map(
    wallets.map(({ tenant, wallet }) => [
      name(tenant.account, tenant.environment, wallet.currency),
      wallet.availableMicros,
    ]),
  )
  for (const { account_id: account, environment, currency, threshold } of ready) {
    if ((available.get(name(account, environment, currency)) ?? 0n) >= threshold) continue
    await recharge(app, { bucket: bucketOf(account), account, environment }, currency, topup).catch((error) =>
      app.log.error(
        { error, account: idOf('account', account) },
        'automatic top-up failed: tried again with the next sweep; check the error if this repeats',
      ),
    )
  }
}

/** Asks for the money, unless another node has, or the day's limit is reached. */
async function recharge(app: App, tenant: Tenant, currency: string, topup: Purpose): Promise<void> {
  const { account, environment } = tenant
  await app.db.tx(tenant, async (tx) => {
    const { offset_ms } = await one(tx.query(clockOffset, { account, environment }))
    const occasion = occasionNow(app.clock, tenant, offset_ms)
    const at = new Date(occasion.nowMs)
    // Every top-up changes this row in its transaction: once it is locked, the wallet's balance is current.
    const known = await maybe(tx.query(lockRecharge, { ...tenant, currency }))
    const { wallet } = await currentWallet(tx, tenant, currencyOf(currency), occasion.receivedMs)
    if (!known || wallet.availableMicros >= known.threshold) return
    const row = await maybe(tx.query(beginRecharge, { ...tenant, currency, at, day: dayOf(at) }))
    if (!row) return
    const input = {
      amount: formatMicros(row.amount),
      currency,
      ...(row.phone === null ? {} : { phone: row.phone }),
      ...(row.card_token === null ? {} : { card_token: idOf('cardToken', row.card_token) }),
      ...(row.provider === null ? {} : { provider: row.provider }),
      description: 'Automatic top-up',
    }
    // A refusal here has stored nothing.
    const wish = { input, occasion, sendsInline: false, purpose: topup }
    const payment = await accept(app, tx, wish).catch((error: unknown) => {
      if (error instanceof AppError) return error
      throw error
    })
    if (payment instanceof AppError) return notAsked(app, tx, occasion, row, payment.code, null)
    // The account's rules or a blacklist blocked it.
    if (payment.status === 'failed')
      return notAsked(app, tx, occasion, row, payment.failure_reason ?? 'BLOCKED_BY_RULE', idOf('payment', payment.id))
    await tx.query(nameRecharge, { ...tenant, currency, payment: payment.id })
  })
}

/**
 * Refusal before the payer was asked (the card was removed, the provider or amount is not taken any more) counts as a
 * failure like any other.
 */
async function notAsked(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { currency }: RechargeRow,
  code: string,
  payment: string | null,
): Promise<void> {
  const { tenant } = occasion
  const row = await one(tx.query(failRecharge, { ...tenant, currency, most: pausedAfterFailures }))
  if (row.paused) await tellFailed(app, tx, occasion, row, code, payment)
}

/** Notes the outcome of an automatic top-up; other payments are ignored. */
export async function rechargeEnded(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void> {
  const { tenant } = occasion
  const isPaid = payment.status === 'completed'
  const currency = currencyOf(payment.currency)
  const row = await maybe(
    tx.query(endRecharge, { ...tenant, currency, payment: payment.id, paid: isPaid, most: pausedAfterFailures }),
  )
  // Expired is not lost: this one may have been counted as a failure before.
  if (!row && isPaid) await tx.query(rechargePaidLate, { ...tenant, currency, payment: payment.id })
  if (!row?.paused || isPaid) return
  const reason = payment.failure_reason ?? 'USER_CANCELLED'
  await tellFailed(app, tx, occasion, row, reason, idOf('payment', payment.id))
}

async function tellFailed(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: RechargeRow,
  failure_reason: string,
  payment_id: string | null,
): Promise<void> {
  const { tenant } = occasion
  const currency = currencyOf(row.currency)
  const current = await currentWallet(tx, tenant, currency, occasion.receivedMs)
  const { sequence } = await one(tx.query(noteTopup, { ...tenant, currency, low: true }))
  await app.outbox.emit(tx, walletEvents.autoRechargeFailed, occasion, walletId(tenant, currency), {
    ...toldOf(tenant, current, sequence),
    threshold: row.threshold,
    failure_reason,
    payment_id,
  })
}
