// SPDX-License-Identifier: Apache-2.0
// How something that the path of a route names comes to be: by what the route says it needs, or else by the first example of
// its collection's own POST.
import assert from 'node:assert/strict'
import type { FilePart, Need, Route } from '../../src/platform/api/route.ts'
import { tone } from '../../src/protocols/audio/tones.ts'
import { wavHeader } from '../../src/protocols/audio/wav.ts'
import type { Client, Reply, RequestOptions } from '../client.ts'
import { eventually } from '../eventually.ts'
import { parts } from '../parts.ts'

/** A dispute, for one, comes some seconds after its payment. */
const patienceMs = 90_000

export class Things {
  readonly #routes: readonly Route[]
  readonly #nowMs: () => number

  constructor(routes: readonly Route[], nowMs: () => number) {
    this.#routes = routes
    this.#nowMs = nowMs
  }

  /** A path of the route whose first parameter names something of the client's account, and what else its example needs. */
  async pathOf(route: Route, client: Client): Promise<string> {
    return pathWith(route, await this.idFor(route, client))
  }

  async idFor(route: Route, client: Client): Promise<string | null> {
    const { needs, operation, path } = route
    const names = path.includes('/:')
    if (needs === 'itself') {
      const [named] = Object.values(Object(route.examples?.[0]?.params))
      return typeof named === 'string' ? named : assert.fail(`${operation}: give its example the params of its path`)
    }
    if (needs && needs !== 'nothing') {
      const made = await this.#made(route, needs, client)
      assert.ok(!names || made !== null, `${operation}: \`needs\` does not say which member of the reply is the id`)
      return made
    }
    return names ? this.#created(route, client) : null
  }

  /** Does what is needed, again and again until it works: it may be too early for it. */
  async #made({ operation }: Route, need: Need, client: Client): Promise<string | null> {
    const maker = this.#routes.find((one) => one.operation === need.operation)
    if (!maker) return assert.fail(`${operation} needs ${need.operation}, which is no operation`)
    if (need.after) await this.#made(maker, need.after, client)
    const path = await this.pathOf(maker, client)
    const found = await eventually(
      async () => {
        // What is made by the moment is made by another one where two came in the same.
        const body =
          typeof need.body === 'function' ? need.body(this.#nowMs()) : (need.body ?? maker.examples?.[0]?.body)
        const reply = await client.request(maker.method, path, requestOf(maker, need, body))
        if (reply.status === 404 || reply.status === 409 || isBusy(reply)) return null
        assert.ok(reply.status < 300, `${operation} needs ${need.operation}, which answers ${reply.text}`)
        return need.id === undefined ? { id: null } : idIn(reply.body, need.id)
      },
      `${need.operation}, which ${operation} needs, to give ${need.id ?? 'an answer'}`,
      patienceMs,
    )
    return found.id
  }

  async #created({ operation, path }: Route, client: Client): Promise<string> {
    const [collection = '', parameter = ''] = path.split(/\/:(\w+)/)
    const create = this.#routes.find((one) => one.path === collection && one.method === 'POST')
    const advice = `${operation}: give POST ${collection} an example, or say with \`needs\` how something under it is made`
    const request = create && creating(create)
    if (!create || !request) return assert.fail(advice)
    const made = await asked(client, 'POST', await this.pathOf(create, client), request)
    const id = lastOf(made, collection) ?? made.body[parameter] ?? made.body.id
    assert.equal(typeof id, 'string', `${advice}; it answers ${made.text}`)
    return id
  }
}

/** The request of what is needed: its body, or its file. */
function requestOf(maker: Route, { file }: Need, body: object | undefined): RequestOptions {
  if (file === undefined || maker.kind !== 'multipart') return body === undefined ? {} : { body }
  return parts(
    {},
    Object.keys(maker.files).map((part) => ({ part, content: file })),
  )
}

/** The request of a create: its first example, or small files with the least that it wants to know of them. */
function creating(route: Route): RequestOptions | null {
  const body = route.examples?.[0]?.body
  if (body !== undefined) return { body }
  if (route.kind !== 'multipart') return null
  const files = Object.entries(route.files)
    .filter(([, { optional = false }]) => !optional)
    .map(([part, file]) => ({ part, content: smallFileOf(file) }))
  return parts(Object(leastOf(route.body)), files)
}

/** A sound where one is asked for, and a text elsewhere. */
function smallFileOf({ types = [] }: FilePart): Buffer | string {
  if (!types.includes('audio/wav')) return 'Habari'
  const { buffer, byteLength } = tone([440], 500)
  return Buffer.concat([wavHeader(byteLength, 1), Buffer.from(buffer)])
}

/** The least that a schema takes. A field that has a form of its own needs an example in its route. */
export function leastOf(schema: unknown): unknown {
  const { type, format, anyOf, properties, required = [], const: only, minLength = 1, minimum = 1 } = Object(schema)
  const choices = Object(schema).enum
  if (only !== undefined) return only
  if (Array.isArray(choices)) return choices[0]
  if (Array.isArray(anyOf)) return anyOf.some((one) => one.type === 'null') ? null : leastOf(anyOf[0])
  if (type === 'object') return Object.fromEntries(required.map((name: string) => [name, leastOf(properties[name])]))
  if (type === 'array') return []
  if (format === 'moment') return '2099-01-01T00:00:00Z'
  if (type === 'string') return 'x'.repeat(minLength)
  return type === 'boolean' ? true : minimum
}

/** The id in the Location of something new, if it lies in the collection. */
function lastOf({ headers }: Reply, collection: string): string | undefined {
  const [, last = ''] = (headers.location ?? '').split(`/api${collection}/`)
  return last === '' || last.includes('/') ? undefined : decodeURIComponent(last)
}

/** `data.0.id`: the id of the first of a list. */
function idIn(body: unknown, path: string): { id: string } | null {
  let value: unknown = body
  for (const member of path.split('.')) value = Object(value)[member]
  return typeof value === 'string' ? { id: value } : null
}

/** What a route's thing is made by, which is the same for many routes. */
export function originOf({ needs, path }: Route): string {
  if (!needs || needs === 'nothing' || needs === 'itself') return path.includes('/:') ? (path.split('/:')[0] ?? '') : ''
  return JSON.stringify(needs, (_, value) => (typeof value === 'function' ? String(value) : value))
}

/** What a second parameter names is never reached, since the first belongs to somebody else. */
export function pathWith({ path }: Route, id: string | null): string {
  return filled(id === null ? path : path.replace(/:\w+/, encodeURIComponent(id)), 'x')
}

export function filled(path: string, value: string): string {
  return path.replaceAll(/:\w+/g, value)
}

/** Whether the node says that it has no time now, as a crowded machine's engines do. */
function isBusy({ status, headers }: Reply): boolean {
  return status === 503 && headers['retry-after'] !== undefined
}

/** Asks as a patient customer: again while the node has no time. */
export function asked(client: Client, method: string, path: string, options: RequestOptions): Promise<Reply> {
  return eventually(async () => {
    const reply = await client.request(method, path, options)
    return isBusy(reply) ? null : reply
  }, `${method} ${path} to be answered`)
}
