// SPDX-License-Identifier: Apache-2.0
// Figures of a received stream (RFC 3550 §A.1, A.3, A.8) and what a listener would think of it (ITU-T G.107, short form).
import type { RtpPacket } from './packet.ts'
import type { ReceptionReport } from './rtcp.ts'

export interface Quality {
  mos: number
  jitterMs: number
  lossPercent: number
  rttMs: number
}

const largestGap = 3_000

export class Reception {
  #first: number | null = null
  #cycles = 0
  #last = 0
  #transit: number | null = null
  #reportedExpected = 0
  #reportedReceived = 0
  source: number | null = null
  received = 0
  /** Jitter in units of the timestamps, of which a millisecond has so many. */
  jitter = 0
  #perMs = 8
  rttMs = 0

  /** Notes a packet; its number without wrap-around, or null if it belongs to no stream that this is. */
  take({ sequence, timestamp, source }: RtpPacket, arrivedMs: number, clock = 8_000): number | null {
    this.#measureBy(clock / 1_000)
    if (this.source !== source) this.#restart(source)
    if (this.#first === null) {
      this.#first = sequence
      this.#last = sequence
    } else {
      const ahead = (sequence - this.#last) & 0xffff
      const isLate = ahead >= 0x8000
      if (!isLate && ahead > largestGap) this.#restart(source, sequence)
      else if (!isLate) {
        if (sequence < this.#last) this.#cycles += 0x1_0000
        this.#last = sequence
      }
    }
    this.received++
    const transit = arrivedMs * this.#perMs - timestamp
    if (this.#transit !== null)
      this.jitter += (Math.min(Math.abs(transit - this.#transit), 1_000 * this.#perMs) - this.jitter) / 16
    this.#transit = transit
    const isOlderCycle = sequence > this.#last && sequence - this.#last > 0x8000
    return this.#cycles + sequence - (isOlderCycle ? 0x1_0000 : 0)
  }

  #measureBy(perMs: number): void {
    if (perMs === this.#perMs) return
    this.jitter *= perMs / this.#perMs
    this.#perMs = perMs
    this.#transit = null
  }

  #restart(source: number, sequence: number | null = null): void {
    this.source = source
    this.#first = sequence
    this.#last = sequence ?? 0
    this.#cycles = 0
    this.#transit = null
    this.received = 0
    this.#reportedExpected = 0
    this.#reportedReceived = 0
  }

  get expected(): number {
    return this.#first === null ? 0 : this.#cycles + this.#last - this.#first + 1
  }

  get lost(): number {
    return Math.max(0, this.expected - this.received)
  }

  report(lastSenderReport: number, delaySinceLast: number): ReceptionReport | null {
    if (this.source === null) return null
    const expected = this.expected - this.#reportedExpected
    const lost = Math.max(0, expected - (this.received - this.#reportedReceived))
    this.#reportedExpected = this.expected
    this.#reportedReceived = this.received
    return {
      source: this.source,
      fractionLost: expected > 0 ? Math.min(255, Math.floor((256 * lost) / expected)) : 0,
      lost: this.lost,
      highestSequence: this.#cycles + this.#last,
      jitter: this.jitter,
      lastSenderReport,
      delaySinceLast,
    }
  }

  /** Quality of the call, by the worse direction; `unsent` is the share of this side's own packets that were never sent. */
  quality(unsent = 0): Quality | null {
    if (this.expected === 0) return null
    const lossPercent = 100 * Math.max(this.lost / this.expected, unsent)
    const jitterMs = this.jitter / this.#perMs
    return { mos: mos(lossPercent, jitterMs, this.rttMs), jitterMs, lossPercent, rttMs: this.rttMs }
  }
}

/** Opinion score of G.711 with concealment: delay beyond 177 ms and loss both cost. */
export function mos(lossPercent: number, jitterMs: number, rttMs: number): number {
  const delay = rttMs / 2 + 2 * jitterMs + 20
  const delayCost = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0)
  const lossCost = (95 * lossPercent) / (lossPercent + 25.1)
  const rating = Math.max(0, Math.min(93.2, 93.2 - delayCost - lossCost))
  const score = 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating)
  return Math.round(100 * Math.max(1, Math.min(4.5, score))) / 100
}
