// SPDX-License-Identifier: Apache-2.0
// Receipt page of a completed payment, for every phone: no script, no picture, no cookie. Its address is the only
// authorisation, so it shows no more of the payer than the end of the phone number.

import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { least } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { hook, pagesPerAddress } from '../../../platform/api/hook.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { refusalPage } from '../../../platform/web/refusal.ts'
import { secretNamed } from '../../../platform/web/secret-name.ts'
import { type Page, page } from '../../../platform/web/shell.ts'
import { providerNamed } from '../methods/mobile-money-providers.ts'
import type { PaymentRow } from '../records/store.ts'
import { backWithPayer } from '../refunds/store.ts'
import { receiptTexts } from './receipt-texts.ts'

type Found = Pick<
  PaymentRow,
  | 'bucket'
  | 'account_id'
  | 'environment'
  | 'id'
  | 'method'
  | 'provider'
  | 'amount'
  | 'currency'
  | 'phone'
  | 'description'
  | 'reference'
  | 'provider_reference'
  | 'completed_at'
> & { account_name: string; brand: Brand; time_zone: string }

/** Receipt with the refunded amount; pending refunds do not count, they may fail. */
type Shown = Found & { givenBack: bigint }

const findReceipt = statement.tenant<{ bucket: number; token: Buffer }, Found>(
  'payments.find_receipt',
  `select bucket, account_id, environment, id, method, provider, amount, currency, phone, description, reference,
          provider_reference, completed_at, accounts.name_of(account_id) as account_name,
          accounts.brand_of(account_id) as brand, accounts.timezone_of(account_id) as time_zone
     from payments.payments where bucket = $bucket and receipt_token = $token and status = 'completed'`,
)

export const receiptHook = hook({
  methods: ['GET', 'HEAD'],
  path: '/r/:name',
  operation: 'payments.showReceipt',
  summary: 'A payer looks at a receipt',
  maxBytes: 1,
  limits: [pagesPerAddress],
  handle: async (app, call) => {
    const named = secretNamed(call.params.name)
    const payment = named && (await maybe(app.db.query(findReceipt, named)))
    if (!payment) throw new AppError('NOT_FOUND', 'there is no such receipt')
    const back = await one(app.db.query(backWithPayer, { ...tenantOf(payment), payment: payment.id }))
    const reader = readerOf(askedBy(call), payment.time_zone)
    return page(200, pageOf({ ...payment, givenBack: least(back.amount, payment.amount) }, reader))
  },
  refused: (_app, call, error) => refusalPage(call, error, ({ words }) => words(receiptTexts)('noReceipt')),
})

function pageOf(payment: Shown, reader: Reader): Page {
  const currency = currencyOf(payment.currency)
  const money = (micros: bigint): string => reader.money({ micros, currency })
  const say = reader.words(receiptTexts)
  const { completed_at, givenBack, amount, phone } = payment
  const rows: readonly (readonly [string, string | null])[] = [
    [say('paidOn'), completed_at && reader.moment(completed_at)],
    [say('for'), payment.description],
    [say('paidWith'), wayOf(payment, reader)],
    [say('from'), phone && say('endsIn', { digits: phone.slice(-3) })],
    [say('reference'), payment.reference],
    [say('providersReceipt'), payment.provider_reference],
    [say('givenBack'), givenBack === 0n ? null : money(givenBack)],
    [say('payment'), idOf('payment', payment.id)],
  ]
  const shown = rows.filter(([, value]) => value !== null && value !== '')
  const state = say(givenBack === 0n ? 'paid' : givenBack < amount ? 'partlyGivenBack' : 'givenBack')
  const content = html`<p class="${givenBack === 0n ? 'good' : 'soft'}">${state}</p>
<h1 class="amount">${money(amount)}</h1>
${brandLines(payment.brand, say('taxNumber'))}<table class="facts">${shown.map(([name, value]) => html`<tr><th scope="row">${name}</th><td><bdi>${value ?? ''}</bdi></td></tr>\n`)}</table>`
  const { account_name: from, brand, environment } = payment
  return { title: say('receipt'), language: reader.language, from, brand, isTest: environment === 'test', content }
}

/** Account that was paid, as it is known to the payer. */
function brandLines({ address, tax_number: number }: Brand, taxNumber: string): Html | null {
  const lines = [...(address?.split('\n') ?? []), ...(number === undefined ? [] : [`${taxNumber} ${number}`])]
  return lines.length === 0 ? null : html`<p class="soft">${lines.map((line) => html`<bdi>${line}</bdi><br>`)}</p>`
}

/** The name of who took the money, which is the same in every language, or of the way that it came. */
function wayOf({ provider, method }: Shown, reader: Reader): string {
  const say = reader.words(receiptTexts)
  const way = { card: say('card'), bank_transfer: say('bank'), mobile_money: words(provider) }[method]
  return providerNamed(provider)?.name ?? way
}

/** `bank transfer` */
function words(name: string): string {
  return name.replaceAll('_', ' ')
}
