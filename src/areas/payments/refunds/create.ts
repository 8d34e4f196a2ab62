// SPDX-License-Identifier: Apache-2.0
// Acceptance of a refund: its rules, the money that is set aside for it, and its row, stored before the provider is
// asked. The payment is locked, so that refunds of one payment come one after the other.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, alreadyUsed, invalidAt } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { type Currency, formatMicros, formatMoney } from '../../../kernel/money.ts'
import { dayMs } from '../../../kernel/time.ts'
import { currencyOf, microsOf } from '../../../ledger/currencies.ts'
import { hold, walletsOf } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { AmountIn, Metadata, OneOf } from '../../../platform/schema/fields.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { pendingOfPayment } from '../methods/card-settlement.ts'
import { offered } from '../methods/mobile-money-providers.ts'
import { newToken } from '../records/callback-address.ts'
import { PaymentCreate } from '../records/input.ts'
import { keptBack, lockPayable } from '../records/payable.ts'
import { noSuchPayment } from '../records/payment.ts'
import { attemptOfPayment, changeRefunded, lockPayment, type PaymentRow } from '../records/store.ts'
import { refunderOf } from './refund-carrier.ts'
import { feeOf, holdStep, returnFee } from './settle.ts'
import { findRefundReference, insertRefund, type RefundRow } from './store.ts'
import { polls, refundJob } from './submit.ts'

/** A payment can be refunded for so long after it was completed. */
const refundableDays = 365
/** Ways to give money back, the better one first. */
const ways = ['refund', 'payout'] as const

export const RefundCreate = Type.Object({
  amount: Type.Optional(AmountIn({ description: 'Amount in major units; default: the refundable amount' })),
  reason: Type.Optional(
    OneOf(['duplicate', 'fraudulent', 'requested_by_customer', 'other'], {
      description: 'Reason, for your own records',
    }),
  ),
  description: PaymentCreate.properties.description,
  reference: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:/-]{1,100}$',
      rule: 'must have 1 to 100 letters, digits or . _ : / -',
      description: 'Your own id for the refund; must be unique',
    }),
  ),
  metadata: Type.Optional(Metadata),
})

/** Stores a refund and its job, and sets the money aside. The provider has not been asked yet. */
export async function acceptRefund(
  app: App,
  tx: Tx,
  paymentId: string,
  input: Static<typeof RefundCreate>,
  occasion: Occasion,
  sendsInline: boolean,
): Promise<{ refund: RefundRow; payment: PaymentRow }> {
  const { tenant, receivedMs, nowMs, requestId } = occasion
  refuseCardNumbers({ description: input.description, metadata: input.metadata })
  const payment = await maybe(tx.query(lockPayment, { ...tenant, id: paymentId }))
  if (!payment) throw noSuchPayment()
  // A repeated refund is answered as such, also when there is nothing left to refund.
  if (input.reference !== undefined) await requireUnused(tx, payment, input.reference)
  requireRefundable(payment, nowMs)
  const currency = currencyOf(payment.currency)
  const micros = amountOf(payment, input.amount, currency)
  const { country, way } = await waysOf(app, tx, payment, micros)
  const after = await maybe(
    tx.query(changeRefunded, { ...tenant, id: payment.id, by: micros, told: 0, at: new Date(nowMs) }),
  )
  if (!after) throw exceeds(payment)
  const id = newUuid(receivedMs)
  const feeReturned = await feeOf(app, tx, payment, micros, payment.refunded)
  const refund = await maybe(
    tx.query(insertRefund, {
      ...tenant,
      id,
      payment: payment.id,
      amount: micros,
      feeReturned,
      currency,
      reason: input.reason ?? null,
      description: input.description ?? null,
      reference: input.reference ?? null,
      metadata: JSON.stringify(input.metadata ?? {}),
      way,
      provider: payment.provider,
      country,
      token: newToken(),
      requestId,
      at: new Date(nowMs),
      realAt: new Date(receivedMs),
    }),
  )
  // Another payment was refunded under the same reference in this very moment.
  if (!refund) throw await usedBefore(tx, payment, input.reference ?? '')
  // The fee is there first: the wallet was never given it, and need not have it.
  await returnFee(tx, refund, receivedMs)
  await requireOwnMoney(app, tx, occasion, payment, micros)
  if ((await hold(tx, tenant, { sourceId: id, step: holdStep }, micros, currency)) !== 'held')
    throw await notCovered(tx, payment, refund)
  const delayMs = polls[0] * 1_000 * gatewayOf(app).timeScale(tenant.environment)
  const job = app.work.prepare(refundJob, tenant, { refund: id, inline: sendsInline }, sendsInline ? { delayMs } : {})
  await app.work.add(tx, job)
  if (!sendsInline) tx.afterCommit(() => app.work.begin(job))
  return { refund, payment: after }
}

function requireRefundable({ purpose, status, completed_at, dispute_status }: PaymentRow, nowMs: number): void {
  if (purpose === 'topup')
    throw notAllowed('a top-up is not refunded: it is money of your own, which is in your wallet')
  if (status !== 'completed' || completed_at === null)
    throw notAllowed(`the payment is ${status}; only a completed one is refunded`, { status })
  // A payer who got the money back through a dispute is not refunded as well.
  if (dispute_status === 'open' || dispute_status === 'lost')
    throw notAllowed(`the payment is disputed; the dispute is ${dispute_status}`, { dispute_status })
  if (nowMs - completed_at.getTime() > refundableDays * dayMs)
    throw notAllowed(`the payment was completed more than ${refundableDays} days ago`)
}

/**
 * Refuses to refund with recent top-ups, or while something is owed: an account that has paid a payment out already
 * would get the money of a stolen card by its refund. What the acquirer still keeps of the payment comes into the
 * wallet later, so a top-up may stand in for it.
 */
async function requireOwnMoney(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  micros: bigint,
): Promise<void> {
  const currency = currencyOf(payment.currency)
  const found = await lockPayable(app, tx, occasion, currency, micros)
  if (found.toppedUp === 0n || found.payable >= micros) return
  const available = found.payable + (await pendingOfPayment(tx, occasion.tenant, payment.id))
  if (available >= micros) return
  throw new AppError(
    'INSUFFICIENT_WALLET_BALANCE',
    `the refund of ${formatMoney({ micros, currency })} is more than the ${currency} wallet can give back${keptBack(found, currency)}`,
    { extra: { available: Number(formatMicros(available)), required: Number(formatMicros(micros)), currency } },
  )
}

/** Amount asked for, or all that is left. */
function amountOf(payment: PaymentRow, given: number | string | undefined, currency: Currency): bigint {
  const left = payment.amount - payment.refunded
  const micros = given === undefined ? left : microsOf('amount', given, currency)
  if (micros > left || micros === 0n) throw exceeds(payment)
  const isWholeOnly = offered({ currency }).some(
    ({ provider, wholeUnitsOnly }) => provider === payment.provider && wholeUnitsOnly,
  )
  if (isWholeOnly && micros % 1_000_000n !== 0n)
    throw invalidAt('amount', `provider ${payment.provider} takes whole ${currency}`)
  return micros
}

/** Country of the payment, and how it can be given back. */
async function waysOf(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  micros: bigint,
): Promise<{ country: string; way: RefundRow['way'] }> {
  const { provider, environment, amount, provider_reference: receipt } = payment
  const attempt = await one(tx.query(attemptOfPayment, { ...tenantOf(payment), payment: payment.id }))
  const { country, provider_id: providerId } = attempt
  const order = { micros, payment: { micros: amount, providerId, receipt }, phone: payment.phone }
  const objections: string[] = []
  for (const way of ways) {
    const carrier = refunderOf(app, { provider, country, way }, environment)
    const objection = carrier?.objection(order)
    if (objection === null) return { country, way }
    if (objection !== undefined) objections.push(objection)
  }
  // The first way is the better one, so that its reason is told.
  const [objection] = objections
  if (objection !== undefined) throw notAllowed(`${provider} ${objection}`)
  throw new AppError('PROVIDER_UNAVAILABLE', `${provider} does not accept refunds at the moment`, {
    retryAfterSeconds: 5,
  })
}

async function requireUnused(tx: Tx, payment: PaymentRow, reference: string): Promise<void> {
  const used = await maybe(tx.query(findRefundReference, { ...tenantOf(payment), reference }))
  if (used) throw duplicate(reference, used)
}

async function usedBefore(tx: Tx, payment: PaymentRow, reference: string): Promise<AppError> {
  return duplicate(reference, await one(tx.query(findRefundReference, { ...tenantOf(payment), reference })))
}

function duplicate(reference: string, { id, status }: Pick<RefundRow, 'id' | 'status'>): AppError {
  return alreadyUsed(`the reference ${reference}`, idOf('refund', id), status)
}

async function notCovered(tx: Tx, payment: PaymentRow, { amount, fee_returned: fee }: RefundRow): Promise<AppError> {
  const { currency } = payment
  const wallet = (await walletsOf(tx, tenantOf(payment))).find((one) => one.currency === currency)
  const available = formatMicros((wallet?.availableMicros ?? fee) - fee)
  const required = formatMicros(amount - fee)
  return new AppError(
    'INSUFFICIENT_WALLET_BALANCE',
    `the refund takes ${currency} ${required}, and ${available} can be spent`,
    { extra: { available: Number(available), required: Number(required), currency } },
  )
}

function exceeds({ amount, refunded, currency }: PaymentRow): AppError {
  const left = formatMicros(amount - refunded)
  return new AppError('REFUND_EXCEEDS_PAYMENT', `${currency} ${left} of the payment can be refunded`, {
    extra: { amount_refundable: Number(left) },
  })
}

function notAllowed(details: string, extra: Readonly<Record<string, string>> = {}): AppError {
  return new AppError('REFUND_NOT_ALLOWED', details, { extra })
}
