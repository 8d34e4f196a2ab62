// SPDX-License-Identifier: Apache-2.0
// Fair queue: a line per holder, and one item from each in turn, or as many as the holder's weight. A new holder waits
// for at most one turn of all others, however long their lines are. Also the share of a common space that a holder may
// take, so that some is left for the next.

interface Line<Item> {
  readonly items: Item[]
  weight: number
  /** Items left in this turn. */
  left: number
}

export class Turns<Item> {
  /** Lines in the order of their turns; none is empty. */
  readonly #lines = new Map<string, Line<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  lengthOf(holder: string): number {
    return this.#lines.get(holder)?.items.length ?? 0
  }

  add(holder: string, item: Item, weight = 1): void {
    this.#line(holder, weight).items.push(item)
    this.#size++
  }

  /** Gives back what was taken: it is the next of its holder. */
  giveBack(holder: string, item: Item, weight = 1): void {
    this.#line(holder, weight).items.unshift(item)
    this.#size++
  }

  take(): Item | undefined {
    for (const [holder, line] of this.#lines) {
      const item = line.items.shift()
      line.left--
      this.#size--
      if (line.items.length === 0) this.#lines.delete(holder)
      else if (line.left <= 0) {
        this.#lines.delete(holder)
        line.left = line.weight
        this.#lines.set(holder, line)
      }
      return item
    }
    return undefined
  }

  /** Takes everything, line by line. */
  takeAll(): Item[] {
    const items = [...this.#lines.values()].flatMap((line) => line.items)
    this.#lines.clear()
    this.#size = 0
    return items
  }

  #line(holder: string, weight: number): Line<Item> {
    let line = this.#lines.get(holder)
    if (!line) {
      line = { items: [], weight, left: weight }
      this.#lines.set(holder, line)
    }
    line.weight = weight
    return line
  }
}

/**
 * Whether a holder of `held` places may have `wanted` more of a space with `free` places left: at most as many as are
 * free. A single holder gets half of the space, the next half of the rest; as places come free, all approach equal
 * parts.
 */
export function mayHold(held: number, wanted: number, free: number): boolean {
  return held + wanted <= free
}
