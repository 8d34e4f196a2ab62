// SPDX-License-Identifier: Apache-2.0
// Circuit breaker for a provider, registry or customer endpoint. It opens when its policy finds too many failures among
// the latest outcomes; after a while a few probes pass, and the first success closes it. Pure: the caller gives the
// time.

/** Latest outcomes. */
interface Outcomes {
  readonly known: number
  readonly failures: number
  readonly inARow: number
}

export interface BreakerPolicy {
  /** Number of outcomes kept. */
  readonly remembers: number
  /** Maximum age of outcomes; unlimited by default. */
  readonly withinMs?: number
  isFailing(outcomes: Outcomes): boolean
  /** Degraded: shown in the status, requests still pass. */
  isDegraded?(outcomes: Outcomes): boolean
  /** Times it stays open before probing, and timeout of probes. */
  readonly waitMs: number
  /** Requests let through as probes. */
  readonly probes: number
}

/** half-open: probes are in flight. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export class Breaker {
  readonly #policy: BreakerPolicy
  #state: BreakerState = 'closed'
  #latest: { readonly failed: boolean; readonly atMs: number }[] = []
  #failures = 0
  #inARow = 0
  /** Time of the next probes, and how many of the last ones are left. */
  #probeAtMs = 0
  #probesLeft = 0

  constructor(policy: BreakerPolicy) {
    this.#policy = policy
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Status for display. */
  get status(): 'up' | 'degraded' | 'down' {
    if (this.#state !== 'closed') return 'down'
    return this.#policy.isDegraded?.(this.#outcomes()) ? 'degraded' : 'up'
  }

  /** Whether a request may go out now. */
  admits(nowMs: number): boolean {
    return this.admit(nowMs) !== 'wait'
  }

  /** Admits a request normally, as a probe, or not. A manual request need not wait. */
  admit(nowMs: number, isAskedFor = false): 'send' | 'probe' | 'wait' {
    if (this.#state === 'closed') return 'send'
    // Also while half-open: probes without an outcome for so long count as lost.
    if (nowMs >= this.#probeAtMs || isAskedFor) {
      this.#probesLeft = this.#policy.probes
      this.#probeAtMs = nowMs + this.#policy.waitMs
      this.#state = 'half-open'
    }
    if (this.#state !== 'half-open' || this.#probesLeft === 0) return 'wait'
    this.#probesLeft--
    return 'probe'
  }

  /** Records an outcome; returns a change of state. */
  record(succeeded: boolean, nowMs: number): 'opened' | 'closed' | null {
    if (this.#state !== 'closed') {
      if (succeeded) {
        this.close()
        return 'closed'
      }
      // Requests in flight when it opened are ignored; a failed probe is not.
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
