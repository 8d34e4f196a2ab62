// SPDX-License-Identifier: Apache-2.0
// Exact sliding window of one rate limit.

/** Times of the admissions within the last window, oldest first. The caller gives the time. */
export class Ring {
  readonly windowMs: number
  #times = noTimes
  #first = 0
  #count = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  /** Admissions that still count; one stops counting exactly after a window. */
  used(nowMs: number): number {
    const mask = this.#times.length - 1
    while (this.#count > 0 && nowMs - this.#at(0) >= this.windowMs) {
      this.#first = (this.#first + 1) & mask
      this.#count--
    }
    return this.#count
  }

  add(nowMs: number): void {
    if (this.#count === this.#times.length) this.#resize(Math.max(smallestRing, this.#count * 2))
    this.#times[(this.#first + this.#count) & (this.#times.length - 1)] = nowMs
    this.#count++
  }

  /** Time until fewer than `slots` count; with no slot at all, a whole window. */
  freeInMs(nowMs: number, slots: number): number {
    if (slots === 0) return this.windowMs
    return this.#count < slots ? 0 : this.#at(this.#count - slots) + this.windowMs - nowMs
  }

  /** Time until none counts. */
  emptyInMs(nowMs: number): number {
    return this.#count === 0 ? 0 : this.#at(this.#count - 1) + this.windowMs - nowMs
  }

  /** Frees the memory of a past burst. */
  trim(): void {
    if (this.#times.length > smallestRing && this.#count < this.#times.length / 8) this.#resize(this.#times.length / 4)
  }

  #at(index: number): number {
    return this.#times[(this.#first + index) & (this.#times.length - 1)] ?? 0
  }

  /** Sizes are powers of two, so that a mask wraps around. */
  #resize(size: number): void {
    const times = new Float64Array(size)
    for (let index = 0; index < this.#count; index++) times[index] = this.#at(index)
    this.#times = times
    this.#first = 0
  }
}

const smallestRing = 8
const noTimes = new Float64Array(0)
