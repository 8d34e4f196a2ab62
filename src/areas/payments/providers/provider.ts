// SPDX-License-Identifier: Apache-2.0
// Contract of a provider's carrier: it is asked to collect money, polled for the outcome, and called back. Its
// words are turned into one of a few verdicts; "unknown" is settled by asking or by its callback, never by guessing.
import type { IncomingHttpHeaders } from 'node:http'
import type { Currency } from '../../../kernel/money.ts'
import type { Exchange } from '../../../platform/outbound/provider-http.ts'
import type { BankAccountIn, PayInto } from './banks.ts'
import type { CardShown } from './card.ts'

/** Why a payment did not happen, in words that are the same for every provider. */
export type FailureReason = keyof typeof failureMessages

/** Reasons of failure, each with a plain sentence for the payer. */
export const failureMessages = {
  INSUFFICIENT_FUNDS: 'There is not enough money on the account.',
  USER_CANCELLED: 'The payment was cancelled before it was confirmed.',
  WRONG_PIN: 'The PIN was wrong.',
  PAYER_NOT_FOUND: 'There is no account of this number.',
  PAYER_LIMIT_REACHED: 'The payment is over the limit of the account.',
  PAYER_UNREACHABLE: 'The phone could not be reached.',
  TRANSACTION_IN_PROGRESS: 'Another payment from this phone is still open.',
  TRANSACTION_TIMEOUT: 'The payment was not confirmed in time.',
  CARD_DECLINED: 'The card was declined.',
  CARD_EXPIRED: 'The card has expired.',
  INCORRECT_CVV: 'The security code was wrong.',
  AUTHENTICATION_FAILED: 'The bank could not confirm who paid.',
  PROVIDER_UNAVAILABLE: 'The provider is out of reach just now.',
  PROVIDER_ERROR: 'The provider could not carry it out.',
  RECIPIENT_NOT_FOUND: 'The recipient has no account of this number.',
  RECIPIENT_LIMIT_REACHED: 'The account cannot take so much.',
  PROVIDER_FLOAT_LOW: 'There is not enough money to pay out from just now.',
  REVERSED_BY_PROVIDER: 'The provider took the money back.',
  BLOCKED_BY_RULE: 'The payment was not accepted.',
  BLACKLISTED: 'The payment was not accepted.',
  AMOUNT_MISMATCH: 'Another amount was paid than was asked for; it is being looked into.',
} as const

export function isFailureReason(text: string | null): text is FailureReason {
  return text !== null && Object.hasOwn(failureMessages, text)
}

/** Details that a method shows with a payment. Stored as they are. */
export interface PaymentDetails {
  /** USSD code to see what waits for approval; shown until the payment is over. */
  readonly ussd_code?: string
  /** Address of ours at which the payer confirms; shown while that is awaited. */
  readonly redirect_url?: string
  /** Provider's page that the payer is sent on to from there; never shown. */
  readonly page_url?: string
  /** Page of the account for the payer afterwards; never shown. */
  readonly return_url?: string
  readonly card?: CardShown
  /** Under which name the card is saved; shown when it is. */
  readonly card_token?: string
  /** Until when the money is set aside, as ISO 8601; null when it was asked for. */
  readonly authorised_until?: string | null
  /** Amount set aside, in micros, where less was taken. */
  readonly amount_authorised?: string
  /** The account that is debited, as the bank needs it; shown in part. */
  readonly bank?: BankAccountIn
  /** The one-time account that the payer pays into. */
  readonly pay_into?: PayInto
  /** Id of the link over which it is paid. */
  readonly payment_link?: string
}

export type Verdict =
  /** The provider has it and asks the payer. */
  | { kind: 'accepted'; providerId: string; details?: PaymentDetails; keeps?: Kept }
  /** The provider has it, and the payer must do something first. */
  | { kind: 'action'; providerId: string; details: PaymentDetails; keeps?: Kept }
  /** The money is set aside for us until then, by the account's clock, and not ours before we ask for it. */
  | { kind: 'authorised'; until: Date; details: PaymentDetails }
  /** Paid. Receipt and amount are null where the provider does not say; the currency is given where it does. */
  | { kind: 'paid'; receipt: string | null; micros: bigint | null; currency?: Currency | undefined }
  /** Money came, and how much cannot be read from the provider's words. */
  | { kind: 'unreadable'; receipt: string | null; words: string }
  | { kind: 'refused'; reason: FailureReason; code: string }
  /** The provider has it, and the payer has not decided. */
  | { kind: 'pending' }
  /** The provider has never heard of it. */
  | { kind: 'missing' }
  /** The provider certainly did not take it. */
  | { kind: 'unavailable'; reason: string }
  | { kind: 'unknown'; reason: string }

/** Whether the provider said anything at all. */
export function isAnswered({ kind }: Verdict | OutgoingVerdict): boolean {
  return kind !== 'unknown' && kind !== 'unavailable'
}

/** A success of which neither the amount nor the receipt is told: the callback has both. */
export function isBare(verdict: Verdict): boolean {
  return verdict.kind === 'paid' && verdict.micros === null && verdict.receipt === null
}

/** Whether a provider tells of the money that was asked for. Where it does not say how much or in which currency, it does. */
export function isAsAsked(
  asked: { readonly amount: bigint; readonly currency: string },
  { micros, currency }: Extract<Verdict, { kind: 'paid' }>,
): boolean {
  return (micros ?? asked.amount) === asked.amount && (currency ?? asked.currency) === asked.currency
}

/** Whether a provider tells of money in another currency and not how much it is, so that nothing can be booked. */
export function isUncounted(asked: Parameters<typeof isAsAsked>[0], verdict: Verdict): boolean {
  return verdict.kind === 'paid' && verdict.micros === null && !isAsAsked(asked, verdict)
}

/** Market of a payment: country and currency. */
export interface Market {
  /** ISO 3166. */
  country: string
  currency: Currency
  /** Told what was asked and answered, for the timeline. */
  trace?: ((exchange: Exchange) => void) | undefined
}

/** Words of a provider's answer that it wants to hear again, or that prove that a call is its own. They are stored sealed. */
type Kept = Readonly<Record<string, string>>

interface Ordered extends Market {
  /** Our own id of the attempt. */
  attempt: string
  /** Attempt id in 26 letters and digits, for providers with a short limit. */
  shortId: string
  micros: bigint
  /** E.164. */
  phone: string
}

export interface Collection extends Ordered {
  reference: string
  description: string
  callbackUrl: string
  /** Address for payers who return from a page. */
  returnUrl: string
  /** Sandbox only: the prompt waits for an answer by hand. */
  isByHand?: boolean
}

/** Attempt as it was requested, for polls and callbacks. */
export interface Asked extends Ordered {
  /** Id at the provider; null until it has told. */
  providerId: string | null
  /** Data of the provider's answer; none while there is no answer. */
  kept: Kept
}

/** An attempt that the provider can be asked about. */
export type Taken = Asked & { readonly providerId: string }

/** Callback addresses for outgoing money: its result, the provider's internal timeout, and answers to queries. */
export interface Addresses {
  result: string
  timeout: string
  answer: string
}

/** Something that pays out, as the provider knows it: by our own id, the only one it is ever given. */
export interface Sent extends Market {
  id: string
  addresses: Addresses
}

/** Payout to a phone. */
export interface Disbursement extends Sent {
  micros: bigint
  /** E.164. */
  phone: string
  description: string
}

/** Money for an account with a bank. */
export interface BankDisbursement extends Omit<Disbursement, 'phone'> {
  account: BankAccountIn
}

/** Verdicts that apply to money in both directions. */
export type OrderVerdict = Exclude<Verdict, { kind: 'action' | 'authorised' }>

export type OutgoingVerdict =
  | OrderVerdict
  /** Asked; the answer comes to its callback address. */
  | { kind: 'asked' }
  /** Paid, then taken back by the provider. */
  | { kind: 'reversed' }

/** Verdict on a payout from one in the form of a collection. */
export function outgoing(verdict: Verdict): OutgoingVerdict {
  if (verdict.kind === 'action' || verdict.kind === 'authorised')
    return { kind: 'unknown', reason: `${verdict.kind} was told of money that goes out` }
  return verdict
}

/** Content of a call to an address. The id is null where the provider does not repeat it. */
export interface Heard {
  id: string | null
  verdict: OutgoingVerdict
}

/** A call as it came, for those who sign what they say. */
interface Received {
  readonly bytes: Buffer
  readonly headers: IncomingHttpHeaders
}

/** The half of a provider that pays: phones, or accounts. */
export interface Outgoing<Payment extends Disbursement | BankDisbursement = Disbursement> {
  /** Whether one that the provider has never heard of may be sent again: it takes the same id once. */
  readonly repeatable: boolean
  payOut(disbursement: Payment): Promise<OutgoingVerdict>
  queryPayout(sent: Sent): Promise<OutgoingVerdict>
  /** Content of a call to one of the addresses; null when it is not the provider's. */
  readPayout(topic: keyof Addresses, body: unknown, received?: Received): Heard | null
}

export interface MobileMoney {
  readonly method: 'mobile_money'
  /** Name in the API: `mpesa`. */
  readonly provider: string
  /** Whether the provider knows an attempt by our own id, so that it can be asked about before it was ever answered. */
  readonly knownByAttempt: boolean
  /** Whether an attempt that the provider has never heard of may be sent again: it takes the same id once. */
  readonly repeatable: boolean
  collect(collection: Collection): Promise<Verdict>
  /** Outcome of an attempt. */
  query(taken: Taken): Promise<Verdict>
  /** Content of a callback about an attempt; null when it is not the provider's. */
  readCallback(body: unknown, asked: Asked): { providerId: string; verdict: Verdict } | null
  /** Payouts; null when the settings that they need were not entered. */
  readonly outgoing: Outgoing | null
  readonly refunds: RefundCarrier
  /** Answer that the provider expects to a callback. */
  readonly thanks: object
  stop(): Promise<void>
}

/** Money of a completed payment that is to go back. */
export interface RefundOrder extends Sent {
  micros: bigint
  payment: {
    micros: bigint
    /** Provider's id of the attempt that was paid. */
    providerId: string | null
    receipt: string | null
  }
  /** E.164; null when it was not paid by phone. */
  phone: string | null
  /** Provider's id of the refund, where it gives one; null until it has told. */
  providerId: string | null
  reference: string
  description: string
}

/** Carrier of refunds. `paid` is a refund that was made. */
export interface RefundCarrier {
  /** Whether a refund that the provider has never heard of may be sent again: it gives the same money back once. */
  readonly repeatable: boolean
  /** Whether a result that it calls with is believed; otherwise a call is a reason to ask, and nothing else. */
  readonly resultsAreFinal: boolean
  /** Objection to a refund, as the end of a sentence; null for none. */
  objection(order: Pick<RefundOrder, 'micros' | 'payment' | 'phone'>): string | null
  refund(order: RefundOrder): Promise<OutgoingVerdict>
  queryRefund(order: RefundOrder): Promise<OutgoingVerdict>
  /** Content of a call to one of the addresses; null when it is not the provider's. */
  readRefund(topic: keyof Addresses, body: unknown, received?: Received): Heard | null
}
