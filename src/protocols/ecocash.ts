// SPDX-License-Identifier: Apache-2.0
// EcoCash's Open API, both ends: a payment is asked of a phone under a reference of ours, and looked up by both.
import { membersOf, textOf } from './json.ts'
import { plainText } from './plain-text.ts'

/** `mode` is live, or sandbox for the provider's own. */
export const ecocashPaths = {
  payment: (mode: string) => `/api/v2/payment/instant/c2b/${mode}`,
  state: (mode: string) => `/api/v1/transaction/c2b/status/${mode}`,
} as const

export const ecocashKeyHeader = 'x-api-key'

/** Provider's names of currencies. */
const currencyNames: Readonly<Record<string, string>> = { ZWG: 'ZiG' }
/** A gateway that gave up waiting, and a reference that is known already: the payer may have been asked. */
const unclear: ReadonlySet<number> = new Set([408, 409])
/** Words of payments that are over. Any other word says nothing, for a payment that ended is never asked about again. */
const failures: ReadonlySet<string> = new Set([
  ...['FAILED', 'FAILURE', 'CANCELLED', 'CANCELED', 'DECLINED', 'REJECTED', 'EXPIRED', 'TIMEOUT', 'INSUFFICIENT_FUNDS'],
])

export interface EcocashPayment {
  /** Ours: a UUID. */
  reference: string
  /** E.164. */
  phone: string
  /** Major units, as decimal text. */
  amount: string
  currency: string
  reason: string
}

export function ecocashPaymentBody({ reference, phone, amount, currency, reason }: EcocashPayment) {
  return {
    customerMsisdn: digitsOf(phone),
    amount: Number(amount),
    reason: plainText(reason, 100, /[^A-Za-z0-9 .-]/g) || 'Payment',
    currency: currencyNames[currency] ?? currency,
    sourceReference: reference,
  }
}

export function ecocashStateBody({ reference, phone }: Pick<EcocashPayment, 'reference' | 'phone'>) {
  return { sourceMobileNumber: digitsOf(phone), sourceReference: reference }
}

function digitsOf(phone: string): string {
  return phone.replace(/^\+/, '')
}

export type EcocashAnswer =
  | { kind: 'accepted' }
  | { kind: 'refused'; code: string }
  /** Not taken; may be later. */
  | { kind: 'busy'; code: string }
  /** The key is not good. */
  | { kind: 'token' }
  | { kind: 'strange' }

/**
 * Reads the answer to a payment. It says only that the payment was taken, in varying bodies; a body without members says
 * nothing.
 */
export function readEcocashAnswer(status: number, body: unknown): EcocashAnswer {
  if (status === 401 || status === 403) return { kind: 'token' }
  if (status === 429 || status === 503) return { kind: 'busy', code: String(status) }
  const members = membersOf(body)
  if (status >= 200 && status < 300) return Object.keys(members).length > 0 ? { kind: 'accepted' } : { kind: 'strange' }
  if (status >= 500 || unclear.has(status)) return { kind: 'strange' }
  return { kind: 'refused', code: textOf(members.code) || String(status) }
}

export type EcocashState =
  | { kind: 'pending' }
  | { kind: 'paid'; receipt: string | null; amount: string; currency: string }
  | { kind: 'failed'; word: string }
  /** The provider has never heard of it. */
  | { kind: 'missing' }
  | { kind: 'strange' }

export function readEcocashState(status: number, body: unknown): EcocashState {
  if (status === 404) return { kind: 'missing' }
  const members = membersOf(body)
  const word = textOf(members.status).toUpperCase()
  if (status !== 200 || word === '') return { kind: 'strange' }
  if (word === 'SUCCESS' || word === 'COMPLETED') {
    const paid = membersOf(members.amount)
    const currency = currencyCalled(textOf(paid.currency))
    return { kind: 'paid', receipt: textOf(members.ecocashReference) || null, amount: textOf(paid.amount), currency }
  }
  if (word.startsWith('PENDING') || word === 'PROCESSING') return { kind: 'pending' }
  return failures.has(word) ? { kind: 'failed', word } : { kind: 'strange' }
}

function currencyCalled(name: string): string {
  const [code = name] =
    Object.entries(currencyNames).find(([, called]) => called.toUpperCase() === name.toUpperCase()) ?? []
  return code.toUpperCase()
}

/** The answer to a look-up, as the provider writes it. */
export function ecocashStateAnswer(payment: {
  phone: string
  reference: string
  amount: number
  currency: string
  status: string
  receipt: string | null
}) {
  const { phone, reference, amount, currency, status, receipt } = payment
  return {
    amount: { amount, currency },
    customerMsisdn: phone,
    reference,
    ecocashReference: receipt ?? '',
    status,
  }
}
