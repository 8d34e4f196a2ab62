// SPDX-License-Identifier: Apache-2.0
// Laws that hold for every route because every route is declared: no key, no entry; no scope, no entry; nobody sees
// another account's things, nor live things with a test key; examples are real requests that work.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { errors } from '../../src/kernel/errors.ts'
import { isScope } from '../../src/platform/auth/scopes.ts'
import type { Route } from '../../src/platform/route.ts'
import type { Reply } from '../client.ts'
import { notes } from '../notes/area.ts'
import { eventually, startWorld, type World } from '../world.ts'

const routes = [...areas, notes].flatMap((area) => area.routes)
let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('every route is declared well', () => {
  const problems: string[] = []
  for (const route of routes) {
    const says = (problem: string) => problems.push(`${route.method} ${route.path}: ${problem}`)
    if (route.scope !== 'any' && !isScope(route.scope)) says(`unknown scope ${route.scope}`)
    if (!/^[a-zA-Z]+\.[a-zA-Z]+$/.test(route.operation)) says('operation is not area.verb')
    if (!route.path.startsWith('/v1/')) says('path does not start with /v1/')
    if (route.method === 'GET' && route.kind !== 'read' && route.kind !== 'stream') says('a GET only reads')
    for (const code of route.errors ?? []) if (!(code in errors)) says(`unknown error ${code}`)
    for (const [, name] of route.path.matchAll(/:(\w+)/g))
      if (!route.params || !('properties' in route.params) || !(name && name in Object(route.params.properties)))
        says(`:${name} is not declared`)
  }
  assert.deepEqual(problems, [])
  const operations = routes.map(({ operation }) => operation)
  assert.deepEqual(
    operations.filter((name, i) => operations.indexOf(name) !== i),
    [],
    'operations are unique',
  )
})

test('whatever writes in an area that plans limit counts on that limit, and nothing that only reads does', () => {
  const scopes = new Map(areas.flatMap((area) => area.scopes ?? []).map((scope) => [scope.name, scope]))
  const names = areas.flatMap((area) => area.limits ?? []).map(({ name }) => name)
  for (const { name, limit } of scopes.values())
    assert.ok(limit === undefined || names.includes(limit), `${name}: ${limit}`)
  const wrong = areas
    .flatMap((area) => area.routes)
    .filter(({ scope, limit, method }) => {
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
  for (const route of routes)
    for (const path of [route.path, ...(route.aliases ?? [])])
      for (const prefix of ['', '/api']) {
        const { status, body, headers } = await world.stranger.request(route.method, prefix + filled(path, 'x'))
        assert.equal(status, 401, `${route.method} ${path}`)
        assert.equal(body.error.code, 'UNAUTHORIZED')
        assert.equal(headers['www-authenticate'], 'Bearer')
        assertErrorShape({ status, body, headers, text: '' })
      }
})

test('every route refuses a key without its scope', async () => {
  const unrelated = (scope: string) => (scope.startsWith('ussd') ? 'email:read' : 'ussd:read')
  for (const route of routes.filter(({ scope }) => scope !== 'any')) {
    const { body: key } = await world.demo.post('/v1/api-keys', { name: 'narrow', scopes: [unrelated(route.scope)] })
    const { status, body } = await world.stranger.as(key.key).request(route.method, filled(route.path, 'x'))
    assert.equal(status, 403, `${route.method} ${route.path}`)
    assert.equal(body.error.code, 'FORBIDDEN')
    assert.equal(body.error.required_scope, route.scope)
  }
})

test('a read scope reads and does not write', async () => {
  for (const route of routes.filter(({ scope }) => /:write$/.test(scope))) {
    const { body: key } = await world.demo.post('/v1/api-keys', {
      name: 'reader',
      scopes: [route.scope.replace(':write', ':read')],
    })
    const { status, body } = await world.stranger.as(key.key).request(route.method, filled(route.path, 'x'))
    assert.equal(status, 403, `${route.method} ${route.path} ${JSON.stringify(body)}`)
  }
})

test('every example works as it stands, its reply has the declared shape, and what was made is where it says', async () => {
  const astray: string[] = []
  for (const route of routes)
    for (const example of route.examples ?? []) {
      const { client } = await freshAccount(route)
      if (route.operation === 'billing.createSubscription') await exampleOf(client, 'billing.createPlan')
      const path = await realPath(route, client)
      const query = example.query ? `?${queryText(example.query)}` : ''
      const { status, body, headers } = await client.request(
        route.method,
        path + query,
        example.body === undefined ? {} : { body: example.body },
      )
      assert.equal(status, route.reply.status, `${route.operation} "${example.name}": ${JSON.stringify(body)}`)
      assert.equal(body.success, true)
      assert.equal(headers['pamoja-warning'], undefined, `${route.operation}: ${headers['pamoja-warning']}`)
      if (route.reply.list) assert.ok(Array.isArray(body.data) && typeof body.has_more === 'boolean')
      else
        for (const name of requiredOf(route))
          assert.ok(name in body && name in body.data, `${route.operation}: ${name} is missing`)
      if (route.reply.status !== 201) continue
      assert.match(headers.location ?? '', /^\/api\/v1\//)
      const found = await client.get(headers.location ?? '')
      if (found.status !== 200) astray.push(`${route.operation}: ${headers.location} is ${found.status}`)
    }
  assert.deepEqual(astray, [])
})

test('what belongs to one account does not exist for another, nor for the other environment', async () => {
  for (const route of routes.filter(({ path, scope }) => path.includes('/:') && scope !== 'operator')) {
    if (route.operation === 'sms.lookup') continue // what the numbering plans say belongs to nobody
    const ada = await world.account({ balance: 100 })
    const path = await realPath(route, ada.client)
    const eve = await world.account({ balance: 100 })
    const { status, body } = await eve.client.request(route.method, path, { body: someBody(route) })
    assert.equal(status, 404, `${route.method} ${path}: ${JSON.stringify(body)}`)
    if (route.scope.startsWith('keys')) continue // a live key manages the keys of both environments
    const { body: live } = await ada.client.post('/v1/api-keys', { name: 'live', environment: 'live' })
    const other = await world.stranger.as(live.key).request(route.method, path, { body: someBody(route) })
    const expected = route.scope.startsWith('sandbox') ? 403 : 404 // the sandbox takes test keys only
    assert.equal(other.status, expected, `${route.method} ${path} with a live key`)
  }
})

test('an id that is none, or of another kind, is not found', async () => {
  const { client } = await world.account()
  for (const route of routes.filter(({ path }) => path.includes('/:')))
    for (const id of ['x', 'key_', 'acc_00000000000000000000000000', '%00', '..%2f', 'a'.repeat(250), '%F0%9F%98%80']) {
      const who = route.scope === 'operator' ? world.operator : client
      const { status, body } = await who.request(
        route.method,
        filled(route.path, id),
        route.body ? { body: someBody(route) } : {},
      )
      assert.ok(status === 404, `${route.method} ${filled(route.path, id)}: ${status} ${JSON.stringify(body)}`)
    }
})

test('a method that a path does not take is named with those it takes', async () => {
  for (const path of new Set(routes.map((route) => route.path))) {
    const taken = routes.filter((route) => route.path === path).map(({ method }) => String(method))
    const other = ['PUT', 'DELETE', 'POST', 'GET'].find((method) => !taken.includes(method)) ?? 'PUT'
    const { status, headers, body } = await world.demo.request(other, filled(path, 'x'))
    assert.equal(status, 405, `${other} ${path}`)
    assert.equal(body.error.code, 'METHOD_NOT_ALLOWED')
    for (const method of taken) assert.ok(headers.allow?.includes(method))
  }
})

function assertErrorShape({ body }: Reply): void {
  for (const member of ['code', 'message', 'details', 'request_id', 'timestamp'])
    assert.equal(typeof body.error[member], 'string', member)
  assert.equal(body.success, false)
}

function filled(path: string, value: string): string {
  return path.replaceAll(/:\w+/g, value)
}

async function freshAccount(route: Route): Promise<{ client: typeof world.demo }> {
  return route.scope === 'operator' ? { client: world.operator } : world.account({ balance: 100 })
}

/** A path whose parameters name something that exists: made by the collection's own create, or listed by it. */
async function realPath(route: Route, client: typeof world.demo): Promise<string> {
  if (!route.path.includes('/:')) return route.path
  const [collection = ''] = route.path.split(/\/:\w+/)
  // What a second parameter names is never reached, since the first belongs to somebody else.
  const rest = filled(route.path.slice(collection.length).replace(/^\/:\w+/, ''), 'x')
  if (collection === '/v1/billing/subscriptions') {
    const { plan_id } = (await exampleOf(client, 'billing.createPlan')).body
    // Its number can be changed before its bill is paid.
    const body = { plan_id, customer: { email: 'asha@example.com' }, proration: 'none' }
    const made = await client.post(collection, body)
    return `${collection}/${made.body.subscription_id}${rest}`
  }
  const create = routes.find(({ path, method }) => path === collection && method === 'POST')
  const body = create?.examples?.[0]?.body
  if (create && body) {
    const made = await client.post(collection, body)
    const { invoice_id, note_id, rule_id, blacklist_id, plan_id, name, payout_id, batch_id, phone, number } = made.body
    const id =
      made.body.id ??
      invoice_id ??
      note_id ??
      rule_id ??
      blacklist_id ??
      plan_id ??
      name ??
      payout_id ??
      batch_id ??
      phone ??
      number
    assert.ok(id, `${collection}: ${JSON.stringify(made.body)}`)
    return `${collection}/${id}${rest}`
  }
  if (collection === '/v1/operator/api-keys')
    return `${collection}/${(await client.get('/v1/auth/whoami')).body.key_id}${rest}`
  if (collection === '/v1/logs') return `${collection}/${(await client.get('/v1/auth/whoami')).headers['x-request-id']}`
  if (collection === '/v1/events') {
    const { body: key } = await client.post('/v1/api-keys', { name: 'short-lived' })
    await client.delete(`/v1/api-keys/${key.id}`)
    return `${collection}/${(await client.get('/v1/events')).body.data[0].id}`
  }
  if (collection === '/v1/payments/mobile') {
    const asked = { amount: 5, currency: 'KES', phone_number: '+254700000001' }
    return `${collection}/${(await client.post(`${collection}/initiate`, asked)).body.payment_id}${rest}`
  }
  if (collection === '/v1/payments/cards') {
    const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
    const paid = await client.post('/v1/payments', { amount: 5, currency: 'KES', card, save_card: true })
    return `${collection}/${paid.body.card_token}${rest}`
  }
  if (collection === '/v1/refunds') {
    const { body: payment } = await client.post('/v1/payments', { amount: 5, currency: 'KES', phone: '+254700000001' })
    await client.get(`/v1/payments/${payment.payment_id}?wait=30`)
    return `${collection}/${(await client.post(`/v1/payments/${payment.payment_id}/refund`)).body.refund_id}${rest}`
  }
  if (collection === '/v1/payments/disputes' || collection === '/v1/sandbox/disputes') {
    const card = { number: '4000000000000259', exp_month: 12, exp_year: 2040, cvv: '123' }
    await client.post('/v1/payments', { amount: 5, currency: 'KES', card })
    const dispute = await eventually(
      async () => (await client.get('/v1/payments/disputes')).body.data[0],
      'the dispute',
      90_000,
    )
    return `${collection}/${dispute.dispute_id}${rest}`
  }
  if (collection === '/v1/sms') {
    const scheduled_at = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
    const message = { to: '+254711000001', from: 'PAMOJA', message: 'Habari', scheduled_at }
    return `${collection}/${(await client.post('/v1/sms/send', message)).body.message_id}${rest}`
  }
  if (collection === '/v1/billing/customers') {
    const invoice = routes.find(({ operation }) => operation === 'billing.createInvoice')?.examples?.[0]?.body
    const { body: made } = await client.post('/v1/billing/invoices', invoice)
    return `${collection}/${made.customer.customer_id}${rest}`
  }
  throw new Error(`the tests do not know how to make something under ${collection}`)
}

/** Sends the first example of an operation, for those that need what it makes. */
function exampleOf(client: typeof world.demo, operation: string): Promise<Reply> {
  const route = routes.find((one) => one.operation === operation)
  return client.request(route?.method ?? 'GET', route?.path ?? '/', { body: route?.examples?.[0]?.body })
}

/** A body that passes validation, so that what is refused is the id. */
function someBody(route: Route): unknown {
  return (
    route.examples?.[0]?.body ??
    (route.path === '/v1/operator/api-keys/:id'
      ? { rate_limit_per_second: 5 }
      : route.path === '/v1/operator/plans/:name'
        ? { limits: {} }
        : route.path.startsWith('/v1/operator/sms/')
          ? { reason: 'A reason', countries: null }
          : route.path.startsWith('/v1/operator/payments/statements/')
            ? { account_id: 'acc_x', payment_id: 'pay_x' }
            : route.path.startsWith('/v1/operator/payments/payouts/')
              ? { outcome: 'paid' }
              : route.path.startsWith('/v1/sandbox/disputes/')
                ? { outcome: 'won' }
                : {})
  )
}

function requiredOf({ reply }: Route): string[] {
  return 'required' in reply.schema && Array.isArray(reply.schema.required) ? reply.schema.required : []
}

function queryText(query: unknown): string {
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries(Object(query))) fields.set(name, String(value))
  return fields.toString()
}
