// SPDX-License-Identifier: Apache-2.0
// Page of a payment link, on which many payers may pay at once.
import { randomBytes } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { type HookAnswer, type HookCall, redirect } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { secretNamed } from '../../../platform/web/secret-name.ts'
import { notice } from '../../../platform/web/shell.ts'
import { hostedCheckout, visitOf } from '../checkout/hosted.ts'
import { landingUrl } from '../records/return-url.ts'
import type { PaymentRow } from '../records/store.ts'
import { linkPath, statusOf } from './link.ts'
import { begin, type Found } from './pay.ts'
import { findLinkByToken } from './store.ts'
import { linkTexts } from './texts.ts'

/** Page views per link and second: many payers may have it. */
const viewsPerSecond = 100
/** Forms per link and minute, and per IP address, which a whole network may share. */
const paymentsPerMinute = 300
const paymentsPerAddress = 30
const onceBytes = 12

export const { hooks: linkHooks } = hostedCheckout<Found>({
  path: linkPath,
  show: { operation: 'payments.showLink', summary: 'A payer looks at a payment link' },
  pay: { operation: 'payments.payLink', summary: 'A payer pays over a payment link' },
  follow: { operation: 'payments.followLinkPayment', summary: 'A payer waits for a payment over a link' },
  limits: {
    views: { name: 'link-view', by: 'token', perSecond: viewsPerSecond },
    forms: [
      { name: 'link-pay', by: 'token', perMinute: paymentsPerMinute },
      { name: 'link-address', by: 'address', perMinute: paymentsPerAddress },
    ],
  },
  find: linkAt,
  isOpen,
  content,
  newOnce: () => randomBytes(onceBytes).toString('base64url'),
  begin,
  // As many payments as the link takes are pending.
  sentenceOf: ({ reader }, { code }) => (code === 'CONFLICT' ? reader.words(linkTexts)('beingPaid') : null),
  isPaymentOf: ({ link }, { details }) => details.payment_link === idOf('paymentLink', link.id),
  afterwards,
  missing: ({ words }) => words(linkTexts)('noSuchLink'),
})

async function linkAt(app: App, call: HookCall<{ token: string }>): Promise<Found | null> {
  const place = secretNamed(call.params.token)
  const link = place && (await maybe(app.db.query(findLinkByToken, place)))
  if (!link) return null
  const { account_name, description, amount } = link
  return { ...visitOf(call, linkPath, link), link, title: `${account_name}: ${description}`, amount }
}

function isOpen({ link, occasion }: Found): boolean {
  return statusOf(link, occasion.nowMs) === 'active'
}

/** Description, amount and forms; or that the link is closed, and why. */
function content({ link, reader, occasion }: Found, forms: Html): Html {
  const what = html`<p class="soft">${link.description}</p>`
  const status = statusOf(link, occasion.nowMs)
  if (status !== 'active') {
    const say = reader.words(linkTexts)
    return notice(status === 'completed' ? 'good' : 'bad', say('closed'), html`${what}<p>${say(status)}</p>`)
  }
  const sum = reader.money({ micros: link.amount, currency: currencyOf(link.currency) })
  return html`${what}<h1 class="amount">${sum}</h1>
${forms}`
}

/** A completed payment leads to the merchant's page, if the link has one. */
async function afterwards(
  app: App,
  { tenant, link, occasion }: Found,
  payment: PaymentRow,
  call: HookCall<unknown>,
): Promise<HookAnswer | Html | null> {
  if (link.redirect_url === null) return null
  const there = await landingUrl(app, tenant, payment, link.redirect_url, occasion.nowMs)
  // Test payments are free, so anybody could make an address of this installation that redirects anywhere.
  if (tenant.environment === 'live' || !comesFromElsewhere(call)) return redirect(there)
  return html`<a href="${there}" rel="noreferrer">${new URL(there).host}</a>`
}

/** Whether the browser was led here by another site, a message or the address bar, not by a page of this installation. */
function comesFromElsewhere({ headers }: Pick<HookCall, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin'
}
