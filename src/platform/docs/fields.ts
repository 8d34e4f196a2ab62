// SPDX-License-Identifier: Apache-2.0
// Schema as tables: one row per field, nested ones indented, and a sample.
import {
  closed,
  isJsonSchema,
  type JsonSchema,
  judgedBy,
  propertiesOf,
  requiredOf,
  ruleSentence,
} from '../schema/json-schema.ts'
import { breakable, type Html, html, prose } from '../web/html.ts'

/** Depth limit; deeper fields are in the OpenAPI document. */
const maxDepth = 5

interface Field {
  name: string
  depth: number
  type: string
  required: boolean
  words: readonly string[]
  notes: readonly Html[]
}

/** Request fields with their rules. */
export function requestTable(schema: unknown): Html {
  return table(fieldsOf(schema, 0, notesOnRequest))
}

/** Fields of a reply or event: always present, so only their meaning is stated. */
export function replyTable(schema: unknown): Html {
  return table(fieldsOf(schema, 0, meaning).map((field) => ({ ...field, required: false })))
}

function table(fields: readonly Field[]): Html {
  const rows = fields.map(
    ({ name, depth, type, required, words, notes }) => html`
      <tr>
        <th scope="row" class="d${depth}"><code>${breakable(name)}</code>${required && html` <span class="required">required</span>`}</th>
        <td class="type">${type}</td>
        <td class="meaning">${notes}${words.length > 0 && html`<p class="words">${words.map((word) => html`<code>${word}</code> `)}</p>`}</td>
      </tr>`,
  )
  return html`
    <table>
      <colgroup><col class="names"><col class="types"><col></colgroup>
      <thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>`
}

export function countFields(schema: unknown): number {
  return Object.keys(propertiesOf(schema)).length
}

function fieldsOf(schema: unknown, depth: number, notesOf: (schema: JsonSchema) => Html[]): Field[] {
  const required = requiredOf(schema)
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    if (!isJsonSchema(property)) return []
    const field: Field = {
      name,
      depth,
      type: typeOf(property),
      required: required.includes(name),
      words: wordsOf(property),
      notes: notesOf(property),
    }
    return [field, ...(depth < maxDepth ? fieldsOf(inside(property), depth + 1, notesOf) : [])]
  })
}

/** Object with a field's nested fields: itself, its items, or its non-null variant. */
function inside(schema: JsonSchema): JsonSchema {
  const shape = notNull(schema)
  return shape.type === 'array' && isJsonSchema(shape.items) ? inside(judgedBy(shape.items)) : shape
}

function notNull(schema: JsonSchema): JsonSchema {
  const shapes = optionsOf(schema).filter((option) => option.type !== 'null')
  const [only] = shapes
  return only && shapes.length === 1 ? notNull(only) : schema
}

function optionsOf({ anyOf }: JsonSchema): JsonSchema[] {
  return Array.isArray(anyOf) ? anyOf.filter(isJsonSchema) : []
}

const formatNames: Readonly<Record<string, string>> = {
  'date-time': 'time',
  moment: 'time',
  day: 'date',
  date: 'date',
  micros: 'amount',
  country: 'country',
  'country-or-all': 'country',
  currency: 'currency',
  'time-zone': 'time zone',
  email: 'email address',
  uri: 'URL',
}

function typeOf(schema: JsonSchema): string {
  const { type, format, items } = schema
  const options = optionsOf(schema)
  if (options.length > 0) return [...new Set(options.map(typeOf))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (typeof format === 'string' && formatNames[format]) return formatNames[format]
  if (type === 'array') return isJsonSchema(items) ? `list of ${plural(typeOf(judgedBy(items)))}` : 'list'
  if (type === 'object' && !isJsonSchema(schema.properties)) return 'map'
  if (type === 'integer') return 'whole number'
  if (type === 'string') return 'text'
  return typeof type === 'string' ? type : 'anything'
}

function plural(type: string): string {
  if (type === 'text' || type === 'anything' || type.includes('"')) return type
  return type.replace(/^(\S.*?)( or .*)?$/, (_all, head: string, rest = '') => `${head.replace(/s$/, 'se')}s${rest}`)
}

function wordsOf(schema: JsonSchema): string[] {
  const shape = inside(schema)
  return Array.isArray(shape.enum) ? shape.enum.map(String) : []
}

/** Notes on a request field: meaning, rule, default. */
function notesOnRequest(schema: JsonSchema): Html[] {
  const shape = notNull(schema)
  const rule = ruleSentence(schema) ?? ruleSentence(shape)
  const standing = schema.default ?? shape.default
  return [
    ...meaning(schema),
    ...(rule ? [html`<p class="rule">${prose(closed(rule))}</p>`] : []),
    ...(standing === undefined ? [] : [html`<p class="rule">Default <code>${JSON.stringify(standing)}</code>.</p>`]),
  ]
}

function meaning(schema: JsonSchema): Html[] {
  const description = [schema.description, notNull(schema).description].find((text) => typeof text === 'string')
  return typeof description === 'string' ? [html`<p>${prose(closed(description))}</p>`] : []
}

/** Sample value of a schema, with a mark where only the server knows the value. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isJsonSchema(schema) || depth > maxDepth) return {}
  const shape = notNull(schema)
  const { type, format } = shape
  const [example] = Array.isArray(shape.examples) ? shape.examples : []
  const [word] = Array.isArray(shape.enum) ? shape.enum : []
  const given = example ?? shape.const ?? shape.default ?? word
  if (given !== undefined) return given
  if (format === 'micros') return 12.5
  if (format === 'date-time' || format === 'moment') return '2026-03-01T09:15:30.000Z'
  if (format === 'date' || format === 'day') return '2026-03-01'
  if (type === 'array') return [sampleOf(shape.items, depth + 1)]
  if (type === 'string') return '…'
  if (type === 'integer' || type === 'number') return typeof shape.minimum === 'number' ? Math.max(shape.minimum, 1) : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  const [first] = optionsOf(shape)
  if (first) return sampleOf(first, depth)
  return Object.fromEntries(
    Object.entries(propertiesOf(shape)).map(([name, property]) => [name, sampleOf(property, depth + 1)]),
  )
}
