// SPDX-License-Identifier: Apache-2.0
// What a provider is to this area: somebody who is asked to collect money, may be asked how that went, and calls back. Its
// words are turned into one of a few verdicts; "unknown" is settled by asking or by its callback, never by guessing.
import type { Currency } from '../../kernel/money.ts'
import type { CardShown } from './cards/card.ts'

/** Why a payment did not happen, in words that are the same for every provider. */
export type FailureReason = keyof typeof failureMessages

/** One plain sentence for the payer. */
export const failureMessages = {
  INSUFFICIENT_FUNDS: 'There is not enough money on the account.',
  USER_CANCELLED: 'The payment was declined on the phone.',
  WRONG_PIN: 'The PIN was wrong.',
  PAYER_NOT_FOUND: 'The number has no mobile-money account.',
  PAYER_LIMIT_REACHED: 'The payment is over the limit of the account.',
  PAYER_UNREACHABLE: 'The phone could not be reached.',
  TRANSACTION_IN_PROGRESS: 'Another payment from this phone is still open.',
  TRANSACTION_TIMEOUT: 'The payment was not confirmed in time.',
  CARD_DECLINED: 'The card was declined.',
  CARD_EXPIRED: 'The card has expired.',
  INCORRECT_CVV: 'The security code was wrong.',
  AUTHENTICATION_FAILED: 'The bank could not confirm who paid.',
  PROVIDER_UNAVAILABLE: 'The provider is out of reach just now.',
  PROVIDER_ERROR: 'The provider could not take the payment.',
  AMOUNT_MISMATCH: 'Another amount was paid than was asked for; it is being looked into.',
} as const

export function isFailureReason(text: string | null): text is FailureReason {
  return text !== null && Object.hasOwn(failureMessages, text)
}

/** What a method shows of its own with a payment. Stored as it is. */
export interface PaymentDetails {
  /** Where the payer confirms; shown while that is awaited. */
  readonly redirect_url?: string
  readonly card?: CardShown
  /** Under which name the card is saved; shown when it is. */
  readonly card_token?: string
  /** Until when the money is set aside, as ISO 8601; null when it was asked for. */
  readonly authorised_until?: string | null
  /** What was set aside, in micros, where less was taken. */
  readonly amount_authorised?: string
}

export type Verdict =
  /** The provider has it and asks the payer. */
  | { kind: 'accepted'; providerId: string; details?: PaymentDetails }
  /** The provider has it, and the payer must do something first. */
  | { kind: 'action'; providerId: string; details: PaymentDetails }
  /** The money is set aside for us until then, by the account's clock, and not ours before we ask for it. */
  | { kind: 'authorised'; until: Date; details: PaymentDetails }
  /** Null where the provider does not say. */
  | { kind: 'paid'; receipt: string | null; micros: bigint | null }
  | { kind: 'refused'; reason: FailureReason; code: string }
  /** The provider has it, and the payer has not decided. */
  | { kind: 'pending' }
  /** The provider has never heard of it. */
  | { kind: 'missing' }
  /** The provider certainly did not take it. */
  | { kind: 'unavailable'; reason: string }
  | { kind: 'unknown'; reason: string }

/** Where a payment is made. */
export interface Market {
  /** ISO 3166. */
  country: string
  currency: Currency
}

export interface Collection extends Market {
  /** Our own id of the attempt. */
  attempt: string
  micros: bigint
  /** E.164. */
  phone: string
  reference: string
  description: string
  callbackUrl: string
}

export interface MobileMoney {
  readonly method: 'mobile_money'
  /** As customers name it: `mpesa`. */
  readonly provider: string
  /** Whether the provider knows an attempt by our own id, so that it can be asked about before it was ever answered. */
  readonly knownByAttempt: boolean
  /** Whether an attempt that the provider has never heard of may be sent again: it takes the same id once. */
  readonly repeatable: boolean
  collect(collection: Collection): Promise<Verdict>
  /** How an attempt went that the provider knows as `providerId`. */
  query(providerId: string, market: Market): Promise<Verdict>
  /** What a callback says; null when it is none of the provider's. */
  readCallback(body: unknown): { providerId: string; verdict: Verdict } | null
  /** What the provider wants to hear after a callback. */
  readonly thanks: object
  stop(): Promise<void>
}
