// SPDX-License-Identifier: Apache-2.0
// Audio of a room, as commanded by its node: members, who hears whom, players and recorders. Hold, mute, whisper and
// barge change the edges between members; the media worker applies them with the next frame.
import type { ListenerOptions } from '../../../protocols/media/taps.ts'
import type { RemoteAudio } from '../../../protocols/rtp/leg.ts'
import type { MediaEvent, SocketCall } from '../media/command.ts'
import type { MediaPool, MediaRoom } from '../media/pool.ts'

/** Set of members: everybody, or the named ones. */
export type Circle = 'all' | readonly string[]

export interface Edges {
  /** Members this one hears, if their own edges allow it. */
  hears: Circle
  heardBy: Circle
}

interface Member extends Edges {
  isHeld: boolean
  isMuted: boolean
  /** Hears nobody, since it has not answered yet. */
  isDeaf?: boolean
}

export interface RoomHandlers {
  happened(event: MediaEvent): void
  /** The media worker crashed and the audio is lost. */
  lost(): void
}

export interface RecordingOptions {
  silenceMs: number
  maxMs: number
  endKeys: string
}

/** Audio address of a leg with plain RTP: G.711 and telephone events. */
export interface PlainAudio {
  host: string
  port: number
}

const everybody: Edges = { hears: 'all', heardBy: 'all' }

const isIn = (circle: Circle, member: string) => circle === 'all' || circle.includes(member)

export class CallRoom {
  readonly #media: MediaRoom
  readonly host: string
  readonly #members = new Map<string, Member>()
  /** Recorder name → member on the left channel of two; null for mono. */
  readonly #recorders = new Map<string, string | null>()
  /** Gains other than the default, as last commanded. */
  readonly #gains = new Map<string, number>()

  private constructor(media: MediaRoom, host: string) {
    this.#media = media
    this.host = host
  }

  /** Opens a room on the least loaded media worker; null when none has capacity. */
  static open(pool: MediaPool, host: string, id: string, handlers: RoomHandlers): CallRoom | null {
    const media = pool.room(id, handlers)
    return media && new CallRoom(media, host)
  }

  get id(): string {
    return this.#media.id
  }

  get size(): number {
    return this.#members.size
  }

  has(member: string): boolean {
    return this.#members.has(member)
  }

  /** Name of the member, player or recorder in a media event. */
  static nameIn(name: string): string {
    return name.slice(name.indexOf(':') + 1)
  }

  /** Adds a member; returns its local RTP port, or null when there is no capacity. */
  async enter(member: string, edges: Edges = everybody): Promise<number | null> {
    const port = await this.#media.open(member, this.host).catch(() => null)
    if (port === null) return null
    this.#members.set(member, { ...edges, isHeld: false, isMuted: false })
    this.#tune()
    return port
  }

  /** Adds a member by websocket; returns the problem when it does not come about. */
  async enterSocket(member: string, call: SocketCall, edges: Edges = everybody): Promise<string | null> {
    const problem = await this.#media.openSocket(member, call)
    if (problem !== null) return problem
    this.#members.set(member, { ...edges, isHeld: false, isMuted: false })
    this.#tune()
    return null
  }

  /** Whether a member hears another. */
  reaches(speaker: string, listener: string): boolean {
    const [from, to] = [this.#members.get(speaker), this.#members.get(listener)]
    return from !== undefined && to !== undefined && gainBetween(speaker, from, listener, to) === 1
  }

  connect(member: string, remote: RemoteAudio & { sends: boolean }): void {
    this.#media.tell({ do: 'connect', leg: this.#media.name(member), remote })
  }

  /** Connects a member whose audio is plain RTP from another of our programs. */
  connectPlain(member: string, { host, port }: PlainAudio): void {
    const remote = { host, port, rtcpPort: port + 1, codec: 'PCMU', payloadType: 0, digits: 101 } as const
    this.connect(member, { ...remote, sends: true, hears: true })
  }

  async leave(member: string) {
    if (!this.#members.delete(member)) return null
    for (const key of [...this.#gains.keys()]) if (key.split('>').includes(member)) this.#gains.delete(key)
    return this.#media.closeLeg(member)
  }

  change(member: string, change: Partial<Member>): boolean {
    const known = this.#members.get(member)
    if (!known) return false
    this.#members.set(member, { ...known, ...change })
    this.#tune()
    return true
  }

  isHeld(member: string): boolean {
    return this.#members.get(member)?.isHeld ?? false
  }

  /** Sends the gains that differ from those last commanded. */
  #tune(): void {
    for (const [speaker, from] of this.#members) {
      for (const [listener, to] of this.#members)
        if (speaker !== listener) this.#set(speaker, listener, gainBetween(speaker, from, listener, to), 1)
      // A member not heard by all, such as a whisperer, is not recorded.
      const isRecorded = from.heardBy === 'all' && !from.isMuted && !from.isHeld
      for (const [recorder, first] of this.#recorders)
        channelsOf(first).forEach((hears, i) => {
          const ordinary = hears(speaker) ? 1 : 0
          this.#set(speaker, `${recorder}/${i}`, isRecorded ? ordinary : 0, ordinary)
        })
    }
  }

  #set(speaker: string, listener: string, gain: number, ordinary: number): void {
    const key = `${speaker}>${listener}`
    if ((this.#gains.get(key) ?? ordinary) === gain) return
    this.#gains.set(key, gain)
    const media = this.#media
    media.tell({ do: 'gain', room: media.id, speaker: media.name(speaker), listener: media.name(listener), gain })
  }

  /** Plays to all or to the named members. */
  play(player: string, samples: Int16Array, options: { loop?: number; level?: number; to?: Circle } = {}): void {
    const media = this.#media
    const { loop = 1, level = 1, to = 'all' } = options
    const ears = to === 'all' ? null : to.map((member) => media.name(member))
    media.tell({ do: 'play', room: media.id, player: media.name(player), samples, loop, level, to: ears })
  }

  stop(player: string): void {
    this.#media.tell({ do: 'stop', room: this.#media.id, player: this.#media.name(player) })
  }

  press(member: string, digits: string): void {
    this.#media.tell({ do: 'dial', leg: this.#media.name(member), digits })
  }

  pressed(member: string, digit: string): void {
    this.#media.tell({ do: 'pressed', leg: this.#media.name(member), digit })
  }

  listen(listener: string, members: readonly string[], options: ListenerOptions): void {
    const media = this.#media
    const legs = members.map((member) => media.name(member))
    media.tell({ do: 'listen', room: media.id, listener: media.name(listener), legs, options })
  }

  stopListening(listener: string): void {
    this.#media.tell({ do: 'stop_listening', listener: this.#media.name(listener) })
  }

  detectMachine(member: string, awaitsRecording: boolean): void {
    this.#media.tell({ do: 'detect', leg: this.#media.name(member), awaitsRecording })
  }

  /** Record in mono, or one member on the left channel and the others on the right. */
  record(recorder: string, left: string | null, options: RecordingOptions): void {
    const media = this.#media
    const alone = left === null ? [] : [media.name(left)]
    const channels = left === null ? [{}] : [{ only: alone }, { except: alone }]
    media.tell({ do: 'record', room: media.id, recorder: media.name(recorder), channels, options })
    this.#recorders.set(recorder, left)
    this.#tune()
  }

  pauseRecording(recorder: string, isPaused: boolean): void {
    this.#media.tell({ do: 'pause_recording', recorder: this.#media.name(recorder), isPaused })
  }

  endRecording(recorder: string): void {
    this.#media.tell({ do: 'end_recording', recorder: this.#media.name(recorder) })
  }

  recordingEnded(recorder: string): void {
    this.#recorders.delete(recorder)
    for (const key of [...this.#gains.keys()]) if (key.includes(`>${recorder}/`)) this.#gains.delete(key)
  }

  close(): void {
    this.#media.close()
  }
}

function gainBetween(speaker: string, from: Member, listener: string, to: Member): 0 | 1 {
  if (from.isHeld || from.isMuted || to.isHeld || to.isDeaf) return 0
  return isIn(from.heardBy, listener) && isIn(to.hears, speaker) ? 1 : 0
}

/** Speakers of each channel of a recording. */
function channelsOf(left: string | null): ((speaker: string) => boolean)[] {
  return left === null ? [() => true] : [(speaker) => speaker === left, (speaker) => speaker !== left]
}
