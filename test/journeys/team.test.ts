// SPDX-License-Identifier: Apache-2.0
// A team: somebody is invited, joins by the link, does what the role allows and no more, and is kept out again; an account
// keeps an owner. A second factor is asked for once it is in force.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { totpOf } from '../../src/kernel/totp.ts'
import { statement } from '../../src/platform/db.ts'
import { type Reply, refusal } from '../client.ts'
import { eventually, startWorld, type World } from '../world.ts'

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
  const { body: told } = await world.stranger.post('/console/api/invite', { invitation: secret })
  const { name: account } = (await world.demo.get('/v1/account')).body
  assert.deepEqual(told, { email: 'viewer@example.com', role: 'viewer', account })
  const { headers, body } = signed(await join(secret))
  assert.deepEqual([body.member.id, body.member.role, body.member.operator], [id, 'viewer', false])
  assert.equal((await world.stranger.get('/v1/sms', { headers })).status, 200)
  const text = { to: '+254711000001', from: 'PAMOJA', message: 'Habari' }
  assert.deepEqual(await refusal(world.stranger.post('/v1/sms/send', text, { headers })), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(world.stranger.get('/v1/operator/system', { headers })), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(join(secret)), [404, 'NOT_FOUND'])
  assert.deepEqual(await refusal(join('x'.repeat(43))), [404, 'NOT_FOUND'])
  const joined = (await world.demo.get(`${team}/${id}`)).body
  assert.deepEqual([joined.status, joined.last_login_at === null], ['active', false])
})

test('an address is verified by the link that is mailed to it, not by the one that the inviter sees; either works once', async () => {
  const mailed = async (email: string): Promise<string> => {
    const box = `/v1/sandbox/email/messages?to=${encodeURIComponent(email)}`
    const mail = await eventually(async () => (await world.demo.get(box)).body.data[0], 'the invitation')
    const { body } = await world.demo.get(`/v1/sandbox/email/messages/${mail.id}`)
    return /\/console\/join#([\w-]{43})"/.exec(body.html)?.[1] ?? ''
  }
  const verified = async (id: string) => (await world.demo.get(`${team}/${id}`)).body.email_verified
  const one = await invited('by-mail@example.com', 'viewer')
  const secret = await mailed('by-mail@example.com')
  assert.notEqual(secret, one.secret)
  signed(await join(secret))
  assert.equal(await verified(one.id), true)
  assert.deepEqual(await refusal(join(one.secret)), [404, 'NOT_FOUND'])
  const other = await invited('by-hand@example.com', 'viewer')
  const late = await mailed('by-hand@example.com')
  signed(await join(other.secret))
  assert.equal(await verified(other.id), false)
  assert.deepEqual(await refusal(join(late)), [404, 'NOT_FOUND'])
})

test('no log of requests has the link of an invitation, by which whoever reads it would take the role', async () => {
  const { id, secret } = await invited('logged@example.com', 'admin')
  const line = await eventually(async () => {
    const { body } = await world.demo.get('/v1/logs?limit=100')
    return body.data.find(({ response_body }: { response_body: string | null }) => response_body?.includes(id))
  }, 'the line of the invitation')
  assert.match(line.response_body, /"invite_url":"\[redacted\]"/)
  assert.ok(!JSON.stringify(line).includes(secret))
})

test('a viewer reads without personal data, in lists, records, tables, logs and timelines', async () => {
  const text = { to: '+254711000077', from: 'PAMOJA', message: 'Habari Wanjiku', reference: 'order of Wanjiku' }
  const { body: sent } = await world.demo.post('/v1/sms/send', text)
  const pay = { amount: 150, currency: 'KES', phone: '+254711000077', description: 'For Wanjiku' }
  const { body: payment } = await world.demo.post('/v1/payments/mobile/initiate', pay)
  const customer = { name: 'Wanjiku', email: 'wanjiku@example.com', phone: '+254711000077' }
  const items = [{ description: 'Tea', quantity: 1, unit_amount: 50 }]
  const { body: invoice } = await world.demo.post('/v1/billing/invoices', {
    ...{ customer, items, currency: 'KES', send: true, notes: 'Thank you, Wanjiku' },
  })
  await world.demo.get('/v1/sms/lookup/%2B254711000077')
  const dialled = { phone: '+254711000077', shortcode: '*384*1#', message: 'A loan, Wanjiku?', session_id: 'masked-1' }
  assert.equal((await world.demo.post('/v1/ussd/send', dialled)).status, 200)
  const chat = { from: '+254711000077', type: 'text', text: { body: 'Wanjiku here' } }
  await world.demo.post('/v1/sandbox/messenger/inbound', chat)
  const note = 'for Wanjiku'
  assert.equal((await world.demo.post('/v1/sms/opt-outs', { phone: '+254711000077', reason: note })).status, 201)
  const blocked = { kind: 'phone', value: '+254711000077', reason: note }
  assert.equal((await world.demo.post('/v1/identity/blocklist', blocked)).status, 201)
  const linked = await world.demo.post('/v1/sms/send', {
    ...{ to: '+254711000078', from: 'PAMOJA', message: 'https://example.com/Wanjiku', shorten_urls: true },
  })
  const { body: link } = await world.demo.post('/v1/payments/links', {
    amount: 50,
    currency: 'KES',
    description: 'Tea',
  })
  const { secret } = await invited('masked@example.com', 'viewer')
  const { headers } = signed(await join(secret))
  const paths = [
    ...['/v1/sms', `/v1/sms/${sent.message_id}`, `/v1/sms/${sent.message_id}/timeline`, '/v1/sms?format=csv'],
    ...['/v1/payments/transactions', `/v1/payments/${payment.payment_id}`, '/v1/events', '/v1/logs', '/v1/audit-log'],
    ...[`/v1/payments/${payment.payment_id}/timeline`, `/v1/events?resource_id=${sent.message_id}`],
    ...['/v1/billing/customers', '/v1/billing/invoices', `/v1/billing/invoices/${invoice.invoice_id}`],
    ...[`/v1/billing/customers/${invoice.customer.customer_id}`, '/v1/billing/invoices?format=csv'],
    ...['/v1/sms/opt-outs', '/v1/identity/blocklist', `/v1/sms/${linked.body.message_id}`, '/v1/payments/links'],
    ...['/v1/ussd/sessions', '/v1/ussd/sessions/masked-1', '/v1/ussd/analytics', '/v1/messenger/messages'],
  ]
  const page = new URL(invoice.hosted_url).pathname
  for (const path of paths) {
    const read = await world.stranger.get(path, { headers })
    assert.equal(read.status, 200, `${path} ${read.text}`)
    assert.doesNotMatch(read.text, /Wanjiku|711000077/i, path)
    assert.ok(!read.text.includes(page), `${path} has the link to the page of the invoice`)
    assert.ok(!read.text.includes(new URL(link.url).pathname), `${path} has the page of the payment link`)
    assert.doesNotMatch(read.text, /\/l\/[0-9a-z]{6}/, `${path} has a short link`)
  }
  const { body } = await world.stranger.get(`/v1/sms/${sent.message_id}`, { headers })
  assert.deepEqual([body.message_id, body.to, body.from, body.message], [sent.message_id, '+254***77', 'PAMOJA', '***'])
  assert.equal(body.data.cost, sent.cost)
  const { status } = await world.demo.get(`/v1/sms/${sent.message_id}`)
  assert.equal(status, 200)
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
  const made = await world.stranger.post(
    '/v1/webhooks',
    { url: 'https://example.com/hook' },
    { headers: again.headers },
  )
  assert.equal((await world.demo.delete(`${team}/${id}`)).body.deleted, true)
  const { body: logged } = await world.demo.get(`/v1/logs/${made.headers['x-request-id']}`)
  assert.deepEqual([logged.key_id, logged.key_name, logged.member], [null, null, { id, name: null }])
  assert.equal((await world.stranger.get('/console/api/session', { headers: again.headers })).status, 401)
})

test('an account keeps an owner, whom only owners change', async () => {
  const owner = signed(await login(given()))
  const { id } = owner.body.member
  assert.deepEqual(await refusal(world.operator.patch(`${team}/${id}`, { role: 'admin' })), [409, 'CONFLICT'])
  assert.deepEqual(await refusal(world.operator.delete(`${team}/${id}`)), [409, 'CONFLICT'])
  const { secret } = await invited('admin@example.com', 'admin')
  const admin = signed(await join(secret))
  const asAdmin = { headers: admin.headers }
  assert.deepEqual(await refusal(world.stranger.patch(`${team}/${id}`, { name: 'X' }, asAdmin)), [403, 'FORBIDDEN'])
  const wanted = { email: 'crown@example.com', role: 'owner' }
  assert.deepEqual(await refusal(world.stranger.post(team, wanted, asAdmin)), [403, 'FORBIDDEN'])
  assert.equal((await world.stranger.post(team, wanted, { headers: owner.headers })).status, 201)
})

test('a key gives no role that may do more than itself, and no key but an operator’s resets who runs the installation', async () => {
  const asKey = async (scopes: string[]) => {
    const { body } = await world.demo.post('/v1/api-keys', { name: 'Narrow', scopes })
    return world.stranger.as(body.key)
  }
  const ofAgents = ['callcenter:agent', 'conversations:write', 'sms:send', 'payments:request']
  const narrow = await asKey(['team:write', ...ofAgents])
  for (const role of ['owner', 'admin', 'developer', 'finance', 'viewer'])
    assert.deepEqual(
      await refusal(narrow.post(team, { email: `${role}-by-key@example.com`, role })),
      [403, 'FORBIDDEN'],
      role,
    )
  const agent = await narrow.post(team, { email: 'agent-by-key@example.com', role: 'agent' })
  assert.equal(agent.status, 201, agent.text)
  const theirs = `${team}/${agent.body.id}`
  assert.deepEqual(await refusal(narrow.patch(theirs, { role: 'owner' })), [403, 'FORBIDDEN'])
  const { id: developer } = await invited('strong@example.com', 'developer')
  for (const refused of [
    narrow.patch(`${team}/${developer}`, { role: 'agent' }),
    narrow.delete(`${team}/${developer}`),
    narrow.post(`${team}/${developer}/reset`, {}),
  ])
    assert.deepEqual(await refusal(refused), [403, 'FORBIDDEN'])
  const { body: token } = await world.demo.post('/v1/auth/token', {})
  const byToken = world.stranger.as(token.access_token)
  assert.deepEqual(await refusal(byToken.post(team, { email: 't@example.com', role: 'viewer' })), [403, 'FORBIDDEN'])
  const { id } = signed(await login(given())).body.member
  assert.deepEqual(await refusal(world.demo.post(`${team}/${id}/reset`, {})), [403, 'FORBIDDEN'])
  assert.equal((await world.operator.post(`${team}/${id}/reset`, {})).status, 200)
})

/** A member, signed in, with a key that they made. */
async function withKey(email: string, role: string, key: object = {}, environment = 'live') {
  const { id, secret } = await invited(email, role)
  const headers = { ...signed(await join(secret)).headers, 'pamoja-environment': environment }
  const made = await world.stranger.post('/v1/api-keys', { name: 'Theirs', ...key }, { headers })
  assert.equal(made.status, 201, made.text)
  return { id, headers, made, key: world.stranger.as(made.body.key) }
}

test('a key, its children and its successors do no more than the member who made it', async () => {
  const owner = signed(await login(given())).body.member.id
  const { id, headers, made, key } = await withKey('climber@example.com', 'admin')
  assert.equal(made.body.member_id, id)
  const { body: child } = await key.post('/v1/api-keys', { name: 'Child' })
  const { body: next } = await key.post(`/v1/api-keys/${child.id}/rotate`, {})
  const { body: own } = await world.stranger.post(`/v1/api-keys/${child.id}/rotate`, {}, { headers })
  assert.deepEqual([child.member_id, next.member_id, own.member_id], [id, id, id])
  const { id: other } = await invited('second-owner@example.com', 'owner')
  for (const one of [key, world.stranger.as(child.key), world.stranger.as(next.key), world.stranger.as(own.key)])
    for (const refused of [
      one.post(`${team}/${owner}/reset`, {}),
      one.patch(`${team}/${id}`, { role: 'owner' }),
      one.delete(`${team}/${owner}`),
      one.delete(`${team}/${other}`),
      one.post(team, { email: 'crowned@example.com', role: 'owner' }),
      one.get('/v1/operator/system'),
    ])
      assert.deepEqual(await refusal(refused), [403, 'FORBIDDEN'])
  assert.equal((await key.delete(`${team}/${(await invited('gone@example.com', 'viewer')).id}`)).status, 200)
})

test('who runs the installation is changed, disabled and removed by an operator only', async () => {
  const { id } = signed(await login(given())).body.member
  await invited('third-owner@example.com', 'owner')
  for (const refused of [
    world.demo.delete(`${team}/${id}`),
    world.demo.patch(`${team}/${id}`, { status: 'disabled' }),
    world.demo.patch(`${team}/${id}`, { role: 'viewer' }),
  ])
    assert.deepEqual(await refusal(refused), [403, 'FORBIDDEN'])
  assert.equal((await world.operator.patch(`${team}/${id}`, { name: 'Runs it' })).status, 200)
})

test('a key follows its member: a lower role, disabled, active again, removed', async () => {
  const { id, made, key } = await withKey('follower@example.com', 'admin')
  const send = () => key.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  const member = `${team}/${id}`
  assert.equal((await key.get('/v1/team/members')).status, 200)
  await world.demo.patch(member, { role: 'viewer' })
  assert.deepEqual(await refusal(send()), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(key.get('/v1/team/members')), [403, 'FORBIDDEN'])
  assert.equal((await key.get('/v1/sms')).status, 200)
  assert.deepEqual((await key.get('/v1/auth/whoami')).body.scopes.includes('sms:read'), true)
  await world.demo.patch(member, { status: 'disabled' })
  assert.deepEqual(await refusal(key.get('/v1/sms')), [401, 'UNAUTHORIZED'])
  await world.demo.patch(member, { status: 'active', role: 'admin' })
  assert.equal((await key.get('/v1/team/members')).status, 200)
  await world.demo.delete(member)
  assert.deepEqual(await refusal(key.get('/v1/sms')), [401, 'UNAUTHORIZED'])
  assert.equal((await world.operator.get(`/v1/operator/api-keys/${made.body.id}`)).body.status, 'revoked')
})

test('an owner takes a key over by rotating it, so that it outlives the member who made it', async () => {
  const { id, made } = await withKey('handing-over@example.com', 'developer', { scopes: ['sms:read'] }, 'test')
  const { body: next } = await world.demo.post(`/v1/api-keys/${made.body.id}/rotate`, {})
  assert.equal(next.member_id, null)
  await world.demo.delete(`${team}/${id}`)
  assert.equal((await world.stranger.as(next.key).get('/v1/sms')).status, 200)
})

test('a key of a developer makes no live keys, as the developer does not', async () => {
  const { key } = await withKey(
    'builder-by-key@example.com',
    'developer',
    { scopes: ['keys:write', 'sms:write'] },
    'test',
  )
  const live = { name: 'Live', environment: 'live', scopes: ['sms:write'] }
  assert.deepEqual(await refusal(key.post('/v1/api-keys', live)), [403, 'FORBIDDEN'])
  assert.equal((await key.post('/v1/api-keys', { ...live, environment: 'test' })).status, 201)
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

/** A member with a second factor, and what they would type at a step. */
async function careful(email: string): Promise<{ who: object; recovery: string[]; codeAt(step: number): string }> {
  const { secret: invitation } = await invited(email, 'developer')
  const { headers } = signed(await join(invitation))
  const begun = await world.stranger.post('/console/api/totp', {}, { headers })
  const secret = fromBase32(begun.body.secret)
  const codeAt = (step: number): string => totpOf(secret, step)
  const { body } = await world.stranger.post('/console/api/totp/confirm', { code: codeAt(stepNow()) }, { headers })
  return { who: { email, password }, recovery: body.recovery_codes, codeAt }
}

const stepNow = (): number => Math.floor(Date.now() / 30_000)

test('of many who sign in with one code at the same moment, one gets in', async () => {
  const { who, recovery, codeAt } = await careful('raced@example.com')
  const atOnce = async (totp: string | undefined): Promise<number[]> =>
    (await Promise.all(Array.from({ length: 4 }, () => login({ ...who, totp })))).map(({ status }) => status).sort()
  assert.deepEqual(await atOnce(codeAt(stepNow() + 1)), [200, 401, 401, 401])
  await world.app.db.query(forgetFailures, {})
  assert.deepEqual(await atOnce(recovery[0]), [200, 401, 401, 401])
  await world.app.db.query(forgetFailures, {})
  const both = await Promise.all([login({ ...who, totp: recovery[1] }), login({ ...who, totp: recovery[2] })])
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  )
  for (const used of [recovery[1], recovery[2]]) assert.equal((await login({ ...who, totp: used })).status, 401)
})

test('an account that requires a second factor lets nobody do anything without one', async () => {
  const { secret: invitation } = await invited('required@example.com', 'developer')
  const { headers } = signed(await join(invitation))
  assert.equal((await world.stranger.get('/v1/sms', { headers })).status, 200)
  assert.equal((await world.demo.patch('/v1/account', { settings: { require_totp: true } })).status, 200)
  try {
    const refused = await world.stranger.get('/v1/sms', { headers })
    assert.deepEqual([refused.status, refused.body.error.confirm], [403, 'second_factor'])
    const session = await world.stranger.get('/console/api/session', { headers })
    assert.deepEqual([session.body.member.totp_required, session.body.member.totp_enabled], [true, false])
    const begun = await world.stranger.post('/console/api/totp', {}, { headers })
    const code = totpOf(fromBase32(begun.body.secret), stepNow())
    assert.equal((await world.stranger.post('/console/api/totp/confirm', { code }, { headers })).status, 200)
    assert.equal((await world.stranger.get('/v1/sms', { headers })).status, 200)
    assert.deepEqual(await refusal(world.stranger.delete('/console/api/totp', { headers })), [409, 'CONFLICT'])
  } finally {
    await world.demo.patch('/v1/account', { settings: { require_totp: null } })
  }
})

const reset = (body: object): Promise<Reply> => world.stranger.post('/console/api/reset', body)

test('who forgot the password is mailed a link that works once, and is told nothing of others', async () => {
  const email = 'forgetful@example.com'
  const { secret: invitation } = await invited(email, 'developer')
  const { headers } = signed(await join(invitation))
  const asked = [await reset({ email: 'nobody-at-all@example.com' }), await reset({ email })]
  assert.deepEqual(
    asked.map(({ status, text }) => [status, text]),
    [
      [202, ''],
      [202, ''],
    ],
  )
  const box = `/v1/sandbox/email/messages?to=${encodeURIComponent(email)}`
  const links = async () => {
    const { data } = (await world.demo.get(box)).body
    return data.filter(({ subject }: { subject: string }) => subject === 'Choose another password')
  }
  const mail = await eventually(async () => (await links())[0], 'the mail')
  const { body } = await world.demo.get(`/v1/sandbox/email/messages/${mail.id}`)
  const secret = /\/console\/reset#([\w-]{43})"/.exec(body.html)?.[1] ?? ''
  // One mail, however often it is asked for.
  assert.equal((await reset({ email })).status, 202)
  assert.deepEqual(await refusal(reset({ reset: secret, password: 'short' })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(reset({ reset: 'x'.repeat(43), password })), [404, 'NOT_FOUND'])
  assert.equal((await reset({ reset: secret, password: 'quite another one' })).status, 204)
  assert.deepEqual(await refusal(reset({ reset: secret, password: 'and one more time' })), [404, 'NOT_FOUND'])
  assert.equal((await world.stranger.get('/v1/sms', { headers })).status, 401, 'sessions end')
  assert.equal((await login({ email, password })).status, 401)
  assert.equal((await login({ email, password: 'quite another one' })).status, 200)
  assert.equal((await links()).length, 1)
})

test('asking for a link looks nobody up, so that it takes as long for an address that nobody has', async () => {
  await world.app.db.homeTx(async (tx) => {
    await tx.query(holdMembers, {})
    for (const email of [given().email, 'nobody@example.com']) assert.equal((await reset({ email })).status, 202)
  })
})

test('an owner makes the link, not an admin for an owner; the second factor stays', async () => {
  const { who, recovery } = await careful('lost@example.com')
  const { body: all } = await world.demo.get(`${team}?limit=200`)
  const idOf = (email: string): string => all.data.find((one: { email: string }) => one.email === email).id
  const made = await world.demo.post(`${team}/${idOf('lost@example.com')}/reset`, {})
  const [address, secret] = made.body.reset_url.split('#')
  assert.equal(address, `${world.node.url}/console/reset`)
  assert.equal((await reset({ reset: secret, password: 'a brand new one' })).status, 204)
  const missing = await login({ ...who, password: 'a brand new one' })
  assert.deepEqual([missing.status, missing.body.error.confirm], [401, 'totp'])
  signed(await login({ ...who, password: 'a brand new one', totp: recovery[0] }))
  const { secret: invitation } = await invited('second-admin@example.com', 'admin')
  const { headers } = signed(await join(invitation))
  const owner = `${team}/${idOf(given().email)}/reset`
  assert.deepEqual(await refusal(world.stranger.post(owner, {}, { headers })), [403, 'FORBIDDEN'])
  const { id } = await invited('not-yet@example.com', 'viewer')
  assert.deepEqual(await refusal(world.demo.post(`${team}/${id}/reset`, {})), [409, 'CONFLICT'])
})

test('a link of an hour ago resets nothing', async () => {
  const { id, secret: invitation } = await invited('late@example.com', 'viewer')
  signed(await join(invitation))
  const made = await world.demo.post(`${team}/${id}/reset`, {})
  await world.app.db.query(endResets, {})
  const secret = made.body.reset_url.split('#')[1]
  assert.deepEqual(await refusal(reset({ reset: secret, password: 'a brand new one' })), [404, 'NOT_FOUND'])
})

test('a developer makes keys of test only, in whichever environment they ask', async () => {
  const { secret: invitation } = await invited('builder@example.com', 'developer')
  const { headers } = signed(await join(invitation))
  const make = (environment: string, within: string): Promise<Reply> =>
    world.stranger.post(
      '/v1/api-keys',
      { name: 'Mine', environment, scopes: ['sms:read'] },
      { headers: { ...headers, 'pamoja-environment': within } },
    )
  assert.equal((await make('test', 'test')).status, 201)
  assert.deepEqual(await refusal(make('live', 'test')), [403, 'FORBIDDEN'])
  assert.deepEqual(await refusal(make('live', 'live')), [403, 'FORBIDDEN'])
})

test('who signs in again in the same browser has one session, not two', async () => {
  const { secret: invitation } = await invited('again@example.com', 'viewer')
  const first = signed(await join(invitation))
  const { cookie = '' } = first.headers
  const body = { email: 'again@example.com', password }
  const second = signed(await world.stranger.post('/console/api/login', body, { headers: { cookie } }))
  assert.equal((await world.stranger.get('/console/api/session', { headers: { cookie } })).status, 401)
  const { body: sessions } = await world.stranger.get('/console/api/sessions', { headers: second.headers })
  assert.equal(sessions.data.length, 1)
})

const holdMembers = statement.home<Record<never, never>, object>(
  'test.hold_members',
  'lock table accounts.members in access exclusive mode',
)
const forgetFailures = statement.home<Record<never, never>, object>(
  'test.forget_failures',
  'delete from accounts.failed_sign_ins',
)
const endResets = statement.home<Record<never, never>, object>(
  'test.end_resets',
  "update accounts.members set reset_until = now() - interval '1 second' where reset_until is not null",
)

function fromBase32(typed: string): Buffer {
  const bits = [...typed].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)))
}
