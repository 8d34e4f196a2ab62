// SPDX-License-Identifier: Apache-2.0
// A call in the memory of its node: signalling, media and flow held together. What happens is written down and given to the
// flow; what the flow wants is done here. Timers run by the account's clock, so that a test may move it.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import { one as only } from '../../../platform/db.ts'
import { sessionsOf } from '../../../platform/sessions.ts'
import { ringback, tone } from '../../../protocols/audio/tones.ts'
import { agreedAudio, answerAudio, offerAudio } from '../../../protocols/sdp/session-description.ts'
import type { CallHandlers, SipCall } from '../../../protocols/sip/call.ts'
import { ask, type Reply } from '../ask.ts'
import type { ActionOf } from '../flow/action.ts'
import { type DialStatus, type Effect, type FlowInput, type FlowState, newFlow, step } from '../flow/flow.ts'
import type { MediaEvent } from '../media/command.ts'
import type { MediaRoom } from '../media/pool.ts'
import { fetchSound } from '../media/sounds.ts'
import { simulatedCarrier } from '../sandbox/carrier.ts'
import { Unspeakable } from '../speech/speak.ts'
import { conversationOf, endingOf } from './call.ts'
import { minutePriceOf } from './price.ts'
import { CallRecord, holdSeconds } from './record.ts'
import { RecordingInProgress } from './recording.ts'
import { callSessions } from './session-kind.ts'
import { type CallQuality, type CallRow, holdFor, insertCall } from './store.ts'
import type { TelephoneNetwork, Way } from './telephone-network.ts'

const longestCallMs = 4 * 3_600_000
const renewEveryMs = 2_000
const apologyText = 'We are sorry. This service is not available at the moment. Please try again later.'

type Command =
  | { do: 'hangup'; reason?: 'normal' | 'busy' | 'rejected' }
  | { do: 'play'; play: PlayCommand }
  | { do: 'stop_play' }
  | { do: 'press'; digits: string }
  | { do: 'say'; text: string }
  | { do: 'hang_up_phone' }
  | { do: 'answer_phone' }
  | { do: 'heard' }

export interface PlayCommand {
  id: string
  text?: string
  language?: string
  voice?: string
  url?: string
  loop: number
  interrupt: boolean
  target: 'all' | 'caller'
}

interface Timer {
  dueMs: number
  run(): void
  handle: NodeJS.Timeout
}

/** Another leg that the flow has dialled. */
interface Other {
  record: CallRecord
  sip: SipCall | null
  leg: string
  isAnswered: boolean
  isOver: boolean
}

export class CallSession {
  readonly record: CallRecord
  private readonly network: TelephoneNetwork
  private room: MediaRoom | null = null
  private sip: SipCall | null = null
  private flow: FlowState = newFlow
  private readonly timers = new Map<string, Timer>()
  private readonly recordings = new Map<string, RecordingInProgress>()
  private readonly others = new Map<number, Other[]>()
  private dialAction: { id: number; action: ActionOf<'connect'>; startedMs: number } | null = null
  private readonly waitingPlays: PlayCommand[] = []
  private playing: string | null = null
  private renewing: NodeJS.Timeout | null = null
  private mediaPort = 0
  private version = 0
  private isEnding = false
  /** Set when the call has begun to end; resolves when all of it is stored. */
  private finishing: Promise<void> | null = null

  constructor(network: TelephoneNetwork, record: CallRecord) {
    this.network = network
    this.record = record
    record.onUnpaid = (seconds) => {
      this.setTimer('unpaid', Math.max(0, seconds * 1_000), () => this.end('completed', 'insufficient_funds', 'system'))
    }
  }

  private get app() {
    return this.network.app
  }

  /** Takes its place among the sessions of this node. */
  async begin(): Promise<void> {
    this.network.sessions.set(this.record.row.id, this)
    await sessionsOf(this.app).begin(callSessions, this.record.one, (command) => this.obey(command))
  }

  // --- outgoing ---

  /** Places the call over the first way that works. */
  async place(ways: readonly Way[]): Promise<void> {
    const { row } = this.record
    const [way, ...rest] = ways
    if (!way) return this.end('failed', 'no_route', 'system')
    if (!(await this.openRoom())) return this.end('failed', 'network_error', 'system')
    const description = offerAudio({ host: this.network.host, port: this.mediaPort, version: ++this.version })
    this.record.to('started')
    const ringSeconds = row.plan.ring_timeout ?? 45
    this.setTimer('ring', ringSeconds * 1_000, () => {
      this.sip?.cancel()
      this.end('timeout', 'no_answer', 'system')
    })
    let hasRung = false
    this.sip = this.network.invite(
      {
        uri: way.uri,
        peer: way.peer,
        from: `<sip:${row.from_number}@${this.network.host}>`,
        description,
        headers: [['X-Pamoja-Call', this.record.id]],
      },
      {
        ...this.commonHandlers(),
        progress: () => {
          hasRung = true
          this.record.to('ringing')
        },
        answered: (remote) => this.answered(remote),
        refused: (status) => {
          this.record.trace('sip', { refused: status, way: way.name })
          // A trunk that is down is passed over; a person who refused is not called again.
          if (!hasRung && (status === 503 || status === 408) && rest.length > 0) return void this.place(rest)
          const { status: end, cause } = endingOf(status)
          this.end(end, cause, status === 487 ? 'api' : 'callee', status)
        },
      },
    )
    if (!this.sip) this.end('failed', 'network_error', 'system')
  }

  // --- incoming ---

  /** What the caller hears of: ringing while the flow is fetched. */
  receive(sip: SipCall): CallHandlers {
    this.sip = sip
    return {
      ...this.commonHandlers(),
      refused: () => undefined,
    }
  }

  async welcome(): Promise<void> {
    this.record.to('started')
    this.sip?.ring()
    this.record.to('ringing')
    if (!(await this.openRoom())) {
      this.sip?.reject(503)
      return this.end('failed', 'network_error', 'system')
    }
    await this.beginFlow(false)
  }

  private pickUp(): void {
    const { sip } = this
    if (!sip || this.record.isOver) return
    const own = { host: this.network.host, port: this.mediaPort, version: ++this.version }
    const description = sip.offer === null ? offerAudio(own) : answerAudio(sip.offer, own)
    if (description === null) {
      sip.reject(488)
      return this.end('failed', 'network_error', 'system', 488)
    }
    if (sip.offer !== null) this.connect('a', sip.offer)
    sip.answer(description)
    this.record.to('answered', { phase: 'flow' })
    this.whileAnswered()
  }

  // --- both ---

  private commonHandlers(): CallHandlers {
    return {
      ended: (by) => {
        const isInbound = this.record.row.direction === 'inbound'
        if (this.record.row.status !== 'answered')
          return this.end('failed', 'cancelled', isInbound ? 'caller' : 'callee')
        if (by === 'remote') this.end('completed', 'normal', isInbound ? 'caller' : 'callee')
        else if (by === 'lost') this.end('completed', 'network_error', 'system')
      },
      digit: (digit) => this.room?.tell({ do: 'pressed', leg: this.room.name('a'), digit }),
      offered: (offer) => {
        this.connect('a', offer)
        return answerAudio(offer, { host: this.network.host, port: this.mediaPort, version: ++this.version })
      },
    }
  }

  private async openRoom(): Promise<boolean> {
    if (this.room) return true
    const room = this.network.media.room(this.record.row.id, {
      happened: (event) => this.happened(event),
      lost: () => this.end('completed', 'network_error', 'system'),
    })
    if (!room) return false
    this.room = room
    try {
      this.mediaPort = await room.open('a', this.network.host)
      return true
    } catch (error) {
      this.app.log.warn({ error }, 'a call was refused: no room for its audio')
      return false
    }
  }

  private connect(leg: string, description: string): void {
    const remote = agreedAudio(description)
    if (remote && this.room) this.room.tell({ do: 'connect', leg: this.room.name(leg), remote })
  }

  private answered(description: string): void {
    this.clearTimer('ring')
    if (agreedAudio(description) === null) {
      this.sip?.hangup('no audio in common')
      return this.end('failed', 'network_error', 'system', 488)
    }
    this.connect('a', description)
    if (!this.record.to('answered', { phase: 'flow' })) return
    this.whileAnswered()
    const detection = this.record.row.plan.machine_detection ?? 'none'
    if (detection !== 'none') this.room?.tell({ do: 'detect', leg: this.room.name('a') })
    void this.beginFlow(true)
  }

  private whileAnswered(): void {
    this.setTimer('longest', longestCallMs, () => this.end('completed', 'max_duration', 'system'))
    this.renewing = setInterval(() => this.renew(), renewEveryMs)
    this.renewing.unref()
    if (this.record.row.record)
      this.startRecording('call', 2, { silenceMs: 0, maxMs: longestCallMs, endKeys: '' }, null)
  }

  private renew(): void {
    const all = [this.record, ...[...this.others.values()].flat().map(({ record }) => record)]
    for (const record of all)
      record.renew().catch((error) => this.app.log.warn({ error }, 'the hold of a call could not be extended'))
    this.record.flush()
  }

  // --- the flow ---

  private async beginFlow(isAnswered: boolean): Promise<void> {
    const { plan } = this.record.row
    if (plan.actions) return this.input({ type: 'begin', actions: plan.actions, isAnswered })
    const body = { ...this.about(), custom_data: JSON.parse(this.record.row.custom_data), region: 'af' }
    const questions = [plan.answer_url, plan.fallback_url].filter((url) => url !== undefined)
    const problems: string[] = []
    for (const [i, url] of questions.entries()) {
      const method = plan.answer_method ?? 'POST'
      const asking = { name: 'voice.answer', url, method, body, isRetried: i === 0 }
      const reply = await ask(this.app, this.record.one, { ...asking, clockOffsetMs: this.record.clockOffsetMs })
      if (this.record.isOver) return
      if (reply.kind === 'list') return this.input({ type: 'begin', actions: reply.actions, isAnswered })
      problems.push(reply.kind === 'failed' ? reply.reason : 'its answer is not a JSON array of actions')
    }
    await this.apologise(problems.join('; '), isAnswered)
  }

  /** No flow could be had: the caller is told so, if there is a voice, and the call ends. */
  private async apologise(problem: string, isAnswered: boolean): Promise<void> {
    this.reportError('FLOW_UNAVAILABLE', `no flow could be fetched: ${problem}`, null)
    if (!isAnswered) this.pickUp()
    const sound = await this.network.speaker.speak({ text: apologyText, language: 'en-US' }).catch(() => null)
    const { room } = this
    if (!sound || !room || this.record.isOver) return this.end('completed', 'flow_error', 'system')
    this.setTimer('apology', (sound.length / 8_000) * 1_000 + 500, () => this.end('completed', 'flow_error', 'system'))
    room.tell({ do: 'play', room: room.id, player: room.name('apology'), samples: sound, loop: 1, level: 1, to: null })
  }

  private about() {
    const { row } = this.record
    return {
      from: row.from_number,
      to: row.to_number,
      conversation_uuid: conversationOf(row),
      call_id: this.record.id,
      uuid: this.record.id,
      direction: row.direction,
      timestamp: momentText(new Date(this.record.nowMs)),
    }
  }

  /** Everything that happens goes through here, and into the trace, from which the flow can be played again. */
  private input(input: FlowInput): void {
    if (this.record.isOver && input.type !== 'hangup') return
    this.record.trace('flow', input)
    const { state, effects } = step(this.flow, input)
    this.flow = state
    for (const effect of effects) this.carryOut(effect)
  }

  private carryOut(effect: Effect): void {
    switch (effect.do) {
      case 'answer':
        return this.pickUp()
      case 'talk':
        return void this.talk(effect.id, effect.action)
      case 'stream':
        return void this.stream(effect.id, effect.action)
      case 'beep':
        return this.playSound(effect.id, tone([1_000], 400), 1, 0)
      case 'stop':
        return this.room?.tell({ do: 'stop', room: this.room.id, player: this.room.name(`play ${effect.id}`) })
      case 'timer':
        return this.setTimer(`flow ${effect.id}`, effect.ms, () => this.input({ type: 'timer', id: effect.id }))
      case 'cancel_timer':
        return this.clearTimer(`flow ${effect.id}`)
      case 'listen':
        return this.listen(effect.id, effect.action)
      case 'stop_listening':
        return this.room?.tell({ do: 'stop_listening', listener: this.room.name(`listen ${effect.id}`) })
      case 'ask':
        return void this.askCustomer(effect)
      case 'dial':
        return void this.dial(effect.id, effect.action)
      case 'record':
        return this.recordAction(effect.id, effect.action)
      case 'error':
        return this.reportError(effect.code, effect.message, effect.index)
      case 'hangup':
        return this.hangUp(effect.reason, 'system')
    }
  }

  private reportError(code: string, message: string, index: number | null): void {
    this.record.tell({ error: { code, message, action_index: index } })
    this.record.flush()
  }

  private async talk(id: number, action: ActionOf<'talk'>): Promise<void> {
    try {
      const { text, language, style } = action
      this.playSound(id, await this.network.speaker.speak({ text, language, style }), action.loop, action.level)
    } catch (error) {
      if (!(error instanceof Unspeakable)) this.app.log.warn({ error }, 'a text could not be spoken')
      const [code, message] =
        error instanceof Unspeakable ? [error.code, error.details ?? error.message] : ['INTERNAL_ERROR', 'it failed']
      this.input({ type: 'unplayable', id, code, message })
    }
  }

  private async stream(id: number, action: ActionOf<'stream'>): Promise<void> {
    const problems: string[] = []
    for (const url of action.streamUrl) {
      const sound = await fetchSound(this.app, this.record.one, url)
      if (typeof sound !== 'string') return this.playSound(id, sound, action.loop, action.level)
      problems.push(sound)
    }
    this.input({ type: 'unplayable', id, code: 'STREAM_UNAVAILABLE', message: problems.join('; ') })
  }

  /** Level -1 is silence and 1 twice as loud. */
  private playSound(id: number, samples: Int16Array, loop: number, level: number): void {
    const { room } = this
    if (!room || this.record.isOver) return
    room.tell({ do: 'play', room: room.id, player: room.name(`play ${id}`), samples, loop, level: 1 + level, to: null })
  }

  private listen(id: number, { speech }: ActionOf<'input'>): void {
    const { room } = this
    if (!room || !speech) return
    room.tell({
      do: 'listen',
      room: room.id,
      listener: room.name(`listen ${id}`),
      leg: room.name('a'),
      options: {
        endOnSilenceMs: speech.endOnSilence * 1_000,
        startTimeoutMs: speech.startTimeout * 1_000,
        maxMs: speech.maxDuration * 1_000,
      },
    })
  }

  /** No recogniser is installed here: what was said is passed on as an error, never as a guess. */
  private heardSpeech(id: number, reason: string): void {
    const error = reason === 'start_timeout' ? {} : { error: 'language_unavailable' }
    this.input({ type: 'speech', id, results: [], reason, ...error })
  }

  private async askCustomer({ id, urls, body, replaces }: Extract<Effect, { do: 'ask' }>): Promise<void> {
    const { row } = this.record
    const url = urls?.[0] ?? row.event_url
    let reply: Reply = { kind: 'nothing' }
    if (url) {
      const method = row.plan.event_method ?? 'POST'
      const whole = { ...this.about(), ...body }
      const asking = { name: 'voice.input', url, method, body: whole, isRetried: true }
      reply = await ask(this.app, this.record.one, { ...asking, clockOffsetMs: this.record.clockOffsetMs })
      if (reply.kind === 'failed') this.reportError('CALLBACK_FAILED', `${reply.reason}; the flow goes on`, null)
    }
    if (replaces) this.input({ type: 'replied', id, actions: reply.kind === 'list' ? reply.actions : null })
  }

  // --- dialling others ---

  private async dial(id: number, action: ActionOf<'connect'>): Promise<void> {
    const { room } = this
    if (!room) return
    this.dialAction = { id, action, startedMs: this.record.nowMs }
    this.record.change({ phase: 'connected' })
    const tone = action.ringbackTone ? await fetchSound(this.app, this.record.one, action.ringbackTone) : ringback()
    const samples = typeof tone === 'string' ? ringback() : tone
    const to = [room.name('a')]
    room.tell({ do: 'play', room: room.id, player: room.name('ringback'), samples, loop: 0, level: 1, to })
    this.setTimer('dial', action.timeout * 1_000, () => this.dialEnded(id, 'timeout', 'no_answer'))
    const others: Other[] = []
    this.others.set(id, others)
    let problem: { status: DialStatus; reason: string } = { status: 'failed', reason: 'no_route' }
    for (const [i, endpoint] of action.endpoint.entries()) {
      const number = endpoint.type === 'phone' ? endpoint.number : null
      const dialled = number === null ? 'no_route' : await this.dialOne(id, i, number, action)
      if (typeof dialled === 'string') problem = { status: 'failed', reason: dialled }
      else others.push(dialled)
    }
    if (others.length === 0) this.dialEnded(id, problem.status, problem.reason)
  }

  /** Rings one number; a word that says why it cannot be rung. */
  private async dialOne(id: number, i: number, number: string, action: ActionOf<'connect'>): Promise<Other | string> {
    const { row } = this.record
    const [way] = this.network.waysTo(row.environment, number)
    if (!way || !this.room) return 'no_route'
    const from = action.from ?? (row.direction === 'outbound' ? row.from_number : row.to_number)
    const child = await this.childRow(number, from)
    if (!child) return 'insufficient_funds'
    const record = new CallRecord(this.app, child, this.record.clockOffsetMs)
    const leg = `b${id}.${i}`
    const other: Other = { record, sip: null, leg, isAnswered: false, isOver: false }
    record.onUnpaid = (seconds) =>
      this.setTimer(`unpaid ${leg}`, Math.max(0, seconds * 1_000), () =>
        this.otherEnded(id, other, 'completed', 'insufficient_funds'),
      )
    const port = await this.room.open(leg, this.network.host).catch(() => null)
    if (port === null) return 'network_error'
    record.to('started')
    other.sip = this.network.invite(
      {
        uri: way.uri,
        peer: way.peer,
        from: `<sip:${from}@${this.network.host}>`,
        description: offerAudio({ host: this.network.host, port, version: 1 }),
        headers: [['X-Pamoja-Call', idOf('call', child.id)]],
      },
      {
        progress: () => void record.to('ringing'),
        answered: (description) => this.otherAnswered(id, other, description),
        refused: (status) => {
          const ending = endingOf(status)
          this.otherEnded(id, other, ending.status, ending.cause, status)
        },
        ended: (by) => this.otherEnded(id, other, 'completed', by === 'lost' ? 'network_error' : 'normal'),
        digit: (digit) => this.room?.tell({ do: 'pressed', leg: this.room.name(leg), digit }),
      },
    )
    return other
  }

  private async childRow(number: string, from: string): Promise<CallRow | null> {
    const { row, one, nowMs } = this.record
    const id = newUuid(this.app.clock.nowMs())
    const minute = minutePriceOf(this.app, row.account_id, row.currency, number)
    return this.app.db.tx(one, async (tx) => {
      const child = { ...one, id }
      if (!(await holdFor(tx, child, row.currency, (minute * BigInt(holdSeconds)) / 60n))) return null
      return only(
        tx.query(insertCall, {
          ...child,
          conversation: row.conversation,
          parent: row.id,
          direction: 'outbound',
          from,
          to: number,
          plan: '{}',
          custom: row.custom_data,
          eventUrl: null,
          record: false,
          startedAt: new Date(nowMs),
          minuteMicros: minute,
          currency: row.currency,
          node: this.app.nodeId,
        }),
      )
    })
  }

  /** The first who answers is bridged; the others stop ringing. */
  private otherAnswered(id: number, other: Other, description: string): void {
    if (this.dialAction?.id !== id || other.isOver) return other.sip?.hangup()
    other.isAnswered = true
    for (const each of this.others.get(id) ?? []) if (each !== other) this.otherEnded(id, each, 'failed', 'cancelled')
    this.clearTimer('dial')
    this.stopRingback()
    this.connect(other.leg, description)
    other.record.to('answered', { phase: 'connected' })
    const { action } = this.dialAction
    this.dialAction = { ...this.dialAction, startedMs: this.record.nowMs }
    this.setTimer('limit', action.limit * 1_000, () => this.otherEnded(id, other, 'completed', 'max_duration'))
    if (action.record)
      this.startRecording(`connect ${id}`, 2, { silenceMs: 0, maxMs: longestCallMs, endKeys: '' }, null)
    this.input({ type: 'dialled', id, status: 'answered', to: other.record.row.to_number, duration: 0, reason: null })
  }

  private stopRingback(): void {
    if (this.room) this.room.tell({ do: 'stop', room: this.room.id, player: this.room.name('ringback') })
  }

  private otherEnded(
    id: number,
    other: Other,
    status: CallRow['status'],
    cause: string,
    sipCode: number | null = null,
  ): void {
    if (other.isOver) return
    other.isOver = true
    other.sip?.hangup()
    void this.room?.closeLeg(other.leg)
    const isAnswered = other.record.row.status === 'answered'
    other.record.end({
      status: isAnswered ? 'completed' : status === 'completed' ? 'failed' : status,
      cause,
      by: 'callee',
      sipCode,
    })
    const others = this.others.get(id) ?? []
    if (this.dialAction?.id !== id || others.some(({ isOver }) => !isOver)) return
    const first = other.isAnswered || others.length === 1
    const told: DialStatus = other.isAnswered
      ? 'completed'
      : status === 'busy' || status === 'timeout' || status === 'rejected'
        ? status
        : 'failed'
    if (first || !others.some(({ isAnswered: was }) => was)) this.dialEnded(id, told, cause, other.record.row.to_number)
  }

  private dialEnded(id: number, status: DialStatus, reason: string, to: string | null = null): void {
    const { dialAction } = this
    if (dialAction?.id !== id) return
    this.dialAction = null
    this.clearTimer('dial')
    this.clearTimer('limit')
    this.stopRingback()
    for (const other of this.others.get(id) ?? []) this.otherEnded(id, other, 'timeout', 'no_answer')
    const duration = status === 'completed' ? Math.ceil((this.record.nowMs - dialAction.startedMs) / 1_000) : 0
    this.record.change({ phase: 'flow' })
    this.input({ type: 'dialled', id, status, to, duration, reason })
  }

  // --- recording ---

  private recordAction(id: number, action: ActionOf<'record'>): void {
    const maxMs = (action.timeOut ?? longestCallMs / 1_000) * 1_000
    const options = { silenceMs: (action.endOnSilence ?? 0) * 1_000, maxMs, endKeys: action.endOnKey ?? '' }
    this.startRecording(`flow ${id}`, action.channels, options, (recording) => {
      const url = action.eventUrl?.[0]
      if (url) void this.tellOfRecording(url, recording)
      this.input({ type: 'recorded', id })
    })
  }

  private startRecording(
    name: string,
    channels: number,
    options: { silenceMs: number; maxMs: number; endKeys: string },
    done: ((recording: RecordingInProgress) => void) | null,
  ): void {
    const { room } = this
    if (!room) return
    const recording = new RecordingInProgress(this.app, this.record.one, channels, this.record.nowMs, done)
    this.recordings.set(room.name(name), recording)
    this.record.change({ recordings: [...this.record.row.recordings, recording.id] })
    const a = [room.name('a')]
    room.tell({
      do: 'record',
      room: room.id,
      recorder: room.name(name),
      channels: channels === 2 ? [{ only: a }, { except: a }] : [{}],
      options,
    })
  }

  private async tellOfRecording(url: string, recording: RecordingInProgress): Promise<void> {
    const told = await recording.stored()
    if (!told) return
    const body = { ...this.about(), ...told }
    const asking = { name: 'voice.recording', url, method: 'POST' as const, body, isRetried: true }
    await ask(this.app, this.record.one, { ...asking, clockOffsetMs: this.record.clockOffsetMs })
  }

  // --- what media tells ---

  private happened(event: MediaEvent): void {
    switch (event.event) {
      case 'digit':
        if (event.leg === this.room?.name('a')) this.input({ type: 'digit', digit: event.digit })
        return
      case 'played':
        return this.soundEnded(event.player.slice(event.player.indexOf(':') + 1))
      case 'silent':
        return this.end('completed', 'media_timeout', 'system')
      case 'speech_began':
        return this.input({ type: 'speech_began', id: numberIn(event.listener) })
      case 'speech_ended':
        return this.heardSpeech(numberIn(event.listener), event.reason)
      case 'recorded':
        return this.recordings.get(event.recorder)?.add(event.channels)
      case 'recording_ended':
        this.recordings.get(event.recorder)?.end(event.durationMs, this.record.nowMs)
        return
      case 'machine':
        return this.foundMachine(event.isMachine)
    }
  }

  private soundEnded(player: string): void {
    if (player.startsWith('play ')) this.input({ type: 'played', id: numberIn(player) })
    if (player !== this.playing) return
    this.playing = null
    const next = this.waitingPlays.shift()
    if (next) void this.play(next)
  }

  private foundMachine(isMachine: boolean): void {
    this.record.tell({ machine: isMachine })
    this.record.flush()
    if (isMachine && this.record.row.plan.machine_detection === 'hangup') this.hangUp('normal', 'system')
  }

  // --- commands ---

  /** What the API asks of a call, one after the other. */
  private async obey(given: unknown): Promise<unknown> {
    const command = given as Command
    switch (command.do) {
      case 'hangup':
        this.hangUp(command.reason ?? 'normal', 'api')
        await this.finishing
        return true
      case 'play':
        return this.playCommand(command.play)
      case 'stop_play':
        return this.stopPlay()
      case 'press':
        return simulatedCarrier.of(this.app)?.press(this.record.id, command.digits) ?? false
      case 'say':
        return this.saySandbox(command.text)
      case 'hang_up_phone':
        return simulatedCarrier.of(this.app)?.hangup(this.record.id) ?? false
      case 'answer_phone':
        return simulatedCarrier.of(this.app)?.answer(this.record.id) ?? false
      case 'heard':
        return simulatedCarrier.of(this.app)?.heard(this.record.id)?.digits ?? null
    }
  }

  private async playCommand(play: PlayCommand): Promise<string | true> {
    if (this.record.row.status !== 'answered' || !this.room) return 'not active'
    if (this.playing !== null && !play.interrupt) {
      if (this.waitingPlays.length >= 20) return 'too many prompts wait'
      this.waitingPlays.push(play)
      return true
    }
    await this.stopPlay()
    return this.play(play)
  }

  private async play(play: PlayCommand): Promise<string | true> {
    const { room } = this
    const { text, language = 'en-US', voice, url = '' } = play
    const sound =
      text === undefined
        ? await fetchSound(this.app, this.record.one, url)
        : await this.network.speaker
            .speak({ text, language, ...(voice === undefined ? {} : { voice }) })
            .catch((error) => (error instanceof Unspeakable ? (error.details ?? error.message) : 'it failed'))
    if (typeof sound === 'string') return sound
    if (!room || this.record.isOver) return 'not active'
    this.playing = play.id
    const to = play.target === 'all' ? null : [room.name('a')]
    room.tell({ do: 'play', room: room.id, player: room.name(play.id), samples: sound, loop: play.loop, level: 1, to })
    return true
  }

  private async stopPlay(): Promise<boolean> {
    this.waitingPlays.length = 0
    if (this.playing === null || !this.room) return false
    this.room.tell({ do: 'stop', room: this.room.id, player: this.room.name(this.playing) })
    this.playing = null
    return true
  }

  /** In the sandbox a caller's words are known: the phone says them, and they are recognised as they were written. */
  private async saySandbox(text: string): Promise<boolean> {
    const { waiting } = this.flow
    const samples = await this.network.speaker.speak({ text, language: 'en-US' }).catch(() => null)
    if (samples) simulatedCarrier.of(this.app)?.say(this.record.id, samples)
    if (waiting?.for !== 'input' || !waiting.action.type.includes('speech')) return false
    this.room?.tell({ do: 'stop_listening', listener: this.room.name(`listen ${waiting.id}`) })
    const results = [{ text: closest(text, waiting.action.speech?.context ?? []), confidence: 1 }]
    this.input({ type: 'speech', id: waiting.id, results, reason: 'end_on_silence_timeout' })
    return true
  }

  private hangUp(reason: 'normal' | 'busy' | 'rejected', by: 'api' | 'system'): void {
    const { row } = this.record
    if (row.status === 'answered') return this.end('completed', 'normal', by)
    if (row.direction === 'inbound') {
      const [status, code] =
        reason === 'busy'
          ? (['busy', 486] as const)
          : reason === 'rejected'
            ? (['rejected', 603] as const)
            : (['failed', 480] as const)
      this.sip?.reject(code)
      return this.end(status, reason === 'normal' ? 'cancelled' : reason, by, code)
    }
    this.end('failed', 'cancelled', by)
  }

  // --- time and the end ---

  private setTimer(name: string, ms: number, run: () => void): void {
    this.clearTimer(name)
    const dueMs = this.record.nowMs + ms
    this.timers.set(name, { dueMs, run, handle: this.arm(name, ms, run) })
  }

  private arm(name: string, ms: number, run: () => void): NodeJS.Timeout {
    const handle = setTimeout(
      () => {
        this.timers.delete(name)
        run()
      },
      Math.max(0, Math.min(ms, 2 ** 31 - 1)),
    )
    handle.unref()
    return handle
  }

  private clearTimer(name: string): void {
    const timer = this.timers.get(name)
    if (timer) clearTimeout(timer.handle)
    this.timers.delete(name)
  }

  /** The account's clock was moved: what has fallen due meanwhile happens now, in order. */
  clockMoved(offsetMs: number): void {
    this.record.clockOffsetMs = offsetMs
    for (const other of [...this.others.values()].flat()) other.record.clockOffsetMs = offsetMs
    const { nowMs } = this.record
    this.renew()
    for (const [name, timer] of [...this.timers].sort(([, a], [, b]) => a.dueMs - b.dueMs)) {
      clearTimeout(timer.handle)
      timer.handle = this.arm(name, timer.dueMs - nowMs, timer.run)
    }
  }

  private end(
    status: CallRow['status'],
    cause: string,
    by: 'caller' | 'callee' | 'api' | 'system',
    sipCode: number | null = null,
  ): void {
    if (this.isEnding) return
    this.isEnding = true
    // A call that was never answered cannot have been completed.
    const isAnswered = this.record.row.status === 'answered'
    const final =
      status === 'completed' && !isAnswered ? 'failed' : isAnswered && status !== 'failed' ? 'completed' : status
    this.finishing = this.finish(final, cause, by, sipCode).catch((error) =>
      this.app.log.error({ error, call: this.record.id }, 'a call did not end cleanly'),
    )
  }

  private async finish(
    status: CallRow['status'],
    cause: string,
    by: 'caller' | 'callee' | 'api' | 'system',
    sipCode: number | null,
  ): Promise<void> {
    this.input({ type: 'hangup' })
    this.sip?.hangup()
    if (this.renewing) clearInterval(this.renewing)
    for (const name of [...this.timers.keys()]) this.clearTimer(name)
    this.dialAction = null
    for (const [id, others] of this.others)
      for (const other of others) this.otherEnded(id, other, 'failed', 'cancelled')
    const closed = await this.room?.closeLeg('a')
    const quality = closed?.quality ?? null
    this.record.end({ status, cause, by, sipCode, quality: quality === null ? null : shown(quality) })
    this.room?.close()
    await this.record.settled()
    this.network.sessions.delete(this.record.row.id)
    await sessionsOf(this.app).end(this.record.one)
  }

  /** The node stops: its calls end, and are paid for what was spoken. */
  async shutDown(): Promise<void> {
    this.end(this.record.row.status === 'answered' ? 'completed' : 'failed', 'network_error', 'system')
    await this.finishing
  }
}

function numberIn(name: string): number {
  return Number(name.slice(name.lastIndexOf(' ') + 1))
}

function shown({
  mos,
  jitterMs,
  lossPercent,
  rttMs,
}: {
  mos: number
  jitterMs: number
  lossPercent: number
  rttMs: number
}): CallQuality {
  const rounded = (value: number) => Math.round(value * 100) / 100
  return { mos, jitter_ms: rounded(jitterMs), packet_loss_pct: rounded(lossPercent), rtt_ms: rounded(rttMs) }
}

/** A phrase of the context is returned as it was written there. */
function closest(text: string, context: readonly string[]): string {
  const plain = (words: string) =>
    words
      .toLowerCase()
      .replace(/[^\p{L}\p{N} ]/gu, '')
      .trim()
  return context.find((phrase) => plain(phrase) === plain(text)) ?? text
}
