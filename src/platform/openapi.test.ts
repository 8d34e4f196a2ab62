// SPDX-License-Identifier: Apache-2.0
// OpenAPI document of the real areas, checked against OpenAPI's rules and the route table, and reply schemas on test
// routes.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { areas } from '../areas.ts'
import { errors } from '../kernel/errors.ts'
import { list, type Route, read, stream, write } from './api/route.ts'
import type { Area } from './area.ts'
import { eventType } from './events.ts'
import { errorCodesOf } from './openapi/route-errors.ts'
import { openapi, openapiText } from './openapi.ts'
import { Amount, At, CurrencyCode, Day, Metadata, Moment, Nullable } from './schema/fields.ts'
import { schemaPublisher } from './schema/json-schema.ts'

interface Operation {
  operationId: string
  'x-alias-of'?: string
  'x-required-scope'?: string
  'x-rate-area'?: string
  summary: string
  description: string
  tags: string[]
  security: object[]
  parameters: { $ref?: string; name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: {
    required: boolean
    content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }>
  }
  responses: Record<string, { $ref?: string } & Response>
}

interface Response {
  description: string
  headers: Record<string, unknown>
  content: Record<string, { schema: Schema }>
}

type Schema = Record<string, unknown>

interface Document {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: Schema; example: unknown }> } } }>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response>; headers: Record<string, unknown> }
}

const document = documentOf(areas)
const routes = areas.flatMap((area) => area.routes)

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1 and says where the API is', () => {
    const made = JSON.parse(JSON.stringify(openapi({ version: '9.8.7', publicUrl: 'https://api.example.com' }, areas)))
    assert.match(made.openapi, /^3\.1\.\d+$/)
    assert.equal(made.info.version, '9.8.7')
    assert.equal(typeof made.info.title, 'string')
    assert.deepEqual(
      made.servers.map((server: { url: string }) => server.url),
      ['https://api.example.com/api', '/api'],
    )
  })

  it('has every route and every alias, each with an operation id of its own', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    for (const route of routes)
      for (const [index, path] of [route.path, ...(route.aliases ?? [])].entries()) {
        const operation = operationAt(document, route.method, path)
        assert.equal(operation.summary, route.summary)
        if (index === 0) assert.equal(operation.operationId, route.operation)
        else assert.equal(operation['x-alias-of'], route.operation)
        assert.equal(operation['x-required-scope'] ?? 'any', route.scope)
        assert.equal(operation['x-rate-area'], route.limit)
      }
    const declared = routes.flatMap((route) => [route.path, ...(route.aliases ?? [])])
    assert.equal(ids.length, declared.length)
  })

  it('names every path parameter that a path has, and no other', () => {
    for (const { path, operation } of operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const given = operation.parameters.filter((parameter) => parameter.in === 'path')
      assert.deepEqual(
        given.map(({ name }) => name),
        named,
        path,
      )
      assert.ok(given.every(({ required }) => required === true))
    }
  })

  it('takes an idempotency key wherever a request changes something, but with a file', () => {
    for (const { method, operation } of operations()) {
      const keyed = operation.parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey')
      const isFile = Object.keys(operation.requestBody?.content ?? {}).some((type) => type === 'text/csv')
      assert.equal(keyed, method !== 'get' && !isFile, operation.operationId)
    }
  })

  it('has no reference that leads nowhere', () => {
    const references = [...walk(document)].flatMap(({ key, value }) => (key === '$ref' ? [String(value)] : []))
    assert.ok(references.length > 100)
    for (const reference of references) assert.notEqual(lookUp(reference), undefined, reference)
  })

  it('uses only tags that it lists', () => {
    const known = document.tags.map(({ name }) => name)
    for (const { operation } of operations()) assert.ok(operation.tags.every((tag) => known.includes(tag)))
  })

  it('lists every error that a route can answer with, under its status', () => {
    for (const route of routes) {
      const { responses } = operationAt(document, route.method, route.path)
      for (const code of errorCodesOf(route)) {
        const response = resolved(responses[String(errors[code][0])])
        assert.match(response.description, new RegExp(`\`${code}\``), `${route.operation} ${code}`)
      }
      for (const status of ['401', '403', '429', '500', '503'])
        assert.ok(responses[status], `${route.operation} ${status}`)
      if (route.body)
        for (const status of ['400', '413', '415', '422']) assert.ok(responses[status], `${route.operation} ${status}`)
    }
  })

  it('knows exactly the codes of the error table', () => {
    assert.deepEqual([...Object(document.components.schemas.ErrorCode).enum].sort(), Object.keys(errors).sort())
  })

  it('shows request id and rate limit on every response', () => {
    for (const { operation } of operations())
      for (const response of Object.values(operation.responses).map(resolved)) {
        for (const name of ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'])
          assert.ok(response.headers[name], `${operation.operationId} ${name}`)
        assert.ok(response.description.length > 0)
      }
  })

  it('holds plain JSON Schema: nothing of our own leaks', () => {
    const formats = new Set(['date-time', 'date', 'email', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname', 'binary', 'time'])
    for (const { key, value, parent } of walk(document)) {
      if (parent === 'properties') continue
      assert.ok(!['rule', 'errorCode', 'sensitive'].includes(key) && !key.startsWith('~'), `${parent}.${key}`)
      if (key === 'format') assert.ok(formats.has(String(value)), String(value))
    }
  })

  it('gives every fixed value and every choice a type, and choices of words as one list: generators go by that', () => {
    for (const { key, value } of walk(document)) {
      const schema = Object(value)
      if (key !== 'properties' && ('const' in schema || 'enum' in schema))
        assert.ok(schema.type, JSON.stringify(schema))
      if (key === 'anyOf') assert.ok(!schema.every((one: object) => 'const' in one), JSON.stringify(schema))
    }
  })

  it('has schemas that a validator takes, and examples that keep them', () => {
    for (const [name, { type }] of Object.entries(document.components.schemas)) {
      const validator = Compile(closed({ $ref: `#/components/schemas/${name}` }))
      if (type === 'object') assert.ok(!validator.Check('no object'), name)
    }
    let examples = 0
    for (const { operation } of operations())
      for (const [media, { schema, examples: given = {} }] of Object.entries(operation.requestBody?.content ?? {})) {
        const validator = Compile(closed(schema))
        for (const [name, { value }] of Object.entries(given)) {
          assert.ok(
            validator.Check(value),
            `${operation.operationId} ${name}: ${JSON.stringify(validator.Errors(value))}`,
          )
          examples++
        }
        assert.equal(validator.Check('no object'), media === 'text/csv', operation.operationId)
      }
    assert.ok(examples > 0)
  })

  it('tells every event with a sample of the body that subscribers receive', () => {
    const events = areas.filter((area) => area.routes.length > 0).flatMap((area) => area.events ?? [])
    assert.deepEqual(
      Object.keys(document.webhooks),
      events.map(({ name }) => name),
    )
    for (const [name, { post }] of Object.entries(document.webhooks)) {
      const { schema, example } = post.requestBody.content['application/json'] ?? assert.fail(`${name} has no body`)
      assert.ok(Compile(closed(schema)).Check(example), name)
      assert.match(Object(example).event_id, /^evt_/, name)
      assert.ok([Object(example).event, Object(example).type].includes(name), name)
    }
  })

  it('is the same text on every machine', () => {
    const text = openapiText(areas, '1.2.3')
    assert.equal(text, openapiText(areas, '1.2.3'))
    assert.match(text, /^\{\n "openapi":"3\.1\.\d"/)
    assert.match(text, /\}\n$/)
    assert.deepEqual(
      JSON.parse(text).servers.map(({ url }: { url: string }) => url),
      ['/api'],
      'it names no machine',
    )
    assert.deepEqual(
      JSON.parse(text),
      JSON.parse(JSON.stringify(openapi({ version: '1.2.3', publicUrl: null }, areas))),
    )
  })
})

describe('a route in the document', () => {
  const Thing = Type.Object(
    { id: Type.String(), cost: Amount(), made_at: At(), note: Nullable(Type.String()) },
    { title: 'Thing' },
  )
  const Session = Type.Object({ id: Type.String(), data: Type.String() }, { title: 'Session' })
  const body = Type.Object({
    name: Type.String({ rule: 'must have a name' }),
    currency: CurrencyCode({ description: 'Currency of the price' }),
    from: Type.Optional(Moment()),
    day: Type.Optional(Day()),
    secret: Type.Optional(Type.String({ sensitive: true })),
    metadata: Type.Optional(Metadata),
  })
  const common = { scope: 'sms:write', summary: 'Something' } as const
  const never = async (): Promise<never> => assert.fail('no handler runs here')
  const made = documentOf([
    {
      name: 'things',
      routes: [
        write({
          ...common,
          method: 'POST',
          path: '/v1/things',
          operation: 'things.create',
          limit: 'messenger',
          body,
          reply: { status: 201, schema: Thing, location: ({ id }) => `/v1/things/${id}` },
          errors: ['INSUFFICIENT_BALANCE'],
          handle: never,
        }),
        write({
          ...common,
          method: 'POST',
          path: '/v1/things/known',
          operation: 'things.note',
          reply: { status: 201, schema: Thing, existed: () => true },
          handle: never,
        }),
        write({
          ...common,
          method: 'PATCH',
          path: '/v1/things/:id',
          operation: 'things.change',
          body: Type.Partial(body),
          reply: { status: 200, schema: Thing },
          handle: never,
        }),
        write({
          ...common,
          method: 'PATCH',
          path: '/v1/things/:id/name',
          operation: 'things.rename',
          body: Type.Pick(body, ['name']),
          reply: { status: 200, schema: Thing },
          handle: never,
        }),
        list({
          ...common,
          path: '/v1/things',
          aliases: ['/v1/stuff'],
          operation: 'things.list',
          query: Type.Object({ tags: Type.Optional(Type.Array(Type.String())) }),
          row: Thing,
          handle: never,
        }),
        stream({
          ...common,
          path: '/v1/things/stream',
          operation: 'things.stream',
          message: Thing,
          handle: never,
        }),
        read({
          ...common,
          method: 'GET',
          path: '/v1/sessions/:id',
          operation: 'sessions.get',
          reply: { status: 200, schema: Session },
          handle: never,
        }),
      ],
      events: [
        eventType({
          name: 'thing.made',
          summary: 'A thing was made',
          payload: Thing,
          sample: { id: 't', cost: 1_500_000n, made_at: new Date(0), note: null },
        }),
      ],
    },
  ])

  const succeeded = { $ref: '#/components/schemas/Succeeded' }

  it('answers with its fields in the envelope and beside it', () => {
    const { responses } = operationAt(made, 'POST', '/v1/things')
    const thing = { $ref: '#/components/schemas/Thing' }
    assert.deepEqual(schemaOf(responses, '201'), {
      allOf: [
        thing,
        succeeded,
        {
          type: 'object',
          required: ['data'],
          properties: { data: { ...thing, description: 'The same fields, as an object' } },
        },
      ],
    })
    assert.ok(responses['201']?.headers.Location)
  })

  it('that makes what may be there already has an answer for both', () => {
    const { responses } = operationAt(made, 'POST', '/v1/things/known')
    assert.deepEqual([responses['200']?.description, responses['201']?.description], ['Existed already', 'Created'])
    assert.deepEqual(schemaOf(responses, '200'), schemaOf(responses, '201'))
  })

  it('that changes a part of something says that the rest stays', () => {
    const kept = / Absent fields are left unchanged\.$/
    assert.match(operationAt(made, 'PATCH', '/v1/things/{id}').description, kept)
    assert.doesNotMatch(operationAt(made, 'PATCH', '/v1/things/{id}/name').description, kept, 'there is no rest')
    assert.doesNotMatch(operationAt(made, 'POST', '/v1/things').description, kept)
  })

  it('that lists answers with rows and a cursor', () => {
    const { responses, parameters } = operationAt(made, 'GET', '/v1/things')
    const { properties, required } = schemaOf(responses, '200')
    assert.deepEqual(required, ['success', 'data', 'has_more', 'next_cursor'])
    assert.deepEqual(Object(properties).data, {
      type: 'array',
      items: { $ref: '#/components/schemas/Thing' },
      description: 'Rows of this page',
    })
    assert.deepEqual(
      Object.keys(responses['200']?.content ?? {}),
      ['application/json'],
      'one type for generated clients',
    )
    assert.equal(parameters.find(({ name }) => name === 'tags')?.in, 'query')
  })

  it('whose record owns `data` is not wrapped', () => {
    const { responses, parameters } = operationAt(made, 'GET', '/v1/sessions/:id')
    assert.deepEqual(schemaOf(responses, '200'), {
      allOf: [{ $ref: '#/components/schemas/Session' }, succeeded],
    })
    assert.deepEqual(parameters[0], { name: 'id', in: 'path', required: true, schema: { type: 'string' } })
  })

  it('that is a stream says what its messages hold, and where to go on', () => {
    const { responses, parameters } = operationAt(made, 'GET', '/v1/things/stream')
    const { content } = responses['200'] ?? assert.fail('no 200')
    assert.deepEqual(content, {
      'text/event-stream': {
        schema: {
          type: 'string',
          contentMediaType: 'application/json',
          contentSchema: { $ref: '#/components/schemas/Thing' },
        },
      },
    })
    assert.deepEqual(
      parameters.map(({ $ref }) => $ref),
      ['#/components/parameters/LastEventID', '#/components/parameters/PamojaStrict'],
    )
    assert.ok(Object.values(responses).some(({ $ref }) => $ref?.endsWith('/RATE_LIMITED.TOO_MANY_STREAMS')))
  })

  it('has its alias as an operation of its own that points back', () => {
    const alias = operationAt(made, 'GET', '/v1/stuff')
    assert.equal(alias.operationId, 'things.listAtStuff')
    assert.equal(alias['x-alias-of'], 'things.list')
  })

  it('takes its error codes from the declaration, the fields and the plan limit', () => {
    const { responses } = operationAt(made, 'POST', '/v1/things')
    assert.deepEqual(responses['402'], { $ref: '#/components/responses/INSUFFICIENT_BALANCE' })
    assert.deepEqual(responses['422'], { $ref: '#/components/responses/VALIDATION_ERROR.UNSUPPORTED_CURRENCY' })
    assert.deepEqual(responses['429'], { $ref: '#/components/responses/RATE_LIMITED.130429' })
  })

  it('shows our formats as others know them', () => {
    const { properties } =
      operationAt(made, 'POST', '/v1/things').requestBody?.content['application/json']?.schema ?? {}
    const { name, currency, from, day, secret, metadata } = Object(properties)
    assert.deepEqual(name, { type: 'string', description: 'Must have a name' })
    assert.deepEqual(currency, {
      type: 'string',
      description: 'Currency of the price. Must be a currency code this service knows, such as KES',
    })
    assert.equal(from.format, 'date-time')
    assert.equal(day.format, 'date')
    assert.deepEqual(secret, { type: 'string' })
    const [[names, values] = ['', {}]] = Object.entries(Object(metadata.patternProperties))
    assert.deepEqual([names, Object(values).anyOf.length], ['^[\\s\\S]{1,40}$', 3])
    assert.deepEqual([metadata.additionalProperties, metadata.nameRule], [false, undefined])
    assert.deepEqual(Object(made.components.schemas.Thing?.properties).cost, { type: 'number' })
  })

  it('writes an event’s sample as it goes over the wire', () => {
    const { example } =
      made.webhooks['thing.made']?.post.requestBody.content['application/json'] ?? assert.fail('no event')
    assert.deepEqual(Object(example).cost, 1.5)
    assert.deepEqual(Object(example).made_at, '1970-01-01T00:00:00.000Z')
  })
})

describe('a schema', () => {
  it('cannot share its title with a different one', () => {
    const { publish } = schemaPublisher()
    publish(Type.Object({ a: Type.String() }, { title: 'Same' }))
    publish(Type.Object({ a: Type.String() }, { title: 'Same' }))
    assert.throws(
      () => publish(Type.Object({ b: Type.String() }, { title: 'Same' })),
      /two different schemas have the title Same/,
    )
  })

  it('with a keyword that nobody outside knows is refused instead of published', () => {
    assert.throws(() => schemaPublisher().publish(Type.String({ colour: 'red' })), /keyword colour is not known/)
  })

  it('of a fixed list becomes one that JSON Schema 2020-12 knows', () => {
    const published = schemaPublisher().publish(Type.Tuple([Type.String(), Type.Integer()]))
    assert.deepEqual(published.prefixItems, [{ type: 'string' }, { type: 'integer' }])
    assert.equal(published.items, false)
  })
})

function documentOf(of: readonly Area[]): Document {
  return JSON.parse(openapiText(of, '1.0.0'))
}

function operations(): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
}

function operationAt({ paths }: Document, method: Route['method'], path: string): Operation {
  return (
    paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? assert.fail(`${method} ${path} is missing`)
  )
}

function schemaOf(responses: Operation['responses'], status: string): Schema {
  return responses[status]?.content['application/json']?.schema ?? assert.fail(`no ${status}`)
}

function resolved(response: ({ $ref?: string } & Response) | undefined): Response {
  const found = response?.$ref ? document.components.responses[response.$ref.split('/').at(-1) ?? ''] : response
  return found ?? assert.fail('a response is missing')
}

/** Schema with the components beside it, so that references resolve. */
function closed(schema: Schema): Schema {
  return { ...schema, components: document.components }
}

function lookUp(reference: string): unknown {
  let here: unknown = document
  for (const step of reference.slice(2).split('/'))
    here = Object(here)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  return here
}

function* walk(value: unknown, parent = ''): Generator<{ key: string; value: unknown; parent: string }> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    yield { key, value: member, parent }
    // An example is data: keywords in it are fields.
    if (key !== 'example') yield* walk(member, key)
  }
}
