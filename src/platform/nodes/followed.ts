// SPDX-License-Identifier: Apache-2.0
// Followed data: operator data cached in memory on every node. It is loaded at start, on a change signal, after a gap
// in the signal connection, and periodically. One load at a time.
import type { Logger } from '../log.ts'
import type { Signals } from './signals.ts'

interface Following {
  /** Signal topic of changes. */
  readonly topic: string
  readonly everyMs: number
  /** Name in log lines: `price list`. */
  readonly what: string
  load(): Promise<void>
}

export class Followed {
  readonly #signals: Signals
  readonly #log: Pick<Logger, 'warn'>
  readonly #following: Following
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #isStopped = false

  constructor({ signals, log }: { signals: Signals; log: Pick<Logger, 'warn'> }, following: Following) {
    this.#signals = signals
    this.#log = log
    this.#following = following
  }

  /** Load and follow changes. */
  async start(): Promise<void> {
    const { topic, everyMs } = this.#following
    this.#signals.on(topic, () => this.#soon())
    this.#signals.onGap(() => this.#soon())
    this.#timer = setInterval(() => this.#soon(), everyMs).unref()
    await this.read()
  }

  /** Reload; resolves after a load that started after this call. */
  read(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = null
      const reading = this.#isStopped ? Promise.resolve() : this.#following.load()
      this.#last = reading.catch(() => undefined)
      return reading
    })
    return this.#next
  }

  /** Stop, after a load in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer) clearInterval(this.#timer)
    await this.#next?.catch(() => undefined)
    await this.#last
  }

  #soon(): void {
    if (this.#isStopped) return
    this.read().catch((error: unknown) => {
      if (!this.#isStopped)
        this.#log.warn(
          { error },
          `${this.#following.what} not read: what was known before stays in force; check the database if this repeats`,
        )
    })
  }
}
