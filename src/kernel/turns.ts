// SPDX-License-Identifier: Apache-2.0
// A line for each of several holders, and one item from each of them in turn: whoever comes new waits for at most one item
// of everybody else, however long their lines are. And how much of a common space a holder may take, so that some is left
// for the next.

export class Turns<Item> {
  /** In the order of their turns. No line is empty. */
  readonly #lines = new Map<string, Item[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  lengthOf(holder: string): number {
    return this.#lines.get(holder)?.length ?? 0
  }

  add(holder: string, item: Item): void {
    const line = this.#lines.get(holder)
    if (line) line.push(item)
    else this.#lines.set(holder, [item])
    this.#size++
  }

  /** Gives back what was taken: it is the next of its holder. */
  giveBack(holder: string, item: Item): void {
    const line = this.#lines.get(holder)
    if (line) line.unshift(item)
    else this.#lines.set(holder, [item])
    this.#size++
  }

  take(): Item | undefined {
    for (const [holder, line] of this.#lines) {
      const item = line.shift()
      this.#lines.delete(holder)
      if (line.length > 0) this.#lines.set(holder, line)
      this.#size--
      return item
    }
    return undefined
  }

  /** Takes everything, line by line. */
  takeAll(): Item[] {
    const items = [...this.#lines.values()].flat()
    this.#lines.clear()
    this.#size = 0
    return items
  }
}

/**
 * Whether somebody who holds `held` places may have `wanted` more of a space with `free` places left: up to as much as is
 * free. One holder alone gets half of the space, who comes next half of what is left; as places come free, all of them
 * draw near to equal parts.
 */
export function mayHold(held: number, wanted: number, free: number): boolean {
  return held + wanted <= free
}
