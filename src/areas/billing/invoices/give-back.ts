// SPDX-License-Identifier: Apache-2.0
// Overpayments of an invoice become customer credit, or, if the account's settings say so, a refund of the payment. The
// credit is taken before the refund is made, so that it is not spent twice. A refund that is refused or fails leaves
// the credit.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { formatMicros, least } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { acceptRefund, lockPayment, type PaymentRow } from '../../payments/area.ts'
import { addCredit, creditOf, takeCredit } from '../customers/customer.ts'
import { findCreditEntry } from '../customers/store.ts'
import { findInvoice, type InvoiceRow, overpaymentOf } from './store.ts'

const givingBack = {
  lane: 'billing.give_back',
  payload: Type.Object({ invoice: Type.String(), payment: Type.String() }),
}

/** Credit steps of a refund: taken, returned on failure, taken after a late success, returned again. */
const [refundedStep, failedStep, afterAllStep, takenBackStep] = [
  'refunded',
  'refund_failed',
  'refunded_after_all',
  'refund_taken_back',
] as const

/** Queues the refund of an overpayment after the commit, if the account's settings ask for it. */
export async function giveBack(
  app: App,
  tx: Tx,
  { tenant }: Occasion,
  invoice: InvoiceRow,
  payment: PaymentRow,
): Promise<void> {
  const { account, environment } = tenant
  const { wish } = await one(tx.query(overpaymentOf, { account, environment }))
  if (wish !== 'refund') return
  const job = app.work.prepare(givingBack, tenant, { invoice: invoice.id, payment: payment.id })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}

export const giveBackJob: Job<App, typeof givingBack.payload> = {
  ...givingBack,
  role: 'timers',
  concurrency: 8,
  retrySeconds: [5, 30, 300, 1_800],
  async handle(app, { tenant, payload, failures }) {
    if (!tenant) throw new Error('an invoice belongs to an account')
    const { account, environment } = tenant
    const invoice = await one(app.db.query(findInvoice, { ...tenant, id: payload.invoice }))
    const { offset_ms } = await one(app.db.query(overpaymentOf, { account, environment }))
    const occasion = occasionNow(app.clock, tenant, offset_ms)
    try {
      await app.db.tx(tenant, (tx) => refundExcess(app, tx, occasion, invoice, payload.payment))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'CONFLICT') return { kind: 'again', afterMs: 0 }
      const mayPass = error.code === 'PROVIDER_UNAVAILABLE' && failures < giveBackJob.retrySeconds.length
      if (mayPass) return { kind: 'retry', reason: error.code }
      // Refund already made, or refused: the credit stays.
      app.log.info(
        { code: error.code, payment: idOf('payment', payload.payment) },
        'overpayment not refunded: it stays the customer’s credit; see the code, the account can refund it by hand',
      )
    }
    return { kind: 'done' }
  },
}

/**
 * Refunds an overpayment. The refund locks the wallet, which comes before credit in the lock order: credit is read first
 * and taken afterwards.
 */
async function refundExcess(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { customer_id: customerId, currency }: InvoiceRow,
  payment: string,
): Promise<void> {
  const { tenant } = occasion
  await one(tx.query(lockPayment, { ...tenant, id: payment }))
  const overpaid = await maybe(tx.query(findCreditEntry, { ...tenant, source: payment, step: 'overpaid' }))
  const micros = least(overpaid?.amount ?? 0n, await creditOf(tx, tenant, customerId, currency))
  // The credit was spent on another invoice meanwhile.
  if (micros <= 0n) return
  const input = {
    amount: formatMicros(micros),
    reason: 'duplicate' as const,
    description: 'Paid although nothing was due',
    // The reference makes the refund idempotent per payment.
    reference: `overpaid:${idOf('payment', payment)}`,
  }
  const { refund } = await acceptRefund(app, tx, payment, input, occasion, false)
  const step = { customerId, currency, sourceId: refund.id, step: refundedStep }
  const taken = await takeCredit(tx, occasion, step, micros)
  if (taken < micros) throw new AppError('CONFLICT', 'the customer has used some of the credit in the meantime')
}

/** Credit step under which a completed refund takes credit; null when it did so before. */
export async function stepToTake(tx: Tx, tenant: Tenant, refund: string): Promise<string | null> {
  if (!(await isDone(tx, tenant, refund, refundedStep))) return refundedStep
  return (await isDone(tx, tenant, refund, failedStep)) ? afterAllStep : null
}

/** Credit step under which a reversed refund returns the credit it took. */
export async function stepToGive(tx: Tx, tenant: Tenant, refund: string): Promise<string> {
  return (await isDone(tx, tenant, refund, failedStep)) ? takenBackStep : failedStep
}

async function isDone(tx: Tx, tenant: Tenant, refund: string, step: string): Promise<boolean> {
  return (await maybe(tx.query(findCreditEntry, { ...tenant, source: refund, step }))) !== null
}

/** Returns the credit of a failed refund. */
export async function returnCredit(tx: Tx, occasion: Occasion, invoice: InvoiceRow, refund: string): Promise<void> {
  const { tenant } = occasion
  const { customer_id: customerId, currency } = invoice
  const taken = await maybe(tx.query(findCreditEntry, { ...tenant, source: refund, step: refundedStep }))
  if (!taken) return
  await addCredit(tx, occasion, { customerId, currency, sourceId: refund, step: failedStep }, -taken.amount)
}
