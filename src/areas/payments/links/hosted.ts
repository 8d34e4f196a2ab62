// SPDX-License-Identifier: Apache-2.0
// The page of a payment link. Whoever has its address may see it and pay: nobody is signed in, so that there is nothing to be
// done in anybody's name. What can be abused is asking phones for money and trying cards, so that is limited: for each link,
// for each address, and how much may be begun in an hour.
import { randomBytes } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { currencyOf } from '../../../platform/currencies.ts'
import { maybe } from '../../../platform/db.ts'
import { type HookAnswer, type HookCall, hook, pagesPerAddress, redirect } from '../../../platform/hook.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy, chosen } from '../../../platform/web/language.ts'
import { readerOf } from '../../../platform/web/reader.ts'
import { notice, type Page, page } from '../../../platform/web/shell.ts'
import { formIn, maxFormBytes, problemIn, refusedPage } from '../checkout/form.ts'
import { checkoutPage, type Problem, paymentForms, statusPage } from '../checkout/page.ts'
import { landingUrl } from '../records/return-url.ts'
import { findPayment } from '../records/store.ts'
import { placeOf, statusOf } from './link.ts'
import { type Found, nothingHere, payByForm, waysOf } from './pay.ts'
import { findLinkByToken } from './store.ts'
import { linkTexts } from './texts.ts'

/** Looks at one link a second: many payers may have it. */
const viewsPerSecond = 100
/** Forms sent for one link a minute, and from one address: a whole network may share one. */
const paymentsPerMinute = 300
const paymentsPerAddress = 30
/** Characters of a word that nobody can guess. */
const onceBytes = 12

const views = { name: 'link-view', by: 'token', perSecond: viewsPerSecond }

const showPage = hook({
  methods: ['GET', 'HEAD'],
  path: '/link/:token',
  operation: 'payments.showLink',
  summary: 'A payer looks at a payment link',
  maxBytes: maxFormBytes,
  limits: [views, pagesPerAddress],
  handle: async (app, call) => {
    const found = await linkAt(app, call)
    // Whoever comes back from its bank wants to know how it went.
    const { payment_id: payment } = call.query
    if (typeof payment === 'string' && uuidOf('payment', payment) !== null)
      return redirect(`${found.path}/${payment}${found.lang}`)
    return page(200, linkPage(app, found), 'here')
  },
  refused,
})

const payByPage = hook({
  methods: ['POST'],
  path: '/link/:token',
  operation: 'payments.payLink',
  summary: 'A payer pays over a payment link',
  maxBytes: maxFormBytes,
  limits: [
    { name: 'link-pay', by: 'token', perMinute: paymentsPerMinute },
    { name: 'link-address', by: 'address', perMinute: paymentsPerAddress },
  ],
  handle: async (app, call) => {
    const form = formIn(call)
    const found = await linkAt(app, call)
    const ownPage = redirect(`${found.path}${found.lang}`)
    // Closed: the page says so.
    if (statusOf(found.link, found.occasion.nowMs) !== 'active') return ownPage
    try {
      const payment = await payByForm(app, found, form)
      return redirect(`${found.path}/${idOf('payment', payment)}${found.lang}`)
    } catch (error) {
      // It was meanwhile.
      if (error instanceof AppError && error.code === 'INVALID_STATE') return ownPage
      if (!(error instanceof AppError) || error.status === 503) throw error
      const problem = problemIn(form, found.reader, error)
      const isFull = error.code === 'CONFLICT'
      const sentence = isFull ? found.reader.words(linkTexts)('beingPaid') : problem.sentence
      return page(error.status, linkPage(app, found, { ...problem, sentence }), 'here')
    }
  },
  refused,
})

const followPayment = hook({
  methods: ['GET', 'HEAD'],
  path: '/link/:token/:payment',
  operation: 'payments.followLinkPayment',
  summary: 'A payer waits for a payment over a link',
  maxBytes: maxFormBytes,
  limits: [views, pagesPerAddress],
  handle: async (app, call) => {
    const found = await linkAt(app, call)
    const { tenant, link, occasion } = found
    const id = uuidOf('payment', call.params.payment)
    const payment = id && (await maybe(app.db.query(findPayment, { ...tenant, id })))
    if (!payment || payment.details.payment_link !== idOf('paymentLink', link.id)) throw nothingHere()
    if (payment.status !== 'completed' || link.redirect_url === null) return page(200, statusPage(found, payment, null))
    const there = await landingUrl(app, tenant, payment, link.redirect_url, occasion.nowMs)
    // In test a payment costs nothing: an address of this installation that leads anywhere at once would be anybody's.
    if (tenant.environment === 'live' || !comesFromElsewhere(call)) return redirect(there)
    return page(200, statusPage(found, payment, html`<a href="${there}" rel="noreferrer">${new URL(there).host}</a>`))
  },
  refused,
})

export const linkHooks = [showPage, payByPage, followPayment]

async function linkAt(app: App, call: HookCall<{ token: string }>): Promise<Found> {
  const { token } = call.params
  const place = placeOf(token)
  const row = place && (await maybe(app.db.query(findLinkByToken, place)))
  if (!row) throw nothingHere()
  const { clock_offset_ms, account_name: accountName, brand, time_zone, is_suspended: isSuspended, ...link } = row
  const asked = askedBy(call)
  const tenant = tenantOf(link)
  const { receivedMs, requestId } = call
  const { amount, currency, environment, description } = link
  return {
    link,
    tenant,
    occasion: { tenant, receivedMs, nowMs: receivedMs + Number(clock_offset_ms), requestId },
    isSuspended,
    title: `${accountName}: ${description}`,
    amount,
    currency,
    environment,
    accountName,
    brand,
    reader: readerOf(asked, time_zone),
    path: `/link/${token}`,
    // What the address asked for goes along; what the browser says it says again.
    lang: asked.lang === undefined ? '' : `?lang=${chosen(asked).language}`,
  }
}

/** What is paid for and how, or that it cannot be any more. */
function linkPage(app: App, found: Found, problem: Problem | null = null): Page {
  const { link, reader, occasion } = found
  const status = statusOf(link, occasion.nowMs)
  if (status !== 'active') {
    const say = reader.words(linkTexts)
    const what = html`<p class="soft">${link.description}</p><p>${say(status)}</p>`
    return checkoutPage(found, notice(status === 'completed' ? 'good' : 'bad', say('closed'), what))
  }
  const sum = reader.money({ micros: link.amount, currency: currencyOf(link.currency) })
  const once = randomBytes(onceBytes).toString('base64url')
  return checkoutPage(
    found,
    html`<p class="soft">${link.description}</p><h1 class="amount">${sum}</h1>
${paymentForms(found, waysOf(app, found), problem, once)}`,
  )
}

/** Whether a browser was led here by another site, a message or the address bar, and not by a page of this one. */
function comesFromElsewhere({ headers }: Pick<HookCall, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin'
}

function refused(_app: App, call: HookCall, error: AppError): HookAnswer {
  return refusedPage(call, error, ({ words }) => words(linkTexts)('noSuchLink'))
}
