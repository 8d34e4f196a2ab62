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

export interface Shown {
  readonly invoice: InvoiceRow
  /** Who sends the invoice. */
  readonly accountName: string
  /** The path of the page, without a trailing slash. */
  readonly path: string
}

/** The invoice, and how it can be paid. `problem`: why what was sent is not taken; `phone`: what was sent. */
export function invoicePage(shown: Shown, ways: readonly Provider[], problem = '', phone = ''): string {
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
${invoice.amount_paid > 0n ? html`<tr><td>Paid<td class="n">${money(invoice.amount_paid)}` : []}</table>
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
  if (underWay.includes(status))
    return page(
      shown,
      html`<h2>Look at your phone</h2><p>Approve ${moneyOf(shown.invoice)(payment.amount)} on ${endOf(payment)} with your PIN. This page follows by itself.</p>`,
      html`<meta http-equiv="refresh" content="${String(refreshSeconds)}">`,
    )
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

/** Why there is nothing to see, or nothing can be done just now. */
export function refusalPage(title: string, why: string): string {
  return document(title, html`<h1>${title}</h1><p>${why}</p>`)
}

function standing({ invoice, path }: Shown, ways: readonly Provider[], problem: string, phone: string): Html {
  const due = dueOf(invoice)
  if (invoice.status === 'paid') return html`<p class="o">Paid. Nothing more is due.</p>`
  if (invoice.status === 'void') return html`<p class="o">This invoice was withdrawn. Nothing is to be paid.</p>`
  if (ways.length === 0)
    return html`<p>${moneyOf(invoice)(due)} is due. It cannot be paid on this page; ask who sent it to you.</p>`
  const names = [...new Map(ways.map(({ provider, name }) => [provider, name]))]
  const options = names.map(([provider, name]) => html`<option value="${provider}">${name}</option>`)
  return html`${problem === '' ? [] : html`<p class="e" role="alert">${problem}</p>`}
<form method="post" action="${path}"><label>Phone number with mobile money
<input name="phone" type="tel" autocomplete="tel" required maxlength="24" value="${phone}"></label>
<label>Provider<select name="provider"><option value="">By my number</option>${options}</select></label>
<button>Pay ${moneyOf(invoice)(due)}</button></form>`
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
