// SPDX-License-Identifier: Apache-2.0
// Timers of one call, by its account's clock, so that tests can move it.

interface Timer {
  dueMs: number
  run(): void
  handle: NodeJS.Timeout
}

/** Longest delay of setTimeout. */
const longestMs = 2 ** 31 - 1

export class CallTimers {
  readonly #timers = new Map<string, Timer>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Sets a timer; one of the same name is replaced. */
  set(name: string, ms: number, run: () => void): void {
    this.clear(name)
    this.#timers.set(name, { dueMs: this.#nowMs() + ms, run, handle: this.#arm(name, ms, run) })
  }

  #arm(name: string, ms: number, run: () => void): NodeJS.Timeout {
    const handle = setTimeout(
      () => {
        this.#timers.delete(name)
        run()
      },
      Math.max(0, Math.min(ms, longestMs)),
    )
    handle.unref()
    return handle
  }

  clear(name: string): void {
    const timer = this.#timers.get(name)
    if (timer) clearTimeout(timer.handle)
    this.#timers.delete(name)
  }

  clearAll(): void {
    for (const name of [...this.#timers.keys()]) this.clear(name)
  }

  /** The sandbox clock was moved: run the timers that fell due, in order. */
  clockMoved(): void {
    const nowMs = this.#nowMs()
    for (const [name, timer] of [...this.#timers].sort(([, a], [, b]) => a.dueMs - b.dueMs)) {
      clearTimeout(timer.handle)
      timer.handle = this.#arm(name, timer.dueMs - nowMs, timer.run)
    }
  }
}
