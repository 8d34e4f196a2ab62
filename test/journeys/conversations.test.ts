// SPDX-License-Identifier: Apache-2.0
// Conversations as a team meets them: whatever a customer writes, on whichever channel, is in one inbox, where it is given to somebody,
// answered, put aside and closed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leftSigns } from '../../src/areas/customers/conversations/hear.ts'
import { areas } from '../../src/areas.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { atOnce } from '../at-once.ts'
import { type Client, refusal } from '../client.ts'
import { startMarket } from '../market.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.05)

const conversations = '/v1/conversations'

async function texts(client: Client, from: string, message: string): Promise<void> {
  const reply = await client.post('/v1/sandbox/sms/inbound', { from, to: '22003', message })
  assert.ok(reply.status < 300, reply.text)
}

async function chats(client: Client, from: string, body: string): Promise<void> {
  const reply = await client.post('/v1/sandbox/messenger/inbound', { from, type: 'text', text: { body } })
  assert.ok(reply.status < 300, reply.text)
}

/** The only conversation of an account, once it is as expected. */
function conversation(client: Client, as: (one: Record<string, unknown>) => boolean = () => true) {
  return eventually(async () => {
    const { data } = (await client.get(conversations)).body
    return data.length === 1 && as(data[0]) && data[0]
  }, 'the conversation to be so')
}

async function done(client: Client, id: string, verb: string, body?: object) {
  const reply = await client.post(`${conversations}/${id}/${verb}`, body)
  assert.equal(reply.status, 200, `${verb}: ${reply.text}`)
  return reply.body
}

async function told(client: Client): Promise<string[]> {
  const { data } = (await client.get('/v1/events?limit=200&order=asc')).body
  return data.map((one: { event: string }) => one.event).filter((name: string) => name.startsWith('conversation.'))
}

test('what a customer writes on any channel is one conversation, read, answered where they wrote last, and closed', async () => {
  const { client } = await world.account({ balance: 100 })
  const phone = '+254711000701'
  await texts(client, phone, 'Are you open on Sunday?')
  const { id, ...first } = await conversation(client)
  assert.match(id, /^conv_/)
  assert.deepEqual(
    [first.state, first.unread, first.channel, first.address, first.line, first.last_text],
    ['open', 1, 'sms', phone, '22003', 'Are you open on Sunday?'],
  )
  assert.ok(first.waiting_since !== null)
  await chats(client, phone, 'Hello?')
  const second = await conversation(client, ({ unread }) => unread === 2)
  assert.deepEqual([second.id, second.channel, second.last_text], [id, 'messenger', 'Hello?'])

  const detail = (await client.get(`${conversations}/${id}`)).body
  assert.deepEqual(
    detail.channels.map((way: Record<string, unknown>) => [way.channel, way.is_open, way.problem]),
    [
      ['messenger', true, null],
      ['sms', true, null],
      ['email', false, 'no_address'],
    ],
  )
  const chat = await done(client, id, 'reply', { text: 'Yes, until six' })
  assert.deepEqual([chat.channel, chat.to, chat.cost], ['messenger', phone, 0])
  const text = await done(client, id, 'reply', { channel: 'sms', text: 'Karibu', from: '22003' })
  assert.deepEqual([text.channel, text.cost > 0], ['sms', true])
  await done(client, id, 'note', { text: 'Comes on Sunday' })
  const { data } = (await client.get(`${conversations}/${id}/messages`)).body
  assert.deepEqual(
    data.map((one: Record<string, unknown>) => [one.type, one.direction, one.text, one.author !== null]),
    [
      ['note', null, 'Comes on Sunday', true],
      ['message', 'outbound', 'Karibu', true],
      ['chat', 'outbound', 'Yes, until six', true],
      ['chat', 'inbound', 'Hello?', false],
      ['message', 'inbound', 'Are you open on Sunday?', false],
    ],
  )
  const page = (await client.get(`${conversations}/${id}/messages?limit=2`)).body
  const rest = (await client.get(`${conversations}/${id}/messages?cursor=${page.next_cursor}`)).body
  assert.equal(page.data.length + rest.data.length, 5)

  const answered = await conversation(client)
  assert.deepEqual([answered.unread, answered.waiting_since, answered.last_direction], [0, null, 'outbound'])
  assert.equal((await done(client, id, 'close')).state, 'closed')
  assert.equal((await client.get(`${conversations}?state=open`)).body.data.length, 0)
  await texts(client, phone, 'Asante')
  const again = await conversation(client, ({ state }) => state === 'open')
  assert.equal(again.id, id)
  const [o, m] = ['conversation.opened', 'conversation.message']
  assert.deepEqual(await told(client), [o, m, m, m, m, 'conversation.closed', o, m])
})

test('words are refused beside an audio file, which has no place for them', async () => {
  const { client } = await world.account({ balance: 100 })
  await chats(client, '+254711000709', 'Habari')
  const { id } = await conversation(client)
  const body = { text: 'Sikiliza', media: { type: 'audio', media_id: 'med_1' } }
  const { status, text } = await client.post(`${conversations}/${id}/reply`, body)
  assert.deepEqual([status, /is not sent with an audio file/.test(text)], [422, true], text)
})

test('a reply keeps to the rules of its channel, and is sent once under a key', async () => {
  const { client } = await world.account({ balance: 100 })
  const phone = '+254711000702'
  await chats(client, phone, 'Habari')
  const { id } = await conversation(client)
  const key = { headers: { 'idempotency-key': 'answer-1' }, body: { text: 'Nzuri' } }
  const path = `${conversations}/${id}/reply`
  const twice = await atOnce(4, () => client.request('POST', path, key))
  const accepted = [...twice, await client.request('POST', path, key)].filter(({ status }) => status === 200)
  assert.deepEqual(
    [new Set(accepted.map(({ body }) => body.message_id)).size, accepted[0]?.body.channel],
    [1, 'messenger'],
  )
  assert.equal((await client.get(`${conversations}/${id}/messages`)).body.data.length, 2)

  await client.post('/v1/sandbox/clock', { advance_seconds: 25 * 3600 })
  const closed = await client.post(path, { text: 'Still there?' })
  assert.deepEqual(
    [closed.status, closed.body.error.code, closed.body.error.alternatives],
    [403, '131047', ['template', 'sms']],
  )
  const [way] = (await client.get(`${conversations}/${id}`)).body.channels
  assert.deepEqual([way.problem, way.is_open, way.takes_template], ['window_closed', false, true])
  const template = {
    name: 'order_update',
    language: 'en',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Ready' }],
  }
  const made = await client.post('/v1/messenger/templates', template)
  assert.equal(made.status, 201, made.text)
  await eventually(
    async () =>
      (await client.get(`/v1/messenger/templates/${made.body.id ?? made.body.template_id}`)).body.status === 'APPROVED',
    'the template to be approved',
  )
  const sent = await done(client, id, 'reply', { template: { name: 'order_update', language: 'en' } })
  assert.equal(sent.channel, 'messenger')
  await client.post('/v1/sms/opt-outs', { phone })
  assert.deepEqual(await refusal(client.post(path, { channel: 'sms', text: 'Hi' })), [403, 'OPTED_OUT'])
  assert.deepEqual(await refusal(client.post(path, { channel: 'email', text: 'Hi' })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(client.post(path, { channel: 'sms' })), [422, 'VALIDATION_ERROR'])
  const mailed = await client.patch(`/v1/customers/${(await conversation(client)).customer_id}`, {
    emails: ['k@example.com'],
  })
  assert.equal(mailed.status, 200, mailed.text)
  const mail = await client.post(path, { channel: 'email', text: 'Good day' })
  assert.deepEqual([mail.status, mail.body.channel ?? mail.body.error.code], [200, 'email'], mail.text)
  const poor = await world.account()
  await texts(poor.client, phone, 'Habari')
  const theirs = await conversation(poor.client)
  const refused = poor.client.post(`${conversations}/${theirs.id}/reply`, { text: 'Nzuri', from: 'PAMOJA' })
  assert.deepEqual(await refusal(refused), [402, 'INSUFFICIENT_BALANCE'])
  assert.equal((await conversation(poor.client)).last_direction, 'inbound', 'what was refused was not said')
})

test('an answer by mail is words with files, or a template with what is known of the customer', async () => {
  const { client } = await world.account({ balance: 100 })
  const customer = await client.post('/v1/customers', {
    ...{ name: 'Asha Njeri', emails: ['asha@example.com'], attributes: { town: 'Kisumu' } },
  })
  const begun = await client.post(conversations, { customer_id: customer.body.id })
  assert.equal(begun.status, 201, begun.text)
  const { id } = begun.body
  const template = { name: 'greeting', subject: 'Hello', html: '<p>Dear {{first_name}} of {{town}}, {{wish}}</p>' }
  assert.equal((await client.post('/v1/email/templates', template)).status, 201)
  const content = Buffer.from('a receipt').toString('base64')
  const file = { text: 'Here it is', attachments: [{ filename: 'receipt.txt', content }] }
  const sent = await done(client, id, 'reply', file)
  assert.equal(sent.channel, 'email')
  const mail = (await client.get(`/v1/email/${sent.message_id}`)).body
  assert.equal(mail.subject, 'Here it is')
  const filled = await done(client, id, 'reply', {
    ...{ channel: 'email', email_template: { name: 'greeting', variables: { wish: 'thank you' } } },
  })
  const { body } = await client.get(`/v1/email/${filled.message_id}/content`)
  assert.match(JSON.stringify(body), /Dear Asha of Kisumu, thank you/)
  assert.equal((await conversation(client)).last_text, 'greeting')
  const refusedBy = (given: object) => refusal(client.post(`${conversations}/${id}/reply`, given))
  const large = (filename: string, size: number) => ({
    ...{ channel: 'email', text: 'Here' },
    attachments: [{ filename, content: Buffer.alloc(size, 'a').toString('base64') }],
  })
  assert.equal((await done(client, id, 'reply', large('report.txt', 15_000_000))).channel, 'email')
  assert.deepEqual(await refusedBy(large('report.txt', 19_500_000)), [422, 'ATTACHMENT_TOO_LARGE'])
  assert.deepEqual(await refusedBy(large('report.exe', 10)), [422, 'ATTACHMENT_BLOCKED'])
  assert.deepEqual(await refusedBy({ channel: 'email', email_template: { name: 'none' } }), [404, 'TEMPLATE_NOT_FOUND'])
  const elsewhere = { channel: 'email', text: 'Here', from: 'us@elsewhere.example' }
  assert.deepEqual(await refusedBy(elsewhere), [403, 'DOMAIN_NOT_VERIFIED'])
  const wrong = [422, 'VALIDATION_ERROR']
  assert.deepEqual(await refusedBy({ channel: 'sms', ...file }), wrong)
  assert.deepEqual(await refusedBy({ channel: 'messenger', email_template: { name: 'greeting' } }), wrong)
  assert.deepEqual(await refusedBy({ text: 'Both', email_template: { name: 'greeting' } }), wrong)
  assert.deepEqual(await refusedBy({ channel: 'email', attachments: file.attachments }), wrong)
})

test('conversations are counted for the views of an inbox', async () => {
  const { client } = await world.account({ balance: 10 })
  const counted = async () => (await client.get(`${conversations}/counts`)).body
  const counts = async () => {
    const { mine, open, unassigned, snoozed, unread } = await counted()
    return [mine, open, unassigned, snoozed, unread]
  }
  assert.deepEqual(await counts(), [0, 0, 0, 0, 0])
  for (const n of [1, 2, 3]) await texts(client, `+25471100072${n}`, 'Habari')
  await eventually(async () => (await counted()).open === 3, 'three to be open')
  const [first, second] = (await client.get(conversations)).body.data
  await done(client, first.id, 'snooze', { until: new Date(Date.now() + 3_600_000).toISOString() })
  await done(client, second.id, 'close')
  assert.deepEqual(await counts(), [0, 1, 1, 1, 1])
})

test('a snoozed conversation wakes at its time, or when the customer writes', async () => {
  const { client } = await world.account({ balance: 10 })
  const phone = '+254711000703'
  await texts(client, phone, 'Next week?')
  const { id } = await conversation(client)
  const until = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const asleep = await done(client, id, 'snooze', { until: until(48) })
  assert.equal(asleep.state, 'snoozed')
  assert.deepEqual(await refusal(client.post(`${conversations}/${id}/snooze`, { until: until(-1) })), [
    422,
    'VALIDATION_ERROR',
  ])
  await texts(client, phone, 'Or tomorrow?')
  const woken = await conversation(client, ({ state }) => state === 'open')
  assert.equal(woken.snoozed_until, null)
  await done(client, id, 'snooze', { until: until(24) })
  await client.post('/v1/sandbox/clock', { advance_seconds: 23 * 3600 })
  assert.equal((await conversation(client)).state, 'snoozed', 'an hour before')
  await client.post('/v1/sandbox/clock', { advance_seconds: 2 * 3600 })
  await conversation(client, ({ state }) => state === 'open')
  const opened = (await client.get('/v1/events?limit=200&order=asc')).body.data.filter(
    (one: { event: string }) => one.event === 'conversation.opened',
  )
  const reasons = opened.map(
    (one: Record<string, Record<string, unknown>>) => one.payload?.reason ?? one.reason ?? one.data?.reason,
  )
  assert.deepEqual(reasons, ['message', 'message', 'snooze_ended'])
})

test('a conversation is assigned to a member, found by them, and moves with a merge', async () => {
  const { client, id: account } = await world.account({ balance: 10 })
  await texts(client, '+254711000704', 'First')
  const { id } = await conversation(client)
  assert.deepEqual(await refusal(client.post(`${conversations}/${id}/assign`, { member_id: 'mbr_nobody' })), [
    422,
    'VALIDATION_ERROR',
  ])
  const { rows } = await sql.query<{ id: string }>(
    `insert into accounts.members (id, account_id, email, role, password_hash, name)
     values (gen_random_uuid(), $1, $2, 'agent', '', 'Zawadi') returning id`,
    [uuidOf('account', account), `zawadi-${account}@example.com`],
  )
  const { idOf } = await import('../../src/kernel/ids.ts')
  const member = idOf('member', rows[0]?.id ?? '')
  assert.equal((await done(client, id, 'assign', { member_id: member })).assignee, member)
  assert.equal((await client.get(`${conversations}?assignee=${member}`)).body.data.length, 1)
  assert.equal((await client.get(`${conversations}?assignee=none`)).body.data.length, 0)
  assert.equal((await client.get(`${conversations}?unread=true`)).body.data.length, 1)
  assert.equal((await done(client, id, 'read')).unread, 0)
  assert.equal((await client.get(`${conversations}?unread=true`)).body.data.length, 0)

  await texts(client, '+254711000705', 'Second')
  const both = await eventually(async () => {
    const { data } = (await client.get(conversations)).body
    return data.length === 2 && data
  }, 'two conversations')
  const [second, first] = both
  await client.post(`/v1/customers/${first.customer_id}/merge`, { customer_id: second.customer_id })
  const merged = await conversation(client)
  assert.deepEqual([merged.id, merged.last_text, merged.unread, merged.assignee], [id, 'Second', 1, member])
  assert.equal((await client.get(`${conversations}/${id}/messages`)).body.data.length, 2)
  const begun = await client.post(conversations, { customer_id: first.customer_id })
  assert.deepEqual([begun.status, begun.body.id], [200, id], 'a customer has one conversation')

  const key = await client.post('/v1/api-keys', { name: 'Reader', scopes: ['conversations:read'] })
  const reader = world.stranger.as(key.body.key ?? key.body.api_key)
  assert.equal((await reader.get(conversations)).status, 200)
  assert.equal((await reader.post(`${conversations}/${id}/close`)).status, 403)
})

test('what a killed node did not note is noted by another, once', async () => {
  const { client, id: account } = await world.account({ balance: 10 })
  await texts(client, '+254711000706', 'Lost?')
  const { id } = await conversation(client)
  const uuid = uuidOf('account', account)
  await eventually(
    async () => (await sql.query('select 1 from customers.heard where account_id = $1', [uuid])).rowCount === 0,
    'the sign to be noted',
  )
  // As a node leaves it that is killed right after the text is stored.
  for (const table of ['conversations', 'customers', 'addresses'])
    await sql.query(`delete from customers.${table} where account_id = $1`, [uuid])
  await sql.query(
    `insert into customers.heard (bucket, account_id, environment, id)
     select bucket, account_id, environment, id from events.events where account_id = $1 and type = 'sms.received'`,
    [uuid],
  )
  const later = { ...world.app, clock: { ...world.app.clock, nowMs: () => world.app.clock.nowMs() + 60_000 } }
  const lease = { signal: new AbortController().signal }
  await Promise.all([1, 2].map(() => Reflect.apply(leftSigns.run, leftSigns, [later, lease])))
  const again = await conversation(client)
  assert.notEqual(again.id, id)
  assert.deepEqual([again.unread, again.last_text], [1, 'Lost?'])
  assert.equal((await client.get('/v1/customers?phone=%2B254711000706')).body.data.length, 1)
})

test('every event that tells of a person who comes is kept until it is noted', async () => {
  for (const type of areas.flatMap(({ events = [] }) => events)) {
    const person = type.person?.(type.sample)
    const { rows } = await sql.query('select customers.hears($1) as is_heard', [type.name])
    const mayCome = person?.isInbound === true || type.name === 'call.started'
    assert.equal(rows[0].is_heard, mayCome, type.name)
  }
})

test('where customers are never made, strangers have no conversation and customers do', async () => {
  const { client } = await world.account({ balance: 10 })
  const before = world.app.config.PAMOJA_CUSTOMERS_CREATE
  Object.assign(world.app.config, { PAMOJA_CUSTOMERS_CREATE: 'never' })
  try {
    await client.post('/v1/customers', { name: 'Asha', phones: ['+254711000708'] })
    await texts(client, '+254711000707', 'Nobody')
    await texts(client, '+254711000708', 'Somebody')
    const { name } = await conversation(client)
    assert.equal(name, 'Asha')
    assert.equal((await client.get('/v1/customers')).body.data.length, 1)
    const { last_seen_at } = (await client.get('/v1/customers')).body.data[0]
    assert.ok(last_seen_at !== null, 'who is known was seen')
  } finally {
    Object.assign(world.app.config, { PAMOJA_CUSTOMERS_CREATE: before })
  }
})
