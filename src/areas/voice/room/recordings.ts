// SPDX-License-Identifier: Apache-2.0
// Recordings in progress of one room, by name.
import type { App } from '../../../platform/app.ts'
import type { One } from '../../../platform/tenant.ts'
import type { CallRecord } from '../calls/call-record.ts'
import type { Telling } from '../recordings/encode.ts'
import type { RecordingFormat } from '../recordings/store.ts'
import { RecordingInProgress } from './recording.ts'
import type { CallRoom, RecordingOptions } from './room-audio.ts'

const longestMs = 4 * 3_600_000
/** Options of a recording without an automatic end. */
export const untilTheEnd: RecordingOptions = { silenceMs: 0, maxMs: longestMs, endKeys: '' }

/** Name of the recording of the whole room; there is at most one. */
const wholeRoom = 'room'

/** Call or conference that is recorded. In stereo, the left channel is the owner's member. */
interface RecordedOwner {
  readonly app: App
  readonly one: One
  readonly nowMs: number
  readonly recordedAs: { call: string | null; conference: string | null }
  recordingBegan(id: string): void
}

/** Options beyond the audio file. */
interface RecordingWishes {
  /** Language of the transcription. */
  readonly language?: string | null
  readonly format?: RecordingFormat
  readonly telling?: (() => Telling) | null
  readonly done?: ((recording: RecordingInProgress) => void) | null
  /** Leg to which the recording of a room without a call of its own belongs. */
  readonly leg?: CallRecord | null
}

export class Recordings {
  readonly #room: CallRoom
  readonly #owner: RecordedOwner
  readonly #inProgress = new Map<string, RecordingInProgress>()
  /** Keys that end a recording, by its name. */
  readonly #endKeys = new Map<string, string>()

  constructor(room: CallRoom, owner: RecordedOwner) {
    this.#room = room
    this.#owner = owner
  }

  start(
    name: string,
    channels: number,
    options: RecordingOptions,
    { language = null, format = 'wav', telling = null, done = null, leg = null }: RecordingWishes = {},
  ): RecordingInProgress {
    const owner = this.#owner
    const recordedAs = leg ? { call: leg.row.id, conference: null } : owner.recordedAs
    const of = { tenant: owner.one, language, format, telling, ...recordedAs }
    const recording = new RecordingInProgress(owner.app, of, channels, owner.nowMs, done)
    this.#inProgress.set(name, recording)
    this.#endKeys.set(name, options.endKeys)
    if (leg) leg.change({ recordings: [...leg.row.recordings, recording.id] })
    else owner.recordingBegan(recording.id)
    this.#room.record(name, channels === 2 ? (leg?.row.id ?? owner.one.id) : null, options)
    return recording
  }

  /** Records the whole room, at most once; returns the recording in progress. */
  startWhole(channels: number, leg: CallRecord | null = null): string {
    return (this.#inProgress.get(wholeRoom) ?? this.start(wholeRoom, channels, untilTheEnd, { leg })).id
  }

  pauseWhole(isPaused: boolean): boolean {
    if (!this.#inProgress.has(wholeRoom)) return false
    this.#room.pauseRecording(wholeRoom, isPaused)
    return true
  }

  stopWhole(): string | null {
    const recording = this.#inProgress.get(wholeRoom)
    if (recording) this.#room.endRecording(wholeRoom)
    return recording?.id ?? null
  }

  /** A key was pressed. The media worker ends recordings by itself, unless the key reached it before the order to record. */
  pressed(key: string): void {
    for (const [name, keys] of this.#endKeys) if (keys.includes(key)) this.#room.endRecording(name)
  }

  add(name: string, channels: readonly Int16Array[]): void {
    this.#inProgress.get(name)?.add(channels)
  }

  ended(name: string, durationMs: number): void {
    this.#room.recordingEnded(name)
    const recording = this.#inProgress.get(name)
    this.#inProgress.delete(name)
    this.#endKeys.delete(name)
    recording?.end(durationMs, this.#owner.nowMs)
  }

  /** Audio ended: keep what was recorded. */
  async closeAll(): Promise<void> {
    const all = [...this.#inProgress.entries()]
    for (const [name, recording] of all) this.ended(name, recording.durationMs)
    await Promise.all(all.map(([, recording]) => recording.stored()))
  }
}
