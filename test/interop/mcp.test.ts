// SPDX-License-Identifier: Apache-2.0
// MCP with the official client: what an assistant is offered, what it may do, and the conversations of docs/mcp.md.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { areas } from '../../src/areas.ts'
import type { RunningNode } from '../../src/node/server.ts'
import { confirmedKey } from '../../src/platform/mcp/confirmation.ts'
import { Toolbox } from '../../src/platform/mcp/tools.ts'
import type { Client } from '../client.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account
/** Second node, with rate limits: a fast machine would meet them at the first, to which nodes without the sandbox forward. */
let other: RunningNode
const open: McpClient[] = []

before(async () => {
  world = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  ada = await world.account({ balance: 1_000 })
  other = await world.another({ PAMOJA_RATE_LIMITS: 'on', PAMOJA_ROLES: ['api', 'sandbox'] })
})
after(async () => {
  for (const client of open) await client.close()
  await other.stop()
  await world.stop()
})

/** Official client with a key, over the way that tests have to a node. */
async function connected(key: string, path = '/mcp?write=true', wire: Client = world.stranger): Promise<McpClient> {
  const client = new McpClient({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(path, world.node.url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: async (url, init = {}) => {
      const { pathname, search } = new URL(url)
      const headers = Object.fromEntries(new Headers(init.headers))
      const sent = typeof init.body === 'string' ? { headers, raw: init.body } : { headers }
      const reply = await wire.request(init.method ?? 'GET', pathname + search, sent)
      const type = reply.headers['content-type']
      return new Response(reply.status === 202 ? null : reply.text, {
        status: reply.status,
        ...(type === undefined ? {} : { headers: { 'content-type': type } }),
      })
    },
  })
  await client.connect(transport)
  open.push(client)
  return client
}

/** Key of an account with these scopes. */
async function keyWith(account: Account, scopes: readonly string[]): Promise<string> {
  const { body } = await account.client.post('/v1/api-keys', { name: 'assistant', scopes })
  return body.key
}

interface Called {
  readonly value: Readonly<Record<string, unknown>>
  readonly isError: boolean
  readonly meta: Readonly<Record<string, unknown>>
}

async function call(client: McpClient, name: string, given: Record<string, unknown> = {}): Promise<Called> {
  const { content, isError, _meta } = await client.callTool({ name, arguments: given })
  const [first] = Array.isArray(content) ? content : []
  return { value: JSON.parse(String(first?.text)), isError: isError === true, meta: _meta ?? {} }
}

/** Calls a tool that asks, and calls it again with its token. */
async function confirmed(client: McpClient, name: string, given: Record<string, unknown>): Promise<Called> {
  const { value } = await call(client, name, given)
  assert.equal(value.done, false, JSON.stringify(value))
  return call(client, name, { ...given, confirm_token: value.confirm_token })
}

const text = { to: '+254711000001', from: 'PAMOJA', message: 'Habari Ada' }
const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name)
const namedOperations = areas.flatMap((area) => area.tools?.named ?? [])

test('about forty tools have a name, all of them exist, and two lead to the rest', async () => {
  const { tools } = await (await connected(ada.key)).listTools()
  const named = namedOperations.map((operation) => operation.replace('.', '_'))
  assert.deepEqual(names(tools), [...named, 'find_operation', 'call_operation'])
  assert.ok(tools.length <= 45 && tools.every(({ name }) => /^[A-Za-z0-9_-]{1,64}$/.test(name)))
  assert.ok(JSON.stringify(tools).length < 75_000, `${JSON.stringify(tools).length} characters are too many to read`)
  const send = tools.find(({ name }) => name === 'sms_send')
  assert.deepEqual(
    [
      send?.annotations?.readOnlyHint,
      send?.inputSchema.required,
      Object.keys(send?.inputSchema.properties ?? {}).at(-1),
    ],
    [false, ['to', 'from', 'message'], 'confirm_token'],
  )
})

test('a key sees what its scopes allow, and changes only at the address for it', async () => {
  const reader = await keyWith(ada, ['sms:read'])
  const writer = await keyWith(ada, ['sms:write'])
  const ofSms = namedOperations
    .filter((operation) => operation.startsWith('sms.'))
    .map((name) => name.replace('.', '_'))
  const general = ['find_operation', 'call_operation']
  const reading = ofSms.filter((name) => name !== 'sms_send')
  const listed = async (key: string, path: string) => names((await (await connected(key, path)).listTools()).tools)
  assert.deepEqual(await listed(reader, '/mcp?write=true'), ['auth_whoami', ...reading, ...general])
  assert.deepEqual(await listed(writer, '/mcp'), ['auth_whoami', ...reading, ...general])
  assert.deepEqual(await listed(writer, '/mcp?write=true'), ['auth_whoami', ...ofSms, ...general])
  for (const [key, path] of [
    [reader, '/mcp?write=true'],
    [writer, '/mcp'],
  ] as const) {
    const client = await connected(key, path)
    await assert.rejects(client.callTool({ name: 'sms_send', arguments: text }), { code: -32602 })
    const around = await call(client, 'call_operation', { operation: 'sms.send', arguments: text })
    assert.deepEqual([around.isError, around.value.code], [true, 'NOT_FOUND'])
  }
  const { value } = await call(await connected(writer, '/mcp'), 'find_operation', { query: 'send a message' })
  assert.match(String(value.note), /would change something/)
})

test('an operation is sent once, when its confirm token comes back with the same arguments', async () => {
  const client = await connected(ada.key)
  const sent = async () => (await ada.client.get('/v1/sms?limit=100')).body.data.length
  const before = await sent()
  const { value: asked } = await call(client, 'sms_send', text)
  assert.deepEqual([asked.done, asked.operation, asked.environment, asked.arguments], [false, 'sms.send', 'test', text])
  const { confirm_token } = asked
  const other = await call(client, 'sms_send', { ...text, message: 'Habari Eve', confirm_token })
  assert.deepEqual([other.isError, other.value.done], [true, false])
  const elsewhere = await connected(await keyWith(ada, ['sms:write']))
  assert.equal((await call(elsewhere, 'sms_send', { ...text, confirm_token })).isError, true)
  assert.equal(await sent(), before)
  const { message, from, to } = text
  const first = await call(client, 'sms_send', { message, from, to, confirm_token })
  const second = await call(client, 'sms_send', { ...text, confirm_token })
  assert.match(String(first.value.message_id), /^sms_/)
  assert.deepEqual([second.value.message_id, second.meta['pamoja/replayed']], [first.value.message_id, true])
  assert.equal(await sent(), before + 1)
})

test('a confirm token is accepted by every node, and ends after ten minutes', async () => {
  const { value } = await call(await connected(ada.key), 'sms_send', text)
  const there = await connected(ada.key, '/mcp?write=true', world.stranger.at(other.url))
  const { confirm_token } = value
  const done = await call(there, 'sms_send', { ...text, confirm_token })
  assert.match(String(done.value.message_id), /^sms_/)
  const principal = await world.app.authenticator.authenticate(`Bearer ${ada.key}`, '127.0.0.1')
  const confirmable = { principal, operation: 'sms.send', given: text }
  const untilMs = Date.parse(String(value.expires_at))
  const keyAt = (nowMs: number) => confirmedKey(world.app.secrets, confirmable, String(confirm_token), nowMs)
  assert.match(keyAt(untilMs - 1) ?? '', /^mcp_/)
  assert.equal(keyAt(untilMs + 1), null)
})

test('an operation without a tool is found by words, described by its name, and called', async () => {
  const client = await connected(ada.key)
  const { value } = await call(client, 'find_operation', { query: 'who opted out of messages' })
  const found = Object(value.operations).map(({ operation }: { operation: string }) => operation)
  assert.ok(found.includes('sms.listOptOuts'), found.join(' '))
  const { value: page } = await call(client, 'find_operation', { query: 'list', cursor: value.next_cursor ?? '10' })
  assert.equal(Object(page.operations).length, 10)
  const { value: exact } = await call(client, 'find_operation', { query: 'sms.optOut' })
  assert.deepEqual(Object(exact.operations)[0].input_schema.required, ['phone'])
  const given = { operation: 'sms.optOut', arguments: { phone: '+254711000042' } }
  assert.equal((await call(client, 'call_operation', given)).isError, false)
  const { value: list } = await call(client, 'call_operation', { operation: 'sms_listOptOuts' })
  assert.equal(Object(list.data)[0].phone, '+254711000042')
})

test('what is wrong with a call is said before anybody confirms it, in words to act on', async () => {
  const client = await connected(ada.key)
  const misspelt = await call(client, 'sms_send', { ...text, mesage: 'x' })
  assert.deepEqual([misspelt.isError, misspelt.value.code], [true, 'VALIDATION_ERROR'])
  assert.match(String(misspelt.value.details), /did you mean "message"/)
  const wrong = await call(client, 'sms_send', { ...text, to: '12' })
  assert.equal(wrong.value.code, 'INVALID_PHONE')
  const card = { amount: 10, currency: 'KES', card: { number: '4242424242424242' } }
  assert.match(
    String((await call(client, 'payments_create', card)).value.details),
    /card is not available to assistants/,
  )
  for (const id of ['..', '', '.'])
    assert.equal((await call(client, 'sms_get', { id })).value.code, 'INVALID_REQUEST', id)
  const missing = await call(client, 'sms_get', { id: 'sms_01kae6yvfneqbanvw4v1a1b2c3' })
  assert.deepEqual([missing.isError, missing.value.code], [true, 'NOT_FOUND'])
})

test('lists are short and go on by their cursor; long texts are cut', async () => {
  const client = await connected(ada.key)
  const messages = Array.from({ length: 12 }, (_one, index) => ({ to: '+254711000001', message: `Habari ${index}` }))
  await ada.client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  const { value: first } = await call(client, 'sms_list', {})
  assert.deepEqual([Object(first.data).length, first.has_more], [10, true])
  const { value: next } = await call(client, 'sms_list', { cursor: first.next_cursor, limit: 1 })
  assert.equal(Object(next.data).length, 1)
  const { value: events } = await call(client, 'call_operation', { operation: 'webhooks.events' })
  assert.ok(JSON.stringify(events).length <= 16_200 && events.shortened)
})

test('a call is a request of its operation: in the log without its text, and on the limits', async () => {
  const key = await keyWith(ada, ['sms:write'])
  const client = await connected(key)
  const { meta } = await confirmed(client, 'sms_send', { ...text, message: 'Siri yetu' })
  const path = `/v1/logs/${meta['pamoja/request_id']}`
  await eventually(async () => (await ada.client.get(path)).status === 200, 'the request log')
  const { body } = await ada.client.get(path)
  assert.deepEqual([body.operation, body.method, body.status], ['sms.send', 'POST', 200])
  assert.doesNotMatch(JSON.stringify(body), /Siri yetu/)
  const limited = await connected(key, '/mcp')
  const { body: own } = await world.stranger.as(key).get('/v1/auth/whoami')
  await world.operator.patch(`/v1/operator/api-keys/${own.key_id}`, { rate_limit_per_second: 1 })
  const hurried = await eventually(async () => {
    const results = await Promise.all([1, 2, 3].map(() => call(limited, 'sms_list').catch(() => null)))
    return results.find((result) => result?.value.code === 'RATE_LIMITED')
  }, 'the limit')
  assert.match(String(hurried?.value.details), /try again in/)
})

test('messages that are none are answered as the protocol says, and sites of others are refused', async () => {
  const client = world.stranger.as(ada.key)
  const asked = async (raw: string, headers: Record<string, string> = {}) => {
    const { status, body } = await client.post('/mcp', undefined, {
      raw,
      headers: { 'content-type': 'application/json', ...headers },
    })
    return [status, body?.error?.code]
  }
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  assert.deepEqual(await asked(ping), [200, undefined])
  assert.deepEqual(await asked('{"jsonrpc":'), [400, -32700])
  assert.deepEqual(await asked(`[${ping}]`), [400, -32600])
  assert.deepEqual(await asked('{"jsonrpc":"2.0","id":1,"method":"resources/list"}'), [200, -32601])
  assert.deepEqual(await asked('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'), [200, -32602])
  assert.deepEqual(await asked('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}'), [200, -32602])
  assert.deepEqual(await asked(ping, { 'mcp-protocol-version': '2024-01-01' }), [400, -32600])
  assert.deepEqual(await asked(ping, { 'content-type': 'text/plain' }), [415, 'UNSUPPORTED_MEDIA_TYPE'])
  assert.deepEqual(await asked(ping, { origin: 'https://elsewhere.example' }), [403, 'FORBIDDEN'])
  assert.deepEqual(await asked(ping, { origin: new URL(world.node.url).origin }), [200, undefined])
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await client.request(method, '/mcp')
    assert.deepEqual([status, headers.allow], [405, 'POST'])
  }
  const { status, headers } = await world.stranger.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })
  assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'])
})

test('nothing that gives a secret or a file is offered, and every change asks unless it is a setting', () => {
  const { tools } = new Toolbox(areas)
  const secret = [
    ...['auth.token', 'apiKeys.create', 'apiKeys.rotate', 'team.invite', 'team.resetPassword', 'webhooks.create'],
    ...['webhooks.callbackSecret', 'email.createSmtpCredential', 'callcenter.login', 'operator.createAccount'],
    ...['webhooks.openPortal', 'events.stream'],
  ]
  assert.deepEqual(
    secret.filter((operation) => tools.has(operation)),
    [],
  )
  const unasked = areas.flatMap((area) => area.tools?.unasked ?? [])
  assert.deepEqual(
    unasked.filter((operation) => tools.get(operation)?.asks !== false),
    [],
  )
  const told =
    /^(sms\.send|email\.send|messenger\.send|voice\.createCall|payments\.create|payouts\.|refunds\.|wallet\.topup)/
  const silent = [...tools.values()].filter(({ asks, isReading }) => !asks && !isReading)
  const costs = silent.filter(
    ({ route: { operation, errors = [], scope } }) =>
      told.test(operation) || (errors.includes('INSUFFICIENT_BALANCE') && !scope.startsWith('sandbox:')),
  )
  assert.deepEqual(costs, [])
})

/** Conversation as docs/mcp.md tells it: what a person wants, the calls, and the parts of the results that matter. */
class Conversation {
  readonly #client: McpClient
  readonly #lines: string[] = []

  constructor(client: McpClient) {
    this.#client = client
  }

  /** Calls a tool and notes the named fields of its result, of the first row of a list. */
  async use(tool: string, given: Record<string, unknown>, fields: readonly string[]): Promise<Called['value']> {
    const { value } = await call(this.#client, tool, given)
    const rows = value.data ?? value.operations
    const about = Array.isArray(rows) ? Object(rows[0]) : value
    this.#lines.push(`${tool} ${readable(given)}`, `→ ${readable(pick(about, fields))}`)
    return about
  }

  /** Calls and results, with ids, tokens and times as they look on every machine. */
  get text(): string {
    return this.#lines
      .join('\n')
      .replaceAll(/\b([a-z]{2,6})_[0-9a-z]{26}\b/g, '$1_…')
      .replaceAll(/confirm_[\w-]{40,}/g, 'confirm_…')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
  }
}

function pick(value: object, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((name) => [name, Reflect.get(value, name)]))
}

function readable(value: object): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
}

test('the conversations of docs/mcp.md really run', async () => {
  const shop = await world.account({ balance: 5_000 })
  const told = [await missingText(shop), await reminder(shop), await paymentAndRefund(shop)]
  const page = readFileSync('docs/mcp.md', 'utf8')
  const blocks = page.split('```text\n').slice(1)
  if (process.env.PAMOJA_WRITE_REPLIES === '1') {
    const written = blocks.map((block, index) => (told[index] ?? '') + block.slice(block.indexOf('\n```')))
    writeFileSync('docs/mcp.md', [page.split('```text\n')[0], ...written].join('```text\n'))
    return
  }
  assert.deepEqual(
    blocks.map((block) => block.slice(0, block.indexOf('\n```'))),
    told,
  )
})

async function missingText(shop: Account): Promise<string> {
  const { body } = await shop.client.post('/v1/sms/send', {
    ...text,
    to: '+254711000002',
    message: 'Order 77 is ready',
  })
  const isOver = async () => (await shop.client.get(`/v1/sms/${body.message_id}`)).body.status === 'failed'
  await eventually(isOver, 'the text to fail')
  const talk = new Conversation(await connected(await keyWith(shop, ['sms:read', 'logs:read']), '/mcp'))
  const { message_id } = await talk.use('sms_list', { to: '+254711000002', limit: 1 }, [
    'message_id',
    'status',
    'message',
  ])
  await talk.use('sms_get', { id: message_id }, ['status', 'error_code', 'network'])
  await talk.use('sms_lookup', { phone: '+254711000002' }, ['valid', 'type', 'country', 'reachable'])
  return talk.text
}

async function reminder(shop: Account): Promise<string> {
  const talk = new Conversation(await connected(await keyWith(shop, ['sms:write'])))
  const given = { to: '+254711000001', from: 'PAMOJA', message: 'Habari Ada, your order 77 is ready.' }
  await talk.use('sms_estimate', given, ['segments', 'cost', 'currency'])
  const { confirm_token } = await talk.use('sms_send', given, ['done', 'environment', 'confirm_token'])
  const { message_id } = await talk.use('sms_send', { ...given, confirm_token }, ['message_id', 'status'])
  const arrived = async () => (await shop.client.get(`/v1/sms/${message_id}`)).body.status === 'delivered'
  await eventually(arrived, 'the text to arrive')
  await talk.use('sms_get', { id: message_id }, ['status', 'segments', 'cost', 'currency'])
  return talk.text
}

async function paymentAndRefund(shop: Account): Promise<string> {
  const talk = new Conversation(await connected(await keyWith(shop, ['payments:write', 'wallet:read'])))
  const given = { amount: 1500, currency: 'KES', phone: '+254700000001', description: 'Order 77' }
  const { confirm_token } = await talk.use('payments_create', given, ['done', 'environment', 'confirm_token'])
  const { payment_id } = await talk.use('payments_create', { ...given, confirm_token }, ['payment_id', 'amount'])
  const paid = async () => (await shop.client.get(`/v1/payments/${payment_id}`)).body.status === 'completed'
  await eventually(paid, 'the payment')
  await talk.use('payments_get', { payment_id }, ['status', 'amount', 'currency', 'net_amount'])
  const back = { transaction_id: payment_id, amount: 500, reason: 'requested_by_customer' }
  const asked = await talk.use('refunds_create', back, ['done', 'confirm_token'])
  const { refund_id } = await talk.use('refunds_create', { ...back, confirm_token: asked.confirm_token }, [
    'refund_id',
    'amount',
  ])
  const returned = async () => (await shop.client.get(`/v1/refunds/${refund_id}`)).body.status === 'completed'
  await eventually(returned, 'the refund')
  await talk.use('find_operation', { query: 'refunds.get' }, ['operation'])
  const read = { operation: 'refunds.get', arguments: { refund_id } }
  await talk.use('call_operation', read, ['status', 'amount', 'amount_refundable'])
  return talk.text
}
