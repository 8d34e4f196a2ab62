// SPDX-License-Identifier: Apache-2.0
// Live call in its node's memory: its leg, room, flow and end. Timers follow the account's clock, so that tests can
// move it.
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import type { Answerer } from '../../../protocols/media/taps.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import type { DialogState } from '../../../protocols/sip/dialog.ts'
import type { CallHandlers } from '../../../protocols/sip/switchboard.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import { isBlocked } from '../calls/blocked-prefixes.ts'
import { endingOf, qualityOf } from '../calls/call.ts'
import { type CallRecord, type EndOfCall, longestCallMs } from '../calls/call-record.ts'
import { CallTimers } from '../calls/call-timers.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { followersOf, tellFollowers } from '../followers.ts'
import { Invite } from '../legs/invite.ts'
import { SipAudio } from '../room/sip-audio.ts'
import type { CallRow } from '../store.ts'
import { simulatedCarrier } from '../trunks/sandbox-carrier.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'
import { apologyFor } from './apology.ts'
import { FlowRunner } from './flow-runner.ts'
import { LiveRoom } from './live-room.ts'
import { type CommandOf, readCommand, type SessionCommand } from './session-command.ts'

const renewEveryMs = 2_000
const goodbyePauseMs = 500

/** SIP call of the other party, in either direction. */
interface Line {
  hangup(): void
  refer(target: string, done: (status: number) => void): void
  /** Trunk that it goes over; null for other ways. */
  readonly trunk: string | null
  readonly dialogState: DialogState | null
}

export class CallSession {
  readonly record: CallRecord
  readonly #network: TelephoneNetwork
  readonly #timers: CallTimers
  #room: LiveRoom | null = null
  #flow: FlowRunner | null = null
  #line: Line | null = null
  #incoming: SipCall | null = null
  #renewing: NodeJS.Timeout | null = null
  #audio: SipAudio | null = null
  #isEnding = false
  /** Whether another node was to have the caller. */
  #isMoving = false
  /** Room of another call or conference that this call joined. */
  #joined: string | null = null
  /** Resolves when the end and everything with it is stored. */
  #finishing: Promise<void> | null = null

  constructor(network: TelephoneNetwork, record: CallRecord) {
    this.#network = network
    this.record = record
    this.#timers = new CallTimers(() => record.nowMs)
    record.endWhenUnpaid(this.#timers, () => this.#end('completed', 'insufficient_funds', 'system'))
  }

  get #app() {
    return this.#network.app
  }

  get one() {
    return this.record.one
  }

  get #id(): string {
    return this.record.row.id
  }

  /** Puts the session into this node's memory; its row was registered with the call. */
  begin(): void {
    this.#network.sessions.set(this.#id, this)
    sessionsOf(this.#app).hold(this.record.one, (command) => this.#obey(this.#id, command))
  }

  // --- outgoing ---

  /** Places the call over the first working route. */
  async place(ways: readonly Way[]): Promise<void> {
    const { row } = this.record
    if (ways.length === 0) return this.#end('failed', 'no_route', 'system')
    const audio = await this.#openRoom()
    if (!audio) return this.#end('failed', 'network_error', 'system')
    this.record.to('started')
    this.#timers.set('ring', (row.plan.ring_timeout ?? 45) * 1_000, () => this.#end('timeout', 'no_answer', 'system'))
    this.#line = new Invite(
      this.#network,
      {
        ...{ from: row.from_number, to: row.to_number, call: this.record.id, audio, ways },
        ...{ payer: this.one, price: this.record.price },
      },
      {
        ...this.#handlers(),
        progress: () => this.#rings(),
        answered: (description, from) => this.#answered(description, from),
        refused: (status) => {
          this.record.trace('sip', { refused: status })
          const { status: end, cause } = endingOf(status)
          this.#end(end, cause, status === 487 ? 'api' : 'callee', status)
        },
        passedOver: (way, status) => this.record.trace('sip', { refused: status, way: way.name }),
      },
    )
  }

  #rings(): void {
    if (this.record.to('ringing')) this.#tell('ringing')
  }

  #answered(description: string, from: Peer): void {
    this.#timers.clear('ring')
    if (!this.#audio?.connect(description, from)) return this.#end('failed', 'network_error', 'system', 488)
    if (!this.record.to('answered', { phase: 'flow' })) return
    this.#whileAnswered()
    const detection = this.record.row.plan.machine_detection ?? 'none'
    const leavesMessage = detection === 'leave_message'
    if (detection !== 'none') this.#room?.audio.detectMachine(this.#id, leavesMessage)
    if (!leavesMessage) void this.#beginFlow(true)
  }

  // --- incoming ---

  /** Handlers of an incoming SIP call. */
  receive(sip: SipCall): CallHandlers {
    this.#incoming = sip
    const isLive = this.record.row.environment === 'live'
    this.#line = {
      hangup: () => sip.hangup(),
      refer: (target, done) => sip.refer(target, done),
      trunk: isLive ? this.#network.trunks.at(sip.source) : null,
      get dialogState() {
        return sip.dialogState
      },
    }
    return this.#handlers()
  }

  /** Rings back to the caller while the flow is fetched. */
  async welcome(): Promise<void> {
    this.record.to('started')
    this.#incoming?.ring()
    this.#rings()
    if (await this.#openRoom()) return this.#beginFlow(false)
    this.#incoming?.reject(503)
    this.#end('failed', 'network_error', 'system')
  }

  #pickUp(): void {
    const sip = this.#incoming
    const audio = this.#audio
    if (!sip || !audio || this.record.isOver) return
    const description = sip.offer === null ? audio.offer(sip.source) : audio.answer(sip.offer, sip.source)
    if (description === null) {
      sip.reject(488)
      return this.#end('failed', 'network_error', 'system', 488)
    }
    sip.answer(description)
    this.record.to('answered', { phase: 'flow' })
    this.#whileAnswered()
  }

  // --- both ---

  async #beginFlow(isAnswered: boolean): Promise<void> {
    try {
      await this.#flow?.begin(isAnswered)
    } catch (error) {
      this.#app.log.error(
        { error, call: this.record.id },
        'flow of a call not begun: the call is ended; check the error',
      )
      if (this.record.row.status !== 'answered') this.#incoming?.reject(500)
      this.#end('completed', 'flow_error', 'system')
    }
  }

  #handlers(): CallHandlers {
    const other = this.record.row.direction === 'inbound' ? ('caller' as const) : ('callee' as const)
    return {
      // SDP answer to our offer: a caller without an offer sends it in the ACK.
      answered: (description, from) => void this.#audio?.connect(description, from),
      // SIP ends a call itself when nobody acknowledges the answer or refreshes the session.
      ended: (by) => {
        if (this.record.row.status !== 'answered') return this.#end('failed', 'cancelled', other)
        if (by === 'remote') this.#end('completed', 'normal', other)
        else this.#end('completed', 'network_error', 'system')
      },
      digit: (digit) => this.#room?.audio.pressed(this.#id, digit),
      offered: (offer, from) => this.#audio?.answer(offer, from) ?? null,
      isHeld: () => this.#audio?.isHeld ?? false,
    }
  }

  async #openRoom(): Promise<SipAudio | null> {
    const network = this.#network
    const { record } = this
    const { row, one } = record
    const room = LiveRoom.open(
      network,
      {
        app: this.#app,
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
        digit: (digit) => this.#flow?.input({ type: 'digit', digit }),
        played: (player) => this.#flow?.played(player),
        speechBegan: (listener) => this.#flow?.speechBegan(listener),
        speechEnded: (listener, reason, samples) => this.#flow?.speechEnded(listener, reason, samples),
        answerer: (who) => this.#foundOut(who),
        silent: () => this.#end('completed', 'media_timeout', 'system'),
        lost: () => this.#end('completed', 'network_error', 'system'),
      },
      (leg, command) => this.#obey(leg, command),
    )
    const port = room && (await room.audio.enter(this.#id))
    if (room && this.#isEnding) {
      await room.close('normal')
      return null
    }
    if (!room || port === null) {
      const refusal = network.media.refusal ?? 'no media process has room'
      this.#app.log.warn(
        { call: record.id, refusal },
        'call ended, no room for its audio: add nodes with the role, or take load off this one',
      )
      record.tell({
        error: { code: 'PROVIDER_UNAVAILABLE', message: `no room for audio: ${refusal}`, action_index: null },
      })
      return null
    }
    this.#room = room
    this.#audio = new SipAudio(network, room.audio, this.#id, one.environment, port)
    this.#flow = new FlowRunner(network, record, room, this.#timers, {
      pickUp: () => this.#pickUp(),
      hangUp: (reason) => this.#hangUp(reason, 'system'),
      refer: (to, timeoutMs, done) =>
        this.#refer(to, timeoutMs, (status) => {
          if (!this.#isEnding) done(status)
        }),
      fail: (cause) => this.#end('completed', cause, 'system'),
    })
    return this.#audio
  }

  #whileAnswered(): void {
    this.#tell('answered')
    this.record.keepDialog(this.#line?.dialogState ?? null)
    this.#timers.set('longest', longestCallMs, () => this.#end('completed', 'max_duration', 'system'))
    this.#renewing = setInterval(() => this.#renew(), renewEveryMs)
    this.#renewing.unref()
    if (this.record.row.record) this.#room?.recordings.startWhole(2)
  }

  #renew(): void {
    const failed = (error: unknown) =>
      this.#app.log.warn(
        { error },
        'hold for the price of a call not extended: tried again before it runs out; check the database if this repeats',
      )
    this.record.renew().catch(failed)
    this.#room?.legs.renew()
    this.record.flush()
  }

  /** What is left as a message begins when a machine records; a person hears it at once. */
  #foundOut(who: Answerer): void {
    if (this.record.isOver) return
    const { machine_detection: wanted } = this.record.row.plan
    if (who !== 'recording') this.record.tell({ machine: who === 'machine' })
    this.record.flush()
    if (who === 'machine' && wanted === 'hangup') this.#hangUp('normal', 'system')
    if (who !== 'machine' && wanted === 'leave_message') void this.#beginFlow(true)
  }

  #tell(kind: 'ringing' | 'answered' | 'ended', ending: Partial<EndOfCall> = {}): void {
    const { row, one, nowMs } = this.record
    tellFollowers(this.#app, {
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

  /** Runs a command on the call or on a leg of its room. */
  async #obey(member: string, given: unknown): Promise<unknown> {
    const command = readCommand(given)
    if (!command) return null
    if (member !== this.#id) return this.#obeyForLeg(member, command)
    switch (command.do) {
      case 'hangup':
        await this.#readClock()
        this.#hangUp(command.reason ?? 'normal', command.by ?? 'api')
        await this.#finishing
        return true
      case 'mark':
        return this.#mark(this.record, command)
      case 'resume':
        this.#flow?.resume(command.flow, followersOf(this.#app).find(({ name }) => name === command.by) ?? null)
        return this.#flow !== null
      case 'join':
        return this.#join(command)
      case 'leave':
        return this.#leave()
      case 'edges':
        if (this.#joined !== null) this.#toJoined({ ...command, do: 'link_edges', call: this.#id })
        return this.#room?.obey(member, command) ?? false
      case 'play':
        return this.record.row.status === 'answered'
          ? (this.#room?.obey(member, command) ?? 'not active')
          : 'not active'
      case 'press':
        return simulatedCarrier.of(this.#app)?.press(this.record.id, command.digits) ?? false
      case 'say':
        return this.#saySandbox(command.text)
      case 'hang_up_phone':
        return simulatedCarrier.of(this.#app)?.hangup(this.record.id) ?? false
      case 'answer_phone':
        return simulatedCarrier.of(this.#app)?.answer(this.record.id) ?? false
      default:
        return this.#room?.obey(member, command) ?? null
    }
  }

  async #obeyForLeg(member: string, command: SessionCommand): Promise<unknown> {
    const leg = this.#room?.legs.get(member)
    if (!leg) return null
    switch (command.do) {
      case 'hangup':
        leg.end('completed', leg.isAnswered ? 'normal' : 'cancelled', command.by ?? 'api')
        await leg.finishing
        return true
      case 'mark':
        return this.#mark(leg.record, command)
      case 'press':
        return simulatedCarrier.of(this.#app)?.press(leg.record.id, command.digits) ?? false
      case 'hang_up_phone':
        return simulatedCarrier.of(this.#app)?.hangup(leg.record.id) ?? false
      case 'answer_phone':
        return simulatedCarrier.of(this.#app)?.answer(leg.record.id) ?? false
      default:
        return this.#room?.obey(member, command) ?? null
    }
  }

  async #mark(record: CallRecord, { do: _, ...change }: CommandOf<'mark'>): Promise<boolean> {
    if (record.isOver) return false
    record.change(change)
    await record.settled()
    return true
  }

  async #saySandbox(text: string): Promise<boolean> {
    const samples = await this.#network.speaker
      .speak({ text, language: 'en-US', account: this.one.account })
      .catch(() => null)
    if (samples) simulatedCarrier.of(this.#app)?.say(this.record.id, samples)
    return this.#flow?.said(text) ?? false
  }

  // --- another room ---

  /** Joins the link opened in another room; returns this side's audio address. */
  async #join({ room, audio }: CommandOf<'join'>): Promise<{ host: string; port: number } | null> {
    if (!this.#room || this.#joined !== null || this.record.row.status !== 'answered') return null
    const port = await this.#room.audio.enter(room)
    if (port === null) return null
    this.#joined = room
    this.#room.audio.connectPlain(room, audio)
    return { host: this.#network.mediaHost, port }
  }

  async #leave(): Promise<boolean> {
    const joined = this.#joined
    if (joined === null) return false
    this.#toJoined({ do: 'close_link', call: this.#id })
    this.#joined = null
    await this.#room?.audio.leave(joined)
    return true
  }

  /** Not awaited: that room may be waiting for this call, a deadlock. */
  #toJoined(command: SessionCommand): void {
    if (this.#joined === null) return
    sessionsOf(this.#app)
      .command({ ...this.record.one, id: this.#joined }, command)
      .catch((error) =>
        this.#app.log.warn(
          { error },
          'room not notified of a call’s change: its session ended or its node is down; nothing to do if the call is over',
        ),
      )
  }

  // --- the end ---

  #hangUp(reason: 'normal' | 'busy' | 'rejected', by: 'api' | 'agent' | 'system'): void {
    const { row } = this.record
    if (row.status === 'answered') return this.#end('completed', 'normal', by)
    if (row.direction === 'outbound') return this.#end('failed', 'cancelled', by)
    const refusals = { busy: ['busy', 486], rejected: ['rejected', 603], normal: ['failed', 480] } as const
    const [status, code] = refusals[reason]
    this.#incoming?.reject(code)
    this.#end(status, reason === 'normal' ? 'cancelled' : reason, by, code)
  }

  /** Reads the sandbox clock: the signal that it was moved may come after the command that followed it. */
  async #readClock(): Promise<void> {
    const { account, environment } = this.record.one
    if (environment !== 'test') return
    const offsetMs = await clockOffsetOf(this.#app, account, environment).catch(() => this.record.clockOffsetMs)
    if (offsetMs !== this.record.clockOffsetMs) this.clockMoved(offsetMs)
  }

  /** The account's sandbox clock was moved. */
  clockMoved(offsetMs: number): void {
    this.record.clockOffsetMs = offsetMs
    this.#room?.legs.clockMoved(offsetMs)
    this.#renew()
    this.#timers.clockMoved()
  }

  #end(status: CallRow['status'], cause: string, by: EndOfCall['by'], sipCode: number | null = null): void {
    if (this.#isEnding) return
    this.#isEnding = true
    // A call never answered cannot be completed.
    const isAnswered = this.record.row.status === 'answered'
    const final =
      status === 'completed' && !isAnswered ? 'failed' : isAnswered && status !== 'failed' ? 'completed' : status
    this.#finishing = this.#finish({ status: final, cause, by, sipCode }).catch((error) =>
      this.#app.log.error(
        { error, call: this.record.id },
        'end of a call failed in part: its node releases the rest; check the error if this repeats',
      ),
    )
  }

  async #finish(ending: EndOfCall): Promise<void> {
    const room = this.#room
    const { record } = this
    room?.legs.close()
    this.#flow?.end()
    this.#line?.hangup()
    if (this.#renewing) clearInterval(this.#renewing)
    this.#timers.clearAll()
    room?.endHold(this.#id)
    this.#toJoined({ do: 'close_link', call: this.#id })
    const atMs = record.nowMs
    const closed = await room?.audio.leave(this.#id)
    await record.cover(atMs)
    record.end({ ...ending, quality: qualityOf(closed?.quality ?? null), atMs })
    await room?.close('normal')
    await record.settled()
    this.#network.sessions.delete(this.#id)
    // A call whose end could not be stored stays registered: after this node stops, another ends and charges it.
    if (!record.isLost) await sessionsOf(this.#app).end(record.one)
    this.#tell('ended', ending)
  }

  // --- transfers by the network ---

  /** Asks the network to connect the other party with a number; `done` hears once: null where it may not, otherwise how it went. */
  #refer(to: string, timeoutMs: number, done: (status: number | null) => void): void {
    const line = this.#line
    const isAllowed = line !== null && this.record.row.status === 'answered' && !isBlocked(this.#app, to)
    const uri = isAllowed ? this.#network.trunks.transferUri(line.trunk, to) : null
    if (!line || uri === null) return done(null)
    let isDone = false
    const tell = (status: number) => {
      // Whoever is connected after all is no longer in this call.
      if (isDone) return status < 300 ? this.#end('completed', 'normal', 'system') : undefined
      isDone = true
      this.#timers.clear('refer')
      this.record.trace('sip', { transfer: to, status })
      done(status)
    }
    this.#timers.set('refer', timeoutMs, () => tell(408))
    line.refer(uri, tell)
  }

  /** Whether the network would take a caller who waits to the same number again, which another node answers. */
  get mayMove(): boolean {
    const { row } = this.record
    const isCaller = row.status === 'answered' && row.direction === 'inbound' && !this.#isEnding && !this.#isMoving
    return isCaller && this.#network.trunks.transferUri(this.#line?.trunk ?? null, row.to_number) !== null
  }

  /**
   * Moves a caller who waits for another area alone to another node, because this one stops: once, and back if that fails. The
   * network has a time for it.
   */
  async move(withinMs: number): Promise<void> {
    const facts = this.#flow?.facts
    if (!facts || !this.mayMove) return
    for (const follower of followersOf(this.#app)) {
      const takeBack = await follower.letGo?.(this.#app, facts)
      if (!takeBack) continue
      this.#isMoving = true
      const status = await new Promise<number | null>((done) => this.#refer(facts.to, withinMs, done))
      // A caller who hung up meanwhile waits nowhere.
      if (this.#isEnding) return
      if (status !== null && status < 300) return this.#end('completed', 'normal', 'system')
      await takeBack()
      if (!this.#isEnding) return
      // The end was told before the place was taken back, and is told again for it.
      await this.#finishing
      return this.#tell('ended')
    }
  }

  /** Apologise, for the node stops. */
  async sayGoodbye(): Promise<void> {
    const { row, one } = this.record
    if (row.status !== 'answered' || this.#isEnding) return
    const apology = apologyFor(row.direction === 'inbound' ? row.to_number : row.from_number)
    const sound = await this.#network.speaker.speak({ ...apology, account: one.account })
    this.#room?.audio.play('goodbye', sound)
    await sleep(sound.length / (sampleRate / 1_000) + goodbyePauseMs)
  }

  /** The node stops: end its calls and charge what was spoken. */
  async shutDown(): Promise<void> {
    this.#end(this.record.row.status === 'answered' ? 'completed' : 'failed', 'network_error', 'system')
    await this.#finishing
  }
}
