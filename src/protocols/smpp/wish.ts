// SPDX-License-Identifier: Apache-2.0
// Instruction to the sandbox's network for a message, as an optional parameter of submit_sm. SMPP 3.4 leaves the tags
// from 0x1400 to 0x3FFF to vendors (section 5.3.2); only our own simulator is ever sent this one.
import type { SubmitSm } from './pdu.ts'

const tag = 0x1400
const maxDelayMs = 3_600_000

export interface Wish {
  /** Account whose network it is: what waits for its coverage is told apart by this. */
  account: string
  /** Delay from the submit to the receipt; null: as usual. */
  delayMs: number | null
  /** The NN of a number that ends in 0000NN; null: delivered. */
  outcome: string | null
  isOutOfCoverage: boolean
  /** Offset of the account's clock: delayed outcomes come as soon as the clock is moved. */
  clockOffsetMs: number
}

export function encodeWish(wish: Wish): SubmitSm['tlvs'] {
  return { unknown: [{ tag, value: Buffer.from(JSON.stringify(wish)) }] }
}

/** Wish in a submit_sm; null for none, or one that cannot be read. */
export function decodeWish({ unknown = [] }: SubmitSm['tlvs']): Wish | null {
  const value = unknown.find((one) => one.tag === tag)?.value
  if (value === undefined) return null
  try {
    const { account, delayMs, outcome, isOutOfCoverage, clockOffsetMs } = Object(JSON.parse(value.toString()))
    return {
      account: String(account),
      delayMs: typeof delayMs === 'number' && delayMs >= 0 ? Math.min(delayMs, maxDelayMs) : null,
      outcome: typeof outcome === 'string' ? outcome : null,
      isOutOfCoverage: isOutOfCoverage === true,
      clockOffsetMs: Number.isFinite(clockOffsetMs) ? clockOffsetMs : 0,
    }
  } catch {
    return null
  }
}
