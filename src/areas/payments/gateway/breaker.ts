// SPDX-License-Identifier: Apache-2.0
// Stops asking a provider that does not answer. When half of the last twenty requests got no usable answer it opens for half
// a minute; then a few are let through, and the first good answer closes it. A simulator fails by the number that it is given,
// which says nothing about the next one: its breaker never opens.

const remembered = 20
const openMs = 30_000
const probes = 3
const degradedPart = 0.25
const openPart = 0.5

export class Breaker {
  readonly #opens: boolean
  #recent: boolean[] = []
  #openUntil = Number.NEGATIVE_INFINITY
  #probesLeft = 0

  constructor({ opens }: { opens: boolean }) {
    this.#opens = opens
  }

  /** Whether a request may go out now. */
  admits(nowMs: number): boolean {
    if (this.#openUntil === Number.NEGATIVE_INFINITY) return true
    if (nowMs < this.#openUntil) return false
    // Probes of which nothing was heard for so long were lost.
    if (this.#probesLeft === 0 && nowMs >= this.#openUntil + openMs) this.#open(nowMs - openMs)
    if (this.#probesLeft === 0) return false
    this.#probesLeft--
    return true
  }

  record(answered: boolean, nowMs: number): void {
    if (!this.#opens) return
    const wasOpen = this.#openUntil !== Number.NEGATIVE_INFINITY
    if (wasOpen && answered) this.#close()
    else if (wasOpen) this.#open(nowMs)
    else {
      this.#recent = [...this.#recent.slice(1 - remembered), answered]
      if (this.#recent.length === remembered && this.#failing() >= openPart) this.#open(nowMs)
    }
  }

  /** How it looks to a customer. */
  get status(): 'up' | 'degraded' | 'down' {
    if (this.#openUntil !== Number.NEGATIVE_INFINITY) return 'down'
    return this.#recent.length === remembered && this.#failing() >= degradedPart ? 'degraded' : 'up'
  }

  #failing(): number {
    return this.#recent.filter((answered) => !answered).length / this.#recent.length
  }

  #open(nowMs: number): void {
    this.#openUntil = nowMs + openMs
    this.#probesLeft = probes
  }

  #close(): void {
    this.#openUntil = Number.NEGATIVE_INFINITY
    this.#recent = []
  }
}
