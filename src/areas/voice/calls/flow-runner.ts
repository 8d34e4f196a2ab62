// SPDX-License-Identifier: Apache-2.0
// Runs the flow of a call: feeds it inputs and carries out its effects. All inputs are recorded in the trace, from
// which the flow can be replayed.
import { uuidOf } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import { tone } from '../../../protocols/audio/tones.ts'
import { ask, type Reply } from '../ask.ts'
import { mp3Problem } from '../engines/mp3-encoding.ts'
import type { ActionOf, HandedAction } from '../flow/action.ts'
import { type Effect, type FlowInput, type FlowState, newFlow, shown, step } from '../flow/flow.ts'
import { type CallFacts, type CallFollower, type Flow, followersOf } from '../followers.ts'
import { fetchSound } from '../media/sounds.ts'
import { toldOf } from '../recordings/store.ts'
import { understand } from '../speech/recogniser.ts'
import { Unspeakable } from '../speech/speak.ts'
import type { TelephoneNetwork } from '../trunks/telephone-network.ts'
import { apologyFor } from './apology.ts'
import { conversationOf } from './call.ts'
import { Dialling } from './dialling.ts'
import type { LiveRoom } from './live-room.ts'
import { type CallRecord, longestCallMs } from './record.ts'
import type { RecordingInProgress } from './recording.ts'
import type { CallTimers } from './timers.ts'

/** Call as seen by its flow. */
export interface FlowHost {
  pickUp(): void
  hangUp(reason: 'normal' | 'busy' | 'rejected'): void
  fail(cause: 'flow_error'): void
}

export class FlowRunner {
  private readonly network: TelephoneNetwork
  private readonly record: CallRecord
  private readonly room: LiveRoom
  private readonly timers: CallTimers
  private readonly host: FlowHost
  private readonly dialling: Dialling
  private flow: FlowState = newFlow
  /** Area that owns the flow; null for a customer's flow. */
  private giver: CallFollower | null = null

  constructor(network: TelephoneNetwork, record: CallRecord, room: LiveRoom, timers: CallTimers, host: FlowHost) {
    this.network = network
    this.record = record
    this.room = room
    this.timers = timers
    this.host = host
    this.dialling = new Dialling(network, record, room, timers, (input) => this.input(input))
  }

  private get app() {
    return this.network.app
  }

  get facts(): CallFacts {
    const { row, one, clockOffsetMs } = this.record
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

  /** Fetch the flow and start it. */
  async begin(isAnswered: boolean): Promise<void> {
    const { plan } = this.record.row
    if (plan.actions) return this.input({ type: 'begin', actions: plan.actions, isAnswered })
    if (plan.target) return this.beginTarget(isAnswered)
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
    await this.endWithApology(problems.join('; '), isAnswered)
  }

  /** Start the flow that another area supplies for its number. */
  private async beginTarget(isAnswered: boolean): Promise<void> {
    const { target } = this.record.row.plan
    for (const follower of target ? followersOf(this.app) : []) {
      const flow = target ? await follower.flowOf?.(this.app, this.facts, target) : null
      if (this.record.isOver) return
      if (!flow) continue
      this.giver = flow.isOwn ? follower : null
      return this.input({ type: 'begin', actions: flow.actions, isAnswered })
    }
    await this.endWithApology(`nothing takes calls for ${target?.type ?? 'this number'}`, isAnswered)
  }

  /** Flow could not be loaded: tell the caller, if speech is available, and end the call. */
  private async endWithApology(problem: string, isAnswered: boolean): Promise<void> {
    this.reportError('FLOW_UNAVAILABLE', `no flow could be fetched: ${problem}`, null)
    if (!isAnswered) this.host.pickUp()
    const { direction, from_number, to_number } = this.record.row
    const apology = apologyFor(direction === 'inbound' ? to_number : from_number)
    const sound = await this.network.speaker.speak({ ...apology }).catch(() => null)
    if (!sound || this.record.isOver) return this.host.fail('flow_error')
    this.timers.set('apology', (sound.length / 8_000) * 1_000 + 500, () => this.host.fail('flow_error'))
    this.room.audio.play('apology', sound)
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

  input(input: FlowInput, traced: FlowInput = shown(this.flow, input)): void {
    if (this.record.isOver && input.type !== 'hangup') return
    this.record.trace('flow', traced)
    const { state, effects } = step(this.flow, input)
    this.flow = state
    for (const effect of effects) this.carryOut(effect)
  }

  /** Resume after another area finished an action or supplied a new flow. */
  resume(flow: Flow | null, giver: CallFollower | null): void {
    if (flow) this.giver = flow.isOwn ? giver : null
    this.input({ type: 'resumed', id: null, actions: flow?.actions ?? null })
  }

  private carryOut(effect: Effect): void {
    const { room, timers } = this
    switch (effect.do) {
      case 'answer':
        return this.host.pickUp()
      case 'talk':
        return void this.talk(effect.id, effect.action)
      case 'stream':
        return void this.stream(effect.id, effect.action).catch((error) => this.unplayable(effect.id, error))
      case 'beep':
        return this.playSound(effect.id, tone([1_000], 400), 1, 0)
      case 'stop':
        return room.audio.stop(`play ${effect.id}`)
      case 'timer':
        return timers.set(`flow ${effect.id}`, effect.ms, () => this.input({ type: 'timer', id: effect.id }))
      case 'cancel_timer':
        return timers.clear(`flow ${effect.id}`)
      case 'listen':
        return this.listen(effect.id, effect.action)
      case 'stop_listening':
        return room.audio.stopListening(`listen ${effect.id}`)
      case 'ask':
        return void this.ask(effect)
      case 'dial':
        return void this.dialling.begin(effect.id, effect.action).catch((error) => this.undialled(effect.id, error))
      case 'cancel_dial':
        return this.dialling.cancel(effect.id)
      case 'hand':
        return void this.hand(effect.id, effect.action)
      case 'record':
        return this.recordAction(effect.id, effect.action)
      case 'error':
        return this.reportError(effect.code, effect.message, effect.index)
      case 'hangup':
        return this.host.hangUp(effect.reason)
    }
  }

  private reportError(code: string, message: string, index: number | null): void {
    this.record.tell({ error: { code, message, action_index: index } })
    this.record.flush()
  }

  // --- sound ---

  private async talk(id: number, action: ActionOf<'talk'>): Promise<void> {
    try {
      const { text, language, style } = action
      this.playSound(id, await this.network.speaker.speak({ text, language, style }), action.loop, action.level)
    } catch (error) {
      if (!(error instanceof Unspeakable))
        this.app.log.warn({ error }, 'text not spoken: the flow goes on without it; check the speech engine')
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

  private unplayable(id: number, error: unknown): void {
    this.app.log.warn({ error }, 'stream not played: the flow goes on without it; check the database')
    this.input({ type: 'unplayable', id, code: 'STREAM_UNAVAILABLE', message: 'it failed here' })
  }

  private undialled(id: number, error: unknown): void {
    this.app.log.warn({ error }, 'connect not carried out: the flow goes on; check the database')
    this.dialling.cancel(id)
    this.input({ type: 'dialled', id, status: 'failed', to: null, duration: 0, reason: 'network_error' })
  }

  /** Play samples; level -1 is silence and 1 doubles the volume. */
  private playSound(id: number, samples: Int16Array, loop: number, level: number): void {
    if (!this.record.isOver) this.room.audio.play(`play ${id}`, samples, { loop, level: 1 + level })
  }

  /** A player finished. */
  played(player: string): void {
    if (player.startsWith('play ')) this.input({ type: 'played', id: numberIn(player) })
  }

  // --- speech ---

  private listen(id: number, { speech }: ActionOf<'input'>): void {
    if (!speech) return
    this.room.audio.listen(`listen ${id}`, this.heardMembers(speech.uuid ?? []), {
      endOnSilenceMs: speech.endOnSilence * 1_000,
      startTimeoutMs: speech.startTimeout * 1_000,
      maxMs: speech.maxDuration * 1_000,
      ...(speech.sensitivity === undefined ? {} : { sensitivity: speech.sensitivity }),
    })
  }

  /** Calls whose speech is recognised: those named that are in the room, otherwise this one. */
  private heardMembers(named: readonly string[]): readonly string[] {
    const members = named.flatMap((name) => {
      const member = uuidOf('call', name)
      if (member !== null && this.room.audio.has(member)) return [member]
      this.reportError('INVALID_CALL_FLOW', `speech.uuid: ${name} is not in this call`, this.flow.next - 1)
      return []
    })
    return members.length > 0 ? members : [this.record.row.id]
  }

  speechBegan(listener: string): void {
    this.input({ type: 'speech_began', id: numberIn(listener) })
  }

  speechEnded(listener: string, reason: string, samples: Int16Array): void {
    const id = numberIn(listener)
    if (reason === 'start_timeout') return this.input({ type: 'speech', id, results: [], reason })
    void this.understand(id, reason, samples)
  }

  /** Recognise speech; without an engine the flow gets an error, never a guess. */
  private async understand(id: number, reason: string, samples: Int16Array): Promise<void> {
    const { waiting } = this.flow
    if (waiting?.for !== 'input' || waiting.id !== id) return
    const { language = 'en-US', context = [] } = waiting.action.speech ?? {}
    const { results, fault, message } = await understand(this.app, samples, { language, context })
    if (fault === 'engine_unavailable') this.reportError('PROVIDER_UNAVAILABLE', message ?? fault, null)
    this.input({ type: 'speech', id, results, reason, ...(fault === null ? {} : { error: fault }) })
  }

  /** Sandbox speech: the text of a simulated caller is recognised exactly. False when the flow is not listening. */
  said(text: string): boolean {
    const { waiting } = this.flow
    if (waiting?.for !== 'input' || !waiting.action.type.includes('speech')) return false
    this.room.audio.stopListening(`listen ${waiting.id}`)
    const results = [{ text: closest(text, waiting.action.speech?.context ?? []), confidence: 1 }]
    this.input({ type: 'speech', id: waiting.id, results, reason: 'end_on_silence_timeout' })
    return true
  }

  // --- others ---

  private async ask({ id, urls, body, replaces }: Extract<Effect, { do: 'ask' }>): Promise<void> {
    if (this.giver) return this.askGiver(this.giver, id, body, replaces)
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

  private async askGiver(
    giver: CallFollower,
    id: number,
    body: Record<string, unknown>,
    replaces: boolean,
  ): Promise<void> {
    const flow = await this.followed(giver, () => giver.asked?.(this.app, this.facts, body))
    if (!replaces) return
    if (flow) this.giver = flow.isOwn ? giver : null
    const actions = flow?.actions ?? null
    // Actions of an area may contain masked input, so the trace has their names only.
    this.input({ type: 'replied', id, actions }, { type: 'replied', id, actions: actions?.map(nameOf) ?? null })
  }

  private async hand(id: number, action: HandedAction): Promise<void> {
    let refused = { code: 'ACTION_UNAVAILABLE', message: `nothing here carries out ${action.action}` }
    for (const follower of followersOf(this.app)) {
      const taken = await this.followed(follower, () => follower.took?.(this.app, this.facts, action))
      if (taken === true) return
      if (taken) refused = taken
    }
    this.reportError(refused.code, `${refused.message}; the flow goes on`, null)
    this.input({ type: 'resumed', id, actions: null })
  }

  private async followed<T>(follower: CallFollower, work: () => Promise<T> | undefined): Promise<T | null> {
    try {
      return (await work()) ?? null
    } catch (error) {
      this.app.log.error(
        { error, area: follower.name, call: this.record.id },
        'handler of a call failed: the call is ended; check the error',
      )
      return null
    }
  }

  private recordAction(id: number, action: ActionOf<'record'>): void {
    const { format } = action
    const problem = format === 'mp3' ? mp3Problem(this.app) : null
    if (problem !== null) {
      this.reportError('PROVIDER_UNAVAILABLE', `format: ${problem}; the flow goes on`, this.flow.next - 1)
      return this.input({ type: 'recorded', id })
    }
    const maxMs = (action.timeOut ?? longestCallMs / 1_000) * 1_000
    const options = { silenceMs: (action.endOnSilence ?? 0) * 1_000, maxMs, endKeys: action.endOnKey ?? '' }
    const { giver } = this
    const url = action.eventUrl?.[0]
    // An MP3 is told of when it has been made, which may be on another node.
    const telling = url === undefined ? null : () => ({ url, body: this.about() })
    const done = (recording: RecordingInProgress) => {
      if (format === 'mp3') return this.input({ type: 'recorded', id })
      if (url) void this.tellOfRecording(url, recording)
      else if (giver) void this.giveRecording(giver, recording)
      this.input({ type: 'recorded', id })
    }
    const language = action.transcription?.language ?? null
    const channels = action.split === 'conversation' ? 2 : action.channels
    this.room.recordings.start(`flow ${id}`, channels, options, { language, format, telling, done })
  }

  private async tellOfRecording(url: string, recording: RecordingInProgress): Promise<void> {
    const stored = await recording.stored()
    if (!stored) return
    const body = { ...this.about(), ...toldOf(this.app, stored) }
    const asking = { name: 'voice.recording', url, method: 'POST' as const, body, isRetried: true }
    await ask(this.app, this.record.one, { ...asking, clockOffsetMs: this.record.clockOffsetMs })
  }

  /** Report a recording of an area's own flow to that area. */
  private async giveRecording(giver: CallFollower, recording: RecordingInProgress): Promise<void> {
    const stored = await recording.stored()
    if (!stored) return
    const { recording_url: url, duration: seconds } = toldOf(this.app, stored)
    if (url !== null)
      await this.followed(giver, () => giver.recorded?.(this.app, this.facts, { id: stored.id, url, seconds }))
  }

  end(): void {
    this.input({ type: 'hangup' })
    this.dialling.end()
  }
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
