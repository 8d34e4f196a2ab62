// SPDX-License-Identifier: Apache-2.0
// The life of a credential, as its owner sees it.
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import { refusal } from '../client.ts'
import { lookInto } from '../looking.ts'
import { doChores, eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('an account has as many keys that work as its plan allows, or its operator', async () => {
  const ada = await world.account({ plan: 'free' })
  const make = () => ada.client.post('/v1/api-keys', { name: 'One more' })
  const made = []
  for (let i = 0; i < 9; i++) made.push((await make()).body.id)
  const refused = await make()
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'CONFLICT'])
  assert.match(refused.body.error.details, /^the account has 10 of 10 keys/)
  assert.equal((await ada.client.post(`/v1/api-keys/${made[0]}/rotate`, { grace_period: 0 })).status, 201)
  assert.equal((await ada.client.delete(`/v1/api-keys/${made[1]}`)).status, 200)
  assert.equal((await make()).status, 201)
  await world.operator.patch(`/v1/operator/accounts/${ada.id}`, { allowances: { api_keys: 11 } })
  await eventually(async () => (await make()).status === 201, 'the allowance')
})

test('a new key works at once, shows itself once, and carries what it was given', async () => {
  const { client } = await world.account()
  const made = await client.post('/v1/api-keys', { name: 'Server', scopes: ['sms:write', 'keys:read'] })
  assert.equal(made.status, 201)
  assert.match(made.body.key, /^pmj_test_[0-9A-Za-z]{38}$/)
  assert.equal(made.headers.location, `/api/v1/api-keys/${made.body.id}`)
  assert.equal(made.body.prefix, made.body.key.slice(0, 13))
  assert.equal(made.body.last4, made.body.key.slice(-4))
  assert.equal(made.body.status, 'active')
  const days = (Date.parse(made.body.rotation_due_at) - Date.parse(made.body.created_at)) / 86_400_000
  assert.equal(days, 90)

  const server = world.stranger.as(made.body.key)
  const me = await server.get('/v1/auth/whoami')
  assert.deepEqual(me.body.scopes, ['sms:write', 'keys:read'])
  const record = await server.get(`/v1/api-keys/${made.body.id}`)
  assert.equal(record.status, 200)
  assert.equal('key' in record.body, false)
  assert.ok(!record.text.includes(made.body.key))
  const list = await client.get('/v1/api-keys')
  assert.ok(!list.text.includes(made.body.key))
})

test('a revoked key stops working with the reply that says so', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'Lost laptop' })
  const holder = world.stranger.as(key.key)
  assert.equal((await holder.get('/v1/auth/whoami')).status, 200)
  assert.deepEqual((await client.delete(`/v1/api-keys/${key.id}`)).body.data, { id: key.id, deleted: true })
  const refused = await eventually(async () => {
    const reply = await holder.get('/v1/auth/whoami')
    return reply.status === 401 && reply
  }, 'the key to be refused')
  assert.match(refused.body.error.details, /revoked on 20/)
  assert.equal(refused.headers['www-authenticate'], 'Bearer error="invalid_token"')
  const event = (await client.get('/v1/events?event=apikey.revoked')).body.data[0]
  assert.equal(event.resource_id, key.id)
  assert.equal(event.payload.event_id, event.id)
  assert.equal((await client.get(`/v1/api-keys/${key.id}`)).body.status, 'revoked')
})

test('rotation gives a successor and lets the old key work until its grace period ends', async () => {
  const { client } = await world.account()
  const { body: old } = await client.post('/v1/api-keys', {
    name: 'Checkout',
    scopes: ['sms:write'],
    allowed_ips: ['127.0.0.0/8', '::1'],
  })
  const rotated = await client.post(`/v1/api-keys/${old.id}/rotate`, { grace_period: 3600 })
  assert.equal(rotated.status, 201)
  assert.equal(rotated.body.rotated_from, old.id)
  assert.deepEqual(
    [rotated.body.name, rotated.body.scopes, rotated.body.allowed_ips],
    [old.name, old.scopes, old.allowed_ips],
  )
  assert.equal((await world.stranger.as(rotated.body.key).get('/v1/auth/whoami')).status, 200)
  const still = await eventually(async () => {
    const reply = await world.stranger.as(old.key).get('/v1/auth/whoami')
    return reply.headers['pamoja-key-expires'] ? reply : null
  }, 'the old key to say when it ends')
  assert.equal(still.status, 200)
  const record = await client.get(`/v1/api-keys/${old.id}`)
  assert.equal(record.body.status, 'expiring')
  assert.equal(record.body.expires_at, still.headers['pamoja-key-expires'])
  const { body: token } = await world.stranger.as(old.key).post('/v1/auth/token', { expires_in: 3600 })
  assert.ok(token.expires_in < 3600, 'a token is not said to outlive its key')
  const { exp } = JSON.parse(Buffer.from(token.access_token.split('.')[1], 'base64url').toString())
  assert.ok(exp * 1000 < Date.parse(record.body.expires_at) + 1000, 'nor does it say so itself')
  const byToken = await world.stranger.as(token.access_token).get('/v1/auth/whoami')
  assert.equal(byToken.headers['pamoja-key-expires'], record.body.expires_at, 'the end of the key, not of the token')

  await client.post(`/v1/api-keys/${rotated.body.id}/rotate`, { grace_period: 0 })
  const ended = await eventually(async () => {
    const reply = await world.stranger.as(rotated.body.key).get('/v1/auth/whoami')
    return reply.status === 401 && reply
  }, 'the key without grace to end')
  assert.match(ended.body.error.details, /expired on/)
  const again = await client.post(`/v1/api-keys/${rotated.body.id}/rotate`, {})
  assert.equal(again.status, 409)
  assert.equal(again.body.error.current_status, 'expired')
})

test('a key cannot give what it does not have', async () => {
  const { client } = await world.account()
  const { body: narrow } = await client.post('/v1/api-keys', { name: 'Narrow', scopes: ['keys:write', 'sms:read'] })
  const holder = world.stranger.as(narrow.key)
  const refused = await holder.post('/v1/api-keys', { name: 'Wider', scopes: ['payouts:write'] })
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error.required_scope, 'payouts:write')
  assert.equal((await holder.post('/v1/api-keys', { name: 'Same', scopes: ['sms:read', 'keys:read'] })).status, 201)
  assert.deepEqual((await holder.post('/v1/api-keys', { name: 'Default' })).body.scopes.sort(), [
    'keys:write',
    'sms:read',
  ])
  assert.equal((await client.post('/v1/api-keys', { name: 'Operator', scopes: ['operator'] })).status, 403)
  assert.equal((await client.post('/v1/api-keys', { name: 'Odd', scopes: ['sms:fly'] })).status, 422)
  assert.equal(
    (await world.operator.post('/v1/api-keys', { name: 'Default of an operator' })).body.scopes.includes('operator'),
    false,
  )
})

test('a key that ends, or is bound to addresses, makes no key that lives longer or reaches wider', async () => {
  const { client } = await world.account()
  const bound = { expires_at: '2099-01-01T00:00:00Z', allowed_ips: ['127.0.0.0/8', '::1'] }
  const { body: own } = await client.post('/v1/api-keys', { name: 'Contractor', ...bound })
  const holder = world.stranger.as(own.key)
  const { body: heir } = await holder.post('/v1/api-keys', { name: 'Heir' })
  assert.deepEqual([heir.expires_at, heir.allowed_ips], ['2099-01-01T00:00:00.000Z', bound.allowed_ips])
  const narrower = { expires_at: '2098-01-01T00:00:00Z', allowed_ips: ['127.0.0.1'] }
  assert.equal((await holder.post('/v1/api-keys', { name: 'Narrower', ...narrower })).status, 201)
  for (const wider of [
    { expires_at: '2100-01-01T00:00:00Z' },
    { allowed_ips: ['0.0.0.0/0'] },
    { allowed_ips: ['::2'] },
  ]) {
    assert.equal((await holder.post('/v1/api-keys', { name: 'Wider', ...wider })).status, 403)
    assert.equal((await holder.patch(`/v1/api-keys/${own.id}`, wider)).status, 403)
  }
  const { body: endless } = await holder.patch(`/v1/api-keys/${own.id}`, { expires_at: null, allowed_ips: [] })
  assert.deepEqual([endless.expires_at, endless.allowed_ips], [heir.expires_at, heir.allowed_ips])
  const { body: wide } = await client.post('/v1/api-keys', { name: 'Wide', allowed_ips: ['0.0.0.0/0', '::/0'] })
  assert.equal((await holder.post(`/v1/api-keys/${wide.id}/rotate`, {})).status, 403)
  const member = { email: 'contractor@example.com', role: 'viewer' }
  assert.deepEqual(await refusal(holder.post('/v1/team/members', member)), [403, 'FORBIDDEN'])
  const { body: user } = await client.post('/v1/email/smtp-credentials', { name: 'Shop' })
  for (const path of ['/v1/email/smtp-credentials', `/v1/email/smtp-credentials/${user.id}/rotate`])
    assert.deepEqual(await refusal(holder.post(path, { name: 'Contractor' })), [403, 'FORBIDDEN'])
  const { body: successor } = await holder.post(`/v1/api-keys/${own.id}/rotate`, {})
  assert.deepEqual([successor.expires_at, successor.allowed_ips], [heir.expires_at, heir.allowed_ips])
})

test('a key inherits the rate limit that the operator gave its maker', async () => {
  const { client } = await world.account()
  const { body: me } = await client.get('/v1/auth/whoami')
  await world.operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: 50 })
  const limited = await eventually(async () => {
    const { body } = await client.post('/v1/api-keys', { name: 'Next' })
    return body.rate_limit_per_second === 50
  }, 'a key with the same limit')
  assert.ok(limited)
})

test('a key neither changes nor revokes one that may do more than itself', async () => {
  const { client } = await world.account()
  const { body: strong } = await client.post('/v1/api-keys', { name: 'Strong', scopes: ['payouts:write'] })
  const { body: weak } = await client.post('/v1/api-keys', { name: 'Weak', scopes: ['keys:write'] })
  const holder = world.stranger.as(weak.key)
  const changed = await holder.patch(`/v1/api-keys/${strong.id}`, { scopes: ['keys:read'] })
  assert.deepEqual([changed.status, changed.body.error.required_scope], [403, 'payouts:write'])
  assert.equal((await holder.delete(`/v1/api-keys/${strong.id}`)).status, 403)
  assert.equal((await holder.delete(`/v1/api-keys/${weak.id}`)).status, 200, 'but itself')
})

test('an operator key says so, and belongs to live', async () => {
  assert.match(world.credentials.operator_key, /^pmj_operator_[0-9A-Za-z]{38}$/)
  const { body: me } = await world.operator.get('/v1/auth/whoami')
  assert.equal(me.environment, 'live')
})

test('a key may be bound to addresses, and to an end', async () => {
  const { client } = await world.account()
  const { body: far } = await client.post('/v1/api-keys', { name: 'Office', allowed_ips: ['203.0.113.0/24'] })
  const refused = await world.stranger.as(far.key).get('/v1/auth/whoami')
  assert.equal(refused.status, 403)
  assert.match(refused.body.error.details, /address .* allowed_ips/)
  assert.match(refused.body.error.message, /See details/, 'another scope would not help')
  const proxied = await world.stranger
    .as(far.key)
    .get('/v1/auth/whoami', { headers: { 'x-forwarded-for': '198.51.100.9, 203.0.113.7' } })
  assert.equal(proxied.status, 403, 'nobody is believed to be a proxy unless the operator says so')
  assert.equal((await client.post('/v1/api-keys', { name: 'Bad', allowed_ips: ['203.0.113.0/99'] })).status, 422)
  assert.equal((await client.post('/v1/api-keys', { name: 'Past', expires_at: '2020-01-01T00:00:00Z' })).status, 422)
  const soon = await client.post('/v1/api-keys', { name: 'Soon', expires_at: '2099-01-01T00:00:00+03:00' })
  assert.equal(soon.body.expires_at, '2098-12-31T21:00:00.000Z')
  assert.equal(soon.body.status, 'expiring')
})

test('keys that are not keys are refused alike, and say why only to whoever holds a real one', async () => {
  const { key } = await world.account()
  const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
  const rows: [string | undefined, RegExp][] = [
    [undefined, /missing/],
    ['Basic abc', /not of the form/],
    ['Bearer', /not of the form/],
    [`Bearer ${typo}`, /malformed/],
    [`Bearer ${key} x`, /not of the form/],
    ['Bearer pmj_test_short', /malformed/],
    ['Bearer x.y.z', /token/],
    [`Bearer ${'a'.repeat(5000)}`, /not of the form/],
  ]
  const messages = new Set<string>()
  for (const [authorization, details] of rows) {
    const { status, body } = await world.stranger.get('/v1/auth/whoami', {
      headers: authorization === undefined ? {} : { authorization },
    })
    assert.equal(status, 401, authorization)
    assert.match(body.error.details, details)
    messages.add(body.error.message)
  }
  assert.equal(messages.size, 1)
})

test('a test key sees only test, and the sandbox address refuses live keys', async () => {
  const { client } = await world.account()
  const { body: live } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  assert.match(live.key, /^pmj_live_/)
  const me = await world.stranger.as(live.key).get('/api/v1/auth/whoami')
  assert.equal(me.headers['pamoja-environment'], 'live')
  assert.equal((await world.stranger.as(live.key).get('/sandbox/api/v1/auth/whoami')).status, 401)
  assert.equal((await client.get('/sandbox/api/v1/auth/whoami')).status, 200)
  assert.equal((await client.get(`/v1/api-keys/${live.id}`)).status, 404)
  assert.equal((await world.stranger.as(live.key).post('/v1/sandbox/clock', { advance_seconds: 1 })).status, 403)
})

test('a token is a smaller key with a short life, and dies with its key', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'Backend', scopes: ['sms:write', 'account:read'] })
  const backend = world.stranger.as(key.key)
  const issued = await backend.post('/v1/auth/token', { scope: 'sms:read', expires_in: 60, subject: 'browser-7' })
  assert.equal(issued.status, 200)
  assert.deepEqual([issued.body.token_type, issued.body.expires_in, issued.body.scope], ['Bearer', 60, 'sms:read'])
  const { body: log } = await client.get('/v1/audit-log?action=apikey.issue_token')
  assert.deepEqual(
    log.data.map(({ actor, target, after }: Record<string, unknown>) => [actor, target, after]),
    [
      [
        { type: 'key', id: key.id, name: 'Backend' },
        key.id,
        { scopes: ['sms:read'], subject: 'browser-7', expires_in: 60 },
      ],
    ],
    'who handed out what, and not the token itself',
  )
  const browser = world.stranger.as(issued.body.access_token)
  assert.deepEqual((await browser.get('/v1/auth/whoami')).body.scopes, ['sms:read'])
  assert.equal((await browser.get('/v1/account')).status, 403)
  const renewed = await browser.post('/v1/auth/token', {})
  assert.deepEqual([renewed.status, renewed.body.error.code], [403, 'FORBIDDEN'], 'a token does not renew itself')
  assert.equal((await backend.post('/v1/auth/token', { scope: 'payouts:write' })).status, 403)
  assert.equal((await backend.post('/v1/auth/token', { scope: 'sms:fly' })).status, 422)
  for (const expires_in of [59, 3601, 60.5, '60'])
    assert.equal((await backend.post('/v1/auth/token', { expires_in })).status, 422)

  const { body: jwks } = await world.stranger.get('/.well-known/jwks.json')
  const [head = '', payload = '', signature = ''] = issued.body.access_token.split('.')
  const { kid, alg } = JSON.parse(Buffer.from(head, 'base64url').toString())
  assert.equal(alg, 'EdDSA')
  const jwk = jwks.keys.find((one: { kid: string }) => one.kid === kid)
  assert.ok(
    verify(
      null,
      Buffer.from(`${head}.${payload}`),
      createPublicKey({ key: jwk, format: 'jwk' }),
      Buffer.from(signature, 'base64url'),
    ),
  )

  await client.delete(`/v1/api-keys/${key.id}`)
  await eventually(async () => (await browser.get('/v1/auth/whoami')).status === 401, 'the token to die with its key')
})

test('OAuth client credentials give the same token', async () => {
  const { client, key } = await world.account()
  const { body: me } = await client.get('/v1/auth/whoami')
  const form = (fields: Record<string, string>) => ({
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const good = await world.stranger.request(
    'POST',
    '/v1/auth/token',
    form({ grant_type: 'client_credentials', client_id: me.key_id, client_secret: key, expires_in: '120' }),
  )
  assert.equal(good.status, 200, good.text)
  assert.equal(good.body.expires_in, 120)
  assert.equal((await world.stranger.as(good.body.access_token).get('/v1/auth/whoami')).status, 200)
  assert.equal(
    (
      await world.stranger.request(
        'POST',
        '/v1/auth/token',
        form({ grant_type: 'client_credentials', client_secret: 'nonsense' }),
      )
    ).status,
    401,
  )
  assert.equal(
    (await world.stranger.request('POST', '/v1/auth/token', form({ grant_type: 'password', client_secret: key })))
      .status,
    422,
  )
  const numbered = await world.stranger.request(
    'POST',
    '/v1/auth/token',
    form({ client_secret: key, subject: '12345', expires_in: '60' }),
  )
  assert.deepEqual([numbered.status, numbered.body.expires_in], [200, 60], 'a subject of digits is still a text')
  const empty = await world.stranger.request(
    'POST',
    '/v1/auth/token',
    form({ client_secret: key, client_id: '', scope: '', subject: '', expires_in: '' }),
  )
  assert.deepEqual(
    [empty.status, empty.body.scope, empty.body.expires_in],
    [200, '*', 900],
    'what has no value counts as left out',
  )
  for (const fields of [{ subject: '\u0000' }, { '\u0000': 'x' }]) {
    const nul = await world.stranger.request('POST', '/v1/auth/token', form({ client_secret: key, ...fields }))
    assert.deepEqual([nul.status, nul.body.error.code], [400, 'INVALID_REQUEST'])
    assert.match(nul.body.error.details, /U\+0000/)
  }
  assert.equal((await client.request('POST', '/v1/account', form({ a: 'b' }))).status, 405)
  assert.equal((await client.request('PATCH', '/v1/account', form({ name: 'b' }))).status, 415)
})

test('a key that came over plain HTTP is marked as seen by everyone', async () => {
  const { client, key } = await world.account()
  const answer = await overPlainHttp(world, key)
  assert.equal(answer.status, 403)
  assert.equal(JSON.parse(answer.body).error.code, 'HTTPS_REQUIRED')
  assert.equal(answer.connection, 'close')
  const { body: me } = await client.get('/v1/auth/whoami')
  await eventually(async () => (await client.get(`/v1/api-keys/${me.key_id}`)).body.exposed_at, 'the key to be marked')
  const { body: log } = await client.get('/v1/audit-log?action=apikey.exposed')
  assert.equal(log.data[0].target, me.key_id)
  const { body: other } = await client.post('/v1/api-keys', { name: 'Other' })
  for (const again of [key, key, other.key]) await overPlainHttp(world, again)
  const told = await eventually(async () => {
    const { body } = await client.get('/v1/audit-log?action=apikey.exposed')
    return body.data.some(({ target }: { target: string }) => target === other.id) && body.data
  }, 'the other key to be marked')
  assert.deepEqual(
    told.map(({ target }: { target: string }) => target),
    [other.id, me.key_id],
    'a key that goes on coming is told of once',
  )
})

test('a live key that came over plain HTTP is revoked where the operator says so, and that is told', async () => {
  const careful = await startWorld({ PAMOJA_REVOKE_EXPOSED_KEYS: true, PAMOJA_TRUSTED_PROXIES: ['127.0.0.0/8', '::1'] })
  try {
    const { client, key: testKey } = await careful.account()
    const { body: test } = await client.get('/v1/auth/whoami')
    const { body: live } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    const { body: watch } = await client.post('/v1/api-keys', { name: 'Watch', environment: 'live' })
    const watcher = careful.stranger.as(watch.key)
    for (const key of [live.key, live.key, testKey]) await overPlainHttp(careful, key)
    await eventually(
      async () => (await careful.stranger.as(live.key).get('/v1/auth/whoami')).status === 401,
      'the key to be revoked',
    )
    const told = await eventually(async () => {
      const { body } = await watcher.get('/v1/events?event=apikey.revoked')
      return body.data.length > 0 && body.data
    }, 'the event')
    assert.deepEqual([told.length, told[0].payload.key_id, told[0].payload.name], [1, live.id, 'Live'])
    await eventually(
      async () => (await client.get(`/v1/api-keys/${test.key_id}`)).body.exposed_at,
      'the test key to be marked',
    )
    assert.equal((await client.get('/v1/auth/whoami')).status, 200, 'a test key works on')
    const { body: far } = await client.post('/v1/api-keys', { name: 'Office', allowed_ips: ['203.0.113.0/24'] })
    const headers = { 'x-forwarded-for': '198.51.100.9, 203.0.113.7' }
    const proxied = await careful.stranger.as(far.key).get('/v1/auth/whoami', { headers })
    assert.equal(proxied.status, 200, 'a trusted proxy says who it is')
  } finally {
    await careful.stop()
  }
})

test('a key that is ninety days old is told of, once, unless it was replaced or works no more', async (t) => {
  const { id, client } = await world.account()
  const { body: me } = await client.get('/v1/auth/whoami')
  const { body: old } = await client.post('/v1/api-keys', { name: 'Replaced' })
  const { body: successor } = await client.post(`/v1/api-keys/${old.id}/rotate`)
  const { body: gone } = await client.post('/v1/api-keys', { name: 'Gone' })
  await client.delete(`/v1/api-keys/${gone.id}`)
  const { body: live } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const { accounts } = await import('../../src/areas/accounts/area.ts')
  const sql = lookInto(world)
  await sql.connect()
  t.after(() => sql.end())
  const aged = async (days: number) =>
    sql.query(`update accounts.api_keys set created_at = now() - $1 * interval '1 day' where account_id = $2`, [
      days,
      uuidOf('account', id),
    ])
  const remind = () => doChores(world.app, accounts.chores)
  const told = async (key: string | null) => {
    const { body } = await (key === null ? client : world.stranger.as(key)).get('/v1/events?event=apikey.rotation_due')
    return body.data.map(({ payload }: { payload: { key_id: string } }) => payload.key_id).sort()
  }
  await aged(89)
  await remind()
  assert.deepEqual(await told(null), [])
  await aged(91)
  await remind()
  await remind()
  assert.deepEqual(await told(null), [me.key_id, successor.id].sort())
  assert.deepEqual(await told(live.key), [live.id])
  const { body: events } = await client.get('/v1/events?event=apikey.rotation_due&limit=1')
  const { payload } = events.data[0]
  const { body: record } = await client.get(`/v1/api-keys/${payload.key_id}`)
  assert.deepEqual(
    [payload.rotation_due_at, payload.name, payload.prefix, payload.last4],
    [record.rotation_due_at, record.name, record.prefix, record.last4],
  )
})

test('using a key is noted, at most once a minute', async () => {
  const { client } = await world.account()
  const { body: me } = await client.get('/v1/auth/whoami')
  await world.app.authenticator.noteUses()
  const first = await client.get(`/v1/api-keys/${me.key_id}`)
  assert.ok(first.body.last_used_at)
  assert.equal(first.body.last_used_ip, '127.0.0.1')
  await world.app.authenticator.noteUses()
  assert.equal((await client.get(`/v1/api-keys/${me.key_id}`)).body.last_used_at, first.body.last_used_at)
})

/** Sends a key where anybody can read it. */
function overPlainHttp({ node }: World, key: string) {
  return new Promise<{ status: number; body: string; connection: string | undefined }>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: node.port, path: '/v1/auth/whoami', headers: { authorization: `Bearer ${key}` } },
      (response) => {
        let body = ''
        response.on('data', (chunk) => {
          body += chunk
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body, connection: response.headers.connection }),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}
