// SPDX-License-Identifier: Apache-2.0
// A cache of what every request asks the database for and hardly ever changes. Whoever changes it tells all nodes, which forget
// it at once; while the line between nodes is cut nothing is kept, because what is said then is lost. Bounded in number and time.
import type { Signals } from './signals.ts'

interface Bounds {
  /** So many are kept; beyond, the oldest is forgotten. */
  readonly most: number
  /** Changes are told; this is for what was not heard. */
  readonly goodForMs: number
}

export class ToldCache<Value> {
  readonly #signals: Pick<Signals, 'connected'>
  readonly #bounds: Bounds
  readonly #known = new Map<string, { readonly value: Promise<Value>; readonly untilMs: number }>()

  constructor(signals: Pick<Signals, 'connected' | 'onGap'>, bounds: Bounds) {
    this.#signals = signals
    this.#bounds = bounds
    signals.onGap(() => this.forgetAll())
  }

  /** What is known of a key, or what `load` gives. */
  of(key: string, load: () => Promise<Value>): Promise<Value> {
    const nowMs = performance.now()
    const known = this.#known.get(key)
    if (known && known.untilMs > nowMs) return known.value
    const value = load()
    if (!this.#signals.connected) return value
    // Kept from now on, so that a change which comes while it is read drops it.
    const entry = { value, untilMs: nowMs + this.#bounds.goodForMs }
    this.#known.delete(key)
    const [oldest] = this.#known.size >= this.#bounds.most ? this.#known.keys() : []
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, entry)
    value.catch(() => {
      if (this.#known.get(key) === entry) this.#known.delete(key)
    })
    return value
  }

  forget(key: string): void {
    this.#known.delete(key)
  }

  forgetAll(): void {
    this.#known.clear()
  }
}
