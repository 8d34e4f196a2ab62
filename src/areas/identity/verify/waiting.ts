// SPDX-License-Identifier: Apache-2.0
// Requests that wait for their verification to be decided on this node. On another node's verdict they time out, and are
// answered with what the record says then.
import { onePerApp } from '../../../platform/one-per-app.ts'

const maxWaiting = 500

export const waitingFor = onePerApp(() => new Waiting())

class Waiting {
  readonly #waiters = new Map<string, () => void>()
  readonly #decided = new Set<string>()

  /** Fulfilled when the verification has come to a rest, or the time is over. */
  until(id: string, ms: number): Promise<void> {
    if (this.#decided.delete(id) || this.#waiters.size >= maxWaiting) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.over(id), ms)
      this.#waiters.set(id, () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  over(id: string): void {
    const wake = this.#waiters.get(id)
    this.#waiters.delete(id)
    if (wake) wake()
    // The verdict may come before somebody waits for it.
    else if (this.#decided.size < maxWaiting) this.#decided.add(id)
    else this.#decided.clear()
  }

  stop(): void {
    for (const id of [...this.#waiters.keys()]) this.over(id)
  }
}
