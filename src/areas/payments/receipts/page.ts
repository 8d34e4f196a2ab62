// SPDX-License-Identifier: Apache-2.0
// The receipt of a completed payment, as a page that every phone can show: no script, no picture, no cookie. Whoever has
// the address sees it, so that it says no more of the payer than the end of the number.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { formatMoney } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { currencyOf } from '../input.ts'
import type { PaymentRow } from '../store.ts'
import { receiptNamed } from './address.ts'

const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
>

const findReceipt = statement<{ bucket: number; token: Buffer }, Shown>(
  'payments.find_receipt',
  `select id, environment, method, provider, amount, currency, phone, description, reference, provider_reference, refunded,
          completed_at
     from payments.payments where bucket = $bucket and receipt_token = $token and status = 'completed'`,
)

export function mountReceipts(http: FastifyInstance, app: App): void {
  http.get<{ Params: { name: string } }>('/r/:name', { config: { open: true } }, async (request, reply) => {
    const named = receiptNamed(request.params.name)
    const payment = named && (await maybe(app.db.query(findReceipt, named)))
    if (!payment) throw new AppError('NOT_FOUND', 'there is no receipt under this address')
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy,
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-cache',
      })
      .send(pageOf(payment))
  })
}

function pageOf(payment: Shown): string {
  const currency = currencyOf(payment.currency)
  const money = (micros: bigint): string => formatMoney({ micros, currency })
  const { completed_at, refunded, amount } = payment
  const rows: readonly (readonly [string, string | null])[] = [
    ['Paid on', completed_at && `${completed_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ['For', payment.description],
    ['Paid with', words(payment.provider)],
    ['From', payment.phone && `ends in ${payment.phone.slice(-3)}`],
    ['Reference', payment.reference],
    ['Provider’s receipt', payment.provider_reference],
    ['Given back', refunded === 0n ? null : money(refunded)],
    ['Payment', idOf('payment', payment.id)],
  ]
  const shown = rows.filter(([, value]) => value !== null && value !== '')
  const state = refunded === 0n ? 'Paid' : refunded < amount ? 'Paid, part of it given back' : 'Given back'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Receipt</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1rem;margin:0;font-weight:600}p.amount{font-size:2rem;margin:.25rem 0 1rem;font-weight:700}
p.test{background:#fff3cd;padding:.5rem .75rem}dl{margin:0}dt{color:#595959;font-size:.875rem}
dd{margin:0 0 .75rem;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}dt{color:#b0b0b0}p.test{color:#1a1a1a}}
</style></head><body><main>
${payment.environment === 'test' ? '<p class="test">This is a test. No money was moved.</p>\n' : ''}<h1>${state}</h1>
<p class="amount">${escaped(money(amount))}</p>
<dl>
${shown.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value ?? '')}</dd>`).join('\n')}
</dl></main></body></html>
`
}

/** `airtel money` */
function words(name: string): string {
  return name.replaceAll('_', ' ')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
