// SPDX-License-Identifier: Apache-2.0
// Fetching deliveries of an endpoint before they fall due: those that found no room, once there is some; all of them, when an
// endpoint works again; and the oldest every half minute, to probe one that does not.
import { firstUuidAt } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { noteProbe } from '../endpoints/health.ts'
import { probeEveryMs } from './breaker.ts'
import { wake } from './due.ts'
import type { Line } from './lines.ts'
import type { Storing } from './storing.ts'

/** Deliveries that wait in memory for one endpoint. */
export const maxWaitingInLine = 2_000
/** Age of deliveries that are resumed when an endpoint works again. */
const wakeDays = 3

export class Waking {
  readonly #app: () => App
  readonly #storing: Storing
  #stopped = false

  constructor(app: () => App, storing: Storing) {
    this.#app = app
    this.#storing = storing
  }

  stop(): void {
    this.#stopped = true
  }

  /** Fetches the deliveries that did not fit, once all that did have gone out. */
  refill(line: Line): void {
    const { endpoint } = line
    if (!line.hasMore || endpoint === null || line.breaker.state !== 'closed') return
    line.hasMore = false
    const at = new Date(this.#app().clock.nowMs() + line.clockOffsetMs)
    void this.#storing.store(
      this.#wake(line, endpoint, at, false).then((woken) => {
        line.hasMore ||= woken >= maxWaitingInLine
      }),
    )
  }

  /** Fetches what had to wait for an endpoint that works again. */
  async release(line: Line, endpoint: string, at: Date): Promise<void> {
    line.hasMore = (await this.#wake(line, endpoint, at, false)) >= maxWaitingInLine
  }

  /** While the breaker is open, the oldest delivery is fetched every half minute to probe the endpoint with. */
  probeLater(line: Line): void {
    const { endpoint } = line
    if (line.probeTimer || endpoint === null || this.#stopped) return
    line.probeTimer = setTimeout(() => {
      line.probeTimer = null
      if (line.breaker.state === 'closed' || this.#stopped) return
      void this.#storing.store(
        this.#wake(line, endpoint, new Date(0), true).then((woken) => {
          // With nothing to try there is nothing to do until something comes.
          if (woken > 0) this.probeLater(line)
        }),
      )
    }, probeEveryMs)
    line.probeTimer.unref()
  }

  /** Stores that a probe begins, or that it is over and the endpoint does not work. */
  noteProbe({ tenant, endpoint }: Line, from: string, to: string): Promise<void> {
    if (endpoint === null) return Promise.resolve()
    return this.#storing.store(this.#app().db.query(noteProbe, { ...tenant, endpoint, from, to }))
  }

  async #wake(line: Line, endpoint: string, at: Date, onlyOldest: boolean): Promise<number> {
    const app = this.#app()
    // Deliveries on their way back to the database can be woken too.
    await this.#storing.flush()
    const since = firstUuidAt(app.clock.nowMs() - wakeDays * dayMs)
    const { woken } = await one(
      app.db.query(wake, { ...line.tenant, endpoint, at, since, onlyOldest, most: maxWaitingInLine }),
    )
    app.work.poke()
    return woken
  }
}
