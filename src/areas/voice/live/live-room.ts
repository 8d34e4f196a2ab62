// SPDX-License-Identifier: Apache-2.0
// Live room of a call or conference, and its commands: ring and hang up legs, hold, mute, monitor, play prompts,
// record, and link calls of other rooms.
import type { App } from '../../../platform/app.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import type { Answerer } from '../../../protocols/media/taps.ts'
import type { CallRecord, EndOfCall } from '../calls/call-record.ts'
import { type LegChange, tellFollowers } from '../followers.ts'
import type { RungLeg } from '../legs/leg.ts'
import { type LegSource, Legs } from '../legs/legs.ts'
import type { MediaEvent } from '../media/command.ts'
import { Prompts } from '../room/prompts.ts'
import { Recordings } from '../room/recordings.ts'
import { CallRoom, type Circle } from '../room/room-audio.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import type { CommandOf, SessionCommand } from './session-command.ts'

/** Call or conference that owns a room. */
export interface RoomOwner {
  readonly app: App
  readonly one: One
  readonly nowMs: number
  readonly isOver: boolean
  /** Owner of the room's recordings. */
  readonly recordedAs: { call: string | null; conference: string | null }
  recordingBegan(id: string): void
  /** Row of the call; null for a conference. */
  readonly record: CallRecord | null
}

export interface RoomEvents {
  digit?(digit: string): void
  played?(player: string): void
  speechBegan?(listener: string): void
  speechEnded?(listener: string, reason: string, samples: Int16Array): void
  answerer?(who: Answerer): void
  /** Media timeout: no audio arrives from the owner's member. */
  silent?(): void
  lost(): void
  /** A leg rung into the room by another than its flow ended. */
  legEnded?(): void
}

/** Row changes of a call at the start and end of a hold. */
interface Holding {
  sinceMs: number
  phase: string | null
}

export class LiveRoom {
  readonly audio: CallRoom
  readonly legs: Legs
  readonly prompts: Prompts
  readonly recordings: Recordings
  readonly #owner: RoomOwner
  readonly #events: RoomEvents
  readonly #source: LegSource
  readonly #links = new Set<string>()
  readonly #holding = new Map<string, Holding>()
  /** Whether the room is over: a call that is about to be let in is not. */
  #isClosed = false

  private constructor(
    network: TelephoneNetwork,
    audio: CallRoom,
    owner: RoomOwner,
    source: LegSource,
    events: RoomEvents,
    obey: (leg: string, command: unknown) => Promise<unknown>,
  ) {
    this.audio = audio
    this.#owner = owner
    this.#source = source
    this.#events = events
    this.legs = new Legs(network, audio, source, obey)
    this.prompts = new Prompts(network, audio, owner)
    this.recordings = new Recordings(audio, owner)
  }

  /** Opens a room; null when no media worker has capacity. */
  static open(
    network: TelephoneNetwork,
    owner: RoomOwner,
    source: LegSource,
    events: RoomEvents,
    obey: (leg: string, command: unknown) => Promise<unknown>,
  ): LiveRoom | null {
    const held: { room: LiveRoom | null } = { room: null }
    const audio = CallRoom.open(network.media, network.mediaHost, owner.one.id, {
      happened: (event) => {
        if (held.room) held.room.#happened(event)
      },
      lost: () => events.lost(),
    })
    if (!audio) return null
    held.room = new LiveRoom(network, audio, owner, source, events, obey)
    return held.room
  }

  get id(): string {
    return this.#owner.one.id
  }

  get #tenant(): Tenant {
    return this.#source.tenant
  }

  // --- media events ---

  #happened(event: MediaEvent): void {
    const events = this.#events
    switch (event.event) {
      case 'digit':
        return this.#pressed(CallRoom.nameIn(event.leg), event.digit)
      case 'played':
        this.prompts.ended(CallRoom.nameIn(event.player))
        return events.played?.(CallRoom.nameIn(event.player))
      case 'silent':
        return this.#silent(CallRoom.nameIn(event.leg))
      case 'closed':
        return this.legs.get(CallRoom.nameIn(event.leg))?.closed(event.isClean, event.code)
      case 'speech_began':
        return events.speechBegan?.(CallRoom.nameIn(event.listener))
      case 'speech_ended':
        return events.speechEnded?.(CallRoom.nameIn(event.listener), event.reason, event.samples)
      case 'recorded':
        return this.recordings.add(CallRoom.nameIn(event.recorder), event.channels)
      case 'recording_ended':
        return this.recordings.ended(CallRoom.nameIn(event.recorder), event.durationMs)
      case 'answerer':
        return events.answerer?.(event.who)
    }
  }

  #pressed(member: string, digit: string): void {
    this.recordings.pressed(digit)
    if (member === this.id) this.#events.digit?.(digit)
    for (const leg of this.legs.all)
      if (leg.isSocket && leg.id !== member && this.audio.reaches(member, leg.id)) this.audio.press(leg.id, digit)
    this.#tell({ call: member, kind: 'digit', status: 'answered', tag: this.legs.get(member)?.tag ?? null, digit })
  }

  #silent(member: string): void {
    if (member === this.id) return this.#events.silent?.()
    if (this.#links.has(member)) return void this.#unlink(member)
    const leg = this.legs.get(member)
    // Until the answer the time to ring decides.
    if (leg?.isAnswered) leg.end('completed', 'media_timeout')
  }

  #tell(change: Pick<LegChange, 'call' | 'kind' | 'status' | 'tag'> & Partial<LegChange>): void {
    const { nowMs } = this.#owner
    const always = { tenant: this.#tenant, room: this.id, cause: null, by: null, digit: null, atMs: nowMs }
    tellFollowers(this.#owner.app, { ...always, ...change })
  }

  // --- commands ---

  /** Runs a command on a member; undefined when it is not a room command. */
  obey(member: string, command: SessionCommand): Promise<unknown> | unknown | undefined {
    switch (command.do) {
      case 'ring':
        return this.#ring(command)
      case 'connect_media':
        return this.legs.get(member)?.connectPlain(command.audio) ?? null
      case 'hold':
        return this.#hold(member, command.music)
      case 'mute':
        return this.audio.change(member, { isMuted: command.isMuted })
      case 'edges':
        return this.audio.change(member, { hears: command.hears, heardBy: command.heardBy })
      case 'link_edges':
        return this.audio.change(command.call, { hears: command.hears, heardBy: command.heardBy })
      case 'send_digits':
        if (this.audio.has(member)) this.audio.press(member, command.digits)
        return this.audio.has(member)
      case 'play':
        return this.prompts.add({ ...command.play, to: this.#circle(member, command.play.target) })
      case 'stop_play':
        return this.prompts.stop(this.#circle(member, command.target))
      case 'stop_all_plays':
        return this.prompts.stopAll()
      case 'record':
        return this.recordings.startWhole(command.channels, this.legs.get(command.call ?? '')?.record ?? null)
      case 'pause_recording':
        return this.recordings.pauseWhole(command.isPaused)
      case 'stop_recording':
        return this.recordings.stopWhole()
      case 'open_link':
        return this.#openLink(command.call)
      case 'connect_link':
        return this.#connectLink(command)
      case 'close_link':
        return this.#closeLink(command.call)
      default:
        return undefined
    }
  }

  #circle(member: string, target: 'all' | 'caller' | 'agent'): Circle {
    if (target === 'caller') return [member]
    return target === 'all' ? 'all' : this.legs.all.filter(({ isAnswered }) => isAnswered).map(({ id }) => id)
  }

  async #ring({ to, from, timeoutSeconds, tag, edges, customData, agentId }: CommandOf<'ring'>) {
    const rung = await this.legs.ring(
      {
        ...{ to, from, timeoutSeconds, tag },
        ...(edges ? { edges } : {}),
        ...(customData ? { customData } : {}),
        ...(agentId === undefined ? {} : { agentId }),
      },
      {
        ringing: (leg) => this.#tellOf(leg, 'ringing'),
        answered: (leg) => this.#tellOf(leg, 'answered'),
        ended: (leg, ending) => void this.#legEnded(leg, ending),
      },
    )
    return typeof rung === 'string' ? { refused: rung } : { call: rung.leg.id, media: rung.media }
  }

  #tellOf({ id, tag, record }: RungLeg, kind: 'ringing' | 'answered'): void {
    this.#tell({ call: id, kind, tag, status: record.row.status })
  }

  async #legEnded(leg: RungLeg, { status, cause, by }: EndOfCall): Promise<void> {
    this.endHold(leg.id)
    await leg.finishing
    this.#tell({ call: leg.id, kind: 'ended', tag: leg.tag, status, cause, by })
    this.#events.legEnded?.()
  }

  /** Holds a member with music, or releases it when `music` is null. */
  async #hold(member: string, music: string | null): Promise<boolean> {
    const player = `hold ${member}`
    if (!this.audio.has(member)) return false
    this.audio.stop(player)
    this.audio.change(member, { isHeld: music !== null })
    const record = this.#recordOf(member)
    if (music === null) {
      const phase = this.endHold(member)
      if (phase !== undefined) record?.change({ phase })
      await record?.settled()
      return true
    }
    if (!this.#holding.has(member)) {
      this.#holding.set(member, { sinceMs: this.#owner.nowMs, phase: record?.row.phase ?? null })
      record?.change({ phase: 'on_hold' })
    }
    const sound = await this.prompts.holdSound(music)
    if (sound && this.audio.isHeld(member)) this.audio.play(player, sound, { loop: 0, to: [member] })
    await record?.settled()
    return true
  }

  /** Adds the seconds of a hold to its call; returns the phase before it. */
  endHold(member: string): string | null | undefined {
    const holding = this.#holding.get(member)
    if (!holding) return undefined
    this.#holding.delete(member)
    const record = this.#recordOf(member)
    const seconds = Math.round((this.#owner.nowMs - holding.sinceMs) / 1_000)
    if (record) record.row = { ...record.row, held_seconds: record.row.held_seconds + seconds }
    return holding.phase
  }

  #recordOf(member: string) {
    return this.legs.get(member)?.record ?? (member === this.id ? this.#owner.record : null)
  }

  // --- links with other rooms ---

  async #openLink(call: string): Promise<{ host: string; port: number } | null> {
    if (this.audio.has(call)) return null
    const port = await this.audio.enter(call)
    if (port === null) return null
    if (this.#isClosed) {
      await this.audio.leave(call)
      return null
    }
    this.#links.add(call)
    return { host: this.audio.host, port }
  }

  #connectLink({ call, audio }: CommandOf<'connect_link'>): boolean {
    if (!this.#links.has(call)) return false
    this.audio.connectPlain(call, audio)
    this.#tell({ call, kind: 'joined', status: 'answered', tag: null })
    return true
  }

  async #closeLink(call: string): Promise<boolean> {
    if (!this.#links.delete(call)) return false
    await this.audio.leave(call)
    this.#tell({ call, kind: 'left', status: 'answered', tag: null })
    return true
  }

  /** Unlinks a call and tells it to leave. */
  async #unlink(call: string): Promise<void> {
    await this.#closeLink(call)
    // Not awaited: the call may be waiting for this room, a deadlock.
    void sessionsOf(this.#owner.app).command({ ...this.#tenant, id: call }, { do: 'leave' })
  }

  // --- the end ---

  async close(cause: string): Promise<void> {
    this.#isClosed = true
    for (const call of [...this.#links]) await this.#unlink(call)
    await this.legs.endAll(cause)
    await this.recordings.closeAll()
    this.audio.close()
  }
}
