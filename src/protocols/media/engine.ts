// SPDX-License-Identifier: Apache-2.0
// Many rooms on one thread, in four slots of 5 ms, so that a hundred calls do not send at the same instant (measured: the
// jitter that phones see falls fifteenfold). Lateness is measured, and new legs are refused when it grows; frames that are
// too late are left out, never sent in a burst.
import { type RemoteAudio, RtpLeg } from '../rtp/leg.ts'
import type { Quality } from '../rtp/reception.ts'
import type { AudioLeg } from './audio-leg.ts'
import { type Channel, Room, type RoomEvents } from './room.ts'
import { Listener, type ListenerOptions, Recorder, type RecorderOptions } from './taps.ts'

export interface EngineEvents extends RoomEvents {
  digit(leg: string, digit: string): void
  /** Nothing has come from a leg for the time that was given. */
  silent(leg: string): void
}

export interface EngineOptions {
  nowMs(): number
  /** Lowest and highest RTP port; absent takes any. */
  ports?: readonly [number, number]
  maxLegs?: number
  silentMs?: number
  /** Lateness of the hundredth tick above which no more legs are taken. */
  latestMs?: number
}

export interface LegEnd {
  quality: Quality | null
  sent: number
  received: number
}

const slots = 4
const frameMs = 20
const slotMs = frameMs / slots
const tooLateFrames = 3
const latenessKept = 400

export class MediaEngine {
  readonly #rooms: { id: string; room: Room; slot: number }[] = []
  readonly #byId = new Map<string, { id: string; room: Room; slot: number }>()
  readonly #legRooms = new Map<string, string>()
  readonly #taps = new Map<string, string>()
  readonly #silentLegs = new Set<string>()
  readonly #quiet = new Set<string>()
  readonly #options: EngineOptions
  readonly #events: EngineEvents
  readonly #lateness = new Float64Array(latenessKept)
  #ticks = 0
  #startedAt = 0
  #timer: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(options: EngineOptions, events: EngineEvents) {
    this.#options = options
    this.#events = events
  }

  get legs(): number {
    return this.#legRooms.size
  }

  /** Lateness that one tick in a hundred exceeds. */
  get lateMs(): number {
    const known = [...this.#lateness.subarray(0, Math.min(this.#ticks, latenessKept))].sort((a, b) => a - b)
    return known[Math.floor(known.length * 0.99)] ?? 0
  }

  /** Whether one more leg would be served as well as those that are here. */
  get admits(): boolean {
    return this.legs < (this.#options.maxLegs ?? 600) && this.lateMs <= (this.#options.latestMs ?? 40)
  }

  /** Opens a leg in a room, which is made if there is none. Gives the port to be spoken to. */
  async open(leg: string, room: string, host: string, impair?: () => number | null): Promise<number> {
    const { nowMs, ports } = this.#options
    const opened = await RtpLeg.open({
      host,
      ...(ports ? { ports } : {}),
      nowMs,
      digit: (digit) => this.pressed(leg, digit),
      ...(impair ? { impair } : {}),
    })
    this.enter(leg, room, opened)
    return opened.port
  }

  /** Takes a leg that is open already into a room, which is made if there is none. */
  enter(leg: string, room: string, opened: AudioLeg): void {
    this.#roomOf(room).enter(leg, opened)
    this.#legRooms.set(leg, room)
  }

  /** A key of a leg, whether it came beside the voice or by signalling. */
  pressed(leg: string, digit: string): void {
    this.#find(leg)?.pressed(digit)
    this.#events.digit(leg, digit)
  }

  connect(leg: string, remote: RemoteAudio & { sends: boolean }): void {
    const open = this.#legOf(leg)
    if (open instanceof RtpLeg) open.connect(remote)
    this.#silentLegs.delete(leg)
    if (remote.sends) this.#quiet.delete(leg)
    else this.#quiet.add(leg)
  }

  close(leg: string): LegEnd {
    const open = this.#legOf(leg)
    const room = this.#legRooms.get(leg)
    const end = { quality: open?.quality() ?? null, ...(open?.figures ?? { sent: 0, received: 0 }) }
    this.#find(leg)?.leave(leg)
    open?.close()
    this.#legRooms.delete(leg)
    this.#silentLegs.delete(leg)
    this.#quiet.delete(leg)
    if (room !== undefined) this.#leaveWhenEmpty(room)
    return end
  }

  /** Takes a leg from its room to another. */
  move(leg: string, room: string): void {
    const open = this.#legOf(leg)
    const old = this.#legRooms.get(leg)
    if (!open || old === undefined || old === room) return
    this.#find(leg)?.leave(leg)
    this.#roomOf(room).enter(leg, open)
    this.#legRooms.set(leg, room)
    this.#leaveWhenEmpty(old)
  }

  gain(room: string, speaker: string, listener: string, gain: number): void {
    this.#byId.get(room)?.room.gain(speaker, listener, gain)
  }

  dial(leg: string, digits: string): void {
    this.#legOf(leg)?.dial(digits)
  }

  play(
    room: string,
    player: string,
    samples: Int16Array,
    options: { loop: number; level: number; to: readonly string[] | null },
  ): void {
    this.#byId.get(room)?.room.play(player, samples, options)
  }

  stop(room: string, player: string): void {
    this.#byId.get(room)?.room.stopPlaying(player)
  }

  record(room: string, recorder: string, channels: readonly Channel[], options: RecorderOptions): void {
    const found = this.#byId.get(room)
    if (!found) return
    this.#taps.set(recorder, room)
    found.room.record(recorder, new Recorder(channels.length, options), channels)
  }

  pauseRecording(recorder: string, isPaused: boolean): void {
    this.#tapped(recorder)?.pauseRecording(recorder, isPaused)
  }

  endRecording(recorder: string): void {
    this.#tapped(recorder)?.endRecording(recorder)
  }

  listen(room: string, listener: string, legs: readonly string[], options: ListenerOptions): void {
    this.#taps.set(listener, room)
    this.#byId.get(room)?.room.listen(listener, legs, new Listener(options))
  }

  stopListening(listener: string): void {
    this.#tapped(listener)?.stopListening(listener)
    this.#taps.delete(listener)
  }

  detect(leg: string, awaitsRecording: boolean): void {
    this.#find(leg)?.detect(leg, awaitsRecording)
  }

  #tapped(id: string): Room | null {
    return this.#byId.get(this.#taps.get(id) ?? '')?.room ?? null
  }

  #find(leg: string): Room | null {
    return this.#byId.get(this.#legRooms.get(leg) ?? '')?.room ?? null
  }

  #legOf(leg: string): AudioLeg | null {
    return this.#find(leg)?.legs.get(leg) ?? null
  }

  #roomOf(id: string): Room {
    const known = this.#byId.get(id)
    if (known) return known.room
    const events = this.#events
    const room = new Room({
      ...events,
      recordingEnded: (recorder, reason, durationMs) => {
        this.#taps.delete(recorder)
        events.recordingEnded(recorder, reason, durationMs)
        this.#leaveWhenEmpty(id)
      },
    })
    const loads = Array.from({ length: slots }, (_, slot) => this.#rooms.filter((each) => each.slot === slot).length)
    const entry = { id, room, slot: loads.indexOf(Math.min(...loads)) }
    this.#rooms.push(entry)
    this.#byId.set(id, entry)
    this.#start()
    return room
  }

  /** The last leg ends the recordings of a room, and they end the room. */
  #leaveWhenEmpty(id: string): void {
    const entry = this.#byId.get(id)
    if (!entry || entry.room.legs.size > 0) return
    this.#byId.delete(id)
    this.#rooms.splice(this.#rooms.indexOf(entry), 1)
    for (const [tap, room] of [...this.#taps])
      if (room === id) {
        entry.room.endRecording(tap)
        this.#taps.delete(tap)
      }
  }

  /** Begins to tick with the first room; without one, nothing wakes the thread. */
  #start(): void {
    if (this.#timer || this.#isClosed) return
    this.#startedAt = performance.now() - this.#ticks * slotMs
    this.#schedule()
  }

  #schedule(): void {
    const dueMs = this.#startedAt + this.#ticks * slotMs
    this.#timer = setTimeout(() => this.#run(), Math.max(0, dueMs - performance.now()))
  }

  #run(): void {
    const lateMs = performance.now() - (this.#startedAt + this.#ticks * slotMs)
    this.#lateness[this.#ticks % latenessKept] = Math.max(0, lateMs)
    if (lateMs > tooLateFrames * frameMs) this.#leaveOut(Math.floor(lateMs / frameMs))
    const slot = this.#ticks % slots
    for (const each of this.#rooms) if (each.slot === slot) each.room.tick()
    if (this.#ticks % 200 === 0) this.#lookForSilence()
    this.#ticks++
    if (this.#rooms.length > 0) this.#schedule()
    else this.#rest()
  }

  /** Lateness that was measured under load says nothing about the next leg. */
  #rest(): void {
    this.#timer = null
    this.#lateness.fill(0)
  }

  #leaveOut(frames: number): void {
    for (const { room } of this.#rooms) room.skip(frames)
    this.#ticks += frames * slots
  }

  #lookForSilence(): void {
    const nowMs = this.#options.nowMs()
    const longest = this.#options.silentMs ?? 30_000
    for (const [id] of this.#legRooms) {
      const leg = this.#legOf(id)
      // A telephone that rings says nothing yet.
      if (!leg?.isConnected || this.#silentLegs.has(id) || this.#quiet.has(id)) continue
      if (nowMs - leg.lastHeardMs < longest) continue
      this.#silentLegs.add(id)
      this.#events.silent(id)
    }
  }

  closeAll(): void {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    for (const leg of [...this.#legRooms.keys()]) this.close(leg)
  }
}
