// SPDX-License-Identifier: Apache-2.0
// Routes that only cards have: taking what was set aside, and the cards that were saved.

import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { currencyOf, microsOf } from '../../../ledger/currencies.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { AmountIn, At, listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { capture, card } from '../methods/card.ts'
import { amendAmount, askCapture, deleteToken, listTokens, type TokenRow } from '../methods/card-store.ts'
import { CardShown } from '../providers/card.ts'
import { Customer, Payment } from '../records/events.ts'
import { noSuchPayment, paymentUuid, recordOf } from '../records/payment.ts'
import { attemptOfPayment, findPayment, lockPayment, type PaymentRow, restartPolls } from '../records/store.ts'
import { feePart } from '../refunds/refund.ts'
import { settle } from './settle.ts'
import { watchJob } from './submit.ts'

const capturePayment = write({
  method: 'POST',
  path: '/v1/payments/:payment_id/capture',
  operation: 'payments.capture',
  summary: 'Capture an authorized card payment',
  description:
    'Charges the reserved amount of a payment created with `capture: false`, or a part of it. The rest is released; a payment is captured once.',
  scope: 'payments:write',
  limit: 'payments',
  params: Type.Object({ payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }) }),
  body: Type.Object({ amount: Type.Optional(AmountIn({ description: 'Amount to capture; default all of it' })) }),
  reply: { status: 200, schema: Payment },
  errors: ['NOT_FOUND', 'INVALID_STATE', 'VALIDATION_ERROR', 'AMOUNT_TOO_HIGH'],
  handle: async (app, tx, { params, body }, caller) => {
    const payment = recordOf(await planCapture(app, tx, caller, paymentUuid(params.payment_id), body.amount))
    await record(tx, caller, 'payment.capture', payment.payment_id, { after: { status: payment.status } })
    return payment
  },
  follow: async (app, _input, { tenant }, reply) =>
    recordOf(await captureNow(app, tenant, paymentUuid(reply.payment_id))),
})

/** Stores the amount to capture, and the job that captures it if this node dies first. */
async function planCapture(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Caller,
  id: string,
  given: number | string | undefined,
): Promise<PaymentRow> {
  const payment = await maybe(tx.query(lockPayment, { ...tenant, id }))
  if (!payment) throw noSuchPayment()
  const { status, details, amount: authorised } = payment
  const at = new Date(nowMs)
  // Past its time the acquirer may have given it up already, and the payment soon is.
  const isAuthorised = status === 'processing' && nowMs < Date.parse(details.authorised_until ?? '')
  const isFirst = isAuthorised && (await tx.query(askCapture, { ...tenant, payment: id, at })).length > 0
  if (!isFirst)
    throw new AppError('INVALID_STATE', `the payment is ${status}, and has no reserved amount`, {
      extra: { status },
    })
  const currency = currencyOf(payment.currency)
  const amount = given === undefined ? authorised : microsOf('amount', given, currency)
  if (amount > authorised)
    throw new AppError('AMOUNT_TOO_HIGH', `${currency} ${formatMicros(authorised)} is set aside`, {
      extra: { max_amount: Number(formatMicros(authorised)), currency },
    })
  // The fee stays the one it was accepted with.
  const fee = feePart(payment, amount, currency)
  const changed = { authorised_until: null, amount_authorised: String(authorised) }
  await tx.query(amendAmount, { ...tenant, payment: id, amount, fee, details: JSON.stringify(changed), at })
  await tx.query(restartPolls, { ...tenant, payment: id, at: new Date(app.clock.nowMs()) })
  const { id: attempt } = await one(tx.query(attemptOfPayment, { ...tenant, payment: id }))
  const delayMs = card.polls[0] * 1_000 * gatewayOf(app).timeScale(tenant.environment)
  await app.work.add(tx, app.work.prepare(watchJob, tenant, { attempt, inline: true }, { delayMs }))
  return one(tx.query(lockPayment, { ...tenant, id }))
}

async function captureNow(app: App, tenant: Tenant, id: string): Promise<PaymentRow> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id }))
  const attempt = await one(app.db.query(attemptOfPayment, { ...tenant, payment: id }))
  return settle(app, tenant, attempt, await capture(app, tenant, attempt, payment))
}

const SavedCard = Type.Object(
  {
    card_token: Type.String({ description: 'Token of the card, such as `tok_…`' }),
    ...CardShown.properties,
    customer: Customer,
    created_at: At({ description: 'Time of saving' }),
  },
  { title: 'SavedCard' },
)

const savedCards = list({
  path: '/v1/payments/cards',
  operation: 'payments.listCards',
  summary: 'List saved cards',
  scope: 'payments:read',
  query: Type.Object({
    ...listQuery,
    customer_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Filter by your own id for the customer, as in the payment that saved the card',
      }),
    ),
  }),
  row: SavedCard,
  examples: [{ name: 'All of them' }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const customer = query.customer_id ?? null
    return pageOf(window, await app.db.query(listTokens, { ...tenant, ...window, customer }), savedOf)
  },
})

const forgetCard = write({
  method: 'DELETE',
  path: '/v1/payments/cards/:card_token',
  operation: 'payments.deleteCard',
  summary: 'Delete a saved card',
  scope: 'payments:write',
  limit: 'payments',
  params: Type.Object({ card_token: Type.String({ description: 'Token of the card, such as `tok_…`' }) }),
  reply: { status: 200, schema: SavedCard },
  errors: ['NOT_FOUND'],
  needs: {
    operation: 'payments.create',
    id: 'card_token',
    body: {
      amount: 5,
      currency: 'KES',
      card: { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' },
      save_card: true,
    },
  },
  handle: async (_app, tx, { params }, caller) => {
    const id = uuidOf('cardToken', params.card_token)
    const row = id === null ? null : await maybe(tx.query(deleteToken, { ...caller.tenant, id }))
    if (!row) throw new AppError('NOT_FOUND', 'there is no such card; the ids of saved cards begin with tok_')
    await record(tx, caller, 'payment.delete_card', params.card_token, { after: {} })
    return savedOf(row)
  },
})

function savedOf({ id, brand, last4, exp_month, exp_year, customer, created_at }: TokenRow): Static<typeof SavedCard> {
  return { card_token: idOf('cardToken', id), brand, last4, exp_month, exp_year, customer, created_at }
}

export const cardRoutes: readonly Route[] = [capturePayment, savedCards, forgetCard]
