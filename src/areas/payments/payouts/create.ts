// SPDX-License-Identifier: Apache-2.0
// Acceptance of a payout: its rules, the money that is held for it, and its row, stored before the provider is asked.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, alreadyUsed, invalid, invalidAt } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { type Currency, formatMicros, formatMoney, type Money } from '../../../kernel/money.ts'
import { dayMs, parseMoment } from '../../../kernel/time.ts'
import { currencyTaken, microsOf } from '../../../ledger/currencies.ts'
import { hold } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { Moment, OneOfAnyCase } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { requireBank } from '../methods/bank-market.ts'
import { requireProvider } from '../methods/mobile-money-providers.ts'
import { BankAccountIn } from '../providers/banks.ts'
import { feeOf, type Terms } from '../providers/terms.ts'
import { newToken } from '../records/callback-address.ts'
import { missing, PaymentCreate, phoneFields, phoneOf } from '../records/input.ts'
import { keptBack, lockPayable } from '../records/payable.ts'
import { judge } from './judge.ts'
import { holdOf } from './payout.ts'
import { findPayout, findPayoutReferences, insertPayouts, type NewPayout, type PayoutRow } from './store.ts'
import { payoutJob, polls, submit } from './submit.ts'

/** Time that the reply waits for the provider's first answer. */
const budgetMs = 8_000
const maxAheadMs = 365 * dayMs

const { amount, currency, description, metadata, callback_url, reference } = PaymentCreate.properties

/** Fields that may be given once for a whole batch. */
export const shared = {
  currency,
  method: Type.Optional(
    OneOfAnyCase(['mobile_money', 'bank_transfer'], {
      description: 'Payout method: `mobile_money`, or `bank_transfer` where `bank` is given',
    }),
  ),
  provider: Type.Optional(
    Type.String({ maxLength: 40, description: 'Provider; derived from the payee’s network by default' }),
  ),
}

export const PayoutItem = Type.Object({
  amount,
  ...phoneFields,
  bank: Type.Optional(Type.Object(BankAccountIn.properties, { description: 'Account to pay to, instead of a phone' })),
  method: shared.method,
  provider: shared.provider,
  description,
  recipient: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(
          Type.String({
            maxLength: 100,
            rule: 'must have at most 100 characters',
            description: 'Name of the recipient',
          }),
        ),
        email: Type.Optional(
          Type.String({
            pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
            maxLength: 254,
            rule: 'must be an email address',
            description: 'Email of the recipient; nothing is sent to it',
          }),
        ),
      },
      { description: 'Your data of the recipient' },
    ),
  ),
  metadata,
  callback_url,
  reference,
  scheduled_at: Type.Optional(
    Moment({ description: 'Earliest time of sending; the payout can be cancelled until then' }),
  ),
})

export const PayoutCreate = Type.Object({ ...PayoutItem.properties, currency })

export type NewPayoutInput = Static<typeof PayoutItem>

/**
 * Stores a payout, judges it, holds its money and adds its job. The provider has not been asked yet. A blocked one is
 * returned as failed.
 */
export async function accept(
  app: App,
  tx: Tx,
  input: Static<typeof PayoutCreate>,
  occasion: Making,
  sendsInline: boolean,
): Promise<PayoutRow> {
  const { tenant, nowMs } = occasion
  const currency = currencyTaken(app, input.currency)
  const draft = draftOf(app, input, currency, occasion)
  // Lock order: the row, then the counters, then the wallet, as in settling; another order could deadlock.
  const stored = await maybe(insert(tx, occasion, null, currency, [draft]))
  if (!stored) throw await usedBefore(tx, tenant, input.reference ?? '')
  const payout = await judge(app, tx, occasion, stored)
  if (payout.status === 'failed') return payout
  await holdMoney(app, tx, occasion, payout, payout.amount + payout.fee, currency)
  if (!payout.in_review) await watchFrom(app, tx, tenant, payout, sendsInline, nowMs)
  return payout
}

/** Adds the job that follows a payout. */
export async function watchFrom(
  app: App,
  tx: Tx,
  tenant: Tenant,
  payout: PayoutRow,
  sendsInline: boolean,
  nowMs: number,
): Promise<void> {
  const inline = sendsInline && payout.status === 'processing'
  const pollMs = polls[0] * 1_000 * gatewayOf(app).timeScale(tenant.environment)
  const delayMs = inline ? pollMs : Math.max(0, payout.due_at.getTime() - nowMs)
  const job = app.work.prepare(payoutJob, tenant, { payout: payout.id, inline }, delayMs > 0 ? { delayMs } : {})
  await app.work.add(tx, job)
  if (delayMs === 0) tx.afterCommit(() => app.work.begin(job))
}

/** A payout as it is to be stored; throws when it cannot be. */
export function draftOf(
  app: App,
  input: NewPayoutInput,
  currency: Currency,
  { tenant, receivedMs, nowMs }: Occasion,
): NewPayout {
  const micros = microsOf('amount', input.amount, currency)
  const { terms, ...to } = recipientOf(app, tenant, input, { currency, micros })
  const { provider } = to
  const known = gatewayOf(app).speaksTo(to, tenant.environment)
  // Every provider of the sandbox that can pay out does.
  if (known?.outgoing === null && tenant.environment === 'test')
    throw new AppError('UNSUPPORTED_PROVIDER', `${provider} does not support payouts`)
  // Only some nodes have the simulators; one that has them sends it.
  if (known ? known.outgoing === null : tenant.environment === 'live')
    throw new AppError(
      'PROVIDER_UNAVAILABLE',
      `this installation has no account with ${provider} that pays out; its operator enters one`,
    )
  refuseCardNumbers({ description: input.description, recipient: input.recipient, metadata: input.metadata })
  const scheduledAt = scheduledIn(input.scheduled_at, nowMs)
  return {
    id: newUuid(receivedMs),
    batch_index: null,
    status: scheduledAt === null ? 'processing' : 'pending',
    ...to,
    amount: micros.toString(),
    fee: feeOf(terms, { currency, micros }).toString(),
    recipient: input.recipient ?? {},
    description: input.description ?? null,
    reference: input.reference ?? null,
    metadata: input.metadata ?? {},
    callback_url: input.callback_url ?? null,
    scheduled_at: scheduledAt?.toISOString() ?? null,
    token: `\\x${newToken().toString('hex')}`,
    queued: true,
    due_at: (scheduledAt ?? new Date(nowMs)).toISOString(),
  }
}

type To = Pick<NewPayout, 'method' | 'provider' | 'country' | 'phone' | 'bank'>

/** Recipient, provider and terms of a payout: a phone or a bank account, never both. */
function recipientOf(app: App, tenant: Tenant, input: NewPayoutInput, money: Money): To & { terms: Terms } {
  const { method, bank, provider: named } = input
  const phone = phoneOf(input)
  if ((method?.toLowerCase() ?? (bank ? 'bank_transfer' : 'mobile_money')) === 'bank_transfer') {
    if (!bank) throw missing('bank', ' for a bank transfer')
    if (phone !== undefined) throw invalidAt('phone', 'cannot be combined with bank')
    return { method: 'bank_transfer', ...requireBank(app, tenant, 'out', named, money), phone: null, bank }
  }
  if (bank) throw invalidAt('bank', 'cannot be combined with phone')
  if (phone === undefined) throw missing('phone', '; or give bank')
  const { provider, country, terms } = requireProvider(app, tenant, 'out', { phone, provider: named }, money)
  return { method: 'mobile_money', provider, country, terms, phone, bank: null }
}

export function insert(
  tx: Tx,
  { tenant, nowMs, receivedMs, requestId, madeBy }: Making,
  batch: string | null,
  currency: Currency,
  items: readonly NewPayout[],
): Promise<PayoutRow[]> {
  const about = { requestId, madeBy, at: new Date(nowMs), realAt: new Date(receivedMs) }
  return tx.query(insertPayouts, { ...tenant, batch, currency, items: JSON.stringify(items), ...about })
}

/** On whose behalf payouts are made, and who makes them, as `makerOf` says. */
export interface Making extends Occasion {
  madeBy: string
}

/** Sets the money aside that is to be paid; throws when it is not there. */
export async function holdMoney(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payout: Pick<PayoutRow, 'id' | 'batch_id'>,
  micros: bigint,
  currency: Currency,
): Promise<void> {
  const found = await lockPayable(app, tx, occasion, currency, micros)
  const { payable: available } = found
  const { tenant } = occasion
  if (available >= micros && (await hold(tx, tenant, holdOf(payout), micros, currency)) === 'held') return
  throw new AppError(
    'INSUFFICIENT_WALLET_BALANCE',
    `${formatMoney({ micros, currency })} with the fee is more than the ${currency} wallet can pay out${keptBack(found, currency)}`,
    { extra: { available: Number(formatMicros(available)), required: Number(formatMicros(micros)), currency } },
  )
}

/** Asks the provider, and waits a while for its first word. */
export async function sendNow(app: App, { tenant }: Caller, id: string): Promise<PayoutRow> {
  const payout = await one(app.db.query(findPayout, { ...tenant, id }))
  if (payout.status !== 'processing') return payout
  const sent = submit(app, tenant, payout, true)
  // An error after the answer was given is logged; the outcome is found by polling.
  sent.catch((error) =>
    app.log.error(
      { error, payout: idOf('payout', id) },
      'payout not sent: its job sends it within seconds; check the error if this repeats',
    ),
  )
  const known = await atMost(budgetMs, sent, payout)
  if (known.failure_reason === 'PROVIDER_UNAVAILABLE')
    throw new AppError('PROVIDER_UNAVAILABLE', `${known.provider} does not accept payouts at the moment`, {
      retryAfterSeconds: 5,
      extra: { payout_id: idOf('payout', known.id) },
    })
  return known
}

async function usedBefore(tx: Tx, tenant: Tenant, reference: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findPayoutReferences, { ...tenant, references: [reference] }))
  return alreadyUsed(`the reference ${reference}`, idOf('payout', id), status)
}

function scheduledIn(text: string | undefined, nowMs: number): Date | null {
  const at = text === undefined ? null : parseMoment(text)
  if (at === null) return null
  if (at.getTime() <= nowMs || at.getTime() > nowMs + maxAheadMs)
    throw invalid('scheduled_at', 'must be in the future, within 365 days')
  return at
}
