// SPDX-License-Identifier: Apache-2.0
// Stops asking somebody who does not answer: a provider, a registry, a customer's endpoint. When its policy finds too many
// failures among the latest outcomes it opens; after a while a few probes are let through, and the first good answer closes it.
// Pure: the caller gives the time.

/** What is known of the latest outcomes. */
interface Outcomes {
  readonly known: number
  readonly failures: number
  readonly inARow: number
}

export interface BreakerPolicy {
  /** How many of the latest outcomes count. */
  readonly remembers: number
  /** Older ones do not; all do unless given. */
  readonly withinMs?: number
  isFailing(outcomes: Outcomes): boolean
  /** It works, but not well: for those who look. */
  isDegraded?(outcomes: Outcomes): boolean
  /** How long it stays open before it is tried, and how long nothing is heard of probes before they count as lost. */
  readonly waitMs: number
  /** Requests that try it. */
  readonly probes: number
}

/** half-open: probes are under way. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export class Breaker {
  readonly #policy: BreakerPolicy
  #state: BreakerState = 'closed'
  #latest: { readonly failed: boolean; readonly atMs: number }[] = []
  #failures = 0
  #inARow = 0
  /** When the next probes may go, and how many of the last ones are left. */
  #probeAtMs = 0
  #probesLeft = 0

  constructor(policy: BreakerPolicy) {
    this.#policy = policy
  }

  get state(): BreakerState {
    return this.#state
  }

  /** How it looks to somebody who does not ask. */
  get status(): 'up' | 'degraded' | 'down' {
    if (this.#state !== 'closed') return 'down'
    return this.#policy.isDegraded?.(this.#outcomes()) ? 'degraded' : 'up'
  }

  /** Whether a request may go out now. */
  admits(nowMs: number): boolean {
    return this.admit(nowMs) !== 'wait'
  }

  /** The same: like all others, as a probe, or not at all. One that was asked for need not wait. */
  admit(nowMs: number, isAskedFor = false): 'send' | 'probe' | 'wait' {
    if (this.#state === 'closed') return 'send'
    // Also while half-open: probes of which nothing was heard for so long were lost.
    if (nowMs >= this.#probeAtMs || isAskedFor) {
      this.#probesLeft = this.#policy.probes
      this.#probeAtMs = nowMs + this.#policy.waitMs
      this.#state = 'half-open'
    }
    if (this.#state !== 'half-open' || this.#probesLeft === 0) return 'wait'
    this.#probesLeft--
    return 'probe'
  }

  /** Notes an outcome; says so when it changed the state. */
  record(succeeded: boolean, nowMs: number): 'opened' | 'closed' | null {
    if (this.#state !== 'closed') {
      if (succeeded) {
        this.close()
        return 'closed'
      }
      // Requests that were on their way when it opened say nothing new; a failed probe does.
      if (this.#state === 'half-open') this.open(nowMs + this.#policy.waitMs)
      return null
    }
    this.#remember(!succeeded, nowMs)
    if (!this.#policy.isFailing(this.#outcomes())) return null
    this.open(nowMs + this.#policy.waitMs)
    return 'opened'
  }

  open(probeAtMs: number): void {
    this.#state = 'open'
    this.#probeAtMs = probeAtMs
    this.#probesLeft = 0
  }

  close(): void {
    this.#state = 'closed'
    this.#latest = []
    this.#failures = 0
    this.#inARow = 0
  }

  #outcomes(): Outcomes {
    return { known: this.#latest.length, failures: this.#failures, inARow: this.#inARow }
  }

  #remember(failed: boolean, atMs: number): void {
    const { remembers, withinMs = Number.POSITIVE_INFINITY } = this.#policy
    this.#latest.push({ failed, atMs })
    if (failed) this.#failures++
    this.#inARow = failed ? this.#inARow + 1 : 0
    for (let [oldest] = this.#latest; oldest; [oldest] = this.#latest) {
      if (this.#latest.length <= remembers && oldest.atMs > atMs - withinMs) break
      this.#latest.shift()
      if (oldest.failed) this.#failures--
    }
    this.#inARow = Math.min(this.#inARow, this.#latest.length)
  }
}
