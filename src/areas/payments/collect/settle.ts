// SPDX-License-Identifier: Apache-2.0
// Applies a verdict to a payment: its state, the ledger and its event, in one commit that is shared with other
// payments. It is decided on the payment as it was read, and stored if the row is unchanged; otherwise it is read and
// decided again.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { commitIn, operation, type RowOf } from '../../../platform/commit.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type EventType, eventRow, type NewEvent, type Occasion, occasionNow } from '../../../platform/events.ts'
import { type Tenant, tenantColumns, tenantOf } from '../../../platform/tenant.ts'
import { notePending, pendingAccount, settlementMs } from '../methods/card-settlement.ts'
import type { Verdict } from '../providers/provider.ts'
import { noteDiscrepancy, otherMoney } from '../records/discrepancies.ts'
import { paymentEvents } from '../records/events.ts'
import { noSuchPayment, toldOf } from '../records/payment.ts'
import { purposeOf } from '../records/purpose.ts'
import { newReceipt } from '../records/receipt-address.ts'
import {
  type AttemptRow,
  type AttemptState,
  attemptOfPayment,
  findPayment,
  holdClock,
  lockPayment,
  open,
  type PaymentRow,
  withdrawAttempt,
} from '../records/store.ts'
import { type Change, changeOf, ended } from './change.ts'
import { paymentWaits } from './waiting.ts'

/** Tries to store a change. Every lost try means another change went first, and a payment has few steps. */
const maxTries = 100

const settleOperation = operation.tenant(
  'payments.settle',
  {
    ...tenantColumns,
    payment: 'uuid',
    attempt: 'uuid',
    attempt_state: 'text',
    provider_id: 'text',
    real_at: 'timestamptz',
    version: 'text',
    status: 'text',
    failure_reason: 'text',
    late: 'boolean',
    sequence: 'int',
    reference: 'text',
    provider_reference: 'text',
    details: 'jsonb',
    expires_at: 'timestamptz',
    completed_at: 'timestamptz',
    receipt_token: 'bytea',
    receipt_url: 'text',
    at: 'timestamptz',
    step: 'text',
    debit: 'text',
    credit: 'text',
    amount: 'bigint',
    transfer: 'uuid',
    fee: 'bigint',
    fee_transfer: 'uuid',
    currency: 'text',
    event: eventRow,
  },
  { stored: 'boolean', version: 'text', deliveries: 'text' },
)

/** Applies a verdict on an attempt; returns the payment afterwards. `known` is the payment as read last. */
export async function settle(
  app: App,
  tenant: Tenant,
  attempt: AttemptRow,
  verdict: Verdict,
  known: PaymentRow | null = null,
): Promise<PaymentRow> {
  const find = () => one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
  // Less may have been captured since it was read: what the provider tells is held against the payment as it is now.
  let payment = known && !otherMoney(known, verdict) ? known : await find()
  for (let tries = 0; tries < maxTries; tries++) {
    // First, so that a node that dies in between loses nothing, and who sees how the payment ended finds it on the list.
    await noteDiscrepancy(app, payment, verdict)
    const occasion = occasionOf(app, payment, attempt)
    const change = changeOf(payment, verdict, new Date(occasion.nowMs))
    const after = await store(app, occasion, payment, attempt, change)
    if (after) return after
    payment = await find()
  }
  throw new Error(`payment ${attempt.payment_id} changes faster than it can be read`)
}

/** Cancels a payment that no provider was asked for yet, whose payer has not decided, or whose money is only set aside. */
export async function cancel(app: App, tx: Tx, tenant: Tenant, id: string): Promise<PaymentRow> {
  const payment = await maybe(tx.query(lockPayment, { ...tenant, id }))
  if (!payment) throw noSuchPayment()
  // A payment that was blocked has none.
  const attempt = await maybe(tx.query(attemptOfPayment, { ...tenant, payment: id }))
  const { status, details } = payment
  const isUndecided =
    status === 'requires_action' || (status === 'processing' && typeof details.authorised_until === 'string')
  const isUnsent = attempt && open.includes(status) && !isUndecided && (await withdrawn(app, tx, tenant, attempt))
  if (!attempt || (!isUnsent && !isUndecided))
    throw new AppError('INVALID_STATE', `the payment is ${payment.status}; ${whyNot(payment)}`, {
      extra: { status: payment.status },
    })
  return end(app, tx, payment, attempt, 'cancelled')
}

/** Why a payment cannot be withdrawn any more. */
function whyNot({ status }: PaymentRow): string {
  if (open.includes(status)) return 'the payer may have been asked already, so it has to be waited for'
  return status === 'completed' ? 'it can be refunded' : 'it is over already'
}

/** Expires a payment whose time is over without a known success. */
export async function expire(app: App, tenant: Tenant, attempt: AttemptRow): Promise<PaymentRow> {
  return app.db.tx(tenant, async (tx) => {
    const payment = await one(tx.query(lockPayment, { ...tenant, id: attempt.payment_id }))
    if (attempt.state === 'planned' && !(await withdrawn(app, tx, tenant, attempt))) return payment
    return end(app, tx, payment, attempt, 'expired')
  })
}

/** Ends a payment that is locked. */
async function end(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  attempt: AttemptRow,
  to: 'cancelled' | 'expired',
): Promise<PaymentRow> {
  const occasion = occasionOf(app, payment, attempt)
  const reason = to === 'expired' ? 'TRANSACTION_TIMEOUT' : 'USER_CANCELLED'
  const after = ended(payment, to, new Date(occasion.nowMs), reason)
  const change: Change = { attempt: null, providerId: null, after, posting: null }
  const stored = await storeIn(app, tx, occasion, payment, attempt, change)
  if (!stored) throw new Error('a payment was changed while it was locked')
  return stored
}

/** Whether an attempt was withdrawn before it was sent. */
async function withdrawn(app: App, tx: Tx, tenant: Tenant, { id }: AttemptRow): Promise<boolean> {
  const at = new Date(app.clock.nowMs())
  return (await tx.query(withdrawAttempt, { ...tenant, id, at })).length > 0
}

/** Stores a change; returns the payment after it, or null when it was changed meanwhile. */
async function store(
  app: App,
  occasion: Occasion,
  payment: PaymentRow,
  attempt: AttemptRow,
  change: Change,
): Promise<PaymentRow | null> {
  const { completed, failed } = purposeOf(payment)
  // Consequences for other areas have a transaction of their own.
  if (change.after && !open.includes(change.after.status) && (completed || failed || isPending(app, payment, change)))
    return app.db.tx(occasion.tenant, (tx) => storeIn(app, tx, occasion, payment, attempt, change))
  if (!change.after && isAsFar(attempt, change)) return payment
  const { after, event, item } = itemOf(app, occasion, payment, attempt, change)
  const verdict = await app.commit(settleOperation, item)
  if (!verdict.stored) return null
  told(app, after, event, verdict)
  return after
}

async function storeIn(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  attempt: AttemptRow,
  change: Change,
): Promise<PaymentRow | null> {
  const { completed, failed, holdsClock } = purposeOf(payment)
  if (holdsClock) await tx.query(holdClock, occasion.tenant)
  const { after, event, item } = itemOf(app, occasion, payment, attempt, change)
  const verdict = await commitIn(tx, app.nodeId, settleOperation, item)
  if (!verdict.stored) return null
  tx.afterCommit(() => told(app, after, event, verdict))
  if (isPending(app, payment, change)) await notePending(app, tx, occasion, after)
  if (event?.row.type === paymentEvents.completed.name) await completed?.(app, tx, occasion, after)
  // A payment that was given up was reported as failed before.
  if (event?.row.type === paymentEvents.failed.name && open.includes(payment.status))
    await failed?.(app, tx, occasion, after)
  return after
}

/** Whether the money that came can be spent later only. */
function isPending(app: App, payment: PaymentRow, { posting }: Change): boolean {
  return posting?.step === 'settle' && settlementMs(app, payment) > 0
}

/** An attempt goes on and never back, and has one name with the provider. */
const progress: readonly AttemptState[] = ['planned', 'sending', 'unknown', 'accepted', 'final']

function isAsFar({ state, provider_id }: AttemptRow, { attempt, providerId }: Change): boolean {
  if (providerId !== null && provider_id === null) return false
  return attempt === null || progress.indexOf(state) >= progress.indexOf(attempt)
}

function told(
  app: App,
  after: PaymentRow,
  event: NewEvent | null,
  { version, deliveries }: RowOf<typeof settleOperation.gives>,
): void {
  after.version = version ?? after.version
  if (!open.includes(after.status)) paymentWaits.of(app).happened(after.id)
  if (event) app.outbox.begin(event, deliveries)
}

interface Item {
  after: PaymentRow
  event: NewEvent | null
  item: RowOf<typeof settleOperation.takes>
}

function itemOf(app: App, occasion: Occasion, payment: PaymentRow, attempt: AttemptRow, change: Change): Item {
  const { tenant, receivedMs } = occasion
  const after = change.after ?? payment
  const isPaid = after.status === 'completed' && payment.status !== 'completed'
  const receipt = isPaid ? newReceipt(app, payment) : null
  if (receipt) after.receipt_url = receipt.receiptUrl
  const event = after.sequence > payment.sequence ? eventOf(app, occasion, after) : null
  const { posting } = change
  const { bucket, account, environment } = tenant
  // Members one by one: spreading into an object of forty members takes twenty times as long.
  const item = {
    bucket,
    account,
    environment,
    payment: payment.id,
    attempt: attempt.id,
    attempt_state: change.attempt,
    provider_id: change.providerId,
    real_at: new Date(receivedMs),
    version: change.after && payment.version,
    status: after.status,
    failure_reason: after.failure_reason,
    late: after.late,
    sequence: after.sequence,
    reference: after.reference,
    provider_reference: after.provider_reference,
    details: JSON.stringify(after.details),
    expires_at: after.expires_at,
    completed_at: after.completed_at,
    receipt_token: receipt?.receiptToken ?? null,
    receipt_url: after.receipt_url,
    at: after.updated_at,
    step: posting && `${payment.purpose}:${posting.step}`,
    debit: posting && `float:${payment.provider}`,
    credit: isPending(app, payment, change) ? pendingAccount : (posting?.credit ?? null),
    amount: posting?.micros ?? null,
    transfer: posting && newUuid(receivedMs),
    fee: posting?.fee ?? null,
    fee_transfer: posting && newUuid(receivedMs),
    currency: posting?.currency ?? payment.currency,
    event: event?.row ?? null,
  }
  return { after, event, item }
}

/** Event of a payment that has come to a state. */
function eventOf(app: App, occasion: Occasion, payment: PaymentRow): NewEvent {
  const { id, callback_url: callbackUrl, status, details } = payment
  const told = toldOf(payment)
  const { completed, failed, requiresAction } = paymentEvents
  if (status === 'requires_action') {
    const { redirect_url = '' } = details
    const payload = { ...told, redirect_url }
    return app.outbox.prepare(requiresAction, occasion, idOf('payment', id), payload, { callbackUrl })
  }
  const type = status === 'completed' ? completed : failed
  return app.outbox.prepare(type, occasion, idOf('payment', id), told, { callbackUrl })
}

function occasionOf(app: App, payment: PaymentRow, { clock_offset_ms }: AttemptRow): Occasion {
  return occasionNow(app.clock, tenantOf(payment), clock_offset_ms, payment.request_id)
}

export async function tell(
  app: App,
  tx: Tx,
  event: EventType<typeof paymentEvents.created.payload>,
  occasion: Occasion,
  payment: PaymentRow,
): Promise<void> {
  const callbackUrl = payment.callback_url
  await app.outbox.emit(tx, event, occasion, idOf('payment', payment.id), toldOf(payment), { callbackUrl })
}
