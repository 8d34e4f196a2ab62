// SPDX-License-Identifier: Apache-2.0
// The committed openapi.json is the derived one, so that a change of the API is seen in review.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { packageVersion } from '../../src/node/version.ts'
import type { Route } from '../../src/platform/api/route.ts'
import { openapiText } from '../../src/platform/openapi.ts'
import { isJsonSchema, type JsonSchema, judgedBy, propertiesOf } from '../../src/platform/schema/json-schema.ts'
import { isRiddle, riddlesIn } from './riddles.ts'
import { sourceFiles } from './sources.ts'

test('the committed openapi.json is the derived one', () => {
  const committed = readFileSync('openapi.json', 'utf8').trim().split('\n')
  const derived = openapiText(areas, packageVersion()).trim().split('\n')
  // The first line that differs says enough; the whole document is three megabytes.
  const at = derived.findIndex((line, i) => line !== committed[i])
  assert.equal(derived[at]?.slice(0, 300), committed[at]?.slice(0, 300), `line ${at + 1}; run: npm run openapi`)
  assert.ok(at === -1 && committed.length === derived.length, `line ${at + 1} differs; run: npm run openapi`)
})

test('generators of clients can name every part of a schema: no two would be called the same', () => {
  const { components } = JSON.parse(openapiText(areas, packageVersion()))
  const twice: string[] = []
  for (const [title, schema] of Object.entries(components.schemas)) {
    // A plain type needs no name of its own.
    const parts = Object.entries(propertiesOf(schema)).filter(
      ([, part]) =>
        isJsonSchema(part) && ['anyOf', 'oneOf', 'enum', 'properties'].some((word) => part[word] !== undefined),
    )
    const names = parts.map(([name]) => name.replaceAll('_', '').toLowerCase())
    if (new Set(names).size < names.length) twice.push(title)
  }
  assert.deepEqual(twice, [])
})

test('every chapter says what is found in it, every operation and parameter what it is for', () => {
  const { tags, paths } = JSON.parse(openapiText(areas, packageVersion()))
  const silent: string[] = []
  for (const { name, description } of tags)
    if (!description) silent.push(`${name}: declare it under chapters in the area.ts of its area`)
  for (const [path, operations] of Object.entries<Record<string, Operation>>(paths))
    for (const [method, { summary, description, parameters }] of Object.entries(operations)) {
      if (!summary) silent.push(`${method} ${path} has no summary`)
      if (!description) silent.push(`${method} ${path} has no description`)
      for (const { name, description, $ref } of parameters)
        if (!description && !$ref) silent.push(`${method} ${path}: ${name} has no description`)
    }
  assert.deepEqual(silent, [])
  assert.deepEqual(
    tags.slice(-2).map(({ name }: { name: string }) => name),
    ['sandbox', 'operator'],
    'what everybody uses stands first',
  )
})

test('every field of a request says what it is for', () => {
  const silent = areas.flatMap(({ routes }) =>
    routes.flatMap((route) => silentIn(route).map((field) => `${route.operation}: ${field} has no description`)),
  )
  assert.deepEqual(silent, [])
})

test('every field of a reply and of an event says what it is', () => {
  const shapes = areas.flatMap(({ routes, events = [] }) => [
    ...routes.map(({ operation, reply }) => [operation, reply.schema] as const),
    ...events.map(({ name, payload }) => [name, payload] as const),
  ])
  const silent = shapes.flatMap(([name, schema]) =>
    silentFields(schema, '').map((field) => `${name}: ${field} has no description`),
  )
  assert.deepEqual(silent, [])
})

test('no parameter or field is described by the words of its name alone', () => {
  const { paths, webhooks, components } = JSON.parse(openapiText(areas, packageVersion()))
  const empty = new Set<string>()
  const look = (name: string, description: unknown, where: string) => {
    if (typeof description === 'string' && saysNothing(name, description)) empty.add(`${where}: ${description}`)
  }
  const walk = (value: unknown, where: string): void => {
    if (Array.isArray(value)) for (const one of value) walk(one, where)
    if (!isJsonSchema(value)) return
    if (typeof value.name === 'string') look(value.name, value.description, `${where} ${value.name}`)
    for (const [name, field] of Object.entries(propertiesOf(value)))
      if (isJsonSchema(field)) look(name, field.description, `${where} ${name}`)
    for (const [name, inside] of Object.entries(value))
      walk(inside, where.split(' ').length < 4 ? `${where} ${name}` : where)
  }
  walk({ paths, webhooks, components }, 'openapi.json')
  assert.deepEqual([...empty], [], 'say what a reader does not know: its form, its values, what it does')
})

test('no summary, description or name of an example is a riddle', () => {
  const found = new Set(publicTexts().flatMap(({ text, place }) => (isRiddle(text, place) ? [text] : [])))
  assert.deepEqual(
    [...found],
    [],
    'name the thing, then its form, values and effect: `True if …`, `Filter by …`, `Time of …`',
  )
})

test('a summary is that of one operation, so that a search finds it', () => {
  const summaries = areas.flatMap(({ routes }) => routes.map(({ summary }) => summary))
  assert.deepEqual(
    summaries.filter((summary, at) => summaries.indexOf(summary) !== at),
    [],
    'say of what: `List email templates`',
  )
})

test('the reference and the console say no word that the glossary replaces by another', () => {
  const rows = readFileSync('docs/glossary.md', 'utf8').matchAll(/^\| ([\w -]+) \| .* \| ?([\w, -]*) \|$/gm)
  const never = [...rows].flatMap(([, word, others = '']) =>
    others.split(', ').flatMap((other) => (other === '' || word === 'word' ? [] : [{ word, other }])),
  )
  assert.ok(never.length > 20)
  const texts = [...publicTexts().map(({ text }) => text.replaceAll(/`[^`]*`/g, '')), ...phrasesOfConsole()]
  const said = never.flatMap(({ word, other }) => {
    const form = new RegExp(`(?<![\\w-])${other}(?![\\w-])`, other === other.toLowerCase() ? 'i' : '')
    return [...new Set(texts.filter((text) => form.test(text)))].map((text) => `${text}: ${word}, never ${other}`)
  })
  assert.deepEqual(said, [])
})

/** Texts of the reference, each with its place. */
function publicTexts(): { text: string; place: 'text' | 'field' | 'summary' }[] {
  const { info, tags, paths, webhooks, components } = JSON.parse(openapiText(areas, packageVersion()))
  const texts: ReturnType<typeof publicTexts> = []
  const walk = (value: unknown, isField: boolean): void => {
    if (Array.isArray(value)) for (const one of value) walk(one, isField)
    if (!isJsonSchema(value)) return
    for (const [name, inside] of Object.entries(value)) {
      if (['example', 'default', 'enum', 'const', 'x-codeSamples'].includes(name)) continue
      if ((name === 'summary' || name === 'description') && typeof inside === 'string')
        texts.push({ text: inside, place: isField ? 'field' : 'text' })
      else walk(inside, isField || ['parameters', 'schema', 'properties', 'schemas', 'headers'].includes(name))
    }
  }
  walk({ info, tags, paths, webhooks, components }, false)
  for (const { routes } of areas)
    for (const { summary, examples = [] } of routes) {
      texts.push({ text: summary, place: 'summary' })
      for (const { name } of examples) texts.push({ text: name, place: 'text' })
    }
  return texts
}

test('no text of the example area of the tests is a riddle', () => {
  const found = sourceFiles(['test/notes']).flatMap((file) => riddlesIn(readFileSync(file, 'utf8')))
  assert.deepEqual(found, [], 'newcomers copy it')
})

test('no label, title, hint or advice of the console is a riddle', () => {
  const phrases = phrasesOfConsole()
  assert.ok(phrases.length > 1000)
  const found = phrases.filter((phrase) => isRiddle(phrase))
  assert.deepEqual(found, [], 'a label is a noun phrase, an action a verb with its object')
})

function phrasesOfConsole(): string[] {
  const sources = [...sourceFiles(['console/src'], '.tsx'), ...sourceFiles(['console/src'])].filter(
    (file) => !/\/words\.ts$|\/translations\.ts$/.test(file),
  )
  return sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(labelled)].map(([, quoted, attribute]) => quoted ?? attribute ?? ''),
  )
}

/** Phrases that the console shows: what is translated, and the labels of fields, columns, cards and empty lists. */
const labelled =
  /(?:\bt\(\s*|\b(?:name|label|title|hint|advice|action|keep|note|words): )'((?:[^'\\]|\\.)*[A-Z{ ](?:[^'\\]|\\.)*)'|\b(?:label|title|hint|action)="([^"]+)"/g

const smallWords = new Set(
  'a an the of its it this that those only with whose which is are in on by as to for your their id and'.split(' '),
)

/** `Id of the key` says nothing of `key_id`; `Id of the key, such as key_…` does. */
function saysNothing(name: string, description: string): boolean {
  const known = new Set(name.toLowerCase().split('_').map(singular))
  const words = description.toLowerCase().split(/[^a-z0-9_…]+/)
  return words.every((word) => word === '' || smallWords.has(word) || known.has(singular(word)))
}

function singular(word: string): string {
  return word.replace(/s$/, '')
}

/** Fields without a description of their own. A rule only says what is refused. */
function silentIn({ params, query, body, files = {} }: Route): string[] {
  const fields = propertiesOf(body)
  return [
    ...silentFields(params, 'path '),
    ...silentFields(query, 'query '),
    ...silentFields(body, ''),
    ...Object.entries(files).flatMap(([name, file]) => (file.description || fields[name] ? [] : [name])),
  ]
}

function silentFields(given: unknown, path: string): string[] {
  if (!isJsonSchema(given)) return []
  const schema = judgedBy(given)
  const inside = [...listed(schema.anyOf), ...listed(schema.oneOf), ...listed(schema.allOf), schema.items]
  const named = isJsonSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : []
  return [
    ...Object.entries(propertiesOf(schema)).flatMap(([name, field]) => [
      ...(isJsonSchema(field) && isDescribed(field) ? [] : [`${path}${name}`]),
      ...silentFields(field, `${path}${name}.`),
    ]),
    ...inside.flatMap((shape) => silentFields(shape, path)),
    ...named.flatMap((shape) => silentFields(shape, `${path}*.`)),
  ]
}

function isDescribed(given: JsonSchema): boolean {
  const schema = judgedBy(given)
  const [only, ...others] = listed(schema.anyOf).filter(({ type }) => type !== 'null')
  return typeof schema.description === 'string' || (only !== undefined && others.length === 0 && isDescribed(only))
}

function listed(shapes: unknown): JsonSchema[] {
  return Array.isArray(shapes) ? shapes.filter(isJsonSchema) : []
}

test('what generators make of the document has one name for each operation, and one type for each list', () => {
  const { paths } = JSON.parse(openapiText(areas, packageVersion()))
  const named = new Map<string, string>()
  const wrong: string[] = []
  for (const [path, operations] of Object.entries<Record<string, Operation>>(paths))
    for (const [method, { operationId, responses }] of Object.entries(operations)) {
      const where = `${method} ${path}`
      // Generators write them without dots, and without regard to case where they name files.
      const name = operationId.replaceAll('.', '').toLowerCase()
      if (!/^[a-zA-Z]+(\.[a-zA-Z]+)+$/.test(operationId)) wrong.push(`${where}: ${operationId} is no plain name`)
      if (named.has(name)) wrong.push(`${where}: ${operationId} is the name of ${named.get(name)} too`)
      named.set(name, where)
      const list = responses['200']?.content?.['application/json']?.schema
      if (list?.properties?.has_more === undefined) continue
      const { type, items } = list.properties.data ?? {}
      if (list.type !== 'object' || type !== 'array' || items?.$ref === undefined)
        wrong.push(`${where}: its rows have no name of their own; give the row a title`)
    }
  assert.deepEqual(wrong, [])
})

interface Shape {
  type?: string
  properties?: Readonly<Record<string, Shape>>
  items?: { $ref?: string }
}

interface Operation {
  operationId: string
  responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Shape }>> }>>
  summary?: string
  description?: string
  parameters: readonly { name?: string; description?: string; $ref?: string }[]
}
