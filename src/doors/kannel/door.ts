// SPDX-License-Identifier: Apache-2.0
// Kannel's sendsms: texts by GET with a query, by POST of a form, or by POST of the text with X-Kannel headers.
import { AppError } from '../../kernel/errors.ts'
import { type Door, type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'
import { dialect, reportsTo } from './receipts.ts'

const maxBytes = 64 * 1024
const noReceiver = 'Missing receiver number, rejected'
const badTime = 'Validity or deferral misformed, rejected'
const badCoding = 'Coding field misformed, rejected'
const denied = 'Number(s) has/have been denied by white- and/or black-lists.'

export const kannel: Door = {
  name: 'kannel',
  title: 'Kannel’s sendsms',
  maxBytes,
  secretOf: ({ headers, query }) =>
    query.get('password') ?? query.get('pass') ?? one(headers['x-kannel-password']) ?? null,
  routes: [
    { method: 'GET', path: '/cgi-bin/sendsms', handle: sendsms },
    { method: 'POST', path: '/cgi-bin/sendsms', handle: sendsms },
  ],
  refused,
  dialect,
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

async function sendsms(call: DoorCall): Promise<HookAnswer> {
  const field = (...names: readonly string[]): string | undefined =>
    call.query.get(...names) ?? call.form.get(...names) ?? one(call.headers[`x-kannel-${names[0]}`])
  field('password', 'pass')
  const to = (field('to') ?? '').split(/[\s,]+/).filter((number) => number !== '')
  if (to.length === 0) throw new AppError('INVALID_REQUEST', noReceiver)
  const coding = Number(field('coding') ?? 0)
  if (field('udh') || ![0, 2].includes(coding)) throw new AppError('INVALID_REQUEST', badCoding)
  const message = textOf(call, coding, field('charset'), field('text'))
  const mask = Number(field('dlr-mask') ?? 0)
  const reports = reportsTo(field('dlr-url'), mask, field('username', 'user') ?? '')
  const deferred = minutesIn(field('deferred'))
  const common = {
    from: internationalNumber(field('from') ?? (await defaultSender(call))),
    ...(reports === null ? {} : { callback_url: reports, callback_events: mask & 8 ? 'all' : 'final' }),
    ...(deferred > 0 ? { scheduled_at: new Date(call.nowMs + deferred * 60_000).toISOString() } : {}),
    metadata: { ...(field('account') ? { account: field('account') } : {}) },
  }
  const numbers = to.map(internationalNumber)
  const validity = minutesIn(field('validity'))
  // Texts to several go out as one request, which has no time after which a text is worthless.
  if (validity > 0 && numbers.length > 1) throw new AppError('INVALID_REQUEST', badTime)
  const lasts = validity > 0 ? { validity: Math.min(172_800, validity * 60) } : {}
  const alphabet = coding === 2 ? { encoding: 'ucs2' } : {}
  if (numbers.length === 1)
    await call.run('sms.send', { body: { to: numbers[0], message, ...common, ...lasts, ...alphabet } })
  else {
    const messages = numbers.map((number) => ({ to: number, message }))
    await call.run('sms.sendBulk', { body: { messages, ...common, allow_partial: false } })
  }
  return html('0: Accepted for delivery', 202)
}

/** Text of a request. With `coding=2` and no charset its bytes are UTF-16, the higher byte first. */
function textOf({ search, bytes, headers }: DoorCall, coding: number, charset = 'UTF-8', given?: string): string {
  const isBody = given === undefined && /^text\/plain/.test(headers['content-type'] ?? '')
  const [, written = ''] = /(?:^|&)text=([^&]*)/.exec(search) ?? []
  const raw = isBody ? bytes : Buffer.from(unescaped(written), 'latin1')
  if (coding === 2 && !/utf-?8/i.test(charset === 'UTF-8' ? '' : charset) && raw.length % 2 === 0 && raw.length > 0)
    return new TextDecoder('utf-16be').decode(raw)
  if (!isBody && /^utf-?8$/i.test(charset)) return given ?? ''
  try {
    return new TextDecoder(charset).decode(raw)
  } catch {
    throw new AppError('INVALID_REQUEST', 'Charset or body misformed, rejected')
  }
}

/** Minutes of a field: none unless given, at most some years. */
function minutesIn(given = '0'): number {
  if (!/^-?\d{1,7}$/.test(given)) throw new AppError('INVALID_REQUEST', badTime)
  return Math.max(0, Number(given))
}

function unescaped(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

async function defaultSender(call: DoorCall): Promise<string> {
  const sender = (await call.run('account.get')).part('settings').maybe('default_sender')
  if (sender === null) throw new AppError('INVALID_REQUEST', 'Sender missing and no global set, rejected')
  return sender
}

const words: Readonly<Record<string, readonly [number, string]>> = {
  UNAUTHORIZED: [403, 'Authorization failed for sendsms'],
  FORBIDDEN: [403, 'Authorization failed for sendsms'],
  HTTPS_REQUIRED: [403, 'Authorization failed for sendsms'],
  INVALID_PHONE: [400, denied],
  OPTED_OUT: [400, denied],
  COUNTRY_NOT_ENABLED: [400, denied],
  NOT_FOUND: [404, 'Unknown request.'],
}
const unable = 'Temporal failure, try again later.'
const later = new Set(['INSUFFICIENT_BALANCE', 'NO_ROUTE', 'PROVIDER_UNAVAILABLE', 'ACCOUNT_SUSPENDED'])

function refused({ code, status, details }: AppError): HookAnswer {
  const known = words[code]
  if (known) return html(known[1], known[0])
  if (status >= 500 || status === 429 || later.has(code)) return html(unable, 503)
  return html(details || code, 400)
}

function html(body: string, status: number): HookAnswer {
  return { status, headers: { 'content-type': 'text/html', pragma: 'no-cache' }, body }
}
