// SPDX-License-Identifier: Apache-2.0
// Retention of sealed objects: gone from an event a day after it, as they are from what the event is about.
import { buckets, firstUuidAt } from '../../kernel/ids.ts'
import { dayMs, hourMs } from '../../kernel/time.ts'
import { one, statement } from '../../platform/db.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'

const wipedAtOnce = 5_000

/** Index: events_with_data. A body from before there were sealed ones is written anew. */
const wipe = statement.everywhere<{ buckets: readonly number[]; before: string; most: number }, { wiped: number }>(
  'events.wipe_sealed',
  `with wiped as (
     update events.events e
        set body = case when strpos(e.body, '"data":{"sealed":"') > 0
                        then regexp_replace(e.body, '"data":\\{"sealed":"[^"]*"\\}', '"data":{}')
                        else replace(jsonb_set(e.body::jsonb, '{data}', '{}')::text, '"data": {}', '"data":{}') end
       from (select o.bucket, o.account_id, o.environment, o.id from events.events o
              where o.bucket = any($buckets::smallint[]) and o.id < $before::uuid and strpos(o.body, '"data":{}') = 0
                and o.type in ('ussd.response', 'ussd.session_ended', 'ussd.session_started')
              order by o.id limit $most) old
      where (e.bucket, e.account_id, e.environment, e.id) = (old.bucket, old.account_id, old.environment, old.id)
        and e.id < $before::uuid
     returning 1
   ) select count(*)::int as wiped from wiped`,
  { merge: (rows) => [{ wiped: rows.reduce((total, row) => total + row.wiped, 0) }] },
)

export const sealedChore: Chore = {
  name: 'sealed objects of events',
  everyMs: hourMs,
  async run({ db, clock }) {
    const before = firstUuidAt(clock.nowMs() - dayMs)
    while ((await one(db.query(wipe, { buckets, before, most: wipedAtOnce }))).wiped >= wipedAtOnce);
  },
}
