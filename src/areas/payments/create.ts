// SPDX-License-Identifier: Apache-2.0
// Accepting a payment: what it must be like, the intent that is stored before anybody is asked, and what is asked then.
import { AppError, alreadyUsed } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import type { Money } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import { atMost } from '../../platform/at-most.ts'
import type { Caller } from '../../platform/auth.ts'
import { currencyTaken } from '../../platform/currencies.ts'
import { one, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { NewJob } from '../../platform/work.ts'
import { newToken } from './callbacks/address.ts'
import { refuseCardNumbers } from './cards/card.ts'
import { type Risk, riskOf, type Weighed, weighTogether } from './fraud/assess.ts'
import { block, requirePassed, tellReview } from './fraud/enforce.ts'
import type { Subject } from './fraud/fields.ts'
import { takeBack } from './fraud/look.ts'
import { microsOf, type NewPayment } from './input.ts'
import { type Asked, insert, type PreparedPayment, prepare } from './insert.ts'
import type { PaymentMethod, Plan } from './method.ts'
import { methodFor, methodOf } from './payment-methods.ts'
import { gatewayOf } from './providers/gateway.ts'
import { isFailureReason } from './providers/provider.ts'
import type { Purpose } from './purpose.ts'
import { checkReturnUrl } from './redirect/return-url.ts'
import { learningSince, recallAccepted, rememberAccepted } from './remembered.ts'
import { type AttemptRow, attemptOfPayment, findPayment, findReference, type PaymentRow } from './store.ts'
import { submit, watchJob } from './submit.ts'

/** A payment that somebody asks for. `sendsInline`: the request that brings it sends it. */
export interface Wish {
  readonly input: NewPayment
  readonly occasion: Occasion
  readonly sendsInline: boolean
  readonly purpose: Purpose
  /** Runs something as part of the request that brought it, where it is done by another. */
  within?<T>(run: () => T): T
}

/** Stores the payment, the attempt and the job that looks after them. Nothing has been asked of anybody yet. */
export async function accept(app: App, tx: Tx, wish: Wish): Promise<PaymentRow> {
  const [accepted] = await acceptMany(app, tx, [wish])
  if (!accepted || accepted instanceof AppError) throw accepted ?? new Error('a payment was neither taken nor refused')
  return accepted
}

/** The same for several in one transaction, as if they had come one after the other. Of one that is refused nothing stays. */
export async function acceptMany(app: App, tx: Tx, wishes: readonly Wish[]): Promise<(PaymentRow | AppError)[]> {
  const since = learningSince(app)
  const results = new Map<Wish, PaymentRow | AppError>()
  const intents: Intent[] = []
  for (const wish of wishes) {
    const intent = await intentOf(app, tx, wish).catch(refusalIn)
    if (intent instanceof AppError) results.set(wish, intent)
    else intents.push(intent)
  }
  const drafts = await draftsOf(app, tx, intents)
  const stored = await insert(app, tx, drafts)
  for (const [i, draft] of drafts.entries())
    results.set(
      draft.wish,
      stored[i] ? await runWithin(draft.wish, () => storeRest(app, tx, draft, since)) : await usedBefore(tx, draft),
    )
  return wishes.flatMap((wish) => results.get(wish) ?? [])
}

function runWithin<T>({ within }: Wish, run: () => T): T {
  return within ? within(run) : run()
}

/** What is decided about a payment before anybody looked at its risk. */
interface Intent {
  readonly wish: Wish
  readonly id: string
  readonly method: PaymentMethod
  readonly plan: Plan
  readonly money: Money
}

async function intentOf(app: App, tx: Tx, wish: Wish): Promise<Intent> {
  const { input, occasion } = wish
  const currency = currencyTaken(app, input.currency)
  const money = { currency, micros: microsOf('amount', input.amount, currency) }
  const method = methodFor(input)
  checkReturnUrl(input.return_url, occasion.tenant.environment)
  const plan = await method.plan(app, tx, occasion, input, money)
  refuseCardNumbers({ description: input.description, customer: input.customer, metadata: input.metadata })
  return { wish, id: newUuid(occasion.receivedMs), method, plan, money }
}

/** What a rule refuses is an answer; anything else has failed. */
function refusalIn(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

/** A payment with all that is stored with it. */
interface Draft extends PreparedPayment {
  readonly wish: Wish
  readonly method: PaymentMethod
  readonly weighed: Weighed | null
  readonly asked: Asked | null
  readonly job: NewJob
  readonly isInline: boolean
}

async function draftsOf(app: App, tx: Tx, intents: readonly Intent[]): Promise<Draft[]> {
  const weighings = intents.map((intent) => {
    return { occasion: intent.wish.occasion, subject: subjectOf(intent), mode: 'enforced' } as const
  })
  const weighed = await weighTogether(app, tx, weighings)
  return intents.map((intent, i) => runWithin(intent.wish, () => draftOf(app, intent, weighed[i] ?? null)))
}

function draftOf(app: App, intent: Intent, weighed: Weighed | null): Draft {
  const { wish, method, plan } = intent
  const { input, occasion, sendsInline } = wish
  const { tenant, receivedMs, nowMs } = occasion
  const risk = weighed && riskOf(weighed.assessment)
  const scale = gatewayOf(app).timeScale(tenant.environment)
  const { expirySeconds, mostSeconds = Number.POSITIVE_INFINITY } = plan
  const expiresAt = new Date(nowMs + Math.min(input.expires_in ?? expirySeconds, mostSeconds) * 1_000 * scale)
  const payment = rowOf(intent, risk, expiresAt)
  // A card is nowhere but in the request.
  const isInline = sendsInline || (!method.isQueued && input.card !== undefined)
  const attempt = newUuid(receivedMs)
  const delayMs = method.looks[0] * 1_000 * scale
  const job = app.work.prepare(watchJob, tenant, { attempt, inline: isInline }, isInline ? { delayMs } : {})
  const isBlocked = risk?.decision === 'block'
  const asked = isBlocked ? null : { attempt, country: plan.country, token: newToken(), job }
  const prepared = prepare(app, { occasion, payment, check: weighed?.check ?? null, asked })
  return { ...prepared, wish, method, weighed, asked, job, isInline }
}

/** What else belongs to a payment that was stored, and what follows from it. */
async function storeRest(app: App, tx: Tx, draft: Draft, since: number | null): Promise<PaymentRow> {
  const { wish, method, payment, weighed, asked, job, isInline } = draft
  const { input, occasion } = wish
  const { risk } = payment
  if (weighed && !asked) return block(app, tx, occasion, payment, weighed.assessment)
  if (risk?.decision === 'review') await tellReview(app, tx, occasion, payment, risk)
  const proved = risk?.decision === 'require_3ds' ? { ...input, require_3ds: true } : input
  await method.store?.(app, tx, occasion, proved, payment)
  tx.afterCommit(() => {
    if (asked) {
      const name = isInline ? payment.id : asked.attempt
      rememberAccepted(app, since, name, { payment, attempt: attemptOf(occasion, payment, asked) })
    }
    if (!isInline) app.work.begin(job)
  })
  return payment
}

/** Of one whose reference was used before nothing stays, not even that it was counted. */
async function usedBefore(tx: Tx, { wish, weighed }: Draft): Promise<AppError> {
  const { input, occasion } = wish
  const { reference = '' } = input
  if (weighed) await takeBack(tx, weighed.counted)
  const { id, status } = await one(tx.query(findReference, { ...occasion.tenant, reference }))
  return alreadyUsed(`the reference ${reference}`, idOf('payment', id), status)
}

/** The attempt as it was stored with the payment. */
function attemptOf(
  { receivedMs, nowMs }: Occasion,
  payment: PaymentRow,
  { attempt, country, token }: Asked,
): AttemptRow {
  return {
    id: attempt,
    payment_id: payment.id,
    provider: payment.provider,
    country,
    currency: payment.currency,
    state: 'planned',
    sent_by: null,
    provider_id: null,
    kept: null,
    token,
    created_at: payment.created_at,
    updated_at: new Date(receivedMs),
    said_paid_at: null,
    called_amount: null,
    called_receipt: null,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}

/** What its risk is judged by. */
function subjectOf({ wish, id, method, plan, money }: Intent): Subject {
  const { input } = wish
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
function rowOf({ wish, id, method, plan, money }: Intent, risk: Risk | null, expiresAt: Date): PaymentRow {
  const { input, purpose, occasion } = wish
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
  const toSend = await recall(app, tenant, paymentId)
  const { payment } = toSend
  requirePassed(payment)
  const { budgetMs } = methodOf(payment)
  const sent = submitFirst(app, tenant, toSend, input)
  // What it comes to after the answer was given is found in the log and by polling.
  sent.catch((error) => app.log.error({ error, payment: idOf('payment', paymentId) }, 'a payment could not be sent'))
  const known = await atMost(budgetMs, sent, payment)
  const refusal = refusalOf(app, known)
  if (refusal) throw refusal
  return known
}

interface Stored {
  readonly since: number | null
  readonly payment: PaymentRow
  /** Null where it is not remembered here. */
  readonly attempt: AttemptRow | null
}

/** A payment that was stored a moment ago. */
async function recall(app: App, tenant: Tenant, id: string): Promise<Stored> {
  const since = learningSince(app)
  const known = recallAccepted(app, id)
  const payment = known?.payment ?? (await one(app.db.query(findPayment, { ...tenant, id })))
  return { since, payment, attempt: known?.attempt ?? null }
}

async function submitFirst(
  app: App,
  tenant: Tenant,
  { since, payment, attempt: known }: Stored,
  input: NewPayment | null,
): Promise<PaymentRow> {
  const attempt = known ?? (await one(app.db.query(attemptOfPayment, { ...tenant, payment: payment.id })))
  return submit(app, tenant, { since, payment, attempt }, input)
}

/** The error that whoever asked for a payment is told, when it is certain that there will be none. */
function refusalOf(app: App, payment: PaymentRow): AppError | null {
  const { status, provider, environment, failure_reason: reason } = payment
  if (status !== 'failed' || !isFailureReason(reason)) return null
  const extra = { payment_id: idOf('payment', payment.id), failure_reason: reason }
  if (reason === 'PROVIDER_UNAVAILABLE')
    return environment === 'live' && !gatewayOf(app).isEntered(provider, environment)
      ? new AppError(reason, `this installation has no account with ${provider} yet; its operator enters one`, {
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
