// SPDX-License-Identifier: Apache-2.0
// Request to the account's application for the next screen while the subscriber waits: as an event whose reply may hold
// the screen, or in CON/END form.
import { newId } from '../../kernel/ids.ts'
import { isStorable } from '../../platform/api/json.ts'
import type { App } from '../../platform/app.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { type Answer, ask } from '../webhooks/area.ts'
import { ussdEvents } from './events.ts'
import { type Data, maxDataBytes } from './schema.ts'
import { maxScreenLength } from './screen.ts'
import { inputsOf, type Session } from './session.ts'

/** Timeout of one reply, whatever the network allows. */
const answerMs = 5_000

export type Said =
  | { readonly kind: 'screen'; readonly text: string; readonly ends: boolean; readonly data?: Data | undefined }
  /** Request accepted; the screen follows by POST /v1/ussd/continue. */
  | { readonly kind: 'later' }
  | { readonly kind: 'nothing'; readonly isLate: boolean }

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
  const eventId = newId('event', nowMs)
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
  })
  return { said: setup.mode === 'text' ? textSaid(answer) : jsonSaid(answer), tookMs: Math.round(answer.tookMs) }
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
    networkCode: session.network ?? '',
    text: inputsOf(session).join('*'),
  }).toString()
}

/** Parse `CON <screen>` (continue) or `END <screen>` (end). */
function textSaid(answer: Answer): Said {
  if (answer.kind === 'nothing') return { kind: 'nothing', isLate: answer.why === 'late' }
  const [, word, text = ''] = /^\s*(CON|END)(?:\s([\s\S]*))?$/.exec(answer.text) ?? []
  const screen = text.trim()
  if (word === undefined || !isScreen(screen)) return { kind: 'nothing', isLate: false }
  return { kind: 'screen', text: screen, ends: word === 'END' }
}

/**
 * Parse `{message, end_session, data}`. A reply without a message only acknowledges the request: frameworks send `OK`
 * or `{"received": true}` by default.
 */
function jsonSaid(answer: Answer): Said {
  if (answer.kind === 'nothing') return { kind: 'nothing', isLate: answer.why === 'late' }
  const isJson = /json/i.test(answer.contentType) || /^\s*\{/.test(answer.text)
  if (!isJson || answer.text.trim() === '') return { kind: 'later' }
  const said = parsed(answer.text)
  if (said === undefined) return { kind: 'nothing', isLate: false }
  if (!isObject(said) || said.message === undefined || said.message === null) return { kind: 'later' }
  const { message, end_session: ends = false, data } = said
  const isSound =
    typeof message === 'string' &&
    isScreen(message) &&
    typeof ends === 'boolean' &&
    (data === undefined || isData(data))
  if (!isSound) return { kind: 'nothing', isLate: false }
  return { kind: 'screen', text: message, ends, data: isObject(data) ? data : undefined }
}

/** Whether a text can be stored and shown. */
function isScreen(text: string): boolean {
  return text.length >= 1 && text.length <= maxScreenLength && isStorable(text)
}

export function isData(value: unknown): value is Data {
  return isObject(value) && Buffer.byteLength(JSON.stringify(value)) <= maxDataBytes
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
