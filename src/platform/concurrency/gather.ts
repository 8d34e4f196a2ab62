// SPDX-License-Identifier: Apache-2.0
// Batches of single calls: while a batch runs, further calls gather for the next. No batch waits to fill, holders
// (accounts, payout batches) take turns, and the queue is bounded. Group commits have their own batching in commit.ts,
// which shares connections between operations and sends a large batch beside a running one.
import { AppError } from '../../kernel/errors.ts'

export interface GathererOptions<Item, Result> {
  /** Batch size limit. */
  readonly most: number
  /** Batches running at once. */
  readonly atOnce: number
  /** Batches of one holder running at once; 1 by default. */
  readonly ofHolder?: number
  /** Runs a batch: one result per item, in order. When it throws, all items fail. */
  run(items: readonly Item[]): Promise<readonly Result[]>
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Queue limit beyond which callers get 503. */
const maxWaiting = 20_000

export class Gatherer<Item, Result> {
  readonly #options: GathererOptions<Item, Result>
  /** Queues by holder, in order of turn; none is empty. */
  readonly #lines = new Map<string, Waiting<Item, Result>[]>()
  /** Running batches by holder. */
  readonly #running = new Map<string, number>()
  #batches = 0
  #waiting = 0
  #isWoken = false

  constructor(options: GathererOptions<Item, Result>) {
    this.#options = options
  }

  /** Adds an item to the next batch of its holder; returns its result. */
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

  /**
   * Starts at the end of the event loop turn, so that calls of one turn, such as jobs claimed together, share a batch.
   */
  #wake(): void {
    if (this.#isWoken) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      this.#begin()
    })
  }

  /** Starts at most one batch per holder; further ones come in the next turn. */
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

/** Batch size and number of concurrent queries. */
const maxBatch = 256
const maxLookups = 2

/** Turns a batch query into a function for one question; concurrent calls share a query. */
export function gathered<Question, Answer>(
  lookAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  const options = { most: maxBatch, atOnce: maxLookups, ofHolder: maxLookups, run: lookAll }
  const lookups = new Gatherer<Question, Answer>(options)
  return (question) => lookups.join(question)
}
