// SPDX-License-Identifier: Apache-2.0
// The page at which an invoice is paid. Whoever has its address may see it and pay it: nobody is signed in, so that there is
// nothing to be done in anybody's name, and a form that another site sends does no more than a link. What can be abused is
// asking phones for money and trying cards, so that is limited: for each invoice, for each address, and how much may be
// under way at once.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { isUnavailable, maybe } from '../../../platform/db.ts'
import type { Policy } from '../../../platform/limits/share.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { askedBy, chosen } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { givePage, pageHeaders } from '../../../platform/web/shell.ts'
import { pageTexts } from '../../../platform/web/texts.ts'
import { failureTexts, findPayment, isFailureReason } from '../../payments/area.ts'
import { type Found, nothingHere, payByForm, waysOf } from './hosted-pay.ts'
import { dueOf, placeOf } from './invoice.ts'
import { invoicePage, refusalPage, statusPage } from './page.ts'
import { problemTexts } from './page-texts.ts'
import { renderInvoice } from './pdf.ts'
import { findInvoiceByToken } from './store.ts'

const maxFormBytes = 4 * 1_024
/** So much of what was written as a phone number is shown again. */
const maxPhoneCharacters = 24
/** Looks at one invoice a minute: a page that follows a payment looks twenty times. */
const viewsPerMinute = 240
const pdfsPerMinute = 30
/** Forms sent for one invoice a minute, and from one address: a whole network may share one. */
const paymentsPerMinute = 6
const paymentsPerAddress = 60

export function mountHostedPage(http: FastifyInstance, app: App): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const parseAs = { parseAs: 'buffer', bodyLimit: maxFormBytes } as const
    scope.addContentTypeParser('application/x-www-form-urlencoded', parseAs, (_request, body, done) => {
      const form = new URLSearchParams(body.toString())
      // What may hold a card is not left lying in a buffer that nobody has overwritten yet.
      if (Buffer.isBuffer(body)) body.fill(0)
      done(null, form)
    })
    scope.setErrorHandler((error, request, reply) => refused(app, error, request, reply))
    const config = { open: true }

    scope.get<Named & { Querystring: { payment_id?: unknown } }>('/pay/:token', { config }, async (request, reply) => {
      const found = await invoiceAt(app, request, 'view', viewsPerMinute)
      // Whoever comes back from its bank wants to know how it went.
      const { payment_id: payment } = request.query
      if (typeof payment === 'string' && uuidOf('payment', payment) !== null)
        return reply.code(303).headers(pageHeaders()).header('location', `${found.path}/${payment}${found.lang}`).send()
      return givePage(reply, 200, invoicePage(found, waysOf(app, found)), 'here')
    })

    scope.post<Named>('/pay/:token', { config }, async (request, reply) => {
      const found = await invoiceAt(app, request, 'pay', paymentsPerMinute)
      const { ip } = request.exchange
      await admit(app, { name: 'pay-address', key: `pay-address:${ip}`, limit: paymentsPerAddress })
      // Paid or withdrawn: the page says so.
      if (dueOf(found.invoice) === 0n) return reply.code(303).header('location', `${found.path}${found.lang}`).send()
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      try {
        const payment = await payByForm(app, found, form)
        return reply
          .code(303)
          .header('location', `${found.path}/${idOf('payment', payment)}${found.lang}`)
          .send()
      } catch (error) {
        // It was meanwhile.
        if (error instanceof AppError && error.code === 'INVALID_STATE')
          return reply.code(303).header('location', `${found.path}${found.lang}`).send()
        if (!(error instanceof AppError) || error.status === 503) throw error
        const phone = (form.get('phone') ?? '').slice(0, maxPhoneCharacters)
        const sentence = sentenceOf(found.reader, error)
        const problem = { method: form.get('method') ?? 'mobile_money', sentence, phone }
        return givePage(reply, error.status, invoicePage(found, waysOf(app, found), problem), 'here')
      }
    })

    scope.get<Named & { Params: { payment: string } }>('/pay/:token/:payment', { config }, async (request, reply) => {
      const found = await invoiceAt(app, request, 'view', viewsPerMinute)
      const id = uuidOf('payment', request.params.payment)
      const payment = id && (await maybe(app.db.query(findPayment, { ...found.tenant, id })))
      if (!payment || payment.invoice_id !== found.invoice.id) throw nothingHere()
      return givePage(reply, 200, statusPage(found, payment))
    })

    scope.get<Named>('/pay/:token/invoice.pdf', { config }, async (request, reply) => {
      const { invoice, accountName } = await invoiceAt(app, request, 'pdf', pdfsPerMinute)
      const pdf = await renderInvoice(app, invoice, accountName)
      const name = (invoice.number ?? 'invoice').replace(/[^A-Za-z0-9._-]/g, '-')
      return reply
        .headers({
          ...pageHeaders(),
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
  const { clock_offset_ms, account_name: accountName, time_zone: timeZone, is_suspended: isSuspended, ...invoice } = row
  const asked = askedBy(request)
  const reader = readerOf(asked, timeZone)
  // What the address asked for goes along; what the browser says it says again.
  const lang = asked.lang === undefined ? '' : `?lang=${chosen(asked).language}`
  const tenant = tenantOf(invoice)
  const { receivedMs, id: requestId } = request.exchange
  const occasion = { tenant, receivedMs, nowMs: receivedMs + Number(clock_offset_ms), requestId }
  return { invoice, accountName, reader, tenant, occasion, isSuspended, path: `/pay/${token}`, lang }
}

async function admit(app: App, policy: Pick<Policy, 'name' | 'key' | 'limit'>): Promise<void> {
  if (app.config.PAMOJA_RATE_LIMITS !== 'on') return
  const { admitted, tightest } = await app.limits.admit([{ ...policy, windowMs: minuteMs, shared: false }])
  if (admitted) return
  const retryAfterSeconds = Math.max(1, Math.ceil(tightest.resetMs / 1_000))
  throw new AppError('RATE_LIMITED', `too often; try again in ${retryAfterSeconds} seconds`, { retryAfterSeconds })
}

function refused(app: App, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const reader = readerOf(askedBy(request), 'UTC')
  const say = reader.words(problemTexts)
  if (error instanceof AppError && error.status < 500) {
    const { retryAfterSeconds } = error.extras
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
    const page = refusalPage(reader, titleOf(reader, error.status), sentenceOf(reader, error))
    return givePage(reply, error.status, page)
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status >= 400 && status < 500)
    return givePage(reply, status, refusalPage(reader, say('notTaken'), say('unreadable')))
  const isAway = isUnavailable(error) || (error instanceof AppError && error.status === 503)
  if (!isAway) app.log.error({ error, request: request.exchange.id }, 'a page of an invoice failed')
  reply.header('retry-after', '5')
  return givePage(reply, isAway ? 503 : 500, refusalPage(reader, say('notNow'), say('failed')))
}

function titleOf(reader: Reader, status: number): string {
  if (status === 404) return reader.words(pageTexts)('noSuchPage')
  return reader.words(problemTexts)(status === 429 ? 'tooOften' : 'notTaken')
}

/** What a payer can do about it; the details are written for programs. */
function sentenceOf(reader: Reader, { code }: AppError): string {
  if (isProblem(code)) return reader.words(problemTexts)(code)
  return isFailureReason(code) ? reader.words(failureTexts)(code) : reader.words(problemTexts)('other')
}

function isProblem(code: string): code is keyof typeof problemTexts {
  return Object.hasOwn(problemTexts, code)
}
