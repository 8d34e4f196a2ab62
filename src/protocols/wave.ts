// SPDX-License-Identifier: Apache-2.0
// Wave's checkout, both ends: a session is opened, its payer is sent to an address of the provider's, and the session is found
// again by its id or by the reference that was given with it.
import { membersOf, textOf } from './json.ts'

export const wavePaths = { sessions: '/v1/checkout/sessions', search: '/v1/checkout/sessions/search' } as const

export interface WaveOrder {
  /** Major units, as decimal text. */
  amount: string
  currency: string
  /** Ours; sessions can be looked for by it. */
  reference: string
  returnUrl: string
  /** Phone in E.164: only its holder can pay. */
  phone: string
}

export function waveSessionBody({ amount, currency, reference, returnUrl, phone }: WaveOrder) {
  return {
    amount,
    currency,
    client_reference: reference,
    restrict_payer_mobile: phone,
    success_url: returnUrl,
    error_url: returnUrl,
  }
}

export interface WaveSession {
  id: string
  state: 'open' | 'complete' | 'expired'
  isPaid: boolean
  amount: string
  currency: string
  /** URL for the payer. */
  launchUrl: string
  /** The provider's id of the payment; null before. */
  receipt: string | null
  /** Reason that the payer's last try did not work; null when there was none. */
  errorCode: string | null
}

/** Session as the provider writes it. */
export function waveSessionAnswer({ id, state, isPaid, amount, currency, launchUrl, receipt, errorCode }: WaveSession) {
  return {
    id,
    amount,
    currency,
    checkout_status: state,
    payment_status: isPaid ? 'succeeded' : state === 'open' ? 'processing' : 'cancelled',
    last_payment_error: errorCode === null ? null : { code: errorCode, message: errorCode },
    transaction_id: receipt,
    wave_launch_url: launchUrl,
  }
}

export type WaveAnswer =
  | { kind: 'session'; session: WaveSession }
  /** No such session. */
  | { kind: 'missing' }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The key is not good. */
  | { kind: 'token' }
  | { kind: 'strange' }

/** The answer to an order, or to the question what became of it; of a search the first that was found. */
export function readWaveAnswer(status: number, body: unknown): WaveAnswer {
  if (status === 401 || status === 403) return { kind: 'token' }
  if (status === 429 || status === 503) return { kind: 'busy', code: String(status) }
  if (status === 404) return { kind: 'missing' }
  const members = membersOf(body)
  if (status >= 400 && status < 500) return { kind: 'refused', code: textOf(members.code) || String(status) }
  if (status !== 200 && status !== 201) return { kind: 'strange' }
  if (Array.isArray(members.result)) {
    const [first] = members.result
    return first === undefined ? { kind: 'missing' } : sessionIn(membersOf(first))
  }
  return sessionIn(members)
}

const states = ['open', 'complete', 'expired'] as const

function sessionIn(members: Record<string, unknown>): WaveAnswer {
  const id = textOf(members.id)
  const launchUrl = textOf(members.wave_launch_url)
  const state = states.find((one) => one === members.checkout_status)
  if (id === '' || launchUrl === '' || !state) return { kind: 'strange' }
  const session = {
    id,
    state,
    isPaid: state === 'complete' && members.payment_status === 'succeeded',
    amount: textOf(members.amount),
    currency: textOf(members.currency),
    launchUrl,
    receipt: textOf(members.transaction_id) || null,
    errorCode: textOf(membersOf(members.last_payment_error).code) || null,
  }
  return { kind: 'session', session }
}
