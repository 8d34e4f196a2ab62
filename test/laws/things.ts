// SPDX-License-Identifier: Apache-2.0
// How something that the path of a route names comes to be: by what the route says it needs, or else by the first example of
// its collection's own POST.
import assert from 'node:assert/strict'
import type { Need, Route } from '../../src/platform/route.ts'
import type { Client, Reply } from '../client.ts'
import { eventually } from '../eventually.ts'

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
    const id = await this.#idFor(route, client)
    // What a second parameter names is never reached, since the first belongs to somebody else.
    return filled(id === null ? route.path : route.path.replace(/:\w+/, encodeURIComponent(id)), 'x')
  }

  async #idFor(route: Route, client: Client): Promise<string | null> {
    const { needs, operation, path } = route
    const names = path.includes('/:')
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
    const body = typeof need.body === 'function' ? need.body(this.#nowMs()) : (need.body ?? maker.examples?.[0]?.body)
    const found = await eventually(
      async () => {
        const reply = await client.request(maker.method, path, body === undefined ? {} : { body })
        if (reply.status === 404 || reply.status === 409) return null
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
    const body = create?.examples?.[0]?.body
    const advice = `${operation}: give POST ${collection} an example, or say with \`needs\` how something under it is made`
    if (!create || !body) return assert.fail(advice)
    const made = await client.request('POST', await this.pathOf(create, client), { body })
    const id = lastOf(made, collection) ?? made.body[parameter] ?? made.body.id
    assert.equal(typeof id, 'string', `${advice}; it answers ${made.text}`)
    return id
  }
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

export function filled(path: string, value: string): string {
  return path.replaceAll(/:\w+/g, value)
}
