// SPDX-License-Identifier: Apache-2.0
// Payment objects of replies and events.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { maskedAccount } from '../providers/banks.ts'
import { failureMessages } from '../providers/provider.ts'
import type { Payment, Refund } from './events.ts'
import { open, type PaymentRow } from './store.ts'

/** The newest of its refunds are shown where they were read. */
export function recordOf(row: PaymentRow, refunds: readonly Static<typeof Refund>[] = []): Static<typeof Payment> {
  const { id, fee, amount, refunded, failure_reason } = row
  return {
    payment_id: idOf('payment', id),
    status: row.status,
    amount,
    currency: row.currency,
    provider: row.provider,
    completed_at: row.completed_at,
    receipt_url: row.receipt_url,
    method: row.method,
    phone: row.phone,
    reference: row.reference,
    description: row.description,
    customer: row.customer,
    metadata: row.metadata,
    fee,
    net_amount: amount - fee,
    provider_reference: row.provider_reference,
    amount_refunded: refunded,
    refund_status: refunded === 0n ? 'none' : refunded < amount ? 'partial' : 'full',
    refunds: [...refunds],
    failure_reason,
    failure_message: sentenceOf(failure_reason),
    risk: row.risk,
    late: row.late,
    invoice_id: row.invoice_id && idOf('invoice', row.invoice_id),
    ...(row.dispute_status === null ? {} : { dispute_status: row.dispute_status }),
    ...shownOf(row),
    expires_at: row.expires_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

type Shown = Pick<
  Static<typeof Payment>,
  | 'ussd_code'
  | 'redirect_url'
  | 'card'
  | 'card_token'
  | 'authorised_until'
  | 'amount_authorised'
  | 'bank'
  | 'bank_transfer'
  | 'payment_link_id'
>

/** Fields that the method shows, in the states in which it does. */
function shownOf({ status, details, amount, expires_at }: PaymentRow): Shown {
  const {
    ussd_code,
    redirect_url,
    card,
    card_token,
    authorised_until,
    amount_authorised,
    bank,
    pay_into,
    payment_link,
  } = details
  return {
    ...(ussd_code !== undefined && open.includes(status) ? { ussd_code } : {}),
    ...(card ? { card } : {}),
    ...(redirect_url !== undefined && status === 'requires_action' ? { redirect_url } : {}),
    ...(card_token !== undefined && status === 'completed' ? { card_token } : {}),
    ...(authorised_until && status === 'processing' ? { authorised_until: new Date(authorised_until) } : {}),
    ...(amount_authorised === undefined ? {} : { amount_authorised: BigInt(amount_authorised) }),
    ...(bank ? { bank: maskedAccount(bank) } : {}),
    ...(payment_link === undefined ? {} : { payment_link_id: payment_link }),
    ...(pay_into ? { bank_transfer: { ...pay_into, amount, expires_at } } : {}),
  }
}

/** Body of an event: the main fields at the top, the whole payment below. */
export function toldOf(row: PaymentRow, refunds: readonly Static<typeof Refund>[] = []) {
  const payment = recordOf(row, refunds)
  const { payment_id, status, amount, currency, metadata, customer, failure_reason } = payment
  const { environment, sequence } = row
  const head = { livemode: environment === 'live', sequence }
  return { ...head, payment_id, status, amount, currency, metadata, customer, failure_reason, payment }
}

export function paymentUuid(id: string): string {
  const uuid = uuidOf('payment', id) ?? uuidOf('transaction', id)
  if (uuid === null) throw noSuchPayment()
  return uuid
}

export function noSuchPayment(): AppError {
  return new AppError('NOT_FOUND', 'there is no such payment; the ids of payments begin with pay_')
}

export function sentenceOf(reason: string | null): string | null {
  const messages: Readonly<Record<string, string>> = failureMessages
  return reason === null ? null : (messages[reason] ?? null)
}

/** A phone as lists show it: `+2547****0001`. */
export function masked(phone: string): string {
  return `${phone.slice(0, 5)}****${phone.slice(-4)}`
}
