// SPDX-License-Identifier: Apache-2.0
// Tools, derived from the route table: name, words, input and hints of each operation, and the search among all of them.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { type AreaTools, asksFirst, hiddenFields, isOffered, isReading } from '../api/offered.ts'
import type { Route } from '../api/route.ts'
import type { Area } from '../area.ts'
import type { Principal } from '../auth.ts'
import { scopeRefusal } from '../http/admission.ts'
import { bodyChecker, type Checked, queryChecker, strictRefusal } from '../http/validate.ts'
import { closed, type JsonSchema, propertiesOf, requiredOf, standalone } from '../schema/json-schema.ts'

/** Rows of a list unless the call says how many. */
export const rowsUnlessSaid = 10
/** Field by which a call is confirmed. */
export const confirmField = 'confirm_token'
const maxDescription = 400
const noFields = Type.Object({})

/** Arguments of a call, where they belong in its request. */
export interface Parts {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
}

/** Operation as assistants see it. What is expensive is made at first use. */
export class Tool {
  readonly route: Route
  readonly name: string
  readonly isReading: boolean
  readonly asks: boolean
  #input: JsonSchema | null = null
  #check: ((parts: Parts) => void) | null = null
  #words: Words | null = null

  constructor(route: Route, said: AreaTools) {
    this.route = route
    this.name = route.operation.replace('.', '_')
    this.isReading = isReading(route)
    this.asks = asksFirst(route, said)
  }

  get description(): string {
    const { summary, description } = this.route
    const words = description === undefined ? closed(summary) : `${closed(summary)} ${inBrief(description)}`
    return this.asks ? `${words} Asks first: the first call does nothing and gives a confirm_token.` : words
  }

  /** Fields of path, query and body as one object. */
  get input(): JsonSchema {
    this.#input ??= inputOf(this.route, this.asks)
    return this.#input
  }

  /** Words by which it is found. */
  get words(): Words {
    this.#words ??= wordsOf(this.route)
    return this.#words
  }

  /** Tool as `tools/list` shows it, with the outline of its input: a model reads all tools before it does anything. */
  listed(): object {
    const { method, summary } = this.route
    const annotations = {
      readOnlyHint: this.isReading,
      destructiveHint: !this.isReading && (method === 'DELETE' || this.asks),
      idempotentHint: method !== 'POST' && method !== 'PATCH',
      openWorldHint: this.asks,
    }
    return {
      name: this.name,
      title: summary,
      description: this.description,
      inputSchema: outlineOf(this.input, 0),
      annotations,
    }
  }

  /** Arguments by their place in the request. An unknown one is where the refusal names it. */
  parts(given: Readonly<Record<string, unknown>>): Parts {
    const { params, query, body } = this.route
    const [inPath, inQuery, inBody] = [propertiesOf(params), propertiesOf(query), propertiesOf(body)]
    const parts = { params: {}, query: {}, body: {} }
    for (const [name, value] of Object.entries(given)) {
      if (hiddenFields.has(name)) throw new AppError('INVALID_REQUEST', `${name} is not available to assistants`)
      const isQuery = Object.hasOwn(inQuery, name) && !Object.hasOwn(inBody, name)
      const place = Object.hasOwn(inPath, name) ? 'params' : isQuery || body === undefined ? 'query' : 'body'
      Object.assign(parts[place], { [name]: value })
    }
    for (const name of Object.keys(inPath)) requireSegment(name, given[name])
    return parts
  }

  /** Throws what the request would be refused with for its fields, before anybody is asked to confirm it. */
  check(parts: Parts): void {
    this.#check ??= checkOf(this.route)
    this.#check(parts)
  }
}

/** One segment of a path: what is empty or made of dots would lead to another operation. */
function requireSegment(name: string, value: unknown): void {
  const isText = typeof value === 'string' || typeof value === 'number'
  if (!isText || /^\.{0,2}$/.test(String(value)))
    throw new AppError('INVALID_REQUEST', `the argument ${name} is required`)
}

function checkOf({ query, body }: Route): (parts: Parts) => void {
  const checkQuery = queryChecker(query ?? noFields)
  const checkBody = bodyChecker(body ?? noFields)
  const known = ({ unknown }: Checked<unknown>, code: 'INVALID_REQUEST' | 'VALIDATION_ERROR'): void => {
    if (unknown.length > 0) throw strictRefusal(unknown, code)
  }
  return (parts) => {
    known(checkQuery(parts.query), 'INVALID_REQUEST')
    known(checkBody(parts.body), 'VALIDATION_ERROR')
  }
}

function inputOf({ params, query, body }: Route, asks: boolean): JsonSchema {
  const fields = Object.entries({ ...propertiesOf(params), ...propertiesOf(query), ...propertiesOf(body) })
  const shown = fields.filter(([name]) => !hiddenFields.has(name)).map(([name, schema]) => [name, briefly(schema)])
  const confirm = asks
    ? {
        [confirmField]: {
          type: 'string',
          description:
            'Confirmation returned by the first call; repeat the call with it and the same arguments to carry it out',
        },
      }
    : {}
  const required = [params, query, body].flatMap(requiredOf)
  return {
    type: 'object',
    properties: { ...Object.fromEntries(shown), ...confirm },
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  }
}

/** Schema of a field, without its examples and title. */
function briefly(schema: unknown): JsonSchema {
  return Object(
    JSON.parse(JSON.stringify(standalone(schema), (name, value) => (name === 'examples' ? undefined : value))),
  )
}

/** Levels of an input that the list of tools shows: the fields, and the fields inside them. */
const outlinedLevels = 2
/** Keywords that say what a field is; its description says the rest. */
const outlined = new Set(['type', 'enum', 'const', 'description', 'required', 'properties', 'items', 'anyOf'])
/** What a description has after some hundred characters. */
const longEnd = /^(.{90,110}?)\s.*$/s
const nesting = new Set(['required', 'properties'])

/** Outline of a schema. `find_operation` gives the whole. */
function outlineOf(schema: unknown, level: number): JsonSchema {
  const isShown = ([keyword]: [string, unknown]): boolean =>
    outlined.has(keyword) && (level < outlinedLevels || !nesting.has(keyword))
  const inside = (keyword: string, value: unknown): unknown => {
    if (keyword === 'description') return String(value).replace(longEnd, '$1…')
    if (keyword === 'items') return outlineOf(value, level)
    if (keyword === 'anyOf' && Array.isArray(value)) return value.map((one) => outlineOf(one, level))
    if (keyword !== 'properties') return value
    return Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, outlineOf(one, level + 1)]))
  }
  const shown = Object.entries(Object(schema)).filter(isShown)
  return Object.fromEntries(shown.map(([keyword, value]) => [keyword, inside(keyword, value)]))
}

/** First sentences of a description. */
function inBrief(description: string): string {
  if (description.length <= maxDescription) return closed(description)
  const end = description.lastIndexOf('. ', maxDescription)
  return end === -1 ? `${description.slice(0, maxDescription)}…` : description.slice(0, end + 1)
}

/** Tools of an installation. */
export class Toolbox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly #named: readonly Tool[]

  constructor(areas: readonly Area[]) {
    const tools = areas.flatMap(({ routes, tools: said = {} }) =>
      routes.filter(isOffered).map((route) => new Tool(route, said)),
    )
    this.tools = new Map(tools.map((tool) => [tool.route.operation, tool]))
    this.#named = areas.flatMap((area) => area.tools?.named ?? []).map((operation) => this.#namedTool(operation))
  }

  #namedTool(operation: string): Tool {
    const tool = this.tools.get(operation)
    if (!tool) throw new Error(`${operation} is named as a tool and is none`)
    return tool
  }

  /** Tools that are listed by name for a key. */
  named(principal: Principal, mayChange: boolean): Tool[] {
    return this.#named.filter((tool) => isAllowed(tool, principal, mayChange))
  }

  /** Tool of an operation, by the name of either; null when the key has none of that name. */
  find(name: string, principal: Principal, mayChange: boolean): Tool | null {
    const tool = this.tools.get(name) ?? this.tools.get(name.replace('_', '.'))
    return tool && isAllowed(tool, principal, mayChange) ? tool : null
  }

  /** Operations that words lead to, the best first, and how many more there are for an address that may change things. */
  search(words: string, principal: Principal, mayChange: boolean): { found: Tool[]; changes: number } {
    const wanted = stems(words)
    const found = [...this.tools.values()]
      .filter((tool) => isAllowed(tool, principal, true))
      .map((tool) => ({ tool, score: scoreOf(tool.words, wanted) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
      .map(({ tool }) => tool)
    if (mayChange) return { found, changes: 0 }
    const reading = found.filter((tool) => tool.isReading)
    return { found: reading, changes: found.length - reading.length }
  }
}

function isAllowed({ route, isReading: reads }: Tool, principal: Principal, mayChange: boolean): boolean {
  return (reads || mayChange) && scopeRefusal(route, principal) === null
}

/** Words of a text, split where a name changes case, without the endings that English puts on them. */
function stems(text: string): string[] {
  const words =
    text
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return [...new Set(words.filter((word) => word.length > 1).map((word) => word.replace(/(ies|es|s|y|e)$/, '')))]
}

/** Words of an operation, by how much they say of it. */
interface Words {
  readonly name: readonly string[]
  readonly summary: readonly string[]
  readonly rest: readonly string[]
}

function wordsOf({ operation, summary, description = '', path }: Route): Words {
  return { name: stems(operation), summary: stems(summary), rest: stems(`${description} ${path}`) }
}

function scoreOf({ name, summary, rest }: Words, wanted: readonly string[]): number {
  const points = (stem: string): number =>
    (name.includes(stem) ? 4 : 0) + (summary.includes(stem) ? 3 : 0) + (rest.includes(stem) ? 1 : 0)
  return wanted.reduce((sum, stem) => sum + points(stem), 0)
}
