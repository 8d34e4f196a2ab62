// SPDX-License-Identifier: Apache-2.0
// A recording becomes ready or has failed: its row, the event, and the job that writes it down.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { recordingEvents } from './events.ts'
import { finishRecording, type RecordingRow, recordOf } from './store.ts'
import { transcribeSoon } from './transcribe.ts'

/** Settles a recording as `row` says; null when it was settled before. */
export async function settleRecording(
  app: App,
  tx: Tx,
  row: RecordingRow,
  nowMs: number,
): Promise<RecordingRow | null> {
  const tenant: Tenant = tenantOf(row)
  const kept = await maybe(tx.query(finishRecording, { ...finishedAs(row), at: new Date(nowMs) }))
  if (!kept) return null
  const event = kept.status === 'ready' ? recordingEvents.ready : recordingEvents.failed
  const occasion = { tenant, receivedMs: app.clock.nowMs(), nowMs, requestId: null }
  const told = { account_id: idOf('account', tenant.account), ...recordOf(app, kept) }
  await app.outbox.emit(tx, event, occasion, idOf('recording', kept.id), told)
  if (kept.status === 'ready' && kept.transcription_language !== null)
    await app.work.add(tx, transcribeSoon(app, tenant, kept.id))
  return kept
}

/** Columns of a row that its end decides. */
function finishedAs(row: RecordingRow) {
  return {
    ...tenantOf(row),
    id: row.id,
    status: row.status,
    format: row.format,
    duration: row.duration_ms,
    file: row.file_id,
    source: row.source_file,
    size: row.size_bytes,
    sha256: row.sha256,
    reason: row.reason,
    expires: row.expires_at,
  }
}
