// SPDX-License-Identifier: Apache-2.0
// Recording in progress: audio arrives every second and is streamed to storage, encrypted. Raw samples are stored; the
// WAV header, which states the length, is added on download, and an MP3 is made from them by a job.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import { frameSamples } from '../../../protocols/audio/g711.ts'
import type { Telling } from '../recordings/encode.ts'
import { bytesPerSecond, keepSamples, recordingFiles } from '../recordings/samples.ts'
import { settleRecording } from '../recordings/settle.ts'
import { insertRecording, type RecordingFormat, type RecordingRow } from '../recordings/store.ts'

/** Buffer limit in bytes towards storage; more means that storage is too slow. */
const maxWaiting = 4 * 1_024 * 1_024
/** Audio comes every second, so that a shorter recording may have got none. */
const shortMs = 1_000

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
  readonly #app: App
  readonly #one: One
  readonly #of: Recorded
  readonly #channels: number
  readonly #done: ((recording: RecordingInProgress) => void) | null
  readonly #sound = new Waiting()
  readonly #storing: Promise<Awaited<ReturnType<App['storage']['put']>>>
  readonly #begun: Promise<unknown>
  #bytes = 0
  #finished: Promise<RecordingRow | null> | null = null

  constructor(
    app: App,
    of: Recorded,
    channels: number,
    nowMs: number,
    done: ((recording: RecordingInProgress) => void) | null,
  ) {
    this.#app = app
    this.id = newUuid(app.clock.nowMs())
    const { bucket, account, environment } = of.tenant
    this.#one = { bucket, account, environment, id: this.id }
    this.#of = of
    this.#channels = channels
    this.#done = done
    this.#begun = app.db.query(insertRecording, {
      ...this.#one,
      call: of.call,
      conference: of.conference,
      format: of.format,
      channels,
      language: of.language,
      at: new Date(nowMs),
    })
    this.#begun.catch((error) =>
      app.log.error({ error }, 'recording not registered: it is not listed; check the database'),
    )
    const name = `${idOf('recording', this.id)}.l16`
    this.#storing = app.storage.put(recordingFiles, {
      tenant: this.#one,
      type: 'audio/l16',
      name,
      bytes: this.#sound,
      nowMs,
      // Should this node die, another finds by it what was recorded.
      id: this.id,
    })
    this.#storing.catch(() => this.#sound.refuse())
  }

  get durationMs(): number {
    return (this.#bytes * 1_000) / (bytesPerSecond * this.#channels)
  }

  /** Adds one second of every channel, interleaved as in WAV. */
  add(channels: readonly Int16Array[]): void {
    const length = channels[0]?.length ?? 0
    const samples = new Int16Array(length * channels.length)
    channels.forEach((channel, c) => {
      for (let i = 0; i < length; i++) samples[i * channels.length + c] = channel[i] ?? 0
    })
    const chunk = Buffer.from(samples.buffer)
    this.#sound.push(chunk)
    this.#bytes += chunk.length
  }

  /** One frame of silence: a recording that a key or the caller ended at once is told of like every other. */
  #addSilence(): void {
    this.add(Array.from({ length: this.#channels }, () => new Int16Array(frameSamples)))
  }

  end(durationMs: number, nowMs: number): void {
    if (this.#finished) return
    if (this.#bytes === 0 && durationMs <= shortMs) this.#addSilence()
    this.#sound.end()
    this.#finished = this.#store(durationMs, nowMs).catch(async (error) => {
      this.#app.log.error(
        { error, recording: idOf('recording', this.id) },
        'recording not stored: it is lost; check the storage and its free space',
      )
      await this.#fail(durationMs, nowMs).catch(() => undefined)
      return null
    })
    this.#done?.(this)
  }

  /** Recording once stored; null when it failed or is not over. An MP3 is still being made then. */
  stored(): Promise<RecordingRow | null> {
    return this.#finished ?? Promise.resolve(null)
  }

  async #store(durationMs: number, nowMs: number): Promise<RecordingRow | null> {
    await this.#begun
    if (this.#bytes === 0) throw new Error('nothing was recorded')
    const arrived = await this.#storing
    if (this.#sound.isRefused) throw new Error('the store did not keep up')
    const { format, telling } = this.#of
    const recorded = { one: this.#one, format, channels: this.#channels, durationMs, endedMs: nowMs }
    return keepSamples(this.#app, recorded, arrived, telling?.() ?? null, nowMs)
  }

  async #fail(durationMs: number, nowMs: number): Promise<void> {
    await this.#begun
    const text = { transcription_file: null, transcription_confidence: null, transcription_error: null }
    const nothing = { file_id: null, source_file: null, size_bytes: null, sha256: null, expires_at: null, ...text }
    const failed = { status: 'failed' as const, duration_ms: Math.round(durationMs), reason: 'it could not be stored' }
    const { bucket, account: account_id, environment, id } = this.#one
    const { call: call_id, conference: conference_id, language: transcription_language, format } = this.#of
    const whose = { bucket, account_id, environment, id, call_id, conference_id }
    const about = { ...whose, transcription_language, format, channels: this.#channels }
    const at = new Date(nowMs)
    await this.#settle({ ...about, ...nothing, ...failed, started_at: at, ended_at: at }, nowMs)
  }

  #settle(row: RecordingRow, nowMs: number): Promise<RecordingRow | null> {
    return this.#app.db.tx(this.#one, (tx) => settleRecording(this.#app, tx, row, nowMs))
  }
}

/** Bounded buffer between the call and storage. */
class Waiting implements AsyncIterable<Buffer> {
  #chunks: Buffer[] = []
  #bytes = 0
  #isOver = false
  isRefused = false
  #wake: () => void = () => undefined

  push(chunk: Buffer): void {
    if (this.#isOver || this.isRefused) return
    if (this.#bytes + chunk.length > maxWaiting) return this.refuse()
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#wake()
  }

  refuse(): void {
    this.isRefused = true
    this.#chunks = []
    this.end()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk) {
        this.#bytes -= chunk.length
        yield chunk
      } else if (this.#isOver) return
      else
        await new Promise<void>((resume) => {
          this.#wake = resume
        })
    }
  }
}
