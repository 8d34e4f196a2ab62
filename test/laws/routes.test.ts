// SPDX-License-Identifier: Apache-2.0
// Laws that hold for every route because every route is declared: no key, no entry; no scope, no entry; nobody sees
// another account's things, nor live things with a test key; examples are real requests that work.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { errors } from '../../src/kernel/errors.ts'
import type { Route } from '../../src/platform/api/route.ts'
import { isScope } from '../../src/platform/auth/scopes.ts'
import { reviewable } from '../../src/platform/openapi/reviewable.ts'
import { forEachOf } from '../at-once.ts'
import type { Client, Reply, RequestOptions } from '../client.ts'
import { notes } from '../notes/area.ts'
import { share } from '../properties.ts'
import { startWorld, type World } from '../world.ts'
import { asked, filled, leastOf, originOf, pathWith, Things } from './things.ts'

const routes = [...areas, notes].flatMap((area) => area.routes)
const hooks = [...areas, notes].flatMap((area) => area.hooks ?? [])
let world: World
let things: Things

before(async () => {
  world = await startWorld()
  things = new Things(routes, () => world.app.clock.nowMs())
})
after(() => world.stop())

test('every route is declared well', () => {
  const problems: string[] = []
  for (const route of routes) {
    const says = (problem: string) => problems.push(`${route.method} ${route.path}: ${problem}`)
    if (route.scope !== 'any' && !isScope(route.scope)) says(`unknown scope ${route.scope}`)
    if (!/^[a-zA-Z]+\.[a-zA-Z]+$/.test(route.operation)) says('operation is not area.verb')
    if (!route.path.startsWith('/v1/')) says('path does not start with /v1/')
    if (route.method === 'GET' && !['read', 'stream', 'download'].includes(route.kind)) says('a GET only reads')
    if (route.reply.text === true && Object(route.reply.schema).type !== 'string') says('a text reply is a string')
    if (route.reply.status === 204 && route.reply.location) says('what has no body made nothing')
    for (const name of route.kind === 'multipart' ? [] : Object.keys(route.files ?? {}))
      if (!isSensitive(route.body, name)) says(`the file ${name} would be kept in the request log: mark it sensitive`)
    if (route.reply.list)
      for (const name of ['limit', 'cursor'])
        if (!(name in Object(Object(route.query).properties))) says(`a list takes ${name}`)
    if (route.kind === 'write' && route.scope === 'operator' && !route.isAcross)
      says('what operators change belongs to others: use writeAcross')
    for (const code of route.errors ?? []) if (!(code in errors)) says(`unknown error ${code}`)
    for (const [, name] of route.path.matchAll(/:(\w+)/g))
      if (!route.params || !('properties' in route.params) || !(name && name in Object(route.params.properties)))
        says(`:${name} is not declared`)
    for (const [name, schema] of Object.entries(Object(Object(route.params).properties)))
      if (route.needs !== 'itself' && ['minLength', 'maxLength', 'pattern'].some((rule) => rule in Object(schema)))
        says(`:${name} has a form, so that one of another is refused with 400; what is none is not found, with 404`)
  }
  assert.deepEqual(problems, [])
  const operations = routes.map(({ operation }) => operation)
  assert.deepEqual(
    operations.filter((name, i) => operations.indexOf(name) !== i),
    [],
    'operations are unique',
  )
})

/** Addresses among those of the API that operators enter at providers. */
const givenToProviders: ReadonlySet<string> = new Set(['/v1/messenger/ingress/:channel', '/v1/ussd/callback/:token'])

test('every hook is declared well, and none of them stands where the API is', () => {
  const problems: string[] = []
  const taken = new Set<string>()
  for (const hook of hooks) {
    const says = (problem: string) => problems.push(`${hook.path}: ${problem}`)
    if (!/^[a-zA-Z]+\.[a-zA-Z]+$/.test(hook.operation)) says('operation is not area.verb')
    if (/^\/(api|v1|sandbox|docs)\b/.test(hook.path) && !givenToProviders.has(hook.path))
      says('this path belongs to the API')
    if (hook.maxBytes < 1 || hook.maxBytes > 16 * 1024 * 1024) says('a body may have too many bytes')
    if (hook.limits.length === 0) says('nothing limits how often it is called')
    for (const { by, perMinute, perSecond } of hook.limits) {
      if (by !== 'address' && !hook.path.split('/').includes(`:${by}`)) says(`there is no :${by} to count by`)
      if ((perMinute === undefined) === (perSecond === undefined)) says('a limit is by the minute or by the second')
    }
    for (const method of hook.methods) {
      if (taken.has(`${method} ${hook.path}`)) says(`${method} is declared twice`)
      taken.add(`${method} ${hook.path}`)
    }
  }
  assert.deepEqual(problems, [])
})

/** Hooks that answer everybody alike, so that the answer tells nothing: the picture in a message. */
const sameForAll = new Set(['/t/o/:token'])

test('no hook tells anything to somebody who made up the secret in its address', async () => {
  for (const hook of hooks.filter(({ path }) => path.includes('/:')))
    for (const method of hook.methods)
      for (const secret of ['x', 'a'.repeat(64), '%00', '%F0%9F%98%80']) {
        const { status } = await world.stranger.request(method, filled(hook.path, secret))
        const allowed = sameForAll.has(hook.path) ? [200, 400, 404] : [400, 401, 404]
        assert.ok(allowed.includes(status), `${method} ${filled(hook.path, secret)}: ${status}`)
      }
})

test('no hook takes a larger body than it says', async () => {
  for (const hook of hooks) {
    const method = hook.methods.find((one) => one === 'POST' || one === 'PUT')
    if (method === undefined) continue
    const raw = Buffer.alloc(hook.maxBytes + 1, 'a')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status } = await world.stranger.request(method, filled(hook.path, 'x'), { raw, headers })
    assert.equal(status, 413, `${method} ${hook.path}`)
  }
})

/** Operations of the call centre that start calls, which plans limit as voice; what agents do at their desks no plan limits. */
const startsCalls = ['callcenter.call', 'callcenter.createConference', 'callcenter.addParticipant']

test('whatever writes in an area that plans limit counts on that limit, and nothing that only reads does', () => {
  const scopes = new Map(areas.flatMap((area) => area.scopes ?? []).map((scope) => [scope.name, scope]))
  const names = areas.flatMap((area) => area.limits ?? []).map(({ name }) => name)
  for (const { name, limit } of scopes.values())
    assert.ok(limit === undefined || names.includes(limit), `${name}: ${limit}`)
  const wrong = areas
    .flatMap((area) => area.routes)
    .filter(({ operation, scope, limit, method }) => {
      if (startsCalls.includes(operation)) return limit !== 'voice'
      // An answer to a customer goes out as a text, a chat message or a mail.
      if (operation === 'conversations.reply') return limit !== 'sms'
      const [area = '', word] = scope.split(':')
      const counts = word === 'write' || (word !== 'read' && method !== 'GET')
      return limit !== (counts ? scopes.get(area)?.limit : undefined)
    })
  assert.deepEqual(
    wrong.map(({ operation, scope, limit }) => `${operation} (${scope}) counts on ${limit ?? 'no limit'}`),
    [],
  )
})

test('every route refuses a request without a key, under both prefixes', async () => {
  await forEachOf(routes, async (route, r) => {
    for (const path of [route.path, ...(route.aliases ?? [])])
      for (const prefix of share(['', '/api'], r)) {
        const { status, body, headers } = await world.stranger.request(route.method, prefix + filled(path, 'x'))
        assert.equal(status, 401, `${route.method} ${path}`)
        assert.equal(body.error.code, 'UNAUTHORIZED')
        assert.equal(headers['www-authenticate'], 'Bearer')
        assertErrorShape({ status, body, headers, text: '' })
      }
  })
})

test('every route refuses a key without its scope', async () => {
  const unrelated = (scope: string) => (scope.startsWith('team:') ? 'logs:read' : 'team:read')
  const scoped = routes.filter(({ scope }) => scope !== 'any')
  await forEachOf(scoped, async (route) => {
    const holder = await holderOf(unrelated(route.scope))
    const { status, body } = await holder.request(route.method, filled(route.path, 'x'))
    assert.equal(status, 403, `${route.method} ${route.path}`)
    assert.equal(body.error.code, 'FORBIDDEN')
    assert.equal(body.error.required_scope, route.scope)
  })
})

test('a read scope reads and does nothing else', async () => {
  const writing = routes.filter(({ scope }) => scope.includes(':') && !/:(read|own)$/.test(scope))
  await forEachOf(writing, async (route) => {
    const reader = await holderOf(route.scope.replace(/:.*/, ':read'))
    const { status, body } = await reader.request(route.method, filled(route.path, 'x'))
    assert.equal(status, 403, `${route.method} ${route.path} ${JSON.stringify(body)}`)
  })
})

const holders = new Map<string, Promise<Client>>()

/** A client whose key has one scope; made once for each. */
function holderOf(scope: string): Promise<Client> {
  const known = holders.get(scope) ?? newHolder(scope)
  holders.set(scope, known)
  return known
}

async function newHolder(scope: string): Promise<Client> {
  const { status, body, text } = await world.demo.post('/v1/api-keys', { name: 'narrow', scopes: [scope] })
  assert.equal(status, 201, text)
  return world.stranger.as(body.key)
}

test('every example works as it stands, its reply has the declared shape, and what was made is where it says', async () => {
  const astray: string[] = []
  await forEachOf(routes, async (route) => {
    for (const example of route.examples ?? []) {
      const { client } = await freshAccount(route)
      const path = await things.pathOf(route, client)
      const query = example.query ? `?${queryText(example.query)}` : ''
      const { status, body, headers } = await asked(
        client,
        route.method,
        path + query,
        example.body === undefined ? {} : { body: example.body },
      )
      assert.equal(status, route.reply.status, `${route.operation} "${example.name}": ${JSON.stringify(body)}`)
      if (status === 204 || route.reply.text) continue
      assert.equal(body.success, true, route.operation)
      shown[route.operation] ??= presentable(body)
      assert.equal(headers['pamoja-warning'], undefined, `${route.operation}: ${headers['pamoja-warning']}`)
      if (route.reply.list) assert.ok(Array.isArray(body.data) && typeof body.has_more === 'boolean', route.operation)
      else {
        // What has a member `data` of its own stands flat beside `success`.
        const copies = ownsData(route) ? [body] : [body, body.data]
        for (const name of requiredOf(route))
          assert.ok(
            copies.every((copy) => name in copy),
            `${route.operation}: ${name} is missing`,
          )
      }
      if (route.reply.status !== 201) continue
      if (!headers.location?.startsWith('/api/v1/')) {
        astray.push(`${route.operation}: give its reply a location`)
        continue
      }
      const found = await client.get(headers.location)
      if (found.status !== 200) astray.push(`${route.operation}: ${headers.location} is ${found.status}`)
    }
  })
  assert.deepEqual(astray, [])
})

test('the replies in the documentation are those that examples get', async () => {
  await forEachOf(routes, async (route) => {
    const isPlain = route.kind === 'read' && route.method === 'GET' && route.scope !== 'operator' && !route.reply.text
    if (!isPlain || route.needs === 'nothing' || route.examples?.length || route.path.split(':').length > 2) return
    // What cannot be made twice in one installation, such as a domain, is shown by the routes that made it.
    const owner = await ownerFor(route).catch(() => null)
    const { status, body } =
      owner === null ? { status: 0, body: {} } : await owner.client.get(pathWith(route, owner.id))
    if (status === 200) shown[route.operation] = presentable(body)
  })
  // A new account has nothing to list: a row is what one of its kind was when it was read or made.
  for (const { operation, reply } of routes.filter((route) => route.reply.list)) {
    const like = routes.find((one) => one.reply.schema === reply.schema && !one.reply.list && shown[one.operation])
    const page = Object(shown[operation])
    if (like && page.data?.length === 0) page.data.push(Object(shown[like.operation]).data)
  }
  writeReplies()
  const changed = Object.entries(committedReplies()).flatMap(([operation, reply]) => {
    const now = shown[operation]
    return now && namesIn(now) !== namesIn(Object(reply)) ? [`${operation}: ${namesIn(now)}`] : []
  })
  assert.deepEqual(changed, [], 'run: PAMOJA_WRITE_REPLIES=1 node --test dist/test/laws/routes.test.js')
})

const repliesFile = 'src/platform/docs/replies.json'

function committedReplies(): object {
  return JSON.parse(readFileSync(repliesFile, 'utf8'))
}

/** Writes the replies that were got so far, where that is asked for, in place of those known before. */
function writeReplies(): void {
  if (!process.env.PAMOJA_WRITE_REPLIES) return
  const all = Object.entries({ ...committedReplies(), ...shown }).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(repliesFile, `${reviewable(Object.fromEntries(all))}\n`)
}

/** Replies of examples, by operation. */
const shown: Record<string, object> = {}

/** A reply as it may be published: once, without secrets, and at the address that documents name. */
function presentable({ success, data, has_more, next_cursor, ...rest }: Reply['body']): object {
  const whole = Array.isArray(data)
    ? { success, data: data.slice(0, 1), has_more, next_cursor }
    : { success, data: data ?? rest }
  const text = JSON.stringify('session_id' in rest && data === undefined ? { success, ...rest } : whole)
  return JSON.parse(
    text
      .replaceAll(/pmj_(test|live|operator)_\w{38}/g, 'pmj_$1_…')
      .replaceAll(/whsec_[\w+/=]+/g, 'whsec_…')
      .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJ…')
      .replaceAll(/https:\/\/localhost:\d+/g, 'https://localhost:8443')
      .replaceAll(/("(?:password|secret|token)":")[^"]{12,}"/g, '$1…"'),
  )
}

/** Names of what is in `data`, which change when the API does; what stands in a list depends on the moment. */
function namesIn(reply: object): string {
  const { data } = Object(reply)
  return Array.isArray(data) ? 'a list' : Object.keys(Object(data)).sort().join(' ')
}

/** Account with what routes name, and its key of the other environment. */
interface Owner {
  client: Client
  live: Client
  id: string | null
}

/** One for each way in which such things are made: that others ask for one, or that it is read, leaves it as it is. */
const owners = new Map<string, Promise<Owner>>()

function ownerFor(route: Route): Promise<Owner> {
  const known = owners.get(originOf(route)) ?? newOwner(route)
  owners.set(originOf(route), known)
  return known
}

async function newOwner(route: Route): Promise<Owner> {
  const { client } = await world.account({ balance: 100 })
  const { body } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  return { client, live: world.stranger.as(body.key), id: await things.idFor(route, client) }
}

test('what belongs to one account does not exist for another, nor for the other environment', async () => {
  const eve = await world.account({ balance: 100 })
  const owned = routes.filter(({ path, scope }) => path.includes('/:') && scope !== 'operator')
  await forEachOf(owned, async (route) => {
    if (route.needs === 'nothing' || route.needs === 'itself') return
    const ada = await ownerFor(route)
    const path = pathWith(route, ada.id)
    const { status, body } = await eve.client.request(route.method, path, requestOf(route))
    assert.equal(status, 404, `${route.method} ${path}: ${JSON.stringify(body)}`)
    if (/^(keys|team):/.test(route.scope)) return // keys and members are the account's, in both environments
    const other = await ada.live.request(route.method, path, requestOf(route))
    const expected = route.scope.startsWith('sandbox') ? 403 : 404 // the sandbox takes test keys only
    assert.equal(other.status, expected, `${route.method} ${path} with a live key`)
  })
})

test('an id that is none, or of another kind, is not found', async () => {
  const { client } = await world.account()
  const ids = ['x', 'key_', 'acc_00000000000000000000000000', '%00', '..%2f', 'a'.repeat(250), '%F0%9F%98%80']
  const named = routes.filter(({ path, needs }) => path.includes('/:') && needs !== 'itself')
  await forEachOf(named, async (route, r) => {
    for (const id of share(ids, r)) {
      const who = route.scope === 'operator' ? world.operator : client
      const { status, body } = await who.request(route.method, filled(route.path, id), requestOf(route))
      assert.ok(status === 404, `${route.method} ${filled(route.path, id)}: ${status} ${JSON.stringify(body)}`)
    }
  })
})

test('a method that a path does not take is named with those it takes', async () => {
  const paths = [...new Set(routes.map((route) => route.path))]
  await forEachOf(paths, async (path) => {
    const taken = routes.filter((route) => route.path === path).map(({ method }) => String(method))
    const other = ['PUT', 'DELETE', 'POST', 'GET'].find((method) => !taken.includes(method)) ?? 'PUT'
    const { status, headers, body } = await world.demo.request(other, filled(path, 'x'))
    assert.equal(status, 405, `${other} ${path}`)
    assert.equal(body.error.code, 'METHOD_NOT_ALLOWED')
    for (const method of taken) assert.ok(headers.allow?.includes(method))
  })
})

function assertErrorShape({ body }: Reply): void {
  for (const member of ['code', 'message', 'details', 'request_id', 'timestamp'])
    assert.equal(typeof body.error[member], 'string', member)
  assert.equal(body.success, false)
}

async function freshAccount(route: Route): Promise<{ client: typeof world.demo }> {
  return route.scope === 'operator' ? { client: world.operator } : world.account({ balance: 100 })
}

function requestOf(route: Route): RequestOptions {
  return route.body ? { body: someBody(route) } : {}
}

/** A body that passes validation, so that what is refused is the id. */
function someBody({ body, examples }: Route): unknown {
  return examples?.[0]?.body ?? (body ? leastOf(body) : {})
}

function ownsData({ reply: { schema } }: Route): boolean {
  return 'data' in Object(Object(schema).properties)
}

/** Whether the request log leaves a field out, or each of a list. */
function isSensitive(schema: unknown, name: string): boolean {
  const property = Object(Object(Object(schema).properties)[name])
  return property.sensitive === true || Object(property.items).sensitive === true
}

function requiredOf({ reply }: Route): string[] {
  return 'required' in reply.schema && Array.isArray(reply.schema.required) ? reply.schema.required : []
}

function queryText(query: unknown): string {
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries(Object(query))) fields.set(name, String(value))
  return fields.toString()
}
