// SPDX-License-Identifier: Apache-2.0
// Recording in progress: audio arrives every second and is streamed to storage, encrypted. Raw samples are stored; the
// WAV header, which states the length, is added on download, and an MP3 is made from them by a job.
import { createHash } from 'node:crypto'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import { frameSamples } from '../../../protocols/audio/g711.ts'
import { wavHeader } from '../../../protocols/audio/wav.ts'
import { encodeSoon, type Telling } from '../recordings/encode.ts'
import { settleRecording } from '../recordings/settle.ts'
import {
  finishRecording,
  insertRecording,
  type RecordingFormat,
  type RecordingRow,
  recordingDays,
} from '../recordings/store.ts'

const mostBytes = 512 * 1_024 * 1_024
/** Buffer limit in bytes towards storage; more means that storage is too slow. */
const mostWaiting = 4 * 1_024 * 1_024
const bytesPerSecond = 16_000
/** Audio comes every second, so that a shorter recording may have got none. */
const shortMs = 1_000

const recordingFiles = fileKind({ name: 'voice.recording', types: { 'audio/l16': mostBytes }, keepDays: recordingDays })

/** Owner of a recording and where to report it. */
export interface Recorded {
  tenant: Tenant
  /** Language of the transcription; null for none. */
  language: string | null
  format: RecordingFormat
  /** Request to make when an MP3 is ready; asked at the end of the recording. */
  telling: (() => Telling) | null
  call: string | null
  conference: string | null
}

export class RecordingInProgress {
  readonly id: string
  private readonly app: App
  private readonly one: One
  private readonly of: Recorded
  private readonly channels: number
  private readonly done: ((recording: RecordingInProgress) => void) | null
  private readonly sound = new Waiting()
  private readonly storing: Promise<Awaited<ReturnType<App['storage']['put']>>>
  private readonly begun: Promise<unknown>
  private bytes = 0
  private finished: Promise<RecordingRow | null> | null = null

  constructor(app: App, of: Recorded, channels: number, nowMs: number, done: RecordingInProgress['done']) {
    this.app = app
    this.id = newUuid(app.clock.nowMs())
    const { bucket, account, environment } = of.tenant
    this.one = { bucket, account, environment, id: this.id }
    this.of = of
    this.channels = channels
    this.done = done
    this.begun = app.db.query(insertRecording, {
      ...this.one,
      call: of.call,
      conference: of.conference,
      format: of.format,
      channels,
      language: of.language,
      at: new Date(nowMs),
    })
    this.begun.catch((error) =>
      app.log.error({ error }, 'recording not registered: it is not listed; check the database'),
    )
    const name = `${idOf('recording', this.id)}.l16`
    this.storing = app.storage.put(recordingFiles, {
      tenant: this.one,
      type: 'audio/l16',
      name,
      bytes: this.sound,
      nowMs,
    })
    this.storing.catch(() => this.sound.refuse())
  }

  get durationMs(): number {
    return (this.bytes * 1_000) / (bytesPerSecond * this.channels)
  }

  /** Add one second of every channel, interleaved as in WAV. */
  add(channels: readonly Int16Array[]): void {
    const length = channels[0]?.length ?? 0
    const chunk = Buffer.allocUnsafe(length * channels.length * 2)
    for (let i = 0; i < length; i++)
      for (let c = 0; c < channels.length; c++) chunk.writeInt16LE(channels[c]?.[i] ?? 0, 2 * (i * channels.length + c))
    this.sound.push(chunk)
    this.bytes += chunk.length
  }

  /** One frame of silence: a recording that a key or the caller ended at once is told of like every other. */
  private addSilence(): void {
    this.add(Array.from({ length: this.channels }, () => new Int16Array(frameSamples)))
  }

  end(durationMs: number, nowMs: number): void {
    if (this.finished) return
    if (this.bytes === 0 && durationMs <= shortMs) this.addSilence()
    this.sound.end()
    this.finished = this.store(durationMs, nowMs).catch(async (error) => {
      this.app.log.error(
        { error, recording: idOf('recording', this.id) },
        'recording not stored: it is lost; check the storage and its free space',
      )
      await this.fail(durationMs, nowMs).catch(() => undefined)
      return null
    })
    this.done?.(this)
  }

  /** Recording once stored; null when it failed or is not over. An MP3 is still being made then. */
  stored(): Promise<RecordingRow | null> {
    return this.finished ?? Promise.resolve(null)
  }

  private async store(durationMs: number, nowMs: number): Promise<RecordingRow | null> {
    await this.begun
    if (this.bytes === 0) throw new Error('nothing was recorded')
    const { app, of } = this
    const arrived = await this.storing
    if (this.sound.isRefused) throw new Error('the store did not keep up')
    const encoding = of.format === 'mp3' ? encodeSoon(app, this.one, this.id, of.telling?.() ?? null) : null
    const kept = await app.db.tx(this.one, async (tx) => {
      await app.storage.keep(tx, arrived)
      if (encoding) await app.work.add(tx, encoding)
      const [row] = await tx.query(finishRecording, {
        ...this.one,
        status: 'processing',
        format: of.format,
        duration: Math.round(durationMs),
        ...(encoding ? { file: null, source: arrived.id } : { file: arrived.id, source: null }),
        size: encoding ? null : BigInt(arrived.bytes + wavHeader(0, this.channels).length),
        sha256: null,
        reason: null,
        at: new Date(nowMs),
        expires: arrived.expiresAt,
      })
      return row ?? null
    })
    if (encoding) app.work.begin(encoding)
    return kept && !encoding ? this.makeReady(kept, nowMs) : kept
  }

  /** Hash the file as downloaded, header first, and emit that it is ready. */
  private async makeReady(row: RecordingRow, nowMs: number): Promise<RecordingRow | null> {
    const { app } = this
    const stored = await app.storage.open(this.one, row.file_id ?? '')
    if (!stored) return null
    const hash = createHash('sha256').update(wavHeader(stored.file.bytes, this.channels))
    for await (const chunk of stored.read()) hash.update(chunk)
    return this.settle({ ...row, status: 'ready', sha256: hash.digest('hex') }, nowMs)
  }

  private async fail(durationMs: number, nowMs: number): Promise<void> {
    await this.begun
    const text = { transcription_file: null, transcription_confidence: null, transcription_error: null }
    const nothing = { file_id: null, source_file: null, size_bytes: null, sha256: null, expires_at: null, ...text }
    const failed = { status: 'failed' as const, duration_ms: Math.round(durationMs), reason: 'it could not be stored' }
    const { bucket, account: account_id, environment, id } = this.one
    const { call: call_id, conference: conference_id, language: transcription_language, format } = this.of
    const whose = { bucket, account_id, environment, id, call_id, conference_id }
    const about = { ...whose, transcription_language, format, channels: this.channels }
    const at = new Date(nowMs)
    await this.settle({ ...about, ...nothing, ...failed, started_at: at, ended_at: at }, nowMs)
  }

  private settle(row: RecordingRow, nowMs: number): Promise<RecordingRow | null> {
    return this.app.db.tx(this.one, (tx) => settleRecording(this.app, tx, row, nowMs))
  }
}

/** Bounded buffer between the call and storage. */
class Waiting implements AsyncIterable<Buffer> {
  private chunks: Buffer[] = []
  private bytes = 0
  private isOver = false
  isRefused = false
  private wake: () => void = () => undefined

  push(chunk: Buffer): void {
    if (this.isOver || this.isRefused) return
    if (this.bytes + chunk.length > mostWaiting) return this.refuse()
    this.chunks.push(chunk)
    this.bytes += chunk.length
    this.wake()
  }

  refuse(): void {
    this.isRefused = true
    this.chunks = []
    this.end()
  }

  end(): void {
    this.isOver = true
    this.wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = this.chunks.shift()
      if (chunk) {
        this.bytes -= chunk.length
        yield chunk
      } else if (this.isOver) return
      else
        await new Promise<void>((resume) => {
          this.wake = resume
        })
    }
  }
}
