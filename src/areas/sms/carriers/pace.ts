// SPDX-License-Identifier: Apache-2.0
// Send rate of a bind: a token bucket that halves its rate when the message centre throttles, and recovers little by
// little. Without a configured limit it learns one from the first throttling.
import { backoffMs } from '../../../kernel/backoff.ts'

/** Waits before something is offered again that the carrier had no room for; then it is given back. */
const throttledSeconds = [0.2, 0.4, 0.8, 1.6, 3.2]
const jitter = 0.2
/** Seconds in which the whole rate is won back after it was halved once. */
const recoverySeconds = 20
const leastPerSecond = 1
/** The least rate a complaint teaches: what one message provokes must not hold up all others. */
const leastLearnt = 100
/** Burst after a pause, in seconds of the rate. */
const burstSeconds = 0.1
/** After a complaint nothing is sent for this long; several in a row count as one. */
const pauseMs = 100

export class Pace {
  readonly #limit: number
  /** Rate that it recovers to; infinite while nothing was throttled and no limit is set. */
  #ceiling: number
  #rate: number
  #tokens: number
  #updatedMs: number
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  /** Messages sent since the second began, to learn the rate. */
  #sent = 0
  #sentLast = 0
  #secondMs: number

  constructor(limitPerSecond: number | null, nowMs: number) {
    this.#limit = limitPerSecond ?? Number.POSITIVE_INFINITY
    this.#ceiling = this.#limit
    this.#rate = this.#limit
    this.#tokens = this.#burst()
    this.#updatedMs = nowMs
    this.#secondMs = nowMs
  }

  get ratePerSecond(): number {
    return this.#rate
  }

  /** Takes the right to send one part: 0 when it may go now, else how long to wait before asking again. */
  take(nowMs: number): number {
    this.#update(nowMs)
    if (nowMs < this.#pausedUntilMs) return this.#pausedUntilMs - nowMs
    if (this.#tokens < 1) return Math.max(1, Math.ceil(((1 - this.#tokens) / this.#rate) * 1_000))
    if (this.#tokens !== Number.POSITIVE_INFINITY) this.#tokens--
    this.#sent++
    return 0
  }

  /** The message centre complained. */
  slowDown(nowMs: number): void {
    this.#update(nowMs)
    if (nowMs < this.#pausedUntilMs) return
    this.#pausedUntilMs = nowMs + pauseMs
    const unlimited = this.#rate === Number.POSITIVE_INFINITY
    const current = unlimited ? Math.max(this.#sent, this.#sentLast, leastLearnt) : this.#rate
    if (this.#ceiling === Number.POSITIVE_INFINITY) this.#ceiling = current
    this.#rate = Math.max(leastPerSecond, current / 2)
    this.#tokens = Math.min(this.#tokens, this.#burst())
  }

  #update(nowMs: number): void {
    if (nowMs - this.#secondMs >= 1_000) {
      this.#sentLast = nowMs - this.#secondMs < 2_000 ? this.#sent : 0
      this.#sent = 0
      this.#secondMs = nowMs
    }
    const seconds = (nowMs - this.#updatedMs) / 1_000
    if (seconds <= 0) return
    this.#updatedMs = nowMs
    if (this.#rate < this.#ceiling) {
      this.#rate = Math.min(this.#ceiling, this.#rate + ((this.#ceiling / 2) * seconds) / recoverySeconds)
      // A learnt limit is dropped once the rate is back at it without throttling.
      if (this.#rate >= this.#ceiling && this.#limit === Number.POSITIVE_INFINITY)
        this.#rate = this.#ceiling = Number.POSITIVE_INFINITY
    }
    this.#tokens = Math.min(this.#burst(), this.#tokens + this.#rate * seconds)
    if (this.#rate === Number.POSITIVE_INFINITY) this.#tokens = Number.POSITIVE_INFINITY
  }

  #burst(): number {
    return Math.max(1, this.#rate * burstSeconds)
  }
}

/** Waits after so many refusals for lack of room; null: not with this carrier any more. */
export function throttleWaitMs(refusals: number): number | null {
  return backoffMs(throttledSeconds, refusals, jitter, Math.random())
}
