// SPDX-License-Identifier: Apache-2.0
// Stops calling an endpoint that does not work. Ten failures in a row, or more than nine tenths of the last fifty to a
// hundred, open it: from then on one delivery is tried every half minute, and the first success closes it. Pure: the
// caller gives the time, which is the account's own.

const failuresInARow = 10
const leastRecent = 50
const mostRecent = 100
const failingPart = 0.9
export const probeEveryMs = 30_000

/** half-open: a probe is under way. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export class Breaker {
  #state: BreakerState = 'closed'
  #inARow = 0
  /** The latest outcomes, true for a failure, in a ring. */
  #recent: boolean[] = []
  #next = 0
  #recentFailures = 0
  #probeAtMs = 0

  get state(): BreakerState {
    return this.#state
  }

  /** Whether a request may go out now: like all others, as the probe, or not at all. One that was asked for need not wait. */
  admit(nowMs: number, isAskedFor = false): 'send' | 'probe' | 'wait' {
    if (this.#state === 'closed') return 'send'
    // Also while half-open: a probe of which nothing was heard for so long was lost.
    if (nowMs < this.#probeAtMs && !isAskedFor) return 'wait'
    this.#state = 'half-open'
    this.#probeAtMs = nowMs + probeEveryMs
    return 'probe'
  }

  /** Notes an outcome; says so when it changed the state. */
  record(succeeded: boolean, nowMs: number): 'opened' | 'closed' | null {
    if (this.#state !== 'closed') {
      if (succeeded) {
        this.close()
        return 'closed'
      }
      // Requests that were on their way when it opened say nothing new; a failed probe does.
      if (this.#state === 'half-open') this.open(nowMs + probeEveryMs)
      return null
    }
    this.#remember(!succeeded)
    if (!this.#isFailing()) return null
    this.open(nowMs + probeEveryMs)
    return 'opened'
  }

  open(probeAtMs: number): void {
    this.#state = 'open'
    this.#probeAtMs = probeAtMs
  }

  close(): void {
    this.#state = 'closed'
    this.#inARow = 0
    this.#recent = []
    this.#next = 0
    this.#recentFailures = 0
  }

  #remember(failed: boolean): void {
    this.#inARow = failed ? this.#inARow + 1 : 0
    if (this.#recent[this.#next]) this.#recentFailures--
    if (failed) this.#recentFailures++
    this.#recent[this.#next] = failed
    this.#next = (this.#next + 1) % mostRecent
  }

  #isFailing(): boolean {
    if (this.#inARow >= failuresInARow) return true
    return this.#recent.length >= leastRecent && this.#recentFailures > failingPart * this.#recent.length
  }
}
