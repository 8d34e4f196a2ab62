// SPDX-License-Identifier: Apache-2.0
// The list of everything that moves money: payments, top-ups, refunds and payouts, newest first.
import { type Static, Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { list } from '../../../platform/api/route.ts'
import { metadataQuery } from '../../../platform/metadata/filter.ts'
import { Amount, At, dayRangeQuery, listQuery, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import { recordOf as payoutOf } from '../payouts/payout.ts'
import { listPayouts, type PayoutRow } from '../payouts/store.ts'
import { Payment } from '../records/events.ts'
import { askedOf, methodQuery, phoneQuery } from '../records/input.ts'
import { masked, recordOf } from '../records/payment.ts'
import { listPayments, type PaymentRow } from '../records/store.ts'
import { listRefunds, type RefundOfPayment } from '../refunds/store.ts'

const transactionType = OneOf(['payment', 'topup', 'refund', 'payout'], { description: 'Kind of transaction' })
const transactionStatus = OneOf(
  ['pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired', 'reversed'],
  { description: 'Processing status' },
)

const Transaction = Type.Object(
  {
    transaction_id: Type.String({ description: 'Id of the transaction, such as `txn_…`' }),
    type: transactionType,
    payment_id: Nullable(
      Type.String({ description: 'Id of the payment or top-up; for a refund, of the refunded payment' }),
    ),
    payout_id: Nullable(Type.String({ description: 'Id of the payout; null for others' })),
    refund_id: Nullable(Type.String({ description: 'Id of the refund; null for others' })),
    status: transactionStatus,
    amount: Amount({ description: 'Amount in major units of `currency`; always positive' }),
    fee: Amount({ description: 'Fee charged to you' }),
    net_amount: Amount({ description: 'Amount after the fee' }),
    currency: Type.String({ description: 'Currency of the amounts, ISO 4217' }),
    direction: OneOf(['credit', 'debit'], {
      description: 'Direction: `credit` adds to your wallet, `debit` takes from it',
    }),
    method: Payment.properties.method,
    provider: Nullable(Type.String({ description: 'Provider, such as `mpesa`' })),
    phone: Nullable(Type.String({ description: 'Phone number, masked' })),
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    provider_reference: Nullable(Type.String({ description: 'Id at the provider, such as a receipt code' })),
    description: Nullable(Type.String({ description: 'Your description; null if none' })),
    metadata: Metadata,
    created_at: At({ description: 'Time of the request' }),
    completed_at: Nullable(At({ description: 'Time of completion; null until then' })),
  },
  { title: 'Transaction' },
)

export const transactions = list({
  path: '/v1/payments/transactions',
  operation: 'payments.transactions',
  summary: 'List payments, refunds and payouts',
  description:
    'Lists incoming and outgoing payments together. With `Accept: text/csv` it is a file for your accounting.',
  scope: 'payments:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    type: Type.Optional(transactionType),
    status: Type.Optional(transactionStatus),
    currency: Type.Optional(Type.String({ maxLength: 3, description: 'Currency of the amount, such as KES' })),
    method: methodQuery,
    provider: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Filter by provider: `mpesa`, `mtn_momo` and so on, `acquirer` for cards or `bank`',
      }),
    ),
    reference: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Filter by your own id for the payment, refund or payout',
      }),
    ),
    phone: phoneQuery,
    ...metadataQuery,
  }),
  row: Transaction,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Completed transactions', query: { status: 'completed' } }],
  handle: async (app, { query }, caller) => {
    const { tenant } = caller
    const window = windowOf(query)
    const { type } = query
    const filter = {
      ...tenant,
      ...window,
      ...shownBounds(query, caller),
      ...askedOf(query),
      status: query.status ?? null,
    }
    const purposes =
      type === 'payment' ? (['payment', 'invoice'] as const) : type === 'topup' ? (['topup'] as const) : null
    const wants = (...types: readonly string[]) => type === undefined || types.includes(type)
    const payments = wants('payment', 'topup') ? await app.db.query(listPayments, { ...filter, purposes }) : []
    const payouts = wants('payout') ? await app.db.query(listPayouts, { ...filter, inReview: null }) : []
    const refunds = wants('refund') ? await app.db.query(listRefunds, { ...filter, payment: null }) : []
    // Each list has a page and one row more, so the merged page is complete.
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

type Told = Static<typeof Transaction>

function transactionOf(row: PaymentRow): Told {
  const { payment_id, fee, net_amount, ...told } = recordOf(row)
  const type = row.purpose === 'topup' ? 'topup' : 'payment'
  return { ...common(row, told), type, payment_id, fee, net_amount, direction: 'credit' }
}

/** Amount that leaves the wallet: the payout and its fee. */
function payoutTransactionOf(row: PayoutRow): Told {
  const { payout_id, fee, ...told } = payoutOf(row)
  return { ...common(row, told), type: 'payout', payout_id, fee, net_amount: told.amount + fee, direction: 'debit' }
}

/** Amount that leaves the wallet: the refund without the part of the fee that comes back. */
function refundTransactionOf(row: RefundOfPayment): Told {
  return {
    ...common(row, row),
    type: 'refund',
    payment_id: idOf('payment', row.payment_id),
    refund_id: idOf('refund', row.id),
    fee: 0n,
    net_amount: row.amount - row.fee_returned,
    direction: 'debit',
  }
}

/** Fields that records of every kind have under the same names. */
function common(
  { id, phone }: { id: string; phone: string | null },
  told: Omit<
    Told,
    'transaction_id' | 'type' | 'payment_id' | 'payout_id' | 'refund_id' | 'fee' | 'net_amount' | 'direction' | 'phone'
  >,
): Omit<Told, 'type' | 'fee' | 'net_amount' | 'direction'> {
  const { status, amount, currency, method, provider, reference, provider_reference, description, metadata } = told
  return {
    ...{ transaction_id: idOf('transaction', id), payment_id: null, payout_id: null, refund_id: null },
    ...{ status, amount, currency, method, provider, phone: phone && masked(phone) },
    ...{ reference, provider_reference, description, metadata },
    ...{ created_at: told.created_at, completed_at: told.completed_at },
  }
}
