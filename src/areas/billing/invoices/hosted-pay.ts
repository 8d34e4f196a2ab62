// SPDX-License-Identifier: Apache-2.0
// What a form of the page does: a payment of all that is due is asked of a phone, given a bank account to be paid into, or
// charged to a card. A card is in the memory of the request and on the wire to the acquirer, as with every payment.
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { writtenIn } from '../../../kernel/phone.ts'
import { hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { countOfInvoice, findUnderWay, sendNow, underWay, type WaysToPay, waysToPay } from '../../payments/area.ts'
import { dueOf } from './invoice.ts'
import type { Shown } from './page.ts'
import { type InvoicePayment, payInvoice } from './pay.ts'
import { type InvoiceRow, lockInvoice } from './store.ts'

/** How many payments of one invoice may wait for their payers at once, and how many there may be in an hour. */
const mostUnderWay = 3
const mostPerHour = 20

export interface Found extends Shown {
  readonly tenant: Tenant
  readonly occasion: Occasion
  /** The account may not collect just now. */
  readonly isSuspended: boolean
}

/** How an invoice can be paid now. */
export function waysOf(app: App, { tenant, invoice, isSuspended }: Found): WaysToPay {
  const { payment_methods: wanted, currency } = invoice
  const wants = (method: string) => !isSuspended && (wanted === null || wanted.includes(method))
  return waysToPay(app, tenant, { currency, micros: dueOf(invoice) }, wants)
}

/** Stores the payment that a form asks for, or finds the one that it asked for before; gives its id. */
export async function payByForm(app: App, found: Found, form: URLSearchParams): Promise<string> {
  const ways = waysOf(app, found)
  switch (form.get('method')) {
    case 'bank_transfer':
      if (!ways.bank) throw new AppError('UNSUPPORTED_METHOD', 'this invoice is not paid by bank transfer')
      return payByBank(app, found)
    case 'card':
      if (!ways.card) throw new AppError('UNSUPPORTED_METHOD', 'this invoice is not paid by card')
      return payByCard(app, found, cardOf(form))
    default:
      return payByPhone(app, found, ways, form.get('phone') ?? '', form.get('provider') ?? '')
  }
}

/** A job asks for it then. The same phone is not asked twice at once. */
async function payByPhone(app: App, found: Found, ways: WaysToPay, written: string, provider: string): Promise<string> {
  const phone = writtenIn(
    written,
    ways.phones.map(({ country }) => country),
  )
  if (phone === null) throw new AppError('INVALID_PHONE', 'phone is not a number that could be paid from')
  const { invoice, tenant, path, lang } = found
  const how = {
    phone,
    ...(provider === '' ? {} : { provider: provider.slice(0, 40) }),
    return_url: `${app.publicUrl}${path}${lang}`,
  }
  const before = (tx: Tx) => findUnderWay(tx, tenant, invoice.id, { phone })
  return (await begin(app, found, how, before)).id
}

/** A job asks the bank for the account. As long as nobody has paid into it, everybody is shown the same one. */
async function payByBank(app: App, found: Found): Promise<string> {
  const { invoice, tenant } = found
  const how = { method: 'bank_transfer' as const }
  const before = (tx: Tx) => findUnderWay(tx, tenant, invoice.id, { ...how, in: underWay })
  return (await begin(app, found, how, before)).id
}

/** Charges the card here and now. A form that is sent twice finds the payment of the first. */
async function payByCard(app: App, found: Found, card: Card): Promise<string> {
  const { invoice, tenant, path, lang } = found
  const how = { method: 'card' as const, card, return_url: `${app.publicUrl}${path}${lang}` }
  const before = (tx: Tx) => findUnderWay(tx, tenant, invoice.id, { method: 'card', in: ['pending', 'processing'] })
  const { id, isNew } = await begin(app, found, how, before)
  if (isNew) {
    const { currency } = invoice
    await sendNow(app, { tenant }, id, { ...how, amount: formatMicros(dueOf(invoice)), currency })
  }
  return id
}

async function begin(
  app: App,
  { invoice, tenant, occasion }: Found,
  how: InvoicePayment,
  before: (tx: Tx) => Promise<{ id: string } | null>,
): Promise<{ id: string; isNew: boolean }> {
  return app.db.tx(tenant, async (tx) => {
    const locked = await maybe(tx.query(lockInvoice, { ...tenant, id: invoice.id }))
    if (!locked) throw nothingHere()
    const waiting = await before(tx)
    if (waiting) return { id: waiting.id, isNew: false }
    await requireFewPayments(tx, occasion, locked)
    const { id } = await payInvoice(app, tx, occasion, locked, how, how.card !== undefined)
    return { id, isNew: true }
  })
}

async function requireFewPayments(tx: Tx, { tenant, receivedMs }: Occasion, { id }: InvoiceRow): Promise<void> {
  const since = firstUuidAt(receivedMs - hourMs)
  const [count] = await tx.query(countOfInvoice, { ...tenant, invoice: id, since })
  if (count && (count.under_way >= mostUnderWay || count.recent >= mostPerHour))
    throw new AppError('RATE_LIMITED', 'there were too many attempts to pay this invoice; wait a while', {
      retryAfterSeconds: 60,
    })
}

type Card = NonNullable<InvoicePayment['card']>

/** The card as people write it into the form. What it is is not repeated in any answer. */
function cardOf(form: URLSearchParams): Card {
  const number = form.get('number') ?? ''
  const cvv = (form.get('cvv') ?? '').trim()
  const [, month, year] = /^\s*(\d{1,2})\s*[/-]\s*(\d{2}|\d{4})\s*$/.exec(form.get('expiry') ?? '') ?? []
  const isMonth = Number(month) >= 1 && Number(month) <= 12
  if (!/^[0-9 -]{12,30}$/.test(number) || !/^\d{3,4}$/.test(cvv) || !isMonth)
    throw new AppError('INVALID_CARD', 'the card is mistyped')
  return { number, exp_month: Number(month), exp_year: Number(year), cvv }
}

export function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'there is no such page')
}
