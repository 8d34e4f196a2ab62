// SPDX-License-Identifier: Apache-2.0
// Request to the account's application for the next screen while the subscriber waits: as an event whose reply may hold
// the screen, or in CON/END form.
import { idOf } from '../../kernel/ids.ts'
import { resolveNetwork } from '../../kernel/phone.ts'
import { isStorable } from '../../platform/api/json.ts'
import type { App } from '../../platform/app.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { type Answer, ask } from '../webhooks/area.ts'
import { ussdEvents } from './events.ts'
import { type Data, exactNumbersRule, hasExactNumbers, maxDataBytes } from './schema.ts'
import { tooLong, transliterated } from './screen.ts'
import { inputsOf, type Session } from './session.ts'

/** Timeout of one reply, whatever the network allows. */
const answerMs = 5_000

export type Said =
  | { readonly kind: 'screen'; readonly text: string; readonly ends: boolean; readonly data?: Data | undefined }
  /** Request accepted; the screen follows by POST /v1/ussd/continue. */
  | { readonly kind: 'later' }
  | { readonly kind: 'nothing'; readonly isLate: boolean /** What was wrong. */; readonly why: string }

/** Deadline for a screen in milliseconds: one second less than the network's timeout. */
export function deadlineMs({ setup }: Pick<Session, 'setup'>): number {
  return setup.network_limit * 1_000 - 1_000
}

/** Payload of ussd.response, for a session that waits for its application. */
export function responsePayload(session: Session, nowMs: number) {
  return {
    session_id: session.session_id,
    phone: session.phone,
    input: session.input,
    data: session.data,
    shortcode: session.shortcode,
    type: session.step === 1 ? ('initiation' as const) : ('response' as const),
    step: session.step,
    text: inputsOf(session).join('*'),
    network: session.network,
    deadline: new Date(nowMs + deadlineMs(session)),
    resumed_from: session.resumed_from,
    language: session.language,
  }
}

export async function askApplication(app: App, session: Session): Promise<{ said: Said; tookMs: number }> {
  const { setup } = session
  const tenant = tenantOf(session)
  if (setup.url === null) return { said: { kind: 'later' }, tookMs: 0 }
  const nowMs = app.clock.nowMs()
  // The event that subscribers get a copy of was written with the input, under this id.
  const eventId = idOf('event', session.message)
  const answer = await ask(app, {
    tenant,
    name: ussdEvents.response.name,
    resource: session.session_id,
    eventId,
    url: setup.url,
    fallbackUrl: setup.fallback_url,
    ...(setup.mode === 'text'
      ? { contentType: 'application/x-www-form-urlencoded', body: formOf(session) }
      : { contentType: 'application/json', body: eventBody(session, eventId, nowMs) }),
    withinMs: Math.min(answerMs, deadlineMs(session)),
    clockOffsetMs: Number(session.clock_offset_ms),
    refusal: (heard) => {
      const said = saidIn(heard)
      return said.kind === 'nothing' ? said.why : null
    },
  })
  return { said: saidIn(answer), tookMs: Math.round(answer.tookMs) }

  function saidIn(heard: Answer): Said {
    if (heard.kind === 'nothing') return { kind: 'nothing', isLate: heard.why === 'late', why: heard.reason }
    return setup.mode === 'text' ? textSaid(heard, session) : jsonSaid(heard, session)
  }
}

function eventBody(session: Session, eventId: `evt_${string}`, receivedMs: number): string {
  const nowMs = receivedMs + Number(session.clock_offset_ms)
  return ussdEvents.response.body(eventId, new Date(nowMs), responsePayload(session, nowMs))
}

/** Request fields of Africa's Talking, so that its applications run unchanged. */
function formOf(session: Session): string {
  return new URLSearchParams({
    sessionId: session.session_id,
    serviceCode: session.shortcode,
    phoneNumber: session.phone,
    networkCode: networkCodeOf(session),
    text: inputsOf(session).join('*'),
  }).toString()
}

/** Mobile country and network code, such as 63902; the network's name where its code is not known. */
function networkCodeOf({ phone, network }: Session): string {
  return network === null ? '' : (resolveNetwork(phone, network).code ?? network)
}

type Heard = Exclude<Answer, { kind: 'nothing' }>

/** Parses `CON <screen>` (continue) or `END <screen>` (end). */
function textSaid({ text: answer }: Heard, session: Session): Said {
  const [, word, text = ''] = /^\s*(CON|END)(?:\s([\s\S]*))?$/.exec(answer) ?? []
  if (word === undefined) return unusable('the answer does not begin with CON or END and a space')
  const screen = text.trim()
  const problem = screenProblem(screen, session)
  return problem === null ? { kind: 'screen', text: screen, ends: word === 'END' } : unusable(problem)
}

/**
 * Parses `{message, end_session, data}`. A reply without a message only acknowledges the request: frameworks send `OK`
 * or `{"received": true}` by default.
 */
function jsonSaid({ contentType, text }: Heard, session: Session): Said {
  const isJson = /json/i.test(contentType) || /^\s*\{/.test(text)
  if (!isJson || text.trim() === '') return { kind: 'later' }
  const said = parsed(text)
  if (said === undefined) return unusable('the answer is not JSON')
  if (!isObject(said) || said.message === undefined || said.message === null) return { kind: 'later' }
  const { message, end_session: ends = false, data } = said
  if (typeof message !== 'string') return unusable('message is not a text')
  if (typeof ends !== 'boolean') return unusable('end_session is not true or false')
  const problem = screenProblem(message, session) ?? (data === undefined ? null : dataProblem(data))
  if (problem !== null) return unusable(problem)
  return { kind: 'screen', text: message, ends, data: isObject(data) ? data : undefined }
}

function unusable(why: string): Said {
  return { kind: 'nothing', isLate: false, why }
}

/** Reason for which a text cannot be stored or shown; null for one that can. */
function screenProblem(text: string, { setup }: Session): string | null {
  if (text === '') return 'the screen is empty'
  if (!isStorable(text)) return 'the screen has U+0000 or half of a surrogate pair'
  return tooLong(text, setup.transliterate ? transliterated(text) : text, setup)
}

/** Reason for which session data cannot be kept; null for data that can. */
export function dataProblem(value: unknown): string | null {
  if (!isObject(value)) return 'data is not an object'
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > maxDataBytes) return `data has ${bytes} bytes as JSON; at most ${maxDataBytes} can be kept`
  return hasExactNumbers(value) ? null : exactNumbersRule
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
