// SPDX-License-Identifier: Apache-2.0
// Ids, times, statuses and refusals as Twilio writes them.
import { AppError } from '../../kernel/errors.ts'
import { idOf, type Kind, uuidOf } from '../../kernel/ids.ts'
import { type DoorCall, uuidInHex } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'

export const apiVersion = '2010-04-01'

/** Id with the prefix of Twilio: the 32 digits of the same UUID. */
export function sidOf(prefix: string, id: string, ...kinds: readonly Kind[]): string {
  const uuid = kinds.map((kind) => uuidOf(kind, id)).find((one) => one !== null)
  return prefix + (uuid ?? '').replaceAll('-', '')
}

/** Own id of one of Twilio's; NOT_FOUND when it has another form. */
export function ownId(prefix: string, sid: string, kind: Kind): string {
  const uuid = uuidInHex(prefix, sid)
  if (uuid === null) throw new AppError('NOT_FOUND', `The requested resource ${sid.slice(0, 40)} was not found`)
  return idOf(kind, uuid)
}

export function accountSid({ accountId }: Pick<DoorCall, 'accountId'>): string {
  return sidOf('AC', accountId, 'account')
}

/** Requires that the account of the path, and of the user name where it is one, is that of the key. */
export function requireAccount(call: DoorCall): string {
  const sid = accountSid(call)
  const user = Buffer.from((call.headers.authorization ?? '').replace(/^Basic /i, ''), 'base64')
    .toString()
    .split(':', 1)[0]
  const named = [call.params.account, user?.startsWith('AC') ? user : undefined].filter((one) => one !== undefined)
  if (named.some((one) => one !== sid)) throw new AppError('UNAUTHORIZED', 'the account differs from that of the key')
  return sid
}

/** `Wed, 18 Nov 2026 09:30:00 +0000`. */
export function dateOf(moment: string | null): string | null {
  return moment === null ? null : new Date(moment).toUTCString().replace('GMT', '+0000')
}

const messageStatuses: Readonly<Record<string, string>> = {
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  received: 'received',
}

/** Refusals before a network had the text. */
const unsent = new Set(['NO_ROUTE', 'PROVIDER_UNAVAILABLE', 'INSUFFICIENT_BALANCE', 'OPTED_OUT'])

/** Status of a text that did not arrive. */
function failedStatus(code: string | null, wasSent: boolean): string {
  if (code === 'CANCELLED') return 'canceled'
  return wasSent ? 'undelivered' : 'failed'
}

export function messageStatus(status: string, code: string | null, wasSent = !unsent.has(code ?? '')): string {
  return messageStatuses[status] ?? failedStatus(code, wasSent)
}

const deliveryCodes: Readonly<Record<string, number>> = {
  ABSENT_SUBSCRIBER: 30003,
  UNDELIVERABLE: 30003,
  BLOCKED: 30004,
  UNKNOWN_SUBSCRIBER: 30005,
  INVALID_NUMBER: 30005,
  REJECTED: 30007,
  SPAM_REJECTED: 30007,
}

/** Code of a text that did not arrive; null of one that did. */
export function deliveryCode(code: string | null): number | null {
  return code === null || code === 'CANCELLED' ? null : (deliveryCodes[code] ?? 30008)
}

const callStatuses: Readonly<Record<string, string>> = {
  initiated: 'queued',
  started: 'initiated',
  ringing: 'ringing',
  answered: 'in-progress',
  completed: 'completed',
  busy: 'busy',
  rejected: 'busy',
  timeout: 'no-answer',
}

export function callStatus(status: string, cause: string | null): string {
  return callStatuses[status] ?? (cause === 'cancelled' ? 'canceled' : 'failed')
}

/** Refusal with a code of Twilio's own. */
export function twilioError(twilio: number, details: string): AppError {
  return new AppError('INVALID_REQUEST', details, { extra: { twilio } })
}

/** Refusal of what Pamoja does not do. */
export function unsupported(what: string): AppError {
  return twilioError(20001, `${what} is not supported by Pamoja`)
}

/** Own code → HTTP status and Twilio's code. */
const codes: Readonly<Record<string, readonly [number, number]>> = {
  UNAUTHORIZED: [401, 20003],
  FORBIDDEN: [403, 20403],
  ACCOUNT_SUSPENDED: [403, 20403],
  HTTPS_REQUIRED: [403, 20403],
  NOT_FOUND: [404, 20404],
  RATE_LIMITED: [429, 20429],
  CONCURRENCY_LIMIT: [429, 20429],
  INVALID_PHONE: [400, 21211],
  SENDER_NOT_ALLOWED: [400, 21606],
  NUMBER_NOT_OWNED: [400, 21210],
  OPTED_OUT: [400, 21610],
  '131047': [400, 63016],
  '131026': [400, 63024],
  COUNTRY_NOT_ENABLED: [400, 21408],
  DESTINATION_NOT_ALLOWED: [400, 21408],
  MESSAGE_TOO_LONG: [400, 21617],
  INSUFFICIENT_BALANCE: [402, 20005],
  INVALID_URL: [400, 21609],
  INVALID_CALL_FLOW: [400, 12100],
  MESSAGE_NOT_CANCELLABLE: [400, 30409],
  CALL_NOT_ACTIVE: [400, 21220],
  OTP_COOLDOWN: [429, 60203],
  OTP_SEND_LIMIT: [429, 60203],
  OTP_ATTEMPTS_EXCEEDED: [429, 60202],
  OTP_EXPIRED: [404, 20404],
  OTP_ALREADY_USED: [404, 20404],
  OTP_BLOCKED: [403, 60410],
}

/** Field of the own API that was wrong → Twilio's code. */
const fieldCodes: Readonly<Record<string, number>> = { from: 21212, message: 21617, to: 21211, phone: 60200 }

export function refused({ code, status, details, extras }: AppError): HookAnswer {
  const own = extras.extra?.twilio
  const field = extras.fields?.[0]?.field ?? ''
  const byField = code === 'VALIDATION_ERROR' ? fieldCodes[field] : undefined
  const [http, number] =
    typeof own === 'number'
      ? [400, own]
      : byField === undefined
        ? (codes[code] ?? (status >= 500 ? [status, 20500] : [400, 20001]))
        : [400, byField]
  const more_info = `https://www.twilio.com/docs/errors/${number}`
  return answer({ code: number, message: details || code, more_info, status: http }, http)
}

export function answer(value: object, status = 200): HookAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) }
}

/** Address of a callback in this dialect, with GET where the method says so. */
export function callbackTo(url: string, method: string | undefined, ...words: readonly string[]): string {
  const options = [...(method?.toUpperCase() === 'GET' ? ['get'] : []), ...words]
  return `${['twilio', ...options].join('.')}+${url}`
}
