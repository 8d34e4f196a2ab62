// SPDX-License-Identifier: Apache-2.0
// What a payer sees: the invoice with a form to pay it, and how a payment is going. One document without scripts or images,
// below 30 KB whatever the invoice holds, because it is read on slow phones; all of the invoice is in its PDF.
import { type Currency, formatMoney } from '../../../kernel/money.ts'
import { currencyOf, type PaymentRow, type Provider, recordOf, underWay } from '../../payments/area.ts'
import { type Html, html } from './html.ts'
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
}

/** How an invoice can be paid now. */
export interface Ways {
  readonly phones: readonly Provider[]
  readonly bank: boolean
  readonly card: boolean
}

/** The invoice, and how it can be paid. `problem`: why what was sent is not taken; `phone`: what was sent. */
export function invoicePage(shown: Shown, ways: Ways, problem = '', phone = ''): string {
  const { invoice, path } = shown
  const money = moneyOf(invoice)
  const items = invoice.items.slice(0, shownItems).map((stored) => {
    const { description, amount } = itemFrom(stored)
    return html`<tr><td>${cut(description, shownCharacters)}<td class="n">${money(amount)}`
  })
  const more = invoice.items.length - items.length
  return page(
    shown,
    html`<table>${items}${more > 0 ? html`<tr><td colspan="2">and ${String(more)} more, see the PDF` : []}
${invoice.discount_total > 0n ? html`<tr><td>Discount<td class="n">-${money(invoice.discount_total)}` : []}
${invoice.tax_total > 0n ? html`<tr><td>Tax${invoice.tax_inclusive ? ' (included)' : ''}<td class="n">${money(invoice.tax_total)}` : []}
<tr class="t"><td>Total<td class="n">${money(invoice.total)}
${invoice.amount_paid > 0n ? html`<tr><td>Paid<td class="n">${money(invoice.amount_paid)}` : []}
${invoice.amount_refunded > 0n ? html`<tr><td>Refunded<td class="n">${money(invoice.amount_refunded)}` : []}</table>
${invoice.notes === null ? [] : html`<p>${cut(invoice.notes, shownNotes)}</p>`}
${standing(shown, ways, problem, phone)}
<p><a href="${path}/invoice.pdf">PDF</a></p>`,
  )
}

/** How a payment is going; looks again by itself until it is over. */
export function statusPage(shown: Shown, payment: PaymentRow): string {
  const { path } = shown
  const { status, failure_message, provider_reference } = recordOf(payment)
  const back = html`<p><a href="${path}">Back to the invoice</a></p>`
  if (underWay.includes(status)) return waitingPage(shown, payment)
  if (status === 'completed')
    return page(
      shown,
      html`<h2>Paid, thank you</h2>${provider_reference === null ? [] : html`<p>Receipt ${provider_reference}</p>`}${back}`,
    )
  return page(
    shown,
    html`<h2>It was not paid</h2><p class="e">${failure_message ?? 'The payment was cancelled.'}</p><p><a href="${path}">Try again</a></p>`,
  )
}

/** What the payer has to do. */
function waitingPage(shown: Shown, payment: PaymentRow): string {
  const amount = moneyOf(shown.invoice)(payment.amount)
  const again = html`<meta http-equiv="refresh" content="${String(refreshSeconds)}">`
  const { redirect_url, bank_transfer } = recordOf(payment)
  if (redirect_url !== undefined) {
    // The path alone: whoever sees this page is on the machine that serves the other one.
    const { pathname } = new URL(redirect_url)
    return page(
      shown,
      html`<h2>Your bank wants to know that it is you</h2><p><a href="${pathname}">Go on to your bank</a>. It sends you back here.</p>`,
      html`<meta http-equiv="refresh" content="0; url=${pathname}">`,
    )
  }
  if (bank_transfer)
    return page(
      shown,
      html`<h2>Pay into this account</h2><table><tr><td>Bank<td>${bank_transfer.bank_name}
<tr><td>Account<td class="o">${bank_transfer.account_number}<tr><td>Name<td>${bank_transfer.account_name}
<tr><td>Amount<td class="o">${amount}</table>
<p>Pay exactly this amount, once, until ${bank_transfer.expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC. The account is for this invoice alone. This page follows by itself.</p>`,
      html`<meta http-equiv="refresh" content="${String(transferRefreshSeconds)}">`,
    )
  if (payment.method === 'bank_transfer')
    return page(
      shown,
      html`<h2>One moment</h2><p>The bank opens an account for you. This page follows by itself.</p>`,
      again,
    )
  if (payment.method === 'card')
    return page(
      shown,
      html`<h2>One moment</h2><p>Your bank is being asked for ${amount}. This page follows by itself.</p>`,
      again,
    )
  return page(
    shown,
    html`<h2>Look at your phone</h2><p>Approve ${amount} on ${endOf(payment)} with your PIN. This page follows by itself.</p>`,
    again,
  )
}

/** Why there is nothing to see, or nothing can be done just now. */
export function refusalPage(title: string, why: string): string {
  return document(title, html`<h1>${title}</h1><p>${why}</p>`)
}

function standing({ invoice, path }: Shown, ways: Ways, problem: string, phone: string): Html {
  const due = dueOf(invoice)
  if (invoice.status === 'paid') return html`<p class="o">Paid. Nothing more is due.</p>`
  if (invoice.status === 'void') return html`<p class="o">This invoice was withdrawn. Nothing is to be paid.</p>`
  if (ways.phones.length === 0 && !ways.bank && !ways.card)
    return html`<p>${moneyOf(invoice)(due)} is due. It cannot be paid on this page; ask who sent it to you.</p>`
  const amount = moneyOf(invoice)(due)
  return html`${problem === '' ? [] : html`<p class="e" role="alert">${problem}</p>`}
${ways.phones.length > 0 ? phoneForm(path, ways.phones, amount, phone) : []}
${ways.card ? cardForm(path, amount) : []}
${ways.bank ? bankForm(path, amount) : []}`
}

function phoneForm(path: string, phones: readonly Provider[], amount: string, phone: string): Html {
  const names = [...new Map(phones.map(({ provider, name }) => [provider, name]))]
  const options = names.map(([provider, name]) => html`<option value="${provider}">${name}</option>`)
  return html`<form method="post" action="${path}"><label>Phone number with mobile money
<input name="phone" type="tel" autocomplete="tel" required maxlength="24" value="${phone}"></label>
<label>Provider<select name="provider"><option value="">By my number</option>${options}</select></label>
<button>Pay ${amount}</button></form>`
}

/** What was written into it is never shown again. */
function cardForm(path: string, amount: string): Html {
  return html`<form method="post" action="${path}"><h2>By card</h2><input type="hidden" name="method" value="card">
<label>Card number<input name="number" inputmode="numeric" autocomplete="cc-number" required maxlength="30"></label>
<label>Month and year<input name="expiry" placeholder="12/30" autocomplete="cc-exp" required maxlength="9"></label>
<label>Security code<input name="cvv" inputmode="numeric" autocomplete="cc-csc" required maxlength="4"></label>
<button>Pay ${amount} by card</button></form>`
}

function bankForm(path: string, amount: string): Html {
  return html`<form method="post" action="${path}"><h2>By bank transfer</h2><input type="hidden" name="method" value="bank_transfer">
<button>Show me where to transfer ${amount}</button></form>`
}

function page({ invoice, accountName }: Shown, body: Html, head: Html | readonly Html[] = []): string {
  const { name } = invoice.customer
  return document(
    `${accountName}: ${invoice.number}`,
    html`<h1>${accountName}</h1><p>Invoice ${invoice.number ?? ''}${name === undefined ? '' : ` for ${name}`}, due ${invoice.due_date}${invoice.environment === 'test' ? '. A test: no real money' : ''}</p>${body}`,
    head,
  )
}

const style = html`body{font:1.1rem/1.5 sans-serif;margin:1.5rem auto;max-width:30rem;padding:0 1rem;color:#111;background:#fff}
h1{font-size:1.4rem;margin:0}h1,td,p{overflow-wrap:anywhere}table{width:100%;border-collapse:collapse}td{padding:.3rem 0;border-bottom:1px solid #ddd;vertical-align:top}
.n{text-align:right;white-space:nowrap;padding-left:1rem}.t{font-weight:bold}.e{color:#a00}.o{font-weight:bold}
label{display:block;margin:.8rem 0}input,select,button{font:inherit;width:100%;padding:.6rem;box-sizing:border-box}button{background:#064;color:#fff;border:0}`

function document(title: string, body: Html, head: Html | readonly Html[] = []): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">${head}<title>${title}</title><style>${style}</style>
<main>${body}</main></html>
`.text
}

function moneyOf({ currency }: InvoiceRow): (micros: bigint) => string {
  const known: Currency = currencyOf(currency)
  return (micros) => formatMoney({ micros, currency: known })
}

function endOf({ phone }: PaymentRow): string {
  return phone === null ? 'your phone' : `…${phone.slice(-3)}`
}

/** By characters, so that none is cut in two. */
function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}
