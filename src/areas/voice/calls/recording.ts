// SPDX-License-Identifier: Apache-2.0
// A recording while it is made: its sound comes second by second, and becomes a stored, encrypted WAV file when it ends. Until
// then it is in memory, with a bound; what is longer is cut there and says so.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import { mine, type One } from '../../../platform/tenant.ts'
import { wavHeader } from '../../../protocols/audio/wav.ts'

const mostBytes = 240 * 1_024 * 1_024
/** Most of one recording: two hours of one channel, one of two. */
const mostSamples = 7_200 * 8_000
const keepDays = 90
const addressSeconds = 3_600

const recordingFiles = fileKind({ name: 'voice.recording', types: { 'audio/wav': mostBytes }, keepDays })

const insert = statement.tenant<One & { call: string; channels: number; at: Date }, object>(
  'voice.insert_recording',
  `insert into voice.recordings (bucket, account_id, environment, id, call_id, status, channels, started_at)
   values ($bucket, $account, $environment, $id, $call, 'recording', $channels, $at)`,
)

const finish = statement.tenant<
  One & {
    status: string
    duration: number
    file: string | null
    size: bigint | null
    sha256: string | null
    reason: string | null
    at: Date
    expires: Date | null
  },
  object
>(
  'voice.finish_recording',
  `update voice.recordings
      set status = $status, duration_ms = $duration, file_id = $file, size_bytes = $size, sha256 = $sha256, reason = $reason,
          ended_at = $at, expires_at = $expires
    where ${mine} and id = $id and status = 'recording'`,
)

interface Told {
  recording_uuid: string
  recording_url: string
  start_time: string
  end_time: string
  duration: number
  size: number
  format: 'wav'
  channels: number
}

export class RecordingInProgress {
  readonly id: string
  private readonly app: App
  private readonly one: One
  private readonly channels: number
  private readonly startedMs: number
  private readonly done: ((recording: RecordingInProgress) => void) | null
  private readonly chunks: Buffer[] = []
  private samples = 0
  private readonly begun: Promise<unknown>
  private finished: Promise<Told | null> | null = null

  constructor(app: App, call: One, channels: number, nowMs: number, done: RecordingInProgress['done']) {
    this.app = app
    this.id = newUuid(app.clock.nowMs())
    this.one = { ...call, id: this.id }
    this.channels = channels
    this.startedMs = nowMs
    this.done = done
    this.begun = app.db.query(insert, { ...this.one, call: call.id, channels, at: new Date(nowMs) })
    this.begun.catch((error) => app.log.error({ error }, 'a recording could not be noted'))
  }

  /** A second of every channel, woven together as WAV has it. */
  add(channels: readonly Int16Array[]): void {
    const length = channels[0]?.length ?? 0
    if (this.samples + length * channels.length > mostSamples) return
    const chunk = Buffer.allocUnsafe(length * channels.length * 2)
    for (let i = 0; i < length; i++)
      for (let c = 0; c < channels.length; c++) chunk.writeInt16LE(channels[c]?.[i] ?? 0, 2 * (i * channels.length + c))
    this.chunks.push(chunk)
    this.samples += length * channels.length
  }

  end(durationMs: number, nowMs: number): void {
    if (this.finished) return
    this.finished = this.store(durationMs, nowMs).catch(async (error) => {
      this.app.log.error({ error }, 'a recording could not be stored')
      await this.note('failed', durationMs, nowMs, 'it could not be stored').catch(() => undefined)
      return null
    })
    this.done?.(this)
  }

  /** What is told of it once it is stored; null if it could not be, or is not over. */
  stored(): Promise<Told | null> {
    return this.finished ?? Promise.resolve(null)
  }

  private note(status: string, durationMs: number, nowMs: number, reason: string | null): Promise<unknown> {
    return this.app.db.query(finish, {
      ...this.one,
      status,
      duration: Math.round(durationMs),
      file: null,
      size: null,
      sha256: null,
      reason,
      at: new Date(nowMs),
      expires: null,
    })
  }

  private async store(durationMs: number, nowMs: number): Promise<Told | null> {
    await this.begun
    const { chunks, channels, app } = this
    const length = 2 * this.samples
    async function* bytes(): AsyncGenerator<Buffer> {
      yield wavHeader(length, channels)
      yield* chunks
    }
    const name = `${idOf('recording', this.id)}.wav`
    const arrived = await app.storage.put(recordingFiles, {
      tenant: this.one,
      type: 'audio/wav',
      name,
      bytes: bytes(),
      nowMs,
    })
    await app.db.tx(this.one, async (tx) => {
      await app.storage.keep(tx, arrived)
      await tx.query(finish, {
        ...this.one,
        status: 'ready',
        duration: Math.round(durationMs),
        file: arrived.id,
        size: BigInt(arrived.bytes),
        sha256: arrived.sha256.toString('hex'),
        reason: null,
        at: new Date(nowMs),
        expires: arrived.expiresAt,
      })
    })
    chunks.length = 0
    return {
      recording_uuid: idOf('recording', this.id),
      recording_url: app.storage.address(arrived, addressSeconds),
      start_time: momentText(new Date(this.startedMs)),
      end_time: momentText(new Date(nowMs)),
      duration: Math.round(durationMs / 1_000),
      size: arrived.bytes,
      format: 'wav',
      channels: this.channels,
    }
  }
}
