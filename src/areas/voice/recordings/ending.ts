// SPDX-License-Identifier: Apache-2.0
// Recordings that end without a request: expired ones, and those of a node that died.
import { buckets, idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { type One, tenantOf } from '../../../platform/tenant.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { recordingEvents } from './events.ts'
import { settleRecording } from './settle.ts'
import {
  eraseRecording,
  filesOf,
  findExpired,
  findUnderWay,
  lockRecording,
  type RecordingRow,
  recordOf,
} from './store.ts'

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

/** Settle the recordings of a call or conference after its node died: ready where the file is stored, else failed. */
export async function giveUpRecordings(app: App, of: One): Promise<void> {
  const offsetMs = await clockOffsetOf(app, of.account, of.environment)
  const nowMs = app.clock.nowMs() + offsetMs
  const nothing = { file_id: null, size_bytes: null, sha256: null, expires_at: null, reason: 'its node stopped' }
  for (const row of await app.db.query(findUnderWay, of)) {
    const isStored = row.file_id !== null && row.size_bytes !== null
    const how = isStored ? { status: 'ready' as const } : { ...nothing, status: 'failed' as const }
    await app.db.tx(tenantOf(row), (tx) => settleRecording(app, tx, { ...row, ...how }, nowMs))
  }
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
