// SPDX-License-Identifier: Apache-2.0
// Connection of the desk: one websocket for what happens and one WebRTC track for as long as the member works, whatever page is
// open. A connection that is lost is opened again, also in the middle of a call, and the page is told what became of the call.

import { PamojaError } from '#sdk/client.ts'
import { callcenterAgentContext, callcenterCall, callcenterLogin, callcenterLogout } from '#sdk/operations.ts'
import type { AgentContext, CallTransfer } from '#sdk/schemas.ts'
import { api, currentEnvironment, type Environment, speaks } from '../../api.ts'
import { devices, playBy } from '../../kit/devices.tsx'
import { say } from '../../kit/dialogs.tsx'
import { type AudioOffer, answerOffer, openMicrophone, stopTracks } from '../../kit/microphone.ts'
import { allowSound, isSilenced } from '../../kit/sound.ts'
import { numberText, withheldNumber } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { sentenceOf } from '../../refusals.ts'
import { store } from '../../store.ts'
import { keepClock } from '../../waiting.ts'
import { t } from '../../words.ts'
import { hush, ring } from './ring.ts'
import type { chosenStates } from './states.tsx'
import { keepToNote, keptToNote, type ToNote } from './to-note.ts'

interface AgentNow {
  readonly agent_id: string
  readonly status: string
  readonly reason: string | null
  readonly since: string
  /** End of a break or of the time after a call; null without one. */
  readonly until: string | null
  readonly next_status: string | null
}

interface CallNow {
  readonly call_id: string | null
  readonly state: 'none' | 'ringing' | 'connected' | 'on_hold'
  readonly muted: boolean
  /** Names of other agents who speak in the call. */
  readonly others: readonly string[]
}

/** Transfer under way, with the agent who asked for it. */
export type TransferNow = CallTransfer & { readonly from_agent: string | null; readonly from_name: string | null }

export interface Offer {
  readonly call_id: string
  readonly from: string | null
  readonly queue: { readonly queue_id: string; readonly name: string } | null
  readonly context: AgentContext
  readonly expires_at: string
  /** Whether the member asked for the call, which is answered by itself. */
  readonly isAsked: boolean
  /** Whether the member only listens. */
  readonly isListening: boolean
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
  readonly transfer: TransferNow | null
  readonly queues: readonly QueueNow[]
  /** Customer of the last call, and the number that they know. */
  readonly last: { readonly to: string; readonly from: string; readonly who: string } | null
  /** Calls of which the outcome is to be noted, the last one first. */
  readonly toNote: readonly ToNote[]
  /** Who was brought into the call from outside and speaks in it as well. */
  readonly third: string | null
  /** What the other side says; null without audio. */
  readonly heard: MediaStream | null
  /** Why the desk is closed, or what became of the call. */
  readonly told: string | null
}

const noCall: CallNow = { call_id: null, state: 'none', muted: false, others: [] }
const closed: DeskNow = {
  ...{ link: 'closed', agent: null, call: noCall, offer: null, transfer: null, queues: [] },
  ...{ toNote: [], last: null, third: null, heard: null, told: null },
}

export const desk = store<DeskNow>(closed)

/** Plays what the other side says. */
const voice = new Audio()
voice.autoplay = true
void playBy(voice, devices.get().speaker)

const kept = 'pamoja-desk'
/** Supervision that the tab is in, by its id: a call that is listened to stays one when the page is loaded anew. */
export const keptMonitor = 'pamoja-monitor'
const longestRetryMs = 8_000
const beatMs = 10_000
/** Silence of the server after which the connection counts as lost: a network that is gone does not close it. */
const longestSilenceMs = 25_000
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
  microphone: MediaStream
  socket: WebSocket | null
  peer: RTCPeerConnection | null
  retryMs: number
  /** Calls that are answered as soon as they ring: those that the member asked for. */
  answers: boolean
  /** Call in which the connection was lost. */
  broken: (ToNote & { readonly isOfQueue: boolean }) | null
  /** Whether the next call that is answered by itself, or the one now, is only listened to: it has no outcome of the member's. */
  isListening: boolean
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
  }).catch((refused) => {
    stopTracks(microphone)
    throw refused
  })
  // The page's own origin, whatever name the installation goes by elsewhere.
  open(agent_id, microphone, new URL(login.desk.ws_url).pathname)
}

let isResuming = false

/** Opens the desk again after the page was loaded anew, if it was open. */
export async function resumeWork({ id }: Member): Promise<void> {
  set({ toNote: keptToNote(id) })
  const [environment, path] = (sessionStorage.getItem(kept) ?? '').split(' ')
  if (line !== null || isResuming || path === undefined || environment !== currentEnvironment()) return
  isResuming = true
  try {
    open(id, await openMicrophone(), path)
  } finally {
    isResuming = false
  }
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

/** Asks for a call, which is answered at once when it rings; one that is refused leaves the next call to ring as any other. */
export async function answering<T>(asked: () => Promise<T>, isListening = false): Promise<T> {
  if (line) Object.assign(line, { answers: true, isListening })
  return asked().catch((refused) => {
    if (line) Object.assign(line, { answers: false, isListening: false })
    throw refused
  })
}

/** Places a call: it is answered at this desk by itself, and then rings at the customer's. */
export async function place(body: { readonly to: string; readonly from: string; readonly agent_id: string }) {
  await answering(() => callcenterCall(api, { body }))
}

function open(agent_id: string, microphone: MediaStream, path: string): void {
  leave(null)
  allowSound()
  const environment = currentEnvironment()
  sessionStorage.setItem(kept, `${environment} ${path}`)
  const isListening = sessionStorage.getItem(keptMonitor) !== null
  const nothing = { socket: null, peer: null, retryMs: 500, answers: false, broken: null, isListening }
  line = { environment, path, agent_id, microphone, ...nothing }
  desk.set({ ...closed, link: 'opening', toNote: keptToNote(agent_id) })
  watchMicrophone(line)
  connect(line)
}

function leave(told: string | null): void {
  const before = line
  line = null
  hush()
  if (before) {
    before.socket?.close(1000)
    quiet(before)
    stopTracks(before.microphone)
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
  let wasOpen = false
  let heardMs = performance.now()
  const stop = new AbortController()
  const { signal } = stop
  const over = (code: number): void => {
    if (signal.aborted) return
    stop.abort()
    clearInterval(beat)
    socket.close()
    if (line === own) quiet(own)
    for (const { failed } of waiting.values()) failed(new Error(t('The connection was lost.')))
    waiting.clear()
    if (line === own) void lost(own, code, wasOpen)
  }
  const look = (): void => {
    if (performance.now() - heardMs > longestSilenceMs) over(0)
    else send(own, { type: 'ping' })
  }
  const beat = setInterval(look, beatMs)
  socket.addEventListener('open', () => {
    wasOpen = true
    own.retryMs = 500
  })
  socket.addEventListener('message', ({ data }) => {
    heardMs = performance.now()
    if (line === own) hear(own, JSON.parse(data))
  })
  socket.addEventListener('close', ({ code }) => over(code))
  // A computer that slept, or lost its network, learns it at once and not with the next beat.
  window.addEventListener('offline', () => over(0), { signal })
  document.addEventListener('visibilitychange', look, { signal })
}

async function lost(own: Line, code: number, wasOpen: boolean): Promise<void> {
  const { call, offer } = desk.get()
  if (isSpeakingIn(call) && call.call_id !== null && !own.isListening)
    own.broken = { ...toNoteOf(call.call_id, offer), isOfQueue: offer?.queue !== null }
  const refusal = finals[code] ?? (wasOpen ? null : await refusalOf(own))
  if (line !== own) return
  if (refusal !== null) {
    const { broken } = own
    if (broken) noteLater(broken)
    return leave(refusal === finals[4409] && broken ? givenAway(broken) : t(refusal))
  }
  hush()
  const told =
    code === 4002
      ? 'No audio received: check the microphone, and that the network allows UDP.'
      : isSpeakingIn(call)
        ? 'The connection was lost. The caller hears music for 30 seconds; you speak on as soon as it is back.'
        : call.state === 'ringing'
          ? 'The connection was lost. The call went to the next colleague.'
          : 'The connection was lost and is being opened again.'
  set({ link: 'lost', told: t(told), ...(call.state === 'ringing' ? { offer: null } : {}) })
  const again = new AbortController()
  const retry = (): void => {
    if (again.signal.aborted) return
    again.abort()
    clearTimeout(timer)
    if (line === own) connect(own)
  }
  const timer = setTimeout(retry, own.retryMs)
  window.addEventListener('online', retry, { signal: again.signal })
  own.retryMs = Math.min(longestRetryMs, own.retryMs * 2)
}

desk.listen(({ call }) => speaks(call.state !== 'none'))

const isSpeakingIn = ({ state }: CallNow): boolean => state === 'connected' || state === 'on_hold'

/** What became of a call whose agent did not come back in time. */
function givenAway({ who, isOfQueue: hasQueue }: NonNullable<Line['broken']>): string {
  return hasQueue
    ? t(
        'You were away for more than 30 seconds: {name} waits for the next agent, first in the queue. Start work again.',
        { name: who },
      )
    : t('You were away for more than 30 seconds: the call with {name} has ended. Start work again.', { name: who })
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
  const peer = await answerOffer(offer, own.microphone, {
    send: (message) => send(own, message),
    plays: (stream) => {
      if (line !== own) return
      voice.srcObject = stream
      set({ heard: stream })
    },
  })
  // The desk may have been left meanwhile.
  if (line === own) own.peer = peer
  else peer.close()
}

function quiet(own: Line): void {
  own.peer?.close()
  own.peer = null
  voice.srcObject = null
  if (desk.get().heard !== null) set({ heard: null })
}

/** Speaks by the chosen microphone, or by another one when it is gone. */
async function changeMicrophone(own: Line): Promise<void> {
  const next = await openMicrophone()
  if (line !== own) return stopTracks(next)
  stopTracks(own.microphone)
  own.microphone = next
  watchMicrophone(own)
  const track = next.getAudioTracks()[0] ?? null
  for (const sender of own.peer?.getSenders() ?? []) await sender.replaceTrack(track)
  if (desk.get().link === 'open') set({ told: null })
  say(t('You speak by: {name}', { name: track?.label || t('Default device') }))
}

/** A headset that is pulled out is told, and another microphone is taken, now or when there is one. */
function watchMicrophone(own: Line): void {
  const change = (): void => {
    if (line !== own) return
    changeMicrophone(own).catch((error: Error) => {
      set({ told: sentenceOf(error) })
      navigator.mediaDevices.addEventListener('devicechange', change, { once: true })
    })
  }
  own.microphone.getAudioTracks()[0]?.addEventListener('ended', change, { once: true })
}

let chosen = devices.get()
devices.listen((now) => {
  const before = chosen
  chosen = now
  if (now.speaker !== before.speaker) void playBy(voice, now.speaker)
  if (now.microphone !== before.microphone && line)
    changeMicrophone(line).catch((error: Error) => set({ told: sentenceOf(error) }))
})

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
      return ready(own)
    case 'agent.status':
      return set({ agent: given })
    case 'call.offer':
      return rings(own, given)
    case 'call.state':
      return callChanged(own, { ...noCall, ...given })
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

function ready(own: Line): void {
  const { link, call } = desk.get()
  const { broken } = own
  own.broken = null
  set({ link: 'open', told: isSilenced() ? t('Press any key or click once, so that the desk may ring.') : null })
  if (link !== 'lost') return
  if (call.state !== 'none') say(t('You are connected again: speak on.'))
  else if (broken) say(t('You are connected again. The call with {name} has ended.', { name: broken.who }))
  else say(t('You are connected again.'))
}

/** A page that was loaded anew may make no sound before a key or a click. */
for (const deed of ['keydown', 'pointerdown'])
  window.addEventListener(deed, () => {
    if (line === null || !isSilenced()) return
    allowSound()
    if (desk.get().link === 'open') set({ told: null })
  })

function rings(own: Line, offer: Omit<Offer, 'isAsked' | 'isListening'>): void {
  if (!own.answers) own.isListening = false
  set({ offer: { ...offer, isAsked: own.answers, isListening: own.isListening }, third: null })
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
export function whoIn({ from, context }: Pick<Offer, 'from' | 'context'>): string {
  return context.customer?.name ?? (from ? numberText(from) : t('Unknown caller'))
}

function callChanged(own: Line, call: CallNow): void {
  const before = desk.get()
  if (call.state !== 'ringing') hush()
  const isOver = call.state === 'none' && isSpeakingIn(before.call)
  // Who only listened, or was asked and not given the call, has no outcome to note.
  const isTheirs = !own.isListening && !isAskedIn(before)
  const hasOutcome = isTheirs && (before.offer === null || before.offer.context.call !== null)
  const last = lastOf(before.offer)
  // A colleague who spoke as well has left: whoever hangs up now ends the call.
  const isLeft = before.call.others.length > 0 && call.others.length === 0
  set({
    call,
    ...(isLeft ? { third: null } : {}),
    ...(call.state === 'none' ? { offer: null, third: null } : {}),
    ...(isOver && hasOutcome && last ? { last } : {}),
  })
  if (isSpeakingIn(call) && before.offer === null && call.call_id !== null)
    void learnWho(own, call.call_id).catch(() => undefined)
  if (isOver && hasOutcome && before.call.call_id !== null) noteLater(toNoteOf(before.call.call_id, before.offer))
}

/** A page that was loaded anew in a call learns whom it is with. */
async function learnWho(own: Line, call_id: string): Promise<void> {
  const context = await callcenterAgentContext(api, { agent_id: own.agent_id })
  const { call, offer } = desk.get()
  if (line !== own || offer !== null || call.call_id !== call_id || !isSpeakingIn(call)) return
  const queue_id = context.call?.queue_id ?? null
  const queue = queue_id === null ? null : { queue_id, name: '' }
  const from = context.customer?.phone ?? null
  set({ offer: { call_id, from, queue, context, expires_at: '', isAsked: true, isListening: own.isListening } })
}

/** Whether the member is asked by a colleague, who has the call. */
export const isAskedIn = ({ transfer, agent }: Pick<DeskNow, 'transfer' | 'agent'>): boolean =>
  Boolean(transfer?.from_name) && transfer?.from_agent !== agent?.agent_id

/** How the customer of a call is called back; null for one who is not known. */
function lastOf(offer: Offer | null): DeskNow['last'] {
  const { call, customer } = offer?.context ?? {}
  if (!offer || !call || !customer || customer.phone === withheldNumber) return null
  return { to: customer.phone, from: call.direction === 'outbound' ? call.from : call.to, who: whoIn(offer) }
}

const toNoteOf = (call_id: string, offer: Offer | null): ToNote => ({
  call_id,
  who: offer ? whoIn(offer) : t('Unknown caller'),
})

/** The outcome of a call is noted when there is time for it: the next call may come before. */
function noteLater({ call_id, who }: ToNote): void {
  if (line) set({ toNote: keepToNote(line.agent_id, [{ call_id, who }, ...desk.get().toNote]) })
}

/** The outcome of a call is noted, or not wanted. */
export function noted(agent_id: string, call_id: string): void {
  set({
    toNote: keepToNote(
      agent_id,
      desk.get().toNote.filter((one) => one.call_id !== call_id),
    ),
  })
}

/** Transfer that the agent takes back: nothing is said of its end. */
let takenBack: string | null = null
export function takesBack(transfer_id: string): void {
  takenBack = transfer_id
}

function transferChanged(transfer: TransferNow | null): void {
  const { transfer: before, call } = desk.get()
  const isInVain = before?.status === 'ringing' && transfer === null && before.transfer_id !== takenBack
  set({ transfer })
  if (isInVain && isSpeakingIn(call)) say(t('The call was not answered: you speak with the caller again.'))
}

export const thirdIs = (third: string): void => set({ third })
export const tellDesk = (told: string | null): void => set({ told })
