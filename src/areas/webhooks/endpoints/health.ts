// SPDX-License-Identifier: Apache-2.0
// Health of endpoints. Attempts are counted by the hour, and successful ones also by duration: one counter per
// interval, so that hours can be added up and percentiles read from the sum.
import type { Static } from 'typebox'
import { hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { type Queryable, statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { waitingUnder } from '../../../platform/work/waiting-jobs.ts'
import type { Health } from '../schema.ts'

/** The lane of work.jobs that delivers; a job's key is its endpoint. */
export const deliverLane = 'webhooks.deliver'

/** Milliseconds. Counter n holds durations from bound n-1 (inclusive) to bound n (exclusive), as width_bucket does. */
export const durationBounds = [
  5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 5_000,
] as const

/** Number of slots: one per bound, and one for longer durations. */
export const durationSlots = durationBounds.length + 1

/** The duration that this part of all stays under, to the precision of the bounds; null when there were none. */
export function percentile(counts: readonly number[], part: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = part * total
  for (const [slot, count] of counts.entries()) {
    const from = durationBounds[slot - 1] ?? 0
    if (count > 0 && left <= count) return Math.round(from + ((durationBounds[slot] ?? from) - from) * (left / count))
    left -= count
  }
  return durationBounds.at(-1) ?? null
}

export type EndpointHealth = Static<typeof Health>

interface HealthRow {
  endpoint_id: string
  state: 'healthy' | 'degraded' | 'failing'
  /** Time of the first failure since the last success. */
  failing_since: Date | null
  last_success_at: Date | null
  last_failure_at: Date | null
  last_status: number | null
}

interface HourRow {
  endpoint_id: string
  delivered: number
  failed: number
  durations: number[]
}

const findHealth = statement.tenant<Tenant & { endpoints: readonly string[] }, HealthRow>(
  'webhooks.find_health',
  `select endpoint_id, state, failing_since, last_success_at, last_failure_at, last_status from webhooks.health
    where ${mine} and endpoint_id = any($endpoints::uuid[])`,
)

const findHours = statement.tenant<Tenant & { endpoints: readonly string[]; since: Date }, HourRow>(
  'webhooks.find_hours',
  `select endpoint_id, delivered, failed, durations from webhooks.hours
    where ${mine} and endpoint_id = any($endpoints::uuid[]) and hour > $since`,
)

/** Marks an endpoint as degraded while it is probed; a state stored meanwhile wins. */
export const noteProbe = statement.tenant<Tenant & { endpoint: string; from: string; to: string }, object>(
  'webhooks.note_probe',
  `update webhooks.health set state = $to
    where ${mine} and endpoint_id = $endpoint
      and state = $from`,
)

/** Enabling an endpoint resets the count of its failures. */
export const forgiveFailures = statement.tenant<Tenant & { endpoint: string }, object>(
  'webhooks.forgive_failures',
  `update webhooks.health set state = 'healthy', failing_since = null, failed_deliveries = 0
    where ${mine} and endpoint_id = $endpoint`,
)

/** The health of endpoints; `nowMs` is the account's time. */
export async function healthOf(
  { courier }: Pick<App, 'courier'>,
  queryable: Queryable,
  tenant: Tenant,
  endpoints: readonly { id: string; enabled: boolean }[],
  nowMs: number,
): Promise<(endpoint: { id: string; enabled: boolean }) => EndpointHealth> {
  const ids = endpoints.map(({ id }) => id)
  if (ids.length === 0) return ({ enabled }) => summary(enabled, undefined, [], 0)
  const health = await queryable.query(findHealth, { ...tenant, endpoints: ids })
  const hours = await queryable.query(findHours, { ...tenant, endpoints: ids, since: new Date(nowMs - 24 * hourMs) })
  const waiting = await waitingUnder(queryable, tenant, deliverLane, ids, courier.sending())
  return ({ id, enabled }) =>
    summary(
      enabled,
      health.find(({ endpoint_id }) => endpoint_id === id),
      hours.filter(({ endpoint_id }) => endpoint_id === id),
      waiting.get(id) ?? 0,
    )
}

function summary(
  enabled: boolean,
  row: HealthRow | undefined,
  hours: readonly HourRow[],
  pending: number,
): EndpointHealth {
  const durations = Array.from({ length: durationSlots }, (_, slot) =>
    hours.reduce((sum, { durations }) => sum + (durations[slot] ?? 0), 0),
  )
  return {
    state: enabled ? stateOf(row) : 'disabled',
    success_24h: hours.reduce((sum, { delivered }) => sum + delivered, 0),
    failure_24h: hours.reduce((sum, { failed }) => sum + failed, 0),
    pending,
    p50_ms: percentile(durations, 0.5),
    p95_ms: percentile(durations, 0.95),
    last_success_at: row?.last_success_at ?? null,
    last_failure_at: row?.last_failure_at ?? null,
    last_status: row?.last_status ?? null,
  }
}

/** State of an endpoint for display: degraded after its first failure, while the breaker opens after ten in a row. */
function stateOf(row: HealthRow | undefined): HealthRow['state'] {
  if (!row) return 'healthy'
  return row.state === 'healthy' && row.failing_since !== null ? 'degraded' : row.state
}
