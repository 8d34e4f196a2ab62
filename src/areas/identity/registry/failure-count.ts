// SPDX-License-Identifier: Apache-2.0
// Stops asking a registry that fails: five failures within half a minute, and it is left alone for as long.

const most = 5
const windowMs = 30_000

export class FailureCount {
  #failedAt: number[] = []
  #closedUntil = 0

  admits(nowMs: number): boolean {
    return nowMs >= this.#closedUntil
  }

  count(isAnswered: boolean, nowMs: number): void {
    if (isAnswered) {
      this.#failedAt = []
      return
    }
    this.#failedAt = [...this.#failedAt.filter((at) => at > nowMs - windowMs), nowMs]
    if (this.#failedAt.length < most) return
    this.#closedUntil = nowMs + windowMs
    this.#failedAt = []
  }
}
