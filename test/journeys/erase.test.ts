// SPDX-License-Identifier: Apache-2.0
// Erasure of one person, as somebody asks for it who has the right to: what they said is nowhere any more, their number and address are
// nowhere any more, money and the audit log stay without them, and the report says what was kept and why.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { parts } from '../parts.ts'
import { settled } from '../paying.ts'
import { dial, newCode } from '../ussd.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.05)

/** Stands for whatever the person said; nothing else in this run contains it. */
const secret = `siri${randomBytes(8).toString('hex')}`
const phone = '+254733000001'
const email = `neema.${secret.slice(0, 12)}@example.com`
const name = `Neema ${secret.slice(4)}`

async function ok(reply: ReturnType<Client['post']>) {
  const { status, body, text } = await reply
  assert.ok(status < 300, text)
  return body
}

/** A person of whom every channel knows something. */
async function known(client: Client): Promise<string> {
  const { id } = await ok(
    client.post('/v1/customers', {
      name,
      phones: [phone],
      emails: [email],
      attributes: { nickname: secret },
      tags: ['vip'],
    }),
  )
  await ok(client.post('/v1/sandbox/sms/inbound', { from: phone, to: '22003', message: `Habari ${secret}` }))
  await ok(
    client.post('/v1/sms/send', { to: phone, from: 'PAMOJA', message: `Karibu ${secret}`, metadata: { who: secret } }),
  )
  await ok(
    client.post('/v1/sandbox/messenger/inbound', {
      from: phone,
      name,
      type: 'text',
      text: { body: `Swali ${secret}` },
    }),
  )
  await ok(client.post('/v1/messenger/messages', { to: phone, type: 'text', text: { body: `Jibu ${secret}` } }))
  await ok(
    client.post('/v1/email/send', {
      from: 'inbox@sandbox.pamoja.test',
      to: email,
      subject: secret,
      text: `Barua ${secret}`,
    }),
  )
  const menu = { name: 'Greeting', languages: ['sw'], start: 'home', nodes: { home: { text: 'Karibu', end: true } } }
  const { id: menu_id } = await ok(client.post('/v1/ussd/menus', menu))
  const { shortcode } = await ok(client.post('/v1/ussd/shortcodes', { shortcode: newCode(), mode: 'menu', menu_id }))
  await dial(client, shortcode, phone)
  const payment = { amount: 100, currency: 'KES', method: 'mobile_money', phone, description: secret }
  const { payment_id } = await ok(client.post('/v1/payments', { ...payment, customer: { name, email, phone } }))
  await settled(client, payment_id)
  await ok(client.post(`/v1/payments/${payment_id}/refund`, { amount: 40 }))
  const items = [{ description: 'Setup', quantity: 1, unit_amount: 250 }]
  await ok(client.post('/v1/billing/invoices', { customer: { customer_id: id }, currency: 'KES', items, send: true }))
  await ok(client.post(`/v1/customers/${id}/notes`, { text: `Note ${secret}` }))
  await ok(client.post('/v1/sms/opt-outs', { phone, from: 'OTHER' }))
  await ok(client.post('/v1/email/suppressions', { email, reason: 'unsubscribe' }))
  await ok(client.post('/v1/identity/phone/send-otp', { phone }))
  await ok(client.post('/v1/voice/call', { to: phone, from: '+254711000000' }))
  await ok(client.post('/v1/voice/conference', { name: 'Talks', from: '+254711000000', participants: [phone] }))
  // The person is rung by a call to somebody else, and waits in a queue.
  const connect = { action: 'connect', endpoint: [{ type: 'phone', number: phone }] }
  await ok(client.post('/v1/voice/calls', { to: '+254733000020', from: '+254711000000', actions: [connect] }))
  const { queue_id } = await ok(client.post('/v1/voice/queue', { name: 'Help' }))
  const own = '+254711000999'
  await ok(client.post(`/v1/voice/numbers/${encodeURIComponent(own)}/assign`, { queue_id }))
  await ok(client.post('/v1/sandbox/voice/inbound', { from: phone, to: own }))
  const rung = `select 1 from voice.calls where account_id = $1 and to_number = $2 and parent is not null and answered_at is not null`
  const waits = `select 1 from callcenter.contacts where account_id = $1 and from_number = $2 and state = 'waiting'`
  const account = uuidOf('account', (await client.get('/v1/account')).body.id)
  for (const told of [rung, waits])
    await eventually(async () => ((await sql.query(told, [account, phone])).rowCount ?? 0) > 0, told)
  const list = () => client.get(`/v1/conversations?customer_id=${id}`)
  const { id: conversation } = await eventually(async () => (await list()).body.data[0], 'a conversation')
  await ok(client.post(`/v1/conversations/${conversation}/reply`, { channel: 'messenger', text: `Sawa ${secret}` }))
  return id
}

/** Tables that hold one of the texts, as it is. */
async function places(...texts: readonly string[]): Promise<string[]> {
  await world.app.requestLog.flush()
  const { rows: tables } = await sql.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name: table } of tables) {
    const { rows } = await sql.query<{ row: string }>(`select t::text as row from ${table} t`)
    const text = rows.map(({ row }) => row).join('\n')
    for (const one of texts)
      if ([one, Buffer.from(one).toString('hex')].some((form) => text.includes(form)))
        found.push(`${table} ${one === secret ? 'text' : one}`)
  }
  return found.sort()
}

/** Waits until nothing of the account is on its way any more. */
async function calm(account: string): Promise<void> {
  const uuid = uuidOf('account', account)
  const moving = `select
     (select count(*) from sms.messages where account_id = $1 and status in ('queued', 'sent')) +
     (select count(*) from messenger.messages where account_id = $1 and status = 'accepted') +
     (select count(*) from email.recipients where account_id = $1 and status in ('scheduled', 'queued')) +
     (select count(*) from payments.refunds where account_id = $1 and status not in ('completed', 'failed')) +
     (select count(*) from voice.calls where account_id = $1 and ended_at is null) +
     (select count(*) from callcenter.contacts where account_id = $1 and state <> 'ended') +
     (select count(*) from callcenter.participants where account_id = $1 and status not in ('left', 'failed')) +
     (select count(*) from ussd.sessions where account_id = $1 and ended_at is null) as n`
  await eventually(async () => Number((await sql.query(moving, [uuid])).rows[0].n) === 0, 'everything to arrive')
}

test('a person is erased everywhere, and the report says what was kept and why', async () => {
  const { client, id: account } = await world.account({ balance: 1000 })
  const id = await known(client)
  for (const { call_id } of (await client.get('/v1/voice/calls?limit=200')).body.data)
    await ok(client.post(`/v1/voice/call/${call_id}/hangup`))
  await calm(account)
  const bystander = await ok(client.post('/v1/customers', { name: 'Juma', phones: ['+254733000077'] }))
  await ok(client.post('/v1/sandbox/sms/inbound', { from: '+254733000077', to: '22003', message: 'Mimi Juma' }))

  const { customer, entries, history, is_complete } = await ok(client.get(`/v1/customers/${id}/data`))
  const told = new Set(history.map((one: { type: string }) => one.type))
  for (const kind of ['payment', 'invoice', 'ussd_session']) assert.ok(told.has(kind), kind)
  assert.deepEqual([customer.name, is_complete], [name, true])
  const texts = entries.map((one: { text: string | null }) => one.text)
  for (const said of ['Habari', 'Karibu', 'Swali', 'Jibu', 'Note', 'Sawa'])
    assert.ok(texts.includes(`${said} ${secret}`), said)

  const key = await client.post('/v1/api-keys', { name: 'Writer', scopes: ['customers:write'] })
  const writer = world.stranger.as(key.body.key ?? key.body.api_key)
  assert.equal((await writer.delete(`/v1/customers/${id}`)).status, 403, 'erasing is a right of its own')
  const report = await ok(client.delete(`/v1/customers/${id}`))
  const kinds = new Map(report.items.map((one: { kind: string }) => [one.kind, one]))
  for (const kind of [
    'texts',
    'texts_received',
    'chats',
    'mail',
    'payments',
    'invoices',
    'calls',
    'call_flows',
    'contacts',
    'conferences',
    'codes',
    'ussd_sessions',
    'notes',
    'events',
  ])
    assert.ok(Object(kinds.get(kind)).erased > 0, `${kind}: ${JSON.stringify(report.items)}`)
  assert.match(Object(kinds.get('payments')).reason, /ledger/)
  assert.ok(
    report.items.every((one: { kept: number }) => one.kept === 0),
    JSON.stringify(report.items),
  )

  const left = await eventually(async () => {
    const jobs = await sql.query(`select 1 from work.jobs where lane = 'customers.erase_logs'`)
    return jobs.rowCount === 0 && (await places(phone, phone.slice(1), email, secret))
  }, 'the logs to be searched')
  assert.deepEqual(left, [])
  assert.equal((await client.get(`/v1/customers/${id}`)).status, 404)
  assert.equal((await client.delete(`/v1/customers/${id}`)).status, 404)
  assert.deepEqual(
    (await client.get('/v1/customers')).body.data.map((one: { id: string }) => one.id),
    [bystander.id],
  )
  const { data } = (await client.get('/v1/payments/transactions')).body
  assert.ok(data.length > 0, 'the money is still told of')
  assert.equal((await client.get('/v1/billing/invoices')).body.data.length, 1)
  const events = (await client.get('/v1/events?limit=200')).body.data
  assert.ok(events.some((one: { event: string }) => one.event === 'customer.erased'))

  const content = [
    'external_id,name,phone,email',
    `c-1,Back by number,${phone},`,
    `c-2,Back by mail,,${email.toUpperCase()}`,
    'c-3,Another,+254733000078,',
  ].join('\n')
  const begun = await client.request('POST', '/v1/customers/import', parts({}, [{ part: 'file', content }]))
  const path = `/v1/customers/imports/${begun.body.import_id}`
  const ended = await eventually(async () => {
    const { body } = await client.get(path)
    return body.state === 'running' ? null : body
  }, 'the import to end')
  assert.deepEqual([ended.created, ended.failed], [1, 2], 'a file brings back nobody who was erased')
  const errors = (await client.get(`${path}/errors`)).text.split('\r\n').map((line) => line.split(',').slice(0, 3))
  assert.deepEqual(errors.slice(1, 3), [
    ['2', 'CUSTOMER_ERASED', 'phones'],
    ['3', 'CUSTOMER_ERASED', 'emails'],
  ])
  const everybody = { not: { field: 'tags', op: 'eq', value: 'nobody' } }
  const { count } = await ok(client.post('/v1/segments/count', { filter: everybody }))
  assert.equal(count, 2, 'no segment counts who was erased')

  await ok(client.post('/v1/sandbox/sms/inbound', { from: phone, to: '22003', message: 'I am new here' }))
  const again = await eventually(
    async () => (await client.get(`/v1/customers?phone=${encodeURIComponent(phone)}`)).body.data[0],
    'a new customer',
  )
  assert.notEqual(again.id, id)
})
