// SPDX-License-Identifier: Apache-2.0
// Proof of the ledger: whole once a week, and otherwise from the last UTC day that is proved, so that its cost does not
// grow with the age of an installation. The mark moves on only when nothing is wrong.
import { buckets, firstUuidAt } from '../kernel/ids.ts'
import { dayMs } from '../kernel/time.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, one, type Queryable, statement } from '../platform/db.ts'
import { settledMs } from './rollups.ts'
import { firstId, type Verification, verifyLedger } from './verify.ts'

const wholeMs = 7 * dayMs

const selectProof = statement.home<object, { since: string; whole_at: Date | null }>(
  'ledger.proof',
  'select since, whole_at from ledger.proof',
)

const noteProof = statement.home<{ since: string; wholeAt: Date | null }, object>(
  'ledger.note_proof',
  'update ledger.proof set since = $since::uuid, whole_at = coalesce($wholeAt::timestamptz, whole_at)',
)

const noteCheck = statement.home<{ at: Date; problems: number }, object>(
  'ledger.note_check',
  'update ledger.proof set checked_at = $at, problems = $problems',
)

const selectCheck = statement.home<object, { checked_at: Date | null; problems: number }>(
  'ledger.last_check',
  'select checked_at, problems from ledger.proof',
)

/** When the ledger was last proved, and what that found. */
export function lastCheck(db: Queryable): Promise<{ checked_at: Date | null; problems: number }> {
  return one(db.query(selectCheck, {}))
}

/** Tenants with transfers before an id that are not rolled up. */
const countUnrolled = statement.everywhere<{ buckets: readonly number[]; before: string }, { tenants: number }>(
  'ledger.unrolled_before',
  `select count(*)::int as tenants
     from (select distinct bucket, account_id, environment from ledger.wallets where bucket = any($buckets::smallint[])) w
     left join ledger.rollup_marks m using (bucket, account_id, environment)
    where exists (select 1 from ledger.transfers t
                   where t.bucket = w.bucket and t.account_id = w.account_id and t.environment = w.environment
                     and t.id >= coalesce(m.upto, '${firstId}') and t.id < $before::uuid)`,
  { merge: (rows) => [{ tenants: rows.reduce((total, row) => total + row.tenants, 0) }] },
)

/** Proves what is new, or all of it when that was last done a week ago. */
export async function proveLedger(db: Database, clock: Clock): Promise<Verification> {
  const nowMs = clock.nowMs()
  const { since, whole_at } = await one(db.query(selectProof, {}))
  const isWhole = since === firstId || whole_at === null || nowMs - whole_at.getTime() >= wholeMs
  const found = await verifyLedger(db, isWhole ? firstId : since)
  await db.query(noteCheck, { at: new Date(nowMs), problems: found.problems.length })
  if (!found.ok) return found
  // What is older than this can no longer change.
  const settled = firstUuidAt(Math.floor((nowMs - settledMs) / dayMs) * dayMs)
  const { tenants } = await one(db.query(countUnrolled, { buckets, before: settled }))
  const proved = tenants === 0 && settled > since ? settled : since
  await db.query(noteProof, { since: proved, wholeAt: isWhole ? new Date(nowMs) : null })
  return found
}
