// SPDX-License-Identifier: Apache-2.0
// Transcription of a recording: samples are streamed from storage, cut into utterances and recognised one by one; the
// text is stored as an encrypted file and deleted with the recording.
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, NewJob } from '../../../platform/work.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { type SpeechFault, type Utterance, UtteranceCutter, understand } from '../speech/recogniser.ts'
import { recordingEvents } from './events.ts'
import { findRecording, type RecordingRow, recordOf, transcribed } from './store.ts'

const maxBytes = 16 * 1_024 * 1_024
const keepDays = 90
const transcriptionFiles = fileKind({ name: 'voice.transcription', types: { 'application/json': maxBytes }, keepDays })

/** Engine timeout; longer than for live calls, because no caller waits. */
const patienceMs = 120_000
const busyMs = 10_000
const givenUpMs = dayMs

const Segment = Type.Object({
  start: Type.Number({ description: 'Start in seconds' }),
  end: Type.Number({ description: 'Start in seconds' }),
  channel: Type.Integer({ description: 'Channel of the segment; 0 is the left one' }),
  speaker: Nullable(OneOf(['customer', 'agent']), {
    description: 'Speaker of the segment; null if all speakers share one channel',
  }),
  text: Type.String({ description: 'Recognised text' }),
  confidence: Type.Number({ description: 'Confidence, 0 to 1' }),
})
export const Transcription = Type.Object(
  {
    recording_id: Type.String({ description: 'Id of the recording, such as `rec_…`' }),
    language: Type.String({ description: 'Recognised language' }),
    model: Type.Optional(
      Nullable(Type.String({ description: 'Recognition model that was used; null without any speech' })),
    ),
    text: Type.String({ description: 'Full text' }),
    segments: Type.Array(Segment, { description: 'Full text in segments' }),
  },
  { title: 'Transcription' },
)
export type Transcription = Static<typeof Transcription>

const Payload = Type.Object({ recording: Type.String() })

export const transcribeJob: Job<App, typeof Payload> = {
  lane: 'voice.transcribe',
  role: 'dispatch',
  payload: Payload,
  concurrency: 2,
  retrySeconds: [5, 30, 120, 600],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a recording belongs to an account')
    const row = await maybe(app.db.query(findRecording, { ...tenant, id: payload.recording }))
    // An MP3 whose samples are gone was dealt with before.
    const samples = (row?.format === 'mp3' ? row.source_file : row?.file_id) ?? null
    if (row?.status !== 'ready' || row.transcription_language === null || samples === null) return { kind: 'done' }
    const written = await write(app, tenant, row, samples, row.transcription_language)
    const isTooLate = app.clock.nowMs() - (row.ended_at ?? row.started_at).getTime() > givenUpMs
    if (typeof written === 'string' && passes(written) && !isTooLate) return { kind: 'again', afterMs: busyMs }
    if (typeof written === 'string') await keep(app, tenant, row, { file: null, confidence: null, error: written })
    else await store(app, tenant, row, written)
    return { kind: 'done' }
  },
}

/** Job that transcribes a recording. */
export function transcribeSoon(app: App, tenant: Tenant, recording: string): NewJob {
  return app.work.prepare(transcribeJob, tenant, { recording })
}

function passes(fault: SpeechFault): boolean {
  return fault === 'engine_busy' || fault === 'engine_failed'
}

async function write(
  app: App,
  tenant: Tenant,
  row: RecordingRow,
  file: string,
  language: string,
): Promise<Transcription | SpeechFault> {
  const segments: Static<typeof Segment>[] = []
  let used: string | null = null
  for await (const { channel, utterance } of utterancesOf(app, tenant, file, row.channels)) {
    const { results, model, fault } = await understand(app, utterance.samples, { language, withinMs: patienceMs })
    if (fault !== null) return fault
    used = model
    const [best] = results
    const speaker = row.channels === 1 ? null : channel === 0 ? ('customer' as const) : ('agent' as const)
    const [start, end] = [hundredths(utterance.start), hundredths(utterance.end)]
    if (best) segments.push({ start, end, channel, speaker, ...best })
  }
  segments.sort((a, b) => a.start - b.start)
  const text = segments.map((segment) => segment.text).join(' ')
  return { recording_id: idOf('recording', row.id), language, model: used, text, segments }
}

/** Utterances of each channel, as samples are streamed. */
async function* utterancesOf(
  app: App,
  tenant: Tenant,
  file: string,
  channels: number,
): AsyncGenerator<{ channel: number; utterance: Utterance }> {
  const stored = await app.storage.open(tenant, file)
  const cutters = Array.from({ length: channels }, () => new UtteranceCutter())
  const bytesEach = 2 * channels
  let rest = Buffer.alloc(0)
  for await (const chunk of stored?.read() ?? []) {
    const bytes = Buffer.concat([rest, chunk])
    const length = Math.floor(bytes.length / bytesEach)
    for (const [channel, cutter] of cutters.entries()) {
      const piece = Int16Array.from({ length }, (_, i) => bytes.readInt16LE(i * bytesEach + 2 * channel))
      for (const utterance of cutter.take(piece)) yield { channel, utterance }
    }
    rest = bytes.subarray(length * bytesEach)
  }
  for (const [channel, cutter] of cutters.entries()) for (const utterance of cutter.end()) yield { channel, utterance }
}

async function store(app: App, tenant: Tenant, row: RecordingRow, written: Transcription): Promise<void> {
  async function* bytes() {
    yield Buffer.from(JSON.stringify(written))
  }
  const nowMs = app.clock.nowMs() + (await clockOffsetOf(app, tenant.account, tenant.environment))
  const name = `${written.recording_id}.json`
  const arrived = await app.storage.put(transcriptionFiles, {
    tenant,
    type: 'application/json',
    name,
    bytes: bytes(),
    nowMs,
  })
  const total = written.segments.reduce((sum, { confidence }) => sum + confidence, 0)
  const confidence = written.segments.length === 0 ? null : hundredths(total / written.segments.length)
  const isKept = await keep(app, tenant, row, { file: arrived.id, confidence, error: null }, arrived)
  // The recording was deleted meanwhile, or another run stored its text first.
  if (!isKept) await app.storage.discard(arrived)
}

async function keep(
  app: App,
  tenant: Tenant,
  row: RecordingRow,
  outcome: { file: string | null; confidence: number | null; error: string | null },
  arrived: Awaited<ReturnType<App['storage']['put']>> | null = null,
): Promise<boolean> {
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + (await clockOffsetOf(app, tenant.account, tenant.environment))
  return app.db.tx(tenant, async (tx) => {
    const changed = await maybe(tx.query(transcribed, { ...tenant, id: row.id, ...outcome }))
    if (!changed) return false
    if (row.source_file !== null) await app.storage.drop(tx, tenant, [row.source_file])
    if (!arrived) return true
    await app.storage.keep(tx, arrived)
    const told = { account_id: idOf('account', tenant.account), ...recordOf(app, changed) }
    const occasion = { tenant, receivedMs, nowMs, requestId: null }
    await app.outbox.emit(tx, recordingEvents.transcribed, occasion, told.recording_id, told)
    return true
  })
}

/** Transcription of a recording; null when there is none yet. */
export async function transcriptionOf(app: App, tenant: Tenant, row: RecordingRow): Promise<Transcription | null> {
  const stored = row.transcription_file === null ? null : await app.storage.open(tenant, row.transcription_file)
  if (!stored) return null
  const chunks: Buffer[] = []
  for await (const chunk of stored.read()) chunks.push(chunk)
  return Value.Parse(Transcription, JSON.parse(Buffer.concat(chunks).toString()))
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}
