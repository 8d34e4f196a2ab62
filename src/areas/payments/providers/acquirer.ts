// SPDX-License-Identifier: Apache-2.0
// Contract of a card acquirer. Requests carry our own id of the attempt, so that it can be polled even when the answer
// got lost; its answers are one of a few outcomes.
import type { IncomingHttpHeaders } from 'node:http'
import type { Currency } from '../../../kernel/money.ts'
import type { CardData, DisputeEvidence } from '../../../protocols/acquirer.ts'
import type { FailureReason, RefundCarrier } from './provider.ts'

export type CardOutcome =
  /** The money is ours. */
  | { kind: 'paid'; id: string; micros: bigint; currency: Currency; token: string | null }
  /** The money is ours, and how much cannot be read. */
  | { kind: 'unreadable'; receipt: string; words: string }
  /** The money is set aside. */
  | { kind: 'authorised'; id: string; token: string | null }
  /** The payer must prove who it is. */
  | { kind: 'challenge'; id: string; url: string }
  | { kind: 'refused'; reason: FailureReason; code: string }
  /** Given up: the card is not charged. */
  | { kind: 'withdrawn' }
  | { kind: 'missing' }
  | { kind: 'unavailable'; reason: string }
  | { kind: 'unknown'; reason: string }

export interface Authorisation {
  /** Our own id of the attempt. */
  attempt: string
  micros: bigint
  currency: Currency
  source: { card: CardData } | { token: string }
  captures: boolean
  challenges: boolean
  keeps: boolean
  returnUrl: string
  notifyUrl: string
  description: string
}

export type RefundOutcome =
  /** Null where the acquirer does not say how much. */
  | { kind: 'refunded'; id: string; micros: bigint | null; currency: Currency }
  /** Money went back, and how much cannot be read. */
  | { kind: 'unreadable'; receipt: string; words: string }
  | { kind: 'pending'; id: string }
  | { kind: 'refused'; code: string }
  | { kind: 'missing' }
  | { kind: 'unavailable'; reason: string }
  | { kind: 'unknown'; reason: string }

export const disputeReasons = [
  'fraudulent',
  'duplicate',
  'not_received',
  'not_as_described',
  'not_credited',
  'other',
] as const

export interface CardDispute {
  /** Id at the acquirer. */
  id: string
  status: 'open' | 'won' | 'lost'
  micros: bigint
  reason: (typeof disputeReasons)[number]
}

export type DisputeOutcome = { kind: 'found'; disputes: readonly CardDispute[] } | { kind: 'unknown'; reason: string }

export type EvidenceOutcome =
  | { kind: 'taken' }
  /** The acquirer takes none any more. */
  | { kind: 'refused' }
  | { kind: 'unknown'; reason: string }

export interface Money {
  micros: bigint
  currency: Currency
}

export interface Acquirer {
  readonly method: 'card'
  readonly provider: string
  /** Payouts: none, cards are not paid to. */
  readonly outgoing: null
  readonly refunds: RefundCarrier
  authorise(authorisation: Authorisation): Promise<CardOutcome>
  query(attempt: string, currency: Currency): Promise<CardOutcome>
  /** Takes what was set aside, or less: the rest is given up. */
  capture(attempt: string, money: Money): Promise<CardOutcome>
  /** Withdraws an authorisation, or an undecided attempt; returns its outcome when it is too late. */
  withdraw(attempt: string, currency: Currency): Promise<CardOutcome>
  /** Refunds an attempt. `refund` is our own id, under which it is done once. */
  refund(refund: string, attempt: string, money: Money): Promise<RefundOutcome>
  queryRefund(refund: string, currency: Currency): Promise<RefundOutcome>
  /** Disputes of an attempt. */
  disputes(attempt: string, currency: Currency): Promise<DisputeOutcome>
  /** Sends evidence of a dispute, once. `dispute` is our own id, `id` the acquirer's. */
  sendEvidence(dispute: string, id: string, evidence: DisputeEvidence): Promise<EvidenceOutcome>
  /** Whether the acquirer itself has signed a notice. */
  isSigned(bytes: Buffer, headers: IncomingHttpHeaders): boolean
  stop(): Promise<void>
}
