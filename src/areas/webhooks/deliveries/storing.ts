// SPDX-License-Identifier: Apache-2.0
// Commits about deliveries: outcomes, and deliveries that go back to the database to be sent later. Nothing waits for
// these commits; one that fails leaves the delivery leased, and it is sent again when the lease runs out.
import type { App } from '../../../platform/app.ts'
import type { RowOf } from '../../../platform/commit.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { settle } from '../../../platform/work.ts'
import { putBack } from './finished.ts'
import type { HeldDeliveries } from './held.ts'

/**
 * Batch of deliveries that go back: its longest wait and its size. An endpoint that is paused would otherwise cost a
 * commit per event, just when the other endpoints are called.
 */
const gatherMs = 50
const maxGathered = 1_000

/** Delivery that is left to later; `attempt` is that of its job. */
interface Waiting {
  readonly tenant: Tenant
  readonly id: string
  readonly endpoint: string
  readonly attempt: number
  readonly delayMs: number
  readonly resource: string | null
}

export class Storing {
  readonly #app: () => App
  readonly #held: HeldDeliveries
  #toPutBack: RowOf<(typeof settle)['takes']>[] = []
  #timer: NodeJS.Timeout | undefined
  #underWay = 0

  constructor(app: () => App, held: HeldDeliveries) {
    this.#app = app
    this.#held = held
  }

  get isBusy(): boolean {
    return this.#underWay > 0 || this.#toPutBack.length > 0
  }

  /** Stores something without waiting for it. */
  store(commit: Promise<unknown>): Promise<void> {
    this.#underWay++
    return commit
      .then(() => undefined)
      .catch((error) =>
        this.#app().log.warn(
          { error },
          'outcomes of deliveries not stored: the deliveries are sent again when their leases run out; check the database',
        ),
      )
      .finally(() => {
        this.#underWay--
      })
  }

  /** Leaves a delivery to later, without an attempt; a delay of null removes its job. */
  putBack(tenant: Tenant, id: string, attempt: number, delayMs: number | null): void {
    this.#held.drop(id)
    const delay_ms = delayMs === null ? null : BigInt(Math.max(0, Math.round(delayMs)))
    this.#toPutBack.push({ bucket: tenant.bucket, id, attempt, delay_ms, error: null })
    if (this.#toPutBack.length >= maxGathered) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), gatherMs)
  }

  /** Stores the batch. */
  async flush(): Promise<void> {
    if (this.#toPutBack.length === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const items = this.#toPutBack
    this.#toPutBack = []
    const app = this.#app()
    await this.store(Promise.all(items.map((item) => app.commit(settle, item))))
  }

  /**
   * Leaves a delivery to later because it is behind another about the same resource, or, without one, because its endpoint is
   * disabled. If that is over by now it is fetched again.
   */
  wait({ tenant, delayMs, ...rest }: Waiting): void {
    this.#held.drop(rest.id)
    const app = this.#app()
    const delay_ms = BigInt(Math.round(delayMs))
    void this.store(
      app.commit(putBack, { ...tenant, ...rest, delay_ms }).then(({ waits }) => {
        if (!waits) app.work.poke()
      }),
    )
  }
}
