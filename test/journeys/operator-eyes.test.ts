// SPDX-License-Identifier: Apache-2.0
// An operator whom a customer has called: finds the thing that it is about, opens it, and leaves a trace of having looked.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver
let ada: Account
/** One of each kind, of Ada's account: kind -> id. */
const made: Record<string, string> = {}
let hook: string

before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
  ada = await world.account({ balance: 1_000 })
  const { client } = ada
  hook = (await client.post('/v1/webhooks', { url: receiver.url('/'), events: ['sms.*'] })).body.id
  const text = await client.post('/v1/sms/send', {
    to: '+254711000777',
    from: 'PAMOJA',
    message: 'Habari',
    reference: 'order-1',
  })
  made.message = text.body.message_id
  made.request = String(text.headers['x-request-id'])
  made.payment = (
    await client.post('/v1/payments', { amount: 10, currency: 'KES', phone: '+254711000001', reference: 'till-1' })
  ).body.payment_id
  made.payout = (
    await client.post('/v1/payouts', { amount: 10, currency: 'KES', phone: '+254711000001', reference: 'wage-1' })
  ).body.payout_id
  made.invoice = (
    await client.post('/v1/billing/invoices', {
      customer: { name: 'Duka', email: 'duka@example.com' },
      currency: 'KES',
      items: [{ description: 'Maize', quantity: 1, unit_amount: 10 }],
      reference: 'bill-1',
    })
  ).body.invoice_id
  made.email = (
    await client.post('/v1/email/send', {
      from: 'Shop <shop@sandbox.pamoja.test>',
      to: ['a@example.com'],
      subject: 'Habari',
      text: 'x',
    })
  ).body.message_id
  await eventually(async () => {
    const { body } = await client.get(`/v1/webhooks/${hook}/deliveries`)
    made.delivery = body.data[0]?.delivery_id ?? body.data[0]?.id
    return made.delivery !== undefined
  }, 'a delivery')
})
after(async () => {
  await receiver.stop()
  await world.stop()
})

/** Operator keys are live ones: the environment of a test thing is said. */
const of = (path: string) => `/v1/operator/accounts/${ada.id}${path}${path.includes('?') ? '&' : '?'}environment=test`

test('lists of any account are those that the account sees, with its filters', async () => {
  for (const [path, id] of [
    ['/sms?to=%2B254711000777', made.message],
    ['/payments/transactions?reference=till-1', made.payment],
    ['/payouts?reference=wage-1', made.payout],
    ['/billing/invoices?reference=bill-1', made.invoice],
    ['/webhooks', hook],
    [`/webhooks/${hook}/deliveries`, made.delivery],
    ['/logs?operation=sms.send', made.request],
  ] as const) {
    const seen = await world.operator.get(of(path))
    assert.equal(seen.status, 200, `${path}: ${seen.text}`)
    assert.equal(seen.headers['pamoja-warning'], undefined, path)
    assert.ok(seen.text.includes(String(id)), `${path} has ${id}: ${seen.text}`)
  }
  const none = await world.operator.get(`/v1/operator/accounts/${ada.id}/sms`)
  assert.deepEqual([none.status, none.body.data], [200, []], 'test things are not live ones')
})

test('what is found by its id is opened where the result says, and is the same that its owner reads', async () => {
  for (const [kind, id] of Object.entries(made)) {
    const found = await world.operator.get(`/v1/operator/search?q=${id}`)
    assert.equal(found.status, 200, found.text)
    const [one] = found.body.data
    assert.ok(one, `${kind} ${id} is found`)
    assert.deepEqual([one.kind, one.id, one.account_id, one.environment], [kind, id, ada.id, 'test'])
    const opened = await world.operator.get(one.path)
    assert.equal(opened.status, 200, `${one.path}: ${opened.text}`)
    const own = await ada.client.get(`/v1${new URL(one.path, 'https://x').pathname.split(ada.id)[1]}`)
    assert.equal(own.status, 200, own.text)
    if (kind !== 'message') assert.deepEqual(Object.keys(opened.body.data), Object.keys(own.body.data), kind)
  }
})

test('references, numbers of phones and invoices, and receipts of providers find things too', async () => {
  const invoice = await ada.client.get(`/v1/billing/invoices/${made.invoice}`)
  const paid = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/payments/${made.payment}?wait=10`)
    return body.provider_reference && body
  }, 'a paid payment')
  for (const [word, kind] of [
    ['order-1', 'message'],
    ['%2B254711000777', 'message'],
    ['+254711000777', 'message'],
    ['till-1', 'payment'],
    [paid.provider_reference, 'payment'],
    ['wage-1', 'payout'],
    ['bill-1', 'invoice'],
    ...(invoice.body.number ? [[invoice.body.number, 'invoice'] as const] : []),
  ]) {
    const { body } = await world.operator.get(`/v1/operator/search?q=${word}`)
    assert.ok(
      body.data.some((one: { id: string }) => one.id === made[kind]),
      `${word}: ${JSON.stringify(body)}`,
    )
  }
  assert.deepEqual((await world.operator.get('/v1/operator/search?q=nothing-of-the-kind')).body.data, [])
  assert.equal((await world.operator.get('/v1/operator/search?q=ab')).status, 400)
})

test('whoever looks is written down, for the account and for the operator, without what was looked for', async () => {
  await world.operator.get(of('/sms?q=secretword'))
  const ours = await ada.client.get('/v1/audit-log?action=operator.read')
  const theirs = await world.operator.get('/v1/audit-log?action=operator.read')
  for (const { body, text } of [ours, theirs]) {
    const entry = body.data.find((one: { target: string; after: { filters: string[] } }) => {
      return one.target === '/v1/sms' && one.after.filters.includes('q')
    })
    assert.equal(entry.actor.type, 'key')
    if (body === ours.body) assert.equal(entry.actor.name, null, 'names are of the account itself')
    assert.ok(!text.includes('secretword'))
  }
  const searches = await world.operator.get('/v1/audit-log?action=operator.search')
  assert.ok(searches.body.data.some((one: { target: string }) => one.target === 'order-1'))
})

test('only operators look at others, and only at what is there', async () => {
  assert.equal((await ada.client.get(of('/sms'))).status, 403)
  assert.equal((await ada.client.get('/v1/operator/search?q=order-1')).status, 403)
  const eve = await world.account()
  const other = `/v1/operator/accounts/${eve.id}`
  assert.equal((await world.operator.get(`${other}/payments/${made.payment}`)).status, 404)
  assert.equal((await world.operator.get(`${other}/sms/${made.message}`)).status, 404)
  assert.equal((await world.operator.get(`/v1/operator/accounts/${ada.id}/sms?environment=none`)).status, 400)
})
