// SPDX-License-Identifier: Apache-2.0
// Routes of recordings: the object, its file under a signed URL, and its deletion.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { buckets, uuidOf } from '../../../kernel/ids.ts'
import type { ByteRange, Download } from '../../../platform/api/download.ts'
import { hook } from '../../../platform/api/hook.ts'
import { type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable } from '../../../platform/db.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { wavHeader } from '../../../protocols/audio/wav.ts'
import { recordingEvents } from './events.ts'
import { recordingFields } from './schema.ts'
import {
  eraseRecording,
  fileNameOf,
  filesOf,
  findAnyRecording,
  findRecording,
  isSigned,
  lockRecording,
  type RecordingRow,
  recordOf,
} from './store.ts'
import { Transcription, transcriptionOf } from './transcribe.ts'

const RecordingId = Type.Object({ recording_id: Type.String({ description: 'Id of the recording, rec_…' }) })
const noRecording = 'there is no such recording; ids of recordings begin with rec_ and are in recording_ids of a call'

const Recording = Type.Object(recordingFields, { title: 'Recording' })

async function recordingOf(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
  statement = findRecording,
): Promise<RecordingRow> {
  const uuid = uuidOf('recording', id)
  const row = uuid === null ? null : await maybe(queryable.query(statement, { ...tenant, id: uuid }))
  if (!row) throw new AppError('NOT_FOUND', noRecording)
  return row
}

const get = read({
  method: 'GET',
  path: '/v1/voice/recording/:recording_id',
  operation: 'voice.getRecording',
  summary: 'Get a recording and its download URL',
  scope: 'voice:read',
  params: RecordingId,
  needs: 'nothing',
  reply: { status: 200, schema: Recording },
  errors: ['NOT_FOUND'],
  async handle(app, { params }, { tenant }) {
    return recordOf(app, await recordingOf(app.db, tenant, params.recording_id))
  },
})

const transcription = read({
  method: 'GET',
  path: '/v1/voice/recording/:recording_id/transcription',
  operation: 'voice.getTranscription',
  summary: 'Get the transcription of a recording',
  description: 'For recordings of the action `record` with `transcription`; 404 until it is ready.',
  scope: 'voice:read',
  params: RecordingId,
  needs: 'nothing',
  reply: { status: 200, schema: Transcription },
  errors: ['NOT_FOUND'],
  async handle(app, { params }, { tenant }) {
    const row = await recordingOf(app.db, tenant, params.recording_id)
    const written = await transcriptionOf(app, tenant, row)
    if (!written) throw new AppError('NOT_FOUND', row.transcription_error ?? 'the recording has no transcription')
    return written
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/voice/recording/:recording_id',
  operation: 'voice.deleteRecording',
  summary: 'Delete the audio of a recording',
  description: 'The record of it is kept. A recording in progress cannot be deleted: end the call first.',
  scope: 'voice:write',
  limit: 'voice',
  params: RecordingId,
  needs: 'nothing',
  reply: { status: 200, schema: Recording },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle(app, tx, { params }, { tenant, receivedMs, nowMs, requestId, accountId }) {
    const row = await recordingOf(tx, tenant, params.recording_id, lockRecording)
    if (row.status === 'deleted') return recordOf(app, row)
    const erased = await maybe(tx.query(eraseRecording, { ...tenant, id: row.id, reason: 'deleted' }))
    if (!erased) throw new AppError('CONFLICT', 'the recording is in progress; end the call first')
    await app.storage.drop(tx, tenant, filesOf(row))
    const occasion = { tenant, receivedMs, nowMs, requestId }
    const told = { account_id: accountId, ...recordOf(app, erased) }
    await app.outbox.emit(tx, recordingEvents.deleted, occasion, params.recording_id, told)
    return recordOf(app, erased)
  },
})

export const recordingRoutes: readonly Route[] = [get, transcription, remove]

/** Download of a recording's file by its signed URL. */
export const recordingFileHook = hook({
  methods: ['GET', 'HEAD'],
  path: '/recordings/:name',
  operation: 'voice.recordingFile',
  summary: 'Download a recording by signed URL',
  maxBytes: 1_024,
  limits: [{ by: 'name', perMinute: 600 }],
  async handle(app, { params, query }) {
    const { exp, sig } = query
    const isOurs = typeof exp === 'string' && typeof sig === 'string' && isSigned(app, params.name, Number(exp), sig)
    const id = isOurs ? uuidOf('recording', params.name.replace(/\.(wav|mp3)$/, '')) : null
    const row = id === null ? null : await maybe(app.db.query(findAnyRecording, { buckets, id }))
    const found = row?.file_id && fileNameOf(row) === params.name ? await downloadOf(app, row, row.file_id) : null
    if (!found) throw new AppError('NOT_FOUND', 'there is no recording at this URL, or the URL has expired')
    return found
  },
})

/** Stored samples with a WAV header, or the stored MP3. */
async function downloadOf(app: App, row: RecordingRow, file: string): Promise<Download | null> {
  const stored = await app.storage.open(tenantOf(row), file)
  if (!stored) return null
  const isWav = row.format === 'wav'
  const head = isWav ? wavHeader(stored.file.bytes, row.channels) : Buffer.alloc(0)
  const size = head.length + stored.file.bytes
  async function* part({ first, last }: ByteRange): AsyncGenerator<Buffer> {
    if (first < head.length) yield head.subarray(first, last + 1)
    const [start, end] = [Math.max(0, first - head.length), last + 1 - head.length]
    if (stored && end > start) yield* stored.read({ start, end })
  }
  return {
    type: isWav ? 'audio/wav' : 'audio/mpeg',
    size,
    tag: row.sha256 ?? row.id,
    name: fileNameOf(row),
    open: (range) => part(range ?? { first: 0, last: size - 1 }),
  }
}
