// SPDX-License-Identifier: Apache-2.0
// Cache invalidated by signals, for data every request needs and that rarely changes. Writers signal all nodes, which
// drop the entry; while the signal connection is down nothing is cached. Limited in size and age.
import type { Signals } from './signals.ts'

interface Bounds {
  /** Size limit; the oldest entry is evicted. */
  readonly most: number
  /** Maximum age, in case a signal was lost. */
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

  /** Cached value of a key, or the result of `load`. */
  of(key: string, load: () => Promise<Value>): Promise<Value> {
    const nowMs = performance.now()
    const known = this.#known.get(key)
    if (known && known.untilMs > nowMs) return known.value
    const value = load()
    if (!this.#signals.connected) return value
    // The entry exists from now on, so that a change during the load drops it.
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
