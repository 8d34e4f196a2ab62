// SPDX-License-Identifier: Apache-2.0
// How an aggregator without SMPP is spoken to, as data: the request that sends a message, how its answer is read, and what
// the aggregator's own calls mean. Pure: nothing here touches the network. A place in an answer or a call is a JSON pointer
// (/messages/0/id, where * is every element of a list) or else a regular expression whose first group is wanted.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { parseTarget } from '../../../platform/outbound/customer-urls.ts'
import { OneOf } from '../../../platform/schema.ts'
import type { OutboundMessage } from '../carrier.ts'

const maxEntries = 100
/** Receipts or messages that one call may bring. */
const maxTogether = 1_000
const maxIdLength = 200
const maxTextLength = 5_000
/** What a Retry-After is believed. */
const mostRetrySeconds = 300
const strict = { additionalProperties: false } as const

/** What becomes of a message, in the words of the API. */
const errorCodes = [
  'INVALID_NUMBER',
  'UNKNOWN_SUBSCRIBER',
  'ABSENT_SUBSCRIBER',
  'UNDELIVERABLE',
  'EXPIRED',
  'REJECTED',
  'BLOCKED',
  'SPAM_REJECTED',
  'INVALID_SENDER',
  'CARRIER_ERROR',
  'ENCODING_ERROR',
] as const

const Place = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    rule: 'must be a JSON pointer such as /messages/0/id, or a regular expression with one group',
    description: `${description}: a JSON pointer (\`*\` is every element), or a regular expression with one group`,
  })

const named = { maxProperties: maxEntries, rule: `must be an object of at most ${maxEntries} members` }

const Verdict = Type.Object(
  {
    as: OneOf(['reject', 'retry', 'reroute'], {
      description: 'Nobody will take it; the same again a little later; another carrier may take it',
    }),
    error: Type.Optional(OneOf(errorCodes, { description: 'The `error_code` of a rejected message' })),
  },
  strict,
)

export const Profile = Type.Object(
  {
    request: Type.Object(
      {
        method: OneOf(['GET', 'POST']),
        url: Type.String({ minLength: 1, maxLength: 2_000, rule: 'must be a URL' }),
        headers: Type.Optional(
          Type.Record(Type.String(), Type.String({ maxLength: 2_000 }), { ...named, sensitive: true }),
        ),
        format: OneOf(['json', 'form', 'query'], { description: 'Where the fields go, and how they are written' }),
        fields: Type.Record(Type.String(), Type.Unknown(), {
          ...named,
          sensitive: true,
          description:
            'The fields of the request, of any depth for `json`. Texts may hold {{to}}, {{to_digits}}, {{from}}, ' +
            '{{text}}, {{id}}, {{parts}}, {{encoding}}, {{validity_seconds}}, {{password}}, {{receipts_url}} and ' +
            '{{inbound_url}}, each escaped for its place',
        }),
      },
      strict,
    ),
    auth: Type.Optional(
      Type.Object(
        {
          kind: OneOf(['none', 'basic', 'bearer', 'header'], { description: 'How the password of the bind is sent' }),
          username: Type.Optional(Type.String({ maxLength: 200, description: 'For `basic`' })),
          header: Type.Optional(Type.String({ maxLength: 100, description: 'For `header`: its name' })),
        },
        strict,
      ),
    ),
    success: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(
            Type.Array(Type.Integer({ minimum: 200, maximum: 299 }), {
              minItems: 1,
              maxItems: 20,
              rule: 'must list statuses from 200 to 299',
            }),
          ),
          id: Type.Optional(Place('The id, or ids, that receipts will name; without it they name {{id}}')),
        },
        strict,
      ),
    ),
    errors: Type.Optional(
      Type.Object(
        {
          code: Type.Optional(Place('The aggregator’s own code, in an answer of whatever status')),
          codes: Type.Optional(Type.Record(Type.String(), Verdict, named)),
          statuses: Type.Optional(Type.Record(Type.String(), Verdict, named)),
        },
        strict,
      ),
    ),
    receipts: Type.Optional(
      Type.Object(
        {
          each: Type.Optional(Place('The list, when a call brings several')),
          id: Place('The id that the answer gave'),
          status: Place('The status'),
          error: Type.Optional(Place('The aggregator’s own code')),
          statuses: Type.Record(Type.String(), OneOf(['delivered', 'ignored', ...errorCodes]), {
            ...named,
            description: 'What each status means: delivered, an `error_code`, or ignored when it is not final',
          }),
        },
        strict,
      ),
    ),
    inbound: Type.Optional(
      Type.Object(
        {
          each: Type.Optional(Place('The list, when a call brings several')),
          from: Place('The handset'),
          to: Place('The number, short code or sender it writes to'),
          text: Place('What it writes'),
        },
        strict,
      ),
    ),
  },
  { ...strict, rule: 'must be an object with `request` and what else the aggregator needs' },
)

export type Profile = Static<typeof Profile>

// Checking ---------------------------------------------------------------------------------------------------------

const variables = [
  'to',
  'to_digits',
  'from',
  'text',
  'id',
  'parts',
  'encoding',
  'validity_seconds',
  'password',
  'receipts_url',
  'inbound_url',
] as const
type Variable = (typeof variables)[number]

/** These cannot break out of a header, whatever a customer writes. */
const inHeaders: readonly string[] = ['id', 'to', 'to_digits', 'password'] satisfies Variable[]
const ownHeaders =
  /^(host|connection|content-length|content-type|transfer-encoding|keep-alive|te|trailer|upgrade|expect)$/i
const placeholder = /\{\{(.*?)\}\}/g

/** Throws VALIDATION_ERROR for what the schema cannot see. */
export function checkProfile({ request, auth, success, errors, receipts, inbound }: Profile): void {
  checkRequest(request)
  if (auth?.kind === 'basic' && !auth.username) throw wrong('auth.username', 'is required for basic')
  if (auth?.kind === 'header' && !/^[\w-]+$/.test(auth.header ?? ''))
    throw wrong('auth.header', 'must be the name of a header')
  for (const status of Object.keys(errors?.statuses ?? {}))
    if (!/^[2-5]\d\d$/.test(status)) throw wrong('errors.statuses', `has ${status}, which is no HTTP status`)
  const places = {
    'success.id': success?.id,
    'errors.code': errors?.code,
    ...prefixed('receipts', receipts),
    ...prefixed('inbound', inbound),
  }
  for (const [field, place] of Object.entries(places))
    if (typeof place === 'string' && !place.startsWith('/')) checkPattern(field, place)
}

function checkRequest(request: Profile['request']): void {
  const target = parseTarget(request.url)
  if ('problem' in target) throw wrong('request.url', target.problem)
  if (request.method === 'GET' && request.format !== 'query')
    throw wrong('request.format', 'must be query for a GET, which has no body')
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || ownHeaders.test(name) || !/^[\x20-\x7e]*$/.test(value))
      throw wrong(`request.headers.${name}`, 'is not a header that can be set')
    checkVariables(`request.headers.${name}`, value, inHeaders)
  }
  for (const [name, value] of Object.entries(request.fields)) {
    if (request.format !== 'json' && !['string', 'number', 'boolean'].includes(typeof value))
      throw wrong(`request.fields.${name}`, `must be a text, since the format is ${request.format}`)
    for (const text of textsOf(value)) checkVariables(`request.fields.${name}`, text, variables)
  }
}

function prefixed(prefix: string, places: object = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(places).map(([name, place]) => [`${prefix}.${name}`, place]))
}

function checkVariables(field: string, text: string, allowed: readonly string[]): void {
  for (const [whole, name = ''] of text.matchAll(placeholder))
    if (!allowed.includes(name)) throw wrong(field, `has ${whole}; it may have ${allowed.join(', ')}`)
}

function checkPattern(field: string, pattern: string): void {
  try {
    // An alternative that always matches tells how many groups there are.
    if (new RegExp(`${pattern}|`).exec('')?.length === 2) return
  } catch {}
  throw wrong(field, 'must be a JSON pointer such as /id, or a regular expression with one group')
}

function wrong(field: string, problem: string): AppError {
  const name = `profile.${field}`
  return new AppError('VALIDATION_ERROR', `${name} ${problem}`, {
    fields: [{ field: name, code: 'VALIDATION_ERROR', message: problem }],
  })
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* textsOf(member)
}

// Asking -----------------------------------------------------------------------------------------------------------

export type Values = Readonly<Record<Variable, string | number>>

export function valuesOf(
  message: OutboundMessage,
  more: Pick<Values, 'parts' | 'password' | 'receipts_url' | 'inbound_url'>,
): Values {
  const { id, to, from, text, encoding, validitySeconds } = message
  return { id, to, to_digits: to.replace('+', ''), from, text, encoding, validity_seconds: validitySeconds, ...more }
}

export interface HttpRequest {
  readonly query: string
  readonly headers: Record<string, string>
  readonly body: string | null
}

export function requestOf({ request, auth }: Profile, values: Values): HttpRequest {
  const { format, fields } = request
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = filled(value, values)
  const password = String(values.password)
  if (auth?.kind === 'basic')
    headers.authorization = `Basic ${Buffer.from(`${auth.username}:${password}`).toString('base64')}`
  if (auth?.kind === 'bearer') headers.authorization = `Bearer ${password}`
  if (auth?.kind === 'header') headers[(auth.header ?? '').toLowerCase()] = password
  if (format === 'json')
    return {
      query: '',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(deeplyFilled(fields, values)),
    }
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) pairs.append(name, filled(String(value), values))
  if (format === 'query') return { query: pairs.toString(), headers, body: request.method === 'GET' ? null : '' }
  headers['content-type'] = 'application/x-www-form-urlencoded'
  return { query: '', headers, body: pairs.toString() }
}

function isVariable(name: string): name is Variable {
  return variables.some((variable) => variable === name)
}

function filled(template: string, values: Values): string {
  return template.replace(placeholder, (whole, name: string) => (isVariable(name) ? String(values[name]) : whole))
}

/** A text that is nothing but a number's name becomes the number. */
function deeplyFilled(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const [, only = ''] = /^\{\{(\w+)\}\}$/.exec(value) ?? []
    return isVariable(only) ? values[only] : filled(value, values)
  }
  if (Array.isArray(value)) return value.map((item) => deeplyFilled(item, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, deeplyFilled(member, values)]))
}

// Reading ----------------------------------------------------------------------------------------------------------

export type Answer =
  | { kind: 'sent'; carrierIds: readonly string[] }
  | { kind: 'rejected'; code: string; carrierCode: string }
  | { kind: 'reroute'; code: string; carrierCode: string }
  | { kind: 'throttled'; afterMs: number | null }
  | { kind: 'unknown'; reason: string }

/** Said before anybody looked at the message: wrong credentials, a wrong address, or no room. */
const turnedAway: ReadonlySet<number> = new Set([401, 403, 404, 405, 503])

/**
 * What an answer means: by the aggregator's own code, then by what the profile calls success, then by the status. A status
 * that a gateway may give for something it has passed on says nothing of the message.
 */
export function answerOf(
  { success, errors }: Profile,
  id: string,
  { status, headers, body }: { status: number; headers: Readonly<Record<string, string>>; body: string },
): Answer {
  const content = { value: jsonOf(body), text: body }
  const [code] = errors?.code === undefined ? [] : found(content, errors.code)
  const carrierCode = (code ?? `HTTP ${status}`).slice(0, maxIdLength)
  const own = code === undefined ? undefined : memberOf(errors?.codes, code)
  if (own) return judged(own)
  if ((success?.status ?? [200, 201, 202]).includes(status)) {
    const carrierIds = success?.id === undefined ? [id] : found(content, success.id)
    const isUsable = carrierIds.length > 0 && carrierIds.every(({ length }) => length > 0 && length <= maxIdLength)
    return isUsable ? { kind: 'sent', carrierIds } : { kind: 'unknown', reason: `an answer ${status} without an id` }
  }
  const general = memberOf(errors?.statuses, String(status))
  if (general) return judged(general)
  if (status === 429) return judged({ as: 'retry' })
  if (turnedAway.has(status) || (status >= 300 && status < 400)) return judged({ as: 'reroute' })
  if (status >= 400 && status < 500) return judged({ as: 'reject' })
  return { kind: 'unknown', reason: `an answer ${status}` }

  function judged({ as, error }: Static<typeof Verdict>): Answer {
    if (as === 'reject') return { kind: 'rejected', code: error ?? 'REJECTED', carrierCode }
    if (as === 'reroute') return { kind: 'reroute', code: error ?? 'CARRIER_ERROR', carrierCode }
    const seconds = Number(headers['retry-after'] ?? Number.NaN)
    return { kind: 'throttled', afterMs: seconds >= 0 ? Math.min(seconds, mostRetrySeconds) * 1_000 : null }
  }
}

/** What a call of the aggregator's says of one message. */
export interface Told {
  readonly id: string
  /** As the profile translates it; null when it does not know the status. */
  readonly status: 'delivered' | 'ignored' | (typeof errorCodes)[number] | null
  readonly carrierCode: string
}

export interface Written {
  readonly from: string
  readonly to: string
  readonly text: string
}

/** The receipts of a call; throws INVALID_REQUEST when one does not say what it is about. */
export function receiptsOf(profile: NonNullable<Profile['receipts']>, value: unknown): Told[] {
  return itemsOf(value, profile.each).map((item) => {
    const id = required(item, profile.id)
    const status = required(item, profile.status)
    const [error] = profile.error === undefined ? [] : found(item, profile.error)
    const carrierCode = error === undefined || /^0*$/.test(error) ? status : `${status} ${error}`
    return { id, status: memberOf(profile.statuses, status) ?? null, carrierCode: carrierCode.slice(0, maxIdLength) }
  })
}

/** The messages of a call, with numbers as customers write them. */
export function messagesOf(profile: NonNullable<Profile['inbound']>, value: unknown): Written[] {
  return itemsOf(value, profile.each).map((item) => ({
    from: numberOf(required(item, profile.from)),
    to: numberOf(required(item, profile.to)),
    text: (found(item, profile.text)[0] ?? '').slice(0, maxTextLength),
  }))
}

interface Content {
  readonly value: unknown
  readonly text: string
}

function itemsOf(value: unknown, each: string | undefined): Content[] {
  const items = each === undefined ? [value] : valuesAt(value, `${each}/*`)
  if (items.length === 0 || items.length > maxTogether)
    throw new AppError('INVALID_REQUEST', `the list must have 1 to ${maxTogether} entries`)
  return items.map((item) => ({ value: item, text: JSON.stringify(item) ?? '' }))
}

function required(item: Content, place: string): string {
  const [text] = found(item, place)
  if (text === undefined || text === '' || text.length > maxIdLength)
    throw new AppError('INVALID_REQUEST', `there is nothing at ${place}`)
  return text
}

/** The texts at a place. */
function found({ value, text }: Content, place: string): string[] {
  if (!place.startsWith('/')) {
    const [, group] = new RegExp(place).exec(text) ?? []
    return group === undefined ? [] : [group]
  }
  return valuesAt(value, place).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? [String(one)] : [],
  )
}

function valuesAt(value: unknown, pointer: string): unknown[] {
  let here: unknown[] = [value]
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    here = here.flatMap((one) => {
      if (Array.isArray(one) && name === '*') return one
      const member = memberOf(one, name)
      return member === undefined ? [] : [member]
    })
  }
  return here
}

function memberOf<T>(holder: Readonly<Record<string, T>> | undefined, name: string): T | undefined
function memberOf(holder: unknown, name: string): unknown
function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
    ? Reflect.get(holder, name)
    : undefined
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function numberOf(text: string): string {
  return /^[1-9]\d{6,14}$/.test(text) ? `+${text}` : text
}
