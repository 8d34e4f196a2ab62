// SPDX-License-Identifier: Apache-2.0
// Desk: an agent's browser on a websocket. It shows the agent's state, offers calls and takes commands. The state is
// read from the agent's row, so that a reconnected desk, on any node, shows the same.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { Connection, Conversation } from '../../../platform/api/socket.ts'
import type { App } from '../../../platform/app.ts'
import { answerMessage } from '../../../platform/http/socket-messages.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type BrowserAudio, liveCalls } from '../../voice/area.ts'
import { transferRecord } from '../agent/transfer.ts'
import type { AgentRow } from '../agents/store.ts'
import type { TransferRow } from '../contact/transfer-store.ts'
import type { ContactRow } from '../contacts.ts'
import { contextOf } from '../metrics/agent-context.ts'
import type { QueueRow } from '../queues/store.ts'
import { colleaguesOf } from './colleagues.ts'
import { type CommandContext, runCommand } from './commands.ts'
import { type DeskMessage, readMessage } from './message.ts'

/** Snapshot of an agent's work. */
export interface DeskView {
  readonly agent: AgentRow
  readonly contact: ContactRow | null
  readonly queue: QueueRow | null
  readonly transfer: TransferRow | null
  /** Name of the agent who transfers. */
  readonly transferredBy: string | null
  /** Names of the other agents who speak in the call. */
  readonly others: readonly string[]
}

export class Desk implements Conversation {
  readonly id: string
  readonly tenant: Tenant
  readonly agentId: string
  readonly #app: App
  readonly #connection: Connection
  readonly #audio: BrowserAudio | null
  readonly #left: () => Promise<void>
  /** The login that it is for. */
  readonly #session: string | null
  #row: AgentRow
  #transfer: TransferRow | null = null
  #view: DeskView | null = null
  /** Leg whose audio this desk carries. */
  #bridged: string | null = null
  #isMuted = false
  /** Number of the newest snapshot that was shown. */
  #shown = 0
  /** Last message sent per type, to skip repeats. */
  readonly #said = new Map<string, string>()

  constructor(
    app: App,
    connection: Connection,
    { tenant, agent, id, audio }: { tenant: Tenant; agent: AgentRow; id: string; audio: BrowserAudio | null },
    left: () => Promise<void>,
  ) {
    this.#app = app
    this.#connection = connection
    this.id = id
    this.tenant = tenant
    this.agentId = agent.agent_id
    this.#session = agent.session_id
    this.#row = agent
    this.#audio = audio
    this.#left = left
  }

  close(code: number, reason: string): void {
    this.#connection.close(code, reason)
  }

  async closed(): Promise<void> {
    this.#audio?.close()
    await this.#left()
  }

  /** The audio is connected: the agent can be rung. */
  ready(): void {
    this.#connection.send({ type: 'desk.ready' })
  }

  // --- messages to the agent ---

  /**
   * Sends what changed since the last snapshot. Snapshots are numbered when their reading begins; one that a newer one has
   * overtaken is dropped, or the desk would forget a call that it has just offered.
   */
  async show(view: DeskView, number: number): Promise<void> {
    if (number < this.#shown) return
    this.#shown = number
    this.#row = view.agent
    this.#transfer = view.transfer
    this.#view = view
    const { agent } = view
    this.#say('agent.status', {
      agent_id: agent.agent_id,
      status: agent.status,
      reason: agent.reason,
      since: agent.since,
      until: agent.until,
      next_status: agent.next_status,
    })
    if (agent.status === 'offline') return this.close(4_001, 'logged out')
    if (agent.session_id !== this.#session) return this.close(4_001, 'logged in elsewhere')
    await this.#follow(agent.leg_id)
    if (agent.status === 'ringing' && agent.leg_id !== null) await this.#offer(view, agent.leg_id)
    if (number < this.#shown) return
    this.#say('call.state', this.#callState(view))
    const { transfer, transferredBy } = view
    const from = { from_agent: transfer?.from_agent, from_name: transferredBy }
    this.#say('transfer.state', { transfer: transfer && { ...transferRecord(transfer), ...from } })
  }

  /** How far the account's clock is ahead, which times such as `since` are told by. */
  showClock(aheadMs: number): void {
    this.#say('clock', { ahead_seconds: Math.round(aheadMs / 1_000) })
  }

  showQueues(queues: readonly object[]): void {
    this.#say('queue.live', { queues })
  }

  #say(type: string, fields: object): void {
    const text = JSON.stringify(fields)
    if (this.#said.get(type) === text) return
    this.#said.set(type, text)
    this.#connection.send({ type, ...fields })
  }

  #callState({ agent, contact, others }: DeskView) {
    const isHere = agent.leg_id !== null && (agent.status === 'ringing' || agent.status === 'on_call')
    const call = agent.call_id ?? agent.leg_id
    const speaking = contact?.held_since ? 'on_hold' : 'connected'
    return {
      call_id: call === null ? null : idOf('call', call),
      state: isHere ? (agent.status === 'ringing' ? 'ringing' : speaking) : 'none',
      muted: isHere && this.#isMuted,
      others,
    }
  }

  /** Offers a call once, with what is known of the caller. */
  async #offer({ agent, queue }: DeskView, leg: string): Promise<void> {
    if (this.#said.get('offered') === leg) return
    this.#said.set('offered', leg)
    const seconds = queue?.document.offer_timeout ?? 30
    const context = await contextOf(this.#app, await this.#connection.caller(), agent, {})
    this.#connection.send({
      type: 'call.offer',
      call_id: idOf('call', agent.call_id ?? leg),
      from: context.customer?.phone ?? null,
      queue: queue && { queue_id: idOf('queue', queue.id), name: queue.name },
      context,
      expires_at: new Date(agent.since.getTime() + seconds * 1_000),
    })
  }

  /** Connects the desk's audio with the agent's leg, also after a reconnect; null disconnects it. */
  async #follow(leg: string | null): Promise<void> {
    if (this.#bridged !== null && this.#bridged !== leg) {
      this.#bridged = null
      this.#isMuted = false
      await this.#audio?.bridge(null)
    }
    const isReturned = this.#row.status === 'on_call' && this.#row.desk_id === this.id && this.#bridged === null
    if (leg !== null && isReturned) await this.#bring(leg)
  }

  async #bring(leg: string): Promise<boolean> {
    if (!this.#audio) return false
    this.#bridged = leg
    const place = await liveCalls(this.#app).connectMedia(this.tenant, leg, this.#audio.end)
    if (place) await this.#audio.bridge(place)
    else this.#bridged = null
    return place !== null
  }

  // --- messages from the agent ---

  heard(given: object): Promise<void> {
    const take = (message: DeskMessage) => this.#take(message)
    return answerMessage(this.#app, this.#connection, 'callcenter.desk', given, { read: readMessage, take })
  }

  async #take(message: DeskMessage): Promise<unknown> {
    const live = liveCalls(this.#app)
    const { type, body } = message
    switch (type) {
      case 'ping':
        return undefined
      case 'colleagues':
        return colleaguesOf(this.#app.db, this.tenant, this.agentId, (await this.#connection.caller()).nowMs)
      case 'webrtc.answer':
        return this.#withAudio((audio) => audio.answer(body.sdp))
      case 'webrtc.candidate':
        return this.#withAudio((audio) =>
          audio.candidate(body.candidate, body.sdp_mid ?? null, body.sdp_m_line_index ?? null),
        )
      case 'call.accept':
        if (this.#row.status !== 'ringing' || !(await this.#bring(this.#legNow())))
          throw new AppError('CALL_NOT_ACTIVE', 'the call has ended, or cannot be answered here')
        return undefined
      case 'call.reject':
      case 'call.hangup':
        await live.hangUp(this.tenant, this.#legNow(), 'agent')
        return undefined
      case 'call.mute':
        if (!(await live.mute(this.tenant, this.#legNow(), body.mute)))
          throw new AppError('CALL_NOT_ACTIVE', 'the call has ended')
        this.#isMuted = body.mute
        if (this.#view) this.#say('call.state', this.#callState(this.#view))
        return undefined
      default:
        return runCommand(this.#app, await this.#connection.caller(), message, this.#now())
    }
  }

  #now(): CommandContext {
    return { agent: this.#row, transfer: this.#transfer }
  }

  #legNow(): string {
    if (this.#row.leg_id === null) throw new AppError('CALL_NOT_ACTIVE', 'there is no call')
    return this.#row.leg_id
  }

  async #withAudio(work: (audio: BrowserAudio) => Promise<void>): Promise<undefined> {
    if (!this.#audio) throw new AppError('INVALID_REQUEST', 'this agent uses a telephone')
    await work(this.#audio).catch((error: Error) => {
      throw new AppError('INVALID_REQUEST', `the browser's audio cannot be used: ${error.message}`)
    })
    return undefined
  }
}
