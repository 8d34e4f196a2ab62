// SPDX-License-Identifier: Apache-2.0
// Flow of a call as a pure function: state and input give the next state and effects. Without clock, socket or
// database, any call can be replayed from its inputs.
import {
  type Action,
  type ActionOf,
  type ActionProblem,
  type HandedAction,
  isForOthers,
  maxActions,
  readActions,
} from './action.ts'

export type FlowInput =
  | { type: 'begin'; actions: readonly unknown[]; isAnswered: boolean }
  | { type: 'played'; id: number }
  | { type: 'unplayable'; id: number; code: string; message: string }
  | { type: 'digit'; digit: string }
  | { type: 'timer'; id: number }
  | { type: 'speech_began'; id: number }
  | { type: 'speech'; id: number; results: readonly SpeechResult[]; reason: string; model?: string; error?: string }
  | { type: 'replied'; id: number; actions: readonly unknown[] | null }
  | { type: 'dialled'; id: number; status: DialStatus; to: string | null; duration: number; reason: string | null }
  | { type: 'recorded'; id: number }
  /** Another area finished or refused an action, or supplies a new flow at any time. */
  | { type: 'resumed'; id: number | null; actions: readonly unknown[] | null }
  | { type: 'hangup' }

interface SpeechResult {
  text: string
  confidence: number
}

export type DialStatus = 'answered' | 'completed' | 'busy' | 'timeout' | 'rejected' | 'failed'

/** Effect of a flow. The flow assigns ids; results come back under the same id. */
export type Effect =
  | { do: 'answer' }
  | { do: 'talk'; id: number; action: ActionOf<'talk'> }
  | { do: 'stream'; id: number; action: ActionOf<'stream'> }
  | { do: 'beep'; id: number }
  | { do: 'stop'; id: number }
  | { do: 'timer'; id: number; ms: number }
  | { do: 'cancel_timer'; id: number }
  | { do: 'listen'; id: number; action: ActionOf<'input'> }
  | { do: 'stop_listening'; id: number }
  /**
   * POST to a customer's URL; null means the call's event_url. `replaces`: a list of actions in the reply is the new
   * flow.
   */
  | { do: 'ask'; id: number; urls: readonly string[] | null; body: Record<string, unknown>; replaces: boolean }
  | { do: 'dial'; id: number; action: ActionOf<'connect'> }
  | { do: 'cancel_dial'; id: number }
  /** Asks the network to connect the other party with somebody else; comes back as `dialled` where it does not. */
  | { do: 'refer'; id: number; action: ActionOf<'refer'> }
  /** Hands an action to another area. */
  | { do: 'hand'; id: number; action: HandedAction }
  | { do: 'record'; id: number; action: ActionOf<'record'> }
  | { do: 'error'; code: string; message: string; index: number }
  | { do: 'hangup'; reason: 'normal' | 'busy' | 'rejected' }

type Waiting =
  | { for: 'play'; id: number }
  | { for: 'beep'; id: number; action: ActionOf<'record'> }
  | { for: 'timer'; id: number }
  | { for: 'input'; id: number; timer: number | null; action: ActionOf<'input'>; digits: string; isSpeaking: boolean }
  | { for: 'reply'; id: number }
  | { for: 'dial'; id: number; action: ActionOf<'connect'> | ActionOf<'refer'> }
  | { for: 'record'; id: number }
  | { for: 'hand'; id: number }

export interface FlowState {
  readonly actions: readonly Action[]
  /** Index of the next action. */
  readonly next: number
  readonly waiting: Waiting | null
  /** Prompt that a key or speech interrupts, while later actions already run. */
  readonly prompt: number | null
  /** Digits pressed during such a prompt, kept for the input they are for. */
  readonly early: string
  readonly isAnswered: boolean
  readonly isOver: boolean
  readonly lastId: number
}

export const newFlow: FlowState = {
  actions: [],
  next: 0,
  waiting: null,
  prompt: null,
  early: '',
  isAnswered: false,
  isOver: false,
  lastId: 0,
}

interface Step {
  state: FlowState
  effects: Effect[]
}

export function step(state: FlowState, input: FlowInput): Step {
  if (state.isOver) return { state, effects: [] }
  const run = new Run(state)
  run.take(input)
  return { state: run.state, effects: run.effects }
}

/**
 * Input as the trace shows it: digits and speech are hidden while a masked `input` is asked or lies ahead, and so is what
 * addresses of websockets may hold of secrets.
 */
export function shown({ actions, next }: FlowState, input: FlowInput): FlowInput {
  if ('actions' in input && input.actions) return { ...input, actions: input.actions.map(withoutSocketSecrets) }
  const isMasked = actions.slice(Math.max(0, next - 1)).some((action) => action.action === 'input' && action.mask)
  if (!isMasked) return input
  if (input.type === 'digit') return { ...input, digit: '*' }
  return input.type === 'speech' ? { ...input, results: [] } : input
}

/** Action without the query and the headers of its websockets. It is as a customer wrote it, so that anything may be in it. */
function withoutSocketSecrets(action: unknown): unknown {
  if (!isObject(action) || !Array.isArray(action.endpoint)) return action
  const endpoint = action.endpoint.map((one: unknown) => {
    if (!isObject(one) || one.type !== 'websocket') return one
    const { headers: _headers, uri, ...rest } = one
    return { ...rest, uri: typeof uri === 'string' ? uri.replace(/[?#].*$/s, '') : null }
  })
  return { ...action, endpoint }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

const maxEarly = 20

/** One step and the state it builds. */
class Run {
  state: FlowState
  readonly effects: Effect[] = []

  constructor(state: FlowState) {
    this.state = state
  }

  take(input: FlowInput): void {
    switch (input.type) {
      case 'begin':
        this.#set({ isAnswered: input.isAnswered })
        return this.#begin(input.actions)
      case 'hangup':
        this.#stopPrompt()
        return this.#set({ isOver: true, waiting: null })
      case 'played':
        return this.#played(input.id)
      case 'unplayable':
        this.effects.push({ do: 'error', code: input.code, message: input.message, index: this.state.next - 1 })
        return this.#played(input.id)
      case 'digit':
        return this.#digit(input.digit)
      case 'timer':
        return this.#timer(input.id)
      case 'speech_began':
        return this.#speechBegan(input.id)
      case 'speech':
        return this.#speech(input)
      case 'replied':
        return this.#replied(input.id, input.actions)
      case 'dialled':
        return this.#dialled(input)
      case 'recorded':
        if (this.#waitsFor('record', input.id)) this.#goOn()
        return
      case 'resumed':
        return this.#resumed(input.id, input.actions)
    }
  }

  #set(change: Partial<FlowState>): void {
    this.state = { ...this.state, ...change }
  }

  #newId(): number {
    this.#set({ lastId: this.state.lastId + 1 })
    return this.state.lastId
  }

  #begin(list: readonly unknown[]): void {
    const { actions, problems } = readActions(list.slice(0, maxActions))
    const over: ActionProblem[] =
      list.length > maxActions ? [{ index: maxActions, message: `a flow has at most ${maxActions} actions` }] : []
    for (const { index, message } of [...problems, ...over])
      this.effects.push({ do: 'error', code: 'INVALID_CALL_FLOW', message, index })
    this.#set({ actions, next: 0, waiting: null })
    this.#goOn()
  }

  /** Runs actions until one must be waited for or none is left. */
  #goOn(): void {
    this.#set({ waiting: null })
    for (;;) {
      const action = this.state.actions[this.state.next]
      if (!action) return this.#end()
      this.#set({ next: this.state.next + 1 })
      this.#carryOut(action)
      if (this.state.waiting || this.state.isOver) return
    }
  }

  /** Flow ended; a prompt still playing finishes first. */
  #end(): void {
    const { prompt } = this.state
    if (prompt !== null) return this.#set({ waiting: { for: 'play', id: prompt }, prompt: null })
    this.effects.push({ do: 'hangup', reason: 'normal' })
    this.#set({ isOver: true })
  }

  #carryOut(action: Action): void {
    if (action.action !== 'hangup' && action.action !== 'notify' && !this.state.isAnswered) {
      this.effects.push({ do: 'answer' })
      this.#set({ isAnswered: true })
    }
    switch (action.action) {
      case 'talk':
      case 'stream':
        return this.#play(action)
      case 'input':
        return this.#ask(action)
      case 'connect': {
        if (isForOthers(action)) return this.#hand(action)
        const id = this.#newId()
        this.#stopPrompt()
        this.effects.push({ do: 'dial', id, action })
        return this.#set({ waiting: { for: 'dial', id, action } })
      }
      case 'refer': {
        const id = this.#newId()
        this.#stopPrompt()
        this.effects.push({ do: 'refer', id, action })
        return this.#set({ waiting: { for: 'dial', id, action } })
      }
      case 'record':
        return this.#record(action)
      case 'wait': {
        const id = this.#newId()
        this.effects.push({ do: 'timer', id, ms: action.timeout * 1_000 })
        return this.#set({ waiting: { for: 'timer', id } })
      }
      case 'notify': {
        const id = this.#newId()
        this.effects.push({ do: 'ask', id, urls: action.eventUrl, body: { payload: action.payload }, replaces: true })
        return this.#set({ waiting: { for: 'reply', id } })
      }
      case 'hangup':
        this.#stopPrompt()
        this.effects.push({ do: 'hangup', reason: action.reason })
        return this.#set({ isOver: true })
      case 'conversation':
      case 'enqueue':
        return this.#hand(action)
      default:
        return action satisfies never
    }
  }

  #hand(action: HandedAction): void {
    const id = this.#newId()
    this.#stopPrompt()
    this.effects.push({ do: 'hand', id, action })
    this.#set({ waiting: { for: 'hand', id } })
  }

  #play(action: ActionOf<'talk'> | ActionOf<'stream'>): void {
    this.#stopPrompt()
    const id = this.#newId()
    this.effects.push(action.action === 'talk' ? { do: 'talk', id, action } : { do: 'stream', id, action })
    const mayInterrupt =
      action.bargeIn && this.state.actions.slice(this.state.next).some((later) => later.action === 'input')
    if (mayInterrupt) this.#set({ prompt: id })
    else this.#set({ waiting: { for: 'play', id } })
  }

  #stopPrompt(): void {
    const { prompt } = this.state
    if (prompt === null) return
    this.effects.push({ do: 'stop', id: prompt })
    this.#set({ prompt: null })
  }

  #ask(action: ActionOf<'input'>): void {
    const id = this.#newId()
    const hearsDigits = action.type.includes('dtmf')
    if (action.type.includes('speech')) this.effects.push({ do: 'listen', id, action })
    this.#set({ waiting: { for: 'input', id, timer: null, action, digits: '', isSpeaking: false } })
    // The input timeout starts after the prompt.
    if (hearsDigits && this.state.prompt === null) this.#waitForDigit()
    const { early } = this.state
    this.#set({ early: '' })
    for (const digit of early)
      if (this.state.waiting?.for === 'input' && this.state.waiting.id === id) this.#digit(digit)
  }

  #waitForDigit(): void {
    const { waiting } = this.state
    if (waiting?.for !== 'input') return
    if (waiting.timer !== null) this.effects.push({ do: 'cancel_timer', id: waiting.timer })
    const timer = this.#newId()
    this.effects.push({ do: 'timer', id: timer, ms: waiting.action.timeOut * 1_000 })
    this.#set({ waiting: { ...waiting, timer } })
  }

  #digit(digit: string): void {
    const { waiting, prompt } = this.state
    if (waiting?.for !== 'input' || !waiting.action.type.includes('dtmf')) {
      if (prompt !== null && this.state.early.length < maxEarly) this.#set({ early: this.state.early + digit })
      return
    }
    this.#stopPrompt()
    if (digit === '#' && waiting.action.submitOnHash) return this.#submit(false)
    const digits = waiting.digits + digit
    this.#set({ waiting: { ...waiting, digits } })
    if (digits.length >= waiting.action.maxDigits) return this.#submit(false)
    this.#waitForDigit()
  }

  #timer(id: number): void {
    const { waiting } = this.state
    if (waiting?.for === 'timer' && waiting.id === id) return this.#goOn()
    if (waiting?.for !== 'input' || waiting.timer !== id) return
    // Speech in progress is not cut off by the timeout.
    if (waiting.isSpeaking || (waiting.digits === '' && waiting.action.type.includes('speech')))
      return this.#set({ waiting: { ...waiting, timer: null } })
    this.#submit(true)
  }

  #speechBegan(id: number): void {
    const { waiting } = this.state
    if (waiting?.for !== 'input' || waiting.id !== id) return
    this.#stopPrompt()
    this.#set({ waiting: { ...waiting, isSpeaking: true } })
  }

  #speech({ id, results, reason, model, error }: Extract<FlowInput, { type: 'speech' }>): void {
    const { waiting } = this.state
    if (waiting?.for !== 'input' || waiting.id !== id) return
    const language = waiting.action.speech?.language ?? 'en-US'
    const listened = model === undefined ? {} : { model }
    const speech = { results, timeout_reason: reason, language, ...listened, ...(error === undefined ? {} : { error }) }
    this.#finishInput(waiting, {
      speech,
      ...(waiting.action.type.includes('dtmf') ? this.#digitsOf(waiting, true) : {}),
    })
  }

  #submit(timedOut: boolean): void {
    const { waiting } = this.state
    if (waiting?.for !== 'input') return
    const hadSpeech = waiting.action.type.includes('speech')
    if (hadSpeech) this.effects.push({ do: 'stop_listening', id: waiting.id })
    const none = { results: [], timeout_reason: 'start_timeout', language: waiting.action.speech?.language ?? 'en-US' }
    this.#finishInput(waiting, { ...this.#digitsOf(waiting, timedOut), ...(hadSpeech ? { speech: none } : {}) })
  }

  #digitsOf({ digits }: Extract<Waiting, { for: 'input' }>, timedOut: boolean) {
    return { dtmf: digits, timed_out: timedOut }
  }

  #finishInput(waiting: Extract<Waiting, { for: 'input' }>, body: Record<string, unknown>): void {
    if (waiting.timer !== null) this.effects.push({ do: 'cancel_timer', id: waiting.timer })
    this.#stopPrompt()
    const id = this.#newId()
    this.effects.push({ do: 'ask', id, urls: waiting.action.eventUrl ?? null, body, replaces: true })
    this.#set({ waiting: { for: 'reply', id } })
  }

  #played(id: number): void {
    if (this.state.prompt === id) {
      this.#set({ prompt: null })
      const { waiting } = this.state
      if (waiting?.for === 'input' && waiting.action.type.includes('dtmf') && waiting.timer === null)
        this.#waitForDigit()
      return
    }
    const { waiting } = this.state
    if (waiting?.for === 'beep' && waiting.id === id) return this.#startRecording(waiting.action)
    if (this.#waitsFor('play', id)) this.#goOn()
  }

  #record(action: ActionOf<'record'>): void {
    if (!action.beepStart) return this.#startRecording(action)
    const id = this.#newId()
    this.effects.push({ do: 'beep', id })
    this.#set({ waiting: { for: 'beep', id, action } })
  }

  /** A recording with an end condition blocks the flow; one without runs beside it. */
  #startRecording(action: ActionOf<'record'>): void {
    const wasWaiting = this.state.waiting !== null
    const id = this.#newId()
    this.effects.push({ do: 'record', id, action })
    const isSync = action.endOnSilence !== undefined || action.endOnKey !== undefined || action.timeOut !== undefined
    if (isSync) this.#set({ waiting: { for: 'record', id } })
    else if (wasWaiting) this.#goOn()
  }

  #replied(id: number, actions: readonly unknown[] | null): void {
    if (!this.#waitsFor('reply', id)) return
    if (actions) this.#begin(actions)
    else this.#goOn()
  }

  #dialled({ id, status, to, duration, reason }: Extract<FlowInput, { type: 'dialled' }>): void {
    const { waiting } = this.state
    if (waiting?.for !== 'dial' || waiting.id !== id) return
    const { eventUrl, eventType } = waiting.action
    const isEnd = status !== 'answered'
    const body = { status, to, duration, reason }
    if (!isEnd || eventType === 'async') {
      if (eventUrl) this.effects.push({ do: 'ask', id: this.#newId(), urls: eventUrl, body, replaces: false })
      if (isEnd) this.#goOn()
      return
    }
    const ask = this.#newId()
    this.effects.push({ do: 'ask', id: ask, urls: eventUrl ?? null, body, replaces: true })
    this.#set({ waiting: { for: 'reply', id: ask } })
  }

  /** A new flow cancels the old one; null continues the old flow, if it waited for this. */
  #resumed(id: number | null, actions: readonly unknown[] | null): void {
    const { waiting } = this.state
    if (actions === null) {
      if (waiting?.for === 'hand' && (id === null || waiting.id === id)) this.#goOn()
      return
    }
    this.#stopPrompt()
    this.#stopWaiting()
    this.#begin(actions)
  }

  #stopWaiting(): void {
    const { waiting } = this.state
    if (waiting?.for === 'play' || waiting?.for === 'beep') this.effects.push({ do: 'stop', id: waiting.id })
    if (waiting?.for === 'timer') this.effects.push({ do: 'cancel_timer', id: waiting.id })
    if (waiting?.for === 'dial') this.effects.push({ do: 'cancel_dial', id: waiting.id })
    if (waiting?.for !== 'input') return
    if (waiting.timer !== null) this.effects.push({ do: 'cancel_timer', id: waiting.timer })
    if (waiting.action.type.includes('speech')) this.effects.push({ do: 'stop_listening', id: waiting.id })
  }

  #waitsFor(what: Waiting['for'], id: number): boolean {
    return this.state.waiting?.for === what && this.state.waiting.id === id
  }
}
