// SPDX-License-Identifier: Apache-2.0
// Members sign in to the console, and their sessions act as their account through the ordinary API: what a browser of
// another site sends is refused, guessing is slowed down, and a session ends when it should.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { credentials } from '../../src/commands/welcome.ts'
import { hourMs } from '../../src/kernel/time.ts'
import { statement } from '../../src/platform/db.ts'
import { type Reply, refusal } from '../client.ts'
import { startWorld, tenantOf, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld({ PAMOJA_TRUSTED_PROXIES: ['127.0.0.0/8', '::1'] })
})
after(() => world.stop())

interface Signed {
  cookie: string
  csrf: string
}

function given(): { url: string; email: string; password: string } {
  assert.ok(world.credentials.console)
  return world.credentials.console
}

const login = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  world.stranger.post('/console/api/login', body, { headers })

async function signedIn(): Promise<Signed> {
  const { email, password } = given()
  const { status, headers, body } = await login({ email, password })
  assert.equal(status, 200)
  return { cookie: headers['set-cookie']?.split(';')[0] ?? '', csrf: body.csrf }
}

const send = { to: '+254711000001', from: 'PAMOJA', message: 'Habari' }

test('the first member signs in with what credentials.json says, and is told who they are', async () => {
  const { url, email, password } = given()
  assert.equal(url, `${world.node.url}/console`)
  const { status, headers, body } = await login({ email: email.toUpperCase(), password })
  assert.equal(status, 200)
  assert.match(
    headers['set-cookie'] ?? '',
    /^__Host-pamoja=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
  )
  assert.equal(body.member.email, email)
  assert.equal(body.member.role, 'owner')
  assert.equal(body.account.id, world.credentials.account_id)
  const cookie = headers['set-cookie']?.split(';')[0] ?? ''
  const again = await world.stranger.get('/console/api/session', { headers: { cookie } })
  assert.deepEqual(again.body, body)
})

test('a later start keeps the password', async () => {
  const { cookie } = await signedIn()
  assert.deepEqual((await credentials(world.node)).console, given())
  assert.equal((await world.stranger.get('/console/api/session', { headers: { cookie } })).status, 200)
})

test('a session sends texts as its account, in the environment that it names', async () => {
  const { cookie, csrf } = await signedIn()
  const headers = { cookie, 'x-pamoja-csrf': csrf, origin: world.node.url }
  const sent = await world.stranger.post('/v1/sms/send', send, { headers })
  assert.equal(sent.status, 200)
  assert.equal(sent.headers['pamoja-environment'], 'test')
  const read = await world.demo.get(`/v1/sms/${sent.body.message_id}`)
  assert.equal(read.status, 200)
  const live = await world.stranger.get('/v1/sms', { headers: { cookie, 'pamoja-environment': 'live' } })
  assert.equal(live.headers['pamoja-environment'], 'live')
  assert.deepEqual(live.body.data, [])
  assert.deepEqual(
    await refusal(world.stranger.get('/v1/sms', { headers: { cookie, 'pamoja-environment': 'moon' } })),
    [400, 'INVALID_REQUEST'],
  )
  assert.deepEqual(
    await refusal(world.stranger.get('/v1/sandbox/clock', { headers: { cookie, 'pamoja-environment': 'live' } })),
    [403, 'FORBIDDEN'],
  )
})

test('what a session changes is in the audit log and the request log under the name of the member', async () => {
  const { cookie, csrf } = await signedIn()
  const headers = { cookie, 'x-pamoja-csrf': csrf }
  const made = await world.stranger.post('/v1/api-keys', { name: 'From the console' }, { headers })
  assert.equal(made.status, 201)
  const { body } = await world.demo.get('/v1/audit-log?limit=50')
  const entry = body.data.find(
    ({ target }: { target: string }) => target === made.body.key_id || target === made.body.id,
  )
  assert.match(JSON.stringify(entry), /mbr_/)
  const makerOf = async (made: { headers: Readonly<Record<string, string | undefined>> }) => {
    const { body: logged } = await world.demo.get(`/v1/logs/${made.headers['x-request-id']}`)
    return [logged.key_id, logged.key_name, logged.member]
  }
  const member = { id: entry.actor.id, name: given().email }
  assert.deepEqual(await makerOf(made), [null, null, member])
  const byKey = await world.stranger.as(made.body.key).get('/v1/auth/whoami')
  assert.deepEqual(await makerOf(byKey), [byKey.body.key_id, 'From the console', member])
  const first = await world.demo.get('/v1/auth/whoami')
  assert.deepEqual((await makerOf(first)).slice(2), [null])
})

// As keys have it that an operator made before keys were held to members.
const holdKeysTo = statement.home<{ account: string; member: string }, object>(
  'test.hold_keys_to',
  `update accounts.api_keys set member_id = (select id from accounts.members where email = $member) where account_id = $account`,
)

test('the request log names nobody of another account', async () => {
  const other = await world.account()
  const { account } = tenantOf(other)
  await world.app.db.query(holdKeysTo, { account, member: given().email })
  const asked = await other.client.get('/v1/auth/whoami')
  const { body } = await other.client.get(`/v1/logs/${asked.headers['x-request-id']}`)
  assert.deepEqual([body.key_id, body.member.name], [asked.body.key_id, null])
})

test('a change needs the csrf header and a page of this origin; reading needs neither', async () => {
  const { cookie, csrf } = await signedIn()
  const post = (headers: Record<string, string>) =>
    refusal(world.stranger.post('/v1/sms/send', send, { headers: { cookie, ...headers } }))
  assert.deepEqual(await post({}), [403, 'FORBIDDEN'])
  assert.deepEqual(await post({ 'x-pamoja-csrf': 'x'.repeat(csrf.length) }), [403, 'FORBIDDEN'])
  assert.deepEqual(await post({ 'x-pamoja-csrf': csrf, origin: 'https://evil.example' }), [403, 'FORBIDDEN'])
  assert.deepEqual(await post({ 'x-pamoja-csrf': csrf, origin: 'null' }), [403, 'FORBIDDEN'])
  assert.deepEqual(await post({ 'x-pamoja-csrf': csrf, 'sec-fetch-site': 'cross-site' }), [403, 'FORBIDDEN'])
  assert.deepEqual(await post({ 'x-pamoja-csrf': csrf, 'sec-fetch-site': 'same-site' }), [403, 'FORBIDDEN'])
  assert.equal((await world.stranger.get('/v1/sms', { headers: { cookie } })).status, 200)
  assert.deepEqual(await refusal(world.stranger.post('/console/api/logout', undefined, { headers: { cookie } })), [
    403,
    'FORBIDDEN',
  ])
})

test('signing in takes JSON of this origin only', async () => {
  const { email, password } = given()
  assert.deepEqual(await refusal(login({ email, password }, { origin: 'https://evil.example' })), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(login({ email, password }, { 'content-type': 'text/plain' })), [
    400,
    'INVALID_REQUEST',
  ])
  for (const wrong of [{}, { email: 3, password }, { email }, { email, password: '' }, { email: 'ada', password }])
    assert.equal((await login(wrong)).status, 422)
})

test('an address that nobody has and a wrong password are answered alike', async () => {
  const unknown = await login({ email: 'nobody@example.com', password: 'guess' })
  const wrong = await login({ email: given().email, password: 'guess' })
  for (const { status } of [unknown, wrong]) assert.equal(status, 401)
  const shown = ({ body }: Reply): object => ({
    code: body.error.code,
    message: body.error.message,
    details: body.error.details,
  })
  assert.deepEqual(shown(unknown), shown(wrong))
})

test('whoever fails five times waits, even with the right password, and longer each time', async () => {
  const email = 'guessed@example.com'
  for (let i = 0; i < 5; i++) assert.equal((await login({ email, password: `guess ${i}` })).status, 401)
  const locked = await login({ email, password: 'guess 5' })
  assert.equal(locked.status, 429)
  assert.equal(locked.body.error.code, 'RATE_LIMITED')
  const first = Number(locked.headers['retry-after'])
  assert.ok(first > 20 && first <= 30, `${first} s`)
  await world.app.db.query(passLocks, {})
  assert.equal((await login({ email, password: 'guess 6' })).status, 401)
  const longer = Number((await login({ email, password: 'guess 7' })).headers['retry-after'])
  assert.ok(longer > 50 && longer <= 60, `${longer} s`)
  // Nobody else is kept out.
  await signedIn()
})

test('guesses from many addresses of one IPv6 network are counted together', async () => {
  const guess = (i: number) =>
    login({ email: 'network@example.com', password: 'guess' }, { 'x-forwarded-for': `2001:db8:1:2::${i + 1}` })
  for (let i = 0; i < 5; i++) assert.equal((await guess(i)).status, 401)
  assert.equal((await guess(5)).status, 429)
})

test('guesses from everywhere are counted by member too, and lock nobody out of where they are signed in', async () => {
  const { email } = given()
  const cookieOf = await signedIn()
  const from = (password: string, ip: string) => login({ email, password }, { 'x-forwarded-for': ip })
  assert.equal((await from('guess', '203.0.113.1')).status, 401)
  await world.app.db.query(manyFailures, { hash: createHash('sha256').update(email).digest(), failures: 49 })
  assert.equal((await from('guess', '203.0.113.2')).status, 401)
  const locked = await from('guess', '203.0.113.3')
  assert.deepEqual([locked.status, locked.body.error.code], [429, 'RATE_LIMITED'])
  assert.equal((await from(given().password, '203.0.113.4')).status, 429)
  assert.ok(cookieOf.cookie !== '' && (await signedIn()).cookie !== '')
  await world.app.db.query(passLocks, {})
  assert.equal((await from(given().password, '203.0.113.4')).status, 200)
})

test('many guesses at once are counted like guesses one after another', async () => {
  const tries = Array.from({ length: 12 }, (_, i) => login({ email: 'crowd@example.com', password: `guess ${i}` }))
  const statuses = (await Promise.all(tries)).map(({ status }) => status).sort()
  assert.deepEqual(statuses, [...Array(5).fill(401), ...Array(7).fill(429)])
})

test('signing out ends the session at once', async () => {
  const { cookie, csrf } = await signedIn()
  assert.equal((await world.stranger.get('/v1/sms', { headers: { cookie } })).status, 200)
  const out = await world.stranger.post('/console/api/logout', undefined, {
    headers: { cookie, 'x-pamoja-csrf': csrf },
  })
  assert.equal(out.status, 204)
  assert.match(out.headers['set-cookie'] ?? '', /^__Host-pamoja=;.*Max-Age=0$/)
  assert.deepEqual(await refusal(world.stranger.get('/console/api/session', { headers: { cookie } })), [
    401,
    'UNAUTHORIZED',
  ])
})

test('a session ends after twelve hours without use, and after thirty days however much it is used', async () => {
  for (const [idle, age, status] of [
    [11, 11, 200],
    [12, 12, 401],
    [1, 30 * 24 - 1, 200],
    [1, 30 * 24, 401],
  ] as const) {
    const { cookie } = await signedIn()
    const now = Date.now()
    await world.app.db.query(ageSessions, { seen: new Date(now - idle * hourMs), since: new Date(now - age * hourMs) })
    world.app.authenticator.forget(tenantOf({ id: world.credentials.account_id }).account)
    assert.equal((await world.stranger.get('/v1/sms', { headers: { cookie } })).status, status, `${idle} ${age}`)
    await world.app.db.query(noSessions, {})
  }
})

test('keys and payouts take a password that was given within ten minutes', async () => {
  const { cookie, csrf } = await signedIn()
  const headers = { cookie, 'x-pamoja-csrf': csrf }
  const before = new Date(Date.now() - 11 * 60_000)
  await world.app.db.query(ageSessions, { seen: before, since: before })
  world.app.authenticator.forget(tenantOf({ id: world.credentials.account_id }).account)
  const refused = await world.stranger.post('/v1/api-keys', { name: 'Late' }, { headers })
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error.confirm, 'password')
  assert.deepEqual(await refusal(world.stranger.post('/v1/payouts', {}, { headers })), [403, 'FORBIDDEN'])
  assert.equal((await world.stranger.get('/v1/api-keys', { headers })).status, 200)
  assert.equal((await world.stranger.post('/v1/sms/send', send, { headers })).status, 200)
})

test('members see their sessions and end one of them; a session makes no tokens', async () => {
  const [here, there] = [await signedIn(), await signedIn()]
  const headers = { cookie: here.cookie, 'x-pamoja-csrf': here.csrf }
  const { body } = await world.stranger.get('/console/api/sessions', { headers })
  const [other, current] = body.data
  assert.ok(current.is_current && !other.is_current)
  assert.equal((await world.stranger.delete(`/console/api/sessions/${other.id}`, { headers })).status, 204)
  assert.equal((await world.stranger.delete(`/console/api/sessions/${other.id}`, { headers })).status, 404)
  assert.equal((await world.stranger.get('/console/api/session', { headers: { cookie: there.cookie } })).status, 401)
  assert.deepEqual(await refusal(world.stranger.post('/v1/auth/token', {}, { headers })), [403, 'FORBIDDEN'])
})

const passLocks = statement.home<Record<never, never>, object>(
  'test.pass_locks',
  `update accounts.failed_sign_ins set locked_until = now() - interval '1 minute'`,
)
const manyFailures = statement.home<{ hash: Buffer; failures: number }, object>(
  'test.many_failures',
  'update accounts.failed_sign_ins set failures = $failures where hash = $hash',
)
const ageSessions = statement.home<{ seen: Date; since: Date }, object>(
  'test.age_sessions',
  'update accounts.sessions set seen_at = $seen, signed_in_at = $since',
)
const noSessions = statement.home<Record<never, never>, object>('test.no_sessions', 'delete from accounts.sessions')
