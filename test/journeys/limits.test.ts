// SPDX-License-Identifier: Apache-2.0
// Rate limits as customers meet them: exact, announced on every response, and the same wherever they ask.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Reply } from '../client.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
})
after(() => world.stop())

test('a key makes exactly as many requests in a second as it may', async () => {
  const { client } = await world.account()
  const replies = await Promise.all(Array.from({ length: 130 }, () => client.get('/v1/auth/whoami')))
  const [admitted, refused] = [
    replies.filter(({ status }) => status === 200),
    replies.filter(({ status }) => status === 429),
  ]
  // All were sent at once; a machine that takes longer than the window over them may rightly admit more.
  const spread = Math.max(...replies.map(whenMs)) - Math.min(...replies.map(whenMs))
  if (spread < 900) {
    assert.equal(admitted.length, 100)
    const remaining = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining']))
    assert.equal(new Set(remaining).size, 100, 'each admitted request took one')
  }
  assert.ok(admitted.length >= 100)
  assert.equal(admitted.length + refused.length, 130)
  for (const { body, headers } of refused) {
    assert.equal(body.error.code, 'RATE_LIMITED')
    assert.deepEqual([body.error.limit, body.error.window, body.error.policy], [100, 1, 'key'])
    assert.ok(Number(headers['retry-after']) >= 1)
    assert.equal(headers['x-ratelimit-remaining'], '0')
  }
  assert.ok(Number(replies[0]?.headers['x-ratelimit-reset']) >= Math.floor(world.app.clock.nowMs() / 1000) - 2)
  assert.match(replies[0]?.headers['ratelimit-policy'] ?? '', /^"key";q=100;w=1$/)
  assert.match(replies[0]?.headers.ratelimit ?? '', /^"key";r=\d+;t=1$/)
  await eventually(async () => (await client.get('/v1/auth/whoami')).status === 200, 'the window to pass')
})

test('a plan limits what starts work, by area and minute; reading is free', async () => {
  const ada = await world.account({ balance: 100, plan: 'free' })
  const replies: Reply[] = []
  for (let i = 0; i < 12; i++) replies.push(await ada.client.post('/v1/notes', { text: 'x' }))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [...Array(10).fill(200), 429, 429],
  )
  const [last] = replies.slice(-1)
  assert.equal(last?.body.error.code, 'RATE_LIMITED')
  assert.deepEqual([last?.body.error.limit, last?.body.error.window, last?.body.error.policy], [10, 60, 'plan-sms'])
  assert.equal(last?.headers['x-ratelimit-limit'], '10', 'the refusing limit is the one told')
  assert.ok(Number(last?.headers['retry-after']) > 30)
  assert.match(last?.headers['ratelimit-policy'] ?? '', /"plan-sms";q=10;w=60/)
  assert.equal(replies[2]?.headers['x-ratelimit-remaining'], '7', 'the tightest limit is told')
  assert.equal((await ada.client.get(`/v1/notes/${replies[0]?.body.note_id}`)).status, 200)
  assert.equal((await ada.client.post('/v1/api-keys', { name: 'x' })).status, 201, 'other areas go on')

  const { body } = await ada.client.get('/v1/limits')
  const plan = body.limits.find(({ policy }: { policy: string }) => policy === 'plan-sms')
  assert.deepEqual([body.plan, plan.limit, plan.window, plan.remaining], ['free', 10, 60, 0])
  assert.equal(body.limits.find(({ policy }: { policy: string }) => policy === 'plan-email').remaining, 10)

  await world.operator.patch(`/v1/operator/accounts/${ada.id}`, { limits: { sms: 20 } })
  await eventually(async () => (await ada.client.post('/v1/notes', { text: 'x' })).status === 200, 'the raised limit')
  await world.operator.patch(`/v1/operator/accounts/${ada.id}`, { limits: { sms: null } })
  await eventually(async () => !(await ada.client.get('/v1/limits')).text.includes('plan-sms'), 'no limit')
})

test('strangers share a small limit per address', async () => {
  const replies = await Promise.all(
    Array.from({ length: 30 }, () =>
      world.stranger.get('/v1/auth/whoami', { headers: { 'x-forwarded-for': '203.0.113.77' } }),
    ),
  )
  const refused = replies.filter(({ status }) => status === 429)
  const spread = Math.max(...replies.map(whenMs)) - Math.min(...replies.map(whenMs))
  if (spread < 900) assert.equal(refused.length, 10)
  for (const { body, headers } of refused)
    assert.deepEqual(
      [body.error.code, body.error.policy, headers['x-ratelimit-limit']],
      ['RATE_LIMITED', 'address', '20'],
    )
  const other = await world.stranger.get('/v1/auth/whoami', { headers: { 'x-forwarded-for': '203.0.113.78' } })
  assert.equal(other.status, 401)
})

test('the operator raises the limit of a key', async () => {
  const { client } = await world.account()
  const { body: me } = await client.get('/v1/auth/whoami')
  const raised = await world.operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: 500 })
  assert.equal(raised.body.rate_limit_per_second, 500)
  await eventually(
    async () => (await client.get('/v1/auth/whoami')).headers['x-ratelimit-limit'] === '500',
    'the new limit',
  )
  assert.equal(
    (await world.operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: 0 })).status,
    422,
  )
  const reset = await world.operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: null })
  assert.equal(reset.body.rate_limit_per_second, null)
  await eventually(
    async () => (await client.get('/v1/auth/whoami')).headers['x-ratelimit-limit'] === '100',
    'the default',
  )
})

test('tokens count on their key, and what there is not counts too', async () => {
  const { client } = await world.account()
  const { body: me } = await client.get('/v1/auth/whoami')
  const { body: token } = await client.post('/v1/auth/token')
  await world.operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: 10 })
  await eventually(
    async () => (await client.get('/v1/auth/whoami')).headers['x-ratelimit-limit'] === '10',
    'the new limit',
  )
  const holder = world.stranger.as(token.access_token)
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? client : holder).get('/v1/nothing')),
  )
  const spread = Math.max(...replies.map(whenMs)) - Math.min(...replies.map(whenMs))
  const counts = [404, 429].map((wanted) => replies.filter(({ status }) => status === wanted).length)
  assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), 40, 'a limit is told before a path that does not exist')
  if (spread < 900) assert.ok((counts[0] ?? 0) <= 10, `${counts[0]} were admitted`)
})

/** When the server answered, to the millisecond, from the id it gave the request. */
function whenMs({ headers }: Reply): number {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  let ms = 0
  for (const char of (headers['x-request-id'] ?? '').slice(4, 14)) ms = ms * 32 + alphabet.indexOf(char)
  return ms
}
