// SPDX-License-Identifier: Apache-2.0
// MP3 of a recording: a job, so that a node that dies loses nothing. The samples stay until the MP3 is stored. A recording
// that cannot be encoded in the end is kept as WAV, and its format says so.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { isUnavailable, maybe } from '../../../platform/db.ts'
import { Nullable } from '../../../platform/schema/fields.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, NewJob } from '../../../platform/work.ts'
import { wavHeader } from '../../../protocols/audio/wav.ts'
import { ask } from '../ask.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { mp3Of, mp3Problem } from '../engines/mp3-encoding.ts'
import { settleRecording } from './settle.ts'
import { findRecording, type RecordingRow, recordingDays, toldOf } from './store.ts'

const maxBytes = 256 * 1_024 * 1_024
const mp3Files = fileKind({
  name: 'voice.recording_mp3',
  types: { 'audio/mpeg': maxBytes },
  keepDays: recordingDays,
})
const retrySeconds = [5, 30, 120, 600]

/** Request to eventUrl of the action, once the recording is ready. */
export interface Telling {
  readonly url: string
  /** JSON of the fields beside those of the recording. */
  readonly body: Record<string, unknown>
}

const Payload = Type.Object({
  recording: Type.String(),
  tell: Nullable(Type.Object({ url: Type.String(), body: Type.Record(Type.String(), Type.Unknown()) })),
})

export const encodeJob: Job<App, typeof Payload> = {
  lane: 'voice.encode',
  role: 'dispatch',
  payload: Payload,
  concurrency: 2,
  retrySeconds,
  async handle(app, { tenant, payload, failures }) {
    if (!tenant) throw new Error('a recording belongs to an account')
    const found = await maybe(app.db.query(findRecording, { ...tenant, id: payload.recording }))
    const offsetMs = await clockOffsetOf(app, tenant.account, tenant.environment)
    const isLast = failures >= retrySeconds.length
    const row = found?.status === 'processing' ? await encoded(app, tenant, found, offsetMs, isLast) : found
    if (typeof row === 'string') return { kind: 'retry', reason: row }
    if (row?.status === 'ready' && payload.tell) await tell(app, tenant, row, payload.tell, offsetMs)
    return { kind: 'done' }
  },
}

/** Job that encodes a recording. */
export function encodeSoon(app: App, tenant: Tenant, recording: string, tell: Telling | null): NewJob {
  return app.work.prepare(encodeJob, tenant, { recording, tell })
}

/** Recording as it is when its MP3 is stored; a text says why it is not. */
async function encoded(
  app: App,
  tenant: Tenant,
  row: RecordingRow,
  offsetMs: number,
  isLast: boolean,
): Promise<RecordingRow | null | string> {
  const stored = row.source_file === null ? null : await app.storage.open(tenant, row.source_file)
  const nowMs = app.clock.nowMs() + offsetMs
  if (!stored) {
    const lost = { ...row, status: 'failed' as const, source_file: null, reason: 'its samples are gone' }
    return app.db.tx(tenant, (tx) => settleRecording(app, tx, lost, nowMs))
  }
  try {
    // A node may lack what the one had that took the call.
    const problem = mp3Problem(app)
    if (problem !== null) throw new Error(problem)
    const arrived = await app.storage.put(mp3Files, {
      tenant,
      type: 'audio/mpeg',
      name: null,
      bytes: mp3Of(stored.read(), stored.file.bytes, row.channels),
      nowMs,
    })
    return await keep(app, tenant, row, arrived, nowMs)
  } catch (error) {
    // The job is tried again when the database is back; that is no failure of the encoder.
    if (isUnavailable(error)) throw error
    if (!isLast) return error instanceof Error ? error.message : 'the encoder failed'
    app.log.warn({ error }, 'recording kept as WAV, the MP3 encoder fails: install or repair wasm-media-encoders')
    return keepAsWav(app, tenant, row, stored.read(), stored.file.bytes, nowMs)
  }
}

async function keep(
  app: App,
  tenant: Tenant,
  row: RecordingRow,
  arrived: ArrivedFile,
  nowMs: number,
): Promise<RecordingRow | null> {
  const { source_file: source } = row
  // The samples are still needed to write down what was said.
  const isNeeded = row.transcription_language !== null
  const kept = await app.db.tx(tenant, async (tx) => {
    const ready = {
      ...row,
      status: 'ready' as const,
      file_id: arrived.id,
      source_file: isNeeded ? source : null,
      size_bytes: BigInt(arrived.bytes),
      sha256: arrived.sha256.toString('hex'),
      expires_at: arrived.expiresAt,
    }
    const settled = await settleRecording(app, tx, ready, nowMs)
    if (!settled) return null
    await app.storage.keep(tx, arrived)
    if (source !== null && !isNeeded) await app.storage.drop(tx, tenant, [source])
    return settled
  })
  // Another run stored it first.
  if (!kept) await app.storage.discard(arrived)
  return kept
}

async function keepAsWav(
  app: App,
  tenant: Tenant,
  row: RecordingRow,
  sound: AsyncIterable<Buffer>,
  bytes: number,
  nowMs: number,
): Promise<RecordingRow | null> {
  const head = wavHeader(bytes, row.channels)
  const hash = createHash('sha256').update(head)
  for await (const chunk of sound) hash.update(chunk)
  const ready = {
    ...row,
    status: 'ready' as const,
    format: 'wav' as const,
    file_id: row.source_file,
    source_file: null,
    size_bytes: BigInt(head.length + bytes),
    sha256: hash.digest('hex'),
  }
  return app.db.tx(tenant, (tx) => settleRecording(app, tx, ready, nowMs))
}

async function tell(
  app: App,
  tenant: Tenant,
  row: RecordingRow,
  { url, body }: Telling,
  clockOffsetMs: number,
): Promise<void> {
  const whole = { ...body, ...toldOf(app, row) }
  const asking = { name: 'voice.recording', url, method: 'POST' as const, body: whole, isRetried: true }
  await ask(app, { ...tenant, id: row.call_id }, { ...asking, clockOffsetMs })
}
