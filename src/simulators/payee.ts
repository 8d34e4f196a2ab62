// SPDX-License-Identifier: Apache-2.0
// Outcomes of payouts, the same for every mobile-money provider: the last four digits of the payee's number decide; all
// other payees are paid after about two seconds.

const usualMs = 2_000
const slowMs = 60_000
const slowestMs = 120_000

export type PayoutEnding = 'paid' | 'float_low' | 'no_recipient' | 'over_limit' | 'failed'

export interface PayoutPlay {
  ending: PayoutEnding
  afterMs: number
  /** Number of callbacks. */
  callbacks: number
  /** Done and reported before the request is answered. */
  early?: boolean
  /** Told first, although it is not so. */
  firstTold?: PayoutEnding
  /** The money is taken back after it was paid, and that is told. */
  thenReversed?: boolean
  /** A stranger calls first, with a wrong token. */
  forged?: boolean
  /** The provider says that it gave up waiting for itself. */
  timesOut?: boolean
  /** The connection is cut although the payout was taken. */
  cut?: boolean
  /** The connection is cut, and nothing was taken; a second request is. */
  lost?: boolean
  /** Whether nothing is accepted. */
  unavailable?: boolean
}

const paying: PayoutPlay = { ending: 'paid', afterMs: usualMs, callbacks: 1 }

const plays: Readonly<Record<string, PayoutPlay>> = {
  '0002': { ...paying, ending: 'float_low' },
  '0003': { ...paying, ending: 'failed', afterMs: slowestMs, callbacks: 0 },
  '0004': { ...paying, ending: 'no_recipient' },
  '0005': { ...paying, ending: 'over_limit' },
  '0006': { ...paying, afterMs: slowMs },
  '0007': { ...paying, unavailable: true },
  '0008': { ...paying, early: true },
  '0009': { ...paying, callbacks: 3 },
  '0010': { ...paying, callbacks: 0 },
  '0011': { ...paying, cut: true },
  '0012': { ...paying, unavailable: true },
  '0013': { ...paying, thenReversed: true },
  '0014': { ...paying, firstTold: 'no_recipient' },
  '0015': { ...paying, forged: true },
  '0016': { ...paying, lost: true },
  '0017': { ...paying, timesOut: true, callbacks: 0 },
  // Of a payer, who pays, a part is given back and taken back.
  '0030': { ...paying, thenReversed: true },
}

export function payoutPlayOf(phone: string): PayoutPlay {
  const ending = phone.slice(-4)
  return (Object.hasOwn(plays, ending) ? plays[ending] : undefined) ?? paying
}
