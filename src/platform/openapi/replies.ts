// SPDX-License-Identifier: Apache-2.0
// Responses of an operation: its reply in the envelope, and one response per error status.
import { type ErrorCode, errors } from '../../kernel/errors.ts'
import type { Route } from '../api/route.ts'
import { type JsonSchema, propertiesOf, type SchemaPublisher } from '../schema/json-schema.ts'
import { headersOfEveryReply, succeededSchema } from './components.ts'

/** Components collected while operations are written. */
export interface Parts {
  schemas: SchemaPublisher
  responses: Map<string, object>
}

/** Success responses; creating what already exists has its own status. */
export function successes(parts: Parts, route: Route): Record<string, object> {
  const { status, existed } = route.reply
  if (route.kind === 'download') return downloads(route.types)
  const reply = success(parts, route)
  return { ...(existed ? { 200: { ...reply, description: 'Existed already' } } : {}), [status]: reply }
}

function success({ schemas }: Parts, { kind, method, reply }: Route): object {
  const schema = schemas.publish(reply.schema)
  if (kind === 'stream')
    return {
      description:
        'Server-sent events, until the client disconnects. `contentSchema` is the JSON in the `data` of each.',
      headers: headerRefs([...headersOfEveryReply, 'Pamoja-Environment', 'Pamoja-Warning']),
      content: {
        'text/event-stream': {
          schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schema },
        },
      },
    }
  const ownsData = Object.hasOwn(propertiesOf(reply.schema), 'data')
  const json = { 'application/json': { schema: ownsData ? flatEnvelope(schema) : envelope(schema) } }
  const headers = [
    ...headersOfEveryReply,
    'Pamoja-Environment',
    'Pamoja-Warning',
    ...(reply.location ? ['Location'] : []),
    ...(reply.list ? ['Link'] : []),
    ...(method === 'GET' ? [] : ['Idempotent-Replayed']),
  ]
  return {
    description: reply.status === 201 ? 'Created' : 'Success',
    headers: headerRefs(headers),
    ...(reply.status === 204 ? {} : { content: content() }),
  }

  function content(): object {
    if (reply.text === true) return { 'text/plain': { schema } }
    if (!reply.list) return json
    // CSV (`format=csv`) is left out: with two types a generated client would not know which it gets.
    return { 'application/json': { schema: listEnvelope(schema) } }
  }
}

function downloads(types: readonly string[]): Record<string, object> {
  const names = [...headersOfEveryReply, 'Pamoja-Environment', 'ETag', 'Accept-Ranges', 'Content-Disposition']
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]))
  return {
    200: { description: 'Full content', headers: headerRefs(names), content },
    206: { description: 'Requested range', headers: headerRefs([...names, 'Content-Range']), content },
    304: { description: 'Not modified', headers: headerRefs([...headersOfEveryReply, 'ETag']) },
  }
}

const succeeded = { $ref: '#/components/schemas/Succeeded' }

function envelope(schema: JsonSchema): JsonSchema {
  const data = { ...schema, description: 'The same fields, as an object' }
  return { allOf: [schema, succeeded, { type: 'object', required: ['data'], properties: { data } }] }
}

/** An object with its own `data` field is not wrapped. */
function flatEnvelope(schema: JsonSchema): JsonSchema {
  return { allOf: [schema, succeeded] }
}

function listEnvelope(schema: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['success', 'data', 'has_more', 'next_cursor'],
    properties: {
      success: succeededSchema.properties.success,
      data: { type: 'array', items: schema, description: 'Rows of this page' },
      has_more: { type: 'boolean', description: 'True if another page follows' },
      next_cursor: { type: ['string', 'null'], description: '`cursor` of the next page; null on the last' },
    },
  }
}

/** Responses of errors, one shared for each set of codes of a status. */
export function failures({ responses }: Parts, codes: readonly ErrorCode[]): Record<string, object> {
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
    ...(status === 416 ? ['Content-Range'] : []),
    ...(status === 429 || status === 503 || codes.includes('REQUEST_IN_PROGRESS') ? ['Retry-After'] : []),
  ]
  const code = { type: 'string', enum: codes }
  const named = { type: 'object', properties: { error: { type: 'object', properties: { code } } } }
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code][1]}`).join('\n\n'),
    headers: headerRefs(headers),
    content: { 'application/json': { schema: { allOf: [{ $ref: '#/components/schemas/Error' }, named] } } },
  }
}

function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
