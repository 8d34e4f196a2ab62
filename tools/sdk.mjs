// SPDX-License-Identifier: Apache-2.0
// Makes sdk/schemas.ts and sdk/operations.ts from openapi.json, which the route table makes: the shapes that have a name, and a
// typed function for every operation.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const head = (about) =>
  `// SPDX-License-Identifier: Apache-2.0\n// ${about} Made by tools/sdk.mjs from openapi.json: do not edit.\n`

/** File name -> text of what is made from the document. */
export function sdkOf(document) {
  const { schemas } = document.components
  const shapes = Object.entries(schemas).map(
    ([name, schema]) => `${docOf(schema, '')}export type ${name} = ${typeOf(schema)}\n`,
  )
  const operations = operationsOf(document)
  const text = operations.join('\n')
  const named = Object.keys(schemas).filter((name) => new RegExp(`\\bs\\.${name}\\b`).test(text))
  return {
    'schemas.ts': `${head('Shapes of the API that have a name.')}\n${shapes.join('\n')}`,
    'operations.ts': `${head('A function for every operation of the API.')}import { operation, type Page } from './client.ts'\n${named.length > 0 ? "import type * as s from './schemas.ts'\n" : ''}\n${text}`,
  }
}

function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, said]) => {
      const { operationId, summary } = said
      const [reply, gives] = replyOf(said)
      const given = [`'${method.toUpperCase()}'`, `'${path}'`, ...(gives === 'data' ? [] : [`'${gives}'`])].join(', ')
      return `/** ${summary} */\nexport const ${nameOf(operationId)} = /* @__PURE__ */ operation<${inputOf(path, said)}, ${reply}>(${given})\n`
    }),
  )
}

/** sms.send -> smsSend. */
function nameOf(operationId) {
  return operationId.replace(/\.(\w)/g, (_, letter) => letter.toUpperCase())
}

/** Input of an operation: what the path names, then the query, then the body. */
function inputOf(path, { parameters = [], requestBody }) {
  const fields = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
  const query = parameters.filter((one) => one.in === 'query')
  if (query.length > 0) {
    const isNeeded = query.some(({ required }) => required)
    const names = query.map(({ name, required, schema }) => fieldOf(name, required === true, typeOf(schema, 's.')))
    fields.push(`query${isNeeded ? '' : '?'}: { ${names.join('; ')} }`)
  }
  if (requestBody) fields.push(`body${requestBody.required ? '' : '?'}: ${bodyOf(requestBody.content)}`)
  return fields.length === 0 ? 'object' : `{ ${fields.join('; ')} }`
}

function bodyOf(content) {
  const kinds = [
    content['application/json'] && typeOf(content['application/json'].schema, 's.'),
    content['multipart/form-data'] && 'FormData',
    content['text/csv'] && 'string',
  ]
  return kinds.filter(Boolean).join(' | ')
}

function replyOf({ responses }) {
  const [, { content = {} }] = Object.entries(responses).find(([status]) => status.startsWith('2'))
  const schema = content['application/json']?.schema
  if (!schema) return Object.keys(content).length === 0 ? ['object', 'data'] : ['Response', 'answer']
  const { properties = schema.allOf?.at(-1)?.properties } = schema
  if (properties?.next_cursor) return [`Page<${typeOf(properties.data.items, 's.')}>`, 'page']
  return properties?.data ? [typeOf(properties.data, 's.'), 'data'] : ['Response', 'answer']
}

/** A schema as TypeScript says it; names of shapes begin with `from`. */
function typeOf(schema, from = '') {
  if (schema === undefined || schema === true) return 'unknown'
  if (schema.$ref) return `${from}${schema.$ref.split('/').at(-1)}`
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const among = schema.anyOf ?? schema.oneOf
  if (among) return [...new Set(among.map((one) => inner(typeOf(one, from))))].join(' | ')
  if (schema.allOf) return schema.allOf.map((one) => inner(typeOf(one, from))).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => inner(typeOf({ ...schema, type }, from))).join(' | ')
  if (schema.type === 'array') return `${inner(typeOf(schema.items, from))}[]`
  if (schema.type === 'object' || schema.properties) return objectOf(schema, from)
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[schema.type] ??
    'unknown'
  )
}

function objectOf({ properties = {}, required = [], additionalProperties, patternProperties }, from) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const field = fieldOf(name, required.includes(name), typeOf(schema, from))
    return from === '' ? `${docOf(schema, '  ')}  ${field}\n` : `${field}; `
  })
  const others = patternProperties ? Object.values(patternProperties)[0] : additionalProperties
  const isOpen = typeof others === 'object' && Object.keys(others).length > 0
  if (fields.length === 0) return `Record<string, ${isOpen ? typeOf(others, from) : 'unknown'}>`
  const text = from === '' ? `{\n${fields.join('')}}` : `{ ${fields.join('').slice(0, -2)} }`
  return isOpen ? `${text} & Record<string, unknown>` : text
}

function fieldOf(name, isRequired, type) {
  const said = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
  return isRequired ? `${said}: ${type}` : `${said}?: ${type} | undefined`
}

function docOf({ description }, indent) {
  return description ? `${indent}/** ${description.replaceAll('*/', '* /').replace(/\s+/g, ' ')} */\n` : ''
}

const inner = (type) => (/ [|&] /.test(type) ? `(${type})` : type)
const literal = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value))

const root = dirname(dirname(fileURLToPath(import.meta.url)))
if (argv[1] === fileURLToPath(import.meta.url))
  for (const [name, text] of Object.entries(sdkOf(JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')))))
    writeFileSync(join(root, 'sdk', name), text)
