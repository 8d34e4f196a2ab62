// SPDX-License-Identifier: Apache-2.0
// Samples of a recording that is over: kept with its row, and made ready as WAV or given to the job that makes an MP3.
import { createHash } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import { type One, tenantOf } from '../../../platform/tenant.ts'
import { wavHeader } from '../../../protocols/audio/wav.ts'
import { encodeSoon, type Telling } from './encode.ts'
import { settleRecording } from './settle.ts'
import { finishRecording, type RecordingFormat, type RecordingRow, recordingDays } from './store.ts'

const maxBytes = 512 * 1_024 * 1_024
/** Bytes of one channel. */
export const bytesPerSecond = 16_000

export const recordingFiles = fileKind({
  name: 'voice.recording',
  types: { 'audio/l16': maxBytes },
  keepDays: recordingDays,
  isSalvaged: true,
})

interface RecordingOver {
  readonly one: One
  readonly format: RecordingFormat
  readonly channels: number
  readonly durationMs: number
  /** Account time at which it ended. */
  readonly endedMs: number
}

/** Keeps the samples of a recording; null when it was settled before. An MP3 is still being made then. */
export async function keepSamples(
  app: App,
  { one, format, channels, durationMs, endedMs }: RecordingOver,
  arrived: ArrivedFile,
  telling: Telling | null,
  nowMs: number,
): Promise<RecordingRow | null> {
  const encoding = format === 'mp3' ? encodeSoon(app, one, one.id, telling) : null
  const kept = await app.db.tx(one, async (tx) => {
    const row = await maybe(
      tx.query(finishRecording, {
        ...one,
        status: 'processing',
        format,
        duration: Math.round(durationMs),
        ...(encoding ? { file: null, source: arrived.id } : { file: arrived.id, source: null }),
        size: encoding ? null : BigInt(arrived.bytes + wavHeader(0, channels).length),
        sha256: null,
        reason: null,
        at: new Date(endedMs),
        expires: arrived.expiresAt,
      }),
    )
    if (!row) return null
    await app.storage.keep(tx, arrived)
    if (encoding) await app.work.add(tx, encoding)
    return row
  })
  if (!kept) await app.storage.discard(arrived)
  if (kept && encoding) app.work.begin(encoding)
  return kept && !encoding ? makeReady(app, kept, nowMs) : kept
}

/** Hashes the file as downloaded, header first, and emits that it is ready. */
export async function makeReady(app: App, row: RecordingRow, nowMs: number): Promise<RecordingRow | null> {
  const stored = await app.storage.open(tenantOf(row), row.file_id ?? '')
  if (!stored) return null
  const hash = createHash('sha256').update(wavHeader(stored.file.bytes, row.channels))
  for await (const chunk of stored.read()) hash.update(chunk)
  const ready = { ...row, status: 'ready' as const, sha256: hash.digest('hex') }
  return app.db.tx(tenantOf(row), (tx) => settleRecording(app, tx, ready, nowMs))
}
