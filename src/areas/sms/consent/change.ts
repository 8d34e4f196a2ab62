// SPDX-License-Identifier: Apache-2.0
// Opt-outs by request: noted and taken back, with the audit log and the events.
import type { Static } from 'typebox'
import { newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { smsEvents } from '../events.ts'
import type { OptOutRecord } from './schema.ts'
import { everySender, insertOptOut, optOutRecord, removeOptOuts } from './store.ts'

interface NewOptOut {
  readonly phone: string
  /** Sender it is about; all unless given. */
  readonly from?: string
  readonly reason?: string | null
}

/** Notes that a number wants no messages; the first opt-out stands. */
export async function optOut(
  app: App,
  tx: Tx,
  caller: Caller,
  { phone, from = everySender, reason = null }: NewOptOut,
): Promise<Static<typeof OptOutRecord>> {
  const { row, isNew } = await insertOptOut(tx, caller.tenant, {
    ...{ id: newUuid(caller.receivedMs), phone, sender: from, reason },
    ...{ source: 'api', created_at: new Date(caller.nowMs) },
  })
  const made = optOutRecord(row)
  if (isNew) {
    await record(tx, caller, 'sms.opt_out', `phone:${phone}`, { after: { from: made.from } })
    await app.outbox.emit(tx, smsEvents.optedOut, caller, phone, { ...made, message_id: null })
  }
  return made
}

/** Takes back every opt-out of a number; returns how many there were. */
export async function optIn(app: App, tx: Tx, caller: Caller, phone: string): Promise<number> {
  const removed = await removeOptOuts(tx, caller.tenant, phone, null)
  for (const row of removed) {
    const { from } = optOutRecord(row)
    await record(tx, caller, 'sms.opt_in', `phone:${phone}`, { before: { from } })
    await app.outbox.emit(tx, smsEvents.optedIn, caller, phone, {
      ...{ phone, from, reason: null, source: 'api' as const, message_id: null },
      created_at: new Date(caller.nowMs),
    })
  }
  return removed.length
}
