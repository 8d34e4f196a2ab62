// SPDX-License-Identifier: Apache-2.0
// telebirr's web checkout, both ends. Every request is signed over its own fields and those of its content, sorted, with
// RSA-PSS; so is the address of the page that the payer is sent to.
import { constants, createPublicKey, sign, verify } from 'node:crypto'
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

export const telebirrPaths = {
  token: '/payment/v1/token',
  order: '/payment/v1/merchant/preOrder',
  query: '/payment/v1/merchant/queryOrder',
} as const

const signType = 'SHA256WithRSA'
const version = '1.0'
const tradeType = 'Checkout'
const saltBytes = 32
const maxTitleLength = 100
/** Members that are not signed. `biz_content` is by what it holds. */
const unsigned = new Set(['sign', 'sign_type', 'header', 'refund_info', 'openType', 'raw_request', 'biz_content'])

type Fields = Readonly<Record<string, string>>

/** Time and nonce of a signature; the nonce is new each time. */
export interface TelebirrMoment {
  nonce: string
  atSeconds: number
}

export interface TelebirrMerchant {
  appId: string
  shortCode: string
}

export interface TelebirrOrder extends TelebirrMerchant {
  /** Ours, letters and digits. */
  orderId: string
  /** Major units, as decimal text. */
  amount: string
  currency: string
  title: string
  notifyUrl: string
  returnUrl: string
  /** Lifetime of the page. */
  minutes: number
}

export function telebirrOrderBody(order: TelebirrOrder, moment: TelebirrMoment, key: string) {
  return signedBody('payment.preorder', moment, key, {
    notify_url: order.notifyUrl,
    redirect_url: order.returnUrl,
    trade_type: tradeType,
    appid: order.appId,
    merch_code: order.shortCode,
    merch_order_id: order.orderId,
    title: plainText(order.title, maxTitleLength, /[^A-Za-z0-9 ]/g) || 'Payment',
    total_amount: order.amount,
    trans_currency: order.currency,
    timeout_express: `${order.minutes}m`,
    payee_identifier: order.shortCode,
    payee_identifier_type: '04',
    payee_type: '5000',
    business_type: 'BuyGoods',
  })
}

export function telebirrQueryBody(
  { appId, shortCode }: TelebirrMerchant,
  orderId: string,
  moment: TelebirrMoment,
  key: string,
) {
  return signedBody('payment.queryorder', moment, key, { appid: appId, merch_code: shortCode, merch_order_id: orderId })
}

function signedBody(method: string, { nonce, atSeconds }: TelebirrMoment, key: string, content: Fields) {
  const fields = { nonce_str: nonce, method, timestamp: String(atSeconds), version }
  const signature = telebirrSignature({ ...fields, ...content }, key)
  return { ...fields, biz_content: content, sign: signature, sign_type: signType }
}

/** URL of an order's page for the payer. */
export function telebirrPageUrl(
  page: string,
  { appId, shortCode }: TelebirrMerchant,
  prepayId: string,
  { nonce, atSeconds }: TelebirrMoment,
  key: string,
): string {
  const fields = {
    appid: appId,
    merch_code: shortCode,
    nonce_str: nonce,
    prepay_id: prepayId,
    timestamp: String(atSeconds),
  }
  const query = new URLSearchParams({
    ...fields,
    sign: telebirrSignature(fields, key),
    sign_type: signType,
    version,
    trade_type: tradeType,
  })
  return `${page}?${query}`
}

function telebirrSignature(fields: Fields, key: string): string {
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: saltBytes }
  return sign('sha256', Buffer.from(signedText(fields)), { key, ...padding }).toString('base64')
}

/** Whether a body was signed with the private half of the key. */
export function isTelebirrSigned(body: unknown, publicKey: string): boolean {
  const members = membersOf(body)
  const fields: Record<string, string> = {}
  for (const [name, value] of [...Object.entries(members), ...Object.entries(membersOf(members.biz_content))])
    if (!unsigned.has(name)) fields[name] = textOf(value)
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: saltBytes }
  const key = { key: createPublicKey(publicKey), ...padding }
  return verify('sha256', Buffer.from(signedText(fields)), key, Buffer.from(textOf(members.sign), 'base64'))
}

function signedText(fields: Fields): string {
  return Object.entries(fields)
    .filter(([name, value]) => !unsigned.has(name) && value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')
}

export type TelebirrAnswer =
  | { kind: 'opened'; prepayId: string }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The token is not (or no longer) good. */
  | { kind: 'token' }
  | { kind: 'strange' }

export function readTelebirrAnswer(status: number, body: unknown): TelebirrAnswer {
  const members = membersOf(body)
  if (status === 401 || status === 403) return { kind: 'token' }
  if (status === 429 || status === 503) return { kind: 'busy', code: String(status) }
  const prepayId = textOf(membersOf(members.biz_content).prepay_id)
  const isDone = members.result === 'SUCCESS'
  if (status === 200 && isDone && prepayId !== '') return { kind: 'opened', prepayId }
  const code = textOf(members.code)
  if (status >= 500 || isDone || (status === 200 && code === '')) return { kind: 'strange' }
  return { kind: 'refused', code: code || String(status) }
}

const waiting = ['WAIT_PAY', 'PAYING', 'ACCEPTED'] as const
const ended = ['PAY_SUCCESS', 'PAY_FAILED', 'ORDER_CLOSED'] as const
export type TelebirrState = (typeof waiting)[number] | (typeof ended)[number]

/** State of an order; null when the answer has none. */
export function readTelebirrState(
  status: number,
  body: unknown,
): { state: TelebirrState; amount: string; currency: string; receipt: string | null } | null {
  const members = membersOf(body)
  const content = membersOf(members.biz_content)
  const state = [...waiting, ...ended].find((one) => one === content.order_status)
  if (status !== 200 || members.result !== 'SUCCESS' || !state) return null
  return {
    state,
    amount: textOf(content.total_amount),
    currency: textOf(content.trans_currency),
    receipt: textOf(content.trans_id) || null,
  }
}

/** Answer to an order or a query, as the provider writes it. */
export function telebirrAnswerBody(content: Fields) {
  return { result: 'SUCCESS', code: '0', msg: 'success', nonce_str: 'n', sign_type: signType, biz_content: content }
}

export interface TelebirrNotice {
  orderId: string
  isPaid: boolean
  amount: string
  currency: string
  receipt: string | null
}

export function telebirrNoticeBody({ orderId, isPaid, amount, currency, receipt }: TelebirrNotice) {
  return {
    merch_order_id: orderId,
    trade_status: isPaid ? 'Completed' : 'Failure',
    total_amount: amount,
    trans_currency: currency,
    trans_id: receipt ?? '',
  }
}

export function readTelebirrNotice(body: unknown): TelebirrNotice | null {
  const members = membersOf(body)
  const orderId = textOf(members.merch_order_id)
  const status = textOf(members.trade_status)
  if (orderId === '' || (status !== 'Completed' && status !== 'Failure')) return null
  return {
    orderId,
    isPaid: status === 'Completed',
    amount: textOf(members.total_amount),
    currency: textOf(members.trans_currency),
    receipt: textOf(members.trans_id) || null,
  }
}
