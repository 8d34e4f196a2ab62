// SPDX-License-Identifier: Apache-2.0
// Invoice page for payers: the invoice and its payment forms. One document without scripts or images, below 30 KB for
// any invoice, because it is read on slow phones; the PDF has all lines.
import { formatMicros } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Words } from '../../../platform/web/language.ts'
import type { Payable } from '../../payments/area.ts'
import { dueOf, itemFrom } from './invoice.ts'
import { invoiceTexts } from './page-texts.ts'
import type { InvoiceRow } from './store.ts'

/** Lines shown of a long invoice. */
const shownItems = 20
const shownCharacters = 100
const shownNotes = 500
/** A quantity that needs no words. */
const one = 1_000_000n

/** Invoice as a visitor of its page finds it. */
export interface Shown extends Payable {
  readonly invoice: InvoiceRow
}

type Say = Words<keyof typeof invoiceTexts>

/** Content of an invoice's page, with the forms to pay it. */
export function invoiceContent(shown: Shown, forms: Html): Html {
  const { invoice, path } = shown
  const money = moneyOf(shown)
  const say = sayOf(shown)
  const items = invoice.items.slice(0, shownItems).map((stored) => {
    const { description, quantity, unitAmount, amount } = itemFrom(stored)
    const each =
      quantity !== one && html`<br><span class="soft">${formatMicros(quantity)} × ${money(unitAmount)}</span>`
    return html`<tr><th scope="row">${cut(description, shownCharacters)}${each}</th><td>${money(amount)}</td></tr>`
  })
  const more = invoice.items.length - items.length
  const sum = (name: string, micros: bigint, kind = '') =>
    html`<tr class="${kind}"><th scope="row">${name}</th><td>${money(micros)}</td></tr>`
  const { discount_total: discount, tax_total: tax, amount_paid: paid, credit_applied: credit } = invoice
  return html`${standing(shown)}
<table>${items}${more > 0 && html`<tr><th colspan="2">${say('more', { count: more })}</th></tr>`}
${discount > 0n && sum(say('discount'), -discount)}
${tax > 0n && sum(say(invoice.tax_inclusive ? 'taxIncluded' : 'tax'), tax)}
${sum(say('total'), invoice.total, 'total')}
${credit > 0n && sum(say('credit'), -credit)}
${paid - credit > 0n && sum(say('paid'), paid - credit)}
${invoice.amount_refunded > 0n && sum(say('refunded'), invoice.amount_refunded)}</table>
${invoice.notes !== null && html`<p class="soft">${cut(invoice.notes, shownNotes)}</p>`}
${isPayable(invoice) && forms}
<footer><a href="${path}/invoice.pdf">${say('pdf')}</a></footer>`
}

/** Link back to the invoice after payment. */
export function backLink({ path, lang, reader }: Shown): Html {
  return html`<a href="${path}${lang}">${reader.words(invoiceTexts)('back')}</a>`
}

function isPayable({ status }: InvoiceRow): boolean {
  return status !== 'paid' && status !== 'void'
}

/** Amount and status at the top of the page. */
function standing(shown: Shown): Html {
  const { invoice, reader } = shown
  const { name } = invoice.customer
  const say = sayOf(shown)
  const number = reader.leftToRight(invoice.number ?? '')
  const title = name === undefined ? say('invoice', { number }) : say('invoiceFor', { number, name })
  const what = html`<p class="soft">${title}</p>`
  const money = moneyOf(shown)
  if (invoice.status === 'paid')
    return html`${what}<h1 class="amount">${money(invoice.total)}</h1><p class="good">${say('nothingDue')}</p>`
  if (invoice.status === 'void') return html`${what}<h1>${say('withdrawn')}</h1><p>${say('withdrawnWhy')}</p>`
  const due = say('due', { day: reader.day(invoice.due_date) })
  return html`${what}<h1 class="amount">${money(dueOf(invoice))}</h1><p>${due}</p>`
}

function moneyOf({ invoice, reader }: Shown): (micros: bigint) => string {
  const currency = currencyOf(invoice.currency)
  return (micros) => reader.money({ micros, currency })
}

function sayOf({ reader }: Shown): Say {
  return reader.words(invoiceTexts)
}

/** Cut by code points, so that no character is split. */
function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}
