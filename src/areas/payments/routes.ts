// SPDX-License-Identifier: Apache-2.0
// Routes of payments.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe } from '../../platform/db.ts'
import { type Route, read, write } from '../../platform/route.ts'
import { accept, MobilePaymentCreate, type NewPayment, PaymentCreate, sendNow } from './create.ts'
import { Payment } from './events.ts'
import { recordOf } from './payment.ts'
import { findPayment } from './store.ts'

const PaymentParam = Type.Object({ payment_id: Type.String({ description: 'Begins with pay_' }) })

const WaitQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8,
      rule: 'must be 0 to 8 seconds',
      description: '0: answer before the provider is asked; otherwise its first word is waited for',
    }),
  ),
})

const accepting = {
  scope: 'payments:write',
  limit: 'payments',
  query: WaitQuery,
  reply: {
    status: 201,
    schema: Payment,
    location: ({ payment_id }: Static<typeof Payment>) => `/v1/payments/${payment_id}`,
  },
  errors: [
    'VALIDATION_ERROR',
    'INVALID_PHONE',
    'INVALID_URL',
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_METHOD',
    'UNSUPPORTED_PROVIDER',
    'AMOUNT_TOO_LOW',
    'AMOUNT_TOO_HIGH',
    'DUPLICATE_REFERENCE',
    'PROVIDER_UNAVAILABLE',
  ],
} as const

const create = write({
  ...accepting,
  method: 'POST',
  path: '/v1/payments',
  aliases: ['/v1/payments/charge'],
  operation: 'payments.create',
  summary: 'Collect a payment',
  description:
    'The payer is asked on the phone. What comes of it is told as payment.completed or payment.failed, and can be read at any time.',
  body: PaymentCreate,
  examples: [{ name: 'A mobile-money payment', body: { amount: 1500, currency: 'KES', phone: '+254700000001' } }],
  prepare: (app, { body }, caller) => checkCallback(app, body, caller),
  handle: async (app, tx, { query, body }, caller) => recordOf(await accept(app, tx, body, caller, query.wait !== 0)),
  follow: (app, { query }, caller, reply) => answer(app, query.wait, caller, reply),
})

const initiateMobile = write({
  ...accepting,
  method: 'POST',
  path: '/v1/payments/mobile/initiate',
  operation: 'payments.initiateMobile',
  summary: 'Collect a mobile-money payment',
  body: MobilePaymentCreate,
  examples: [{ name: 'From a phone', body: { amount: 100, currency: 'KES', phone_number: '+254700000001' } }],
  prepare: (app, { body }, caller) => checkCallback(app, body, caller),
  handle: async (app, tx, { query, body: { phone_number, ...rest } }, caller) =>
    recordOf(await accept(app, tx, { ...rest, phone: phone_number }, caller, query.wait !== 0)),
  follow: (app, { query }, caller, reply) => answer(app, query.wait, caller, reply),
})

const get = read({
  method: 'GET',
  path: '/v1/payments/:payment_id',
  aliases: ['/v1/payments/mobile/:payment_id'],
  operation: 'payments.get',
  summary: 'Read a payment',
  scope: 'payments:read',
  params: PaymentParam,
  reply: { status: 200, schema: Payment },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => recordOf(await known(app, caller, params.payment_id)),
})

async function checkCallback(app: App, { callback_url }: Pick<NewPayment, 'callback_url'>, { tenant }: Caller) {
  if (callback_url !== undefined)
    await app.outbound.checkUrl(callback_url, 'callback', tenant.environment, 'callback_url')
}

async function answer(app: App, wait: number | undefined, caller: Caller, reply: Static<typeof Payment>) {
  if (wait === 0) return reply
  return recordOf(await sendNow(app, caller, paymentUuid(reply.payment_id)))
}

async function known(app: App, { tenant }: Caller, id: string) {
  const payment = await maybe(app.db.query(findPayment, { ...tenant, id: paymentUuid(id) }))
  if (!payment) throw noSuchPayment()
  return payment
}

function paymentUuid(id: string): string {
  const uuid = uuidOf('payment', id)
  if (uuid === null) throw noSuchPayment()
  return uuid
}

function noSuchPayment(): AppError {
  return new AppError('NOT_FOUND', 'there is no such payment; the ids of payments begin with pay_')
}

export const paymentRoutes: readonly Route[] = [create, initiateMobile, get]
