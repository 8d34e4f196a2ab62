// SPDX-License-Identifier: Apache-2.0
// Accepting a payment: what it must be like, the intent that is stored before anybody is asked, and what is asked then.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { type Currency, currencies, isCurrency, parseAmount } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import { AmountIn, Metadata, OneOf } from '../../platform/schema.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { newToken } from './callbacks.ts'
import { paymentEvents } from './events.ts'
import { gatewayOf } from './gateway.ts'
import { feeOf, requireCollectable } from './methods.ts'
import { collection, type Purpose } from './purpose.ts'
import { tell } from './settle.ts'
import { attemptOfPayment, findPayment, findReference, insertAttempt, insertPayment, type PaymentRow } from './store.ts'
import { firstPollSeconds, submit, watchJob } from './submit.ts'

/** How long the answer waits for the provider's first word. */
const budgetMs = 8_000
const defaultExpirySeconds = 120

const text = (maxLength: number, description?: string) =>
  Type.String({ maxLength, rule: `must have at most ${maxLength} characters`, ...(description ? { description } : {}) })

const optionalFields = {
  description: Type.Optional(text(255, 'Shown to the payer, as much of it as fits')),
  customer: Type.Optional(
    Type.Object({
      name: Type.Optional(text(100)),
      email: Type.Optional(
        Type.String({ pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', maxLength: 254, rule: 'must be an email address' }),
      ),
      phone: Type.Optional(text(20)),
      customer_id: Type.Optional(text(100)),
    }),
  ),
  metadata: Type.Optional(Metadata),
  callback_url: Type.Optional(Type.String({ maxLength: 2_048, description: 'Told of every change, signed' })),
  reference: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:/-]{1,100}$',
      rule: 'must have 1 to 100 letters, digits or . _ : / -',
      description: 'Your own id of the payment; each can be used once',
    }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 86_400,
      rule: 'must be 60 to 86400 seconds',
      description: 'How long the payer may take; 120 seconds unless given',
    }),
  ),
}

const amount = AmountIn({ description: 'Major units' })
const currency = Type.String({ maxLength: 3, description: 'Such as KES' })
const provider = Type.Optional(text(40, 'Found by the payer’s network unless given'))
const phone = Type.String({
  pattern: '^\\+[1-9]\\d{1,14}$',
  rule: 'must be E.164, such as +254711000001',
  errorCode: 'INVALID_PHONE',
})

export const PaymentCreate = Type.Object({
  amount,
  currency,
  method: Type.Optional(OneOf(['mobile_money'])),
  provider,
  phone,
  ...optionalFields,
})

export const MobilePaymentCreate = Type.Object({ amount, currency, provider, phone_number: phone, ...optionalFields })

export type NewPayment = Static<typeof PaymentCreate>

/** Stores the payment, the attempt and the job that looks after them. Nothing has been asked of anybody yet. */
export async function accept(
  app: App,
  tx: Tx,
  input: NewPayment,
  occasion: Occasion,
  sendsInline: boolean,
  purpose: Purpose = collection,
): Promise<PaymentRow> {
  const { tenant, receivedMs, nowMs, requestId } = occasion
  const currency = currencyOf(input.currency)
  const micros = microsOf('amount', input.amount, currency)
  const found = requireCollectable(currency, input.phone, input.provider, micros)
  const id = newUuid(receivedMs)
  const scale = gatewayOf(app).timeScale(tenant.environment)
  const expiresAt = new Date(nowMs + (input.expires_in ?? defaultExpirySeconds) * 1_000 * scale)
  const payment = await maybe(
    tx.query(insertPayment, {
      ...tenant,
      id,
      purpose: purpose.name,
      provider: found.provider,
      amount: micros,
      currency,
      fee: purpose.isFree ? 0n : feeOf(micros, currency),
      phone: input.phone,
      description: input.description ?? null,
      reference: input.reference ?? null,
      customer: JSON.stringify(input.customer ?? {}),
      metadata: JSON.stringify(input.metadata ?? {}),
      callbackUrl: input.callback_url ?? null,
      invoice: purpose.invoiceId ?? null,
      requestId,
      expiresAt,
      at: new Date(nowMs),
    }),
  )
  if (!payment) throw await usedBefore(tx, tenant, input.reference ?? '')
  const attempt = newUuid(receivedMs)
  await tx.query(insertAttempt, {
    ...tenant,
    id: attempt,
    payment: id,
    provider: found.provider,
    country: found.country,
    currency,
    token: newToken(),
    at: new Date(nowMs),
    realAt: new Date(receivedMs),
  })
  const delayMs = firstPollSeconds * 1_000 * scale
  const job = app.work.prepare(watchJob, tenant, { attempt, inline: sendsInline }, sendsInline ? { delayMs } : {})
  await app.work.add(tx, job)
  if (!sendsInline) tx.afterCommit(() => app.work.begin(job))
  await tell(app, tx, paymentEvents.created, { tenant, receivedMs, nowMs, requestId }, payment)
  return payment
}

/** Asks the provider, and waits a while for its first word. */
export async function sendNow(app: App, { tenant }: Caller, paymentId: string): Promise<PaymentRow> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id: paymentId }))
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<PaymentRow>((resolve) => {
    timer = setTimeout(resolve, budgetMs, payment)
  })
  const sent = submitFirst(app, tenant, payment)
  // What it comes to after the answer was given is found in the log and by polling.
  sent.catch((error) => app.log.error({ error, payment: idOf('payment', paymentId) }, 'a payment could not be sent'))
  const known = await Promise.race([sent, enough])
  clearTimeout(timer)
  if (known.failure_reason === 'PROVIDER_UNAVAILABLE')
    throw new AppError('PROVIDER_UNAVAILABLE', `${known.provider} does not take payments just now`, {
      retryAfterSeconds: 5,
      extra: { payment_id: idOf('payment', known.id) },
    })
  return known
}

async function submitFirst(app: App, tenant: Tenant, { id }: PaymentRow): Promise<PaymentRow> {
  return submit(app, tenant, await one(app.db.query(attemptOfPayment, { ...tenant, payment: id })))
}

async function usedBefore(tx: Tx, tenant: Tenant, reference: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findReference, { ...tenant, reference }))
  return new AppError('DUPLICATE_REFERENCE', `the reference ${reference} was used before`, {
    extra: { original_id: idOf('payment', id), original_status: status },
  })
}

export function currencyOf(given: string): Currency {
  const currency = given.toUpperCase()
  if (!isCurrency(currency)) throw new AppError('UNSUPPORTED_CURRENCY', `${given} is not a currency of this service`)
  return currency
}

/** An amount that a field gives; refuses what is none, or nothing. */
export function microsOf(field: string, given: number | string, currency: Currency): bigint {
  const micros = parseAmount(given, currencies[currency])
  if (typeof micros !== 'bigint') throw new AppError('VALIDATION_ERROR', `${field}: ${currency} ${micros.problem}`)
  if (micros === 0n) throw new AppError('VALIDATION_ERROR', `${field}: must be more than 0`)
  return micros
}
