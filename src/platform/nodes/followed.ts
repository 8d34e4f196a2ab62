// SPDX-License-Identifier: Apache-2.0
// Followed data: operator data cached in memory on every node. It is loaded at start, on a change signal, after a gap
// in the signal connection, and periodically. One load at a time.
import { isUnavailable } from '../db.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Signals } from './signals.ts'

interface Following {
  /** Signal topic of changes. */
  readonly topic: string
  readonly everyMs: number
  /** Name in log lines: `price list`. */
  readonly what: string
  load(): Promise<void>
  /** Done between loads and never during one, such as taking connections whose node is gone. */
  readonly between?: { readonly everyMs: number; run(): Promise<void> }
}

export class Followed {
  readonly #signals: Signals
  readonly #log: Pick<Logger, 'warn'>
  readonly #following: Following
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  readonly #timers: NodeJS.Timeout[] = []
  #isBusy = false
  #isStopped = false

  constructor({ signals, log }: { signals: Signals; log: Pick<Logger, 'warn'> }, following: Following) {
    this.#signals = signals
    this.#log = log
    this.#following = following
  }

  /** Loads and follow changes. */
  async start(): Promise<void> {
    const { topic, everyMs, between } = this.#following
    this.#signals.on(topic, () => this.#soon())
    this.#signals.onGap(() => this.#soon())
    this.#timers.push(setInterval(() => this.#soon(), everyMs).unref())
    await this.read()
    if (between) this.#timers.push(setInterval(() => this.#between(between.run), between.everyMs).unref())
  }

  /** Reloads; resolves after a load that started after this call. */
  read(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = null
      const reading = this.#isStopped ? Promise.resolve() : this.#alone(() => this.#following.load())
      this.#last = reading.catch(() => undefined)
      return reading
    })
    return this.#next
  }

  /** Stops, after a load in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#next?.catch(() => undefined)
    await this.#last
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    this.#isBusy = true
    try {
      await work()
    } finally {
      this.#isBusy = false
    }
  }

  #between(run: () => Promise<void>): void {
    if (this.#isBusy || this.#next !== null || this.#isStopped) return
    this.#last = this.#alone(run).catch((error) => {
      // Too frequent to report that the database is away.
      if (!isUnavailable(error)) this.#warn(error)
    })
  }

  #soon(): void {
    if (this.#isStopped) return
    this.read().catch((error: unknown) => {
      if (!this.#isStopped) this.#warn(error)
    })
  }

  #warn(error: unknown): void {
    this.#log.warn(
      { error },
      `${this.#following.what} not read: what was known before stays in force; check the database if this repeats`,
    )
  }
}
