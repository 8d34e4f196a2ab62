// SPDX-License-Identifier: Apache-2.0
// Safaricom's Daraja, both ends: the bodies of an STK push (a prompt on the payer's phone), of its callback and of its
// query, as the provider writes them, misspellings and changing types included.
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

/** The provider's hour, three ahead of UTC, all year. */
const eastAfricaMs = 3 * 3_600_000

export interface StkPush {
  shortcode: string
  passkey: string
  /** Amount in whole shillings. */
  amount: string
  /** E.164. */
  phone: string
  callbackUrl: string
  /** Shown to the payer; cut to what fits. */
  reference: string
  description: string
  at: Date
}

/** `20260301121530`, in the provider's time zone. */
function timestampOf(at: Date): string {
  return new Date(at.getTime() + eastAfricaMs).toISOString().replace(/\D/g, '').slice(0, 14)
}

export function passwordOf(shortcode: string, passkey: string, timestamp: string): string {
  return Buffer.from(shortcode + passkey + timestamp).toString('base64')
}

export function stkPushBody(push: StkPush): Record<string, string> {
  const timestamp = timestampOf(push.at)
  const msisdn = push.phone.replace('+', '')
  return {
    BusinessShortCode: push.shortcode,
    Password: passwordOf(push.shortcode, push.passkey, timestamp),
    Timestamp: timestamp,
    TransactionType: 'CustomerPayBillOnline',
    Amount: push.amount,
    PartyA: msisdn,
    PartyB: push.shortcode,
    PhoneNumber: msisdn,
    CallBackURL: push.callbackUrl,
    AccountReference: plainText(push.reference, 12) || 'Payment',
    TransactionDesc: plainText(push.description, 13) || 'Payment',
  }
}

export function stkQueryBody(
  { shortcode, passkey, at }: Pick<StkPush, 'shortcode' | 'passkey' | 'at'>,
  checkoutId: string,
): Record<string, string> {
  const timestamp = timestampOf(at)
  return {
    BusinessShortCode: shortcode,
    Password: passwordOf(shortcode, passkey, timestamp),
    Timestamp: timestamp,
    CheckoutRequestID: checkoutId,
  }
}

export type StkPushAnswer =
  | { kind: 'accepted'; checkoutId: string }
  | { kind: 'refused'; code: string; message: string }
  /** The token is not (or no longer) good. */
  | { kind: 'token' }
  /** Nothing was taken. */
  | { kind: 'busy' }
  | { kind: 'strange' }

export function readStkPushAnswer(status: number, body: unknown): StkPushAnswer {
  const fields = membersOf(body)
  if (status === 200 && textOf(fields.ResponseCode) === '0' && textOf(fields.CheckoutRequestID) !== '')
    return { kind: 'accepted', checkoutId: textOf(fields.CheckoutRequestID) }
  const code = textOf(fields.errorCode) || textOf(fields.ResponseCode)
  if (isTokenError(status, code)) return { kind: 'token' }
  if (isBusy(status, code)) return { kind: 'busy' }
  const message = textOf(fields.errorMessage) || textOf(fields.ResponseDescription)
  // Taken, and not under which id: that is no refusal.
  return code === '' || code === '0' ? { kind: 'strange' } : { kind: 'refused', code, message }
}

export type StkQueryAnswer =
  /** The payer has not decided yet. */
  { kind: 'pending' } | { kind: 'final'; resultCode: string } | { kind: 'token' } | { kind: 'strange' }

/** The result of a prompt that has none yet. */
const underWayCode = '4999'

/**
 * While a prompt is open the provider answers 500 with the code of a failure, or 200 with a result that is none: both are its
 * word for pending.
 */
export function readStkQueryAnswer(status: number, body: unknown): StkQueryAnswer {
  const fields = membersOf(body)
  const code = textOf(fields.errorCode)
  if (isTokenError(status, code)) return { kind: 'token' }
  const resultCode = textOf(fields.ResultCode)
  if (code === '500.001.1001' || resultCode === underWayCode) return { kind: 'pending' }
  return status === 200 && resultCode !== '' ? { kind: 'final', resultCode } : { kind: 'strange' }
}

export interface StkCallback {
  checkoutId: string
  resultCode: string
  /** Amount of a success: whole and decimal digits as the provider wrote them. */
  amount: string | null
  receipt: string | null
}

export function readStkCallback(body: unknown): StkCallback | null {
  const callback = membersOf(membersOf(membersOf(body).Body).stkCallback)
  const checkoutId = textOf(callback.CheckoutRequestID)
  const resultCode = textOf(callback.ResultCode)
  if (checkoutId === '' || resultCode === '') return null
  const items = membersOf(callback.CallbackMetadata).Item
  const item = (name: string): string | null => {
    if (!Array.isArray(items)) return null
    const found = items.find((one) => membersOf(one).Name === name)
    return textOf(membersOf(found).Value) || null
  }
  return { checkoutId, resultCode, amount: item('Amount'), receipt: item('MpesaReceiptNumber') }
}

export function stkCallbackBody(
  { checkoutId, resultCode, amount, receipt }: StkCallback,
  {
    merchantRequestId,
    description,
    phone,
    at,
  }: { merchantRequestId: string; description: string; phone: string; at: Date },
): object {
  const paid = [
    { Name: 'Amount', Value: Number(amount) },
    { Name: 'MpesaReceiptNumber', Value: receipt },
    { Name: 'Balance' },
    { Name: 'TransactionDate', Value: Number(timestampOf(at)) },
    { Name: 'PhoneNumber', Value: Number(phone.replace('+', '')) },
  ]
  return {
    Body: {
      stkCallback: {
        MerchantRequestID: merchantRequestId,
        CheckoutRequestID: checkoutId,
        ResultCode: Number(resultCode),
        ResultDesc: description,
        ...(resultCode === '0' ? { CallbackMetadata: { Item: paid } } : {}),
      },
    },
  }
}

const tokenCodes = new Set(['404.001.03', '400.003.01', '401.002.01'])

/** Whether a request was turned away because its token is not, or no longer, good. */
export function isTokenError(status: number, code: string): boolean {
  return status === 401 || tokenCodes.has(code)
}

const busyCodes = new Set(['500.003.02', '500.003.03'])

/** Whether a request was not taken for want of room. The gateway in front of the provider says so without a code. */
export function isBusy(status: number, code: string): boolean {
  return status === 429 || busyCodes.has(code)
}
