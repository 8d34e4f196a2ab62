// SPDX-License-Identifier: Apache-2.0
// Live call in its node's memory: its leg, room, flow and end. Timers follow the account's clock, so that tests can
// move it.
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { agreedAudio, answerAudio, offerAudio } from '../../../protocols/sdp/session-description.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import type { CallHandlers } from '../../../protocols/sip/switchboard.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { followersOf, tellFollowers } from '../followers.ts'
import type { CallRow } from '../store.ts'
import { simulatedCarrier } from '../trunks/sandbox-carrier.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'
import { endingOf, qualityOf } from './call.ts'
import { FlowRunner } from './flow-runner.ts'
import { Invite } from './invite.ts'
import { LiveRoom } from './live-room.ts'
import { type CallRecord, type EndOfCall, longestCallMs } from './record.ts'
import { type CommandOf, readCommand, type SessionCommand } from './session-command.ts'
import { CallTimers } from './timers.ts'

const renewEveryMs = 2_000

export class CallSession {
  readonly record: CallRecord
  private readonly network: TelephoneNetwork
  private readonly timers: CallTimers
  private room: LiveRoom | null = null
  private flow: FlowRunner | null = null
  /** SIP call of the other party, in either direction. */
  private line: { hangup(): void } | null = null
  private incoming: SipCall | null = null
  private renewing: NodeJS.Timeout | null = null
  private mediaPort = 0
  private version = 0
  private isEnding = false
  /** Room of another call or conference that this call joined. */
  private joined: string | null = null
  /** Resolves when the end and everything with it is stored. */
  private finishing: Promise<void> | null = null

  constructor(network: TelephoneNetwork, record: CallRecord) {
    this.network = network
    this.record = record
    this.timers = new CallTimers(() => record.nowMs)
    record.onUnpaid = (seconds) => {
      const leftMs = Math.max(0, seconds * 1_000)
      this.timers.set('unpaid', leftMs, () => this.end('completed', 'insufficient_funds', 'system'))
    }
  }

  private get app() {
    return this.network.app
  }

  get one() {
    return this.record.one
  }

  private get id(): string {
    return this.record.row.id
  }

  /** Put the session into this node's memory; its row was registered with the call. */
  begin(): void {
    this.network.sessions.set(this.id, this)
    sessionsOf(this.app).hold(this.record.one, (command) => this.obey(this.id, command))
  }

  // --- outgoing ---

  /** Place the call over the first working route. */
  async place(ways: readonly Way[]): Promise<void> {
    const { row } = this.record
    if (ways.length === 0) return this.end('failed', 'no_route', 'system')
    if (!(await this.openRoom())) return this.end('failed', 'network_error', 'system')
    this.record.to('started')
    this.timers.set('ring', (row.plan.ring_timeout ?? 45) * 1_000, () => this.end('timeout', 'no_answer', 'system'))
    this.line = new Invite(
      this.network,
      { from: row.from_number, call: this.record.id, port: this.mediaPort, ways },
      {
        ...this.handlers(),
        progress: () => this.rings(),
        answered: (remote) => this.answered(remote),
        refused: (status) => {
          this.record.trace('sip', { refused: status })
          const { status: end, cause } = endingOf(status)
          this.end(end, cause, status === 487 ? 'api' : 'callee', status)
        },
        passedOver: (way, status) => this.record.trace('sip', { refused: status, way: way.name }),
      },
    )
  }

  private rings(): void {
    if (this.record.to('ringing')) this.tell('ringing')
  }

  private answered(description: string): void {
    this.timers.clear('ring')
    const remote = agreedAudio(description)
    if (remote === null) return this.end('failed', 'network_error', 'system', 488)
    this.room?.audio.connect(this.id, remote)
    if (!this.record.to('answered', { phase: 'flow' })) return
    this.whileAnswered()
    const detection = this.record.row.plan.machine_detection ?? 'none'
    if (detection !== 'none') this.room?.audio.detectMachine(this.id)
    void this.beginFlow(true)
  }

  // --- incoming ---

  /** Handlers of an incoming SIP call. */
  receive(sip: SipCall): CallHandlers {
    this.incoming = sip
    this.line = sip
    return this.handlers()
  }

  /** Ring back to the caller while the flow is fetched. */
  async welcome(): Promise<void> {
    this.record.to('started')
    this.incoming?.ring()
    this.rings()
    if (await this.openRoom()) return this.beginFlow(false)
    this.incoming?.reject(503)
    this.end('failed', 'network_error', 'system')
  }

  private pickUp(): void {
    const { incoming: sip } = this
    if (!sip || this.record.isOver) return
    const description = sip.offer === null ? offerAudio(this.ownAudio()) : answerAudio(sip.offer, this.ownAudio())
    if (description === null) {
      sip.reject(488)
      return this.end('failed', 'network_error', 'system', 488)
    }
    if (sip.offer !== null) this.connect(sip.offer)
    sip.answer(description)
    this.record.to('answered', { phase: 'flow' })
    this.whileAnswered()
  }

  // --- both ---

  private async beginFlow(isAnswered: boolean): Promise<void> {
    try {
      await this.flow?.begin(isAnswered)
    } catch (error) {
      this.app.log.error(
        { error, call: this.record.id },
        'flow of a call not begun: the call is ended; check the error',
      )
      if (this.record.row.status !== 'answered') this.incoming?.reject(500)
      this.end('completed', 'flow_error', 'system')
    }
  }

  private ownAudio() {
    return { host: this.network.mediaHost, port: this.mediaPort, version: ++this.version }
  }

  private handlers(): CallHandlers {
    const other = this.record.row.direction === 'inbound' ? ('caller' as const) : ('callee' as const)
    return {
      // SDP answer to our offer: a caller without an offer sends it in the ACK.
      answered: (description) => this.connect(description),
      ended: (by) => {
        if (this.record.row.status !== 'answered') return this.end('failed', 'cancelled', other)
        if (by === 'remote') this.end('completed', 'normal', other)
        else if (by === 'lost') this.end('completed', 'network_error', 'system')
      },
      digit: (digit) => this.room?.audio.pressed(this.id, digit),
      offered: (offer) => {
        this.connect(offer)
        return answerAudio(offer, this.ownAudio())
      },
    }
  }

  private connect(description: string): void {
    const remote = agreedAudio(description)
    if (remote) this.room?.audio.connect(this.id, remote)
  }

  private async openRoom(): Promise<boolean> {
    const { record, network } = this
    const { row, one } = record
    const room = LiveRoom.open(
      network,
      {
        app: this.app,
        one,
        get nowMs() {
          return record.nowMs
        },
        get isOver() {
          return record.isOver
        },
        recordedAs: { call: row.id, conference: null },
        recordingBegan: (id) => record.change({ recordings: [...record.row.recordings, id] }),
        record,
      },
      {
        tenant: { bucket: one.bucket, account: one.account, environment: one.environment },
        conversation: row.conversation,
        parent: row.id,
        currency: row.currency,
        customData: row.custom_data,
        clockOffsetMs: () => record.clockOffsetMs,
      },
      {
        digit: (digit) => this.flow?.input({ type: 'digit', digit }),
        played: (player) => this.flow?.played(player),
        speechBegan: (listener) => this.flow?.speechBegan(listener),
        speechEnded: (listener, reason, samples) => this.flow?.speechEnded(listener, reason, samples),
        machine: (isMachine) => this.foundMachine(isMachine),
        silent: () => this.end('completed', 'media_timeout', 'system'),
        lost: () => this.end('completed', 'network_error', 'system'),
      },
      (leg, command) => this.obey(leg, command),
    )
    const port = room && (await room.audio.enter(this.id))
    if (!room || port === null) {
      this.app.log.warn(
        { call: record.id },
        'call refused, no media process has room: add nodes with the role, or raise the limit of calls',
      )
      return false
    }
    this.room = room
    this.mediaPort = port
    this.flow = new FlowRunner(network, record, room, this.timers, {
      pickUp: () => this.pickUp(),
      hangUp: (reason) => this.hangUp(reason, 'system'),
      fail: (cause) => this.end('completed', cause, 'system'),
    })
    return true
  }

  private whileAnswered(): void {
    this.tell('answered')
    this.timers.set('longest', longestCallMs, () => this.end('completed', 'max_duration', 'system'))
    this.renewing = setInterval(() => this.renew(), renewEveryMs)
    this.renewing.unref()
    if (this.record.row.record) this.room?.recordings.startWhole(2)
  }

  private renew(): void {
    const failed = (error: unknown) =>
      this.app.log.warn(
        { error },
        'hold for the price of a call not extended: tried again before it runs out; check the database if this repeats',
      )
    this.record.renew().catch(failed)
    this.room?.legs.renew()
    this.record.flush()
  }

  private foundMachine(isMachine: boolean): void {
    this.record.tell({ machine: isMachine })
    this.record.flush()
    if (isMachine && this.record.row.plan.machine_detection === 'hangup') this.hangUp('normal', 'system')
  }

  private tell(kind: 'ringing' | 'answered' | 'ended', ending: Partial<EndOfCall> = {}): void {
    const { row, one, nowMs } = this.record
    tellFollowers(this.app, {
      tenant: { bucket: one.bucket, account: one.account, environment: one.environment },
      call: row.id,
      room: row.id,
      tag: null,
      kind,
      status: row.status,
      cause: ending.cause ?? null,
      by: ending.by ?? null,
      digit: null,
      atMs: nowMs,
    })
  }

  // --- commands ---

  /** Run a command on the call or on a leg of its room. */
  private async obey(member: string, given: unknown): Promise<unknown> {
    const command = readCommand(given)
    if (!command) return null
    if (member !== this.id) return this.obeyForLeg(member, command)
    switch (command.do) {
      case 'hangup':
        await this.readClock()
        this.hangUp(command.reason ?? 'normal', command.by ?? 'api')
        await this.finishing
        return true
      case 'mark':
        return this.mark(this.record, command)
      case 'resume':
        this.flow?.resume(command.flow, followersOf(this.app).find(({ name }) => name === command.by) ?? null)
        return this.flow !== null
      case 'join':
        return this.join(command)
      case 'leave':
        return this.leave()
      case 'edges':
        if (this.joined !== null) this.toJoined({ ...command, do: 'link_edges', call: this.id })
        return this.room?.obey(member, command) ?? false
      case 'play':
        return this.record.row.status === 'answered' ? (this.room?.obey(member, command) ?? 'not active') : 'not active'
      case 'press':
        return simulatedCarrier.of(this.app)?.press(this.record.id, command.digits) ?? false
      case 'say':
        return this.saySandbox(command.text)
      case 'hang_up_phone':
        return simulatedCarrier.of(this.app)?.hangup(this.record.id) ?? false
      case 'answer_phone':
        return simulatedCarrier.of(this.app)?.answer(this.record.id) ?? false
      default:
        return this.room?.obey(member, command) ?? null
    }
  }

  private async obeyForLeg(member: string, command: SessionCommand): Promise<unknown> {
    const leg = this.room?.legs.get(member)
    if (!leg) return null
    switch (command.do) {
      case 'hangup':
        leg.end('completed', leg.isAnswered ? 'normal' : 'cancelled', command.by ?? 'api')
        await leg.finishing
        return true
      case 'mark':
        return this.mark(leg.record, command)
      case 'press':
        return simulatedCarrier.of(this.app)?.press(leg.record.id, command.digits) ?? false
      case 'hang_up_phone':
        return simulatedCarrier.of(this.app)?.hangup(leg.record.id) ?? false
      case 'answer_phone':
        return simulatedCarrier.of(this.app)?.answer(leg.record.id) ?? false
      default:
        return this.room?.obey(member, command) ?? null
    }
  }

  private async mark(record: CallRecord, { do: _, ...change }: CommandOf<'mark'>): Promise<boolean> {
    if (record.isOver) return false
    record.change(change)
    await record.settled()
    return true
  }

  private async saySandbox(text: string): Promise<boolean> {
    const samples = await this.network.speaker.speak({ text, language: 'en-US' }).catch(() => null)
    if (samples) simulatedCarrier.of(this.app)?.say(this.record.id, samples)
    return this.flow?.said(text) ?? false
  }

  // --- another room ---

  /** Join the link opened in another room; returns this side's audio address. */
  private async join({ room, audio }: CommandOf<'join'>): Promise<{ host: string; port: number } | null> {
    if (!this.room || this.joined !== null || this.record.row.status !== 'answered') return null
    const port = await this.room.audio.enter(room)
    if (port === null) return null
    this.joined = room
    this.room.audio.connectPlain(room, audio)
    return { host: this.network.mediaHost, port }
  }

  private async leave(): Promise<boolean> {
    const { joined } = this
    if (joined === null) return false
    this.toJoined({ do: 'close_link', call: this.id })
    this.joined = null
    await this.room?.audio.leave(joined)
    return true
  }

  /** Not awaited: that room may be waiting for this call, a deadlock. */
  private toJoined(command: SessionCommand): void {
    if (this.joined === null) return
    sessionsOf(this.app)
      .command({ ...this.record.one, id: this.joined }, command)
      .catch((error) =>
        this.app.log.warn(
          { error },
          'room not told of a call’s change: its session ended or its node is down; nothing to do if the call is over',
        ),
      )
  }

  // --- the end ---

  private hangUp(reason: 'normal' | 'busy' | 'rejected', by: 'api' | 'agent' | 'system'): void {
    const { row } = this.record
    if (row.status === 'answered') return this.end('completed', 'normal', by)
    if (row.direction === 'outbound') return this.end('failed', 'cancelled', by)
    const refusals = { busy: ['busy', 486], rejected: ['rejected', 603], normal: ['failed', 480] } as const
    const [status, code] = refusals[reason]
    this.incoming?.reject(code)
    this.end(status, reason === 'normal' ? 'cancelled' : reason, by, code)
  }

  /** Reads the sandbox clock: the signal that it was moved may come after the command that followed it. */
  private async readClock(): Promise<void> {
    const { account, environment } = this.record.one
    if (environment !== 'test') return
    const offsetMs = await clockOffsetOf(this.app, account, environment).catch(() => this.record.clockOffsetMs)
    if (offsetMs !== this.record.clockOffsetMs) this.clockMoved(offsetMs)
  }

  /** The account's sandbox clock was moved. */
  clockMoved(offsetMs: number): void {
    this.record.clockOffsetMs = offsetMs
    this.room?.legs.clockMoved(offsetMs)
    this.renew()
    this.timers.clockMoved()
  }

  private end(status: CallRow['status'], cause: string, by: EndOfCall['by'], sipCode: number | null = null): void {
    if (this.isEnding) return
    this.isEnding = true
    // A call never answered cannot be completed.
    const isAnswered = this.record.row.status === 'answered'
    const final =
      status === 'completed' && !isAnswered ? 'failed' : isAnswered && status !== 'failed' ? 'completed' : status
    this.finishing = this.finish({ status: final, cause, by, sipCode }).catch((error) =>
      this.app.log.error(
        { error, call: this.record.id },
        'end of a call failed in part: its node releases the rest; check the error if this repeats',
      ),
    )
  }

  private async finish(ending: EndOfCall): Promise<void> {
    const { room, record } = this
    this.flow?.end()
    this.line?.hangup()
    if (this.renewing) clearInterval(this.renewing)
    this.timers.clearAll()
    room?.endHold(this.id)
    this.toJoined({ do: 'close_link', call: this.id })
    const atMs = record.nowMs
    const closed = await room?.audio.leave(this.id)
    await record.cover(atMs)
    record.end({ ...ending, quality: qualityOf(closed?.quality ?? null), atMs })
    await room?.close('normal')
    await record.settled()
    this.network.sessions.delete(this.id)
    // A call whose end could not be stored stays registered: after this node stops, another ends and charges it.
    if (!record.isLost) await sessionsOf(this.app).end(record.one)
    this.tell('ended', ending)
  }

  /** The node stops: end its calls and charge what was spoken. */
  async shutDown(): Promise<void> {
    this.end(this.record.row.status === 'answered' ? 'completed' : 'failed', 'network_error', 'system')
    await this.finishing
  }
}
