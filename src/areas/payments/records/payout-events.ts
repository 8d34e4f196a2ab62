// SPDX-License-Identifier: Apache-2.0
// Events of payouts and of their batches, flat and wrapped at once as those of payments.
import { type Static, Type } from 'typebox'
import { moneyFields, moneyHead } from '../../../ledger/money-events.ts'
import { eventType } from '../../../platform/events.ts'
import { At, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { amount, currency, method, moment, now, shownRisk, third, word } from './event-fields.ts'

const Recipient = Type.Object(
  {
    name: word('Your own id or name of the recipient'),
    email: Type.Optional(Type.String({ description: 'Email of the recipient, where one was given' })),
    phone: word('Number of the mobile money account; null for other methods'),
    bank: Nullable(
      Type.Object(
        {
          account_number: Type.String({ description: 'Account number as the bank writes it' }),
          bank_code: Type.String({ description: 'Bank code, as in `banks` of GET /v1/payments/methods' }),
          account_name: Type.String({ description: 'Account holder, as you provided it' }),
        },
        { description: 'Account to pay to; null for a phone' },
      ),
    ),
  },
  { title: 'PayoutRecipient', description: 'Recipient of the payout' },
)

export const payoutStatus = OneOf(['pending', 'processing', 'completed', 'failed', 'cancelled', 'reversed'], {
  description: 'Status of the payout; `reversed`: completed, then returned and credited to the wallet',
})

export const Payout = Type.Object(
  {
    payout_id: Type.String({ description: 'Id of the payout, such as `po_…`' }),
    status: payoutStatus,
    amount: amount('Amount in major units'),
    currency,
    recipient: Recipient,
    fee: amount('Fee charged to you, in major units'),
    method,
    provider: word('Provider, such as `mpesa`; null until one is chosen'),
    description: word('Your description; null if none'),
    reference: word('Your own id for the object'),
    batch_id: word('Id of the bulk that contains it'),
    metadata: Metadata,
    scheduled_at: moment('Scheduled time of sending; null if at once'),
    in_review: Type.Boolean({ description: 'True while it awaits approval or rejection' }),
    risk: shownRisk,
    provider_reference: word('Id at the provider, such as a receipt code; null until it is known'),
    failure_reason: word('Failure code such as INSUFFICIENT_FUNDS; null unless it failed'),
    failure_message: word('Human-readable explanation'),
    created_at: At({ description: 'Time of the request' }),
    completed_at: moment('Time of completion; null until then'),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'Payout', description: 'Payout with its status' },
)

const PayoutEvent = Type.Object(
  {
    ...moneyFields,
    payout_id: Type.String({ description: 'Id of the payout, such as `po_…`' }),
    status: payoutStatus,
    amount: amount('Amount in major units'),
    currency,
    recipient: Recipient,
    metadata: Metadata,
    failure_reason: word('Failure code such as INSUFFICIENT_FUNDS; null unless it failed'),
    payout: Payout,
  },
  { title: 'PayoutEvent' },
)

const count = (description: string) => Type.Integer({ description })

export const batchFields = {
  batch_id: Type.String({ description: 'Id of the bulk, such as `pob_…`' }),
  status: OneOf(['processing', 'completed', 'cancelled'], {
    description: 'Status; `completed` once every payout is paid or failed',
  }),
  total_count: count('Items in the request'),
  accepted_count: count('Items that became payouts'),
  completed_count: count('Payouts that were paid'),
  failed_count: count('Payouts that failed'),
  cancelled_count: count('Payouts that you cancelled'),
  total_amount: amount('Sum over all accepted payouts'),
  total_fee: amount('Sum over all accepted payouts'),
  currency,
  created_at: At({ description: 'Time of the request' }),
}

const PayoutBatch = Type.Object(batchFields, {
  title: 'PayoutBatch',
  description: 'Batch of payouts with its counts',
})

const BatchCompleted = Type.Object(
  {
    ...moneyFields,
    batch_id: Type.String({ description: 'Id of the bulk, such as `pob_…`' }),
    status: OneOf(['completed', 'cancelled'], { description: '`cancelled` if you cancelled it' }),
    counts: Type.Object(
      {
        total: count('Items in the request'),
        accepted: count('Items that became payouts'),
        completed: count('Payouts that were paid'),
        failed: count('Payouts that failed'),
        cancelled: count('Payouts that you cancelled'),
      },
      { description: 'Items by outcome' },
    ),
    batch: PayoutBatch,
  },
  { title: 'PayoutBatchCompletedEvent' },
)

/** Sample of a payout. */
export const paidOut: Static<typeof Payout> = {
  payout_id: 'po_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'completed',
  amount: 2_000_000_000n,
  currency: 'KES',
  recipient: { name: null, phone: '+254711000001', bank: null },
  fee: 10_000_000n,
  method: 'mobile_money',
  provider: 'mpesa',
  description: 'Salary',
  reference: 'salary-9',
  batch_id: null,
  metadata: {},
  scheduled_at: null,
  in_review: false,
  risk: { risk_score: 9, risk_level: 'low', flags: ['new_recipient'] },
  provider_reference: 'NLM4CD12RT',
  failure_reason: null,
  failure_message: null,
  created_at: new Date('2026-03-01T09:15:00Z'),
  completed_at: now,
  updated_at: now,
}

const unpaid: Static<typeof Payout> = {
  ...paidOut,
  status: 'failed',
  provider_reference: null,
  failure_reason: 'RECIPIENT_NOT_FOUND',
  failure_message: 'The recipient has no account of this number.',
  completed_at: null,
}

const reversed: Static<typeof Payout> = {
  ...paidOut,
  status: 'reversed',
  failure_reason: 'REVERSED_BY_PROVIDER',
  failure_message: 'The provider took the money back.',
}

function flatPayout(payout: Static<typeof Payout>) {
  const { payout_id, status, amount, currency, recipient, metadata, failure_reason } = payout
  return { ...third, payout_id, status, amount, currency, recipient, metadata, failure_reason, payout }
}

const ofPayout = (name: string, summary: string, payout: Static<typeof Payout>) =>
  eventType({ name, summary, head: moneyHead, payload: PayoutEvent, sample: flatPayout(payout) })

export const payoutEvents = {
  completed: ofPayout('payout.completed', 'A payout was paid', paidOut),
  failed: ofPayout('payout.failed', 'A payout failed, and its amount is back in the wallet', unpaid),
  reversed: ofPayout('payout.reversed', 'The provider reversed a payout', reversed),
  batchCompleted: eventType({
    name: 'payout.batch_completed',
    summary: 'Every payout of a batch was paid, failed or was withdrawn',
    head: moneyHead,
    payload: BatchCompleted,
    sample: {
      livemode: false,
      sequence: 1,
      batch_id: 'pob_01jb2c3d4e5f6g7h8j9kamnpqr',
      status: 'completed',
      counts: { total: 3, accepted: 2, completed: 2, failed: 1, cancelled: 0 },
      batch: {
        batch_id: 'pob_01jb2c3d4e5f6g7h8j9kamnpqr',
        status: 'completed',
        total_count: 3,
        accepted_count: 2,
        completed_count: 2,
        failed_count: 1,
        cancelled_count: 0,
        total_amount: 4_000_000_000n,
        total_fee: 20_000_000n,
        currency: 'KES',
        created_at: new Date('2026-03-01T09:14:00Z'),
      },
    },
  }),
}
