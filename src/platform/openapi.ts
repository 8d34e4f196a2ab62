// SPDX-License-Identifier: Apache-2.0
// OpenAPI 3.1 document, derived from the route table, so that it cannot differ from the server. SDK, reference and the
// review of API changes build on it.

import { chaptersOf, explanationOf, tagOf } from './api/reference.ts'
import type { Route } from './api/route.ts'
import type { App } from './app.ts'
import type { Area } from './area.ts'
import { bodySchema, sampleBody } from './events/catalogue.ts'
import type { EventType } from './events.ts'
import { errorCodeSchema, errorSchema, sharedHeaders, sharedParameters, succeededSchema } from './openapi/components.ts'
import { failures, type Parts, successes } from './openapi/replies.ts'
import { reviewable } from './openapi/reviewable.ts'
import { errorCodesOf } from './openapi/route-errors.ts'
import { isJsonSchema, type JsonSchema, propertiesOf, requiredOf, schemaPublisher } from './schema/json-schema.ts'

/** Installation that the document is of; without an address it is the same on every machine. */
type Installation = Pick<App, 'version'> & { readonly publicUrl: string | null }

export function openapi({ version, publicUrl }: Installation, areas: readonly Area[]): object {
  const parts: Parts = { schemas: schemaPublisher(), responses: new Map() }
  for (const schema of [errorSchema, errorCodeSchema, succeededSchema]) parts.schemas.publish(schema)
  const routes = areas.flatMap((area) => area.routes)
  const paths = pathItems(parts, routes)
  const webhooks = Object.fromEntries(
    // An area without routes only declares future events.
    areas
      .filter(({ routes: own }) => own.length > 0)
      .flatMap((area) => area.events ?? [])
      .map((type) => [type.name, { post: eventOperation(parts, type) }]),
  )
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pamoja',
      version,
      summary: 'Communications and payments behind one API',
      description:
        'Every reply is `{"success": true, "data": R, ...R}`: the fields of an object are returned in `data` and at the top level. Every error has a `code` from one list. Filters of a list are combined with AND.',
      contact: { name: 'Operator of this installation', ...(publicUrl === null ? {} : { url: `${publicUrl}/docs` }) },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      ...(publicUrl === null ? [] : [{ url: `${publicUrl}/api`, description: 'This installation' }]),
      { url: '/api', description: 'Host that served this document' },
    ],
    security: [{ bearer: [] }],
    tags: chaptersOf(areas).map(({ tag, about }) => ({ name: tag, ...(about ? { description: about } : {}) })),
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

/** Document as committed and compared: stable and without this machine's address. */
export function openapiText(areas: readonly Area[], version: string): string {
  return `${reviewable(openapi({ version, publicUrl: null }, areas))}\n`
}

/** Whether a request without a body is refused. */
export function needsBody({ body }: Pick<Route, 'body'>): boolean {
  return body !== undefined && 'required' in body && Array.isArray(body.required) && body.required.length > 0
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
  const codes = errorCodesOf(route)
  return {
    operationId: index === 0 ? route.operation : aliasOf(route.operation, path),
    ...(index > 0 ? { 'x-alias-of': route.operation } : {}),
    tags: [tagOf(route)],
    summary: route.summary,
    description: descriptionOf(route),
    security: [{ bearer: [] }, ...(route.keyInForm ? [{}] : [])],
    ...(scope === 'any' ? {} : { 'x-required-scope': scope }),
    ...(route.limit ? { 'x-rate-area': route.limit } : {}),
    'x-error-codes': codes,
    parameters: parameters(parts, route, path),
    ...requestBodyOf(parts, route),
    responses: { ...successes(parts, route), ...failures(parts, codes) },
  }
}

/** Operation name of an alias path: `payouts.createAtPaymentsPayout`. */
function aliasOf(operation: string, path: string): string {
  const words = path.split('/').filter((part) => part !== '' && part !== 'v1' && !part.startsWith(':'))
  const name = words.flatMap((part) => part.split(/[-_]/)).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${operation}At${name.join('')}`
}

/** Description of a route, or one derived from its declaration. */
function descriptionOf(route: Route): string {
  const { description, kind, method, reply, scope } = route
  const explained = explanationOf(route)
  if (description && explained) return explained
  const needs = scope === 'any' ? 'Takes any valid credential.' : `Needs a credential with the scope \`${scope}\`.`
  if (reply.list) return `${needs} Sorted newest first by default; \`next_cursor\` leads to the next page.`
  if (kind === 'read' && method === 'GET') return `${needs} Read-only.`
  return `${needs} With an Idempotency-Key it is safe to repeat.${explained ? ` ${explained}` : ''}`
}

function parameters({ schemas }: Parts, { kind, method, params, query, examples = [] }: Route, path: string): object[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const { description, ...schema } = plain(schemas.publish(propertiesOf(params)[name] ?? { type: 'string' }))
    return { name, in: 'path', required: true, ...(description ? { description } : {}), schema }
  })
  const required = requiredOf(query)
  const inQuery = Object.entries(propertiesOf(query)).map(([name, property]) => {
    const { description, ...schema } = plain(schemas.publish(property))
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
  const shared = {
    stream: ['LastEventID', 'PamojaStrict'],
    download: ['Range', 'IfNoneMatch', 'PamojaStrict'],
    upload: ['PamojaEnvelope', 'PamojaStrict'],
    read: ['PamojaEnvelope', 'PamojaStrict', ...(method === 'GET' ? [] : ['IdempotencyKey'])],
    write: ['PamojaEnvelope', 'PamojaStrict', 'IdempotencyKey'],
    commit: ['PamojaEnvelope', 'PamojaStrict', 'IdempotencyKey'],
    multipart: ['PamojaEnvelope', 'PamojaStrict', 'IdempotencyKey'],
  }[kind]
  return [...inPath, ...inQuery, ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` }))]
}

function plain(schema: JsonSchema): Record<string, unknown> {
  return { ...schema }
}

function requestBodyOf(parts: Parts, route: Route): { requestBody?: object } {
  if (route.kind === 'upload')
    return { requestBody: { required: true, content: { [route.file]: { schema: { type: 'string' } } } } }
  if (route.kind === 'multipart') return { requestBody: { required: true, content: multipartContent(parts, route) } }
  return route.body ? { requestBody: requestBody(parts, route, route.body) } : {}
}

/** Files among the fields of the body. */
function multipartContent({ schemas }: Parts, { files = {}, body }: Route): object {
  const parts = Object.entries(files).map(([name, { description = meaningOf(propertiesOf(body)[name]), most = 1 }]) => {
    const file = { type: 'string', format: 'binary', ...(description ? { description } : {}) }
    return [name, most === 1 ? file : { type: 'array', maxItems: most, items: file }]
  })
  const typed = Object.entries(files).filter(([, { types }]) => types !== undefined)
  const encoding = Object.fromEntries(typed.map(([name, { types = [] }]) => [name, { contentType: types.join(', ') }]))
  const needed = Object.keys(files).filter((name) => !files[name]?.optional)
  const fields = Object.entries(propertiesOf(body)).map(([name, property]) => [name, schemas.publish(property)])
  const schema = {
    type: 'object',
    required: [...new Set([...needed, ...requiredOf(body)])],
    properties: Object.fromEntries([...fields, ...parts]),
  }
  return { 'multipart/form-data': { schema, ...(typed.length > 0 ? { encoding } : {}) } }
}

/** Description of the field that a file may fill instead. */
function meaningOf(field: unknown): string | undefined {
  return isJsonSchema(field) && typeof field.description === 'string' ? field.description : undefined
}

function requestBody(parts: Parts, route: Route, body: object): object {
  const { schemas } = parts
  const schema = schemas.publish(body)
  const examples = (route.examples ?? []).filter((example) => example.body !== undefined)
  const named = Object.fromEntries(examples.map(({ name, body: value }) => [slug(name), { summary: name, value }]))
  return {
    required: needsBody(route),
    content: {
      'application/json': { schema, ...(examples.length > 0 ? { examples: named } : {}) },
      ...(route.form ? { 'application/x-www-form-urlencoded': { schema } } : {}),
      ...(route.files ? multipartContent(parts, route) : {}),
    },
  }
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

function eventOperation({ schemas }: Parts, type: EventType): object {
  const schema = bodySchema(type, schemas.publish)
  return {
    operationId: `webhook.${type.name}`,
    summary: type.summary,
    description: 'Posted to your webhooks, with the signature in the header X-Service-Signature.',
    tags: ['webhooks'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema, example: JSON.parse(sampleBody(type)) } } },
    responses: { '2XX': { description: 'Event received' } },
  }
}
