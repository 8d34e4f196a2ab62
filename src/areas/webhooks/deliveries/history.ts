// SPDX-License-Identifier: Apache-2.0
// How far back deliveries can be seen and sent again, and the windows of time in which customers look at them.
import { AppError } from '../../../kernel/errors.ts'
import { buckets, firstUuidAt } from '../../../kernel/ids.ts'
import { dayMs, parseDay, parseMoment } from '../../../kernel/time.ts'
import type { Caller } from '../../../platform/auth.ts'
import { statement } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { withPlus } from '../../../platform/page.ts'
import { webhookPlan } from '../plan.ts'

const keepHoursDays = 3
const keepReplaysDays = 90

const purgeHours = statement<{ buckets: readonly number[]; before: Date }, object>(
  'webhooks.purge_hours',
  'delete from webhooks.hours where bucket = any($buckets::smallint[]) and hour < $before',
)

/** An attempt that was under way when its endpoint was deleted writes down how it went, and nobody will ask. */
const purgeHealth = statement<{ buckets: readonly number[] }, object>(
  'webhooks.purge_health',
  `delete from webhooks.health h
    where h.bucket = any($buckets::smallint[]) and not exists (
      select from webhooks.endpoints e
       where e.bucket = h.bucket and e.account_id = h.account_id and e.environment = h.environment and e.id = h.endpoint_id)`,
)

const purgeReplays = statement<{ buckets: readonly number[]; before: string }, object>(
  'webhooks.purge_replays',
  'delete from webhooks.replays where bucket = any($buckets::smallint[]) and id < $before::uuid',
)

/** Deliveries themselves go with their partitions. */
export const webhookChores: readonly Chore[] = [
  {
    name: 'webhook figures',
    run: async ({ db, clock }) => {
      await db.query(purgeHours, { buckets, before: new Date(clock.nowMs() - keepHoursDays * dayMs) })
      await db.query(purgeHealth, { buckets })
      await db.query(purgeReplays, { buckets, before: firstUuidAt(clock.nowMs() - keepReplaysDays * dayMs) })
    },
  },
]

/** The oldest delivery that the caller's plan shows, as a bound on ids. */
export function keptSince({ principal, receivedMs }: Caller): string {
  return firstUuidAt(receivedMs - webhookPlan(principal.facts).retentionDays * dayMs)
}

/** A window of time; a day counts whole. */
export function rangeOf(query: { from?: string; to?: string }): { from: Date | null; to: Date | null } {
  const from = query.from === undefined ? null : momentOf(query.from, 'from', 0)
  const to = query.to === undefined ? null : momentOf(query.to, 'to', dayMs)
  if (from && to && from >= to) throw new AppError('INVALID_DATE_RANGE', 'from is not before to')
  return { from, to }
}

function momentOf(text: string, field: string, dayEndsAfterMs: number): Date {
  const day = parseDay(text)
  const moment = day ? new Date(day.getTime() + dayEndsAfterMs) : parseMoment(withPlus(text))
  if (!moment)
    throw new AppError(
      'INVALID_DATE_RANGE',
      `${field} is neither a date such as 2026-03-01 nor a time such as 2026-03-01T09:15:30Z`,
    )
  return moment
}
