// SPDX-License-Identifier: Apache-2.0
// What operators entered, as every node keeps it in memory: read at the start, when somebody says that it changed, when the line
// on which that is said was cut, and now and then for what was not heard. One reading at a time.
import type { Logger } from '../log.ts'
import type { Signals } from './signals.ts'

interface Following {
  /** Of `signals`: said when it changed. */
  readonly topic: string
  readonly everyMs: number
  /** For the log, when it cannot be read: `price list`. */
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

  /** Reads it for the first time and keeps it fresh from then on. */
  async start(): Promise<void> {
    const { topic, everyMs } = this.#following
    this.#signals.on(topic, () => this.#soon())
    this.#signals.onGap(() => this.#soon())
    this.#timer = setInterval(() => this.#soon(), everyMs).unref()
    await this.read()
  }

  /** Fulfilled when it was read after this call: a reading under way may have begun before the change. */
  read(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = null
      const reading = this.#isStopped ? Promise.resolve() : this.#following.load()
      this.#last = reading.catch(() => undefined)
      return reading
    })
    return this.#next
  }

  /** Reads nothing more; what is being read is waited for. */
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
