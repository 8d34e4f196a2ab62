// SPDX-License-Identifier: Apache-2.0
// The page at which an invoice is paid. Whoever has its address may see it and pay it: nobody is signed in, so that there is
// nothing to be done in anybody's name, and a form that another site sends does no more than a link. What can be abused is
// asking phones for money, so that is limited: for each invoice, for each address, and how much may be under way at once.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, errors } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, uuidOf } from '../../../kernel/ids.ts'
import { writtenIn } from '../../../kernel/phone.ts'
import { hourMs, minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { isUnavailable, maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Policy } from '../../../platform/limits.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { countOfInvoice, findPayment, findUnderWay, type Provider, waysToPay } from '../../payments/area.ts'
import { dueOf, placeOf } from './invoice.ts'
import { invoicePage, refusalPage, type Shown, statusPage } from './page.ts'
import { payInvoice } from './pay.ts'
import { renderInvoice } from './pdf.ts'
import { findInvoiceByToken, type InvoiceRow, lockInvoice } from './store.ts'

const maxFormBytes = 4 * 1_024
/** Looks at one invoice a minute: a page that follows a payment looks twenty times. */
const viewsPerMinute = 240
const pdfsPerMinute = 30
/** Forms sent for one invoice a minute, and from one address: a whole network may share one. */
const paymentsPerMinute = 6
const paymentsPerAddress = 60
/** How many payments of one invoice may wait for their payers at once, and how many there may be in an hour. */
const mostUnderWay = 3
const mostPerHour = 20

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
}

interface Found extends Shown {
  readonly tenant: Tenant
  readonly occasion: Occasion
  /** The account may not collect just now. */
  readonly isSuspended: boolean
}

export function mountHostedPage(http: FastifyInstance, app: App): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const parseAs = { parseAs: 'string', bodyLimit: maxFormBytes } as const
    scope.addContentTypeParser('application/x-www-form-urlencoded', parseAs, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    )
    scope.setErrorHandler((error, request, reply) => refused(app, error, request, reply))
    const config = { open: true }

    scope.get<Named>('/pay/:token', { config }, async (request, reply) => {
      const found = await invoiceAt(app, request, 'view', viewsPerMinute)
      return reply.headers(pageHeaders).send(invoicePage(found, waysOf(app, found)))
    })

    scope.post<Named>('/pay/:token', { config }, async (request, reply) => {
      const found = await invoiceAt(app, request, 'pay', paymentsPerMinute)
      const { ip } = request.exchange
      await admit(app, { name: 'pay-address', key: `pay-address:${ip}`, limit: paymentsPerAddress })
      // Paid or withdrawn: the page says so.
      if (dueOf(found.invoice) === 0n) return reply.code(303).header('location', found.path).send()
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      const phone = form.get('phone') ?? ''
      try {
        const payment = await pay(app, found, phone, form.get('provider') ?? '')
        return reply
          .code(303)
          .header('location', `${found.path}/${idOf('payment', payment)}`)
          .send()
      } catch (error) {
        // It was meanwhile.
        if (error instanceof AppError && error.code === 'INVALID_STATE')
          return reply.code(303).header('location', found.path).send()
        if (!(error instanceof AppError) || error.status === 503) throw error
        const page = invoicePage(found, waysOf(app, found), sentenceOf(error), phone.slice(0, 24))
        return reply.code(error.status).headers(pageHeaders).send(page)
      }
    })

    scope.get<Named & { Params: { payment: string } }>('/pay/:token/:payment', { config }, async (request, reply) => {
      const found = await invoiceAt(app, request, 'view', viewsPerMinute)
      const id = uuidOf('payment', request.params.payment)
      const payment = id && (await maybe(app.db.query(findPayment, { ...found.tenant, id })))
      if (!payment || payment.invoice_id !== found.invoice.id) throw nothingHere()
      return reply.headers(pageHeaders).send(statusPage(found, payment))
    })

    scope.get<Named>('/pay/:token/invoice.pdf', { config }, async (request, reply) => {
      const { invoice, accountName } = await invoiceAt(app, request, 'pdf', pdfsPerMinute)
      const pdf = await renderInvoice(app, invoice, accountName)
      const name = (invoice.number ?? 'invoice').replace(/[^A-Za-z0-9._-]/g, '-')
      return reply
        .headers({
          ...pageHeaders,
          'content-type': 'application/pdf',
          'content-disposition': `inline; filename="${name}.pdf"`,
        })
        .send(pdf)
    })
  })
}

interface Named {
  Params: { token: string }
}

/** The invoice of an address. Looking is limited too: a page that follows a payment asks again and again. */
async function invoiceAt(app: App, request: FastifyRequest<Named>, what: string, perMinute: number): Promise<Found> {
  const { token } = request.params
  const place = placeOf(token)
  if (!place) throw nothingHere()
  await admit(app, { name: `invoice-${what}`, key: `invoice-${what}:${token}`, limit: perMinute })
  const row = await maybe(app.db.query(findInvoiceByToken, place))
  if (!row) throw nothingHere()
  const { clock_offset_ms, account_name: accountName, is_suspended: isSuspended, ...invoice } = row
  const tenant = { bucket: invoice.bucket, account: invoice.account_id, environment: invoice.environment }
  const { receivedMs, id: requestId } = request.exchange
  const occasion = { tenant, receivedMs, nowMs: receivedMs + Number(clock_offset_ms), requestId }
  return { invoice, accountName, tenant, occasion, isSuspended, path: `/pay/${token}` }
}

/** Stores a payment of all that is due, which a job then asks for; gives its id. The same phone is not asked twice at once. */
async function pay(app: App, found: Found, written: string, provider: string): Promise<string> {
  const { invoice, tenant, occasion } = found
  const phone = writtenIn(
    written,
    waysOf(app, found).map(({ country }) => country),
  )
  if (phone === null) throw new AppError('INVALID_PHONE', 'phone is not a number that could be paid from')
  return app.db.tx(async (tx) => {
    const locked = await maybe(tx.query(lockInvoice, { ...tenant, id: invoice.id }))
    if (!locked) throw nothingHere()
    const waiting = await maybe(tx.query(findUnderWay, { ...tenant, invoice: invoice.id, phone }))
    if (waiting) return waiting.id
    await requireFewPayments(tx, occasion, locked)
    const how = { phone, ...(provider === '' ? {} : { provider: provider.slice(0, 40) }) }
    return (await payInvoice(app, tx, occasion, locked, how, false)).id
  })
}

async function requireFewPayments(tx: Tx, { tenant, receivedMs }: Occasion, { id }: InvoiceRow): Promise<void> {
  const since = firstUuidAt(receivedMs - hourMs)
  const [count] = await tx.query(countOfInvoice, { ...tenant, invoice: id, since })
  if (count && (count.under_way >= mostUnderWay || count.recent >= mostPerHour))
    throw new AppError('RATE_LIMITED', 'this invoice was tried to be paid too often; wait a while', {
      retryAfterSeconds: 60,
    })
}

function waysOf(app: App, { invoice, isSuspended }: Found): readonly Provider[] {
  const { payment_methods: wanted, environment, currency } = invoice
  if (isSuspended || (wanted !== null && !wanted.includes('mobile_money'))) return []
  return waysToPay(app, environment, currency, dueOf(invoice))
}

async function admit(app: App, policy: Pick<Policy, 'name' | 'key' | 'limit'>): Promise<void> {
  if (app.config.PAMOJA_RATE_LIMITS !== 'on') return
  const { admitted, tightest } = await app.limits.admit([{ ...policy, windowMs: minuteMs, shared: false }])
  if (admitted) return
  const retryAfterSeconds = Math.max(1, Math.ceil(tightest.resetMs / 1_000))
  throw new AppError('RATE_LIMITED', `too often; try again in ${retryAfterSeconds} seconds`, { retryAfterSeconds })
}

function refused(app: App, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers(pageHeaders)
  if (error instanceof AppError && error.status < 500) {
    const { retryAfterSeconds } = error.extras
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
    return reply.code(error.status).send(refusalPage(titleOf(error.status), sentenceOf(error)))
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status >= 400 && status < 500) return reply.code(status).send(refusalPage('Not taken', 'This cannot be read.'))
  const isAway = isUnavailable(error) || (error instanceof AppError && error.status === 503)
  if (!isAway) app.log.error({ error, request: request.exchange.id }, 'a page of an invoice failed')
  return reply
    .code(isAway ? 503 : 500)
    .header('retry-after', '5')
    .send(refusalPage('Not just now', 'Something failed on our side. Try again in a moment.'))
}

function titleOf(status: number): string {
  return status === 404 ? 'No such page' : status === 429 ? 'Too often' : 'Not taken'
}

/** What a payer can do about it; the details are written for programs. */
function sentenceOf({ code, details }: AppError): string {
  const sentences: Readonly<Record<string, string>> = {
    INVALID_PHONE: 'This is not a phone number that this invoice can be paid from.',
    UNSUPPORTED_PROVIDER: 'Choose the provider of your number.',
    NOT_FOUND: 'There is no invoice under this address. Check the link.',
    RATE_LIMITED: 'This was tried too often. Wait a minute and try again.',
  }
  return sentences[code] ?? (details || errors[code][1])
}

function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'there is no such page')
}
