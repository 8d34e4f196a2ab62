// SPDX-License-Identifier: Apache-2.0
// Deliveries that this node holds, waiting in a line or under way. Those that wait are kept leased, however long their turn
// takes; one that is under way has lease enough for its attempt.
import type { App } from '../../../platform/app.ts'
import type { Delivery } from './delivery.ts'

/** Time limit of an attempt, its storing included: a delivery begins only while so much of its lease is left. */
const attemptMs = 7_000
/** Interval of lease checks for waiting deliveries, and how early a lease is extended. */
const extendMs = 1_000
const extendEarlyMs = 2_000

export class HeldDeliveries {
  readonly #all = new Map<string, Delivery>()
  readonly #sending = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isExtending = false

  /** Number of deliveries that are not under way. */
  get waiting(): number {
    return this.#all.size - this.#sending.size
  }

  get(id: string): Delivery | undefined {
    return this.#all.get(id)
  }

  add(delivery: Delivery): void {
    this.#all.set(delivery.id, delivery)
  }

  drop(id: string): void {
    this.#all.delete(id)
  }

  sendingBegins(id: string): void {
    this.#sending.add(id)
  }

  sendingEnds(id: string): void {
    this.#sending.delete(id)
  }

  /** Ids of those under way. */
  sending(): ReadonlySet<string> {
    return new Set(this.#sending)
  }

  keepLeased(app: App): void {
    this.#timer = setInterval(() => void this.#extend(app), extendMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #extend(app: App): Promise<void> {
    if (this.#isExtending) return
    this.#isExtending = true
    const soon = performance.now() + extendEarlyMs
    const waiting = [...this.#all.values()].filter(({ id, startByMs }) => startByMs < soon && !this.#sending.has(id))
    const startBy = startByMs(app)
    try {
      await app.work.extend(
        waiting.map(({ tenant, id, jobAttempt }) => ({ bucket: tenant.bucket, id, attempt: jobAttempt })),
      )
      for (const delivery of waiting) delivery.startByMs = startBy
    } catch (error) {
      app.log.warn(
        { error },
        'leases of deliveries not extended: another node may send some of them again; check the database if this repeats',
      )
    } finally {
      this.#isExtending = false
    }
  }
}

/** Latest time at which a delivery leased now may begin; the first quarter of a lease that is too short for an attempt. */
export function startByMs({ work }: App): number {
  const leaseMs = work.leaseSeconds * 1_000
  return performance.now() + Math.max(leaseMs - attemptMs, leaseMs / 4)
}
