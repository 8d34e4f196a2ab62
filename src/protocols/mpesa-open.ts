// SPDX-License-Identifier: Apache-2.0
// M-Pesa's Open API, both ends: that of Vodacom's countries, which is not Safaricom's. A session is asked for with the
// application's key, and each request is made with the session, both encrypted for the provider's public key.
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

/** `market` is a country's part of the path, such as vodacomTZN. */
export function mpesaOpenPath(
  market: string,
  what: 'getSession' | 'c2bPayment/singleStage' | 'queryTransactionStatus',
) {
  return `/ipg/v2/${market}/${what}/`
}

export const mpesaOpenCodes = {
  success: 'INS-0',
  internalError: 'INS-1',
  badKey: 'INS-2',
  inactive: 'INS-4',
  cancelled: 'INS-5',
  failed: 'INS-6',
  timedOut: 'INS-9',
  repeated: 'INS-10',
  overloaded: 'INS-16',
  unknownTransaction: 'INS-18',
  unknownReference: 'INS-19',
  unknownStatus: 'INS-23',
  overLimit: 'INS-990',
  profileLimit: 'INS-991',
  sessionError: 'INS-989',
  notEnoughMoney: 'INS-2006',
  badNumber: 'INS-2051',
} as const

export interface MpesaOpenPayment {
  /** Ours, at most 40 letters and digits; the payment can be asked about by it. */
  conversationId: string
  /** Reference of at most 20 letters and digits. */
  reference: string
  country: string
  currency: string
  serviceProviderCode: string
  /** E.164. */
  phone: string
  /** Major units, as decimal text. */
  amount: string
  description: string
}

export function mpesaOpenPaymentBody(payment: MpesaOpenPayment) {
  return {
    input_Amount: payment.amount,
    input_Country: payment.country,
    input_Currency: payment.currency,
    input_CustomerMSISDN: payment.phone.replace(/^\+/, ''),
    input_ServiceProviderCode: payment.serviceProviderCode,
    input_ThirdPartyConversationID: payment.conversationId,
    input_TransactionReference: payment.reference,
    input_PurchasedItemsDesc: plainText(payment.description, 256, /[^A-Za-z0-9 ]/g) || 'Payment',
  }
}

export function mpesaOpenQuery(asked: {
  reference: string
  conversationId: string
  serviceProviderCode: string
  country: string
}): URLSearchParams {
  return new URLSearchParams({
    input_QueryReference: asked.reference,
    input_ServiceProviderCode: asked.serviceProviderCode,
    input_ThirdPartyConversationID: asked.conversationId,
    input_Country: asked.country,
  })
}

export type MpesaOpenAnswer =
  /** The receipt is there where the provider waited for the payer. */
  | { kind: 'accepted'; receipt: string | null }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The session is not (or no longer) good. */
  | { kind: 'token' }
  | { kind: 'strange' }

const { success, overloaded, badKey, sessionError } = mpesaOpenCodes
/** Codes that are said of a payment that may have been made. */
const unclear: ReadonlySet<string> = new Set([
  mpesaOpenCodes.internalError,
  mpesaOpenCodes.timedOut,
  mpesaOpenCodes.repeated,
  mpesaOpenCodes.unknownStatus,
])

export function readMpesaOpenAnswer(status: number, body: unknown): MpesaOpenAnswer {
  const members = membersOf(body)
  const code = textOf(members.output_ResponseCode)
  if (status === 401 || code === badKey || code === sessionError) return { kind: 'token' }
  if (status === 429 || status === 503 || code === overloaded) return { kind: 'busy', code: code || String(status) }
  if (code === success && status < 300) return { kind: 'accepted', receipt: receiptIn(members.output_TransactionID) }
  if (code === '' || code === success || unclear.has(code) || (status >= 500 && !isRefusal(code)))
    return { kind: 'strange' }
  return { kind: 'refused', code }
}

/** Whether a code is a refusal by the payer, which comes with any status. */
function isRefusal(code: string): boolean {
  const { cancelled, failed, overLimit, profileLimit, notEnoughMoney, badNumber, inactive } = mpesaOpenCodes
  const payers: readonly string[] = [cancelled, failed, overLimit, profileLimit, notEnoughMoney, badNumber, inactive]
  return payers.includes(code)
}

export type MpesaOpenState =
  | { kind: 'pending' }
  | { kind: 'paid'; receipt: string | null }
  | { kind: 'ended'; word: string }
  /** The provider has never heard of it. */
  | { kind: 'missing' }
  | { kind: 'token' }
  | { kind: 'strange' }

const endings: ReadonlySet<string> = new Set(['cancelled', 'declined', 'expired', 'failed', 'rejected'])

export function readMpesaOpenState(status: number, body: unknown): MpesaOpenState {
  const members = membersOf(body)
  const code = textOf(members.output_ResponseCode)
  if (status === 401 || code === badKey || code === sessionError) return { kind: 'token' }
  if (code === mpesaOpenCodes.unknownTransaction || code === mpesaOpenCodes.unknownReference) return { kind: 'missing' }
  if (code !== success || status >= 300) return { kind: 'strange' }
  const word = textOf(members.output_ResponseTransactionStatus).toLowerCase()
  if (word === 'completed') return { kind: 'paid', receipt: receiptIn(members.output_OriginalTransactionID) }
  if (endings.has(word)) return { kind: 'ended', word }
  return word === '' ? { kind: 'strange' } : { kind: 'pending' }
}

/** Receipt; null while the provider has words in its place. */
function receiptIn(value: unknown): string | null {
  const text = textOf(value)
  return text === '' || text === 'N/A' ? null : text
}

export function mpesaOpenAnswerBody(code: string, more: Readonly<Record<string, string>> = {}) {
  return { output_ResponseCode: code, output_ResponseDesc: code, ...more }
}
