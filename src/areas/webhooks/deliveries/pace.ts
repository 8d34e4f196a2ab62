// SPDX-License-Identifier: Apache-2.0
// Concurrency per endpoint. It begins with a few requests; each success adds one, so that it doubles with every round
// of answers up to the plan's limit; a request without an answer halves it. A dead or slow endpoint thus never holds
// more than a few of the places that all endpoints share.

const atFirst = 4
const afterBreak = 2

export class Pace {
  #allowed = atFirst

  /** Requests at once, of at most `limit`. */
  within(limit: number): number {
    return Math.min(limit, this.#allowed)
  }

  succeeded(limit: number): void {
    if (this.#allowed < limit) this.#allowed++
  }

  unanswered(): void {
    this.#allowed = Math.max(1, this.#allowed >> 1)
  }

  /** The breaker closed after one success: twice the one request that was in use. */
  restart(): void {
    this.#allowed = afterBreak
  }
}
