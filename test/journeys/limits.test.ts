// SPDX-License-Identifier: Apache-2.0
// Rate limits as customers meet them: exact, announced on every response, and the same wherever they ask.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Reply } from '../client.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld({ PAMOJA_RATE_LIMITS: 'on', PAMOJA_TRUSTED_PROXIES: ['127.0.0.0/8', '::1'] })
})
after(() => world.stop())

test('a key makes exactly as many requests in a second as it may', async () => {
  const { client } = await world.account()
  const sinceSeconds = Math.floor(world.app.clock.nowMs() / 1_000)
  const { replies, heard, tookMs } = await atOnce(130, () => client.get('/v1/auth/whoami'))
  const [admitted, refused] = [
    replies.filter(({ status }) => status === 200),
    replies.filter(({ status }) => status === 429),
  ]
  neverMore(heard, 200, 100)
  if (tookMs < windowMs) {
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
  assert.ok(Number(replies[0]?.headers['x-ratelimit-reset']) >= sinceSeconds)
  assert.match(replies[0]?.headers['ratelimit-policy'] ?? '', /^"key";q=100;w=1, "account";q=500;w=1$/)
  assert.match(replies[0]?.headers.ratelimit ?? '', /^"key";r=\d+;t=1, "account";r=\d+;t=1$/)
  await eventually(async () => (await client.get('/v1/auth/whoami')).status === 200, 'the window to pass')
})

test('the keys of an account make 500 requests in a second together, however many they are', async () => {
  const { client } = await world.account()
  const made = await Promise.all(Array.from({ length: 8 }, (_, i) => client.post('/v1/api-keys', { name: `k${i}` })))
  const keys = made.map(({ body }) => world.stranger.as(body.key))
  const { heard, replies } = await atOnce(640, (i) => (keys[i % keys.length] ?? client).get('/v1/auth/whoami'))
  neverMore(heard, 200, 500)
  const refused = replies.find(({ body }) => body.error?.policy === 'account')
  if (heard.every(({ afterMs }) => afterMs < windowMs)) assert.ok(refused)
  if (refused)
    assert.deepEqual([refused.status, refused.body.error.code, refused.body.error.limit], [429, 'RATE_LIMITED', 500])
})

test('calls of the call centre count on the plan’s limit of voice, and what agents do at their desks does not', async () => {
  const ada = await world.account({ balance: 100, plan: 'free' })
  const [from, to] = ['+254700222001', '+254711000002']
  const endpoint = { type: 'phone', number: '+254711000101' }
  for (let i = 0; i < 4; i++) {
    const { status, text } = await ada.client.post('/v1/voice/agent/login', { agent_id: 'amina', endpoint })
    assert.equal(status, 200, text)
  }
  assert.equal((await ada.client.post('/v1/voice/call', { from, to })).status, 201)
  const conference = { name: 'All', from, participants: [to] }
  assert.equal((await ada.client.post('/v1/voice/conference', conference)).status, 201)
  const { status, body } = await ada.client.post('/v1/voice/call', { from, to })
  assert.deepEqual([status, body.error.code, body.error.policy], [429, 'RATE_LIMITED', 'plan-voice'])
})

test('a plan limits what starts work, by area and minute; reading is free', async () => {
  const ada = await world.account({ balance: 100, plan: 'free' })
  const replies: Reply[] = []
  const sinceMs = performance.now()
  for (let i = 0; i < 12; i++) replies.push(await ada.client.post('/v1/notes', { text: 'x' }))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [...Array(10).fill(200), 429, 429],
  )
  const [last] = replies.slice(-1)
  assert.equal(last?.body.error.code, 'RATE_LIMITED')
  assert.deepEqual([last?.body.error.limit, last?.body.error.window, last?.body.error.policy], [10, 60, 'plan-sms'])
  assert.equal(last?.headers['x-ratelimit-limit'], '10', 'the refusing limit is the one told')
  const [waitS, tookS] = [Number(last?.headers['retry-after']), (performance.now() - sinceMs) / 1_000]
  assert.ok(waitS <= 60 && waitS >= 60 - tookS, `a minute after the first, ${tookS} s ago, is not in ${waitS} s`)
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
  const { status, body: changed } = await world.operator.patch(`/v1/operator/accounts/${ada.id}`, { limits: null })
  assert.deepEqual([status, changed.limits], [200, {}])
  await eventually(async () => {
    const { body: now } = await ada.client.get('/v1/limits')
    return now.limits.some((one: { policy: string; limit: number }) => one.policy === 'plan-sms' && one.limit === 10)
  }, 'the plan’s limit')
})

test('billing counts on the limit of payments', async () => {
  const { client } = await world.account({ plan: 'free' })
  const plan = { name: 'Duka', amount: 500, currency: 'KES', interval: 'month' }
  const made = await client.post('/v1/billing/plans', plan)
  assert.equal(made.status, 201, made.text)
  assert.match(made.headers['ratelimit-policy'] ?? '', /"plan-payments";q=5;w=60/)
  assert.equal(made.headers['x-ratelimit-remaining'], '4')
  const changed = await client.patch(`/v1/billing/plans/${made.body.plan_id}`, { active: false })
  assert.deepEqual([changed.status, changed.headers['x-ratelimit-remaining']], [200, '3'], changed.text)
})

test('strangers share a small limit per address', async () => {
  const { replies, heard, tookMs } = await atOnce(30, () =>
    world.stranger.get('/v1/auth/whoami', { headers: { 'x-forwarded-for': '203.0.113.77' } }),
  )
  const refused = replies.filter(({ status }) => status === 429)
  neverMore(heard, 401, 20)
  if (tookMs < windowMs) assert.equal(refused.length, 10)
  for (const { body, headers } of refused)
    assert.deepEqual(
      [body.error.code, body.error.policy, headers['x-ratelimit-limit']],
      ['RATE_LIMITED', 'address', '20'],
    )
  const other = await world.stranger.get('/v1/auth/whoami', { headers: { 'x-forwarded-for': '203.0.113.78' } })
  assert.equal(other.status, 401)
})

test('pages that need no credentials are limited by address as their headers say, and health is told always', async () => {
  const pages = await Promise.all(Array.from({ length: 60 }, () => world.stranger.get('/')))
  const refused = pages.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0 && pages.some(({ status }) => status === 302))
  for (const { headers, body } of refused)
    assert.deepEqual(
      [headers['x-ratelimit-limit'], body.error.code, body.error.policy],
      ['20', 'RATE_LIMITED', 'address'],
    )
  const files = ['/docs', '/docs/style.css', '/docs/docs.js', '/docs/icon.svg']
  const read = await Promise.all(Array.from({ length: 60 }, (_, i) => world.stranger.get(files[i % 4] ?? '')))
  assert.ok(
    read.every(({ status }) => status === 200),
    'whoever opens many pages of the documentation sees them whole',
  )
  const probes = await Promise.all(Array.from({ length: 40 }, () => world.stranger.get('/healthz')))
  assert.ok(probes.every(({ status }) => status === 200))
  const links = await Promise.all(Array.from({ length: 120 }, () => world.stranger.get('/r/nothing')))
  assert.ok(links.some(({ status }) => status === 429))
  assert.ok(links.every(({ status }) => status === 404 || status === 429))
})

test('whoever tries keys in the form of OAuth 2 is limited like any stranger', async () => {
  const form = (ip: string, secret: string) => ({
    raw: `client_secret=${secret}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': ip },
  })
  const { heard, replies, tookMs } = await atOnce(30, () =>
    world.stranger.request('POST', '/v1/auth/token', form('203.0.113.79', 'nonsense')),
  )
  neverMore(heard, 401, 20)
  const refused = replies.filter(({ status }) => status === 429)
  if (tookMs < windowMs) assert.equal(refused.length, 10)
  for (const { body } of refused) assert.deepEqual([body.error.code, body.error.policy], ['RATE_LIMITED', 'address'])
  const { key } = await world.account()
  const good = await atOnce(30, () => world.stranger.request('POST', '/v1/auth/token', form('203.0.113.80', key)))
  for (const { status, text } of good.replies) assert.equal(status, 200, text)
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
  const { heard } = await atOnce(40, (i) => (i % 2 === 0 ? client : holder).get('/v1/nothing'))
  for (const { status } of heard)
    assert.ok(status === 404 || status === 429, 'a limit is told before a path that does not exist')
  neverMore(heard, 404, 10)
})

/** That of keys and addresses. */
const windowMs = 1_000

interface Heard {
  status: number
  /** Since the first was asked. */
  afterMs: number
}

/** Asks so often at once; what was answered, and when. */
async function atOnce(times: number, ask: (i: number) => Promise<Reply>) {
  const sinceMs = performance.now()
  const heard: Heard[] = []
  const replies = await Promise.all(
    Array.from({ length: times }, async (_, i) => {
      const reply = await ask(i)
      heard.push({ status: reply.status, afterMs: performance.now() - sinceMs })
      return reply
    }),
  )
  return { replies, heard, tookMs: performance.now() - sinceMs }
}

/**
 * Whatever was heard by a moment was admitted before it, so there are never more than the windows until then may hold; a
 * machine that takes longer than a window over all of them may rightly admit more.
 */
function neverMore(heard: readonly Heard[], admittedAs: number, limit: number): void {
  for (const [n, { afterMs }] of heard.filter(({ status }) => status === admittedAs).entries())
    assert.ok(n < limit * (Math.floor(afterMs / windowMs) + 1), `${n + 1} within ${Math.round(afterMs)} ms`)
}
