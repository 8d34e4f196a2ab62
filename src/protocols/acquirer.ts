// SPDX-License-Identifier: Apache-2.0
// Card acquirer protocol: payment intents that are confirmed when created, captured, cancelled and refunded. Every
// writing request carries an Idempotency-Key, under which it is done once. An intent is found by the merchant's own
// reference, even when the answer got lost. Notices are signed over their time and their bytes.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { membersOf, textOf } from './json.ts'

export const acquirerPaths = {
  intents: '/v1/payment_intents',
  refunds: '/v1/refunds',
  disputes: '/v1/disputes',
} as const
export const signatureHeader = 'acquirer-signature'

const intentStatuses = ['requires_action', 'requires_capture', 'succeeded', 'canceled', 'failed'] as const
type IntentStatus = (typeof intentStatuses)[number]

export interface CardData {
  number: string
  exp_month: number
  exp_year: number
  cvc: string
}

export interface IntentRequest {
  /** The merchant's own. */
  reference: string
  /** Minor units. */
  amount: bigint
  currency: string
  source: { card: CardData } | { token: string }
  captures: boolean
  /** Whether a 3-D Secure challenge is required, whatever the issuer decides. */
  challenges: boolean
  /** Whether the card is to be charged again later. */
  keeps: boolean
  returnUrl: string
  notifyUrl: string
  description: string
}

export function intentBody(request: IntentRequest): object {
  const { reference, amount, currency, source, captures, challenges, keeps, returnUrl, notifyUrl, description } =
    request
  return {
    amount: Number(amount),
    currency: currency.toLowerCase(),
    confirm: true,
    capture_method: captures ? 'automatic' : 'manual',
    ...('card' in source ? { payment_method_data: { type: 'card', card: source.card } } : {}),
    ...('token' in source ? { payment_method: source.token, off_session: true } : {}),
    ...(keeps ? { setup_future_usage: 'off_session' } : {}),
    payment_method_options: { card: { request_three_d_secure: challenges ? 'any' : 'automatic' } },
    return_url: returnUrl,
    notify_url: notifyUrl,
    description,
    metadata: { reference },
  }
}

export interface Intent {
  id: string
  status: IntentStatus
  /** Amount asked for, in minor units. */
  amount: bigint
  /** Amount received, in minor units; null where it cannot be read. */
  received: bigint | null
  /** Currency as the acquirer writes it; empty where it does not say. */
  currency: string
  /** URL of the payer's challenge. */
  challengeUrl: string | null
  /** Token that charges the card again; null when it was not kept. */
  token: string | null
  /** Reason of a failure. */
  code: string | null
}

/** Parses an intent; null when it is none. */
function readIntent(body: unknown): Intent | null {
  const { id, status, amount, amount_received, currency, next_action, payment_method, last_payment_error } =
    membersOf(body)
  const known = intentStatuses.find((one) => one === status)
  if (typeof id !== 'string' || known === undefined || !isCount(amount)) return null
  const challengeUrl = textOf(membersOf(membersOf(next_action).redirect_to_url).url)
  const error = membersOf(last_payment_error)
  return {
    id,
    status: known,
    amount: BigInt(amount),
    received: isCount(amount_received) ? BigInt(amount_received) : null,
    currency: textOf(currency),
    challengeUrl: challengeUrl === '' ? null : challengeUrl,
    token: textOf(payment_method) || null,
    code: textOf(error.decline_code) || textOf(error.code) || null,
  }
}

export type IntentAnswer =
  | { kind: 'intent'; intent: Intent }
  /** The acquirer has done nothing, and says why. */
  | { kind: 'refused'; code: string }
  /** The acquirer has not taken the request. */
  | { kind: 'busy' }
  | { kind: 'credentials' }
  | { kind: 'missing' }
  /** Outcome unknown. */
  | { kind: 'strange' }

export function readIntentAnswer(status: number, body: unknown): IntentAnswer {
  const intent = readIntent(body)
  if (status === 200 && intent) return { kind: 'intent', intent }
  const error = membersOf(membersOf(body).error)
  const failed = readIntent(error.payment_intent)
  if (status === 402 && failed) return { kind: 'intent', intent: failed }
  const code = textOf(error.decline_code) || textOf(error.code)
  if (status === 401 || status === 403) return { kind: 'credentials' }
  if (status === 404) return { kind: 'missing' }
  if (status === 429 || (status === 503 && code === 'api_unavailable')) return { kind: 'busy' }
  if ((status === 400 || status === 402) && code !== '') return { kind: 'refused', code }
  return { kind: 'strange' }
}

/** Intent that a search by reference finds. */
export function readIntentSearch(status: number, body: unknown): IntentAnswer {
  if (status !== 200) return readIntentAnswer(status, body)
  const { data } = membersOf(body)
  if (!Array.isArray(data)) return { kind: 'strange' }
  if (data.length === 0) return { kind: 'missing' }
  const intent = readIntent(data[0])
  return intent ? { kind: 'intent', intent } : { kind: 'strange' }
}

export interface RefundResult {
  id: string
  status: 'pending' | 'succeeded' | 'failed'
  /** Minor units; undefined where it does not say, null where that cannot be read. */
  amount: bigint | null | undefined
  /** As the acquirer writes it; empty where it does not say. */
  currency: string
  code: string | null
}

/** A refund, or one that a search by reference finds; null when it is none. */
export function readRefund(body: unknown): RefundResult | null {
  const { data, ...single } = membersOf(body)
  const { id, status, amount, currency, failure_reason } = Array.isArray(data) ? membersOf(data[0]) : single
  if (typeof id !== 'string' || (status !== 'pending' && status !== 'succeeded' && status !== 'failed')) return null
  const isTold = amount !== undefined && amount !== null
  const told = isCount(amount) ? BigInt(amount) : isTold ? null : undefined
  return { id, status, amount: told, currency: textOf(currency), code: textOf(failure_reason) || null }
}

export interface DisputeFound {
  id: string
  status: 'open' | 'won' | 'lost'
  /** Minor units. */
  amount: bigint
  currency: string
  reason: string
}

/** Acquirer's name of a state -> ours. An early warning moves no money and is not a dispute. */
const disputeStatuses: Readonly<Record<string, DisputeFound['status']>> = {
  needs_response: 'open',
  under_review: 'open',
  won: 'won',
  lost: 'lost',
}

/** The disputes that a search by reference finds, early warnings left out; null when it is no such answer. */
export function readDisputes(status: number, body: unknown): DisputeFound[] | null {
  const { data } = membersOf(body)
  if (status !== 200 || !Array.isArray(data)) return null
  const found: DisputeFound[] = []
  for (const one of data) {
    const { id, amount, currency, reason, ...rest } = membersOf(one)
    const word = textOf(rest.status)
    if (word.startsWith('warning_')) continue
    const known = Object.hasOwn(disputeStatuses, word) ? disputeStatuses[word] : undefined
    if (typeof id !== 'string' || id === '' || known === undefined || !isCount(amount) || amount === 0) return null
    found.push({ id, status: known, amount: BigInt(amount), currency: textOf(currency), reason: textOf(reason) })
  }
  return found
}

/** What the merchant says of a dispute. */
export interface DisputeEvidence {
  statement: string
  productDescription?: string | undefined
  /** `YYYY-MM-DD` */
  deliveredOn?: string | undefined
  shippingCarrier?: string | undefined
  trackingNumber?: string | undefined
}

export function evidenceBody(evidence: DisputeEvidence): object {
  const { statement, productDescription, deliveredOn, shippingCarrier, trackingNumber } = evidence
  return {
    evidence: {
      uncategorized_text: statement,
      ...(productDescription ? { product_description: productDescription } : {}),
      ...(deliveredOn ? { service_date: deliveredOn } : {}),
      ...(shippingCarrier ? { shipping_carrier: shippingCarrier } : {}),
      ...(trackingNumber ? { shipping_tracking_number: trackingNumber } : {}),
    },
    submit: true,
  }
}

/** Whether evidence was taken; `refused` says that the dispute is past it. */
export function readEvidenceAnswer(status: number, body: unknown): 'taken' | 'refused' | 'unknown' {
  if (status === 200 && Object.hasOwn(disputeStatuses, textOf(membersOf(body).status))) return 'taken'
  return status === 400 || status === 404 ? 'refused' : 'unknown'
}

/** Path at which a test account decides a dispute. */
export function disputeHelperPath(id: string): string {
  return `/v1/test_helpers/disputes/${encodeURIComponent(id)}/close`
}

const disputeNotices = 'charge.dispute.'

/** Type of a notice that a dispute was opened or closed. */
export function disputeNotice(moment: 'created' | 'closed'): string {
  return `${disputeNotices}${moment}`
}

/** Type of a notice that a refund failed, also one that had succeeded. */
export const refundFailedNotice = 'refund.failed'

/** Subject of a notice, beside the payment itself. Its state is polled. */
export function noticeSubject(bytes: Buffer): 'dispute' | 'refund' | null {
  try {
    const notice: unknown = JSON.parse(bytes.toString())
    const type = textOf(membersOf(notice).type)
    if (type.startsWith(disputeNotices)) return 'dispute'
    return /^(charge\.)?refund/.test(type) ? 'refund' : null
  } catch {
    return null
  }
}

/** Greatest age of a notice. */
const toleranceSeconds = 300

export function signNotice(secret: string, body: string, atSeconds: number): string {
  return `t=${atSeconds},v1=${createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')}`
}

export function isNoticeSigned(secret: string, body: Buffer, header: unknown, nowSeconds: number): boolean {
  const [, at = '', given = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(textOf(header)) ?? []
  if (given === '' || Math.abs(nowSeconds - Number(at)) > toleranceSeconds) return false
  const right = createHmac('sha256', secret).update(`${at}.`).update(body).digest()
  return timingSafeEqual(right, Buffer.from(given, 'hex'))
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
