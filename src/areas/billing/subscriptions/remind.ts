// SPDX-License-Identifier: Apache-2.0
// Reminder of a failed charge: a text with the invoice link, or mail without a phone number, stating what comes next.
// The transaction that records the failure writes the job; a reminder that cannot be sent blocks nothing else.

import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import { Nullable } from '../../../platform/schema/fields.ts'
import type { Job } from '../../../platform/work.ts'
import { findCustomer } from '../../customers/area.ts'
import { holdClock } from '../clock.ts'
import { type Destination, deliverInvoice, headOf } from '../invoices/deliver.ts'
import { findInvoice, type InvoiceRow } from '../invoices/store.ts'
import { wallDay } from '../plans/calendar.ts'
import { chargeableAt } from './bill.ts'
import type { SubscriptionRow } from './store.ts'

const reminding = {
  lane: 'billing.remind',
  payload: Type.Object({
    invoice: Type.String(),
    phone: Nullable(Type.String()),
    email: Type.Optional(Nullable(Type.String())),
    /** Number of the failure: one text for each. */
    failure: Type.Integer(),
    /** Day of the next retry; null when there is none. */
    nextTry: Type.Union([Type.Null(), Type.String()]),
    isLast: Type.Boolean(),
    /** Whether the subscription has ended. */
    isOver: Type.Boolean(),
  }),
}

type Reminder = Static<typeof reminding.payload>

/** Next step after a failed charge. */
export interface NextStep {
  failure: number
  tryAt: Date | null
  isLast: boolean
  isOver: boolean
}

/** Queues the reminder of a failed charge, for daytime, in the given transaction. */
export async function remind(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Occasion,
  row: SubscriptionRow,
  invoice: string,
  { failure, tryAt, isLast, isOver }: NextStep,
): Promise<void> {
  const customer = await maybe(tx.query(findCustomer, { ...tenant, id: row.customer_id }))
  const phone = customer?.phone ?? row.phone
  const email = phone === null ? (customer?.email ?? null) : null
  if (phone === null && email === null) return
  const delayMs =
    phone === null ? 0 : chargeableAt({ phone, time_zone: row.time_zone }, new Date(nowMs)).getTime() - nowMs
  const nextTry = tryAt && wallDay(tryAt, row.time_zone)
  const job = app.work.prepare(
    reminding,
    tenant,
    { invoice, phone, email, failure, nextTry, isLast, isOver },
    { delayMs: Math.max(0, delayMs) },
  )
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}

export const remindJob: Job<App, typeof reminding.payload> = {
  ...reminding,
  role: 'timers',
  concurrency: 8,
  retrySeconds: [30, 300, 1_800],
  calendar: {},
  async handle(app, { tenant, payload, failures }) {
    if (!tenant) throw new Error('an invoice belongs to an account')
    const invoice = await maybe(app.db.query(findInvoice, { ...tenant, id: payload.invoice }))
    const { offset_ms, is_suspended } = await one(app.db.query(holdClock, tenant))
    // No reminder when the bill was paid or closed meanwhile.
    if (invoice?.status !== 'open' || is_suspended) return { kind: 'done' }
    const sending = { ...occasionNow(app.clock, tenant, offset_ms), actor: '', ip: '' }
    try {
      const message = await wordsOf(app, invoice, payload)
      await deliverInvoice(app, sending, invoice, { ...placeOf(payload), message }, keyOf(payload))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const mayPass = error.code === 'PROVIDER_UNAVAILABLE' && failures < remindJob.retrySeconds.length
      if (mayPass) return { kind: 'retry', reason: error.code }
      app.log.info(
        { code: error.code },
        'reminder of a failed charge not sent: dunning goes on; check the account’s sender and wallet',
      )
    }
    return { kind: 'done' }
  },
}

function placeOf({ phone, email }: Reminder): Destination {
  if (phone !== null) return { phone }
  return email == null ? {} : { email }
}

/** The space keeps the key apart from the idempotency keys of requests. */
function keyOf({ invoice, failure }: Reminder): string {
  return `reminder ${invoice}/${failure}`
}

async function wordsOf(app: App, invoice: InvoiceRow, { nextTry, isLast, isOver }: Reminder): Promise<string> {
  const head = `${await headOf(app, invoice)}, could not be charged.`
  if (isOver) return `${head} Your subscription has ended. To pay what is open:`
  if (nextTry === null) return `${head} Please pay here:`
  return `${head} We try ${isLast ? 'a last time' : 'again'} on ${nextTry}. To pay now:`
}
