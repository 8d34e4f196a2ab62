// SPDX-License-Identifier: Apache-2.0
// Routes of payments.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Conclude, type Route, read, shared, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { requireDealing } from '../../../platform/auth/dealings.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { methods } from '../methods/offers.ts'
import { accepting } from '../records/accepting.ts'
import { Payment } from '../records/events.ts'
import {
  MobilePaymentCreate,
  missing,
  type NewPayment,
  PaymentCreate,
  PaymentParam,
  phoneOf,
} from '../records/input.ts'
import { noSuchPayment, paymentUuid, recordOf } from '../records/payment.ts'
import { findPayment, open } from '../records/store.ts'
import { recordWithRefunds } from '../refunds/refund.ts'
import { acceptInBatch } from './accept-batch.ts'
import { isAnsweredAtOnce, sendNow } from './create.ts'
import { passed } from './enforce.ts'
import { cancel } from './settle.ts'
import { paymentWaits } from './waiting.ts'
import { watchWithdrawal, withdrawNow } from './withdraw.ts'

const ReadQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      rule: 'must be 0 to 30 seconds',
      description: 'Seconds to wait for the outcome before replying',
    }),
  ),
  fail_on_timeout: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'With `wait`: true replies with TRANSACTION_TIMEOUT if the payment has not ended by then',
    }),
  ),
})

const assessed = { ...accepting, errors: [...accepting.errors, 'PAYMENT_BLOCKED'] } as const

const accepted = {
  status: 201,
  schema: Payment,
  location: ({ payment_id }: Static<typeof Payment>) => `/v1/payments/${payment_id}`,
} as const

const create = shared({
  ...assessed,
  method: 'POST',
  scope: 'payments:write',
  path: '/v1/payments',
  aliases: ['/v1/payments/charge'],
  operation: 'payments.create',
  summary: 'Create a payment',
  description:
    'Prompts the payer on the phone, or charges a card, which may require authentication at redirect_url. The outcome is sent as payment.completed or payment.failed, and can be read at any time.',
  body: PaymentCreate,
  reply: accepted,
  examples: [
    { name: 'A mobile-money payment', body: { amount: 1500, currency: 'KES', phone: '+254700000001' } },
    {
      name: 'A card payment',
      body: {
        amount: 1500,
        currency: 'KES',
        card: { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' },
      },
    },
  ],
  prepare: (app, { body }, caller) => checkCallback(app, caller.tenant, body.callback_url),
  transact: (app, { query, body }, caller, _prepared, conclude) =>
    accept(app, body, caller, query.wait !== 0, conclude),
  follow: (app, { query, body }, caller, reply) => answer(app, query.wait, caller, reply, body),
})

const initiateMobile = shared({
  ...assessed,
  method: 'POST',
  scope: 'payments:request',
  path: '/v1/payments/mobile/initiate',
  operation: 'payments.initiateMobile',
  summary: 'Create a mobile-money payment',
  description:
    'With `payments:request` and not `payments:write`, without `callback_url`; for a member also only from a number of their own call, live or of the last 24 hours, or of a conversation assigned to them.',
  body: MobilePaymentCreate,
  reply: accepted,
  examples: [{ name: 'From a phone', body: { amount: 100, currency: 'KES', phone_number: '+254700000001' } }],
  prepare: async (app, { body }, caller) => {
    const { callback_url } = body
    await requireDealing(app, caller, 'payments:write', { to: phoneOf(body), more: { callback_url } })
    await checkCallback(app, caller.tenant, callback_url)
  },
  transact: async (app, { query, body }, caller, _prepared, conclude) => {
    if (phoneOf(body) === undefined) throw missing('phone_number')
    return accept(app, { ...body, method: 'mobile_money' }, caller, query.wait !== 0, conclude)
  },
  follow: (app, { query }, caller, reply) => answer(app, query.wait, caller, reply, null),
})

const get = read({
  method: 'GET',
  path: '/v1/payments/:payment_id',
  operation: 'payments.get',
  summary: 'Get a payment',
  scope: 'payments:read',
  params: PaymentParam,
  query: ReadQuery,
  reply: { status: 200, schema: Payment },
  errors: ['NOT_FOUND', 'TRANSACTION_TIMEOUT'],
  handle: async (app, { params, query }, caller) =>
    recordWithRefunds(app.db, await awaited(app, caller, params.payment_id, query)),
})

const getMobile = read({
  method: 'GET',
  path: '/v1/payments/mobile/:payment_id',
  operation: 'payments.getMobile',
  summary: 'Get a mobile-money payment',
  scope: 'payments:read',
  params: PaymentParam,
  query: ReadQuery,
  reply: { status: 200, schema: Payment },
  errors: ['NOT_FOUND', 'TRANSACTION_TIMEOUT'],
  needs: { operation: 'payments.initiateMobile', id: 'payment_id' },
  handle: async (app, { params, query }, caller) => {
    const { method } = await known(app, caller, params.payment_id)
    if (method !== 'mobile_money') throw noSuchPayment()
    return recordWithRefunds(app.db, await awaited(app, caller, params.payment_id, query))
  },
})

const cancelPayment = write({
  method: 'POST',
  path: '/v1/payments/:payment_id/cancel',
  operation: 'payments.cancel',
  summary: 'Cancel a payment',
  description: 'Cancels a pending payment, or releases the amount reserved by a card payment with `capture: false`.',
  scope: 'payments:write',
  limit: 'payments',
  params: PaymentParam,
  reply: { status: 200, schema: Payment },
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  handle: async (app, tx, { params }, caller) => {
    const cancelled = await cancel(app, tx, caller.tenant, paymentUuid(params.payment_id))
    await watchWithdrawal(app, tx, caller.tenant, cancelled)
    const payment = recordOf(cancelled)
    await record(tx, caller, 'payment.cancel', payment.payment_id, { after: { status: payment.status } })
    return payment
  },
  follow: async (app, _input, { tenant }, reply) => {
    await withdrawNow(app, tenant, paymentUuid(reply.payment_id))
    return reply
  },
})

/** Accepts what a request brings, and gives the answer to it. */
async function accept(
  app: App,
  input: NewPayment,
  occasion: Caller,
  sendsInline: boolean,
  conclude: Conclude<Static<typeof Payment>>,
): Promise<Static<typeof Payment>> {
  const request = { input, occasion, sendsInline }
  return recordOf(await acceptInBatch(app, { ...request, conclude: (tx, payment) => conclude(tx, recordOf(payment)) }))
}

async function answer(
  app: App,
  wait: number | undefined,
  caller: Caller,
  reply: Static<typeof Payment>,
  input: NewPayment | null,
) {
  if (isAnsweredAtOnce(wait, reply)) return passed(reply)
  return recordOf(await sendNow(app, caller, paymentUuid(reply.payment_id), input))
}

/** The payment when it is over, or as it is when the time that was given for it has passed. */
async function awaited(app: App, caller: Caller, id: string, { wait, fail_on_timeout }: Static<typeof ReadQuery>) {
  const payment = await known(app, caller, id)
  if (wait === undefined || !open.includes(payment.status)) return payment
  await paymentWaits.of(app).until({ ...caller.tenant, id: payment.id }, wait * 1_000).over
  const after = await known(app, caller, id)
  if (fail_on_timeout && open.includes(after.status))
    throw new AppError('TRANSACTION_TIMEOUT', `the payment is ${after.status} after ${wait} seconds`, {
      extra: { payment_id: idOf('payment', after.id), status: after.status },
      retryAfterSeconds: 1,
    })
  return after
}

async function known(app: App, { tenant }: Caller, id: string) {
  const payment = await maybe(app.db.query(findPayment, { ...tenant, id: paymentUuid(id) }))
  if (!payment) throw noSuchPayment()
  return payment
}

export const paymentRoutes: readonly Route[] = [create, initiateMobile, methods, get, getMobile, cancelPayment]
