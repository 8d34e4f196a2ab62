// SPDX-License-Identifier: Apache-2.0
// Brings together what comes one by one, so that it can be done in one go: while a batch of one holder is being done, what
// else comes for that holder gathers for the next. Nobody waits for a batch to fill, and holders take turns.

export interface GatheringOptions<Item, Result> {
  /** How many a batch may hold. */
  readonly most: number
  /** How many batches may be done at once, each of another holder. */
  readonly atOnce: number
  /** Gives one result for each item, in their order. When it throws, all of them have failed. */
  run(items: readonly Item[]): Promise<readonly Result[]>
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export class Gathering<Item, Result> {
  readonly #options: GatheringOptions<Item, Result>
  /** In the order of their turns. No line is empty. */
  readonly #lines = new Map<string, Waiting<Item, Result>[]>()
  readonly #running = new Set<string>()
  #isWoken = false

  constructor(options: GatheringOptions<Item, Result>) {
    this.#options = options
  }

  /** Done with others of the same holder; gives what came of this one. */
  join(holder: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(holder)
      if (line) line.push({ item, resolve, reject })
      else this.#lines.set(holder, [{ item, resolve, reject }])
      this.#wake()
    })
  }

  /** Whatever comes in the same turn of the event loop, such as jobs that were claimed together, begins together. */
  #wake(): void {
    if (this.#isWoken) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      this.#begin()
    })
  }

  #begin(): void {
    const { most, atOnce } = this.#options
    for (const [holder, line] of this.#lines) {
      if (this.#running.size >= atOnce) return
      if (this.#running.has(holder)) continue
      const batch = line.splice(0, most)
      this.#lines.delete(holder)
      if (line.length > 0) this.#lines.set(holder, line)
      this.#running.add(holder)
      void this.#run(batch).then(() => {
        this.#running.delete(holder)
        this.#wake()
      })
    }
  }

  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i]
        if (result === undefined) reject(new Error('a batch gave fewer results than it was given items'))
        else resolve(result)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
