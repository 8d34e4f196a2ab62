// SPDX-License-Identifier: Apache-2.0
// Accepting a payment: what it must be like, the intent that is stored before anybody is asked, and what is asked then.
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { newToken } from './callback-address.ts'
import { refuseCardNumbers } from './cards/card.ts'
import { paymentEvents } from './events.ts'
import { gatewayOf } from './gateway.ts'
import { currencyOf, microsOf, type NewPayment } from './input.ts'
import { methodFor, methodOf } from './payment-methods.ts'
import { isFailureReason } from './provider.ts'
import { collection, type Purpose } from './purpose.ts'
import { tell } from './settle.ts'
import { attemptOfPayment, findPayment, findReference, insertAttempt, insertPayment, type PaymentRow } from './store.ts'
import { submit, watchJob } from './submit.ts'

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
  const method = methodFor(input)
  const { provider, country, fee, phone, expirySeconds, details } = await method.plan(app, tx, occasion, input, {
    currency,
    micros,
  })
  refuseCardNumbers({ description: input.description, customer: input.customer, metadata: input.metadata })
  // A card is nowhere but in the request.
  const isInline = sendsInline || (!method.isQueued && input.card !== undefined)
  const id = newUuid(receivedMs)
  const scale = gatewayOf(app).timeScale(tenant.environment)
  const expiresAt = new Date(nowMs + (input.expires_in ?? expirySeconds) * 1_000 * scale)
  const payment = await maybe(
    tx.query(insertPayment, {
      ...tenant,
      id,
      purpose: purpose.name,
      method: method.name,
      provider,
      amount: micros,
      currency,
      fee: purpose.isFree ? 0n : fee,
      phone,
      description: input.description ?? null,
      reference: input.reference ?? null,
      customer: JSON.stringify(input.customer ?? {}),
      metadata: JSON.stringify(input.metadata ?? {}),
      callbackUrl: input.callback_url ?? null,
      invoice: purpose.invoiceId ?? null,
      details: JSON.stringify(details),
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
    provider,
    country,
    currency,
    token: newToken(),
    at: new Date(nowMs),
    realAt: new Date(receivedMs),
  })
  await method.store?.(app, tx, occasion, input, payment)
  const delayMs = method.pollSeconds[0] * 1_000 * scale
  const job = app.work.prepare(watchJob, tenant, { attempt, inline: isInline }, isInline ? { delayMs } : {})
  await app.work.add(tx, job)
  if (!isInline) tx.afterCommit(() => app.work.begin(job))
  await tell(app, tx, paymentEvents.created, { tenant, receivedMs, nowMs, requestId }, payment)
  return payment
}

/** Asks the provider, and waits a while for its first word. `input` is what the request brought, if it is at hand. */
export async function sendNow(
  app: App,
  { tenant }: Pick<Caller, 'tenant'>,
  paymentId: string,
  input: NewPayment | null = null,
): Promise<PaymentRow> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id: paymentId }))
  const { budgetMs } = methodOf(payment)
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<PaymentRow>((resolve) => {
    timer = setTimeout(resolve, budgetMs, payment)
  })
  const sent = submitFirst(app, tenant, payment, input)
  // What it comes to after the answer was given is found in the log and by polling.
  sent.catch((error) => app.log.error({ error, payment: idOf('payment', paymentId) }, 'a payment could not be sent'))
  const known = await Promise.race([sent, enough])
  clearTimeout(timer)
  const refusal = refusalOf(known)
  if (refusal) throw refusal
  return known
}

async function submitFirst(
  app: App,
  tenant: Tenant,
  { id }: PaymentRow,
  input: NewPayment | null,
): Promise<PaymentRow> {
  return submit(app, tenant, await one(app.db.query(attemptOfPayment, { ...tenant, payment: id })), input)
}

/** The error that whoever asked for a payment is told, when it is certain that there will be none. */
function refusalOf(payment: PaymentRow): AppError | null {
  const { status, provider, failure_reason: reason } = payment
  if (status !== 'failed' || !isFailureReason(reason)) return null
  const extra = { payment_id: idOf('payment', payment.id) }
  if (reason === 'PROVIDER_UNAVAILABLE')
    return new AppError(reason, `${provider} does not take payments just now`, { retryAfterSeconds: 5, extra })
  const code = methodOf(payment).refusals[reason]
  return code === undefined ? null : new AppError(code, `${provider} refused the payment`, { extra })
}

async function usedBefore(tx: Tx, tenant: Tenant, reference: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findReference, { ...tenant, reference }))
  return new AppError('DUPLICATE_REFERENCE', `the reference ${reference} was used before`, {
    extra: { original_id: idOf('payment', id), original_status: status },
  })
}
