// SPDX-License-Identifier: Apache-2.0
// Public JSON Schema 2020-12, without our own keywords and formats. A titled schema becomes a component, so that
// generated clients have a name for it.

export type JsonSchema = Readonly<Record<string, unknown>>

export interface SchemaPublisher {
  /** Public schema; a reference where it has a title. */
  publish(schema: unknown): JsonSchema
  /** Titled schemas so far, by title. */
  components(): Record<string, JsonSchema>
}

export function schemaPublisher(): SchemaPublisher {
  const byTitle = new Map<string, JsonSchema>()
  return {
    publish,
    components: () => Object.fromEntries([...byTitle].sort(([a], [b]) => (a < b ? -1 : 1))),
  }

  function publish(schema: unknown): JsonSchema {
    if (!isJsonSchema(schema)) throw new Error('a schema must be an object')
    const published = translated(schema, publish)
    const { title } = schema
    if (typeof title !== 'string') return published
    if (!/^[A-Z][A-Za-z0-9]*$/.test(title)) throw new Error(`the schema title ${title} must be one word in PascalCase`)
    const known = byTitle.get(title)
    if (known && JSON.stringify(known) !== JSON.stringify(published))
      throw new Error(`two different schemas have the title ${title}; give one of them another`)
    byTitle.set(title, published)
    return { $ref: `#/components/schemas/${title}` }
  }
}

/** Public schema without references. */
export function standalone(schema: unknown): JsonSchema {
  if (!isJsonSchema(schema)) throw new Error('a schema must be an object')
  return translated(schema, standalone)
}

export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Our own keywords, not part of JSON Schema. */
const ownKeywords = new Set(['rule', 'nameRule', 'nullsAreNone', 'errorCode', 'refinementCodes', 'sensitive'])

/** Keywords copied unchanged. */
const plainKeywords = new Set(
  `$ref type const enum default examples pattern title description deprecated readOnly writeOnly minimum maximum
   exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minContains maxContains
   minProperties maxProperties required contentEncoding contentMediaType x-providers x-payouts-of`.split(/\s+/),
)

/** Keywords with one schema, several, or several by name. */
const schemaKeywords = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
])
const listKeywords = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems'])
const mapKeywords = new Set(['properties', 'patternProperties'])

/** Standard formats; formats of our validator are described by the rule. */
const publicFormats: Readonly<Record<string, string>> = {
  moment: 'date-time',
  'date-time': 'date-time',
  day: 'date',
  date: 'date',
  time: 'time',
  email: 'email',
  uri: 'uri',
  uuid: 'uuid',
  ipv4: 'ipv4',
  ipv6: 'ipv6',
  hostname: 'hostname',
  binary: 'binary',
}

/** Key pattern of free-form records. */
const anyKey = '^.*$'

function translated(given: JsonSchema, publish: (schema: unknown) => JsonSchema): JsonSchema {
  const schema = isJsonSchema(given.publishedAs) ? given.publishedAs : judgedBy(given)
  const out: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (ownKeywords.has(keyword) || keyword === 'additionalItems') continue
    if (keyword === 'format') Object.assign(out, formatOf(value))
    else if (keyword === 'items' && Array.isArray(value))
      Object.assign(out, { prefixItems: value.map(publish), items: false })
    else if (keyword === 'patternProperties' && isJsonSchema(value) && value[anyKey])
      out.additionalProperties = publish(value[anyKey])
    else if (plainKeywords.has(keyword)) out[keyword] = value
    else if (schemaKeywords.has(keyword)) out[keyword] = typeof value === 'boolean' ? value : publish(value)
    else if (listKeywords.has(keyword) && Array.isArray(value)) out[keyword] = value.map(publish)
    else if (mapKeywords.has(keyword) && isJsonSchema(value)) out[keyword] = mapped(value, publish)
    else
      throw new Error(
        `the schema keyword ${keyword} is not known: say in json-schema.ts what the outside world reads instead`,
      )
  }
  const words = described(schema)
  if (words) out.description = words
  return out
}

/** Meaning and rule of a schema, as one text. */
function described(schema: JsonSchema): string | null {
  const { description } = schema
  const rule = ruleSentence(schema)
  if (typeof description !== 'string') return rule
  return rule ? `${closed(description)} ${rule}` : description
}

/** A sentence with its full stop. */
export function closed(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

/** Schema each entry is validated against, where the request schema accepts anything. */
export function judgedBy(schema: JsonSchema): JsonSchema {
  return isJsonSchema(schema.judgedApart) ? schema.judgedApart : schema
}

function formatOf(format: unknown): { format?: string } {
  const known = typeof format === 'string' ? publicFormats[format] : undefined
  return known ? { format: known } : {}
}

function mapped(schemas: JsonSchema, publish: (schema: unknown) => JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, publish(schema)]))
}

/** Rule of a schema as a sentence; none where the type, the words or the description say it already. */
export function ruleSentence({ rule, type, enum: words, const: only, description }: JsonSchema): string | null {
  if (typeof rule !== 'string' || words !== undefined || (type === 'boolean' && only === undefined)) return null
  if (typeof description === 'string' && description.includes(rule)) return null
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}`
}

export function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return isJsonSchema(schema) && isJsonSchema(schema.properties) ? schema.properties : {}
}

export function requiredOf(schema: unknown): readonly unknown[] {
  return isJsonSchema(schema) && Array.isArray(schema.required) ? schema.required : []
}
