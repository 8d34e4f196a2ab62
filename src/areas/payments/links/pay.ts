// SPDX-License-Identifier: Apache-2.0
// Paying over a link: a payment whose completion is counted in the same transaction. A link that can be paid so many times
// only lets so many begin, so that nobody pays for what is gone; an account to pay into takes nobody's place, because it may
// stay empty for a day.
import { createHash, randomUUID } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { dayMs, hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Wanted, wantedIn, waysFor } from '../checkout/form.ts'
import type { Checkout } from '../checkout/page.ts'
import { accept, sendNow } from '../collect/create.ts'
import type { WaysToPay } from '../methods/ways.ts'
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

/** How many payments may be begun over one link in an hour: a shop in a sale, not a list of stolen cards. */
const mostPerHour = 2_000
/** How long a payment can go either way. */
const underWayMs = 7 * dayMs

export interface Found extends Checkout {
  readonly link: LinkRow
  readonly tenant: Tenant
  readonly occasion: Occasion
  /** The account may not collect just now. */
  readonly isSuspended: boolean
}

const linkPurpose = declareLinkPurpose({ ...collection, completed: linkPaid })

export function waysOf(app: App, { tenant, link, isSuspended }: Found): WaysToPay {
  const { currency, amount: micros, payment_methods } = link
  return waysFor(app, tenant, { currency, micros, methods: isSuspended ? [] : payment_methods })
}

/** Stores the payment that a form asks for, or finds the one that it asked for before; gives its id. */
export async function payByForm(app: App, found: Found, form: URLSearchParams): Promise<string> {
  const { link, tenant, occasion, path, lang } = found
  const wanted = wantedIn(form, waysOf(app, found))
  const { currency, description, metadata } = link
  const input = {
    ...wanted,
    amount: formatMicros(link.amount),
    currency,
    description,
    metadata,
    // Nobody is sent anywhere to transfer money.
    ...(wanted.method === 'bank_transfer' ? {} : { return_url: `${app.publicUrl}${path}${lang}` }),
  }
  const { id, isNew } = await app.db.tx(tenant, async (tx) => {
    const locked = await maybe(tx.query(lockLink, { ...tenant, id: link.id }))
    if (!locked) throw nothingHere()
    const once = onceIn(form)
    const before = await begunBefore(tx, occasion, locked, wanted, once)
    if (before) return { id: before.id, isNew: false }
    await requirePlace(tx, occasion, locked)
    const purpose = { ...linkPurpose, details: { payment_link: idOf('paymentLink', link.id) } }
    // A card is charged here and now; a job asks for the others.
    const sendsInline = wanted.card !== undefined
    const payment = await accept(app, tx, { input, occasion, sendsInline, purpose })
    await tx.query(insertLinkPayment, { ...tenant, link: link.id, payment: payment.id, once })
    return { id: payment.id, isNew: true }
  })
  if (isNew && wanted.card !== undefined) await sendNow(app, { tenant }, id, input)
  return id
}

/** What tells one showing of the form from another; one that brings nothing is its own. */
function onceIn(form: URLSearchParams): Buffer {
  const once = form.get('once') ?? randomUUID()
  return createHash('sha256').update(once).digest().subarray(0, 16)
}

/** The same form, or the same phone that has not answered yet. */
async function begunBefore(
  tx: Tx,
  { tenant, receivedMs }: Occasion,
  { id: link }: LinkRow,
  { phone }: Wanted,
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
  if (recent >= mostPerHour)
    throw new AppError('RATE_LIMITED', 'there were too many payments over this link; wait a while', {
      retryAfterSeconds: 60,
    })
  if (link.max_uses === null) return
  const { under_way } = await one(tx.query(countOfLink, since(underWayMs)))
  if (link.uses + under_way >= link.max_uses)
    throw new AppError('CONFLICT', 'as many payments as the link takes are under way; look again in a few minutes')
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

export function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'there is no such page')
}
