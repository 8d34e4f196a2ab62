// SPDX-License-Identifier: Apache-2.0
// Retention: sessions are kept for 90 days, their data for one day after the end.
import { buckets, firstUuidAt } from '../../kernel/ids.ts'
import { dayMs, hourMs } from '../../kernel/time.ts'
import { statement } from '../../platform/db.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'

const keepDays = 90
/** Days searched back for ended sessions: they last minutes, so this is ample. */
const lookBackDays = 30

const wipe = statement.everywhere<{ buckets: readonly number[]; from: string; to: string }, object>(
  'ussd.wipe_data',
  `update ussd.sessions set data = null
    where bucket = any($buckets::smallint[]) and id >= $from::uuid and id < $to::uuid and data is not null
      and ended_at is not null`,
)

const forgetDialogs = statement.everywhere<{ buckets: readonly number[]; to: string }, object>(
  'ussd.forget_dialogs',
  `delete from ussd.dialogs where bucket = any($buckets::smallint[]) and session < $to::uuid`,
)

const forget = statement.everywhere<{ buckets: readonly number[]; to: string }, object>(
  'ussd.forget_sessions',
  `delete from ussd.sessions where bucket = any($buckets::smallint[]) and id < $to::uuid and ended_at is not null`,
)

export const sessionChore: Chore = {
  name: 'ussd sessions',
  everyMs: hourMs,
  async run(app) {
    const before = (days: number): string => firstUuidAt(app.clock.nowMs() - days * dayMs)
    await app.db.query(wipe, { buckets, from: before(lookBackDays), to: before(1) })
    await app.db.query(forgetDialogs, { buckets, to: before(1) })
    await app.db.query(forget, { buckets, to: before(keepDays) })
  },
}
