// SPDX-License-Identifier: Apache-2.0
// Queue, first in, first out, without moving the rest: a line may hold thousands.

/** Empty places at the front before the rest moves up. */
const maxEmpty = 1_024

export class Queue<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  first(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (this.#head < this.#items.length) this.#items[this.#head++] = undefined
    if (this.#head === this.#items.length || this.#head > maxEmpty) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
