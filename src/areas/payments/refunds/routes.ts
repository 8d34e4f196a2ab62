// SPDX-License-Identifier: Apache-2.0
// Routes of refunds.
import { type Static, Type } from 'typebox'
import { idOf, nilUuid, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { maybe, one } from '../../../platform/db.ts'
import { metadataQuery } from '../../../platform/metadata/filter.ts'
import { dayRangeQuery, listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import { WaitQuery } from '../records/accepting.ts'
import { Refund } from '../records/events.ts'
import { askedOf, methodQuery } from '../records/input.ts'
import { noSuchPayment, paymentUuid } from '../records/payment.ts'
import { findPayment } from '../records/store.ts'
import { acceptRefund, RefundCreate } from './create.ts'
import { noSuchRefund, refundOf, refundUuid } from './refund.ts'
import { findRefund, listRefunds, type RefundOfPayment } from './store.ts'
import { submitRefund } from './submit.ts'

/** Time that the reply waits for the provider's first answer. */
const budgetMs = 8_000

const create = write({
  method: 'POST',
  path: '/v1/payments/:transaction_id/refund',
  operation: 'refunds.create',
  summary: 'Refund a payment, in full or in part',
  description:
    'The amount is reserved in your wallet at once, and debited when the provider has refunded the payer (payment.refunded). If the refund fails, it is released (refund.failed).',
  scope: 'payments:write',
  limit: 'payments',
  params: Type.Object({
    transaction_id: Type.String({ description: 'Id of the payment or transaction, such as `pay_…` or `txn_…`' }),
  }),
  query: WaitQuery,
  body: RefundCreate,
  reply: {
    status: 201,
    schema: Refund,
    location: ({ refund_id }: Static<typeof Refund>) => `/v1/refunds/${refund_id}`,
  },
  errors: [
    'NOT_FOUND',
    'VALIDATION_ERROR',
    'REFUND_NOT_ALLOWED',
    'REFUND_EXCEEDS_PAYMENT',
    'INSUFFICIENT_WALLET_BALANCE',
    'DUPLICATE_REFERENCE',
    'PROVIDER_UNAVAILABLE',
  ],
  handle: async (app, tx, { params, query, body }, caller) => {
    const id = paymentUuid(params.transaction_id)
    const { refund, payment } = await acceptRefund(app, tx, id, body, caller, query.wait !== 0)
    const shown = refundOf(refund, payment)
    const { refund_id, payment_id, reason } = shown
    await record(tx, caller, 'refund.create', refund_id, {
      after: { payment_id, amount: formatMicros(refund.amount), currency: refund.currency, reason },
    })
    return shown
  },
  follow: (app, { query }, caller, reply) => (query.wait === 0 ? Promise.resolve(reply) : sendNow(app, caller, reply)),
})

const get = read({
  method: 'GET',
  path: '/v1/refunds/:refund_id',
  operation: 'refunds.get',
  summary: 'Get a refund',
  scope: 'payments:read',
  params: Type.Object({ refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }) }),
  reply: { status: 200, schema: Refund },
  errors: ['NOT_FOUND'],
  needs: { operation: 'refunds.create', id: 'refund_id' },
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findRefund, { ...tenant, id: refundUuid(params.refund_id) }))
    if (!row) throw noSuchRefund()
    return shownOf(row)
  },
})

const listAll = list({
  path: '/v1/refunds',
  operation: 'refunds.list',
  summary: 'List refunds',
  scope: 'payments:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(Refund.properties.status),
    payment_id: Type.Optional(Type.String({ maxLength: 40, description: 'Id of the payment, such as `pay_…`' })),
    reference: Type.Optional(Type.String({ maxLength: 100, description: 'Your own id for the refund' })),
    currency: Type.Optional(Type.String({ maxLength: 3, description: 'Currency of the amount, such as KES' })),
    method: methodQuery,
    provider: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Filter by provider: `mpesa`, `mtn_momo` and so on, `acquirer` for cards or `bank`',
      }),
    ),
    ...metadataQuery,
  }),
  row: Refund,
  errors: ['INVALID_DATE_RANGE'],
  examples: [
    { name: 'Completed refunds', query: { status: 'completed' } },
    { name: 'By your own id', query: { reference: 'return-77' } },
  ],
  handle: async (app, { query }, caller) => {
    const { tenant } = caller
    const window = windowOf(query)
    const rows = await app.db.query(listRefunds, {
      ...tenant,
      ...window,
      ...shownBounds(query, caller),
      ...askedOf(query),
      status: query.status ?? null,
      // A malformed payment id finds nothing.
      payment: query.payment_id === undefined ? null : (uuidOf('payment', query.payment_id) ?? nilUuid),
    })
    return pageOf(window, rows, shownOf)
  },
})

const ofPayment = list({
  path: '/v1/payments/:payment_id/refunds',
  operation: 'refunds.listOfPayment',
  summary: 'List the refunds of a payment',
  scope: 'payments:read',
  params: Type.Object({ payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }) }),
  query: Type.Object(listQuery),
  row: Refund,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, caller) => {
    const { tenant } = caller
    const payment = paymentUuid(params.payment_id)
    if (!(await maybe(app.db.query(findPayment, { ...tenant, id: payment })))) throw noSuchPayment()
    const window = windowOf(query)
    const anyOf = { ...tenant, ...window, ...shownBounds({}, caller), ...askedOf({}), status: null }
    const rows = await app.db.query(listRefunds, { ...anyOf, payment })
    return pageOf(window, rows, shownOf)
  },
})

function shownOf(row: RefundOfPayment): Static<typeof Refund> {
  return refundOf(row, { amount: row.payment_amount, refunded: row.payment_refunded })
}

/** Asks the provider, waits a while for its first word, and gives the refund as it is then. */
async function sendNow(app: App, { tenant }: Caller, { refund_id }: Static<typeof Refund>) {
  const id = refundUuid(refund_id)
  const refund = await one(app.db.query(findRefund, { ...tenant, id }))
  const sent = submitRefund(app, refund).catch((error) =>
    // The job that follows it finds the outcome.
    app.log.error(
      { error, refund: idOf('refund', id) },
      'refund not sent: its job sends it within seconds; check the error if this repeats',
    ),
  )
  await atMost(budgetMs, sent, undefined)
  return shownOf(await one(app.db.query(findRefund, { ...tenant, id })))
}

export const refundRoutes: readonly Route[] = [create, get, listAll, ofPayment]
