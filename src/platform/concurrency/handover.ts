// SPDX-License-Identifier: Apache-2.0
// What a node has just stored and is about to need, so that it is not read back: kept for a moment, and no more of it than is
// said. Nothing may depend on finding it here.

/** How often what was not asked for in time is looked for. */
const tidyMs = 1_000

/** Things that are asked for once, soon, by their name. */
export class Memory<Thing> {
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

  /** Not for each thing that is kept: to find the first one, those that were taken before it are passed over one by one. */
  #tidy(nowMs: number): void {
    this.#tidiedMs = nowMs
    for (const [oldest, { untilMs }] of this.#things) {
      if (untilMs > nowMs && this.#things.size < this.#most) break
      this.#things.delete(oldest)
    }
  }
}
