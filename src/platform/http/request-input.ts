// SPDX-License-Identifier: Apache-2.0
// Input of a request: its body, caller and fields, as declared by its route.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { parseJson } from '../api/json.ts'
import type { Input } from '../api/route.ts'
import { type Caller, type Envelope, envelopes } from '../auth.ts'
import { asError, type CompiledRoute, type Exchange, printable } from './exchange.ts'
import { isMultipart, readParts } from './multipart.ts'
import { refuseStrayCard, takesCard } from './stray-cards.ts'
import { coerced, shown, strictRefusal } from './validate.ts'

type Parsed = (error: Error | null, body?: unknown) => void

export function parseBody(request: FastifyRequest, bytes: Buffer, done: Parsed): void {
  try {
    const { files } = request.exchange.compiled?.route ?? {}
    if (files && isMultipart(request.headers['content-type']))
      readInMemory(request, bytes).then(
        (body) => done(null, body),
        (error: unknown) => done(asError(error)),
      )
    else done(null, readBody(request, bytes))
  } catch (error) {
    done(asError(error))
  }
}

/** Multipart body in memory: files as base64, other parts as form fields. */
async function readInMemory({ headers, exchange }: FastifyRequest, bytes: Buffer): Promise<unknown> {
  const { route } = exchange.compiled ?? {}
  const files: [string, string][] = []
  const { fields, digest } = await readParts({
    bytes: one(bytes),
    contentType: headers['content-type'] ?? '',
    maxBytes: bytes.length,
    files: route?.files ?? {},
    take: async (file) => {
      const chunks: Buffer[] = []
      for await (const chunk of file.bytes) chunks.push(chunk)
      return Buffer.concat(chunks).toString('base64')
    },
    taken: ({ part, kept }) => files.push([part, kept]),
  })
  exchange.rawBody = digest
  return { ...Object(fieldsOfParts(route?.body, fields)), ...gathered(route?.body, files) }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** Several files of one name form a list, if the schema has one. */
function gathered(schema: TSchema | undefined, files: readonly [string, string][]): Record<string, unknown> {
  const properties = Object(Object(schema).properties)
  const values: Record<string, unknown> = {}
  for (const [name, value] of files)
    values[name] = properties[name]?.type === 'array' ? [...Object(values[name] ?? []), value] : value
  return values
}

/**
 * Fields of multipart parts: plain ones by the schema, as in a form, and those of a JSON object in a part named
 * `payload`.
 */
export function fieldsOfParts(schema: TSchema | undefined, fields: readonly (readonly [string, string])[]): unknown {
  const hasPayload = Object.hasOwn(Object(Object(schema).properties), 'payload')
  const isPayload = ([name]: readonly [string, string]): boolean => name === 'payload' && !hasPayload
  const plain = new Map<string, string[]>()
  for (const field of fields) {
    const [name, value] = field
    if (value !== '' && !isPayload(field)) plain.set(name, [...(plain.get(name) ?? []), value])
  }
  const payload = fields.filter(isPayload).map(([, text]) => Object(parseJson(Buffer.from(text)).value))
  return Object.assign(coerced(schema ?? Type.Object({}), Object.fromEntries(plain)), ...payload)
}

function readBody({ headers, exchange }: FastifyRequest, bytes: Buffer): unknown {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const media = type.trim()
  if (bytes.length === 0) return undefined
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity')
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `the body is encoded as ${printable(coding)}: send it as it is`)
  const { route } = exchange.compiled ?? {}
  if (media === 'application/x-www-form-urlencoded' && route?.form && route.body) {
    const text = bytes.toString()
    const fields = formFields(route.body, text)
    exchange.rawBody = text
    return fields
  }
  if (media !== '' && media !== 'application/json' && !/^application\/[a-z0-9.-]+\+json$/.test(media))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `the content type is ${printable(media)}`)
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  if (charset && !/^charset="?utf-?8"?$/.test(charset))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'send the body in UTF-8')
  const { text, value } = parseJson(bytes)
  exchange.rawBody = text
  // Overwrite a buffer that held a card.
  if (takesCard(exchange.compiled?.route.body)) bytes.fill(0)
  return value
}

/** Fields of a form, converted by the route's schema, since a form has only text. */
function formFields(schema: TSchema, text: string): unknown {
  if (text.includes('\u0000') || text.includes('%00'))
    throw new AppError('INVALID_REQUEST', 'the body contains the character U+0000')
  // RFC 6749 3.2: a parameter without a value counts as absent.
  const given = [...new URLSearchParams(text)].filter(([, value]) => value !== '')
  return coerced(schema, Object.fromEntries(given))
}

export function callerOf(exchange: Exchange): Caller {
  const { principal, id, ip, receivedMs } = exchange
  if (!principal) throw new Error('a route was reached without credentials')
  return {
    principal,
    tenant: principal.tenant,
    accountId: principal.accountId,
    actor: principal.actor,
    ip,
    requestId: id,
    receivedMs,
    nowMs: receivedMs + principal.facts.clockOffsetMs,
  }
}

export function checked(
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Input<never, never, never> {
  if (holdsNul(request.params)) throw new AppError('NOT_FOUND', 'the path contains the character U+0000')
  if (holdsNul(request.query)) throw new AppError('INVALID_REQUEST', 'the query contains the character U+0000')
  envelopeOf(request)
  const params = compiled.checkParams(request.params)
  const query = compiled.checkQuery(request.query)
  if (compiled.needsBody && request.body === undefined)
    throw new AppError('VALIDATION_ERROR', 'the body is missing: send a JSON object')
  refuseStrayCard(compiled.route, request.body)
  const body = compiled.checkBody(request.body ?? {})
  const strict = isStrict(request)
  if (query.unknown.length > 0 || body.unknown.length > 0) {
    if (strict && query.unknown.length > 0) throw strictRefusal(query.unknown, 'INVALID_REQUEST')
    const strange = body.unknown.filter(({ field }) => field !== 'idempotency_key')
    if (strict && strange.length > 0) throw strictRefusal(strange, 'VALIDATION_ERROR')
    request.exchange.unknown = [...query.unknown, ...strange].map(shown)
    if (request.exchange.unknown.length > 0)
      reply.header('pamoja-warning', request.exchange.unknown.map((name) => `unknown field ${name}`).join(', '))
  }
  // The schemas of the declaration, which type the handler, were checked.
  return { params: params.value, query: query.value, body: body.value } as Input<never, never, never>
}

/** Whether unknown fields are refused, by the request or its key's settings. */
function isStrict({ headers, exchange }: FastifyRequest): boolean {
  const given = headers['pamoja-strict']
  if (given === undefined) return exchange.principal?.facts.strict ?? false
  if (given !== 'true' && given !== 'false')
    throw new AppError('INVALID_REQUEST', 'the header Pamoja-Strict must be true or false')
  return given === 'true'
}

/** Envelope of the reply, by the request or its key's settings. */
export function envelopeOf({ headers, exchange }: FastifyRequest): Envelope {
  const given = headers['pamoja-envelope']
  if (given === undefined) return exchange.principal?.facts.envelope ?? 'both'
  const known = envelopes.find((name) => name === given)
  if (!known) throw new AppError('INVALID_REQUEST', 'the header Pamoja-Envelope must be both, flat or data')
  return known
}

/** Whether a field contains U+0000, which PostgreSQL cannot store. Names count too; a repeated field is a list. */
function holdsNul(fields: unknown): boolean {
  for (const [name, value] of Object.entries(Object(fields)))
    if (name.includes('\u0000') || String(value).includes('\u0000')) return true
  return false
}
