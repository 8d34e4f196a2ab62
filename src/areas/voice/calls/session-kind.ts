// SPDX-License-Identifier: Apache-2.0
// What becomes of calls whose node died: they end as failed, paid for as long as the node was last known to live.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import type { SessionKind } from '../../../platform/sessions.ts'
import type { One } from '../../../platform/tenant.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { CallRecord } from './record.ts'
import { findCall } from './store.ts'

const clockOffset = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'voice.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

/** How far an account's clock was moved. */
export async function clockOffsetOf(app: App, account: string, environment: string): Promise<number> {
  return Number((await one(app.db.query(clockOffset, { account, environment }))).ms)
}

export const callSessions: SessionKind = {
  name: 'call',
  async orphaned(app: App, session: One, lastSeen: Date): Promise<void> {
    const row = await maybe(app.db.query(findCall, session))
    if (!row || row.ended_at !== null) return
    const offset = await clockOffsetOf(app, session.account, session.environment)
    // The end is the last sign of life of its node, by the account's clock.
    const lostMs = app.clock.nowMs() - lastSeen.getTime()
    const record = new CallRecord(app, row, offset - lostMs)
    record.end({ status: 'failed', cause: 'network_error', by: 'system' })
    await record.settled()
    app.log.warn({ call: idOf('call', row.id), account: tenantOf(row).account }, 'a call was ended whose node had died')
  },
}
