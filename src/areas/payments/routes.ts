// SPDX-License-Identifier: Apache-2.0
// Routes of payments.
import { type Static, Type } from 'typebox'
import { cardBrands } from '../../kernel/card.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { currencies, isCurrency } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import { record } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe } from '../../platform/db.ts'
import { idBounds, pageOf, windowOf } from '../../platform/page.ts'
import { list, type Route, read, write } from '../../platform/route.ts'
import { Amount, At, dayRangeQuery, listQuery, Metadata, Nullable, OneOf } from '../../platform/schema.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { bankFeeBasisPoints, bankMarkets, bankProvider } from './bank/banks.ts'
import { largerBoundsOf } from './bounds.ts'
import { cardCountry, cardFeeBasisPoints, cardProvider } from './cards/method.ts'
import { accept, sendNow } from './create.ts'
import { Payment } from './events.ts'
import { passed } from './fraud/enforce.ts'
import { gatewayOf } from './gateway.ts'
import { MobilePaymentCreate, type NewPayment, PaymentCreate } from './input.ts'
import { feeBasisPoints, offered } from './methods.ts'
import { noSuchPayment, paymentUuid, recordOf } from './payment.ts'
import { methodOf } from './payment-methods.ts'
import { payoutFeeBasisPoints, recordOf as payoutOf } from './payouts/payout.ts'
import { listPayouts, type PayoutRow } from './payouts/store.ts'
import { recordWithRefunds } from './refunds/refund.ts'
import { listRefunds, type RefundOfPayment } from './refunds/store.ts'
import { cancel } from './settle.ts'
import { findPayment, listPayments, open, type PaymentRow } from './store.ts'
import { waitingOf } from './waiting.ts'
import { watchWithdrawal, withdrawNow } from './withdraw.ts'

const PaymentParam = Type.Object({ payment_id: Type.String({ description: 'Begins with pay_' }) })

export const WaitQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8,
      rule: 'must be 0 to 8 seconds',
      description: '0: answer before the provider is asked; otherwise its first word is waited for',
    }),
  ),
})

const ReadQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      rule: 'must be 0 to 30 seconds',
      description: 'Answer when the payment is over, or so many seconds later',
    }),
  ),
  fail_on_timeout: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'With wait: TRANSACTION_TIMEOUT when the payment is not over by then',
    }),
  ),
})

/** What every way of asking for a payment has in common. */
export const accepting = {
  limit: 'payments',
  bodyLimitBytes: 16 * 1_024,
  query: WaitQuery,
  errors: [
    'VALIDATION_ERROR',
    'INVALID_PHONE',
    'INVALID_CARD',
    'INVALID_URL',
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_METHOD',
    'UNSUPPORTED_PROVIDER',
    'AMOUNT_TOO_LOW',
    'AMOUNT_TOO_HIGH',
    'DUPLICATE_REFERENCE',
    'PAYLOAD_TOO_LARGE',
    'INSUFFICIENT_FUNDS',
    'CARD_DECLINED',
    'CARD_EXPIRED',
    'INCORRECT_CVV',
    'AUTHENTICATION_FAILED',
    'PROVIDER_UNAVAILABLE',
  ],
} as const

const assessed = { ...accepting, errors: [...accepting.errors, 'PAYMENT_BLOCKED'] } as const

const accepted = {
  status: 201,
  schema: Payment,
  location: ({ payment_id }: Static<typeof Payment>) => `/v1/payments/${payment_id}`,
} as const

const create = write({
  ...assessed,
  method: 'POST',
  scope: 'payments:write',
  path: '/v1/payments',
  aliases: ['/v1/payments/charge'],
  operation: 'payments.create',
  summary: 'Collect a payment',
  description:
    'The payer is asked on the phone, or pays by card: then it may have to go to redirect_url first. What comes of it is told as payment.completed or payment.failed, and can be read at any time.',
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
  prepare: (app, { body }, caller) => checkCallback(app, body, caller),
  handle: async (app, tx, { query, body }, caller) => recordOf(await accept(app, tx, body, caller, query.wait !== 0)),
  follow: (app, { query, body }, caller, reply) => answer(app, query.wait, caller, reply, body),
})

const initiateMobile = write({
  ...assessed,
  method: 'POST',
  scope: 'payments:write',
  path: '/v1/payments/mobile/initiate',
  operation: 'payments.initiateMobile',
  summary: 'Collect a mobile-money payment',
  body: MobilePaymentCreate,
  reply: accepted,
  examples: [{ name: 'From a phone', body: { amount: 100, currency: 'KES', phone_number: '+254700000001' } }],
  prepare: (app, { body }, caller) => checkCallback(app, body, caller),
  handle: async (app, tx, { query, body: { phone_number, ...rest } }, caller) =>
    recordOf(await accept(app, tx, { ...rest, phone: phone_number }, caller, query.wait !== 0)),
  follow: (app, { query }, caller, reply) => answer(app, query.wait, caller, reply, null),
})

const get = read({
  method: 'GET',
  path: '/v1/payments/:payment_id',
  operation: 'payments.get',
  summary: 'Read a payment',
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
  summary: 'Read a mobile-money payment',
  scope: 'payments:read',
  params: PaymentParam,
  reply: { status: 200, schema: Payment },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const payment = await known(app, caller, params.payment_id)
    if (payment.method !== 'mobile_money') throw noSuchPayment()
    return recordOf(payment)
  },
})

const cancelPayment = write({
  method: 'POST',
  path: '/v1/payments/:payment_id/cancel',
  operation: 'payments.cancel',
  summary: 'Withdraw a payment that the payer was not asked for yet, or has not confirmed',
  description: 'Also gives up what a card payment with `capture: false` has set aside.',
  scope: 'payments:write',
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

const Method = Type.Object(
  {
    method: OneOf(['mobile_money', 'card', 'bank_transfer']),
    provider: Type.String(),
    name: Type.String(),
    countries: Type.Array(Type.String()),
    currencies: Type.Array(Type.String()),
    directions: Type.Unsafe<readonly ('in' | 'out')[]>(Type.Array(OneOf(['in', 'out']))),
    min_amount: Type.Optional(Type.Number({ description: 'In the one currency' })),
    max_amount: Type.Optional(Type.Number()),
    whole_units_only: Type.Boolean(),
    fee: Type.Object(
      { percent: Type.Number(), fixed: Type.Number(), currency: Type.Optional(Type.String()) },
      { description: 'Of a collection, or with `direction=out` of a payout' },
    ),
    status: OneOf(['up', 'degraded', 'down']),
    ussd_code: Type.Optional(Type.String({ description: 'What a payer dials to see what waits for approval' })),
    brands: Type.Optional(Type.Array(OneOf(cardBrands))),
    supports_3ds: Type.Optional(Type.Boolean()),
    banks: Type.Optional(Type.Array(Type.Object({ code: Type.String(), name: Type.String() }))),
  },
  { title: 'PaymentMethod' },
)

const methods = list({
  path: '/v1/payments/methods',
  operation: 'payments.methods',
  summary: 'List the ways to pay',
  scope: 'payments:read',
  query: Type.Object({
    currency: Type.Optional(Type.String({ maxLength: 3 })),
    country: Type.Optional(Type.String({ maxLength: 2 })),
    direction: Type.Optional(OneOf(['in', 'out'])),
  }),
  row: Method,
  examples: [{ name: 'In Kenya', query: { country: 'KE' } }],
  handle: async (app, { query }, { tenant }) => ({
    rows: [...mobileRows(app, query, tenant), ...cardRows(app, query, tenant), ...(await bankRows(app, query, tenant))],
    nextCursor: null,
  }),
})

type MethodQuery = { currency?: string; country?: string; direction?: 'in' | 'out' }

function mobileRows(app: App, query: MethodQuery, { environment }: Tenant): Static<typeof Method>[] {
  return offered(query).flatMap((one) => {
    const paysOut = gatewayOf(app).outgoing(one, environment) !== null
    if (query.direction === 'out' && !paysOut) return []
    const basisPoints = query.direction === 'out' ? payoutFeeBasisPoints : feeBasisPoints
    return {
      method: 'mobile_money' as const,
      provider: one.provider,
      name: one.name,
      countries: [one.country],
      currencies: [one.currency],
      directions: paysOut ? (['in', 'out'] as const) : (['in'] as const),
      min_amount: one.min,
      max_amount: one.max,
      whole_units_only: one.wholeUnitsOnly,
      fee: { percent: Number(basisPoints) / 100, fixed: 0, currency: one.currency },
      status: gatewayOf(app).status(one, environment, query.direction),
      ussd_code: one.ussdCode,
    }
  })
}

/** Cards come from any country, and pay in every currency. */
function cardRows(app: App, { currency, direction }: MethodQuery, { environment }: Tenant): Static<typeof Method>[] {
  if (direction === 'out') return []
  const only = currency?.toUpperCase()
  if (only !== undefined && !isCurrency(only)) return []
  const bounds = only && largerBoundsOf(only)
  const named = { provider: cardProvider, country: cardCountry }
  return [
    {
      method: 'card',
      provider: cardProvider,
      name: 'Cards',
      countries: [],
      currencies: only ? [only] : Object.keys(currencies),
      directions: ['in'],
      ...(bounds ? { min_amount: bounds.min, max_amount: bounds.max } : {}),
      whole_units_only: false,
      fee: { percent: Number(cardFeeBasisPoints) / 100, fixed: 0, ...(only ? { currency: only } : {}) },
      status: gatewayOf(app).status(named, environment),
      brands: [...cardBrands],
      supports_3ds: true,
    },
  ]
}

async function bankRows(app: App, query: MethodQuery, { environment }: Tenant): Promise<Static<typeof Method>[]> {
  const gateway = gatewayOf(app)
  const paysOut = (country: string) => gateway.outgoing({ provider: bankProvider, country }, environment) !== null
  const basisPoints = query.direction === 'out' ? payoutFeeBasisPoints : bankFeeBasisPoints
  const markets = bankMarkets(query).filter(({ country }) => query.direction !== 'out' || paysOut(country))
  return Promise.all(
    markets.map(async ({ country, currency }) => {
      const named = { provider: bankProvider, country }
      const { min, max } = largerBoundsOf(currency)
      return {
        method: 'bank_transfer' as const,
        provider: bankProvider,
        name: 'Bank transfer',
        countries: [country],
        currencies: [currency],
        directions: paysOut(country) ? (['in', 'out'] as const) : (['in'] as const),
        min_amount: min,
        max_amount: max,
        whole_units_only: false,
        fee: { percent: Number(basisPoints) / 100, fixed: 0, currency },
        status: gateway.status(named, environment, query.direction),
        banks: [...((await gateway.carrier('bank_transfer', named, environment)?.banks()) ?? [])],
      }
    }),
  )
}

const transactionType = OneOf(['payment', 'topup', 'refund', 'payout'])
const transactionStatus = OneOf([
  'pending',
  'processing',
  'requires_action',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'reversed',
])

const Transaction = Type.Object(
  {
    transaction_id: Type.String(),
    type: transactionType,
    payment_id: Nullable(Type.String()),
    payout_id: Nullable(Type.String()),
    refund_id: Nullable(Type.String()),
    status: transactionStatus,
    amount: Amount(),
    fee: Amount(),
    net_amount: Amount(),
    currency: Type.String(),
    direction: OneOf(['credit', 'debit']),
    method: Payment.properties.method,
    provider: Nullable(Type.String()),
    phone: Nullable(Type.String({ description: 'Masked' })),
    reference: Nullable(Type.String()),
    provider_reference: Nullable(Type.String()),
    description: Nullable(Type.String()),
    metadata: Metadata,
    created_at: At(),
    completed_at: Nullable(At()),
  },
  { title: 'Transaction' },
)

const transactions = list({
  path: '/v1/payments/transactions',
  operation: 'payments.transactions',
  summary: 'List payments, refunds and payouts',
  scope: 'payments:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    type: Type.Optional(transactionType),
    status: Type.Optional(transactionStatus),
    currency: Type.Optional(Type.String({ maxLength: 3 })),
    method: Type.Optional(Payment.properties.method),
    provider: Type.Optional(Type.String({ maxLength: 40 })),
    reference: Type.Optional(Type.String({ maxLength: 100 })),
    phone: Type.Optional(Type.String({ maxLength: 20 })),
  }),
  row: Transaction,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'What was paid', query: { status: 'completed' } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const { type } = query
    const filter = {
      ...tenant,
      ...window,
      ...idBounds(query),
      status: query.status ?? null,
      currency: query.currency?.toUpperCase() ?? null,
      provider: query.provider?.toLowerCase() ?? null,
      method: query.method ?? null,
      reference: query.reference ?? null,
      // A plus sign in a query string is a blank.
      phone: query.phone?.replace(/^ ?(?=\d)/, '+') ?? null,
    }
    const purpose = type === 'payment' || type === 'topup' ? type : null
    const wants = (...types: readonly string[]) => type === undefined || types.includes(type)
    const payments = wants('payment', 'topup') ? await app.db.query(listPayments, { ...filter, purpose }) : []
    const payouts = wants('payout') ? await app.db.query(listPayouts, { ...filter, inReview: null }) : []
    const refunds = wants('refund') ? await app.db.query(listRefunds, { ...filter, payment: null }) : []
    // Each list has a page and one more: so has what is the first of all.
    const sign = window.descending ? -1 : 1
    const rows = [...payments, ...payouts, ...refunds]
      .sort((a, b) => (a.id < b.id ? -sign : sign))
      .slice(0, window.limit + 1)
    return pageOf(window, rows, (row) => {
      if ('purpose' in row) return transactionOf(row)
      return 'way' in row ? refundTransactionOf(row) : payoutTransactionOf(row)
    })
  },
})

function transactionOf(row: PaymentRow): Static<typeof Transaction> {
  const { payment_id, status, amount, fee, net_amount, currency, method, provider, ...rest } = recordOf(row)
  return {
    transaction_id: idOf('transaction', row.id),
    type: row.purpose === 'topup' ? 'topup' : 'payment',
    payment_id,
    payout_id: null,
    refund_id: null,
    status,
    amount,
    fee,
    net_amount,
    currency,
    direction: 'credit',
    method,
    provider,
    phone: row.phone && masked(row.phone),
    reference: rest.reference,
    provider_reference: rest.provider_reference,
    description: rest.description,
    metadata: rest.metadata,
    created_at: rest.created_at,
    completed_at: rest.completed_at,
  }
}

/** What leaves the wallet is the amount and the fee. */
function payoutTransactionOf(row: PayoutRow): Static<typeof Transaction> {
  const { payout_id, status, amount, fee, currency, method, provider, ...rest } = payoutOf(row)
  return {
    transaction_id: idOf('transaction', row.id),
    type: 'payout',
    payment_id: null,
    payout_id,
    refund_id: null,
    status,
    amount,
    fee,
    net_amount: amount + fee,
    currency,
    direction: 'debit',
    method,
    provider,
    phone: row.phone && masked(row.phone),
    reference: rest.reference,
    provider_reference: rest.provider_reference,
    description: rest.description,
    metadata: rest.metadata,
    created_at: rest.created_at,
    completed_at: rest.completed_at,
  }
}

/** What leaves the wallet is the amount without the part of the fee that comes back. */
function refundTransactionOf(row: RefundOfPayment): Static<typeof Transaction> {
  const { amount, currency, status, method, provider, phone, created_at, completed_at } = row
  return {
    transaction_id: idOf('transaction', row.id),
    type: 'refund',
    payment_id: idOf('payment', row.payment_id),
    payout_id: null,
    refund_id: idOf('refund', row.id),
    status,
    amount,
    fee: 0n,
    net_amount: amount - row.fee_returned,
    currency,
    direction: 'debit',
    method,
    provider,
    phone: phone && masked(phone),
    reference: row.reference,
    provider_reference: row.provider_reference,
    description: row.description,
    metadata: row.metadata,
    created_at,
    completed_at,
  }
}

/** `+2547****0001` */
function masked(phone: string): string {
  return `${phone.slice(0, 5)}****${phone.slice(-4)}`
}

export async function checkCallback(app: App, { callback_url }: Pick<NewPayment, 'callback_url'>, { tenant }: Caller) {
  if (callback_url !== undefined)
    await app.outbound.checkUrl(callback_url, 'callback', tenant.environment, 'callback_url')
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

/** Whether the answer is given before the provider is asked: never where nobody else could ask it. */
export function isAnsweredAtOnce(wait: number | undefined, payment: Pick<PaymentRow, 'method'>): boolean {
  return wait === 0 && methodOf(payment).isQueued
}

/** The payment when it is over, or as it is when the time that was given for it has passed. */
async function awaited(app: App, caller: Caller, id: string, { wait, fail_on_timeout }: Static<typeof ReadQuery>) {
  const payment = await known(app, caller, id)
  if (wait === undefined || !open.includes(payment.status)) return payment
  await waitingOf(app).until(caller.tenant, payment.id, wait * 1_000)
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

export const paymentRoutes: readonly Route[] = [
  create,
  initiateMobile,
  methods,
  transactions,
  get,
  getMobile,
  cancelPayment,
]
