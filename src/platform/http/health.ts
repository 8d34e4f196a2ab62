// SPDX-License-Identifier: Apache-2.0
// Health endpoints: liveness (/healthz) and readiness (/readyz).
import { statfs } from 'node:fs/promises'
import type { App } from '../app.ts'
import type { Area } from '../area.ts'
import { one, statement } from '../db.ts'
import { writeRefusals } from './answer.ts'

const slowQueueSeconds = 60
const skewSeconds = 5
const lowDiskPart = 0.02
const answerWithinMs = 2_000
const refusedForMs = 10_000

/** Looks at the first job of each lane in the index, and not at all that wait: it is asked every few seconds. */
const probe = statement.everywhere<Record<never, never>, { now: Date; oldest_seconds: number }>(
  'platform.probe',
  `with recursive lanes as (
     (select lane from work.jobs where bucket >= 0 order by lane limit 1)
     union all
     select (select j.lane from work.jobs j where j.bucket >= 0 and j.lane > l.lane order by j.lane limit 1)
       from lanes l where l.lane is not null)
   select clock_timestamp() as now,
          coalesce(extract(epoch from now() - min(
            (select j.run_at from work.jobs j where j.bucket >= 0 and j.lane = l.lane and j.run_at <= now()
              order by j.run_at limit 1))), 0)::float8 as oldest_seconds
     from lanes l where l.lane is not null`,
)

export interface Readiness {
  status: 'ok' | 'degraded' | 'unavailable'
  checks: Record<string, string>
}

/** Readiness: degraded still takes requests; unavailable does not. */
export async function readiness(app: App, areas: readonly Area[], draining: boolean): Promise<Readiness> {
  const checks: Record<string, string> = {}
  const probed = app.db.cells.map((cell) => Promise.race([one(cell.query(probe, {})).catch(() => null), later()]))
  const [database, ...others] = await Promise.all(probed)
  checks.database = database ? 'ok' : 'unreachable'
  checks.migrations = database ? 'ok' : 'unknown'
  if (database) {
    const { oldest_seconds, now } = database
    checks.queue = oldest_seconds > slowQueueSeconds ? `the oldest job waits ${Math.round(oldest_seconds)} s` : 'ok'
    const skew = Math.abs(now.getTime() - app.clock.nowMs()) / 1000
    checks.clock = skew > skewSeconds ? `differs from the database by ${Math.round(skew)} s` : 'ok'
  }
  // Their accounts get 503; all others are served.
  others.forEach((found, i) => {
    checks[`database_${app.db.cells[i + 1]?.name}`] = found ? 'ok' : 'unreachable'
  })
  for (const name of app.db.unopened) checks[`database_${name}`] = 'unreachable'
  // Report refused writes a few seconds longer, so that no write is routed here between two failures.
  const refusedAgoMs = app.clock.nowMs() - writeRefusals(app).lastMs
  checks.writes = refusedAgoMs < refusedForMs ? 'refused by the database' : 'ok'
  checks.disk = await disk(app.config.PAMOJA_HOME)
  checks.signals = !app.signals.connected ? 'not connected' : (await app.signals.arrive()) ? 'ok' : 'do not arrive'
  for (const { name, health } of areas) if (health) checks[name] = health(app)
  if (draining) checks.shutdown = 'in progress'
  const unavailable = draining || checks.database !== 'ok' || checks.writes !== 'ok'
  const degraded = Object.values(checks).some((check) => check !== 'ok')
  return { status: unavailable ? 'unavailable' : degraded ? 'degraded' : 'ok', checks }
}

function later(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), answerWithinMs).unref())
}

async function disk(directory: string): Promise<string> {
  try {
    const { bavail, blocks } = await statfs(directory)
    return bavail / blocks < lowDiskPart ? 'almost full' : 'ok'
  } catch {
    return 'ok'
  }
}
