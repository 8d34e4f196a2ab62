// SPDX-License-Identifier: Apache-2.0
// Pages of the hosted checkout: the forms, and the status of a payment. Documents without scripts or images, because
// they are read on slow phones.
import { exampleIn } from '../../../kernel/phone.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { Environment } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Words } from '../../../platform/web/language.ts'
import type { Reader } from '../../../platform/web/reader.ts'
import { notice, type Page } from '../../../platform/web/shell.ts'
import { providerNamed } from '../methods/mobile-money-providers.ts'
import type { WaysToPay } from '../methods/ways.ts'
import { failureSentence } from '../providers/failure-texts.ts'
import { recordOf } from '../records/payment.ts'
import { open, type PaymentRow } from '../records/store.ts'
import { checkoutTexts } from './texts.ts'

/** Interval at which a status page reloads. */
const refreshSeconds = 3
const transferRefreshSeconds = 10

/** Payment page: what is paid, and to whom. */
export interface Checkout {
  readonly title: string
  /** Amount due. */
  readonly amount: bigint
  readonly currency: string
  readonly environment: Environment
  /** Name of the account that is paid. */
  readonly accountName: string
  readonly brand: Brand
  /** The path of the page, without a trailing slash. */
  readonly path: string
  /** Language and time zone of the visitor. */
  readonly reader: Reader
  /** The language that the address asked for, as the end of the next address: `?lang=fr`, or nothing. */
  readonly lang: string
}

/** Refused form: its method, the reason, and the phone number as typed. */
export interface Problem {
  readonly method: string
  readonly sentence: string
  readonly phone: string
}

type Say = Words<keyof typeof checkoutTexts>

/** A page of the account that is paid. */
export function checkoutPage(shown: Checkout, content: Html, next?: NonNullable<Page['next']>): Page {
  const { title, accountName, brand, reader, environment } = shown
  const isTest = environment === 'test'
  return { title, language: reader.language, from: accountName, brand, isTest, content, ...(next ? { next } : {}) }
}

/** A form for each way to pay. `once` tells a form that is sent twice from another payer's. */
export function paymentForms(
  shown: Checkout,
  ways: WaysToPay,
  problem: Problem | null,
  once: string | null = null,
): Html {
  const { path, lang } = shown
  const say = sayOf(shown)
  const amount = moneyOf(shown)(shown.amount)
  const offered = [
    ...(ways.phones.length > 0 ? [phoneWay(say, ways.phones, amount, phoneHint(shown))] : []),
    ...(ways.card ? [cardWay(say, amount, cardHint(shown))] : []),
    ...(ways.bank ? [bankWay(say, amount)] : []),
  ]
  const [first] = offered
  const said = problem && html`<p class="problem" role="alert" id="problem">${problem.sentence}</p>`
  if (first === undefined) return html`${said}<p>${say('cannotBePaid')}</p>`
  // A problem that belongs to no form is shown above all of them.
  const met = offered.find(({ method }) => method === problem?.method)
  const shownFirst = met ?? first
  const hidden = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`
  return html`<h2>${say('pay')}</h2>${met === undefined && said}
${offered.map(
  (way) => html`<details name="way"${way === shownFirst && html` open`}><summary>${way.title}</summary>
<form method="post" action="${path}${lang}">${hidden('method', way.method)}${once !== null && hidden('once', once)}${way === met && said}${way.fields(way === met ? problem : null)}</form></details>
`,
)}`
}

/** Status of a payment; reloads until it is over. `back` is the link shown once it is paid. */
export function statusPage(shown: Checkout, payment: PaymentRow, back: Html | null): Page {
  const { path, lang, reader } = shown
  const say = sayOf(shown)
  const { status, failure_reason, provider_reference } = recordOf(payment)
  if (open.includes(status)) return waitingPage(shown, payment)
  if (status === 'completed') {
    const arrived = say('arrived', { amount: moneyOf(shown)(payment.amount) })
    const receipt = provider_reference && ` ${say('receipt', { number: reader.leftToRight(provider_reference) })}`
    return checkoutPage(
      shown,
      html`${notice('good', say('thanks'), html`<p>${arrived}${receipt}</p>`)}
<footer>${receiptLink(say, payment, lang)}${back !== null && html` · ${back}`}</footer>`,
    )
  }
  const why = failureSentence(reader, failure_reason) ?? say('cancelled')
  return checkoutPage(
    shown,
    notice(
      'bad',
      say('notPaid'),
      html`<p>${why}</p><p><a class="button" href="${path}${lang}">${say('again')}</a></p>`,
    ),
  )
}

/** Link to the receipt, as a path: the host of this page also serves it. */
function receiptLink(say: Say, { receipt_url: url }: PaymentRow, lang: string): Html | null {
  return url === null ? null : html`<a href="${new URL(url).pathname}${lang}">${say('receiptPage')}</a>`
}

/** Page that tells the payer what to do. */
function waitingPage(shown: Checkout, payment: PaymentRow): Page {
  const { path, lang, reader } = shown
  const say = sayOf(shown)
  const amount = moneyOf(shown)(payment.amount)
  const { redirect_url, bank_transfer } = recordOf(payment)
  if (redirect_url !== undefined) {
    // As a path: the host of this page also serves the other one.
    const there = `${new URL(redirect_url).pathname}${lang}`
    const isCard = payment.method === 'card'
    const provider = providerNamed(payment.provider)?.name ?? payment.provider
    const goOn = isCard ? say('goToBank') : say('goToProvider', { provider })
    const content = html`<p>${say('sendsBack')}</p><p><a class="button" href="${there}">${goOn}</a></p>`
    const title = isCard ? say('bankAsks') : say('paidOnPage', { provider })
    return checkoutPage(shown, notice('waiting', title, content), { seconds: 0, path: there })
  }
  if (bank_transfer) {
    const fact = (name: string, value: Html) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`
    return checkoutPage(
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
  // Only a phone is waited for by a payer who can still do something.
  const until =
    title === say('lookAtPhone') ? html`${say('approveUntil', { moment: reader.moment(payment.expires_at) })} ` : null
  return checkoutPage(
    shown,
    notice('waiting', title, html`<p role="status">${what}</p><p class="soft">${until}${say('followsItself')}</p>`),
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

interface Way {
  readonly method: string
  readonly title: Html
  /** Fields of the form, and its button. */
  fields(problem: Problem | null): Html
}

/** Numbers of the sandbox, on pages of which nothing is in earnest. */
function phoneHint({ environment, reader }: Checkout): Html | null {
  if (environment !== 'test') return null
  const [paid, poor, silent] = ['0001', '0002', '0003'].map((end) => reader.leftToRight(`…${end}`))
  const numbers = { paid: paid ?? '', poor: poor ?? '', silent: silent ?? '' }
  return html`<p class="soft">${reader.words(checkoutTexts)('tryPhones', numbers)}</p>`
}

function cardHint({ environment, reader }: Checkout): Html | null {
  if (environment !== 'test') return null
  const cards = {
    // Not written out: a card number that a payer typed must not appear on the page, not even by chance.
    paid: reader.leftToRight('4242 × 4'),
    declined: reader.leftToRight('4000 0000 0000 0002'),
  }
  return html`<p class="soft">${reader.words(checkoutTexts)('tryCards', cards)}</p>`
}

function phoneWay(say: Say, phones: WaysToPay['phones'], amount: string, hint: Html | null): Way {
  const names = [...new Map(phones.map(({ provider, name }) => [provider, name]))]
  const options = names.map(([provider, name]) => html`<option value="${provider}">${name}</option>`)
  const example = exampleIn(phones.map(({ country }) => country))
  const placeholder = example !== null && html` placeholder="${example}"`
  return {
    method: 'mobile_money',
    title: html`${say('mobileMoney')} <span>${names.map(([, name]) => name).join(', ')}</span>`,
    fields: (problem) => html`<label>${say('phone')}
<input name="phone" type="tel" dir="ltr" autocomplete="tel" required maxlength="24" value="${problem?.phone ?? ''}"${placeholder}${wrong(problem)}></label>
${hint}<label>${say('provider')}<select name="provider"><option value="">${say('providerFound')}</option>${options}</select></label>
<button>${say('payAmount', { amount })}</button>`,
  }
}

/** Card form. What was typed into it is never shown again. */
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

function moneyOf({ currency, reader }: Checkout): (micros: bigint) => string {
  const known = currencyOf(currency)
  return (micros) => reader.money({ micros, currency: known })
}

function sayOf({ reader }: Checkout): Say {
  return reader.words(checkoutTexts)
}
