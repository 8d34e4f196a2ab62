// SPDX-License-Identifier: Apache-2.0
// What a payer sees: the invoice with a form to pay it, and how a payment is going. One document without scripts or images,
// below 30 KB whatever the invoice holds, because it is read on slow phones; all of the invoice is in its PDF.

import { currencyOf } from '../../../platform/currencies.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Words } from '../../../platform/web/language.ts'
import type { Reader } from '../../../platform/web/reader.ts'
import { notice, type Page } from '../../../platform/web/shell.ts'
import {
  failureSentence,
  type PaymentRow,
  providerNamed,
  recordOf,
  underWay,
  type WaysToPay,
} from '../../payments/area.ts'
import { dueOf, itemFrom } from './invoice.ts'
import { invoiceTexts } from './page-texts.ts'
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
  readonly brand: Brand
  /** The path of the page, without a trailing slash. */
  readonly path: string
  /** Who looks at it. */
  readonly reader: Reader
  /** The language that the address asked for, as the end of the next address: `?lang=fr`, or nothing. */
  readonly lang: string
}

type Say = Words<keyof typeof invoiceTexts>

/** What was sent and is not taken: by which way, why, and the phone number as it was written. */
export interface Problem {
  readonly method: string
  readonly sentence: string
  readonly phone: string
}

/** The invoice, and how it can be paid. */
export function invoicePage(shown: Shown, ways: WaysToPay, problem: Problem | null = null): Page {
  const { invoice, path } = shown
  const money = moneyOf(shown)
  const say = sayOf(shown)
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
<table>${items}${more > 0 && html`<tr><th colspan="2">${say('more', { count: more })}</th></tr>`}
${discount > 0n && sum(say('discount'), -discount)}
${tax > 0n && sum(say(invoice.tax_inclusive ? 'taxIncluded' : 'tax'), tax)}
${sum(say('total'), invoice.total, 'total')}
${credit > 0n && sum(say('credit'), -credit)}
${paid - credit > 0n && sum(say('paid'), paid - credit)}
${invoice.amount_refunded > 0n && sum(say('refunded'), invoice.amount_refunded)}</table>
${invoice.notes !== null && html`<p class="soft">${cut(invoice.notes, shownNotes)}</p>`}
${isPayable(invoice) && waysToPay(shown, ways, problem)}
<footer><a href="${path}/invoice.pdf">${say('pdf')}</a></footer>`,
  )
}

/** How a payment is going; looks again by itself until it is over. */
export function statusPage(shown: Shown, payment: PaymentRow): Page {
  const { path, lang, reader } = shown
  const say = sayOf(shown)
  const { status, failure_reason, provider_reference } = recordOf(payment)
  if (underWay.includes(status)) return waitingPage(shown, payment)
  if (status === 'completed') {
    const arrived = say('arrived', { amount: moneyOf(shown)(payment.amount) })
    const receipt = provider_reference && ` ${say('receipt', { number: reader.leftToRight(provider_reference) })}`
    return page(
      shown,
      html`${notice('good', say('thanks'), html`<p>${arrived}${receipt}</p>`)}
<footer>${receiptLink(say, payment, lang)}<a href="${path}${lang}">${say('back')}</a></footer>`,
    )
  }
  const why = failureSentence(reader, failure_reason) ?? say('cancelled')
  return page(
    shown,
    notice(
      'bad',
      say('notPaid'),
      html`<p>${why}</p><p><a class="button" href="${path}${lang}">${say('again')}</a></p>`,
    ),
  )
}

/** The path alone: whoever sees this page is on the machine that serves the receipt. */
function receiptLink(say: Say, { receipt_url: url }: PaymentRow, lang: string): Html | null {
  return url === null ? null : html`<a href="${new URL(url).pathname}${lang}">${say('receiptPage')}</a> · `
}

/** What the payer has to do. */
function waitingPage(shown: Shown, payment: PaymentRow): Page {
  const { path, lang, reader } = shown
  const say = sayOf(shown)
  const amount = moneyOf(shown)(payment.amount)
  const { redirect_url, bank_transfer } = recordOf(payment)
  if (redirect_url !== undefined) {
    // The path alone: whoever sees this page is on the machine that serves the other one.
    const there = `${new URL(redirect_url).pathname}${lang}`
    const isCard = payment.method === 'card'
    const provider = providerNamed(payment.provider)?.name ?? payment.provider
    const goOn = isCard ? say('goToBank') : say('goToProvider', { provider })
    const content = html`<p>${say('sendsBack')}</p><p><a class="button" href="${there}">${goOn}</a></p>`
    const title = isCard ? say('bankAsks') : say('paidOnPage', { provider })
    return page(shown, notice('waiting', title, content), { seconds: 0, path: there })
  }
  if (bank_transfer) {
    const fact = (name: string, value: Html) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`
    return page(
      shown,
      html`<h1>${say('payInto')}</h1>
<table class="facts">${fact(say('bank'), html`${bank_transfer.bank_name}`)}
${fact(say('account'), html`<strong dir="ltr">${bank_transfer.account_number}</strong>`)}
${fact(say('accountName'), html`${bank_transfer.account_name}`)}
${fact(say('amount'), html`<strong>${amount}</strong>`)}</table>
<p>${say('payExactly', { moment: reader.moment(bank_transfer.expires_at) })}</p>
<p class="soft">${say('showsArrival')}</p>
<footer><a href="${path}${lang}">${say('anotherWay')}</a></footer>`,
      { seconds: transferRefreshSeconds },
    )
  }
  const [title, what] = whatHappens(say, shown.reader, payment, amount)
  return page(
    shown,
    notice('waiting', title, html`<p role="status">${what}</p><p class="soft">${say('followsItself')}</p>`),
    { seconds: refreshSeconds },
  )
}

function whatHappens(
  say: Say,
  reader: Reader,
  { method, phone, provider }: PaymentRow,
  amount: string,
): readonly [title: string, what: string] {
  switch (method) {
    case 'bank_transfer':
      return [say('oneMoment'), say('bankOpens')]
    case 'card':
      return [say('oneMoment'), say('cardAsked', { amount })]
    default: {
      if (providerNamed(provider)?.confirmsOnPage)
        return [say('oneMoment'), say('pageAsked', { provider: providerNamed(provider)?.name ?? provider })]
      const there = phone === null ? say('yourPhone') : reader.leftToRight(`…${phone.slice(-3)}`)
      return [say('lookAtPhone'), say('approve', { amount, phone: there })]
    }
  }
}

/** Why there is nothing to see, or nothing can be done just now. */
export function refusalPage({ language }: Reader, title: string, why: string): Page {
  return { title, language, content: notice('bad', title, html`<p>${why}</p>`) }
}

function isPayable({ status }: InvoiceRow): boolean {
  return status !== 'paid' && status !== 'void'
}

/** What the invoice comes to now, above all of it. */
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

function waysToPay(shown: Shown, ways: WaysToPay, problem: Problem | null): Html {
  const { path, lang } = shown
  const say = sayOf(shown)
  const amount = moneyOf(shown)(dueOf(shown.invoice))
  const offered = [
    ...(ways.phones.length > 0 ? [phoneWay(say, ways.phones, amount, phoneHint(shown))] : []),
    ...(ways.card ? [cardWay(say, amount, cardHint(shown))] : []),
    ...(ways.bank ? [bankWay(say, amount)] : []),
  ]
  const [first] = offered
  const said = problem && html`<p class="problem" role="alert" id="problem">${problem.sentence}</p>`
  if (first === undefined) return html`${said}<p>${say('cannotBePaid')}</p>`
  // What cannot be said beside a form is said above all of them.
  const met = offered.find(({ method }) => method === problem?.method)
  const open = met ?? first
  return html`<h2>${say('pay')}</h2>${met === undefined && said}
${offered.map(
  (way) => html`<details name="way"${way === open && html` open`}><summary>${way.title}</summary>
<form method="post" action="${path}${lang}"><input type="hidden" name="method" value="${way.method}">${way === met && said}${way.fields(way === met ? problem : null)}</form></details>
`,
)}`
}

interface Way {
  readonly method: string
  readonly title: Html
  /** What the form asks for, and its button. */
  fields(problem: Problem | null): Html
}

/** Numbers of the sandbox, on pages of which nothing is in earnest. */
function phoneHint({ invoice, reader }: Shown): Html | null {
  if (invoice.environment !== 'test') return null
  const [paid, poor, silent] = ['0001', '0002', '0003'].map((end) => reader.leftToRight(`…${end}`))
  const numbers = { paid: paid ?? '', poor: poor ?? '', silent: silent ?? '' }
  return html`<p class="soft">${reader.words(invoiceTexts)('tryPhones', numbers)}</p>`
}

function cardHint({ invoice, reader }: Shown): Html | null {
  if (invoice.environment !== 'test') return null
  const cards = {
    // Four times the same: whatever a payer types stands nowhere on the page again, not even by chance.
    paid: reader.leftToRight('4242 × 4'),
    declined: reader.leftToRight('4000 0000 0000 0002'),
  }
  return html`<p class="soft">${reader.words(invoiceTexts)('tryCards', cards)}</p>`
}

function phoneWay(say: Say, phones: readonly WaysToPay['phones'][number][], amount: string, hint: Html | null): Way {
  const names = [...new Map(phones.map(({ provider, name }) => [provider, name]))]
  const options = names.map(([provider, name]) => html`<option value="${provider}">${name}</option>`)
  return {
    method: 'mobile_money',
    title: html`${say('mobileMoney')} <span>${names.map(([, name]) => name).join(', ')}</span>`,
    fields: (problem) => html`<label>${say('phone')}
<input name="phone" type="tel" dir="ltr" autocomplete="tel" required maxlength="24" value="${problem?.phone ?? ''}"${wrong(problem)}></label>
${hint}<label>${say('provider')}<select name="provider"><option value="">${say('providerFound')}</option>${options}</select></label>
<button>${say('payAmount', { amount })}</button>`,
  }
}

/** What was written into it is never shown again. */
function cardWay(say: Say, amount: string, hint: Html | null): Way {
  return {
    method: 'card',
    title: html`${say('card')}`,
    fields: (problem) => html`<label>${say('cardNumber')}
<input name="number" dir="ltr" inputmode="numeric" autocomplete="cc-number" required maxlength="30"${wrong(problem)}></label>${hint}
<div class="pair"><label>${say('expiry')}<input name="expiry" dir="ltr" inputmode="numeric" placeholder="12/30" autocomplete="cc-exp" required maxlength="9"></label>
<label>${say('securityCode')}<input name="cvv" dir="ltr" inputmode="numeric" autocomplete="cc-csc" required maxlength="4"></label></div>
<button>${say('payByCard', { amount })}</button>`,
  }
}

function bankWay(say: Say, amount: string): Way {
  return {
    method: 'bank_transfer',
    title: html`${say('bankTransfer')}`,
    fields: () => html`<p class="soft">${say('transferHow', { amount })}</p>
<button>${say('transferWhere')}</button>`,
  }
}

function wrong(problem: Problem | null): Html | null {
  return problem && html` aria-invalid="true" aria-describedby="problem" autofocus`
}

function page({ invoice, accountName, brand, reader }: Shown, content: Html, next?: NonNullable<Page['next']>): Page {
  const title = `${accountName}: ${invoice.number}`
  const isTest = invoice.environment === 'test'
  return { title, language: reader.language, from: accountName, brand, isTest, content, ...(next ? { next } : {}) }
}

function moneyOf({ invoice, reader }: Shown): (micros: bigint) => string {
  const currency = currencyOf(invoice.currency)
  return (micros) => reader.money({ micros, currency })
}

function sayOf({ reader }: Shown): Say {
  return reader.words(invoiceTexts)
}

/** By characters, so that none is cut in two. */
function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}
