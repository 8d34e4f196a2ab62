// SPDX-License-Identifier: Apache-2.0
// Connection of the desk: one websocket for what happens and one WebRTC track for as long as the member works, whatever page is
// open. A connection that is lost is opened again, also in the middle of a call, and the page is told what became of the call.

import { PamojaError } from '#sdk/client.ts'
import { callcenterAgentContext, callcenterLogin, callcenterLogout } from '#sdk/operations.ts'
import type { AgentContext, CallTransfer } from '#sdk/schemas.ts'
import { api, currentEnvironment, type Environment } from '../../api.ts'
import { say } from '../../kit/dialogs.tsx'
import { type AudioOffer, answerOffer, openMicrophone } from '../../kit/microphone.ts'
import { numberText } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { sentenceOf } from '../../refusals.ts'
import { store } from '../../store.ts'
import { keepClock } from '../../waiting.ts'
import { t } from '../../words.ts'
import { hush, ring } from './ring.ts'
import type { chosenStates } from './states.tsx'

interface AgentNow {
  readonly agent_id: string
  readonly status: string
  readonly reason: string | null
  readonly since: string
  readonly next_status: string | null
}

interface CallNow {
  readonly call_id: string | null
  readonly state: 'none' | 'ringing' | 'connected' | 'on_hold'
  readonly muted: boolean
}

export interface Offer {
  readonly call_id: string
  readonly from: string | null
  readonly queue: { readonly queue_id: string; readonly name: string } | null
  readonly context: AgentContext
  readonly expires_at: string
}

interface QueueNow {
  readonly queue_id: string
  readonly name: string
  readonly waiting: number
  readonly longest_wait_seconds: number
  readonly agents_available: number
}

export interface DeskNow {
  /** `lost` is being opened again. */
  readonly link: 'closed' | 'opening' | 'open' | 'lost'
  readonly agent: AgentNow | null
  readonly call: CallNow
  readonly offer: Offer | null
  readonly transfer: CallTransfer | null
  readonly queues: readonly QueueNow[]
  /** Call of which the outcome is to be noted. */
  readonly toNote: { readonly call_id: string; readonly who: string } | null
  /** Colleague who speaks in the call as well. */
  readonly third: string | null
  /** Why the desk is closed, or what became of the call. */
  readonly told: string | null
}

const noCall: CallNow = { call_id: null, state: 'none', muted: false }
const closed: DeskNow = {
  ...{ link: 'closed', agent: null, call: noCall, offer: null, transfer: null, queues: [] },
  ...{ toNote: null, third: null, told: null },
}

export const desk = store<DeskNow>(closed)

/** Plays what the other side says. */
const voice = new Audio()
voice.autoplay = true

const kept = 'pamoja-desk'
const longestRetryMs = 8_000
const beatMs = 10_000
/** Ends after which the desk does not come back by itself. */
const finals: Readonly<Record<number, string>> = {
  1008: 'The desk sent too much and was closed.',
  4001: 'You were signed out of the desk, or opened it elsewhere.',
  4004: 'The desk was opened in another window.',
  4401: 'Your sign-in has ended: sign in again.',
  4403: 'Your role has no desk.',
  4409: 'You are not at your desk: start work.',
}

interface Line {
  readonly environment: Environment
  /** Address of the websocket, as the login gave it. */
  readonly path: string
  readonly agent_id: string
  readonly microphone: MediaStream
  socket: WebSocket | null
  peer: RTCPeerConnection | null
  retryMs: number
  /** Calls that are answered as soon as they ring: those that the member asked for. */
  answers: boolean
}

let line: Line | null = null
const waiting = new Map<string, { done(result: unknown): void; failed(error: Error): void }>()

const set = (part: Partial<DeskNow>): void => desk.set({ ...desk.get(), ...part })

interface Member {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** Signs the member in as an agent, and opens the desk. */
export async function startWork(
  { id: agent_id, name, email }: Member,
  status: (typeof chosenStates)[number] = 'available',
): Promise<void> {
  const microphone = await openMicrophone()
  const login = await callcenterLogin(api, {
    body: { agent_id, name: name || email, email, endpoint: { type: 'webrtc' }, status },
  })
  // The page's own origin, whatever name the installation goes by elsewhere.
  open(agent_id, microphone, new URL(login.desk.ws_url).pathname)
}

/** Opens the desk again after the page was loaded anew, if it was open. */
export async function resumeWork({ id }: Member): Promise<void> {
  const [environment, path] = (sessionStorage.getItem(kept) ?? '').split(' ')
  if (line !== null || path === undefined || environment !== currentEnvironment()) return
  open(id, await openMicrophone(), path)
}

export async function endWork(force = false): Promise<void> {
  if (line === null) return
  await callcenterLogout(api, { body: { agent_id: line.agent_id, force } })
  leave(null)
}

/** Waits until the desk can be rung, for up to a quarter of a minute. */
export async function whenReady(is: (now: DeskNow) => boolean = ({ link }) => link === 'open'): Promise<void> {
  if (is(desk.get())) return
  await new Promise<void>((resolve, reject) => {
    const stop = desk.listen((now) => {
      if (!is(now)) return
      clearTimeout(timer)
      stop()
      resolve()
    })
    const timer = setTimeout(() => {
      stop()
      reject(new Error(t('The desk did not open in time: check the microphone and the network.')))
    }, 15_000)
  })
}

/** The next call that rings is answered at once, because the member asked for it. */
export function answerNext(isAnswered = true): void {
  if (line) line.answers = isAnswered
}

function open(agent_id: string, microphone: MediaStream, path: string): void {
  leave(null)
  const environment = currentEnvironment()
  sessionStorage.setItem(kept, `${environment} ${path}`)
  line = { environment, path, agent_id, microphone, socket: null, peer: null, retryMs: 500, answers: false }
  desk.set({ ...closed, link: 'opening' })
  connect(line)
}

function leave(told: string | null): void {
  const before = line
  line = null
  hush()
  if (before) {
    before.socket?.close(1000)
    quiet(before)
    for (const track of before.microphone.getTracks()) track.stop()
    sessionStorage.removeItem(kept)
  }
  desk.set({ ...closed, toNote: desk.get().toNote, told })
}

function connect(own: Line): void {
  const url = new URL(own.path, window.location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('environment', own.environment)
  const socket = new WebSocket(url)
  own.socket = socket
  const beat = setInterval(() => send(own, { type: 'ping' }), beatMs)
  let wasOpen = false
  socket.addEventListener('open', () => {
    wasOpen = true
    own.retryMs = 500
  })
  socket.addEventListener('message', ({ data }) => line === own && hear(own, JSON.parse(data)))
  socket.addEventListener('close', ({ code }) => {
    clearInterval(beat)
    quiet(own)
    for (const { failed } of waiting.values()) failed(new Error(t('The connection was lost.')))
    waiting.clear()
    if (line === own) void lost(own, code, wasOpen)
  })
}

async function lost(own: Line, code: number, wasOpen: boolean): Promise<void> {
  const refusal = finals[code] ?? (wasOpen ? null : await refusalOf(own))
  if (line !== own) return
  if (refusal !== null) return leave(t(refusal))
  hush()
  const { call } = desk.get()
  const told =
    code === 4002
      ? 'No audio received: check the microphone, and that the network allows UDP.'
      : call.state === 'connected' || call.state === 'on_hold'
        ? 'The connection was lost. The caller hears music for 30 seconds; you speak on as soon as it is back.'
        : call.state === 'ringing'
          ? 'The connection was lost. The call went to the next colleague.'
          : 'The connection was lost and is being opened again.'
  set({ link: 'lost', told: t(told), ...(call.state === 'ringing' ? { offer: null } : {}) })
  setTimeout(() => line === own && connect(own), own.retryMs)
  own.retryMs = Math.min(longestRetryMs, own.retryMs * 2)
}

/** Why the server lets nobody in; null if it does, or nobody answers. A browser does not tell why a websocket did not open. */
async function refusalOf({ agent_id }: Line): Promise<string | null> {
  try {
    await callcenterAgentContext(api, { agent_id })
    return null
  } catch (error) {
    const status = error instanceof PamojaError ? error.status : 0
    return status === 401 || status === 403
      ? (finals[4000 + status] ?? null)
      : status === 404
        ? (finals[4409] ?? null)
        : null
  }
}

function send(own: Line, message: object): void {
  if (own.socket?.readyState === WebSocket.OPEN) own.socket.send(JSON.stringify(message))
}

/** Asks the desk for something; refused with the reason. */
export function ask<T = unknown>(message: { readonly type: string; readonly [field: string]: unknown }): Promise<T> {
  const own = line
  if (own?.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Error(t('The connection was lost.')))
  const id = crypto.randomUUID()
  return new Promise((resolve, reject) => {
    waiting.set(id, { done: (result) => resolve(Object(result)), failed: reject })
    send(own, { id, ...message })
  })
}

// --- audio ---

async function offered(own: Line, offer: AudioOffer): Promise<void> {
  quiet(own)
  own.peer = await answerOffer(offer, own.microphone, {
    send: (message) => send(own, message),
    plays: (stream) => {
      voice.srcObject = stream
    },
  })
}

function quiet(own: Line): void {
  own.peer?.close()
  own.peer = null
  voice.srcObject = null
}

/** Milliseconds to the server and back, and the share of sound that was lost; null without a connection. */
export async function networkFigures(): Promise<{ rttMs: number | null; lost: number } | null> {
  if (!line?.peer) return null
  let rttMs: number | null = null
  let [received, missed] = [0, 0]
  for (const one of (await line.peer.getStats()).values()) {
    if (one.type === 'candidate-pair' && one.nominated) rttMs = Math.round(1_000 * (one.currentRoundTripTime ?? 0))
    if (one.type === 'inbound-rtp') [received, missed] = [one.packetsReceived ?? 0, one.packetsLost ?? 0]
  }
  return { rttMs, lost: received + missed === 0 ? 0 : Math.max(0, missed) / (received + missed) }
}

export const microphoneNow = (): MediaStream | null => line?.microphone ?? null

// --- what is heard ---

/** The server is taken at its word. */
function hear(own: Line, message: object): void {
  const given = Object(message)
  switch (given.type) {
    case 'webrtc.offer':
      return void offered(own, given).catch((error: Error) => set({ told: sentenceOf(error) }))
    case 'desk.ready':
      return ready()
    case 'agent.status':
      return set({ agent: given })
    case 'call.offer':
      return rings(own, given)
    case 'call.state':
      return callChanged(given)
    case 'transfer.state':
      return transferChanged(given.transfer)
    case 'clock':
      return keepClock(given.ahead_seconds)
    case 'queue.live':
      return set({ queues: given.queues })
    case 'done':
      return settle(given.id, ({ done }) => done(given.result))
    case 'error':
      if (given.id === undefined) return set({ told: sentenceOf(given) })
      return settle(given.id, ({ failed }) => failed(Object.assign(new Error(given.message), { code: given.code })))
  }
}

function ready(): void {
  const before = desk.get()
  set({ link: 'open', told: null })
  if (before.link === 'lost')
    say(before.call.state === 'none' ? t('You are connected again.') : t('You are connected again: speak on.'))
}

function rings(own: Line, offer: Offer): void {
  set({ offer, third: null })
  if (!own.answers) return ring(whoIn(offer), offer.queue?.name ?? '', () => go('/desk'))
  own.answers = false
  void ask({ type: 'call.accept' }).catch((error: Error) => set({ told: sentenceOf(error) }))
}

function settle(id: string, how: (one: { done(result: unknown): void; failed(error: Error): void }) => void): void {
  const found = waiting.get(id)
  waiting.delete(id)
  if (found) how(found)
}

/** Who calls, as far as it is known. */
export function whoIn({ from, context }: Offer): string {
  return context.customer?.name ?? (from ? numberText(from) : t('Unknown caller'))
}

function callChanged(call: CallNow): void {
  const before = desk.get()
  if (call.state !== 'ringing') hush()
  const wasSpeaking = before.call.state === 'connected' || before.call.state === 'on_hold'
  const isOver = call.state === 'none' && wasSpeaking && before.call.call_id !== null
  const isQueueCall = before.offer === null || before.offer.context.call !== null
  set({
    call,
    ...(call.state === 'none' ? { offer: null, third: null } : {}),
    ...(isOver && isQueueCall && before.call.call_id
      ? { toNote: { call_id: before.call.call_id, who: before.offer ? whoIn(before.offer) : t('Unknown caller') } }
      : {}),
  })
}

/** Transfer that the agent takes back: nothing is said of its end. */
let takenBack: string | null = null
export function takesBack(transfer_id: string): void {
  takenBack = transfer_id
}

function transferChanged(transfer: CallTransfer | null): void {
  const { transfer: before, call } = desk.get()
  const isSpeaking = call.state === 'connected' || call.state === 'on_hold'
  const isInVain = before?.status === 'ringing' && transfer === null && before.transfer_id !== takenBack
  set({ transfer })
  if (isInVain && isSpeaking) say(t('The call was not answered: you speak with the caller again.'))
}

export const noted = (): void => set({ toNote: null })
export const thirdIs = (third: string): void => set({ third })
export const tellDesk = (told: string | null): void => set({ told })
