// SPDX-License-Identifier: Apache-2.0
// Model of the API that every SDK is printed from: operations by area, shapes that have a name, and events. It is made from
// openapi.json, which the route table makes; no printer reads the document itself.

/**
 * Type of a value. Kinds: ref (name), literals (values), union, all (of), list (of), map (of), object (fields, isOpen), and
 * the plain ones: text, time, number, integer, flag, nothing, file, unknown.
 */

/** Model of a document. */
export function modelOf(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, said]) => operationOf(document, path, method.toUpperCase(), said)),
  )
  return {
    version: document.info.version,
    shapes: Object.entries(document.components.schemas).map(([name, schema]) => ({
      name,
      about: schema.description ?? '',
      type: typeOf(schema),
    })),
    operations,
    areas: areasOf(operations.filter(({ isAlias, area }) => !isAlias && area !== 'operator')),
    operator: areasOf(operations.filter(({ isAlias, area }) => !isAlias && area === 'operator')),
    events: Object.entries(document.webhooks).map(([name, { post }]) => ({
      name,
      about: post.summary,
      type: typeOf(post.requestBody.content['application/json'].schema),
    })),
  }
}

function areasOf(operations) {
  const areas = Map.groupBy ? Map.groupBy(operations, ({ area }) => area) : grouped(operations)
  return [...areas].map(([name, own]) => ({ name, operations: own }))
}

function grouped(operations) {
  const areas = new Map()
  for (const one of operations) areas.set(one.area, [...(areas.get(one.area) ?? []), one])
  return areas
}

function operationOf(document, path, method, said) {
  const { operationId, summary, description = '', parameters = [], requestBody, 'x-alias-of': aliasOf } = said
  const [area, name] = operationId.split('.')
  const body = bodyOf(document, requestBody)
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, required = false, description = '', schema }) => ({
      name,
      isRequired: required,
      about: description,
      type: typeOf(schema),
    }))
  const [gives, reply] = replyOf(said)
  return {
    id: operationId,
    area,
    name,
    isAlias: aliasOf !== undefined,
    method,
    path,
    summary,
    about: description,
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param),
    query,
    // Where a DELETE takes the same names both ways, the query is the surer one: some proxies drop such bodies.
    body: method === 'DELETE' && query.length > 0 ? null : body,
    gives,
    reply,
    canWait: query.some((one) => one.name === 'wait'),
    errors: said['x-error-codes'] ?? [],
  }
}

/** Body: `json` with its type and, where files may stand in it, their fields; or `csv`, which is one text. */
function bodyOf(document, requestBody) {
  if (!requestBody) return null
  const { content, required = false } = requestBody
  if (content['text/csv']) return { kind: 'csv', isRequired: true }
  const files = content['multipart/form-data']?.schema
  const schema = content['application/json']?.schema ?? files
  const type = typeOf(resolved(document, schema))
  const named = schema.$ref ? typeOf(schema) : null
  if (files && content['application/json']) type.fields = withFiles(type.fields, typeOf(files).fields)
  return { kind: 'json', isRequired: required, type, named }
}

/** Fields of which some are files too. */
function withFiles(fields, others) {
  const isFile = ({ type }) => type.kind === 'file' || type.of?.kind === 'file'
  return fields
    .map((field) => {
      const file = others.find((one) => one.name === field.name && isFile(one))
      return file ? { ...field, type: { kind: 'union', of: [field.type, file.type] } } : field
    })
    .concat(others.filter((one) => isFile(one) && !fields.some(({ name }) => name === one.name)))
}

function resolved({ components }, schema) {
  return schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema
}

/** Kind of a reply: data, page (rows), flat (no `data` around it), none, file (bytes or text), stream (messages). */
function replyOf({ responses }) {
  const [, { content = {} }] = Object.entries(responses).find(([status]) => status.startsWith('2'))
  const stream = content['text/event-stream']
  if (stream) return ['stream', typeOf(stream.schema.contentSchema)]
  const schema = content['application/json']?.schema
  if (!schema) return [Object.keys(content).length === 0 ? 'none' : 'file', { kind: 'unknown' }]
  const { properties = schema.allOf?.at(-1)?.properties } = schema
  if (properties?.next_cursor) return ['page', typeOf(properties.data.items)]
  return properties?.data ? ['data', typeOf(properties.data)] : ['flat', typeOf(schema.allOf?.[0] ?? schema)]
}

function typeOf(schema) {
  if (schema === undefined || schema === true) return { kind: 'unknown' }
  if (schema.$ref) return { kind: 'ref', name: schema.$ref.split('/').at(-1) }
  if (schema.const !== undefined) return { kind: 'literals', values: [schema.const] }
  if (schema.enum) return { kind: 'literals', values: schema.enum }
  const among = schema.anyOf ?? schema.oneOf
  if (among) return { kind: 'union', of: among.map(typeOf) }
  if (schema.allOf) return { kind: 'all', of: schema.allOf.map(typeOf) }
  if (Array.isArray(schema.type)) return { kind: 'union', of: schema.type.map((type) => typeOf({ ...schema, type })) }
  if (schema.type === 'array') return { kind: 'list', of: typeOf(schema.items) }
  if (schema.type === 'object' || schema.properties) return objectOf(schema)
  if (schema.type === 'string') return { kind: { 'date-time': 'time', binary: 'file' }[schema.format] ?? 'text' }
  const kinds = { number: 'number', integer: 'integer', boolean: 'flag', null: 'nothing' }
  return { kind: kinds[schema.type] ?? 'unknown' }
}

function objectOf({ properties = {}, required = [], additionalProperties, patternProperties }) {
  const others = patternProperties ? Object.values(patternProperties)[0] : additionalProperties
  const isOpen = typeof others === 'object' && Object.keys(others).length > 0
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    about: schema.description ?? '',
    type: typeOf(schema),
  }))
  return fields.length === 0
    ? { kind: 'map', of: isOpen ? typeOf(others) : { kind: 'unknown' } }
    : { kind: 'object', fields, isOpen }
}

/** Fields of a call beside its path: those of the query, then those of the body; null when the body has no fixed fields. */
export function inputFields({ query, body }) {
  if (body === null) return query
  if (body.kind === 'csv' || body.type.kind !== 'object') return null
  const own = body.type.fields
  return [...query.filter(({ name }) => !own.some((field) => field.name === name)), ...own]
}

/** Names that go into the query although the method has a body; a GET and a DELETE without a body need no list. */
export function queryNames({ method, query, body }) {
  if (method === 'GET') return []
  const own = body?.type?.fields ?? []
  return query.map(({ name }) => name).filter((name) => body === null || !own.some((field) => field.name === name))
}

/** Sentence on one line, without what would end a comment. */
export function line(text) {
  return text.replaceAll('*/', '* /').replace(/\s+/g, ' ').trim()
}

/**
 * Where times stand in a type, as paths: `created_at`, `rows.*.at`; a path to a shape ends in its name, `customer>Customer`.
 * Languages that have a type for times turn these texts into it.
 */
export function timePaths(type, shapesWithTimes, at = []) {
  const deeper = (one, step) => timePaths(one, shapesWithTimes, step === undefined ? at : [...at, step])
  switch (type.kind) {
    case 'time':
      return [at.join('.')]
    case 'ref':
      return shapesWithTimes.has(type.name) ? [`${at.join('.')}>${type.name}`] : []
    case 'union':
    case 'all':
      return [...new Set(type.of.flatMap((one) => deeper(one)))]
    case 'list':
    case 'map':
      return deeper(type.of, '*')
    case 'object':
      return type.fields.flatMap((field) => deeper(field.type, field.name))
    default:
      return []
  }
}

/** Shape -> its paths, for the shapes that have times, themselves or in others. */
export function timesOfShapes({ shapes }) {
  const known = new Set()
  for (let size = -1; size !== known.size; ) {
    size = known.size
    for (const { name, type } of shapes) if (timePaths(type, known).length > 0) known.add(name)
  }
  return new Map(shapes.filter(({ name }) => known.has(name)).map(({ name, type }) => [name, timePaths(type, known)]))
}

/** sendBulk -> send_bulk. */
export function snake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
