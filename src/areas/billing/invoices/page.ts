// SPDX-License-Identifier: Apache-2.0
// What a payer sees: the invoice with a form to pay it, and how a payment is going. One document without scripts or images,
// below 30 KB whatever the invoice holds, because it is read on slow phones; all of the invoice is in its PDF.

import { type Html, html } from '../../../platform/web/html.ts'
import type { Reader } from '../../../platform/web/reader.ts'
import type { Page } from '../../../platform/web/shell.ts'
import { notice } from '../../../platform/web/shell.ts'
import { currencyOf, type PaymentRow, type Provider, recordOf, underWay } from '../../payments/area.ts'
import { dueOf, itemFrom } from './invoice.ts'
import type { InvoiceRow } from './store.ts'

/** How much of a long invoice is shown. */
const shownItems = 20
const shownCharacters = 100
const shownNotes = 500
/** How soon a page looks again how a payment is going. */
const refreshSeconds = 3
const transferRefreshSeconds = 10

export interface Shown {
  readonly invoice: InvoiceRow
  /** Who sends the invoice. */
  readonly accountName: string
  /** The path of the page, without a trailing slash. */
  readonly path: string
  /** Who looks at it. */
  readonly reader: Reader
}

/** How an invoice can be paid now. */
export interface Ways {
  readonly phones: readonly Provider[]
  readonly bank: boolean
  readonly card: boolean
}

/** What was sent and is not taken: by which way, why, and the phone number as it was written. */
export interface Problem {
  readonly method: string
  readonly sentence: string
  readonly phone: string
}

/** The invoice, and how it can be paid. */
export function invoicePage(shown: Shown, ways: Ways, problem: Problem | null = null): Page {
  const { invoice, path } = shown
  const money = moneyOf(shown)
  const items = invoice.items.slice(0, shownItems).map((stored) => {
    const { description, amount } = itemFrom(stored)
    return html`<tr><th scope="row">${cut(description, shownCharacters)}</th><td>${money(amount)}</td></tr>`
  })
  const more = invoice.items.length - items.length
  const sum = (name: string, micros: bigint, kind = '') =>
    html`<tr class="${kind}"><th scope="row">${name}</th><td>${money(micros)}</td></tr>`
  const { discount_total: discount, tax_total: tax, amount_paid: paid, credit_applied: credit } = invoice
  return page(
    shown,
    html`${standing(shown)}
<table>${items}${more > 0 && html`<tr><th colspan="2">and ${more} more, see the PDF</th></tr>`}
${discount > 0n && sum('Discount', -discount)}
${tax > 0n && sum(invoice.tax_inclusive ? 'Tax (included)' : 'Tax', tax)}
${sum('Total', invoice.total, 'total')}
${credit > 0n && sum('Credit', -credit)}
${paid - credit > 0n && sum('Paid', paid - credit)}
${invoice.amount_refunded > 0n && sum('Refunded', invoice.amount_refunded)}</table>
${invoice.notes !== null && html`<p class="soft">${cut(invoice.notes, shownNotes)}</p>`}
${isPayable(invoice) && waysToPay(shown, ways, problem)}
<footer><a href="${path}/invoice.pdf">Invoice as a PDF</a></footer>`,
  )
}

/** How a payment is going; looks again by itself until it is over. */
export function statusPage(shown: Shown, payment: PaymentRow): Page {
  const { path } = shown
  const { status, failure_message, provider_reference } = recordOf(payment)
  if (underWay.includes(status)) return waitingPage(shown, payment)
  if (status === 'completed')
    return page(
      shown,
      html`${notice('good', 'Paid, thank you', html`<p>${moneyOf(shown)(payment.amount)} arrived.${provider_reference !== null && html` Receipt ${provider_reference}.`}</p>`)}
<footer><a href="${path}">Back to the invoice</a></footer>`,
    )
  const why = failure_message ?? 'The payment was cancelled.'
  return page(
    shown,
    notice('bad', 'It was not paid', html`<p>${why}</p><p><a class="button" href="${path}">Try again</a></p>`),
  )
}

/** What the payer has to do. */
function waitingPage(shown: Shown, payment: PaymentRow): Page {
  const amount = moneyOf(shown)(payment.amount)
  const { redirect_url, bank_transfer } = recordOf(payment)
  if (redirect_url !== undefined) {
    // The path alone: whoever sees this page is on the machine that serves the other one.
    const { pathname } = new URL(redirect_url)
    const content = html`<p>It sends you back here afterwards.</p><p><a class="button" href="${pathname}">Go on to your bank</a></p>`
    const next = { seconds: 0, path: pathname }
    return page(shown, notice('waiting', 'Your bank wants to know that it is you', content), next)
  }
  if (bank_transfer)
    return page(
      shown,
      html`<h1>Pay into this account</h1>
<table class="facts"><tr><th scope="row">Bank</th><td>${bank_transfer.bank_name}</td></tr>
<tr><th scope="row">Account</th><td><strong>${bank_transfer.account_number}</strong></td></tr>
<tr><th scope="row">Name</th><td>${bank_transfer.account_name}</td></tr>
<tr><th scope="row">Amount</th><td><strong>${amount}</strong></td></tr></table>
<p>Pay exactly this amount, once, until ${shown.reader.moment(bank_transfer.expires_at)}. The account is for this invoice alone.</p>
<p class="soft">This page shows by itself when the money has come.</p>
<footer><a href="${shown.path}">Pay in another way</a></footer>`,
      { seconds: transferRefreshSeconds },
    )
  const [title, what] = whatHappens(payment, amount)
  return page(
    shown,
    notice('waiting', title, html`<p role="status">${what}</p><p class="soft">This page follows by itself.</p>`),
    { seconds: refreshSeconds },
  )
}

function whatHappens(payment: PaymentRow, amount: string): readonly [title: string, what: string] {
  switch (payment.method) {
    case 'bank_transfer':
      return ['One moment', 'The bank opens an account for you to pay into.']
    case 'card':
      return ['One moment', `Your bank is being asked for ${amount}.`]
    default:
      return ['Look at your phone', `Approve ${amount} on ${endOf(payment)} with your PIN.`]
  }
}

/** Why there is nothing to see, or nothing can be done just now. */
export function refusalPage(title: string, why: string): Page {
  return { title, content: notice('bad', title, html`<p>${why}</p>`) }
}

function isPayable({ status }: InvoiceRow): boolean {
  return status !== 'paid' && status !== 'void'
}

/** What the invoice comes to now, above all of it. */
function standing(shown: Shown): Html {
  const { invoice, reader } = shown
  const { name } = invoice.customer
  const what = html`<p class="soft">Invoice ${invoice.number ?? ''}${name !== undefined && ` for ${name}`}</p>`
  const money = moneyOf(shown)
  if (invoice.status === 'paid')
    return html`${what}<h1 class="amount">${money(invoice.total)}</h1><p class="good">Paid. Nothing more is due.</p>`
  if (invoice.status === 'void')
    return html`${what}<h1>Withdrawn</h1><p>This invoice was withdrawn. Nothing is to be paid.</p>`
  return html`${what}<h1 class="amount">${money(dueOf(invoice))}</h1><p>Due ${reader.day(invoice.due_date)}</p>`
}

function waysToPay(shown: Shown, ways: Ways, problem: Problem | null): Html {
  const { path } = shown
  const amount = moneyOf(shown)(dueOf(shown.invoice))
  const offered = [
    ...(ways.phones.length > 0 ? [phoneWay(ways.phones, amount)] : []),
    ...(ways.card ? [cardWay(amount)] : []),
    ...(ways.bank ? [bankWay(amount)] : []),
  ]
  const [first] = offered
  const said = problem && html`<p class="problem" role="alert" id="problem">${problem.sentence}</p>`
  if (first === undefined) return html`${said}<p>It cannot be paid on this page. Ask who sent it to you how to pay.</p>`
  // What cannot be said beside a form is said above all of them.
  const met = offered.find(({ method }) => method === problem?.method)
  const open = met ?? first
  return html`<h2>Pay</h2>${met === undefined && said}
${offered.map(
  (way) => html`<details name="way"${way === open && html` open`}><summary>${way.title}</summary>
<form method="post" action="${path}"><input type="hidden" name="method" value="${way.method}">${way === met && said}${way.fields(way === met ? problem : null)}</form></details>
`,
)}`
}

interface Way {
  readonly method: string
  readonly title: Html
  /** What the form asks for, and its button. */
  fields(problem: Problem | null): Html
}

function phoneWay(phones: readonly Provider[], amount: string): Way {
  const names = [...new Map(phones.map(({ provider, name }) => [provider, name]))]
  const options = names.map(([provider, name]) => html`<option value="${provider}">${name}</option>`)
  return {
    method: 'mobile_money',
    title: html`Mobile money <span>${names.map(([, name]) => name).join(', ')}</span>`,
    fields: (problem) => html`<label>Phone number with mobile money
<input name="phone" type="tel" autocomplete="tel" required maxlength="24" value="${problem?.phone ?? ''}"${wrong(problem)}></label>
<label>Provider<select name="provider"><option value="">Found by my number</option>${options}</select></label>
<button>Pay ${amount}</button>`,
  }
}

/** What was written into it is never shown again. */
function cardWay(amount: string): Way {
  return {
    method: 'card',
    title: html`Card`,
    fields: (problem) => html`<label>Card number
<input name="number" inputmode="numeric" autocomplete="cc-number" required maxlength="30"${wrong(problem)}></label>
<div class="pair"><label>Month and year<input name="expiry" inputmode="numeric" placeholder="12/30" autocomplete="cc-exp" required maxlength="9"></label>
<label>Security code<input name="cvv" inputmode="numeric" autocomplete="cc-csc" required maxlength="4"></label></div>
<button>Pay ${amount} by card</button>`,
  }
}

function bankWay(amount: string): Way {
  return {
    method: 'bank_transfer',
    title: html`Bank transfer`,
    fields: () => html`<p class="soft">You get an account number to transfer ${amount} to, from any bank.</p>
<button>Show me where to transfer</button>`,
  }
}

function wrong(problem: Problem | null): Html | null {
  return problem && html` aria-invalid="true" aria-describedby="problem" autofocus`
}

function page({ invoice, accountName }: Shown, content: Html, next?: NonNullable<Page['next']>): Page {
  const title = `${accountName}: ${invoice.number}`
  const isTest = invoice.environment === 'test'
  return { title, from: accountName, isTest, content, ...(next ? { next } : {}) }
}

function moneyOf({ invoice, reader }: Shown): (micros: bigint) => string {
  const currency = currencyOf(invoice.currency)
  return (micros) => reader.money({ micros, currency })
}

function endOf({ phone }: PaymentRow): string {
  return phone === null ? 'your phone' : `…${phone.slice(-3)}`
}

/** By characters, so that none is cut in two. */
function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}
