// SPDX-License-Identifier: Apache-2.0
// End of a snooze: the conversation is open again at the time that was asked for.
import type { App } from '../../../platform/app.ts'
import { one, statement } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Job } from '../../../platform/work.ts'
import { wake } from './change.ts'
import { wakeJob } from './wake-job.ts'

const clockOffset = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'customers.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

export const wakeConversation: Job<App, typeof wakeJob.payload> = {
  ...wakeJob,
  role: 'timers',
  concurrency: 8,
  retrySeconds: [1, 10, 60, 600],
  calendar: {},
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a conversation belongs to an account')
    const { account, environment } = tenant
    const { ms } = await one(app.db.query(clockOffset, { account, environment }))
    const occasion = occasionNow(app.clock, tenant, ms)
    const found = await app.db.tx(tenant, (tx) => wake(app, tx, occasion, payload.conversation, payload.until))
    return found === 'early' ? { kind: 'again', afterMs: payload.until - occasion.nowMs } : { kind: 'done' }
  },
}
