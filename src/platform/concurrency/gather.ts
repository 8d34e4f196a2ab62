// SPDX-License-Identifier: Apache-2.0
// Batches of what comes one by one: while a batch is being done, what else comes gathers for the next. Nobody waits for a
// batch to fill, holders (accounts, batches of payouts) take turns, and what may wait is bounded. Writes that share a commit
// are gathered by commit.ts, which shares its connections between operations and sends a large batch beside a running one.
import { AppError } from '../../kernel/errors.ts'

export interface GathererOptions<Item, Result> {
  /** How many a batch may hold. */
  readonly most: number
  /** How many batches may be done at once. */
  readonly atOnce: number
  /** How many of them may be of one holder; 1 unless told. */
  readonly ofHolder?: number
  /** Gives one result for each item, in their order. When it throws, all of them have failed. */
  run(items: readonly Item[]): Promise<readonly Result[]>
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** How many may wait before callers are told to come back later. */
const maxWaiting = 20_000

export class Gatherer<Item, Result> {
  readonly #options: GathererOptions<Item, Result>
  /** In the order of their turns. No line is empty. */
  readonly #lines = new Map<string, Waiting<Item, Result>[]>()
  /** How many batches of a holder are being done. */
  readonly #running = new Map<string, number>()
  #batches = 0
  #waiting = 0
  #isWoken = false

  constructor(options: GathererOptions<Item, Result>) {
    this.#options = options
  }

  /** Done with others of the same holder; gives what came of this one. */
  join(item: Item, holder = ''): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting >= maxWaiting) {
        reject(new AppError('SERVICE_UNAVAILABLE', 'too many requests are waiting', { retryAfterSeconds: 1 }))
        return
      }
      this.#waiting++
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

  /** Begins at most one batch of each holder; a holder that may have another gets it in the next turn. */
  #begin(): void {
    const { most, atOnce, ofHolder = 1 } = this.#options
    for (const [holder, line] of [...this.#lines]) {
      if (this.#batches >= atOnce) return
      const running = this.#running.get(holder) ?? 0
      if (running >= ofHolder) continue
      const batch = line.splice(0, most)
      this.#waiting -= batch.length
      this.#lines.delete(holder)
      if (line.length > 0) {
        this.#lines.set(holder, line)
        this.#wake()
      }
      this.#batches++
      this.#running.set(holder, running + 1)
      void this.#run(batch).then(() => this.#ended(holder))
    }
  }

  #ended(holder: string): void {
    const running = (this.#running.get(holder) ?? 1) - 1
    if (running > 0) this.#running.set(holder, running)
    else this.#running.delete(holder)
    this.#batches--
    this.#wake()
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

/** How many one look into the database takes, and how many may be under way. */
const maxTogether = 256
const maxLooks = 2

/** Makes a function that answers one question out of one that answers many with one look, in their order. */
export function gathered<Question, Answer>(
  lookAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  const options = { most: maxTogether, atOnce: maxLooks, ofHolder: maxLooks, run: lookAll }
  const looks = new Gatherer<Question, Answer>(options)
  return (question) => looks.join(question)
}
