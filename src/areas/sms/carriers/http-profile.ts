// SPDX-License-Identifier: Apache-2.0
// Profile of an aggregator without SMPP, as data: the request that sends a message, how its answer is read, and what
// the aggregator's own calls mean. Pure: nothing here touches the network. A place in an answer or a call is a JSON
// pointer (/messages/0/id, where * is every element of a list) or else a regular expression whose first group is
// wanted.
import { type Static, Type } from 'typebox'
import { type AppError, invalid } from '../../../kernel/errors.ts'
import { parseTarget } from '../../../platform/outbound/customer-urls.ts'
import { mask, OneOf } from '../../../platform/schema/fields.ts'

const maxEntries = 100
const strict = { additionalProperties: false } as const

/** Outcomes of a message, in the words of the API. */
export const errorCodes = [
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
    description: `${description}; \`*\` in a pointer is every element`,
  })

const named = { maxProperties: maxEntries, rule: `must be an object of at most ${maxEntries} members` }

export const Verdict = Type.Object(
  {
    as: OneOf(['reject', 'retry', 'reroute'], {
      description: '`reject`: no carrier takes it; `retry`: send it again later; `reroute`: try another carrier',
    }),
    error: Type.Optional(OneOf(errorCodes, { description: 'The `error_code` of a rejected message' })),
  },
  strict,
)

export const Profile = Type.Object(
  {
    request: Type.Object(
      {
        method: OneOf(['GET', 'POST'], { description: 'What the aggregator expects; `query` is the format of GET' }),
        url: Type.String({
          minLength: 1,
          maxLength: 2_000,
          rule: 'must be a URL',
          description: 'Where messages are posted',
        }),
        headers: Type.Optional(
          Type.Record(Type.String(), Type.String({ maxLength: 2_000 }), {
            ...named,
            sensitive: true,
            description: 'Kept encrypted and shown masked. A value in its masked form stays as it was',
          }),
        ),
        format: OneOf(['json', 'form', 'query'], { description: 'Where the fields go, and how they are written' }),
        fields: Type.Record(Type.String(), Type.Unknown(), {
          ...named,
          sensitive: true,
          description:
            'The fields of the request, of any depth for `json`. Texts may hold {{to}}, {{to_digits}}, {{from}}, ' +
            '{{text}}, {{id}}, {{parts}}, {{encoding}}, {{validity_seconds}}, {{password}}, {{receipts_url}} and ' +
            '{{inbound_url}}, each escaped for its place. Kept encrypted; what is not only one of these is shown masked, ' +
            'and a value in its masked form stays as it was',
        }),
      },
      { ...strict, description: 'How a message is handed over' },
    ),
    auth: Type.Optional(
      Type.Object(
        {
          kind: OneOf(['none', 'basic', 'bearer', 'header'], { description: 'How the password of the bind is sent' }),
          username: Type.Optional(Type.String({ maxLength: 200, description: 'For `basic`' })),
          header: Type.Optional(Type.String({ maxLength: 100, description: 'For `header`: its name' })),
        },
        { ...strict, description: 'How the aggregator knows us; nothing is sent for it unless given' },
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
              description: 'HTTP statuses; 200, 201 and 202 unless given',
            }),
          ),
          id: Type.Optional(Place('The id, or ids, that receipts will name; without it they name {{id}}')),
        },
        {
          ...strict,
          description:
            'What an answer looks like that took the message; an HTTP status of 200, 201 or 202 unless given',
        },
      ),
    ),
    errors: Type.Optional(
      Type.Object(
        {
          code: Type.Optional(Place('The aggregator’s own code, in an answer of whatever status')),
          codes: Type.Optional(
            Type.Record(Type.String(), Verdict, {
              ...named,
              description: 'What becomes of a message by the aggregator’s own code, such as `{"E1": {"as": "retry"}}`',
            }),
          ),
          statuses: Type.Optional(
            Type.Record(Type.String(), Verdict, {
              ...named,
              description:
                'What becomes of a message by HTTP status, such as `{"402": {"as": "reroute"}}`, where its code says nothing',
            }),
          ),
        },
        { ...strict, description: 'What becomes of messages that the aggregator does not take' },
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
        { ...strict, description: 'Where delivery reports say what; without it none are taken' },
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
        { ...strict, description: 'Where messages of handsets say what; without it none are taken' },
      ),
    ),
  },
  {
    ...strict,
    rule: 'must be an object with `request` and what else the aggregator needs',
    description: 'How an HTTP aggregator is spoken to; for the kind `http` only',
  },
)

export type Profile = Static<typeof Profile>

export const variables = [
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
export type Variable = (typeof variables)[number]

/** Variables that cannot break out of a header, whatever a customer writes. */
const inHeaders: readonly string[] = ['id', 'to', 'to_digits', 'password'] satisfies Variable[]
const ownHeaders =
  /^(host|connection|content-length|content-type|transfer-encoding|keep-alive|te|trailer|upgrade|expect)$/i
export const placeholder = /\{\{(.*?)\}\}/g

/** Checks a profile beyond its schema; throws VALIDATION_ERROR. */
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
  if (text === mask) throw wrong(field, 'is masked; give its value')
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
  return invalid(`profile.${field}`, problem)
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* textsOf(member)
}
