// SPDX-License-Identifier: Apache-2.0
// Sample of the resources whose frames are recorded: every one of an account up to a rate, and of all accounts of the node
// up to another. A resource is chosen at its first frame and stays so.

/** Resources a second, and at once after a pause: a person or a test suite does less, a load test more. */
const ofAccount = { perSecond: 10, atOnce: 300 }
const ofNode = { perSecond: 50, atOnce: 3_000 }
/** Limits of what is remembered; beyond it remembering restarts. */
const maxResources = 20_000
const maxAccounts = 10_000
const unchosen = -1

export class Sample {
  readonly #nowMs: () => number
  /** Frames of each chosen resource so far. */
  readonly #frames = new Map<string, number>()
  readonly #accounts = new Map<string, Allowance>()
  readonly #node: Allowance

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#node = new Allowance(ofNode, nowMs())
  }

  has(account: string, resource: string): boolean {
    let frames = this.#frames.get(resource)
    if (frames === undefined) {
      frames = this.#takes(account) ? 0 : unchosen
      this.#remember(resource, frames)
    }
    return frames !== unchosen
  }

  /** Counts a frame of a chosen resource, and gives how many it has. */
  count(resource: string): number {
    const frames = (this.#frames.get(resource) ?? 0) + 1
    this.#remember(resource, frames)
    return frames
  }

  #remember(resource: string, frames: number): void {
    // Clear all at once: removing the oldest of a Map repeatedly skips over removed entries.
    if (this.#frames.size >= maxResources) this.#frames.clear()
    this.#frames.set(resource, frames)
  }

  #takes(account: string): boolean {
    const nowMs = this.#nowMs()
    let allowance = this.#accounts.get(account)
    if (!allowance) {
      if (this.#accounts.size >= maxAccounts) this.#accounts.clear()
      allowance = new Allowance(ofAccount, nowMs)
      this.#accounts.set(account, allowance)
    }
    return allowance.take(nowMs) && this.#node.take(nowMs)
  }
}

/** Token bucket. */
class Allowance {
  readonly #rate: typeof ofAccount
  #left: number
  #atMs: number

  constructor(rate: typeof ofAccount, nowMs: number) {
    this.#rate = rate
    this.#left = rate.atOnce
    this.#atMs = nowMs
  }

  take(nowMs: number): boolean {
    const { perSecond, atOnce } = this.#rate
    this.#left = Math.min(atOnce, this.#left + (Math.max(0, nowMs - this.#atMs) * perSecond) / 1_000)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
