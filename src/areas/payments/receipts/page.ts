// SPDX-License-Identifier: Apache-2.0
// The receipt of a completed payment, as a page that every phone can show: no script, no picture, no cookie. Whoever has
// the address sees it, so that it says no more of the payer than the end of the number.
import type { FastifyInstance } from 'fastify'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { html } from '../../../platform/web/html.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { givePage, notice, type Page } from '../../../platform/web/shell.ts'
import { currencyOf } from '../input.ts'
import { nameOfProvider } from '../mobile-money/providers.ts'
import type { PaymentRow } from '../store.ts'
import { receiptNamed } from './address.ts'

type Shown = Pick<
  PaymentRow,
  | 'id'
  | 'environment'
  | 'method'
  | 'provider'
  | 'amount'
  | 'currency'
  | 'phone'
  | 'description'
  | 'reference'
  | 'provider_reference'
  | 'refunded'
  | 'completed_at'
> & { account_name: string; time_zone: string }

const findReceipt = statement<{ bucket: number; token: Buffer }, Shown>(
  'payments.find_receipt',
  `select id, environment, method, provider, amount, currency, phone, description, reference, provider_reference, refunded,
          completed_at, accounts.name_of(account_id) as account_name, accounts.timezone_of(account_id) as time_zone
     from payments.payments where bucket = $bucket and receipt_token = $token and status = 'completed'`,
)

export function mountReceipts(http: FastifyInstance, app: App): void {
  http.get<{ Params: { name: string } }>('/r/:name', { config: { open: true } }, async (request, reply) => {
    const named = receiptNamed(request.params.name)
    const payment = named && (await maybe(app.db.query(findReceipt, named)))
    if (!payment) {
      const content = notice(
        'bad',
        'No such page',
        html`<p>There is no receipt under this address. Check the link.</p>`,
      )
      return givePage(reply, 404, { title: 'No such page', content })
    }
    const reader = readerOf(request.headers['accept-language'], payment.time_zone)
    return givePage(reply, 200, pageOf(payment, reader))
  })
}

function pageOf(payment: Shown, reader: Reader): Page {
  const currency = currencyOf(payment.currency)
  const money = (micros: bigint): string => reader.money({ micros, currency })
  const { completed_at, refunded, amount } = payment
  const rows: readonly (readonly [string, string | null])[] = [
    ['Paid on', completed_at && reader.moment(completed_at)],
    ['For', payment.description],
    ['Paid with', nameOfProvider(payment.provider) ?? words(payment.provider)],
    ['From', payment.phone && `ends in ${payment.phone.slice(-3)}`],
    ['Reference', payment.reference],
    ['Provider’s receipt', payment.provider_reference],
    ['Given back', refunded === 0n ? null : money(refunded)],
    ['Payment', idOf('payment', payment.id)],
  ]
  const shown = rows.filter(([, value]) => value !== null && value !== '')
  const state = refunded === 0n ? 'Paid' : refunded < amount ? 'Paid, part of it given back' : 'Given back'
  const content = html`<p class="${refunded === 0n ? 'good' : 'soft'}">${state}</p>
<h1 class="amount">${money(amount)}</h1>
<table class="facts">${shown.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value ?? ''}</td></tr>\n`)}</table>`
  return { title: 'Receipt', from: payment.account_name, isTest: payment.environment === 'test', content }
}

/** `bank transfer` */
function words(name: string): string {
  return name.replaceAll('_', ' ')
}
