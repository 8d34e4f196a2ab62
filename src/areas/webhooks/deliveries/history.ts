// SPDX-License-Identifier: Apache-2.0
// Retention of deliveries: how long they can be read and sent again.
import { buckets, firstUuidAt } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { Caller } from '../../../platform/auth.ts'
import { statement } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { webhookPlan } from '../plan.ts'

const keepHoursDays = 3
const keepReplaysDays = 90

const purgeHours = statement.everywhere<{ buckets: readonly number[]; before: Date }, object>(
  'webhooks.purge_hours',
  'delete from webhooks.hours where bucket = any($buckets::smallint[]) and hour < $before',
)

/** Health rows of deleted endpoints, written by attempts that were under way at the deletion. */
const purgeHealth = statement.everywhere<{ buckets: readonly number[] }, object>(
  'webhooks.purge_health',
  `delete from webhooks.health h
    where h.bucket = any($buckets::smallint[]) and not exists (
      select from webhooks.endpoints e
       where e.bucket = h.bucket and e.account_id = h.account_id and e.environment = h.environment and e.id = h.endpoint_id)`,
)

const purgeReplays = statement.everywhere<{ buckets: readonly number[]; before: string }, object>(
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
