// SPDX-License-Identifier: Apache-2.0
// Desk: an agent's browser on a websocket. It shows the agent's state, offers calls and takes commands. The state is
// read from the agent's row, so that a reconnected desk, on any node, shows the same.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { Connection, Conversation } from '../../../platform/api/socket.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { liveCalls } from '../../voice/area.ts'
import type { AgentRow } from '../agents/store.ts'
import { transferRecord } from '../calls/transfer.ts'
import type { TransferRow } from '../calls/transfers.ts'
import type { ContactRow } from '../contacts.ts'
import { contextOf } from '../metrics/agent-context.ts'
import type { QueueRow } from '../queues/store.ts'
import type { DeskAudio } from './audio-pool.ts'
import { type CommandContext, runCommand } from './commands.ts'
import { type DeskMessage, idIn, readMessage } from './message.ts'

/** Snapshot of an agent's work. */
export interface DeskView {
  readonly agent: AgentRow
  readonly contact: ContactRow | null
  readonly queue: QueueRow | null
  readonly transfer: TransferRow | null
}

export class Desk implements Conversation {
  readonly id: string
  readonly tenant: Tenant
  readonly agentId: string
  private readonly app: App
  private readonly connection: Connection
  private readonly audio: DeskAudio | null
  private readonly left: () => Promise<void>
  /** The login that it is for. */
  private readonly session: string | null
  private row: AgentRow
  private contact: ContactRow | null = null
  private transfer: TransferRow | null = null
  /** Leg whose audio this desk carries. */
  private bridged: string | null = null
  private isMuted = false
  /** Number of the newest snapshot that was shown. */
  private shown = 0
  /** Last message sent per type, to skip repeats. */
  private readonly said = new Map<string, string>()

  constructor(
    app: App,
    connection: Connection,
    { tenant, agent, id, audio }: { tenant: Tenant; agent: AgentRow; id: string; audio: DeskAudio | null },
    left: () => Promise<void>,
  ) {
    this.app = app
    this.connection = connection
    this.id = id
    this.tenant = tenant
    this.agentId = agent.agent_id
    this.session = agent.session_id
    this.row = agent
    this.audio = audio
    this.left = left
  }

  close(code: number, reason: string): void {
    this.connection.close(code, reason)
  }

  async closed(): Promise<void> {
    this.audio?.close()
    await this.left()
  }

  /** The audio is connected: the agent can be rung. */
  ready(): void {
    this.connection.send({ type: 'desk.ready' })
  }

  // --- messages to the agent ---

  /**
   * Send what changed since the last snapshot. Snapshots are numbered when their reading begins; one that a newer one has
   * overtaken is dropped, or the desk would forget a call that it has just offered.
   */
  async show(view: DeskView, number: number): Promise<void> {
    if (number < this.shown) return
    this.shown = number
    this.row = view.agent
    this.contact = view.contact
    this.transfer = view.transfer
    const { agent } = view
    this.say('agent.status', {
      agent_id: agent.agent_id,
      status: agent.status,
      reason: agent.reason,
      since: agent.since,
      next_status: agent.next_status,
    })
    if (agent.status === 'offline') return this.close(4_001, 'logged out')
    if (agent.session_id !== this.session) return this.close(4_001, 'logged in elsewhere')
    await this.follow(agent.leg_id)
    if (agent.status === 'ringing' && agent.leg_id !== null) await this.offer(view, agent.leg_id)
    if (number < this.shown) return
    this.say('call.state', this.callState(view))
    this.say('transfer.state', { transfer: view.transfer && transferRecord(view.transfer) })
  }

  showQueues(queues: readonly object[]): void {
    this.say('queue.live', { queues })
  }

  private say(type: string, fields: object): void {
    const text = JSON.stringify(fields)
    if (this.said.get(type) === text) return
    this.said.set(type, text)
    this.connection.send({ type, ...fields })
  }

  private callState({ agent, contact }: DeskView) {
    const isHere = agent.leg_id !== null && (agent.status === 'ringing' || agent.status === 'on_call')
    const call = agent.call_id ?? agent.leg_id
    const speaking = contact?.held_since ? 'on_hold' : 'connected'
    return {
      call_id: call === null ? null : idOf('call', call),
      state: isHere ? (agent.status === 'ringing' ? 'ringing' : speaking) : 'none',
      muted: isHere && this.isMuted,
    }
  }

  /** Offer a call once, with what is known of the caller. */
  private async offer({ agent, contact, queue }: DeskView, leg: string): Promise<void> {
    if (this.said.get('offered') === leg) return
    this.said.set('offered', leg)
    const seconds = queue?.document.offer_timeout ?? 30
    const context = await contextOf(this.app, await this.connection.caller(), agent, {})
    this.connection.send({
      type: 'call.offer',
      call_id: idOf('call', agent.call_id ?? leg),
      from: contact ? (contact.direction === 'inbound' ? contact.from_number : contact.to_number) : null,
      queue: queue && { queue_id: idOf('queue', queue.id), name: queue.name },
      context,
      expires_at: new Date(agent.since.getTime() + seconds * 1_000),
    })
  }

  /** Connect the desk's audio with the agent's leg, also after a reconnect; null disconnects it. */
  private async follow(leg: string | null): Promise<void> {
    if (this.bridged !== null && this.bridged !== leg) {
      this.bridged = null
      this.isMuted = false
      await this.audio?.bridge(null)
    }
    const isReturned = this.row.status === 'on_call' && this.row.desk_id === this.id && this.bridged === null
    if (leg !== null && isReturned) await this.bring(leg)
  }

  private async bring(leg: string): Promise<boolean> {
    if (!this.audio) return false
    this.bridged = leg
    const place = await liveCalls(this.app).connectMedia(this.tenant, leg, this.audio.end)
    if (place) await this.audio.bridge(place)
    else this.bridged = null
    return place !== null
  }

  // --- messages from the agent ---

  async heard(given: object): Promise<void> {
    const id = idIn(given)
    const reply = id === null ? {} : { id }
    try {
      const message = readMessage(given)
      if (!message) throw new AppError('INVALID_REQUEST', 'there is no message of this type')
      const result = await this.take(message)
      if (message.type === 'ping') this.connection.send({ type: 'pong', ...reply })
      else if (id !== null) this.connection.send({ type: 'done', id, ...(result ? { result } : {}) })
    } catch (error) {
      const known = error instanceof AppError ? error : null
      if (!known)
        this.app.log.error(
          { error, operation: 'callcenter.desk' },
          'message of a desk failed inside this program: the agent is told; report the error',
        )
      const [code, words] = known ? [known.code, known.details] : ['INTERNAL_ERROR', 'it failed here']
      this.connection.send({ type: 'error', ...reply, code, message: words })
    }
  }

  private async take(message: DeskMessage): Promise<unknown> {
    const live = liveCalls(this.app)
    const { type, body } = message
    switch (type) {
      case 'ping':
        return undefined
      case 'webrtc.answer':
        return this.withAudio((audio) => audio.answer(body.sdp))
      case 'webrtc.candidate':
        return this.withAudio((audio) =>
          audio.candidate(body.candidate, body.sdp_mid ?? null, body.sdp_m_line_index ?? null),
        )
      case 'call.accept':
        if (this.row.status !== 'ringing' || !(await this.bring(this.legNow())))
          throw new AppError('CALL_NOT_ACTIVE', 'the call is gone, or is not to be answered here')
        return undefined
      case 'call.reject':
      case 'call.hangup':
        await live.hangUp(this.tenant, this.legNow(), 'agent')
        return undefined
      case 'call.mute':
        if (!(await live.mute(this.tenant, this.legNow(), body.mute)))
          throw new AppError('CALL_NOT_ACTIVE', 'the call is over')
        this.isMuted = body.mute
        this.say('call.state', this.callState({ agent: this.row, contact: this.contact, queue: null, transfer: null }))
        return undefined
      default:
        return runCommand(this.app, await this.connection.caller(), message, this.now())
    }
  }

  private now(): CommandContext {
    return { agent: this.row, transfer: this.transfer }
  }

  private legNow(): string {
    if (this.row.leg_id === null) throw new AppError('CALL_NOT_ACTIVE', 'there is no call')
    return this.row.leg_id
  }

  private async withAudio(work: (audio: DeskAudio) => Promise<void>): Promise<undefined> {
    if (!this.audio) throw new AppError('INVALID_REQUEST', 'this agent is reached by telephone')
    await work(this.audio).catch((error: Error) => {
      throw new AppError('INVALID_REQUEST', `the browser's audio cannot be used: ${error.message}`)
    })
    return undefined
  }
}
