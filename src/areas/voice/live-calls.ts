// SPDX-License-Identifier: Apache-2.0
// Live calls as other areas command them, on any node. Ids are UUIDs; a room is named by its call or by the UUID it was
// opened with. Null or false means that the call or room has ended.
import { newId } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe } from '../../platform/db.ts'
import { sessionsOf } from '../../platform/nodes/live-sessions.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import type { One, Tenant } from '../../platform/tenant.ts'
import { isOver } from './calls/call.ts'
import { clockOffsetOf } from './clock-offset.ts'
import { endUnplaced } from './customer/command-call.ts'
import type { Flow } from './followers.ts'
import type { RingRefusal, RungTarget } from './legs/legs.ts'
import { ConferenceSession } from './live/conference.ts'
import type { SessionCommand } from './live/session-command.ts'
import type { Circle, Edges, PlainAudio } from './room/room-audio.ts'
import { type CallRow, findCall } from './store.ts'
import { telephoneNetworkOf } from './trunks/telephone-network.ts'

interface LiveCall {
  readonly call: string
  /** Room of the call: its own, or the one it was rung into. */
  readonly room: string
  readonly node: string | null
  readonly status: CallRow['status']
  readonly phase: string | null
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly parent: string | null
  readonly answeredAt: Date | null
  /** Whether all of it was asked to be recorded. */
  readonly isRecorded: boolean
  /** Text for the called party. */
  readonly callerPrompt: { readonly text: string; readonly language: string } | null
}

/** Leg to ring into a room. */
export interface LegToRing {
  readonly to: RungTarget
  readonly from: string
  readonly timeoutSeconds: number
  /** Label repeated in every change reported of the leg. */
  readonly tag: string | null
  readonly hears?: Circle
  readonly heardBy?: Circle
  readonly customData?: Readonly<Record<string, unknown>>
  /** Agent whom the leg rings. */
  readonly agentId?: string
}

type Rung = { readonly call: string; readonly media: PlainAudio | null } | { readonly refused: RingRefusal }

/** Sound to play: a text, a file, or music as in `hold`, or `beep`. */
type Sound =
  | { readonly text: string; readonly language: string }
  | { readonly url: string }
  | { readonly music: string }

class LiveCalls {
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  /** Finds a call that has not ended. */
  async find(tenant: Tenant, call: string): Promise<LiveCall | null> {
    const row = await maybe(this.#app.db.query(findCall, oneOf(tenant, call)))
    if (!row || isOver(row.status)) return null
    const room = row.parent ?? row.conversation
    const { node, status, phase, direction, from_number: from, to_number: to, parent, answered_at: answeredAt } = row
    const { record: isRecorded, plan } = row
    const callerPrompt = plan.caller_prompt ?? null
    return { call, room, node, status, phase, direction, from, to, parent, answeredAt, isRecorded, callerPrompt }
  }

  /** Rings a leg into a room. A media leg, with the caller's own audio, is answered by `connectMedia`. */
  async ring(tenant: Tenant, room: string, leg: LegToRing): Promise<Rung> {
    const { hears = 'all', heardBy = 'all', to, from, timeoutSeconds, tag, customData, agentId } = leg
    const rung = await this.#command(tenant, room, {
      do: 'ring',
      to,
      from,
      timeoutSeconds,
      tag,
      edges: { hears: circle(hears), heardBy: circle(heardBy) },
      ...(customData ? { customData: { ...customData } } : {}),
      ...(agentId === undefined ? {} : { agentId }),
    })
    return isRung(rung) ? rung : { refused: 'gone' }
  }

  /**
   * Answers a media leg: plain RTP, PCMU with payload type 0 and telephone events with 101. Called again when the audio
   * address changes. Returns the leg's local address.
   */
  async connectMedia(tenant: Tenant, call: string, audio: PlainAudio): Promise<PlainAudio | null> {
    const place = await this.#command(tenant, call, { do: 'connect_media', audio })
    return isAudio(place) ? place : null
  }

  /** Ends a call; one that was never placed gives back what was set aside for it. */
  async hangUp(tenant: Tenant, call: string, by: 'agent' | 'system' = 'system'): Promise<boolean> {
    if (await this.#isDone(tenant, call, { do: 'hangup', by })) return true
    const row = await maybe(this.#app.db.query(findCall, oneOf(tenant, call)))
    if (row === null) return false
    // One that was placed meanwhile has a session now.
    return (await endUnplaced(this.#app, row, by)) || this.#isDone(tenant, call, { do: 'hangup', by })
  }

  // --- rooms ---

  /** Opens a room without a call on this node; false without capacity. */
  async openRoom(tenant: Tenant, room: string): Promise<boolean> {
    const network = telephoneNetworkOf(this.#app)
    if (!network.isOpen || !network.media.admits) return false
    const offset = await clockOffsetOf(this.#app, tenant.account, tenant.environment)
    return new ConferenceSession(network, oneOf(tenant, room), offset).begin()
  }

  /** Closes such a room and hangs up its legs. */
  closeRoom(tenant: Tenant, room: string): Promise<boolean> {
    return this.#isDone(tenant, room, { do: 'close_room' })
  }

  /** Joins an answered call to another room, on any nodes. */
  async join(tenant: Tenant, call: string, room: string): Promise<boolean> {
    const place = await this.#command(tenant, room, { do: 'open_link', call })
    if (!isAudio(place)) return false
    const own = await this.#command(tenant, call, { do: 'join', room, audio: place })
    if (!isAudio(own)) {
      await this.#command(tenant, room, { do: 'close_link', call })
      return false
    }
    return this.#isDone(tenant, room, { do: 'connect_link', call, audio: own })
  }

  /** Leaves a joined room and return to the call's own. */
  leave(tenant: Tenant, call: string): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'leave' })
  }

  // --- who hears whom ---

  /** Holds with `default`, `ringback`, `silence` or a music URL; null releases the call. */
  hold(tenant: Tenant, call: string, hold: { readonly music: string } | null): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'hold', music: hold?.music ?? null })
  }

  mute(tenant: Tenant, call: string, isMuted: boolean): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'mute', isMuted })
  }

  /** Sets whom a leg hears and who hears it, from the next frame on. A leg not heard by all is not recorded. */
  edges(tenant: Tenant, call: string, { hears, heardBy }: Edges): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'edges', hears: circle(hears), heardBy: circle(heardBy) })
  }

  /** Sends DTMF digits to the other end of a leg. */
  press(tenant: Tenant, call: string, digits: string): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'send_digits', digits })
  }

  // --- sound ---

  /** Plays a sound: null on success, otherwise the reason. A loop of 0 plays until stopped. */
  async play(
    tenant: Tenant,
    call: string,
    sound: Sound,
    { loop = 1, toRoom = false, interrupt = true }: { loop?: number; toRoom?: boolean; interrupt?: boolean } = {},
  ): Promise<string | null> {
    const target = toRoom ? 'all' : 'caller'
    const play = { id: newId('play', this.#app.clock.nowMs()), ...sound, loop, interrupt, target } as const
    const outcome = await this.#command(tenant, call, { do: 'play', play })
    return outcome === true ? null : typeof outcome === 'string' ? outcome : 'not active'
  }

  stopPlay(tenant: Tenant, call: string, { toRoom = false }: { toRoom?: boolean } = {}): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'stop_play', target: toRoom ? 'all' : 'caller' })
  }

  /** Records a whole room, one recording at a time, for the room or for the call of one leg; returns its UUID. */
  async record(
    tenant: Tenant,
    room: string,
    { channels = 2, call }: { channels?: 1 | 2; call?: string } = {},
  ): Promise<string | null> {
    const recording = await this.#command(tenant, room, { do: 'record', channels, ...(call ? { call } : {}) })
    return typeof recording === 'string' ? recording : null
  }

  pauseRecording(tenant: Tenant, room: string, isPaused: boolean): Promise<boolean> {
    return this.#isDone(tenant, room, { do: 'pause_recording', isPaused })
  }

  async stopRecording(tenant: Tenant, room: string): Promise<string | null> {
    const recording = await this.#command(tenant, room, { do: 'stop_recording' })
    return typeof recording === 'string' ? recording : null
  }

  // --- the call itself ---

  /** Sets fields of the call that the API shows. */
  mark(
    tenant: Tenant,
    call: string,
    marks: Partial<Pick<CallRow, 'phase' | 'agent_id' | 'queue_id' | 'ivr_id' | 'conference_id' | 'disposition'>>,
  ): Promise<boolean> {
    return this.#isDone(tenant, call, { do: 'mark', ...marks })
  }

  /** Sets a call's next flow; null continues the flow that waits for the area. */
  resume(tenant: Tenant, call: string, by: string, flow: Flow | null): Promise<boolean> {
    const given = flow && { actions: [...flow.actions], ...(flow.isOwn === undefined ? {} : { isOwn: flow.isOwn }) }
    return this.#isDone(tenant, call, { do: 'resume', flow: given, by })
  }

  #command(tenant: Tenant, session: string, command: SessionCommand): Promise<unknown> {
    return sessionsOf(this.#app).command(oneOf(tenant, session), command)
  }

  async #isDone(tenant: Tenant, session: string, command: SessionCommand): Promise<boolean> {
    return (await this.#command(tenant, session, command)) === true
  }
}

export const liveCalls = onePerApp((app) => new LiveCalls(app))

function oneOf({ bucket, account, environment }: Tenant, id: string): One {
  return { bucket, account, environment, id }
}

function circle(given: Circle): 'all' | string[] {
  return given === 'all' ? given : [...given]
}

function isAudio(given: unknown): given is PlainAudio {
  return typeof given === 'object' && given !== null && 'host' in given && 'port' in given
}

function isRung(given: unknown): given is Rung {
  return typeof given === 'object' && given !== null && ('call' in given || 'refused' in given)
}
