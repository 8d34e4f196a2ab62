// SPDX-License-Identifier: Apache-2.0
// A call as media sees it: a room with a mixer, in which are telephones, players of sound and ears. Every 20 ms each telephone
// is heard, everything is mixed, and each is told what it hears.
import { frameSamples } from '../audio/g711.ts'
import { type MemberId, Mixer } from '../audio/mixer.ts'
import type { AudioLeg } from './audio-leg.ts'
import {
  type Answerer,
  type Listener,
  type ListeningEnd,
  MachineDetector,
  type Recorder,
  type RecordingEnd,
} from './taps.ts'

export interface RoomEvents {
  played(player: string): void
  recorded(recorder: string, channels: Int16Array[]): void
  recordingEnded(recorder: string, reason: RecordingEnd, durationMs: number): void
  speechBegan(listener: string): void
  speechEnded(listener: string, reason: ListeningEnd, samples: Int16Array): void
  answerer(leg: string, who: Answerer): void
}

interface Player {
  samples: Int16Array
  position: number
  /** Times it is still to be heard; Infinity until it is stopped. */
  left: number
  level: number
  /** Listeners; null for all. */
  to: readonly string[] | null
}

/** Speakers on one channel of a recording. */
export interface Channel {
  only?: readonly string[]
  except?: readonly string[]
}

interface RecorderTap {
  recorder: Recorder
  members: MemberId[]
  channels: readonly Channel[]
  /** A pause keeps the length right and records nothing. */
  isPaused: boolean
}

const maxMembers = 200
/** Silence that a recording gets at once for frames left out: a minute, where a machine slept for longer. */
const maxSkippedFrames = 3_000
const fullScale = 32_767

export class Room {
  readonly #mixer = new Mixer(1)
  readonly #events: RoomEvents
  readonly legs = new Map<string, AudioLeg>()
  readonly #players = new Map<string, Player>()
  readonly #recorders = new Map<string, RecorderTap>()
  readonly #listeners = new Map<string, { listener: Listener; legs: readonly string[] }>()
  readonly #detectors = new Map<string, MachineDetector>()
  readonly #heard = new Int16Array(frameSamples)
  readonly #frames = [new Int16Array(frameSamples), new Int16Array(frameSamples)]

  constructor(events: RoomEvents) {
    this.#events = events
  }

  get isEmpty(): boolean {
    return this.legs.size === 0 && this.#recorders.size === 0
  }

  enter(id: string, leg: AudioLeg): void {
    if (this.legs.size >= maxMembers) throw new Error('the room is full')
    this.legs.set(id, leg)
    this.#join(id)
  }

  leave(id: string): void {
    this.legs.delete(id)
    this.#detectors.delete(id)
    this.#mixer.leave(id)
  }

  /** A new member is heard by those who hear everybody, and hears no prompt that is meant for others. */
  #join(id: MemberId): void {
    this.#mixer.enter(id)
    for (const [player, { to }] of this.#players) if (to && !to.includes(id)) this.#mixer.gain(player, id, 0)
    for (const { members, channels } of this.#recorders.values())
      members.forEach((member, i) => {
        this.#tune(member, channels[i] ?? {}, id)
      })
  }

  #tune(tap: MemberId, { only, except }: Channel, speaker: MemberId): void {
    const isHeard = only ? only.includes(speaker) : !except?.includes(speaker)
    if (!isHeard) this.#mixer.gain(speaker, tap, 0)
  }

  gain(speaker: string, listener: string, gain: number): void {
    this.#mixer.gain(speaker, listener, gain)
  }

  play(id: string, samples: Int16Array, options: { loop: number; level: number; to: readonly string[] | null }): void {
    if (this.#players.size >= maxMembers) throw new Error('too much is being played')
    const { loop, level, to } = options
    const left = loop === 0 ? Number.POSITIVE_INFINITY : loop
    this.#players.set(id, { samples, position: 0, left, level: unclipped(samples, level), to })
    this.#join(id)
    if (to) for (const leg of this.legs.keys()) if (!to.includes(leg)) this.#mixer.gain(id, leg, 0)
  }

  stopPlaying(id: string): void {
    if (!this.#players.delete(id)) return
    this.#mixer.leave(id)
  }

  record(id: string, recorder: Recorder, channels: readonly Channel[]): void {
    const members = channels.map((_, i) => `${id}/${i}`)
    const everybody = this.#mixer.members
    this.#recorders.set(id, { recorder, members, channels, isPaused: false })
    members.forEach((member, i) => {
      this.#mixer.enter(member)
      for (const speaker of everybody) this.#tune(member, channels[i] ?? {}, speaker)
    })
  }

  pauseRecording(id: string, isPaused: boolean): void {
    const tap = this.#recorders.get(id)
    if (tap) tap.isPaused = isPaused
  }

  endRecording(id: string, reason: RecordingEnd = 'stopped'): void {
    const tap = this.#recorders.get(id)
    if (!tap) return
    this.#recorders.delete(id)
    for (const member of tap.members) this.#mixer.leave(member)
    const rest = tap.recorder.drain(true)
    if (rest) this.#events.recorded(id, rest)
    this.#events.recordingEnded(id, reason, tap.recorder.durationMs)
  }

  /** Hears some legs together, as far as they are there; where none is any more, it hears silence to its end. */
  listen(id: string, legs: readonly string[], listener: Listener): void {
    this.#listeners.set(id, { listener, legs })
  }

  stopListening(id: string): void {
    this.#listeners.delete(id)
  }

  detect(leg: string, awaitsRecording: boolean): void {
    this.#detectors.set(leg, new MachineDetector(awaitsRecording))
  }

  /** A key ends what it was said to end. */
  pressed(key: string): void {
    for (const [id, { recorder }] of this.#recorders) if (recorder.endsBy(key)) this.endRecording(id, 'key')
  }

  /** One frame of everything. */
  tick(): void {
    for (const [id, leg] of this.legs) leg.hear(this.#mixer.frameOf(id))
    for (const [id, player] of this.#players) this.#playFrame(id, player)
    this.#listenTo()
    this.#mixer.gather()
    for (const [id, leg] of this.legs) {
      this.#mixer.hear(id, this.#heard)
      leg.say(this.#heard)
    }
    for (const [id, tap] of this.#recorders) this.#recordFrame(id, tap)
  }

  /** Frames that came too late to be sent; their time passes all the same. */
  skip(frames: number): void {
    for (const leg of this.legs.values()) leg.skip(frames)
    for (const [id, { recorder }] of this.#recorders)
      for (let i = 0; i < Math.min(frames, maxSkippedFrames); i++) {
        recorder.skip()
        const chunk = recorder.drain(false)
        if (chunk) this.#events.recorded(id, chunk)
      }
  }

  #playFrame(id: string, player: Player): void {
    const frame = this.#mixer.frameOf(id)
    frame.fill(0)
    if (player.left <= 0) {
      this.stopPlaying(id)
      return this.#events.played(id)
    }
    const part = player.samples.subarray(player.position, player.position + frameSamples)
    for (let i = 0; i < part.length; i++) frame[i] = (part[i] ?? 0) * player.level
    player.position += frameSamples
    if (player.position < player.samples.length) return
    player.position = 0
    player.left--
  }

  #listenTo(): void {
    for (const [id, { listener, legs }] of this.#listeners) {
      const { begins, end } = listener.take(this.#together(legs))
      if (begins) this.#events.speechBegan(id)
      if (end === null) continue
      this.#listeners.delete(id)
      this.#events.speechEnded(id, end, listener.heard())
    }
    for (const [leg, detector] of this.#detectors) {
      const who = detector.take(this.#mixer.frameOf(leg))
      if (detector.isDone) this.#detectors.delete(leg)
      if (who !== null) this.#events.answerer(leg, who)
    }
  }

  /** Mix of several legs in this frame. */
  #together(legs: readonly string[]): Int16Array {
    const present = legs.filter((leg) => this.legs.has(leg))
    const [first] = present
    if (first !== undefined && present.length === 1) return this.#mixer.frameOf(first)
    this.#heard.fill(0)
    for (const leg of present)
      this.#mixer.frameOf(leg).forEach((sample, i) => {
        this.#heard[i] = Math.max(-32_768, Math.min(32_767, (this.#heard[i] ?? 0) + sample))
      })
    return this.#heard
  }

  #recordFrame(id: string, { recorder, members, isPaused }: RecorderTap): void {
    const frames = members.map((member, i) => {
      const frame = this.#frames[i] ?? this.#heard
      this.#mixer.hear(member, frame)
      if (isPaused) frame.fill(0)
      return frame
    })
    const end = recorder.take(frames)
    const chunk = recorder.drain(false)
    if (chunk) this.#events.recorded(id, chunk)
    if (end) this.endRecording(id, end)
  }
}

/** Level at which the loudest sample of a sound is as loud as a sample can be, where the wanted one is above it. */
function unclipped(samples: Int16Array, level: number): number {
  if (level <= 1) return level
  let peak = 1
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
  return Math.max(1, Math.min(level, fullScale / peak))
}
