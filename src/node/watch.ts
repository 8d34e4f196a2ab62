// SPDX-License-Identifier: Apache-2.0
// Watch over a node: its readiness every few seconds, for Prometheus and for notices to the operator.
import type { App } from '../platform/app.ts'
import type { Area } from '../platform/area.ts'
import { type Readiness, readiness } from '../platform/http/health.ts'
import { troublesOf } from '../platform/operator/troubles.ts'

const roundMs = 15_000

/** Begins the watch. Returns the stop function. */
export function watchOver(app: App, areas: readonly Area[]): () => Promise<void> {
  let last: Readiness | null = null
  app.metrics.gauges('pamoja_ready_check', 'Checks of /readyz: 1 is in order, 0 is not.', ['check'], () =>
    Object.entries(last?.checks ?? {}).map(([check, found]) => ({ labels: { check }, value: Number(found === 'ok') })),
  )
  const troubles = troublesOf(app)
  const look = async (): Promise<void> => {
    last = await readiness(app, areas, false)
    for (const [name, problem] of problemsOf(last)) troubles.note(name, problem)
    await troubles.settle()
  }
  let round: Promise<void> = Promise.resolve()
  let isLooking = false
  const next = (): void => {
    if (isLooking) return
    isLooking = true
    round = look()
      .catch((error) => app.log.warn({ error }, 'checks of this node not made: tried again; report this error'))
      .finally(() => {
        isLooking = false
      })
  }
  const timer = setInterval(next, roundMs)
  timer.unref()
  next()
  return async () => {
    clearInterval(timer)
    await round
  }
}

/** Problems by check. Without a database the others are not known, and stay as they were. */
function problemsOf({ checks }: Readiness): [string, string | null][] {
  const isReached = checks.database === 'ok'
  return Object.entries(checks).flatMap(([name, found]): [string, string | null][] =>
    isReached || name === 'database' ? [[name, found === 'ok' ? null : found]] : [],
  )
}
