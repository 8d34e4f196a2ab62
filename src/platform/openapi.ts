// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3.1 document, derived from the route table: what a route declares is what is written here, so the
// document cannot promise what the server does not do. SDK, reference and the review of API changes build on it.
import { type ErrorCode, errors } from '../kernel/errors.ts'
import type { App } from './app.ts'
import type { Area } from './area.ts'
import { bodySchema, sampleBody } from './events/catalogue.ts'
import type { EventType } from './events.ts'
import { isJsonSchema, type JsonSchema, type SchemaPublisher, schemaPublisher } from './openapi/json-schema.ts'
import { chaptersOf, filterMeaning, tagOf } from './openapi/reference.ts'
import { codesInOrder, errorCodesOf } from './openapi/route-errors.ts'
import type { Route } from './route.ts'

/** Where the committed document says the API is, so that it is the same on every machine. */
const placeholderUrl = 'https://localhost:8443'

export function openapi({ version, publicUrl }: Pick<App, 'version' | 'publicUrl'>, areas: readonly Area[]): object {
  const parts: Parts = { schemas: schemaPublisher(), responses: new Map() }
  for (const schema of [errorSchema, errorCodeSchema]) parts.schemas.publish(schema)
  const routes = areas.flatMap((area) => area.routes)
  const paths = pathItems(parts, routes)
  const webhooks = Object.fromEntries(
    areas.flatMap((area) => area.events ?? []).map((type) => [type.name, { post: eventOperation(parts, type) }]),
  )
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pamoja',
      version,
      summary: 'Communications and payments behind one API',
      description:
        'Every reply is `{"success": true, "data": R, ...R}`: the fields of a thing stand in `data` and beside it. Every error has a `code` from one list.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: `${publicUrl}/api`, description: 'This installation' },
      { url: '/api', description: 'Wherever this document was fetched from' },
    ],
    security: [{ bearer: [] }],
    tags: chaptersOf(routes).map(({ tag, about }) => ({ name: tag, ...(about ? { description: about } : {}) })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or an access token made with one.' },
      },
      parameters: sharedParameters,
      headers: sharedHeaders,
      responses: Object.fromEntries([...parts.responses].sort(([a], [b]) => (a < b ? -1 : 1))),
      schemas: parts.schemas.components(),
    },
  }
}

/** The document as it is committed and compared: stable, and free of this machine's address. */
export function openapiText(areas: readonly Area[], version: string): string {
  return `${JSON.stringify(openapi({ version, publicUrl: placeholderUrl }, areas), null, 2)}\n`
}

/** Whether a request without a body is refused. */
export function needsBody({ body }: Pick<Route, 'body'>): boolean {
  return body !== undefined && 'required' in body && Array.isArray(body.required) && body.required.length > 0
}

// Operations -------------------------------------------------------------------------------------------------------

/** What operations leave behind in `components` while they are written. */
interface Parts {
  schemas: SchemaPublisher
  responses: Map<string, object>
}

function pathItems(parts: Parts, routes: readonly Route[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes)
    for (const [index, path] of [route.path, ...(route.aliases ?? [])].entries()) {
      const address = path.replaceAll(/:(\w+)/g, '{$1}')
      const item = paths[address] ?? {}
      paths[address] = item
      const method = route.method.toLowerCase()
      if (item[method]) throw new Error(`${route.method} ${path} is declared twice`)
      item[method] = operation(parts, route, path, index)
    }
  return paths
}

function operation(parts: Parts, route: Route, path: string, index: number): object {
  const { scope } = route
  return {
    operationId: index === 0 ? route.operation : `${route.operation}_${index + 1}`,
    ...(index > 0 ? { 'x-alias-of': route.operation } : {}),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    security: [{ bearer: scope === 'any' ? [] : [scope] }, ...(route.form ? [{}] : [])],
    ...(scope === 'any' ? {} : { 'x-required-scope': scope }),
    ...(route.limit ? { 'x-rate-area': route.limit } : {}),
    parameters: parameters(parts, route, path),
    ...(route.body ? { requestBody: requestBody(parts, route, route.body) } : {}),
    ...(route.kind === 'upload'
      ? { requestBody: { required: true, content: { [route.file]: { schema: { type: 'string' } } } } }
      : {}),
    responses: { [route.reply.status]: success(parts, route), ...failures(parts, errorCodesOf(route)) },
  }
}

function parameters({ schemas }: Parts, { kind, method, params, query, examples = [] }: Route, path: string): object[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const { description, ...schema } = plain(schemas.publish(propertiesOf(params)[name] ?? { type: 'string' }))
    return { name, in: 'path', required: true, ...(description ? { description } : {}), schema }
  })
  const required = requiredOf(query)
  const inQuery = Object.entries(propertiesOf(query)).map(([name, property]) => {
    const { description = method === 'GET' ? filterMeaning(name) : undefined, ...schema } = plain(
      schemas.publish(property),
    )
    const example = examples
      .map((one) => (isJsonSchema(one.query) ? one.query[name] : undefined))
      .find((value) => value !== undefined)
    return {
      name,
      in: 'query',
      ...(required.includes(name) ? { required: true } : {}),
      ...(description ? { description } : {}),
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
      ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
      schema,
      ...(example === undefined ? {} : { example }),
    }
  })
  const shared =
    kind === 'stream'
      ? ['LastEventID', 'PamojaStrict']
      : ['PamojaEnvelope', 'PamojaStrict', ...(method === 'GET' || kind === 'upload' ? [] : ['IdempotencyKey'])]
  return [...inPath, ...inQuery, ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` }))]
}

function plain(schema: JsonSchema): Record<string, unknown> {
  return { ...schema }
}

export function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return isJsonSchema(schema) && isJsonSchema(schema.properties) ? schema.properties : {}
}

export function requiredOf(schema: unknown): readonly unknown[] {
  return isJsonSchema(schema) && Array.isArray(schema.required) ? schema.required : []
}

function requestBody({ schemas }: Parts, route: Route, body: object): object {
  const schema = schemas.publish(body)
  const examples = (route.examples ?? []).filter((example) => example.body !== undefined)
  const named = Object.fromEntries(examples.map(({ name, body: value }) => [slug(name), { summary: name, value }]))
  return {
    required: needsBody(route),
    content: {
      'application/json': { schema, ...(examples.length > 0 ? { examples: named } : {}) },
      ...(route.form ? { 'application/x-www-form-urlencoded': { schema } } : {}),
    },
  }
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

// Replies ----------------------------------------------------------------------------------------------------------

function success({ schemas }: Parts, { kind, method, reply }: Route): object {
  const schema = schemas.publish(reply.schema)
  if (kind === 'stream')
    return {
      description:
        'Server-sent events, for as long as somebody reads them. `x-message-schema` is the JSON in the `data` of each.',
      headers: headerRefs([...headersOfEveryReply, 'Pamoja-Environment', 'Pamoja-Warning']),
      content: { 'text/event-stream': { schema: { type: 'string' }, 'x-message-schema': schema } },
    }
  const ownsData = Object.hasOwn(propertiesOf(reply.schema), 'data')
  const headers = [
    ...headersOfEveryReply,
    'Pamoja-Environment',
    'Pamoja-Warning',
    ...(reply.location ? ['Location'] : []),
    ...(reply.list ? ['Link'] : []),
    ...(method === 'GET' ? [] : ['Idempotent-Replayed']),
  ]
  return {
    description: reply.status === 201 ? 'Made' : 'Done',
    headers: headerRefs(headers),
    content: reply.list
      ? { 'application/json': { schema: listEnvelope(schema) }, 'text/csv': { schema: { type: 'string' } } }
      : { 'application/json': { schema: ownsData ? flatEnvelope(schema) : envelope(schema) } },
  }
}

const succeeded = { const: true }

function envelope(schema: JsonSchema): JsonSchema {
  return {
    allOf: [
      schema,
      { type: 'object', required: ['success', 'data'], properties: { success: succeeded, data: schema } },
    ],
  }
}

/** A thing with a field `data` of its own is not wrapped: its `data` keeps its meaning. */
function flatEnvelope(schema: JsonSchema): JsonSchema {
  return { allOf: [schema, { type: 'object', required: ['success'], properties: { success: succeeded } }] }
}

function listEnvelope(schema: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['success', 'data', 'has_more', 'next_cursor'],
    properties: {
      success: succeeded,
      data: { type: 'array', items: schema },
      has_more: { type: 'boolean' },
      next_cursor: { type: ['string', 'null'], description: '`cursor` of the next page' },
    },
  }
}

/** One shared response for each set of codes that a status stands for. */
function failures({ responses }: Parts, codes: readonly ErrorCode[]): Record<string, object> {
  const statuses = new Set(codes.map((code) => errors[code][0]))
  return Object.fromEntries(
    [...statuses].map((status) => [status, { $ref: `#/components/responses/${shared(status)}` }]),
  )

  function shared(status: number): string {
    const group = codes.filter((code) => errors[code][0] === status)
    const name = group.join('.')
    if (!responses.has(name)) responses.set(name, failure(status, group))
    return name
  }
}

function failure(status: number, codes: readonly ErrorCode[]): object {
  const headers = [
    ...headersOfEveryReply,
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 || status === 503 || codes.includes('REQUEST_IN_PROGRESS') ? ['Retry-After'] : []),
  ]
  const named = { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } }
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code][1]}`).join('\n\n'),
    headers: headerRefs(headers),
    content: { 'application/json': { schema: { allOf: [{ $ref: '#/components/schemas/Error' }, named] } } },
  }
}

function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

// Events -----------------------------------------------------------------------------------------------------------

function eventOperation({ schemas }: Parts, type: EventType): object {
  const schema = bodySchema(type, schemas.publish)
  return {
    operationId: `webhook.${type.name}`,
    summary: type.summary,
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema, example: JSON.parse(sampleBody(type)) } } },
    responses: { '2XX': { description: 'Taken' } },
  }
}

// What every operation shares --------------------------------------------------------------------------------------

const text = { type: 'string' }
const whole = { type: 'integer' }

const sharedParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a retry safe: the same request with the same key is executed once and answered the same each time.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  LastEventID: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The last `id` that was read: the stream goes on from there.',
    schema: { type: 'string' },
  },
  PamojaEnvelope: {
    name: 'Pamoja-Envelope',
    in: 'header',
    description: '`flat` leaves out `data`, `data` leaves out the fields beside it.',
    schema: { type: 'string', enum: ['both', 'flat', 'data'], default: 'both' },
  },
  PamojaStrict: {
    name: 'Pamoja-Strict',
    in: 'header',
    description: '`true` refuses fields that are not known instead of ignoring them.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
}

const headersOfEveryReply = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

const sharedHeaders = {
  'X-Request-Id': { description: 'Names this request in logs and in questions to support.', schema: text },
  'X-RateLimit-Limit': { description: 'Requests that the tightest limit allows in its window.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests that are left of it.', schema: whole },
  'X-RateLimit-Reset': { description: 'Unix time in seconds when there is room again.', schema: whole },
  'Pamoja-Environment': {
    description: 'What the credential works on.',
    schema: { type: 'string', enum: ['test', 'live'] },
  },
  'Pamoja-Warning': { description: 'Fields that were sent but are not known.', schema: text },
  'Idempotent-Replayed': { description: '`true` when this is the stored answer to an earlier request.', schema: text },
  Location: { description: 'Where the new object can be read.', schema: text },
  Link: { description: 'The next page, as `rel="next"`.', schema: text },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: whole },
  'WWW-Authenticate': { description: '`Bearer`', schema: text },
}

const errorCodeSchema = {
  type: 'string',
  title: 'ErrorCode',
  enum: codesInOrder,
  description: 'What went wrong, for programs. Always a string, numeric codes too. New codes may be added.',
}

const codeRef = { $ref: '#/components/schemas/ErrorCode' }

const errorSchema = {
  type: 'object',
  title: 'Error',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'request_id', 'timestamp'],
      description: 'Some codes add members of their own.',
      properties: {
        code: codeRef,
        message: { type: 'string', description: 'What the code means and what to do' },
        details: { type: 'string', description: 'What exactly was wrong' },
        request_id: { type: 'string', description: 'As in X-Request-Id' },
        timestamp: { type: 'string', format: 'date-time' },
        fields: {
          type: 'array',
          description: 'Each field that breaks a rule',
          items: {
            type: 'object',
            required: ['field', 'code', 'message'],
            properties: {
              field: { type: 'string', description: 'Such as `messages[3].to`' },
              code: codeRef,
              message: text,
            },
          },
        },
        doc_url: { type: 'string', format: 'uri', description: 'The code in the documentation' },
      },
    },
  },
}
