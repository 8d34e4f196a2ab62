// SPDX-License-Identifier: Apache-2.0
// Additional legs of a room: rings phones, SIP addresses, websockets and agent desks, tracks the legs and ends them with the room.
// Each leg is a call with its own id, reachable from any node.
import { newUuid } from '../../../kernel/ids.ts'
import { one } from '../../../platform/db.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { Failure } from '../../../platform/outbound/dial.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isBlocked } from '../calls/blocked-prefixes.ts'
import { CallRecord, holdSeconds } from '../calls/call-record.ts'
import { callSessions } from '../calls/call-sessions.ts'
import { minutePriceOf, sipMinutePriceOf, websocketMinutePriceOf } from '../calls/minute-price.ts'
import type { SocketCall } from '../media/command.ts'
import type { CallRoom, Edges } from '../room/room-audio.ts'
import { type CallRow, holdFor, insertCall, takeCallInto } from '../store.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'
import { type LegHandlers, RungLeg } from './leg.ts'
import { type SocketEndpoint, shownUri, socketCallOf } from './websocket-endpoint.ts'

/** Target of a leg: a phone, a SIP address, supplied audio, or a call created to be placed here. */
export type RungTarget = { phone: string } | { sip: string } | { media: true } | { call: string }

/** Target of a leg of a flow, which may also be a customer's websocket. */
export type LegTarget = RungTarget | { websocket: SocketEndpoint }

export interface NewLeg {
  to: LegTarget
  from: string
  timeoutSeconds: number
  tag: string | null
  edges?: Edges
  customData?: Record<string, unknown>
  agentId?: string
}

export type RingRefusal =
  | 'gone'
  | 'full'
  | 'not_allowed'
  | 'address_blocked'
  | 'no_route'
  | 'insufficient_funds'
  | 'network_error'

/** Conversation the legs belong to. */
export interface LegSource {
  readonly tenant: Tenant
  readonly conversation: string
  readonly parent: string | null
  readonly currency: string
  readonly customData: string
  clockOffsetMs(): number
}

const maxLegs = 60

export class Legs {
  readonly #network: TelephoneNetwork
  readonly #room: CallRoom
  readonly #source: LegSource
  readonly #obey: (leg: string, command: unknown) => Promise<unknown>
  readonly #legs = new Map<string, RungLeg>()
  /** Whether the room is over: what is about to be rung is not. */
  #isClosed = false

  constructor(
    network: TelephoneNetwork,
    room: CallRoom,
    source: LegSource,
    obey: (leg: string, command: unknown) => Promise<unknown>,
  ) {
    this.#network = network
    this.#room = room
    this.#source = source
    this.#obey = obey
  }

  get all(): readonly RungLeg[] {
    return [...this.#legs.values()]
  }

  get(id: string): RungLeg | null {
    return this.#legs.get(id) ?? null
  }

  /** Rings a target into the room. `media` is the local audio address of a media leg. */
  async ring(
    wanted: NewLeg,
    handlers: LegHandlers,
  ): Promise<{ leg: RungLeg; media: { host: string; port: number } | null } | RingRefusal> {
    if (this.#legs.size >= maxLegs) return 'full'
    if ('phone' in wanted.to && isBlocked(this.#network.app, wanted.to.phone)) return 'not_allowed'
    const ways = await this.#waysTo(wanted.to)
    if (ways !== null && ways.length === 0) return 'no_route'
    const socket = 'websocket' in wanted.to ? await this.#socketCall(wanted.to.websocket) : null
    if (typeof socket === 'string') return socket
    if (this.#isClosed) return 'gone'
    const row = await this.#rowFor(wanted)
    if (typeof row === 'string') return row
    const { agentId = row.agent_id } = wanted
    const record = new CallRecord(this.#network.app, { ...row, agent_id: agentId }, this.#source.clockOffsetMs())
    const port = socket ? 0 : await this.#room.enter(row.id, wanted.edges)
    if (port === null || this.#isClosed) return this.#giveUp(record)
    // A call created earlier may have its own ring timeout.
    const own = 'call' in wanted.to ? row.plan.ring_timeout : undefined
    const options = { tag: wanted.tag, timeoutMs: (own ?? wanted.timeoutSeconds) * 1_000 }
    const leg = new RungLeg(this.#network, this.#room, record, options, {
      ...handlers,
      ended: (ended, ending) => {
        handlers.ended(ended, ending)
        void this.#forget(ended)
      },
    })
    this.#legs.set(row.id, leg)
    sessionsOf(this.#network.app).hold(record.one, (command) => this.#obey(row.id, command))
    if (socket) {
      void leg.open(socket)
      return { leg, media: null }
    }
    const media = ways === null ? { host: this.#network.mediaHost, port } : null
    if (media) leg.await(media)
    else leg.ring('call' in wanted.to ? this.#network.waysTo(row.environment, row.to_number) : (ways ?? []), port)
    return { leg, media }
  }

  /** Ends a leg that was prepared and cannot be rung: its room is over, or has no place for it. */
  async #giveUp(record: CallRecord): Promise<RingRefusal> {
    const isClosed = this.#isClosed
    record.end({ status: 'failed', cause: isClosed ? 'normal' : 'network_error', by: 'system' })
    await this.#room.leave(record.row.id)
    await this.#unregister(record)
    return isClosed ? 'gone' : 'network_error'
  }

  /** Websocket as it is opened: its address checked, its request signed. */
  async #socketCall(endpoint: SocketEndpoint): Promise<SocketCall | 'address_blocked' | 'network_error'> {
    const { tenant, conversation, parent, clockOffsetMs } = this.#source
    const call = { parent, conversation, clockOffsetMs: clockOffsetMs() }
    const found = await socketCallOf(this.#network.app, tenant, endpoint, call)
    if (!(found instanceof Failure)) return found
    return found.error === 'ADDRESS_BLOCKED' ? 'address_blocked' : 'network_error'
  }

  /** Routes to a target; null for a leg without a network. Those of a call created earlier are known only with its row. */
  async #waysTo(to: LegTarget): Promise<readonly Way[] | null> {
    const { environment } = this.#source.tenant
    if ('media' in to || 'websocket' in to) return null
    if ('phone' in to) return this.#network.waysTo(environment, to.phone)
    return 'sip' in to ? this.#network.waysToAddress(environment, to.sip) : [anyWay]
  }

  async #rowFor({ to, from, customData }: NewLeg): Promise<CallRow | RingRefusal> {
    const { app } = this.#network
    const { tenant, conversation, parent, currency, clockOffsetMs } = this.#source
    if ('call' in to) {
      const call = { ...tenant, id: to.call }
      const taken = await app.db.tx(tenant, async (tx) => {
        const [row] = await tx.query(takeCallInto, { ...call, node: app.nodeId, parent, conversation })
        if (row) await sessionsOf(app).register(tx, callSessions, call)
        return row
      })
      return taken ?? 'gone'
    }
    const id = newUuid(app.clock.nowMs())
    const minute = this.#minutePrice(to)
    if (minute === null) return 'no_route'
    const row = await app.db.tx(tenant, async (tx) => {
      const child = { ...tenant, id }
      if (!(await holdFor(tx, child, currency, (minute * BigInt(holdSeconds)) / 60n))) return null
      await sessionsOf(app).register(tx, callSessions, child)
      return one(
        tx.query(insertCall, {
          ...child,
          conversation,
          parent,
          direction: 'outbound',
          from_number: from,
          to_number: shownTarget(to),
          plan: '{}',
          custom_data: customData ? JSON.stringify(customData) : this.#source.customData,
          event_url: null,
          record: false,
          started_at: new Date(app.clock.nowMs() + clockOffsetMs()),
          minute_micros: minute,
          currency,
          node: app.nodeId,
        }),
      )
    })
    return row ?? 'insufficient_funds'
  }

  #minutePrice(to: LegTarget): bigint | null {
    const { tenant, currency } = this.#source
    if ('phone' in to) return minutePriceOf(this.#network.app, tenant, currency, to.phone)
    if ('websocket' in to) return websocketMinutePriceOf(this.#network.app, tenant.account, currency)
    return 'sip' in to ? sipMinutePriceOf(this.#network.app, tenant.account, currency) : 0n
  }

  async #forget(leg: RungLeg): Promise<void> {
    await leg.finishing
    this.#legs.delete(leg.id)
    await this.#unregister(leg.record)
  }

  /** A leg whose end could not be stored stays registered: after this node stops, another ends and charges it. */
  async #unregister(record: CallRecord): Promise<void> {
    await record.settled()
    if (!record.isLost) await sessionsOf(this.#network.app).end(record.one)
  }

  /** Extends the hold of money of each answered leg. */
  renew(): void {
    for (const { record } of this.#legs.values())
      record
        .renew()
        .catch((error) =>
          this.#network.app.log.warn(
            { error },
            'hold for the price of a call not extended: tried again before it runs out; check the database if this repeats',
          ),
        )
  }

  clockMoved(offsetMs: number): void {
    for (const { record, timers } of this.#legs.values()) {
      record.clockOffsetMs = offsetMs
      timers.clockMoved()
    }
  }

  /** Legs that are being prepared are not rung any more: whoever wanted them is gone. */
  close(): void {
    this.#isClosed = true
  }

  /** Ends all legs, for the room is over. */
  async endAll(cause: string): Promise<void> {
    this.close()
    const all = this.all
    for (const leg of all) leg.end(leg.isAnswered ? 'completed' : 'failed', cause)
    await Promise.all(all.map(({ finishing }) => finishing))
  }
}

/** Target as calls and events show it. */
function shownTarget(to: LegTarget): string {
  if ('phone' in to) return to.phone
  if ('sip' in to) return to.sip
  return 'websocket' in to ? shownUri(to.websocket.uri) : 'desk'
}

const anyWay: Way = { name: 'to be found', peer: { transport: 'udp', host: '', port: 0 }, uri: '' }
