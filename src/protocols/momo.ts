// SPDX-License-Identifier: Apache-2.0
// MTN's MoMo, both ends: the body of a request to pay (a collection) or of a transfer (a payout), the answer to it, and how
// it went, which is told in the same words when it is asked for and when the provider calls back.
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

/** The provider shows no more of a text. */
const maxTextLength = 160

export interface RequestToPay {
  /** Major units, as decimal text. */
  amount: string
  currency: string
  /** Given back with the callback. */
  externalId: string
  /** E.164. */
  phone: string
  payerMessage: string
  payeeNote: string
}

export function requestToPayBody({ amount, currency, externalId, phone, payerMessage, payeeNote }: RequestToPay) {
  return {
    amount,
    currency,
    externalId,
    payer: { partyIdType: 'MSISDN', partyId: phone.replace('+', '') },
    payerMessage: plainText(payerMessage, maxTextLength) || 'Payment',
    payeeNote: plainText(payeeNote, maxTextLength) || 'Payment',
  }
}

export interface MomoRefund extends Omit<RequestToPay, 'phone'> {
  /** The reference of the request to pay. */
  referenceIdToRefund: string
}

/** Body of a refund; its answers, polls and callbacks are those of a request to pay. */
export function refundBody({ payerMessage, payeeNote, ...rest }: MomoRefund) {
  return {
    ...rest,
    payerMessage: plainText(payerMessage, maxTextLength) || 'Refund',
    payeeNote: plainText(payeeNote, maxTextLength) || 'Refund',
  }
}

export function transferBody({ amount, currency, externalId, phone, payerMessage, payeeNote }: RequestToPay) {
  const { payer: payee, ...rest } = requestToPayBody({ amount, currency, externalId, phone, payerMessage, payeeNote })
  return { ...rest, payee }
}

/** The answer to a request to pay, and to one for a transfer. */
export type RequestToPayAnswer =
  | { kind: 'accepted' }
  /** Reference accepted before. */
  | { kind: 'repeated' }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The token is not (or no longer) good. */
  | { kind: 'token' }
  | { kind: 'strange' }

export function readRequestToPayAnswer(status: number, body: unknown): RequestToPayAnswer {
  const code = textOf(membersOf(body).code)
  if (status === 202) return { kind: 'accepted' }
  if (status === 409 && (code === '' || code === 'RESOURCE_ALREADY_EXIST')) return { kind: 'repeated' }
  if (status === 401) return { kind: 'token' }
  if (status === 429) return { kind: 'busy', code: code || '429' }
  if (status === 503 && code === 'SERVICE_UNAVAILABLE') return { kind: 'busy', code }
  // A gateway that gave up waiting: the payer may have been asked.
  if (status === 408) return { kind: 'strange' }
  return status >= 400 && status < 500 ? { kind: 'refused', code: code || String(status) } : { kind: 'strange' }
}

export interface PaymentResult {
  externalId: string
  status: 'PENDING' | 'SUCCESSFUL' | 'FAILED'
  /** Decimal text. */
  amount: string | null
  /** Currency; empty where it is not said. */
  currency: string
  financialTransactionId: string | null
  /** Reason of a failure. */
  reason: string | null
}

/** Result of a payment; null when the body is none. The reason is a word here and an object there. */
export function readPaymentResult(body: unknown): PaymentResult | null {
  const fields = membersOf(body)
  const { status } = fields
  if (status !== 'PENDING' && status !== 'SUCCESSFUL' && status !== 'FAILED') return null
  return {
    externalId: textOf(fields.externalId),
    status,
    amount: textOf(fields.amount) || null,
    currency: textOf(fields.currency),
    financialTransactionId: textOf(fields.financialTransactionId) || null,
    reason: textOf(fields.reason) || textOf(membersOf(fields.reason).code) || null,
  }
}

export function paymentResultBody(
  { externalId, status, amount, financialTransactionId, reason }: PaymentResult,
  { currency, phone }: { currency: string; phone: string },
  party: 'payer' | 'payee' = 'payer',
): object {
  return {
    ...(financialTransactionId === null ? {} : { financialTransactionId }),
    externalId,
    amount,
    currency,
    [party]: { partyIdType: 'MSISDN', partyId: phone.replace('+', '') },
    status,
    ...(reason === null ? {} : { reason: { code: reason, message: reason } }),
  }
}
