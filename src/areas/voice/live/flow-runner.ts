// SPDX-License-Identifier: Apache-2.0
// Runs the flow of a call: feeds it inputs and carries out its effects. All inputs are recorded in the trace, from
// which the flow can be replayed.
import { uuidOf } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import { dialectOf } from '../../../platform/outbound/dialect-url.ts'
import { tone } from '../../../protocols/audio/tones.ts'
import { ask, type Reply } from '../ask.ts'
import { conversationOf, endingOf } from '../calls/call.ts'
import { type CallRecord, longestCallMs } from '../calls/call-record.ts'
import type { CallTimers } from '../calls/call-timers.ts'
import { mp3Problem } from '../engines/mp3-encoding.ts'
import type { ActionOf, HandedAction } from '../flow/action.ts'
import { type DialStatus, type Effect, type FlowInput, type FlowState, newFlow, shown, step } from '../flow/flow.ts'
import { type CallFacts, type CallFollower, type Flow, followersOf } from '../followers.ts'
import { fetchSound } from '../media/sounds.ts'
import { toldOf } from '../recordings/store.ts'
import type { RecordingInProgress } from '../room/recording.ts'
import { Unspeakable } from '../speech/engine.ts'
import { understand } from '../speech/recogniser.ts'
import type { CallStatus } from '../store.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import { apologyFor } from './apology.ts'
import { Dialling } from './dialling.ts'
import type { LiveRoom } from './live-room.ts'

/** Call as seen by its flow. */
export interface FlowHost {
  pickUp(): void
  hangUp(reason: 'normal' | 'busy' | 'rejected'): void
  /** Asks the network to connect the other party with a number; `done` hears how that went, null where it may not be asked. */
  refer(to: string, timeoutMs: number, done: (status: number | null) => void): void
  fail(cause: 'flow_error'): void
}

export class FlowRunner {
  readonly #network: TelephoneNetwork
  readonly #record: CallRecord
  readonly #room: LiveRoom
  readonly #timers: CallTimers
  readonly #host: FlowHost
  readonly #dialling: Dialling
  #flow: FlowState = newFlow
  /** Area that owns the flow; null for a customer's flow. */
  #giver: CallFollower | null = null
  /** Texts of which another sentence follows the one that is heard. */
  readonly #sentences = new Map<number, (isHeard: boolean) => void>()
  /** Number that the network connected the other party with. */
  #referredTo: string | null = null
  /** Recording that the flow made last. */
  #recorded: RecordingInProgress | null = null

  constructor(network: TelephoneNetwork, record: CallRecord, room: LiveRoom, timers: CallTimers, host: FlowHost) {
    this.#network = network
    this.#record = record
    this.#room = room
    this.#timers = timers
    this.#host = host
    this.#dialling = new Dialling(network, record, room, timers, (input) => this.input(input))
  }

  get #app() {
    return this.#network.app
  }

  get facts(): CallFacts {
    const { row, one, clockOffsetMs } = this.#record
    return {
      tenant: { bucket: one.bucket, account: one.account, environment: one.environment },
      call: row.id,
      conversation: row.conversation,
      direction: row.direction,
      from: row.from_number,
      to: row.to_number,
      customData: JSON.parse(row.custom_data),
      clockOffsetMs,
    }
  }

  /** Fetches the flow and starts it. */
  async begin(isAnswered: boolean): Promise<void> {
    const { custom_data: custom, plan } = this.#record.row
    if (plan.actions) return this.input({ type: 'begin', actions: plan.actions, isAnswered })
    if (plan.target) return this.#beginTarget(isAnswered)
    const { verification } = plan
    const own = { custom_data: JSON.parse(custom), region: 'af', ...(verification ? { verification } : {}) }
    const body = { ...this.#about(), ...own }
    const questions = [plan.answer_url, plan.fallback_url].filter((url) => url !== undefined)
    const problems: string[] = []
    for (const [i, url] of questions.entries()) {
      const method = plan.answer_method ?? 'POST'
      const asking = { name: 'voice.answer', url, method, body, isRetried: i === 0 }
      const reply = await ask(this.#app, this.#record.one, { ...asking, clockOffsetMs: this.#record.clockOffsetMs })
      if (this.#record.isOver) return
      if (reply.kind === 'list') return this.input({ type: 'begin', actions: reply.actions, isAnswered })
      problems.push(reply.kind === 'failed' ? reply.reason : 'its answer is not a JSON array of actions')
    }
    await this.#endWithApology(problems.join('; '), isAnswered)
  }

  /** Starts the flow that another area supplies for its number. */
  async #beginTarget(isAnswered: boolean): Promise<void> {
    const { target } = this.#record.row.plan
    for (const follower of target ? followersOf(this.#app) : []) {
      const flow = target ? await follower.flowOf?.(this.#app, this.facts, target) : null
      if (this.#record.isOver) return
      if (!flow) continue
      this.#giver = flow.isOwn ? follower : null
      return this.input({ type: 'begin', actions: flow.actions, isAnswered })
    }
    await this.#endWithApology(`nothing takes calls for ${target?.type ?? 'this number'}`, isAnswered)
  }

  /** Flow could not be loaded: tell the caller, if speech is available, and end the call. */
  async #endWithApology(problem: string, isAnswered: boolean): Promise<void> {
    this.#reportError('FLOW_UNAVAILABLE', `no flow could be fetched: ${problem}`, null)
    if (!isAnswered) this.#host.pickUp()
    const { direction, from_number, to_number } = this.#record.row
    const apology = apologyFor(direction === 'inbound' ? to_number : from_number)
    const sound = await this.#network.speaker.speak({ ...apology, account: this.#record.one.account }).catch(() => null)
    if (!sound || this.#record.isOver) return this.#host.fail('flow_error')
    this.#timers.set('apology', (sound.length / 8_000) * 1_000 + 500, () => this.#host.fail('flow_error'))
    this.#room.audio.play('apology', sound)
  }

  #about() {
    const { row } = this.#record
    return {
      from: row.from_number,
      to: row.to_number,
      conversation_uuid: conversationOf(row),
      call_id: this.#record.id,
      uuid: this.#record.id,
      direction: row.direction,
      timestamp: momentText(new Date(this.#record.nowMs)),
    }
  }

  input(input: FlowInput, traced: FlowInput = shown(this.#flow, input)): void {
    if (this.#record.isOver && input.type !== 'hangup') return
    this.#record.trace('flow', traced)
    const { state, effects } = step(this.#flow, input)
    this.#flow = state
    for (const effect of effects) this.#carryOut(effect)
  }

  /** Resumes after another area finished an action or supplied a new flow. */
  resume(flow: Flow | null, giver: CallFollower | null): void {
    if (flow) this.#giver = flow.isOwn ? giver : null
    this.input({ type: 'resumed', id: null, actions: flow?.actions ?? null })
  }

  #carryOut(effect: Effect): void {
    const room = this.#room
    const timers = this.#timers
    switch (effect.do) {
      case 'answer':
        return this.#host.pickUp()
      case 'talk':
        return void this.#talk(effect.id, effect.action)
      case 'stream':
        return void this.#stream(effect.id, effect.action).catch((error) => this.#unplayable(effect.id, error))
      case 'beep':
        return this.#playSound(effect.id, tone([1_000], 400), 1, 0)
      case 'stop':
        this.#sentenceEnded(effect.id, false)
        return room.audio.stop(`play ${effect.id}`)
      case 'timer':
        return timers.set(`flow ${effect.id}`, effect.ms, () => this.input({ type: 'timer', id: effect.id }))
      case 'cancel_timer':
        return timers.clear(`flow ${effect.id}`)
      case 'listen':
        return this.#listen(effect.id, effect.action)
      case 'stop_listening':
        return room.audio.stopListening(`listen ${effect.id}`)
      case 'ask':
        return void this.#ask(effect)
      case 'dial':
        return void this.#dialling.begin(effect.id, effect.action).catch((error) => this.#undialled(effect.id, error))
      case 'cancel_dial':
        return this.#dialling.cancel(effect.id)
      case 'refer':
        return this.#refer(effect.id, effect.action)
      case 'hand':
        return void this.#hand(effect.id, effect.action)
      case 'record':
        return this.#recordAction(effect.id, effect.action)
      case 'error':
        return this.#reportError(effect.code, effect.message, effect.index)
      case 'hangup':
        return this.#host.hangUp(effect.reason)
      default:
        return effect satisfies never
    }
  }

  #reportError(code: string, message: string, index: number | null): void {
    this.#record.tell({ error: { code, message, action_index: index } })
    this.#record.flush()
  }

  // --- sound ---

  async #talk(id: number, action: ActionOf<'talk'>): Promise<void> {
    const { text, language, style, voice, loop, level } = action
    const utterance = { text, language, style, account: this.#record.one.account, ...(voice ? { voice } : {}) }
    try {
      const { speaker } = this.#network
      const [first, ...others] = loop === 1 ? await speaker.parts(utterance) : [() => speaker.speak(utterance)]
      if (!first) return this.input({ type: 'played', id })
      let sound = await first()
      for (const next of others) {
        // The next sentence is made while this one is heard.
        const heard = new Promise<boolean>((done) => this.#sentences.set(id, done))
        const made = next()
        made.catch(() => undefined)
        this.#playSound(id, sound, loop, level)
        if (!(await heard)) return
        sound = await made
      }
      this.#playSound(id, sound, loop, level)
    } catch (error) {
      if (!(error instanceof Unspeakable))
        this.#app.log.warn({ error }, 'text not spoken: the flow goes on without it; check the speech engine')
      const [code, message] =
        error instanceof Unspeakable ? [error.code, error.details ?? error.message] : ['INTERNAL_ERROR', 'it failed']
      this.input({ type: 'unplayable', id, code, message })
    }
  }

  async #stream(id: number, action: ActionOf<'stream'>): Promise<void> {
    const problems: string[] = []
    for (const url of action.streamUrl) {
      const sound = await fetchSound(this.#app, this.#record.one, url)
      if (typeof sound !== 'string') return this.#playSound(id, sound, action.loop, action.level)
      problems.push(sound)
    }
    this.input({ type: 'unplayable', id, code: 'STREAM_UNAVAILABLE', message: problems.join('; ') })
  }

  #unplayable(id: number, error: unknown): void {
    this.#app.log.warn({ error }, 'stream not played: the flow goes on without it; check the database')
    this.input({ type: 'unplayable', id, code: 'STREAM_UNAVAILABLE', message: 'an internal error occurred' })
  }

  #undialled(id: number, error: unknown): void {
    this.#app.log.warn({ error }, 'connect not carried out: the flow goes on; check the database')
    this.#dialling.cancel(id)
    this.input({ type: 'dialled', id, status: 'failed', to: null, duration: 0, reason: 'network_error' })
  }

  /** The call is over once the network has connected the other party; otherwise the flow goes on. */
  #refer(id: number, { to, timeout }: ActionOf<'refer'>): void {
    this.#host.refer(to, timeout * 1_000, (status) => {
      if (status !== null && status < 300) {
        this.#referredTo = to
        return this.#host.hangUp('normal')
      }
      if (status === null)
        this.#reportError('ACTION_UNAVAILABLE', `the network of this call connects nobody with ${to}`, null)
      const { status: end, cause } = endingOf(status ?? 403)
      const reason = status === null ? 'not_allowed' : cause
      this.input({ type: 'dialled', id, status: dialStatusOf(end), to, duration: 0, reason })
    })
  }

  /** Plays samples; level -1 is silence and 1 doubles the volume. */
  #playSound(id: number, samples: Int16Array, loop: number, level: number): void {
    // What was interrupted before its sound was made is not played any more.
    const { prompt, waiting } = this.#flow
    if (!this.#record.isOver && (prompt === id || waiting?.id === id))
      this.#room.audio.play(`play ${id}`, samples, { loop, level: 1 + level })
  }

  /** A player finished. */
  played(player: string): void {
    if (player.startsWith('play ') && !this.#sentenceEnded(numberIn(player), true))
      this.input({ type: 'played', id: numberIn(player) })
  }

  /** A sentence was heard to its end, or stopped, and others were to follow; false where it was the last. */
  #sentenceEnded(id: number, isHeard: boolean): boolean {
    const tell = this.#sentences.get(id)
    this.#sentences.delete(id)
    tell?.(isHeard)
    return tell !== undefined
  }

  // --- speech ---

  #listen(id: number, { speech }: ActionOf<'input'>): void {
    if (!speech) return
    this.#room.audio.listen(`listen ${id}`, this.#heardMembers(speech.uuid ?? []), {
      endOnSilenceMs: speech.endOnSilence * 1_000,
      startTimeoutMs: speech.startTimeout * 1_000,
      maxMs: speech.maxDuration * 1_000,
      ...(speech.sensitivity === undefined ? {} : { sensitivity: speech.sensitivity }),
    })
  }

  /** Calls whose speech is recognised: those named that are in the room, otherwise this one. */
  #heardMembers(named: readonly string[]): readonly string[] {
    const members = named.flatMap((name) => {
      const member = uuidOf('call', name)
      if (member !== null && this.#room.audio.has(member)) return [member]
      this.#reportError('INVALID_CALL_FLOW', `speech.uuid: ${name} is not in this call`, this.#flow.next - 1)
      return []
    })
    return members.length > 0 ? members : [this.#record.row.id]
  }

  speechBegan(listener: string): void {
    this.input({ type: 'speech_began', id: numberIn(listener) })
  }

  speechEnded(listener: string, reason: string, samples: Int16Array): void {
    const id = numberIn(listener)
    if (reason === 'start_timeout') return this.input({ type: 'speech', id, results: [], reason })
    void this.#understand(id, reason, samples)
  }

  /** Recognises speech; without an engine the flow gets an error, never a guess. */
  async #understand(id: number, reason: string, samples: Int16Array): Promise<void> {
    const { waiting } = this.#flow
    if (waiting?.for !== 'input' || waiting.id !== id) return
    const { language = 'en-US', context = [] } = waiting.action.speech ?? {}
    const { results, model, fault, message } = await understand(this.#app, samples, { language, context })
    if (fault === 'engine_unavailable') this.#reportError('PROVIDER_UNAVAILABLE', message ?? fault, null)
    const listened = model === null ? {} : { model }
    this.input({ type: 'speech', id, results, reason, ...listened, ...(fault === null ? {} : { error: fault }) })
  }

  /** Sandbox speech: the text of a simulated caller is recognised exactly. False when the flow is not listening. */
  said(text: string): boolean {
    const { waiting } = this.#flow
    if (waiting?.for !== 'input' || !waiting.action.type.includes('speech')) return false
    this.#room.audio.stopListening(`listen ${waiting.id}`)
    const results = [{ text: closest(text, waiting.action.speech?.context ?? []), confidence: 1 }]
    this.input({ type: 'speech', id: waiting.id, results, reason: 'end_on_silence_timeout' })
    return true
  }

  // --- others ---

  async #ask({ id, urls, body, replaces }: Extract<Effect, { do: 'ask' }>): Promise<void> {
    if (this.#giver) return this.#askGiver(this.#giver, id, body, replaces)
    const { row } = this.#record
    const url = urls?.[0] ?? row.event_url
    let reply: Reply = { kind: 'nothing' }
    if (url) {
      const method = row.plan.event_method ?? 'POST'
      const recorded = dialectOf(url).dialect === null ? {} : await this.#recordedLast(body)
      const whole = { ...this.#about(), ...recorded, ...body }
      const asking = { name: 'voice.input', url, method, body: whole, isRetried: true }
      reply = await ask(this.#app, this.#record.one, { ...asking, clockOffsetMs: this.#record.clockOffsetMs })
      if (reply.kind === 'failed') this.#reportError('CALLBACK_FAILED', `${reply.reason}; the flow goes on`, null)
    }
    if (replaces) this.input({ type: 'replied', id, actions: reply.kind === 'list' ? reply.actions : null })
  }

  /** Recording before a `notify`, which asks what to do with it. */
  async #recordedLast(body: Record<string, unknown>): Promise<object> {
    const stored = 'payload' in body ? await this.#recorded?.stored() : null
    return stored ? toldOf(this.#app, stored) : {}
  }

  async #askGiver(giver: CallFollower, id: number, body: Record<string, unknown>, replaces: boolean): Promise<void> {
    const flow = await this.#followed(giver, () => giver.asked?.(this.#app, this.facts, body))
    if (!replaces) return
    if (flow) this.#giver = flow.isOwn ? giver : null
    const actions = flow?.actions ?? null
    // Actions of an area may contain masked input, so the trace has their names only.
    this.input({ type: 'replied', id, actions }, { type: 'replied', id, actions: actions?.map(nameOf) ?? null })
  }

  async #hand(id: number, action: HandedAction): Promise<void> {
    let refused = { code: 'ACTION_UNAVAILABLE', message: `nothing here carries out ${action.action}` }
    for (const follower of followersOf(this.#app)) {
      const taken = await this.#followed(follower, () => follower.took?.(this.#app, this.facts, action))
      if (taken === true) return
      if (taken) refused = taken
    }
    this.#reportError(refused.code, `${refused.message}; the flow goes on`, null)
    this.input({ type: 'resumed', id, actions: null })
  }

  async #followed<T>(follower: CallFollower, work: () => Promise<T> | undefined): Promise<T | null> {
    try {
      return (await work()) ?? null
    } catch (error) {
      this.#app.log.error(
        { error, area: follower.name, call: this.#record.id },
        'handler of a call failed: the call is ended; check the error',
      )
      return null
    }
  }

  #recordAction(id: number, action: ActionOf<'record'>): void {
    const { format } = action
    const problem = format === 'mp3' ? mp3Problem(this.#app) : null
    if (problem !== null) {
      this.#reportError('PROVIDER_UNAVAILABLE', `format: ${problem}; the flow goes on`, this.#flow.next - 1)
      return this.input({ type: 'recorded', id })
    }
    const maxMs = (action.timeOut ?? longestCallMs / 1_000) * 1_000
    const options = { silenceMs: (action.endOnSilence ?? 0) * 1_000, maxMs, endKeys: action.endOnKey ?? '' }
    const giver = this.#giver
    const url = action.eventUrl?.[0]
    // An MP3 is told of when it has been made, which may be on another node.
    const telling = url === undefined ? null : () => ({ url, body: this.#about() })
    const done = (recording: RecordingInProgress) => {
      this.#recorded = recording
      if (format === 'mp3') return this.input({ type: 'recorded', id })
      if (url) void this.#tellOfRecording(url, recording)
      else if (giver) void this.#giveRecording(giver, recording)
      this.input({ type: 'recorded', id })
    }
    const language = action.transcription?.language ?? null
    const channels = action.split === 'conversation' ? 2 : action.channels
    this.#room.recordings.start(`flow ${id}`, channels, options, { language, format, telling, done })
  }

  async #tellOfRecording(url: string, recording: RecordingInProgress): Promise<void> {
    const stored = await recording.stored()
    if (!stored) return
    const body = { ...this.#about(), ...toldOf(this.#app, stored) }
    const asking = { name: 'voice.recording', url, method: 'POST' as const, body, isRetried: true }
    await ask(this.#app, this.#record.one, { ...asking, clockOffsetMs: this.#record.clockOffsetMs })
  }

  /** Reports a recording of an area's own flow to that area. */
  async #giveRecording(giver: CallFollower, recording: RecordingInProgress): Promise<void> {
    const stored = await recording.stored()
    if (!stored) return
    const { recording_url: url, duration: seconds } = toldOf(this.#app, stored)
    if (url !== null)
      await this.#followed(giver, () => giver.recorded?.(this.#app, this.facts, { id: stored.id, url, seconds }))
  }

  #referralEnded(to: string) {
    const isDone = this.#referredTo !== null
    return { status: isDone ? 'completed' : 'failed', to, duration: 0, reason: isDone ? 'normal' : 'cancelled' }
  }

  /** The call is over. A `connect` that it was in has ended with it, and its eventUrl is told how. */
  end(): void {
    const { waiting } = this.#flow
    const dialled = this.#dialling.end()
    this.input({ type: 'hangup' })
    if (waiting?.for !== 'dial') return
    const body = waiting.action.action === 'refer' ? this.#referralEnded(waiting.action.to) : dialled
    if (!body) return
    const { eventUrl, eventType } = waiting.action
    if (eventUrl || eventType === 'synchronous')
      void this.#ask({ do: 'ask', id: waiting.id, urls: eventUrl ?? null, body, replaces: false })
  }
}

function dialStatusOf(status: CallStatus): DialStatus {
  return status === 'busy' || status === 'timeout' || status === 'rejected' ? status : 'failed'
}

function numberIn(name: string): number {
  return Number(name.slice(name.lastIndexOf(' ') + 1))
}

function nameOf(action: unknown): { action: unknown } {
  return { action: typeof action === 'object' && action !== null && 'action' in action ? action.action : null }
}

/** Closest phrase of the context, spelt as given there; otherwise the text. */
function closest(text: string, context: readonly string[]): string {
  const plain = (words: string) =>
    words
      .toLowerCase()
      .replace(/[^\p{L}\p{N} ]/gu, '')
      .trim()
  return context.find((phrase) => plain(phrase) === plain(text)) ?? text
}
