// SPDX-License-Identifier: Apache-2.0
// Printer of the TypeScript SDK: shapes, the areas of the client with their types and the table that they work by, events, and
// a flat function for every operation, for pages that should load only what they call.
import { line, queryNames } from './model.mjs'

const head = (about) =>
  `// SPDX-License-Identifier: Apache-2.0\n// ${about} Made by tools/sdk.mjs from openapi.json: do not edit.\n`

/** File name -> text. */
export function typescriptOf(model) {
  const { shapes, operations, areas, operator, events, version } = model
  const flat = operations.map(flatFunction).join('\n')
  return {
    'schemas.ts': `${head('Shapes of the API that have a name.')}\n${shapes
      .map(({ name, about, type }) => `${doc(about, '')}export type ${name} = ${print(type)}\n`)
      .join('\n')}`,
    'operations.ts': `${head('Function for every operation of the API.')}import { operation, type Page } from './client.ts'\nimport type * as s from './schemas.ts'\n\n${flat}`,
    'version.ts': `${head('Version of the client.')}\nexport const version = '${version}'\n`,
    'table.ts': `${head('Operations of the areas.')}\n${table('areas', areas)}`,
    'operator-table.ts': `${head('Operations of operators.')}\n${table('operatorAreas', operator)}`,
    'api.ts': `${head('Areas of the client.')}${importsOf(areas, "import { Client } from './client.ts'\n")}${areas.map(area).join('\n')}\n/** Client with its areas, which are made from the table. */\nexport class Areas extends Client {\n${areas.map(({ name }) => `  declare readonly ${name}: ${typeName(name)}\n`).join('')}}\n\n${codes([...areas, ...operator])}`,
    'operator-api.ts': `${head('Operations of operators.')}${importsOf(operator)}${operator.map(area).join('\n')}`,
    'events.ts': `${head('Events that webhooks and streams tell.')}import type * as s from './schemas.ts'\n\n${events
      .map(
        ({ name, about, type }) =>
          `/** ${line(about)} */\nexport type ${eventName(name)} = ${print(type, 's.')}${hasField(type, 'event') ? '' : ' & { event?: undefined }'}\n`,
      )
      .join(
        '\n',
      )}\n/** Any event; \`event\` tells which. */\nexport type PamojaEvent =\n${events.map(({ name }) => `  | ${eventName(name)}\n`).join('')}`,
  }
}

/** Imports of the types that some areas use. */
function importsOf(areas, more = '') {
  const text = areas.map(area).join('')
  const types = ['Answer', 'List', 'MessageStream', 'RequestOptions', 'WaitOptions'].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(text),
  )
  return `import type { ${types.join(', ')} } from './call.ts'\n${more}import type * as s from './schemas.ts'\n\n`
}

const typeName = (area) => `${area.charAt(0).toUpperCase()}${area.slice(1)}Api`
/** Whether a field is there; chat events, which have the shape of another API, have a `type` in place of `event`. */
function hasField(type, name) {
  return type.kind === 'all'
    ? type.of.some((one) => hasField(one, name))
    : (type.fields ?? []).some((field) => field.name === name)
}

const eventName = (name) => `${name.replaceAll(/(?:^|[._])(\w)/g, (_, letter) => letter.toUpperCase())}Notice`

/** Method, path and, where they are not the usual ones, names of the query and kind of the reply; `!` where nothing is taken beside the path. */
function spec(operation) {
  const names = queryNames(operation)
  const isBare = inputType(operation)[0] === null
  const gives = operation.gives === 'data' ? '' : ` ${operation.gives}`
  return `${operation.method} ${operation.path}${names.length > 0 ? `?${names.join(',')}` : ''}${isBare ? '!' : ''}${gives}`
}

function table(name, areas) {
  const rows = areas.map(
    (one) => `  ${one.name}: {\n${one.operations.map((op) => `    ${op.name}: '${spec(op)}',\n`).join('')}  },\n`,
  )
  return `export const ${name} = {\n${rows.join('')}} as const\n`
}

function area({ name, operations }) {
  const waits = operations.filter(({ name: verb, canWait }) => verb === 'get' && canWait)
  const methods = operations.map(
    (op) =>
      `  /** ${line(op.summary)}${op.about ? `. ${line(op.about)}` : ''} */\n  ${op.name}(${argumentsOf(op)}): ${resultOf(op)}\n`,
  )
  const waiting = waits.map(
    (op) =>
      `  /** Waits until it has ended, or the time is over, and gives it as it is then */\n  wait(${op.params[0]}: string, options?: WaitOptions): ${resultOf(op)}\n`,
  )
  return `export interface ${typeName(name)} {\n${[...methods, ...waiting].join('')}}\n`
}

function argumentsOf(operation) {
  const path = operation.params.map((name) => `${name}: string`)
  const [type, isOptional] = inputType(operation)
  const input = type === null ? [] : [`input${isOptional ? '?' : ''}: ${type}`]
  return [...path, ...input, 'options?: RequestOptions'].join(', ')
}

/** Type of everything beside the path in one object, and whether it may be left out. */
function inputType({ query, body }) {
  if (body?.kind === 'csv') return ['string', false]
  if (query.length === 0 && body === null) return [null, true]
  const own = body?.type.fields ?? []
  const asked = query.filter(({ name }) => !own.some((field) => field.name === name))
  const parts = []
  if (body) parts.push(print(body.named ?? body.type, 's.'))
  if (asked.length > 0) parts.push(print({ kind: 'object', fields: asked, isOpen: false }, 's.'))
  return [parts.map(inner).join(' & '), !body?.isRequired && !asked.some(({ isRequired }) => isRequired)]
}

function resultOf({ gives, reply }) {
  if (gives === 'page') return `List<${print(reply, 's.')}>`
  if (gives === 'stream') return `MessageStream<${print(reply, 's.')}>`
  if (gives === 'file') return 'Promise<Response>'
  return `Promise<Answer<${gives === 'none' ? 'object' : print(reply, 's.')}>>`
}

/** Error codes by operation; those that most of them have are named once. */
function codes(areas) {
  const all = areas.flatMap(({ operations }) => operations)
  const shared = [
    'INVALID_REQUEST',
    'UNAUTHORIZED',
    'HTTPS_REQUIRED',
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    'FORBIDDEN',
    'ACCOUNT_SUSPENDED',
  ]
  const rows = all.map(({ id, errors }) => {
    const own = errors.filter((code) => !shared.includes(code))
    return `  '${id}': SharedCode${own.map((code) => ` | '${code}'`).join('')}\n`
  })
  return `/** Codes that any operation may give; those of a request that was not answered come last. */\nexport type SharedCode = ${[...shared, 'UNREACHABLE', 'TIMEOUT'].map((code) => `'${code}'`).join(' | ')}\n\n/** Codes by operation. */\nexport interface OperationCodes {\n${rows.join('')}}\n`
}

function flatFunction({ id, summary, method, path, gives, reply, query, body, params }) {
  const fields = params.map((name) => `${name}: string`)
  if (query.length > 0) {
    const isNeeded = query.some(({ isRequired }) => isRequired)
    fields.push(`query${isNeeded ? '' : '?'}: ${print({ kind: 'object', fields: query, isOpen: false }, 's.')}`)
  }
  if (body) fields.push(`body${body.isRequired ? '' : '?'}: ${flatBody(body)}`)
  const kind = { data: '', none: '', page: 'page', flat: 'flat', file: 'answer', stream: 'answer' }[gives]
  const result =
    { page: `Page<${print(reply, 's.')}>`, none: 'object', answer: 'Response' }[kind || gives] ?? print(reply, 's.')
  const given = [`'${method}'`, `'${path}'`, ...(kind ? [`'${kind}'`] : [])].join(', ')
  const name = id.replace(/\.(\w)/g, (_, letter) => letter.toUpperCase())
  return `/** ${line(summary)} */\nexport const ${name} = /* @__PURE__ */ operation<${fields.length === 0 ? 'object' : `{ ${fields.join('; ')} }`}, ${result}>(${given})\n`
}

function flatBody({ kind, type, named }) {
  if (kind === 'csv') return 'string'
  const takesFiles = type.fields?.some((field) => hasFile(field.type))
  return `${print(named ?? type, 's.')}${takesFiles ? ' | FormData' : ''}`
}

function hasFile(type) {
  return (
    type.kind === 'file' || (Array.isArray(type.of) ? type.of.some(hasFile) : type.of !== undefined && hasFile(type.of))
  )
}

const plain = {
  text: 'string',
  time: 'string',
  number: 'number',
  integer: 'number',
  flag: 'boolean',
  nothing: 'null',
  file: 'Blob',
  unknown: 'unknown',
}

/** Type as TypeScript says it; names of shapes begin with `from`. */
function print(type, from = '') {
  switch (type.kind) {
    case 'ref':
      return `${from}${type.name}`
    case 'literals':
      return type.values.map(literal).join(' | ')
    case 'union':
      return [...new Set(type.of.map((one) => inner(print(one, from))))].join(' | ')
    case 'all':
      return type.of.map((one) => inner(print(one, from))).join(' & ')
    case 'list':
      return `${inner(print(type.of, from))}[]`
    case 'map':
      return `Record<string, ${print(type.of, from)}>`
    case 'object':
      return object(type, from)
    default:
      return plain[type.kind]
  }
}

function object({ fields, isOpen }, from) {
  const said = fields.map((field) => {
    const text = `${nameOf(field.name)}${field.isRequired ? '' : '?'}: ${print(field.type, from)}${field.isRequired ? '' : ' | undefined'}`
    return from === '' ? `${doc(field.about, '  ')}  ${text}\n` : `${text}; `
  })
  const text = from === '' ? `{\n${said.join('')}}` : `{ ${said.join('').slice(0, -2)} }`
  return isOpen ? `${text} & Record<string, unknown>` : text
}

const nameOf = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`)
const doc = (about, indent) => (about ? `${indent}/** ${line(about)} */\n` : '')
const inner = (type) => (/ [|&] /.test(type) ? `(${type})` : type)
const literal = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value))
