// SPDX-License-Identifier: Apache-2.0
// Retention of texts: after 90 days, or as many as the account sets, the text of a message is removed, and its figures
// stay.
import { bucketOf, buckets, firstUuidAt } from '../../kernel/ids.ts'
import { dayMs, hourMs } from '../../kernel/time.ts'
import type { App } from '../../platform/app.ts'
import { statement } from '../../platform/db.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'

const keepTextDays = 90
const maxTextDays = 400
/** Days that each run covers, in case maintenance did not run for a while. */
const lookBackDays = 35
/** Days after which a sent message cannot be rerouted any more, so that its text is not needed. */
const settledDays = 3

/** A scheduled message may still wait with a text that is older. */
const isOver = `body is not null and status <> 'queued' and (status <> 'sent' or sent_at < $settled::timestamptz)`

const forget = statement.everywhere<
  { buckets: readonly number[]; from: string; to: string; settled: Date; except: readonly string[] },
  object
>(
  'sms.forget_texts',
  `update sms.messages set body = null
    where bucket = any($buckets::smallint[]) and id >= $from::uuid and id < $to::uuid and ${isOver}
      and not account_id = any($except::uuid[])`,
)

const forgetOwn = statement.tenant<
  { bucket: number; account: string; environments: readonly string[]; from: string; to: string; settled: Date },
  object
>(
  'sms.forget_own_texts',
  `update sms.messages set body = null
    where bucket = $bucket and account_id = $account and environment = any($environments::text[]) and id >= $from::uuid
      and id < $to::uuid and ${isOver}`,
)

const ownDays = statement.home<Record<never, never>, { account_id: string; days: number }>(
  'sms.text_days',
  `select account_id, (value #>> '{}')::int as days from accounts.with_setting('sms_text_days')`,
)

/** Account -> retention that older texts were checked against: only texts that expired since are visited again. */
const swept = onePerApp(() => new Map<string, number>())

export const textChore: Chore = {
  name: 'sms texts',
  everyMs: 6 * hourMs,
  run: (app) => forgetTexts(app, app.clock.nowMs()),
}

export async function forgetTexts(app: App, nowMs: number): Promise<void> {
  const before = (days: number) => firstUuidAt(nowMs - days * dayMs)
  const settled = new Date(nowMs - settledDays * dayMs)
  const own = await app.db.query(ownDays, {})
  await app.db.query(forget, {
    buckets,
    from: before(keepTextDays + lookBackDays),
    to: before(keepTextDays),
    settled,
    except: own.map(({ account_id }) => account_id),
  })
  const known = swept(app)
  for (const { account_id: account, days } of own) {
    const isKnown = known.get(account) === days
    await app.db.query(forgetOwn, {
      bucket: bucketOf(account),
      account,
      environments: ['test', 'live'],
      from: before((isKnown ? days : maxTextDays) + lookBackDays),
      to: before(days),
      settled,
    })
    // Frames quote the texts.
    await app.timeline.forget({ bucket: bucketOf(account), account }, nowMs - days * dayMs)
    known.set(account, days)
  }
}
