// SPDX-License-Identifier: Apache-2.0
// A team: somebody is invited, joins by the link, does what the role allows and no more, and is kept out again; an account
// keeps an owner. A second factor is asked for once it is in force.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { totpOf } from '../../src/kernel/totp.ts'
import { type Reply, refusal } from '../client.ts'
import { startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Signed {
  headers: Record<string, string>
  body: { member: { id: string; role: string; operator: boolean; totp_enabled: boolean } }
}

const team = '/v1/team/members'
const password = 'a long password'
const login = (body: object): Promise<Reply> => world.stranger.post('/console/api/login', body)

function given(): { email: string; password: string } {
  assert.ok(world.credentials.console)
  return { email: world.credentials.console.email, password: world.credentials.console.password }
}

function signed({ status, headers, body, text }: Reply): Signed {
  assert.equal(status, 200, text)
  return { headers: { cookie: headers['set-cookie']?.split(';')[0] ?? '', 'x-pamoja-csrf': body.csrf }, body }
}

async function invited(email: string, role: string): Promise<{ id: string; secret: string }> {
  const { status, body, text } = await world.demo.post(team, { email, role })
  assert.equal(status, 201, text)
  return { id: body.id, secret: body.invite_url.split('#')[1] }
}

const join = (invitation: string, word = password): Promise<Reply> =>
  world.stranger.post('/console/api/invite', { invitation, password: word })

test('who was invited chooses a password, and may do what the role allows', async () => {
  const { id, secret } = await invited('viewer@example.com', 'viewer')
  assert.equal((await world.demo.get(`${team}/${id}`)).body.status, 'invited')
  assert.deepEqual(await refusal(join(secret, 'short')), [422, 'VALIDATION_ERROR'])
  const { headers, body } = signed(await join(secret))
  assert.deepEqual([body.member.id, body.member.role, body.member.operator], [id, 'viewer', false])
  assert.equal((await world.stranger.get('/v1/sms', { headers })).status, 200)
  const text = { to: '+254711000001', from: 'PAMOJA', message: 'Habari' }
  assert.deepEqual(await refusal(world.stranger.post('/v1/sms/send', text, { headers })), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(world.stranger.get('/v1/operator/system', { headers })), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(join(secret)), [404, 'NOT_FOUND'])
  assert.deepEqual(await refusal(join('x'.repeat(43))), [404, 'NOT_FOUND'])
  assert.equal((await world.demo.get(`${team}/${id}`)).body.status, 'active')
})

test('an address is one person’s, and what is no role or address is refused', async () => {
  await invited('once@example.com', 'developer')
  for (const email of ['once@example.com', 'ONCE@example.com', given().email])
    assert.deepEqual(await refusal(world.demo.post(team, { email, role: 'viewer' })), [409, 'CONFLICT'])
  for (const body of [{}, { email: 'ada', role: 'viewer' }, { email: 'a@example.com', role: 'king' }])
    assert.deepEqual(await refusal(world.demo.post(team, body)), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(world.demo.get(`${team}/mbr_none`)), [404, 'NOT_FOUND'])
  const other = await world.account()
  const { body } = await world.demo.get(team)
  assert.deepEqual(await refusal(other.client.get(`${team}/${body.data[0].id}`)), [404, 'NOT_FOUND'])
})

test('who is disabled or removed is signed out at once', async () => {
  const { id, secret } = await invited('leaving@example.com', 'developer')
  const { headers } = signed(await join(secret))
  assert.equal((await world.demo.patch(`${team}/${id}`, { status: 'disabled' })).body.status, 'disabled')
  assert.equal((await world.stranger.get('/console/api/session', { headers })).status, 401)
  assert.equal((await login({ email: 'leaving@example.com', password })).status, 401)
  await world.demo.patch(`${team}/${id}`, { status: 'active' })
  const again = signed(await login({ email: 'leaving@example.com', password }))
  assert.equal((await world.demo.delete(`${team}/${id}`)).body.deleted, true)
  assert.equal((await world.stranger.get('/console/api/session', { headers: again.headers })).status, 401)
})

test('an account keeps an owner, whom only owners change', async () => {
  const owner = signed(await login(given()))
  const { id } = owner.body.member
  assert.deepEqual(await refusal(world.demo.patch(`${team}/${id}`, { role: 'admin' })), [409, 'CONFLICT'])
  assert.deepEqual(await refusal(world.demo.delete(`${team}/${id}`)), [409, 'CONFLICT'])
  const { secret } = await invited('admin@example.com', 'admin')
  const admin = signed(await join(secret))
  const asAdmin = { headers: admin.headers }
  assert.deepEqual(await refusal(world.stranger.patch(`${team}/${id}`, { name: 'X' }, asAdmin)), [403, 'FORBIDDEN'])
  const wanted = { email: 'crown@example.com', role: 'owner' }
  assert.deepEqual(await refusal(world.stranger.post(team, wanted, asAdmin)), [403, 'FORBIDDEN'])
  assert.equal((await world.stranger.post(team, wanted, { headers: owner.headers })).status, 201)
})

test('the owner of the first account runs the installation from the console', async () => {
  const { headers, body } = signed(await login(given()))
  assert.equal(body.member.operator, true)
  assert.equal((await world.stranger.get('/v1/operator/system', { headers })).status, 200)
})

test('a second factor is asked for once it works; codes and recovery codes are good once', async () => {
  const { secret: invitation } = await invited('careful@example.com', 'developer')
  const { headers } = signed(await join(invitation))
  const begun = await world.stranger.post('/console/api/totp', {}, { headers })
  assert.match(begun.body.uri, /^otpauth:\/\/totp\/Pamoja:careful%40example\.com\?secret=[A-Z2-7]{32}&/)
  const secret = fromBase32(begun.body.secret)
  const step = () => Math.floor(Date.now() / 30_000)
  const confirm = (code: string) => world.stranger.post('/console/api/totp/confirm', { code }, { headers })
  assert.deepEqual(await refusal(confirm('000000')), [422, 'VALIDATION_ERROR'])
  const who = { email: 'careful@example.com', password }
  signed(await login(who))
  const code = totpOf(secret, step())
  const { body } = await confirm(code)
  assert.equal(body.recovery_codes.length, 10)
  const missing = await login(who)
  assert.deepEqual([missing.status, missing.body.error.confirm], [401, 'totp'])
  assert.equal((await login({ ...who, totp: code })).status, 401)
  assert.equal((await login({ ...who, totp: 'nonsense' })).status, 401)
  signed(await login({ ...who, totp: body.recovery_codes[0] }))
  assert.equal((await login({ ...who, totp: body.recovery_codes[0] })).status, 401)
  signed(await login({ ...who, totp: totpOf(secret, step() + 1) }))
  assert.equal((await world.stranger.delete('/console/api/totp', { headers })).status, 204)
  signed(await login(who))
})

function fromBase32(typed: string): Buffer {
  const bits = [...typed].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)))
}
