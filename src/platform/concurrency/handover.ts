// SPDX-License-Identifier: Apache-2.0
// Handover cache: rows a node just stored, kept briefly and up to a limit for its next step, so that they are not read
// back. Correctness must not depend on a hit.

/** Interval between sweeps of expired entries. */
const tidyMs = 1_000

/** Entries taken once, soon, by name. */
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

  /** Removes expired and excess entries. Not on every keep: finding the oldest skips over those already taken. */
  #tidy(nowMs: number): void {
    this.#tidiedMs = nowMs
    for (const [oldest, { untilMs }] of this.#things) {
      if (untilMs > nowMs && this.#things.size < this.#most) break
      this.#things.delete(oldest)
    }
  }
}
