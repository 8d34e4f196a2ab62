// SPDX-License-Identifier: Apache-2.0
// Samples that wait to be heard, first in first out and bounded: what is over the bound pushes the oldest out. Memory grows
// with what waits, up to the bound.
const firstSize = 8_000

export class SampleQueue {
  #ring: Int16Array
  #first = 0
  #count = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
    this.#ring = new Int16Array(Math.min(firstSize, most))
  }

  get length(): number {
    return this.#count
  }

  /** Adds samples; gives how many were pushed out. */
  put(samples: Int16Array): number {
    const tooMany = Math.max(0, this.#count + samples.length - this.#most)
    const skipped = Math.max(0, samples.length - this.#most)
    const forgotten = tooMany - skipped
    this.#first = (this.#first + forgotten) % this.#ring.length
    this.#count -= forgotten
    const kept = samples.subarray(skipped)
    if (this.#count + kept.length > this.#ring.length) this.#grow(this.#count + kept.length)
    const at = (this.#first + this.#count) % this.#ring.length
    const untilEnd = Math.min(kept.length, this.#ring.length - at)
    this.#ring.set(kept.subarray(0, untilEnd), at)
    this.#ring.set(kept.subarray(untilEnd), 0)
    this.#count += kept.length
    return tooMany
  }

  /** Takes as many samples as there are and fit; the rest is silence. Gives how many there were. */
  take(into: Int16Array): number {
    const length = Math.min(into.length, this.#count)
    const untilEnd = Math.min(length, this.#ring.length - this.#first)
    into.set(this.#ring.subarray(this.#first, this.#first + untilEnd), 0)
    into.set(this.#ring.subarray(0, length - untilEnd), untilEnd)
    into.fill(0, length)
    this.#first = (this.#first + length) % this.#ring.length
    this.#count -= length
    return length
  }

  clear(): void {
    this.#first = 0
    this.#count = 0
  }

  #grow(least: number): void {
    const size = Math.min(this.#most, Math.max(least, 2 * this.#ring.length))
    const larger = new Int16Array(size)
    const count = this.#count
    this.take(larger)
    this.#ring = larger
    this.#first = 0
    this.#count = count
  }
}
