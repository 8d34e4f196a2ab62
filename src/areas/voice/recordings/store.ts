// SPDX-License-Identifier: Apache-2.0
// SQL of recordings, and the recording object of the API.
import { timingSafeEqual } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import { type Environment, mine, type One, tenantOf } from '../../../platform/tenant.ts'

export type RecordingStatus = 'recording' | 'processing' | 'ready' | 'failed' | 'deleted'

export type RecordingFormat = 'wav' | 'mp3'

/** Retention in days. */
export const recordingDays = 90

export interface RecordingRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  call_id: string | null
  conference_id: string | null
  status: RecordingStatus
  channels: number
  duration_ms: number
  format: RecordingFormat
  /** File that is fetched: samples without a header for WAV. */
  file_id: string | null
  /** Samples that an MP3 is made from, while they are needed. */
  source_file: string | null
  size_bytes: bigint | null
  sha256: string | null
  reason: string | null
  started_at: Date
  ended_at: Date | null
  expires_at: Date | null
  /** Language and result of the transcription. */
  transcription_language: string | null
  transcription_file: string | null
  transcription_confidence: number | null
  transcription_error: string | null
}

const columns = `bucket, account_id, environment, id, call_id, conference_id, status, format, channels, duration_ms, file_id, source_file, size_bytes,
  sha256, reason, started_at, ended_at, expires_at, transcription_language, transcription_file, transcription_confidence,
  transcription_error`

export const insertRecording = statement.tenant<
  One & {
    call: string | null
    conference: string | null
    format: RecordingFormat
    channels: number
    language: string | null
    at: Date
  },
  object
>(
  'voice.insert_recording',
  `insert into voice.recordings (bucket, account_id, environment, id, call_id, conference_id, status, format, channels, transcription_language,
                                 started_at)
   values ($bucket, $account, $environment, $id, $call, $conference, 'recording', $format, $channels, $language, $at)`,
)

export const finishRecording = statement.tenant<
  One & {
    status: RecordingStatus
    format: RecordingFormat
    duration: number
    file: string | null
    source: string | null
    size: bigint | null
    sha256: string | null
    reason: string | null
    at: Date
    expires: Date | null
  },
  RecordingRow
>(
  'voice.finish_recording',
  `update voice.recordings
      set status = $status, format = $format, duration_ms = $duration, file_id = $file, source_file = $source,
          size_bytes = $size, sha256 = $sha256, reason = $reason, ended_at = coalesce(ended_at, $at), expires_at = $expires
    where ${mine} and id = $id and status in ('recording', 'processing')
   returning ${columns}`,
)

export const findRecording = statement.tenant<One, RecordingRow>(
  'voice.find_recording',
  `select ${columns} from voice.recordings where ${mine} and id = $id`,
)

/** Locks a recording until the transaction ends. */
export const lockRecording = statement.tenant<One, RecordingRow>(
  'voice.lock_recording',
  `select ${columns} from voice.recordings where ${mine} and id = $id for update`,
)

/** Finds a recording by id alone, for its signed URL. */
export const findAnyRecording = statement.everywhere<{ buckets: readonly number[]; id: string }, RecordingRow>(
  'voice.find_any_recording',
  `select ${columns} from voice.recordings where bucket = any($buckets::smallint[]) and id = $id`,
)

export const eraseRecording = statement.tenant<One & { reason: string }, RecordingRow>(
  'voice.erase_recording',
  `update voice.recordings set status = 'deleted', file_id = null, source_file = null, size_bytes = null, sha256 = null,
          reason = $reason, transcription_file = null, transcription_confidence = null
    where ${mine} and id = $id and status in ('ready', 'failed')
   returning ${columns}`,
)

/** Stores a transcription; no row when the recording was deleted or is transcribed already. */
export const transcribed = statement.tenant<
  One & { file: string | null; confidence: number | null; error: string | null },
  RecordingRow
>(
  'voice.transcribed_recording',
  `update voice.recordings
      set transcription_file = $file, transcription_confidence = $confidence, transcription_error = $error, source_file = null
    where ${mine} and id = $id and status = 'ready' and transcription_file is null
   returning ${columns}`,
)

/** Expired recordings. */
export const findExpired = statement.everywhere<{ buckets: readonly number[]; limit: number }, RecordingRow>(
  'voice.find_expired_recordings',
  `select ${columns} from voice.recordings
    where bucket = any($buckets::smallint[]) and status = 'ready'
      and expires_at < now() + accounts.clock_offset_ms(account_id, environment) * interval '1 millisecond'
    limit $limit`,
)

/** Recordings in progress of a call or conference, apart from those whose samples are stored and are being encoded. */
export const findUnderWay = statement.tenant<One, RecordingRow>(
  'voice.find_recordings_under_way',
  `select ${columns} from voice.recordings
    where ${mine} and (call_id = $id or conference_id = $id) and status in ('recording', 'processing') and source_file is null`,
)

/** A recording whose node died waits for what arrived of it to be joined. */
export const leaveRecording = statement.tenant<One, object>(
  'voice.leave_recording',
  `update voice.recordings set status = 'processing' where ${mine} and id = $id and status = 'recording'`,
)

const fileSeconds = 3_600

/** Signed URL of a recording's file, valid for an hour; null while there is no file. */
function fileAddressOf(app: App, row: Pick<RecordingRow, 'id' | 'status' | 'format'>): string | null {
  if (row.status !== 'ready') return null
  const name = fileNameOf(row)
  const expires = Math.floor(app.clock.nowMs() / 1_000) + fileSeconds
  return `${app.publicUrl}/recordings/${name}?exp=${expires}&sig=${signatureOf(app, name, expires).toString('hex')}`
}

export function fileNameOf({ id, format }: Pick<RecordingRow, 'id' | 'format'>): string {
  return `${idOf('recording', id)}.${format}`
}

/** Whether a signed URL is genuine and not expired. */
export function isSigned(app: App, name: string, expires: number, signature: string): boolean {
  if (!Number.isSafeInteger(expires) || expires * 1_000 < app.clock.nowMs()) return false
  const given = Buffer.from(signature, 'hex')
  const right = signatureOf(app, name, expires)
  return given.length === right.length && timingSafeEqual(given, right)
}

function signatureOf(app: App, name: string, expires: number): Buffer {
  return app.secrets.fingerprint('recording address', `${name}|${expires}`)
}

/** Files of a recording: audio, what it is made from, and transcription. */
export function filesOf({ file_id, source_file, transcription_file }: RecordingRow): string[] {
  return [file_id, source_file, transcription_file].filter((file) => file !== null)
}

/** Recording object of the API. */
export function recordOf(app: App, row: RecordingRow) {
  const text = row.transcription_file
  return {
    recording_id: idOf('recording', row.id),
    call_id: row.call_id === null ? null : idOf('call', row.call_id),
    duration: Math.round(row.duration_ms / 1_000),
    file_url: fileAddressOf(app, row),
    transcription: {
      available: text !== null,
      language: row.transcription_language,
      url: text === null ? null : app.storage.address({ ...tenantOf(row), id: text }, fileSeconds),
      confidence: row.transcription_confidence,
      error: row.transcription_error,
    },
    conference_id: row.conference_id === null ? null : idOf('conference', row.conference_id),
    status: row.status,
    format: row.format,
    channels: row.channels,
    size_bytes: row.size_bytes === null ? null : Number(row.size_bytes),
    sha256: row.sha256,
    started_at: row.started_at,
    expires_at: row.expires_at,
    reason: row.reason,
  }
}

/** Body of the recording's eventUrl request. */
export function toldOf(app: App, row: RecordingRow) {
  return {
    recording_uuid: idOf('recording', row.id),
    recording_url: fileAddressOf(app, row),
    start_time: momentText(row.started_at),
    end_time: row.ended_at === null ? null : momentText(row.ended_at),
    duration: Math.round(row.duration_ms / 1_000),
    size: Number(row.size_bytes ?? 0n),
    format: row.format,
    channels: row.channels,
  }
}
