// SPDX-License-Identifier: Apache-2.0
// Texts are nobody's business for ever: after 90 days the text of a message goes, and its figures stay.
import { bucketCount, firstUuidAt } from '../../kernel/ids.ts'
import { dayMs, hourMs } from '../../kernel/time.ts'
import { type Database, statement } from '../../platform/db.ts'
import type { Chore } from '../../platform/maintenance.ts'

const keepTextDays = 90
/** Each run looks at so many days, in case nobody kept house for a while. */
const lookBackDays = 35
const buckets = Array.from({ length: bucketCount }, (_, i) => i)

/** A scheduled message may still wait with a text that is older. */
const forget = statement<{ buckets: readonly number[]; from: string; to: string }, object>(
  'sms.forget_texts',
  `update sms.messages set body = null
    where bucket = any($buckets::smallint[]) and id >= $from::uuid and id < $to::uuid and body is not null
      and status <> 'queued'`,
)

export const textChore: Chore = {
  name: 'sms texts',
  everyMs: 6 * hourMs,
  run: ({ db, clock }) => forgetTexts(db, clock.nowMs()),
}

export async function forgetTexts(db: Database, nowMs: number): Promise<void> {
  const to = nowMs - keepTextDays * dayMs
  await db.query(forget, { buckets, from: firstUuidAt(to - lookBackDays * dayMs), to: firstUuidAt(to) })
}
