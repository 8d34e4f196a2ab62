// SPDX-License-Identifier: Apache-2.0
// Accepting a payment: it is checked, judged and stored before its provider is asked; then the provider is asked.

import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, alreadyUsed } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { Money } from '../../../kernel/money.ts'
import { currencyTaken, microsOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { checkReturnUrl } from '../../../platform/outbound/return-url.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Risk, riskOf, type Weighed, weighBatch } from '../fraud/assess.ts'
import type { Subject } from '../fraud/fields.ts'
import { takeBack } from '../fraud/lookup.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import type { PaymentMethod, Plan } from '../methods/method.ts'
import { methodFor, methodOf } from '../methods/payment-methods.ts'
import { isFailureReason } from '../providers/provider.ts'
import { newToken } from '../records/callback-address.ts'
import type { NewPayment } from '../records/input.ts'
import { recordOf } from '../records/payment.ts'
import { collection } from '../records/purpose.ts'
import { type AttemptRow, attemptOfPayment, findPayment, findReference, type PaymentRow } from '../records/store.ts'
import { type Draft, type PaymentRequest, runWithin } from './draft.ts'
import { block, passed, tellReview } from './enforce.ts'
import { keepAccepted, learningSince, takeAccepted } from './handover.ts'
import { insert } from './insert.ts'
import { submit, watchJob } from './submit.ts'

/** Stores the payment, the attempt and the job that follows them. No provider has been asked yet. */
export async function accept(app: App, tx: Tx, request: PaymentRequest): Promise<PaymentRow> {
  const [accepted] = await acceptMany(app, tx, [request])
  if (!accepted || accepted instanceof AppError) throw accepted ?? new Error('a payment was neither taken nor refused')
  return accepted
}

/**
 * Accepts several payments in one transaction, as if they had come one after the other. A refused one leaves nothing.
 */
export async function acceptMany(
  app: App,
  tx: Tx,
  requests: readonly PaymentRequest[],
): Promise<(PaymentRow | AppError)[]> {
  const since = learningSince(app)
  const results = new Map<PaymentRequest, PaymentRow | AppError>()
  const intents: Intent[] = []
  for (const request of requests) {
    const intent = await intentOf(app, tx, request).catch(refusalIn)
    if (intent instanceof AppError) results.set(request, intent)
    else intents.push(intent)
  }
  const drafts = await draftsOf(app, tx, intents)
  const stored = await insert(app, tx, drafts)
  for (const [i, draft] of drafts.entries()) {
    const { request } = draft
    const isStored = stored[i] === true
    const result = isStored ? runWithin(request, () => storeRest(app, tx, draft, since)) : usedBefore(tx, draft)
    results.set(request, await result)
  }
  return requests.flatMap((request) => results.get(request) ?? [])
}

/** Payment whose method, provider and fee are decided, before its risk is. */
interface Intent {
  readonly request: PaymentRequest
  readonly id: string
  readonly method: PaymentMethod
  readonly plan: Plan
  readonly money: Money
}

async function intentOf(app: App, tx: Tx, request: PaymentRequest): Promise<Intent> {
  const { input, occasion } = request
  const currency = currencyTaken(app, input.currency)
  const money = { currency, micros: microsOf('amount', input.amount, currency) }
  const method = methodFor(input)
  checkReturnUrl(input.return_url, occasion.tenant.environment)
  const plan = await method.plan(app, tx, occasion, input, money)
  refuseCardNumbers({ description: input.description, customer: input.customer, metadata: input.metadata })
  return { request, id: newUuid(occasion.receivedMs), method, plan, money }
}

/** A refusal is an answer; any other error is thrown on. */
function refusalIn(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

async function draftsOf(app: App, tx: Tx, intents: readonly Intent[]): Promise<Draft[]> {
  const weighings = intents.map((intent) => {
    return { occasion: intent.request.occasion, subject: subjectOf(intent), mode: 'enforced' } as const
  })
  const weighed = await weighBatch(app, tx, weighings)
  return intents.map((intent, i) => runWithin(intent.request, () => draftOf(app, intent, weighed[i] ?? null)))
}

function draftOf(app: App, intent: Intent, weighed: Weighed | null): Draft {
  const { request, method, plan } = intent
  const { input, occasion, sendsInline } = request
  const { tenant, receivedMs, nowMs } = occasion
  const risk = weighed && riskOf(weighed.assessment)
  const scale = gatewayOf(app).timeScale(tenant.environment)
  const { expirySeconds, maxSeconds = Number.POSITIVE_INFINITY } = plan
  const expiresAt = new Date(nowMs + Math.min(input.expires_in ?? expirySeconds, maxSeconds) * 1_000 * scale)
  const payment = rowOf(intent, risk, expiresAt)
  // A card is nowhere but in the request.
  const isInline = sendsInline || (!method.isQueued && input.card !== undefined)
  const id = newUuid(receivedMs)
  const delayMs = method.polls[0] * 1_000 * scale
  const job = app.work.prepare(watchJob, tenant, { attempt: id, inline: isInline }, isInline ? { delayMs } : {})
  const attempt = risk?.decision === 'block' ? null : attemptOf(occasion, payment, id, plan.country)
  return { request, method, payment, weighed, attempt, job, isInline }
}

/** Stores the rest of a payment, and schedules what follows from it. */
async function storeRest(app: App, tx: Tx, draft: Draft, since: number | null): Promise<PaymentRow> {
  const { request, method, payment, weighed, attempt, job, isInline } = draft
  const { input, occasion } = request
  const { risk } = payment
  if (weighed && !attempt) return block(app, tx, occasion, payment, weighed.assessment)
  if (risk?.decision === 'review') await tellReview(app, tx, occasion, payment, risk)
  const proved = risk?.decision === 'require_3ds' ? { ...input, require_3ds: true } : input
  await method.store?.(app, tx, occasion, proved, payment)
  tx.afterCommit(() => {
    if (attempt) keepAccepted(app, since, isInline ? payment.id : attempt.id, { payment, attempt })
    if (!isInline) app.work.begin(job)
  })
  return payment
}

/** Refusal of a reference that was used before: nothing of the payment stays, not even its velocity counts. */
async function usedBefore(tx: Tx, { request, weighed }: Draft): Promise<AppError> {
  const { input, occasion } = request
  const { reference = '' } = input
  if (weighed) await takeBack(tx, weighed.counted)
  const { id, status } = await one(tx.query(findReference, { ...occasion.tenant, reference }))
  return alreadyUsed(`the reference ${reference}`, idOf('payment', id), status)
}

/** First attempt of a payment: the provider has not been asked. */
function attemptOf({ receivedMs, nowMs }: Occasion, payment: PaymentRow, id: string, country: string): AttemptRow {
  return {
    id,
    payment_id: payment.id,
    provider: payment.provider,
    country,
    currency: payment.currency,
    state: 'planned',
    sent_by: null,
    provider_id: null,
    kept: null,
    token: newToken(),
    created_at: payment.created_at,
    updated_at: new Date(receivedMs),
    said_paid_at: null,
    called_amount: null,
    called_receipt: null,
    called_currency: null,
    called_words: null,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}

/** Facts that its risk is judged by. */
function subjectOf({ request, id, method, plan, money }: Intent): Subject {
  const { input } = request
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

/** Row of a new payment; the database gives it its version. */
function rowOf({ request, id, method, plan, money }: Intent, risk: Risk | null, expiresAt: Date): PaymentRow {
  const { input, purpose = collection, occasion } = request
  const { tenant, nowMs, requestId } = occasion
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
    details: asStored({ ...plan.details, ...purpose.details }),
    invoice_id: purpose.invoiceId ?? null,
    provider_reference: null,
    failure_reason: null,
    risk,
    late: false,
    refunded: 0n,
    dispute_status: null,
    receipt_url: null,
    // The event of the review follows that of the creation.
    sequence: risk?.decision === 'review' ? 2 : 1,
    request_id: requestId,
    expires_at: expiresAt,
    completed_at: null,
    created_at: new Date(nowMs),
    updated_at: new Date(nowMs),
    version: '',
  }
}

/** Whether a request is answered before the provider is asked: never where only this request can ask it. */
export function isAnsweredAtOnce(wait: number | undefined, payment: Pick<PaymentRow, 'method'>): boolean {
  return wait === 0 && methodOf(payment).isQueued
}

/** Asks the provider, and waits a while for its first word. `input` is what the request brought, if it is at hand. */
export async function sendNow(
  app: App,
  { tenant }: Pick<Caller, 'tenant'>,
  paymentId: string,
  input: NewPayment | null = null,
): Promise<PaymentRow> {
  const since = learningSince(app)
  const handedOver = takeAccepted(app, paymentId)
  const payment = handedOver?.payment ?? (await one(app.db.query(findPayment, { ...tenant, id: paymentId })))
  passed(recordOf(payment))
  const { budgetMs } = methodOf(payment)
  const sent = handedOver
    ? submit(app, tenant, handedOver, since, input)
    : readAndSubmit(app, tenant, payment, since, input)
  // An error after the answer was given is logged; the outcome is found by polling.
  sent.catch((error) =>
    app.log.error(
      { error, payment: idOf('payment', paymentId) },
      'payment not sent: its job sends it within seconds; check the error if this repeats',
    ),
  )
  const known = await atMost(budgetMs, sent, payment)
  const refusal = refusalOf(app, known)
  if (refusal) throw refusal
  return known
}

/** Sends a payment that another node accepted, or this one longer ago than it remembers. */
async function readAndSubmit(
  app: App,
  tenant: Tenant,
  payment: PaymentRow,
  since: number | null,
  input: NewPayment | null,
): Promise<PaymentRow> {
  const attempt = await one(app.db.query(attemptOfPayment, { ...tenant, payment: payment.id }))
  return submit(app, tenant, { payment, attempt }, since, input)
}

/** Error of a payment that has certainly failed; null while it may still be paid. */
function refusalOf(app: App, payment: PaymentRow): AppError | null {
  const { status, provider, environment, failure_reason: reason } = payment
  if (status !== 'failed' || !isFailureReason(reason)) return null
  const extra = { payment_id: idOf('payment', payment.id), failure_reason: reason }
  if (reason === 'PROVIDER_UNAVAILABLE')
    return environment === 'live' && !gatewayOf(app).isEntered(provider, environment)
      ? new AppError(reason, `this installation has no account with ${provider} yet; ask its operator`, {
          extra,
        })
      : new AppError(reason, `${provider} does not accept payments at the moment`, { retryAfterSeconds: 5, extra })
  const code = methodOf(payment).refusals[reason]
  return code === undefined ? null : new AppError(code, `${provider} refused the payment`, { extra })
}

/** Payment as the database returns it: without undefined members. */
function asStored(value: object = {}) {
  return JSON.parse(JSON.stringify(value))
}
