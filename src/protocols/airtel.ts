// SPDX-License-Identifier: Apache-2.0
// Airtel Money, both ends: the body of a payment (a collection) or of a disbursement (a payout), the answer to it, and the
// answer to the question how it went. Every answer has a `status` of the call and, where the call reached a payment, the payment's own state.
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

/** The beginning of every code of a collection; what follows is what it means. */
const family = 'DP00800001'

export const airtelCodes = {
  ambiguous: `${family}000`,
  success: `${family}001`,
  wrongPin: `${family}002`,
  overLimit: `${family}003`,
  badAmount: `${family}004`,
  noPin: `${family}005`,
  inProcess: `${family}006`,
  notEnoughMoney: `${family}007`,
  refused: `${family}008`,
  notHonoured: `${family}009`,
  notPermitted: `${family}010`,
  timedOut: `${family}024`,
  notFound: `${family}025`,
  expired: `${family}029`,
} as const

/** Family of disbursement codes. */
const payoutFamily = 'DP00900001'

export const airtelPayoutCodes = {
  ambiguous: `${payoutFamily}000`,
  success: `${payoutFamily}001`,
  overLimit: `${payoutFamily}003`,
  badAmount: `${payoutFamily}004`,
  inProcess: `${payoutFamily}006`,
  notEnoughMoney: `${payoutFamily}007`,
  repeated: `${payoutFamily}009`,
  noRecipient: `${payoutFamily}012`,
  failed: `${payoutFamily}014`,
  notFound: `${payoutFamily}015`,
} as const

export interface AirtelPayment {
  /** Ours. */
  id: string
  reference: string
  country: string
  currency: string
  /** Number without the country's calling code. */
  msisdn: string
  /** Major units, as decimal text. */
  amount: string
}

export function airtelPaymentBody({ id, reference, country, currency, msisdn, amount }: AirtelPayment) {
  return {
    reference: plainReference(reference) || 'Payment',
    subscriber: { country, currency, msisdn },
    transaction: { amount: Number(amount), country, currency, id },
  }
}

export interface AirtelDisbursement extends Pick<AirtelPayment, 'id' | 'reference' | 'msisdn' | 'amount'> {
  /** Encrypted for the provider. */
  pin: string
}

export function airtelDisbursementBody({ id, reference, msisdn, amount, pin }: AirtelDisbursement) {
  return {
    payee: { msisdn },
    reference: plainReference(reference) || 'Payout',
    pin,
    transaction: { amount: Number(amount), id },
  }
}

export type AirtelPaymentAnswer =
  | { kind: 'accepted' }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The token is not (or no longer) good. */
  | { kind: 'token' }
  | { kind: 'strange' }

const takenCodes: ReadonlySet<string> = new Set([
  airtelCodes.inProcess,
  airtelCodes.success,
  airtelPayoutCodes.inProcess,
  airtelPayoutCodes.success,
])
const ambiguousCodes: ReadonlySet<string> = new Set([airtelCodes.ambiguous, airtelPayoutCodes.ambiguous])
const notFoundCodes: ReadonlySet<string> = new Set([airtelCodes.notFound, airtelPayoutCodes.notFound])

export function readAirtelPaymentAnswer(status: number, body: unknown): AirtelPaymentAnswer {
  if (status === 401) return { kind: 'token' }
  if (status === 429) return { kind: 'busy', code: '429' }
  const { code, success } = callOf(body)
  if (success && takenCodes.has(code)) return { kind: 'accepted' }
  // An ambiguous request may have been taken, and so may one that a broken server reports.
  if (success || ambiguousCodes.has(code) || status >= 500 || code === '') return { kind: 'strange' }
  return { kind: 'refused', code }
}

export type AirtelResult =
  | { kind: 'pending' }
  | { kind: 'paid'; receipt: string | null }
  | { kind: 'failed'; code: string }
  /** The provider has never heard of it. */
  | { kind: 'missing' }
  | { kind: 'token' }
  | { kind: 'strange' }

/** TS is a success, TF a failure, TIP in progress, TA ambiguous and TE expired. */
export function readAirtelResult(status: number, body: unknown): AirtelResult {
  if (status === 401) return { kind: 'token' }
  const { code } = callOf(body)
  const transaction = membersOf(membersOf(membersOf(body).data).transaction)
  if (status === 200)
    switch (transaction.status) {
      case 'TS':
        return { kind: 'paid', receipt: textOf(transaction.airtel_money_id) || null }
      case 'TF':
        return { kind: 'failed', code: code || 'TF' }
      case 'TE':
        return { kind: 'failed', code: airtelCodes.expired }
      case 'TIP':
      case 'TA':
        return { kind: 'pending' }
    }
  return notFoundCodes.has(code) ? { kind: 'missing' } : { kind: 'strange' }
}

/** A payment is given back whole, by the provider's own id of it. */
export function airtelRefundBody(airtelMoneyId: string) {
  return { transaction: { airtel_money_id: airtelMoneyId } }
}

export type AirtelRefundAnswer =
  | { kind: 'refunded'; receipt: string | null }
  | Exclude<AirtelPaymentAnswer, { kind: 'accepted' }>

/** The answer to a refund is all that is ever told of it. */
export function readAirtelRefundAnswer(status: number, body: unknown): AirtelRefundAnswer {
  const heard = readAirtelPaymentAnswer(status, body)
  const transaction = membersOf(membersOf(membersOf(body).data).transaction)
  const isDone = status === 200 && callOf(body).success && transaction.status === 'SUCCESS'
  if (isDone) return { kind: 'refunded', receipt: textOf(transaction.airtel_money_id) || null }
  return heard.kind === 'accepted' ? { kind: 'strange' } : heard
}

/** Every answer, as the provider writes it. */
export function airtelAnswerBody(code: string, transaction?: Record<string, string>): object {
  const isTaken = takenCodes.has(code) || transaction !== undefined
  return {
    ...(transaction === undefined ? {} : { data: { transaction } }),
    status: {
      code: isTaken ? '200' : '400',
      message: isTaken ? 'SUCCESS' : 'FAILED',
      result_code: isTaken ? 'ESB000010' : 'ESB000008',
      response_code: code,
      success: isTaken,
    },
  }
}

function callOf(body: unknown): { code: string; success: boolean } {
  const status = membersOf(membersOf(body).status)
  return { code: textOf(status.response_code), success: status.success === true }
}

function plainReference(text: string): string {
  return plainText(text, 64, /[^A-Za-z0-9 ]/g)
}
