// SPDX-License-Identifier: Apache-2.0
// Recordings that end without a request: expired ones.
import { buckets, idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { recordingEvents } from './events.ts'
import { eraseRecording, filesOf, findExpired, lockRecording, type RecordingRow, recordOf } from './store.ts'

const expiredAtOnce = 200

/** Chore that deletes expired recordings. */
export const retentionChore: Chore = {
  name: 'expired recordings',
  everyMs: 60_000,
  async run(app) {
    for (const row of await app.db.query(findExpired, { buckets, limit: expiredAtOnce }))
      await change(app, row, recordingEvents.deleted, async (tx) => {
        const found = await maybe(tx.query(lockRecording, { ...tenantOf(row), id: row.id }))
        const erased = await maybe(tx.query(eraseRecording, { ...tenantOf(row), id: row.id, reason: 'retention' }))
        if (erased && found) await app.storage.drop(tx, tenantOf(row), filesOf(found))
        return erased
      })
  },
}

async function change(
  app: App,
  row: RecordingRow,
  event: (typeof recordingEvents)['deleted'],
  make: (tx: Tx) => Promise<RecordingRow | null>,
): Promise<void> {
  const tenant = tenantOf(row)
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + (await clockOffsetOf(app, tenant.account, tenant.environment))
  await app.db.tx(tenant, async (tx) => {
    const changed = await make(tx)
    if (!changed) return
    const told = { account_id: idOf('account', tenant.account), ...recordOf(app, changed) }
    await app.outbox.emit(tx, event, { tenant, receivedMs, nowMs, requestId: null }, idOf('recording', row.id), told)
  })
}
