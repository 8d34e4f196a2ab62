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
    description: `${description}; \`*\` in a pointer stands for every element`,
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
        method: OneOf(['GET', 'POST'], {
          description: 'HTTP method that the aggregator expects; GET uses the format `query`',
        }),
        url: Type.String({
          minLength: 1,
          maxLength: 2_000,
          rule: 'must be a URL',
          description: 'URL that messages are posted to',
        }),
        headers: Type.Optional(
          Type.Record(Type.String(), Type.String({ maxLength: 2_000 }), {
            ...named,
            sensitive: true,
            description: 'Custom headers, stored encrypted and shown masked. A masked value keeps the stored one',
          }),
        ),
        format: OneOf(['json', 'form', 'query'], { description: 'Place and encoding of the fields' }),
        fields: Type.Record(Type.String(), Type.Unknown(), {
          ...named,
          sensitive: true,
          description:
            'Fields of the request, of any depth for `json`. Texts may hold {{to}}, {{to_digits}}, {{from}}, ' +
            '{{text}}, {{id}}, {{parts}}, {{encoding}}, {{validity_seconds}}, {{password}}, {{receipts_url}} and ' +
            '{{inbound_url}}, each escaped for its place. Stored encrypted; other values are shown masked, and a masked ' +
            'value keeps the stored one',
        }),
      },
      { ...strict, description: 'Request that submits a message' },
    ),
    auth: Type.Optional(
      Type.Object(
        {
          kind: OneOf(['none', 'basic', 'bearer', 'header'], {
            description: 'Authentication scheme for the password of the bind',
          }),
          username: Type.Optional(Type.String({ maxLength: 200, description: 'User name for `basic`' })),
          header: Type.Optional(Type.String({ maxLength: 100, description: 'Name of the header for `header`' })),
        },
        { ...strict, description: 'Authentication with the aggregator; default none' },
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
              description: 'HTTP statuses of success; default 200, 201 and 202',
            }),
          ),
          id: Type.Optional(Place('Id, or ids, used by receipts; without it they use {{id}}')),
        },
        {
          ...strict,
          description: 'Condition for an accepted message; default HTTP status 200, 201 or 202',
        },
      ),
    ),
    errors: Type.Optional(
      Type.Object(
        {
          code: Type.Optional(Place('Error code of the aggregator, in a response of any status')),
          codes: Type.Optional(
            Type.Record(Type.String(), Verdict, {
              ...named,
              description: 'Handling of a message by the aggregator’s own code, such as `{"E1": {"as": "retry"}}`',
            }),
          ),
          statuses: Type.Optional(
            Type.Record(Type.String(), Verdict, {
              ...named,
              description:
                'Handling of a message by HTTP status, such as `{"402": {"as": "reroute"}}`, used when the response has no known code',
            }),
          ),
        },
        { ...strict, description: 'Handling of messages that the aggregator rejects' },
      ),
    ),
    receipts: Type.Optional(
      Type.Object(
        {
          each: Type.Optional(Place('List of entries, if a call has several')),
          id: Place('Id of the message, from the response'),
          status: Place('Status of the message'),
          error: Type.Optional(Place('Code of the aggregator')),
          statuses: Type.Record(Type.String(), OneOf(['delivered', 'ignored', ...errorCodes]), {
            ...named,
            description: 'Meaning of each status: delivered, an `error_code`, or ignored when it is not final',
          }),
        },
        { ...strict, description: 'Fields of delivery reports; without it none are accepted' },
      ),
    ),
    inbound: Type.Optional(
      Type.Object(
        {
          each: Type.Optional(Place('List of entries, if a call has several')),
          from: Place('Number of the handset'),
          to: Place('Number, short code or sender that the handset writes to'),
          text: Place('Text of the message'),
        },
        { ...strict, description: 'Fields of inbound messages; without it none are accepted' },
      ),
    ),
  },
  {
    ...strict,
    rule: 'must be an object with `request` and what else the aggregator needs',
    description: 'API of an HTTP aggregator; for the kind `http` only',
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
