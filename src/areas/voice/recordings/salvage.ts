// SPDX-License-Identifier: Apache-2.0
// Recordings of a node that died: what had come to the store is joined to a whole file, by a job on any other node. It lacks
// what the node still held, a few seconds at most.
import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { FileRefused } from '../../../platform/storage/file-kind.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import { type One, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { bytesPerSecond, keepSamples, makeReady, recordingFiles } from './samples.ts'
import { settleRecording } from './settle.ts'
import { findRecording, findUnderWay, leaveRecording, type RecordingRow } from './store.ts'

const Payload = Type.Object({ recording: Type.String() })
const retrySeconds = [5, 30, 120, 600]

/** Has the recordings of a call or conference finished after its node died. */
export async function salvageRecordings(app: App, of: One): Promise<void> {
  for (const row of await app.db.query(findUnderWay, of)) {
    const tenant = tenantOf(row)
    const job = app.work.prepare(salvageJob, tenant, { recording: row.id })
    await app.db.tx(tenant, async (tx) => {
      await tx.query(leaveRecording, { ...tenant, id: row.id })
      await app.work.add(tx, job)
    })
    app.work.begin(job)
  }
}

export const salvageJob: Job<App, typeof Payload> = {
  lane: 'voice.salvage',
  role: 'dispatch',
  payload: Payload,
  concurrency: 2,
  retrySeconds,
  async handle(app, { tenant, payload, failures }) {
    if (!tenant) throw new Error('a recording belongs to an account')
    const row = await maybe(app.db.query(findRecording, { ...tenant, id: payload.recording }))
    if (row?.status !== 'processing' || row.source_file !== null) return { kind: 'done' }
    const nowMs = app.clock.nowMs() + (await clockOffsetOf(app, tenant.account, tenant.environment))
    try {
      await (row.file_id === null ? join(app, tenant, row, nowMs) : makeReady(app, row, nowMs))
    } catch (error) {
      if (failures < retrySeconds.length) throw error
      app.log.error({ error }, 'recording of a node that died not joined: it is lost; check the storage')
      await fail(app, row, nowMs)
    }
    return { kind: 'done' }
  },
}

async function join(app: App, tenant: Tenant, row: RecordingRow, nowMs: number): Promise<void> {
  const arrived = await joined(app, tenant, row, nowMs)
  if (!arrived) return fail(app, row, nowMs)
  const durationMs = (arrived.bytes * 1_000) / (bytesPerSecond * row.channels)
  const endedMs = Math.min(nowMs, row.started_at.getTime() + durationMs)
  const { format, channels } = row
  await keepSamples(
    app,
    { one: { ...tenant, id: row.id }, format, channels, durationMs, endedMs },
    arrived,
    null,
    nowMs,
  )
  await app.db.tx(tenant, (tx) => app.storage.drop(tx, tenant, [row.id]))
}

/** Whole file of what had arrived; null where nothing had. */
async function joined(app: App, tenant: Tenant, row: RecordingRow, nowMs: number): Promise<ArrivedFile | null> {
  const bytes = await app.storage.salvage(tenant, row.id)
  if (!bytes) return null
  try {
    return await app.storage.put(recordingFiles, { tenant, type: 'audio/l16', name: null, bytes, nowMs })
  } catch (error) {
    if (error instanceof FileRefused && error.fault === 'empty') return null
    throw error
  }
}

async function fail(app: App, row: RecordingRow, nowMs: number): Promise<void> {
  const nothing = { file_id: null, size_bytes: null, sha256: null, expires_at: null, reason: 'its node stopped' }
  const failed = { ...row, ...nothing, status: 'failed' as const }
  await app.db.tx(tenantOf(row), (tx) => settleRecording(app, tx, failed, nowMs))
}
