// SPDX-License-Identifier: Apache-2.0
// Recovery of calls whose node died: they end as failed and are charged until the node was last seen.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { SessionKind } from '../../../platform/sessions.ts'
import type { One } from '../../../platform/tenant.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { giveUpRecordings } from '../recordings/ending.ts'
import { findCall } from '../store.ts'
import { CallRecord } from './record.ts'

export const callSessions: SessionKind = {
  name: 'call',
  async orphaned(app: App, session: One, lastSeen: Date): Promise<void> {
    const row = await maybe(app.db.query(findCall, session))
    if (!row || row.ended_at !== null) return
    const offset = await clockOffsetOf(app, session.account, session.environment)
    // End time: the node's last heartbeat, by the account's clock.
    const lostMs = app.clock.nowMs() - lastSeen.getTime()
    const record = new CallRecord(app, row, offset - lostMs)
    await record.recall()
    await record.cover(record.nowMs)
    record.end({ status: 'failed', cause: 'network_error', by: 'system' })
    await record.settled()
    // The session stays, and the next round retries.
    if (record.isLost) throw new Error('the end of a call could not be stored')
    await giveUpRecordings(app, session)
    app.log.warn(
      { call: idOf('call', row.id), account: tenantOf(row).account },
      'call ended because its node died: its caller heard it end; check why the node stopped',
    )
  },
}

/** Legs of a conference are calls and recovered as such. */
export const conferenceSessions: SessionKind = { name: 'conference', orphaned: giveUpRecordings }
