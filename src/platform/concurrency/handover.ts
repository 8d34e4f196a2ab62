// SPDX-License-Identifier: Apache-2.0
// Handover of rows that a node has just stored to its next step, so that they are not read back: kept for a moment, and no more
// of them than the limit. Correctness may not depend on finding one here.

/** Interval between sweeps of expired entries. */
const tidyMs = 1_000

/** Entries that are taken once, soon, by name. */
export class Handover<Thing> {
  readonly #things = new Map<string, { readonly thing: Thing; readonly untilMs: number }>()
  readonly #forMs: number
  readonly #most: number
  #tidiedMs = Number.NEGATIVE_INFINITY

  constructor(forMs: number, most: number) {
    this.#forMs = forMs
    this.#most = most
  }

  keep(name: string, thing: Thing): void {
    const nowMs = performance.now()
    if (this.#things.size >= this.#most || nowMs - this.#tidiedMs > tidyMs) this.#tidy(nowMs)
    this.#things.set(name, { thing, untilMs: nowMs + this.#forMs })
  }

  take(name: string): Thing | null {
    const found = this.#things.get(name)
    if (!found) return null
    this.#things.delete(name)
    return found.untilMs > performance.now() ? found.thing : null
  }

  clear(): void {
    this.#things.clear()
  }

  /** Removes expired and excess entries. Not run on every keep: finding the oldest passes over those taken before it. */
  #tidy(nowMs: number): void {
    this.#tidiedMs = nowMs
    for (const [oldest, { untilMs }] of this.#things) {
      if (untilMs > nowMs && this.#things.size < this.#most) break
      this.#things.delete(oldest)
    }
  }
}
