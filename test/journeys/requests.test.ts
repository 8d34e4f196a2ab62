// SPDX-License-Identifier: Apache-2.0
// What every request can rely on: the envelope, request ids, safe retries, lists, warnings, logs.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { lookInto } from '../looking.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('a reply can be read flat or from data, or trimmed to one of the two', async () => {
  const both = await world.demo.get('/v1/auth/whoami')
  const { success, data, ...flat } = both.body
  assert.equal(success, true)
  assert.deepEqual(data, flat)
  const onlyFlat = await world.demo.get('/v1/auth/whoami', { headers: { 'pamoja-envelope': 'flat' } })
  assert.deepEqual(onlyFlat.body, { success: true, ...flat })
  const onlyData = await world.demo.get('/v1/auth/whoami', { headers: { 'pamoja-envelope': 'data' } })
  assert.deepEqual(onlyData.body, { success: true, data: flat })
  for (const [header, value] of [
    ['pamoja-envelope', 'naked'],
    ['pamoja-strict', 'yes'],
  ] as const) {
    const { status, body } = await world.demo.get('/v1/auth/whoami', { headers: { [header]: value } })
    assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], header)
    assert.match(body.error.details, new RegExp(header, 'i'))
  }
})

test('what comes to a terminal ends with a line of its own: replies, lists and refusals', async () => {
  const replies = [
    await world.demo.get('/v1/auth/whoami'),
    await world.demo.get('/v1/sms'),
    await world.demo.get('/v1/nothing'),
    await world.demo.post('/v1/sms/send', {}),
    await world.stranger.get('/v1/auth/whoami'),
  ]
  for (const { status, text, headers } of replies) {
    assert.match(text, /^[^\n]+\}\n$/, String(status))
    assert.equal(headers['content-length'], String(Buffer.byteLength(text)))
  }
})

test('a key can be set to answer in one shape, and to refuse fields that nobody knows', async () => {
  const { client } = await world.account()
  const { body: made } = await client.post('/v1/api-keys', { name: 'Strict', strict: true, envelope: 'flat' })
  assert.deepEqual([made.strict, made.envelope], [true, 'flat'])
  const keyed = world.stranger.as(made.key)
  const flat = await keyed.get('/v1/auth/whoami')
  assert.deepEqual([flat.body.key_id, flat.body.data], [made.id, undefined])
  assert.ok((await keyed.get('/v1/auth/whoami', { headers: { 'pamoja-envelope': 'both' } })).body.data)
  assert.equal((await keyed.post('/v1/api-keys', { name: 'Typo', zzz: 1 })).status, 422)
  const lenient = await keyed.post('/v1/api-keys', { name: 'Typo', zzz: 1 }, { headers: { 'pamoja-strict': 'false' } })
  assert.deepEqual([lenient.status, lenient.body.strict, lenient.body.envelope], [201, false, 'both'])
  const { body: token } = await keyed.post('/v1/auth/token')
  assert.equal((await world.stranger.as(token.access_token).get('/v1/auth/whoami')).body.data, undefined)
  const { body: successor } = await client.post(`/v1/api-keys/${made.id}/rotate`)
  assert.deepEqual([successor.strict, successor.envelope], [true, 'flat'], 'a successor has the same manners')
  const { body: changed } = await client.patch(`/v1/api-keys/${successor.id}`, { strict: false, envelope: 'data' })
  assert.deepEqual([changed.strict, changed.envelope], [false, 'data'])
  const { body } = await world.stranger.as(successor.key).get('/v1/auth/whoami')
  assert.deepEqual([body.key_id, body.data.key_id], [undefined, successor.id])
  for (const bad of [{ envelope: 'naked' }, { strict: 'yes' }])
    assert.equal((await client.patch(`/v1/api-keys/${successor.id}`, bad)).status, 422, JSON.stringify(bad))
})

test('every response carries an id, limits, and no permission to be cached', async () => {
  for (const reply of [
    await world.demo.get('/v1/auth/whoami'),
    await world.stranger.get('/v1/auth/whoami'),
    await world.demo.get('/v1/nothing'),
    await world.demo.post('/v1/api-keys', {}),
    await world.stranger.get('/healthz'),
  ]) {
    assert.match(reply.headers['x-request-id'] ?? '', /^req_[0-9a-z]{26}$/)
    for (const name of ['limit', 'remaining', 'reset'])
      assert.match(reply.headers[`x-ratelimit-${name}`] ?? '', /^\d+$/, name)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.ok(reply.headers['strict-transport-security'])
    if (reply.status >= 400) assert.equal(reply.body.error.request_id, reply.headers['x-request-id'])
  }
  const echoed = await world.demo.get('/v1/auth/whoami', { headers: { 'x-correlation-id': 'order-7' } })
  assert.equal(echoed.headers['x-correlation-id'], 'order-7')
})

test('both prefixes, a trailing slash and HEAD lead to the same route; case does not', async () => {
  const { body } = await world.demo.get('/v1/auth/whoami')
  assert.deepEqual((await world.demo.get('/api/v1/auth/whoami')).body, body)
  assert.deepEqual((await world.demo.get('/v1/auth/whoami/')).body, body)
  const head = await world.demo.request('HEAD', '/v1/auth/whoami')
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
  assert.equal((await world.demo.get('/V1/auth/whoami')).status, 404)
  assert.equal((await world.demo.get('/v2/auth/whoami')).status, 404)
  assert.equal((await world.demo.get('/api/v1')).status, 404)
})

test('without credentials nothing under /v1 can be told apart from nothing', async () => {
  for (const [method, path] of [
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/account'],
    ['GET', '/v1'],
    ['POST', '/api/v1/x/y/z'],
  ] as const)
    assert.equal((await world.stranger.request(method, path)).status, 401, `${method} ${path}`)
  assert.equal((await world.stranger.get('/nothing')).status, 404)
})

test('a write repeated with its key happens once and is answered alike', async () => {
  const ada = await world.account({ balance: 100 })
  for (const [path, body, id] of [
    ['/v1/notes', { text: 'Habari' }, 'note_id'],
    ['/v1/api-keys', { name: 'Once' }, 'id'],
  ] as const) {
    const headers = { 'idempotency-key': randomUUID() }
    const first = await ada.client.post(path, body, { headers })
    const second = await ada.client.post(`/api${path}`, body, { headers })
    assert.equal(second.status, first.status)
    assert.equal(second.text, first.text, 'byte for byte')
    assert.equal(first.headers['idempotent-replayed'], undefined)
    assert.equal(second.headers['idempotent-replayed'], 'true')
    assert.equal(second.headers.location, first.headers.location)
    assert.equal((await ada.client.post(`${path}/`, body, { headers })).text, first.text, 'with a slash at its end too')
    assert.notEqual(second.headers['x-request-id'], first.headers['x-request-id'])
    assert.ok(first.body[id])
    const other = await ada.client.post(path, { ...body, text: 'Other', name: 'Other' }, { headers })
    assert.equal(other.status, 409)
    assert.equal(other.body.error.code, 'DUPLICATE_REFERENCE')
    assert.equal(other.body.error.existing_id, first.body[id], 'what the first request made')
    const elsewhere = await ada.client.post('/v1/sandbox/clock', { advance_seconds: 0 }, { headers })
    assert.equal(elsewhere.status, 409, 'the key belongs to another path')
    const eve = await world.account({ balance: 100 })
    assert.notEqual((await eve.client.post(path, body, { headers })).body[id], first.body[id], 'keys are per account')
  }
  assert.equal(await balance(ada.id), 100 - 0.8)
  const inBody = { text: 'Salama', idempotency_key: randomUUID() }
  const first = await ada.client.post('/v1/notes', inBody)
  assert.equal(first.headers['pamoja-warning'], undefined)
  assert.equal((await ada.client.post('/v1/notes', inBody)).text, first.text)
})

test('a refusal by a business rule is kept under its key; a mistake in the request is not', async () => {
  const ada = await world.account({ balance: 1 })
  const headers = { 'idempotency-key': randomUUID() }
  const broke = await ada.client.post('/v1/notes', { text: 'Too dear', units: 5 }, { headers })
  assert.equal(broke.status, 402)
  assert.equal(broke.body.error.code, 'INSUFFICIENT_BALANCE')
  await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, {
    amount: 100,
    currency: 'KES',
    environment: 'test',
    reference: 'late',
  })
  const again = await ada.client.post('/v1/notes', { text: 'Too dear', units: 5 }, { headers })
  assert.equal(again.text, broke.text)
  assert.equal(again.headers['idempotent-replayed'], 'true')

  const typo = { 'idempotency-key': randomUUID() }
  assert.equal((await ada.client.post('/v1/notes', { text: 7 }, { headers: typo })).status, 422)
  assert.equal((await ada.client.post('/v1/notes', { text: 'Right' }, { headers: typo })).status, 200)
  for (const key of ['', ' ', 'é', 'x'.repeat(256)])
    if (key.trim() !== '')
      assert.equal(
        (await ada.client.post('/v1/notes', { text: 'x', idempotency_key: key })).status,
        400,
        key.slice(0, 5),
      )
  assert.equal((await ada.client.post('/v1/notes', { text: 'x', idempotency_key: 5 })).status, 400)
})

test('a hundred requests with one key are one write', async () => {
  const ada = await world.account({ balance: 100 })
  for (const path of ['/v1/notes', '/v1/api-keys']) {
    const headers = { 'idempotency-key': randomUUID() }
    const replies = await Promise.all(
      Array.from({ length: 100 }, () =>
        ada.client.post(path, path === '/v1/notes' ? { text: 'One' } : { name: 'One' }, { headers }),
      ),
    )
    const done = replies.filter(({ status }) => status < 300)
    assert.ok(done.length >= 1)
    assert.equal(new Set(done.map(({ text }) => text)).size, 1)
    for (const { status, body, headers: given } of replies.filter((reply) => reply.status >= 300)) {
      assert.equal(status, 409)
      assert.equal(body.error.code, 'REQUEST_IN_PROGRESS')
      assert.equal(given['retry-after'], '1')
    }
  }
  assert.equal(await balance(ada.id), 100 - 0.8)
})

test('a key whose request died with its node is free again after a minute', async () => {
  const ada = await world.account()
  const headers = { 'idempotency-key': randomUUID() }
  const ask = () => ada.client.post('/v1/api-keys', { name: 'One' }, { headers })
  const gate = lookInto(world)
  await gate.connect()
  const mine = `from platform.idempotency where key = '${headers['idempotency-key']}'`
  const claimed = async () => (await gate.query(`select (running_until - created_at)::text as held ${mine}`)).rows[0]
  try {
    await gate.query('begin; lock table accounts.api_keys in share row exclusive mode')
    const first = ask()
    const { held } = await eventually(claimed, 'the key to be claimed')
    assert.equal(held, '00:01:00')
    const early = await ask()
    assert.deepEqual([early.status, early.body.error.code], [409, 'REQUEST_IN_PROGRESS'])
    await gate.query('commit')
    assert.equal((await first).status, 201)
    // As it would be if the node had died before it had an answer.
    const dies = `update platform.idempotency set status = null, body = null, running_until = now()`
    const where = `where key = '${headers['idempotency-key']}'`
    await gate.query(`${dies} + interval '30 seconds' ${where}`)
    assert.equal((await ask()).status, 409)
    await gate.query(`${dies} - interval '1 millisecond' ${where}`)
    const again = await ask()
    assert.deepEqual([again.status, again.body.id === (await first).body.id], [201, false])
    assert.equal((await ask()).text, again.text, 'and from now on that is its answer')
  } finally {
    await gate.end()
  }
})

test('a wallet pays for exactly what it can, whoever asks at once', async () => {
  const ada = await world.account({ balance: 8 })
  const replies = await Promise.all(Array.from({ length: 30 }, () => ada.client.post('/v1/notes', { text: 'Me' })))
  assert.equal(replies.filter(({ status }) => status === 200).length, 10)
  assert.equal(
    replies.filter(({ status, body }) => status === 402 && body.error.code === 'INSUFFICIENT_BALANCE').length,
    20,
  )
  assert.equal(await balance(ada.id), 0)
})

test('what was accepted is done', async () => {
  const ada = await world.account({ balance: 100 })
  const { body } = await ada.client.post('/v1/notes', { text: 'Do it' })
  await eventually(
    async () => (await ada.client.get(`/v1/notes/${body.note_id}`)).body.status === 'published',
    'the note to be published',
  )
})

test('lists page without gaps or repeats while things are added', async () => {
  const { client } = await world.account()
  for (let i = 0; i < 7; i++) await client.post('/v1/api-keys', { name: `key ${i}` })
  const seen: string[] = []
  let path: string | null = '/v1/api-keys?limit=3'
  while (path !== null) {
    const page: Awaited<ReturnType<typeof client.get>> = await client.get(path)
    assert.equal(page.status, 200)
    seen.push(...page.body.data.map(({ name }: { name: string }) => name))
    assert.equal(page.body.has_more, page.body.next_cursor !== null)
    if (seen.length === 3) await client.post('/v1/api-keys', { name: 'late' })
    const link = /<(\/api\/v1\/api-keys[^>]*)>; rel="next"/.exec(page.headers.link ?? '')?.[1]
    assert.equal(link !== undefined, page.body.has_more)
    path = page.body.next_cursor && `/v1/api-keys?limit=3&cursor=${page.body.next_cursor}`
  }
  assert.deepEqual(seen, ['key 6', 'key 5', 'key 4', 'key 3', 'key 2', 'key 1', 'key 0', 'First test key'])
  const oldest = await client.get('/v1/api-keys?order=asc&limit=2')
  assert.deepEqual(
    oldest.body.data.map(({ name }: { name: string }) => name),
    ['First test key', 'key 0'],
  )
  for (const bad of ['limit=0', 'limit=201', 'limit=x', 'limit=1.5', 'cursor=abc', 'order=up']) {
    const refused = await client.get(`/v1/api-keys?${bad}`)
    assert.equal(refused.status, 400, bad)
    assert.equal(refused.body.error.code, 'INVALID_REQUEST')
  }
  assert.equal((await client.get('/v1/api-keys?limit=200')).status, 200)
})

test('a list can be had as CSV', async () => {
  const { client } = await world.account()
  await client.post('/v1/api-keys', { name: '=1+2, "quoted"' })
  const { status, headers, text } = await client.get('/v1/api-keys?limit=1', { headers: { accept: 'text/csv' } })
  assert.equal(status, 200)
  assert.match(headers['content-type'] ?? '', /^text\/csv/)
  const [head, first, second, rest] = text.split('\r\n')
  assert.ok(head?.startsWith('id,name,environment'))
  assert.ok(first?.includes(`"'=1+2, ""quoted"""`), first)
  assert.ok(second?.includes('First test key'))
  assert.equal(rest, '')
})

test('a list is JSON unless CSV weighs more, stands first or is named in the address', async () => {
  const typeOf = async (query: string, accept: string) => {
    const { headers, status } = await world.demo.get(`/v1/audit-log${query}`, { headers: { accept } })
    return status === 200 ? String(headers['content-type']).split(';')[0] : String(status)
  }
  const rows: [query: string, accept: string, type: string][] = [
    ['', 'application/json, text/csv', 'application/json'],
    ['', 'text/csv, application/json', 'text/csv'],
    ['', 'text/csv;q=0.9, application/json', 'application/json'],
    ['', 'application/json;q=0.1, text/csv;q=0.2', 'text/csv'],
    ['?format=csv', 'application/json', 'text/csv'],
    ['?format=json', 'text/csv', 'application/json'],
    ['?format=xml', 'text/csv', '400'],
  ]
  for (const [query, accept, type] of rows) assert.equal(await typeOf(query, accept), type, `${query} ${accept}`)
  const strict = { headers: { 'pamoja-strict': 'true' } }
  assert.equal((await world.demo.get('/v1/audit-log?format=csv', strict)).status, 200, 'it is a field of every list')
})

test('fields nobody knows are named, and refused only on request', async () => {
  const { client } = await world.account()
  const lenient = await client.post('/v1/api-keys?colour=red', { nme: 'x', name: 'Typo', zzz: 1 })
  assert.equal(lenient.status, 201)
  assert.equal(
    lenient.headers['pamoja-warning'],
    'unknown field "colour", unknown field "nme" (did you mean "name"?), unknown field "zzz"',
  )
  const strict = { headers: { 'pamoja-strict': 'true' } }
  const refused = await client.post('/v1/api-keys', { nme: 'x', name: 'Typo', zzz: 1 }, strict)
  assert.equal(refused.status, 422)
  assert.deepEqual(refused.body.error.fields, [
    { field: 'nme', code: 'VALIDATION_ERROR', message: 'is unknown (did you mean "name"?)' },
    { field: 'zzz', code: 'VALIDATION_ERROR', message: 'is unknown' },
  ])
  const inQuery = await client.post('/v1/api-keys?colour=red', { name: 'Typo' }, strict)
  assert.equal(inQuery.status, 400)
  assert.deepEqual(inQuery.body.error.fields, [{ field: 'colour', code: 'INVALID_REQUEST', message: 'is unknown' }])
  assert.equal((await client.post('/v1/api-keys', { name: 'Right' }, strict)).status, 201)
  const log = await client.get(`/v1/logs/${lenient.headers['x-request-id']}`)
  assert.match(log.body.warning, /did you mean "name"/)
})

test('a request that was answered from memory is logged with the answer it was given', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const asks = [
    () => client.post('/v1/api-keys', { name: 'Again' }, { headers: { 'idempotency-key': 'made' } }),
    () => client.post('/v1/notes', { text: 'x', to: '+254711000001' }, { headers: { 'idempotency-key': 'noted' } }),
    () => client.delete(`/v1/api-keys/${id}`, { headers: { 'idempotency-key': 'gone' } }),
  ]
  for (const ask of asks) {
    const [first, again] = [await ask(), await ask()]
    assert.equal(again.headers['idempotent-replayed'], 'true', again.text)
    const { body: original } = await client.get(`/v1/logs/${first.headers['x-request-id']}`)
    const { body: repeated } = await client.get(`/v1/logs/${again.headers['x-request-id']}`)
    assert.ok(original.response_body)
    for (const name of ['status', 'error_code', 'request_body', 'response_body'])
      assert.equal(repeated[name], original[name], name)
  }
})

test('a request can be looked up afterwards, without its secrets', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const made = await client.post('/v1/api-keys', { name: 'Secretive' })
  const note = await client.post('/v1/notes', { text: 'my private words', to: '+254711000001' })
  const refused = await client.post('/v1/notes', { text: 5 })
  const log = await client.get(`/v1/logs/${made.headers['x-request-id']}`)
  assert.equal(log.status, 200)
  assert.deepEqual(
    [log.body.method, log.body.path, log.body.status, log.body.operation],
    ['POST', '/v1/api-keys', 201, 'apiKeys.create'],
  )
  assert.equal(JSON.parse(log.body.response_body).key, '[redacted]')
  assert.ok(!log.text.includes(made.body.key))
  const words = await client.get(`/v1/logs/${note.headers['x-request-id']}`)
  assert.deepEqual(JSON.parse(words.body.request_body), { text: '[redacted]', to: '+254711000001' })
  const texts = await client.get(`/v1/sms?limit=5&${made.body.key}=1`)
  const listed = await client.get(`/v1/logs/${texts.headers['x-request-id']}`)
  assert.equal(listed.body.response_body, '{"rows":0}')
  assert.match(listed.body.warning, /pmj_test_\[redacted\]/)
  const failed = await client.get('/v1/logs?status=422')
  assert.equal(failed.body.data[0].request_id, refused.headers['x-request-id'])
  assert.equal(failed.body.data[0].error_code, 'VALIDATION_ERROR')
  assert.ok(!(await client.get('/v1/logs')).text.includes('my private words'))
  const all = await client.get('/v1/logs?operation=notes.create&method=POST')
  assert.equal(all.body.data.length, 2)
  await client.put('/v1/email/tracking-webhook', { url: 'nonsense' })
  const put = await client.get('/v1/logs?method=PUT')
  assert.deepEqual(
    put.body.data.map(({ operation }: { operation: string }) => operation),
    ['email.setTrackingWebhook'],
  )
  assert.equal((await client.get('/v1/logs?start_date=2026-13-01')).body.error.code, 'INVALID_DATE_RANGE')
  assert.equal(
    (await client.get('/v1/logs?start_date=2026-02-02&end_date=2026-02-01')).body.error.code,
    'INVALID_DATE_RANGE',
  )
  assert.equal((await client.get('/v1/logs?start_date=2020-01-01&end_date=2020-01-02')).body.data.length, 0)
  const dump = await world.app.db.query(
    {
      name: 'test.dump',
      text: 'select coalesce(request_body, $1) as body from platform.requests where bucket >= 0',
      parameters: ['id'],
      where: 'everywhere',
      changes: false,
      joinsHome: false,
    },
    { id },
  )
  assert.ok(dump.length > 3)
})

test('usage adds up requests and what they cost', async () => {
  const { client } = await world.account({ balance: 10 })
  for (let i = 0; i < 3; i++) await client.post('/v1/notes', { text: 'x' })
  await client.post('/v1/notes', { text: 5 })
  const { body } = await client.get('/v1/usage?group_by=operation')
  const row = body.rows.find(({ operation }: { operation: string }) => operation === 'notes.create')
  assert.deepEqual([row.requests, row.errors, row.day, row.area], [4, 1, null, null])
  assert.equal(body.spend.length, 1)
  assert.deepEqual(
    [body.spend[0].area, body.spend[0].cost, body.spend[0].count, body.spend[0].currency],
    [null, 2.4, 3, 'KES'],
  )
  assert.equal((await client.get('/v1/usage')).body.spend[0].area, 'notes')
  for (const bad of [
    'start_date=x',
    'start_date=2026-01-02&end_date=2026-01-01',
    'start_date=2020-01-01&end_date=2026-01-01',
  ])
    assert.equal((await client.get(`/v1/usage?${bad}`)).body.error.code, 'INVALID_DATE_RANGE', bad)
  assert.equal((await client.get('/v1/usage?group_by=planet')).status, 400)
})

test('who changed what is written down', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body: me } = await client.get('/v1/auth/whoami')
  const changed = await client.patch('/v1/account', {
    name: 'Ada & Co',
    timezone: 'Africa/Nairobi',
    settings: { default_sender: 'ADA' },
  })
  assert.equal(changed.body.name, 'Ada & Co')
  const { body: log } = await client.get('/v1/audit-log?action=account.update')
  const [entry] = log.data
  const { body: key } = await client.get(`/v1/api-keys/${me.key_id}`)
  assert.deepEqual(entry.actor, { type: 'key', id: me.key_id, name: key.name })
  assert.equal(entry.before.name, 'Ada')
  assert.equal(entry.after.name, 'Ada & Co')
  assert.equal(entry.request_id, changed.headers['x-request-id'])
  await client.post('/v1/notes', { text: 'x' })
  assert.equal((await client.get('/v1/audit-log?action=note.create')).body.data.length, 1)
  assert.equal((await client.patch('/v1/account', { timezone: 'Mars/Olympus' })).status, 422)
  assert.equal((await client.get('/v1/account')).body.settings.default_sender, 'ADA')
})

test('the clock of a test account is its own', async () => {
  const ada = await world.account()
  const eve = await world.account()
  const moved = await ada.client.post('/v1/sandbox/clock', { advance_seconds: 86_400 })
  assert.equal(moved.body.offset_seconds, 86_400)
  const now = await eventually(async () => {
    const { body } = await ada.client.get('/v1/sandbox/clock')
    return body.offset_seconds === 86_400 && Date.parse(body.now)
  }, 'the clock to have moved')
  const other = Date.parse((await eve.client.get('/v1/sandbox/clock')).body.now)
  assert.ok(now - other > 86_000_000 && now - other < 86_500_000)
  assert.equal((await ada.client.post('/v1/sandbox/time/advance', { advance_seconds: 60 })).body.offset_seconds, 86_460)
  const again = await ada.client.post('/v1/sandbox/time/advance', { seconds: 60 })
  assert.equal(again.body.offset_seconds, 86_520)
  for (const wrong of [{}, ...[-1, 31_622_401, '60', null].map((advance_seconds) => ({ advance_seconds }))]) {
    const { status, body } = await ada.client.post('/v1/sandbox/clock', wrong)
    assert.deepEqual([status, body.error.fields?.[0].field], [422, 'advance_seconds'], JSON.stringify(wrong))
  }
})

async function balance(account: string): Promise<number> {
  const { body } = await world.operator.get(`/v1/operator/accounts/${account}`)
  return body.wallets.find(({ environment }: { environment: string }) => environment === 'test').balance
}
