// SPDX-License-Identifier: Apache-2.0
// Accepting a payment: what it must be like, the intent that is stored before anybody is asked, and what is asked then.
import { AppError, alreadyUsed } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import type { Money } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { newToken } from './callbacks/address.ts'
import { refuseCardNumbers } from './cards/card.ts'
import { type Risk, riskOf, weigh } from './fraud/assess.ts'
import { block, requirePassed, tellReview } from './fraud/enforce.ts'
import type { Subject } from './fraud/fields.ts'
import { currencyOf, microsOf, type NewPayment } from './input.ts'
import { type Asked, insert } from './insert.ts'
import type { PaymentMethod, Plan } from './method.ts'
import { methodFor, methodOf } from './payment-methods.ts'
import { gatewayOf } from './providers/gateway.ts'
import { isFailureReason } from './providers/provider.ts'
import { collection, type Purpose } from './purpose.ts'
import { learningSince, recallAccepted, rememberAccepted } from './remembered.ts'
import { type AttemptRow, attemptOfPayment, findPayment, findReference, type PaymentRow } from './store.ts'
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
  const { tenant, receivedMs, nowMs } = occasion
  const since = learningSince(app)
  const currency = currencyOf(input.currency)
  const money = { currency, micros: microsOf('amount', input.amount, currency) }
  const method = methodFor(input)
  const plan = await method.plan(app, tx, occasion, input, money)
  refuseCardNumbers({ description: input.description, customer: input.customer, metadata: input.metadata })
  const intent = { id: newUuid(receivedMs), input, purpose, method, plan, money }
  const weighed = purpose.isOwn ? null : await weigh(app, tx, occasion, subjectOf(intent), 'enforced')
  const assessment = weighed?.assessment ?? null
  const risk = assessment && riskOf(assessment)
  const scale = gatewayOf(app).timeScale(tenant.environment)
  const expiresAt = new Date(nowMs + (input.expires_in ?? plan.expirySeconds) * 1_000 * scale)
  const payment = rowOf(occasion, intent, risk, expiresAt)
  // A card is nowhere but in the request.
  const isInline = sendsInline || (!method.isQueued && input.card !== undefined)
  const attempt = newUuid(receivedMs)
  const delayMs = method.pollSeconds[0] * 1_000 * scale
  const job = app.work.prepare(watchJob, tenant, { attempt, inline: isInline }, isInline ? { delayMs } : {})
  const isBlocked = risk?.decision === 'block'
  const asked = isBlocked ? null : { attempt, country: plan.country, token: newToken(), job }
  if (!(await insert(app, tx, occasion, payment, weighed?.check ?? null, asked)))
    throw await usedBefore(tx, tenant, input.reference ?? '')
  if (assessment && isBlocked) return block(app, tx, occasion, payment, assessment)
  if (risk?.decision === 'review') await tellReview(app, tx, occasion, payment, risk)
  const proved = risk?.decision === 'require_3ds' ? { ...input, require_3ds: true } : input
  await method.store?.(app, tx, occasion, proved, payment)
  if (asked) {
    const known = { payment, attempt: attemptOf(occasion, payment, asked) }
    tx.afterCommit(() => {
      rememberAccepted(app, since, isInline ? payment.id : attempt, known)
      if (!isInline) app.work.begin(job)
    })
  }
  return payment
}

/** The attempt as it was stored with the payment. */
function attemptOf({ receivedMs, nowMs }: Occasion, payment: PaymentRow, { attempt, country, token }: Asked): AttemptRow {
  return {
    id: attempt,
    payment_id: payment.id,
    provider: payment.provider,
    country,
    currency: payment.currency,
    state: 'planned',
    provider_id: null,
    token,
    polls: 0,
    created_at: payment.created_at,
    updated_at: new Date(receivedMs),
    said_paid_at: null,
    called_amount: null,
    called_receipt: null,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}

/** What is decided about a payment before anybody looked at its risk. */
interface Intent {
  readonly id: string
  readonly input: NewPayment
  readonly purpose: Purpose
  readonly method: PaymentMethod
  readonly plan: Plan
  readonly money: Money
}

/** What its risk is judged by. */
function subjectOf({ id, input, method, plan, money }: Intent): Subject {
  return {
    id,
    direction: 'payment',
    ...money,
    method: method.name,
    provider: plan.provider,
    phone: plan.phone,
    customer: input.customer ?? {},
    metadata: input.metadata ?? {},
    ipAddress: input.ip_address ?? null,
    deviceId: input.device_id ?? null,
    country: input.country ?? null,
    ...plan.judged,
  }
}

/** As it is stored; the database gives it its version. */
function rowOf(
  { tenant, nowMs, requestId }: Occasion,
  { id, input, purpose, method, plan, money }: Intent,
  risk: Risk | null,
  expiresAt: Date,
): PaymentRow {
  return {
    bucket: tenant.bucket,
    account_id: tenant.account,
    environment: tenant.environment,
    id,
    purpose: purpose.name,
    status: 'pending',
    method: method.name,
    provider: plan.provider,
    amount: money.micros,
    currency: money.currency,
    fee: purpose.isFree ? 0n : plan.fee,
    phone: plan.phone,
    description: input.description ?? null,
    reference: input.reference ?? null,
    customer: asStored(input.customer),
    metadata: asStored(input.metadata),
    callback_url: input.callback_url ?? null,
    details: asStored(plan.details),
    invoice_id: purpose.invoiceId ?? null,
    provider_reference: null,
    failure_reason: null,
    risk,
    late: false,
    refunded: 0n,
    dispute_status: null,
    receipt_url: null,
    // That it is being looked at is told right after that it was made.
    sequence: risk?.decision === 'review' ? 2 : 1,
    request_id: requestId,
    expires_at: expiresAt,
    completed_at: null,
    created_at: new Date(nowMs),
    updated_at: new Date(nowMs),
    version: '',
  }
}

/** Asks the provider, and waits a while for its first word. `input` is what the request brought, if it is at hand. */
export async function sendNow(
  app: App,
  { tenant }: Pick<Caller, 'tenant'>,
  paymentId: string,
  input: NewPayment | null = null,
): Promise<PaymentRow> {
  const toSend = await accepted(app, tenant, paymentId)
  const { payment } = toSend
  requirePassed(payment)
  const { budgetMs } = methodOf(payment)
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<PaymentRow>((resolve) => {
    timer = setTimeout(resolve, budgetMs, payment)
  })
  const sent = submitFirst(app, tenant, toSend, input)
  // What it comes to after the answer was given is found in the log and by polling.
  sent.catch((error) => app.log.error({ error, payment: idOf('payment', paymentId) }, 'a payment could not be sent'))
  const known = await Promise.race([sent, enough])
  clearTimeout(timer)
  const refusal = refusalOf(app, known)
  if (refusal) throw refusal
  return known
}

/** A payment that was stored a moment ago; its attempt is null where there is none in this memory. */
async function accepted(app: App, tenant: Tenant, id: string) {
  const since = learningSince(app)
  const known = recallAccepted(app, id)
  const payment = known?.payment ?? (await one(app.db.query(findPayment, { ...tenant, id })))
  return { since, payment, attempt: known?.attempt ?? null }
}

async function submitFirst(
  app: App,
  tenant: Tenant,
  { since, payment, attempt: known }: Awaited<ReturnType<typeof accepted>>,
  input: NewPayment | null,
): Promise<PaymentRow> {
  const attempt = known ?? (await one(app.db.query(attemptOfPayment, { ...tenant, payment: payment.id })))
  return submit(app, tenant, { since, payment, attempt }, input)
}

/** The error that whoever asked for a payment is told, when it is certain that there will be none. */
function refusalOf(app: App, payment: PaymentRow): AppError | null {
  const { status, provider, environment, failure_reason: reason } = payment
  if (status !== 'failed' || !isFailureReason(reason)) return null
  const extra = { payment_id: idOf('payment', payment.id) }
  if (reason === 'PROVIDER_UNAVAILABLE')
    return environment === 'live' && !gatewayOf(app).isEntered(provider, environment)
      ? new AppError(reason, `this installation has no account with ${provider} yet; its operator enters one`, {
          retryAfterSeconds: 60,
          extra,
        })
      : new AppError(reason, `${provider} does not take payments just now`, { retryAfterSeconds: 5, extra })
  const code = methodOf(payment).refusals[reason]
  return code === undefined ? null : new AppError(code, `${provider} refused the payment`, { extra })
}

/** As it comes back from where it is stored: without what is not there. */
function asStored(value: object = {}) {
  return JSON.parse(JSON.stringify(value))
}

async function usedBefore(tx: Tx, tenant: Tenant, reference: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findReference, { ...tenant, reference }))
  return alreadyUsed(`the reference ${reference}`, idOf('payment', id), status)
}
