// SPDX-License-Identifier: Apache-2.0
// An exact sliding window: the memory of one rate limit, and nothing else.

/** The times of the admissions within the last window, oldest first. It knows no clock: the times are the caller's. */
export class Ring {
  readonly windowMs: number
  #times = noTimes
  #first = 0
  #count = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  /** How many admissions still count. One counts for less than a window, so at its very end its slot is free again. */
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

  /** From now until fewer than `slots` count, as far as this ring knows: with no slot at all, a whole window. */
  freeInMs(nowMs: number, slots: number): number {
    if (slots === 0) return this.windowMs
    return this.#count < slots ? 0 : this.#at(this.#count - slots) + this.windowMs - nowMs
  }

  /** From now until none counts. */
  emptyInMs(nowMs: number): number {
    return this.#count === 0 ? 0 : this.#at(this.#count - 1) + this.windowMs - nowMs
  }

  /** Gives back the memory of a burst that is long over. */
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
