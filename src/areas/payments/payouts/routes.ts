// SPDX-License-Identifier: Apache-2.0
// Routes of payouts.
import { type Static, Type } from 'typebox'
import { nilUuid, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { type Caller, makerOf } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { metadataQuery } from '../../../platform/metadata/filter.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { dayRangeQuery, listQuery, OneOfAnyCase } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import { accepting } from '../records/accepting.ts'
import { askedOf, PayoutParam, phoneQuery } from '../records/input.ts'
import { masked } from '../records/payment.ts'
import { Payout, payoutStatus } from '../records/payout-events.ts'
import { acceptMany, Batch, BulkCreate, cancelBatch, checkCallbacks, readBatch } from './bulk.ts'
import { accept, PayoutCreate, sendNow } from './create.ts'
import { passed } from './judge.ts'
import { noSuchPayout, payoutUuid, recordOf } from './payout.ts'
import { payoutReviewRoutes } from './review.ts'
import { cancel } from './settle.ts'
import { findPayout, listInReview, listOfBatch, listPayouts } from './store.ts'

const bulkBodyBytes = 8 * 1024 * 1024

const BatchParam = Type.Object({ batch_id: Type.String({ description: 'Id of the batch, such as `pob_…`' }) })

const errors = [...accepting.errors, 'INSUFFICIENT_WALLET_BALANCE'] as const
const inReview = Type.Optional(
  Type.Boolean({
    rule: 'must be true or false',
    description: 'True lists payouts that await approval, false all others',
  }),
)

const create = write({
  ...accepting,
  method: 'POST',
  scope: 'payouts:write',
  path: '/v1/payouts',
  aliases: ['/v1/payments/payout'],
  operation: 'payouts.create',
  summary: 'Create a payout',
  description:
    'Your fraud rules are applied first: blocked payouts are refused, and payouts to review stay pending. The amount and the fee are held until the outcome, which is sent as payout.completed or payout.failed.',
  body: PayoutCreate,
  reply: {
    status: 201,
    schema: Payout,
    location: ({ payout_id }: Static<typeof Payout>) => `/v1/payouts/${payout_id}`,
  },
  errors: [...errors, 'PAYMENT_BLOCKED'],
  examples: [
    { name: 'To a phone', body: { amount: 10, currency: 'KES', phone: '+254700000001' } },
    {
      name: 'To an account',
      body: {
        amount: 10,
        currency: 'KES',
        bank: { account_number: '0112230001', bank_code: '999', account_name: 'Asha Otieno' },
      },
    },
  ],
  prepare: (app, { body }, caller) => checkCallback(app, caller.tenant, body.callback_url),
  handle: async (app, tx, { query, body }, caller) => {
    const payout = recordOf(await accept(app, tx, body, { ...caller, madeBy: makerOf(caller) }, query.wait !== 0))
    const { payout_id, status, amount, currency } = payout
    await record(tx, caller, 'payout.create', payout_id, { after: { status, amount: formatMicros(amount), currency } })
    return payout
  },
  follow: async (app, { query }, caller, reply) => {
    const { payout_id } = passed(reply)
    return query.wait === 0 ? reply : recordOf(await sendNow(app, caller, payoutUuid(payout_id)))
  },
})

const createBulk = write({
  limit: 'payments',
  method: 'POST',
  scope: 'payouts:write',
  path: '/v1/payments/payout/bulk',
  operation: 'payouts.createBulk',
  summary: 'Create up to 10,000 payouts',
  description:
    'All items are checked first, and the sum of the accepted ones is held. Your fraud rules are applied when each payout is processed.',
  body: BulkCreate,
  bodyLimitBytes: bulkBodyBytes,
  reply: {
    status: 201,
    schema: Batch,
    location: ({ batch_id }: Static<typeof Batch>) => `/v1/payments/payout/bulk/${batch_id}`,
  },
  errors: [...errors, 'BATCH_TOO_LARGE'],
  examples: [
    {
      name: 'Two salaries',
      body: {
        currency: 'KES',
        items: [
          { amount: 10, phone: '+254700000001' },
          { amount: 20, phone: '+254700000020' },
        ],
      },
    },
  ],
  prepare: (app, { body }, caller) => checkCallbacks(app, body, caller),
  handle: async (app, tx, { body }, caller, unreachable) => {
    const batch = await acceptMany(app, tx, body, caller, unreachable)
    const { batch_id, accepted_count, total_amount, currency } = batch
    await record(tx, caller, 'payout.create_batch', batch_id, {
      after: { accepted: accepted_count, amount: formatMicros(total_amount), currency },
    })
    return batch
  },
})

const getBulk = read({
  method: 'GET',
  path: '/v1/payments/payout/bulk/:batch_id',
  operation: 'payouts.getBulk',
  summary: 'Get a batch of payouts',
  scope: 'payouts:read',
  params: BatchParam,
  query: Type.Object({ limit: listQuery.limit, cursor: listQuery.cursor }),
  reply: { status: 200, schema: Batch },
  errors: ['NOT_FOUND'],
  handle: (app, { params, query }, { tenant }) => readBatch(app.db, tenant, params.batch_id, query),
})

const cancelBulk = write({
  method: 'POST',
  path: '/v1/payments/payout/bulk/:batch_id/cancel',
  operation: 'payouts.cancelBulk',
  summary: 'Cancel the pending payouts of a batch',
  scope: 'payouts:write',
  limit: 'payments',
  params: BatchParam,
  reply: { status: 200, schema: Batch },
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  handle: async (app, tx, { params }, caller) => {
    const batch = await cancelBatch(app, tx, caller, params.batch_id)
    await record(tx, caller, 'payout.cancel_batch', params.batch_id, { after: { cancelled: batch.cancelled_count } })
    return readBatch(tx, caller.tenant, params.batch_id, {})
  },
})

const get = read({
  method: 'GET',
  path: '/v1/payouts/:payout_id',
  aliases: ['/v1/payments/payout/:payout_id'],
  operation: 'payouts.get',
  summary: 'Get a payout',
  scope: 'payouts:read',
  params: PayoutParam,
  reply: { status: 200, schema: Payout },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => recordOf(await known(app, caller, params.payout_id)),
})

const cancelPayout = write({
  method: 'POST',
  path: '/v1/payouts/:payout_id/cancel',
  operation: 'payouts.cancel',
  summary: 'Cancel a scheduled payout',
  scope: 'payouts:write',
  limit: 'payments',
  params: PayoutParam,
  reply: { status: 200, schema: Payout },
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  handle: async (app, tx, { params }, caller) => {
    const payout = recordOf(await cancel(app, tx, caller.tenant, payoutUuid(params.payout_id)))
    await record(tx, caller, 'payout.cancel', payout.payout_id, { after: { status: payout.status } })
    return payout
  },
})

const listAll = list({
  path: '/v1/payouts',
  operation: 'payouts.list',
  summary: 'List payouts',
  scope: 'payouts:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(payoutStatus),
    currency: Type.Optional(Type.String({ maxLength: 3, description: 'Currency of the amount, such as KES' })),
    method: Type.Optional(
      OneOfAnyCase(['mobile_money', 'bank_transfer'], {
        description: 'Payout method: to a phone, or to a bank account',
      }),
    ),
    provider: Type.Optional(
      Type.String({ maxLength: 40, description: 'Filter by provider: `mpesa`, `mtn_momo` and so on, or `bank`' }),
    ),
    reference: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by your own id for the payout' })),
    phone: phoneQuery,
    in_review: inReview,
    batch_id: Type.Optional(Type.String({ maxLength: 40, description: 'Id of the bulk, such as `pob_…`' })),
    ...metadataQuery,
  }),
  row: Payout,
  errors: ['INVALID_DATE_RANGE'],
  examples: [
    { name: 'Completed payouts', query: { status: 'completed' } },
    { name: 'Payouts awaiting approval', query: { in_review: true } },
  ],
  handle: async (app, { query }, caller) => {
    const { tenant } = caller
    const window = windowOf(query)
    const asked = {
      ...tenant,
      ...window,
      ...shownBounds(query, caller),
      ...askedOf(query),
      status: query.status ?? null,
      inReview: query.in_review ?? null,
    }
    // A malformed id of a batch finds nothing.
    const rows =
      query.batch_id === undefined
        ? await app.db.query(query.in_review ? listInReview : listPayouts, asked)
        : await app.db.query(listOfBatch, { ...asked, batch: uuidOf('payoutBatch', query.batch_id) ?? nilUuid })
    return pageOf(window, rows, (row) => recordOf({ ...row, phone: row.phone && masked(row.phone) }))
  },
})

async function known(app: App, { tenant }: Caller, id: string) {
  const payout = await maybe(app.db.query(findPayout, { ...tenant, id: payoutUuid(id) }))
  if (!payout) throw noSuchPayout()
  return payout
}

export const payoutRoutes: readonly Route[] = [
  create,
  createBulk,
  getBulk,
  cancelBulk,
  listAll,
  get,
  cancelPayout,
  ...payoutReviewRoutes,
]
