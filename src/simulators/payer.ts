// SPDX-License-Identifier: Apache-2.0
// Behaviour of payers, the same for every mobile-money provider: the last four digits of the payer's number decide; all
// others pay after about two seconds. A payer who is sent to a page enters the number there, and decides at once.

/** Delay of a payer, and lifetime of a prompt. */
const thinksMs = 2_000
const promptMs = 120_000
const lateMs = 90_000
const slowMs = 60_000

export type Ending = 'paid' | 'no_money' | 'declined' | 'wrong_pin' | 'over_limit' | 'unreachable'

/** Outcome of a prompt: an ending after a delay, and the number of callbacks. */
export interface Play {
  ending: Ending
  afterMs: number
  callbacks: number
  /** Another amount is paid than was asked for. */
  otherAmount?: boolean
  /** Told afterwards, although it is not so. */
  thenTold?: Ending
  /** A stranger calls first, with a wrong token. */
  forged?: boolean
  /** The connection is cut although the prompt was sent. */
  cut?: boolean
  /** The connection is cut, and no prompt was sent; a second request is taken. */
  lost?: boolean
  /** Whether nothing is accepted. */
  unavailable?: boolean
}

const paying: Play = { ending: 'paid', afterMs: thinksMs, callbacks: 1 }

const plays: Readonly<Record<string, Play | null>> = {
  '0001': paying,
  '0002': { ...paying, ending: 'no_money' },
  // The payer never looks at the phone.
  '0003': null,
  '0004': { ...paying, ending: 'declined' },
  '0005': { ...paying, ending: 'wrong_pin' },
  '0006': { ...paying, ending: 'over_limit' },
  '0007': { ...paying, ending: 'unreachable' },
  '0008': { ...paying, afterMs: promptMs + lateMs },
  '0009': { ...paying, callbacks: 3 },
  '0010': { ...paying, callbacks: 0 },
  '0011': { ...paying, cut: true },
  '0012': { ...paying, unavailable: true },
  '0013': { ...paying, otherAmount: true },
  '0014': { ...paying, thenTold: 'declined' },
  '0015': { ...paying, forged: true },
  '0016': { ...paying, lost: true },
}

/** Play of a payer, by the number; null when the payer never decides. */
export function playOf(phone: string): Play | null {
  const ending = phone.slice(-4)
  const known = Object.hasOwn(plays, ending) ? plays[ending] : undefined
  return known === undefined ? paying : known
}

/**
 * Fault of the connection where the provider learns no number: the end of the amount decides, as that of a number
 * would.
 */
export function faultOf(amount: string): Pick<Play, 'cut' | 'lost' | 'unavailable'> {
  const play = plays[`00${/(\d\d)(\.\d*)?$/.exec(amount)?.[1] ?? ''}`]
  return play?.cut || play?.lost || play?.unavailable ? play : {}
}

/** Behaviour of a payer on a page: pays as the number says, or gives up. Null while undecided. */
export function playOnPage({ decision, phone }: { decision?: unknown; phone?: unknown }): Play | null {
  if (decision === 'abandon') return { ...paying, ending: 'declined' }
  return decision === 'approve' ? playOf(String(phone)) : null
}

/** Behaviour that a person chose by hand. */
export function playedAs(ending: Ending): Play {
  return { ...paying, ending }
}

export type RefundEnding = 'refunded' | 'no_account' | 'no_float'

/** Outcome of a refund to a payer who paid: its digits differ from those with other behaviour. */
export interface RefundPlay {
  ending: RefundEnding
  afterMs: number
  callbacks: number
  forged?: boolean
  cut?: boolean
  lost?: boolean
  /** Number of requests that are refused as unavailable. */
  unavailable?: number
}

const refunding: RefundPlay = { ending: 'refunded', afterMs: thinksMs, callbacks: 1 }

const refundPlays: Readonly<Record<string, RefundPlay>> = {
  '0021': { ...refunding, ending: 'no_account' },
  '0022': { ...refunding, ending: 'no_float' },
  '0023': { ...refunding, afterMs: slowMs },
  '0024': { ...refunding, cut: true },
  '0025': { ...refunding, lost: true },
  '0026': { ...refunding, unavailable: 2 },
  '0027': { ...refunding, callbacks: 0 },
  '0028': { ...refunding, callbacks: 3, forged: true },
  '0029': { ...refunding, unavailable: Number.POSITIVE_INFINITY },
}

export function refundPlayOf(phone: string): RefundPlay {
  return refundPlays[phone.slice(-4)] ?? refunding
}

/** Amount of a payer who pays another one. */
export function otherAmount(asked: string): string {
  return String(Number(asked) + 1)
}
