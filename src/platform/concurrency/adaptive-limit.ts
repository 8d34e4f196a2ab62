// SPDX-License-Identifier: Apache-2.0
// Adaptive limit of requests or connections at once to one receiver, such as a webhook endpoint or the mail servers of a
// domain. It starts low; each success adds one, so that it doubles with every round of answers up to the maximum; a
// failure halves it. A dead or slow receiver thus never holds more than a few of the slots that all share.

export class AdaptiveLimit {
  #allowed: number

  constructor(atFirst: number) {
    this.#allowed = atFirst
  }

  /** Current limit, of at most `most`. */
  within(most: number): number {
    return Math.min(most, this.#allowed)
  }

  succeeded(most: number): void {
    if (this.#allowed < most) this.#allowed++
  }

  failed(): void {
    this.#allowed = Math.max(1, this.#allowed >> 1)
  }

  restart(at: number): void {
    this.#allowed = at
  }
}
