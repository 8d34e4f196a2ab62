// SPDX-License-Identifier: Apache-2.0
// Payments over a link. Their completion is counted in the transaction that completes them. A link with max_uses lets no
// more payments begin than it has uses left, so that nobody pays for what is sold out; bank transfers do not count as begun,
// because their account may stay empty for a day.
import { createHash, randomUUID } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { dayMs, hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type FormPayment, nothingHere, type Payable } from '../checkout/hosted.ts'
import { accept } from '../collect/create.ts'
import { recordOf } from '../records/payment.ts'
import { collection, declareLinkPurpose } from '../records/purpose.ts'
import type { PaymentRow } from '../records/store.ts'
import { linkEvents } from './events.ts'
import { linkOf, statusOf } from './link.ts'
import {
  countOfLink,
  countUse,
  findLinkPaymentOnce,
  findLinkUnderWay,
  insertLinkPayment,
  type LinkRow,
  lockLink,
} from './store.ts'

/** Payments per link and hour: enough for a shop in a sale, too few to test a list of stolen cards. */
const maxPerHour = 2_000
/** Longest time that a payment is pending. */
const underWayMs = 7 * dayMs

export interface Found extends Payable {
  readonly link: LinkRow
}

const linkPurpose = declareLinkPurpose({ ...collection, completed: linkPaid })

/** Stores the payment of a form, or finds the one that the same form or phone made before. */
export async function begin(
  app: App,
  { link, tenant, occasion }: Found,
  how: FormPayment,
  form: URLSearchParams,
): Promise<{ id: string; isNew: boolean }> {
  const { amount, currency, description, metadata } = link
  const input = { ...how, amount: formatMicros(amount), currency, description, metadata }
  return app.db.tx(tenant, async (tx) => {
    const locked = await maybe(tx.query(lockLink, { ...tenant, id: link.id }))
    if (!locked) throw nothingHere()
    const once = onceIn(form)
    const before = await begunBefore(tx, occasion, locked, how, once)
    if (before) return { id: before.id, isNew: false }
    await requirePlace(tx, occasion, locked)
    const purpose = { ...linkPurpose, details: { payment_link: idOf('paymentLink', link.id) } }
    const sendsInline = how.card !== undefined
    const payment = await accept(app, tx, { input, occasion, sendsInline, purpose })
    await tx.query(insertLinkPayment, { ...tenant, link: link.id, payment: payment.id, once })
    return { id: payment.id, isNew: true }
  })
}

/** Mark of one view of the form; a form without a mark counts as a view of its own. */
function onceIn(form: URLSearchParams): Buffer {
  const once = form.get('once') ?? randomUUID()
  return createHash('sha256').update(once).digest().subarray(0, 16)
}

/** Payment of the same form, or of the same phone that has not answered yet. */
async function begunBefore(
  tx: Tx,
  { tenant, receivedMs }: Occasion,
  { id: link }: LinkRow,
  { phone }: FormPayment,
  once: Buffer,
): Promise<{ id: string } | null> {
  const same = await maybe(tx.query(findLinkPaymentOnce, { ...tenant, link, once }))
  if (same || phone === undefined) return same
  return maybe(tx.query(findLinkUnderWay, { ...tenant, link, phone, since: firstUuidAt(receivedMs - dayMs) }))
}

async function requirePlace(tx: Tx, { tenant, receivedMs, nowMs }: Occasion, link: LinkRow): Promise<void> {
  if (statusOf(link, nowMs) !== 'active') throw new AppError('INVALID_STATE', 'the link is closed')
  const since = (ms: number) => ({ ...tenant, link: link.id, since: firstUuidAt(receivedMs - ms) })
  const { recent } = await one(tx.query(countOfLink, since(hourMs)))
  if (recent >= maxPerHour)
    throw new AppError('RATE_LIMITED', 'too many payments by this link; try again later', {
      retryAfterSeconds: 60,
    })
  if (link.max_uses === null) return
  const { under_way } = await one(tx.query(countOfLink, since(underWayMs)))
  if (link.uses + under_way >= link.max_uses)
    throw new AppError('CONFLICT', 'the remaining payments of the link are in progress; try again in a few minutes')
}

async function linkPaid(app: App, tx: Tx, occasion: Occasion, row: PaymentRow): Promise<void> {
  const { tenant, nowMs } = occasion
  const id = uuidOf('paymentLink', row.details.payment_link ?? '') ?? ''
  const link = await one(tx.query(countUse, { ...tenant, id, amount: row.amount }))
  const { max_uses: most, uses, metadata } = link
  const payment = recordOf(row)
  const shown = linkOf(app, link, nowMs)
  await app.outbox.emit(tx, linkEvents.paid, occasion, shown.payment_link_id, {
    livemode: tenant.environment === 'live',
    sequence: uses,
    payment_link_id: shown.payment_link_id,
    payment_id: payment.payment_id,
    amount: payment.amount,
    currency: payment.currency,
    uses,
    over_limit: most !== null && uses > most,
    metadata,
    payment,
    payment_link: shown,
  })
}
