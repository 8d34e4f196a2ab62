// SPDX-License-Identifier: Apache-2.0
// Orange Money's web payment, both ends: what opens a payment, the notice about it, and the answer to the question how it
// went. The provider makes two tokens: one names the payment when it is asked about, the other proves that a notice is its own.
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

export const orangeMoneyTokenPath = '/oauth/v3/token'

/** `market` is a country, such as ci, or dev for the provider's own sandbox. */
export function orangeMoneyPath(market: string, what: 'webpayment' | 'transactionstatus'): string {
  return `/orange-money-webpay/${market}/v1/${what}`
}

/** The money of the provider's own sandbox. */
export const orangeMoneyPlayMoney = 'OUV'

const maxReferenceLength = 30

export interface OrangeMoneyPayment {
  merchantKey: string
  currency: string
  /** Ours, at most 30 characters; each is taken once. */
  orderId: string
  /** Major units, as decimal text. */
  amount: string
  returnUrl: string
  notifyUrl: string
  language: string
  reference: string
}

export function orangeMoneyPaymentBody(payment: OrangeMoneyPayment) {
  const { merchantKey, currency, orderId, amount, returnUrl, notifyUrl, language, reference } = payment
  return {
    merchant_key: merchantKey,
    currency,
    order_id: orderId,
    amount: Number(amount),
    return_url: returnUrl,
    cancel_url: returnUrl,
    notif_url: notifyUrl,
    lang: language,
    reference: plainText(reference, maxReferenceLength, /[^A-Za-z0-9 .-]/g) || 'Payment',
  }
}

export type OrangeMoneyAnswer =
  | { kind: 'opened'; payToken: string; paymentUrl: string; notifyToken: string }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The token of the application is not (or no longer) good. */
  | { kind: 'token' }
  | { kind: 'strange' }

export function readOrangeMoneyAnswer(status: number, body: unknown): OrangeMoneyAnswer {
  const members = membersOf(body)
  if (status === 401) return { kind: 'token' }
  if (status === 429 || status === 503) return { kind: 'busy', code: String(status) }
  const payToken = textOf(members.pay_token)
  const paymentUrl = textOf(members.payment_url)
  const notifyToken = textOf(members.notif_token)
  if ((status === 200 || status === 201) && payToken && paymentUrl && notifyToken)
    return { kind: 'opened', payToken, paymentUrl, notifyToken }
  // A server in trouble may have opened it; its payer was sent nowhere all the same.
  if (status < 400 || status >= 500) return { kind: 'strange' }
  return { kind: 'refused', code: textOf(members.code) || String(status) }
}

export function orangeMoneyStateBody(asked: { orderId: string; amount: string; payToken: string }) {
  return { order_id: asked.orderId, amount: Number(asked.amount), pay_token: asked.payToken }
}

const states = ['INITIATED', 'PENDING', 'SUCCESS', 'FAILED', 'EXPIRED'] as const
export type OrangeMoneyState = (typeof states)[number]

/** State of a payment; null when the answer has none. */
export function readOrangeMoneyState(
  status: number,
  body: unknown,
): { state: OrangeMoneyState; receipt: string | null } | null {
  const members = membersOf(body)
  const state = states.find((one) => one === members.status)
  return state && status < 300 ? { state, receipt: textOf(members.txnid) || null } : null
}

export interface OrangeMoneyNotice {
  state: 'SUCCESS' | 'FAILED'
  notifyToken: string
  receipt: string | null
}

export function orangeMoneyNoticeBody({ state, notifyToken, receipt }: OrangeMoneyNotice) {
  return { status: state, notif_token: notifyToken, txnid: receipt ?? '' }
}

export function readOrangeMoneyNotice(body: unknown): OrangeMoneyNotice | null {
  const { status, notif_token, txnid } = membersOf(body)
  const notifyToken = textOf(notif_token)
  if ((status !== 'SUCCESS' && status !== 'FAILED') || notifyToken === '') return null
  return { state: status, notifyToken, receipt: textOf(txnid) || null }
}
