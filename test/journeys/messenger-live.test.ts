// SPDX-License-Identifier: Apache-2.0
// Live keys of the messenger: a number that an operator connects, templates that the provider decides on, statuses that come to the
// channel's own address; and who may be written to, with what was written.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { messenger } from '../../src/areas/messenger/area.ts'
import { simulatedMessenger } from '../../src/areas/messenger/carriers/sandbox.ts'
import { graphNoticeBody, graphSignature, simulatedBusinessOf } from '../../src/protocols/graph.ts'
import { refusal } from '../client.ts'
import { accepted, becomes, recordOf, text, writes } from '../messaging.ts'
import { priceLive } from '../texting.ts'
import { type Account, doChores, eventually, startWorld, type World } from '../world.ts'

let world: World
let live: Account
let channel: { id: string; ingress_url: string }

before(async () => {
  world = await startWorld()
  const { id, client } = await world.account()
  const credit = { amount: 1_000, currency: 'KES', environment: 'live', reference: 'live' }
  await world.operator.post(`/v1/operator/accounts/${id}/credit`, credit)
  const { body } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  live = { id, key: body.key, client: world.stranger.as(body.key) }
})
after(() => world.stop())

function provider() {
  const found = simulatedMessenger.of(world.app)
  assert.ok(found)
  return found
}

const number = '5550001'

function connect(more: object = {}) {
  const { url, token, appSecret, verifyToken } = provider()
  return world.operator.post('/v1/operator/messenger/channels', {
    account_id: live.id,
    name: 'Shop',
    base_url: url,
    phone_number_id: number,
    business_id: simulatedBusinessOf(number),
    display_number: '254700111222',
    token,
    app_secret: appSecret,
    verify_token: verifyToken,
    ...more,
  })
}

const bill = {
  name: 'bill',
  language: 'en',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hello {{1}}, your bill is ready.' }],
}
const use = {
  to: '+254722333444',
  type: 'template',
  template: {
    name: 'bill',
    language: 'en',
    components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
  },
}

test('without a number nothing is sent; an operator connects one, once', async () => {
  assert.deepEqual(await refusal(live.client.post('/v1/messenger/templates', bill)), [503, 'PROVIDER_UNAVAILABLE'])
  const made = await connect()
  assert.equal(made.status, 201, made.text)
  channel = made.body.data
  assert.match(channel.ingress_url, /\/v1\/messenger\/ingress\/mch_/)
  assert.ok(!made.text.includes(provider().token), 'secrets are not shown')
  assert.deepEqual(await refusal(connect()), [409, 'CONFLICT'])
  assert.deepEqual(await refusal(connect({ account_id: 'acc_1' })), [404, 'NOT_FOUND'])
  assert.deepEqual(await refusal(connect({ base_url: 'graph' })), [422, 'VALIDATION_ERROR'])
  const { body: all } = await world.operator.get('/v1/operator/messenger/channels')
  assert.deepEqual(
    all.data.map(({ id }: { id: string }) => id),
    [channel.id],
  )
})

test('a template waits for the provider, whose decision is fetched where nobody tells it', async () => {
  const made = await live.client.post('/v1/messenger/templates', bill)
  assert.deepEqual([made.status, made.body.data.status], [201, 'PENDING'], made.text)
  assert.deepEqual(await refusal(live.client.post('/v1/messenger/messages', use)), [422, '131026'])
  const refused = await live.client.post('/v1/messenger/templates', { ...bill, name: 'offer_reject' })
  const own = await live.client.post('/v1/messenger/templates', { ...bill, name: 'own_pending' })
  await doChores(world.app, messenger.chores ?? [])
  const statusOf = async ({ body }: typeof made) =>
    (await live.client.get(`/v1/messenger/templates/${body.data.id}`)).body.data
  assert.equal((await statusOf(made)).status, 'APPROVED')
  const rejected = await statusOf(refused)
  assert.deepEqual([rejected.status, rejected.rejected_reason], ['REJECTED', 'INVALID_FORMAT'])
  assert.equal((await statusOf(own)).status, 'PENDING')
  const { body: told } = await live.client.get('/v1/events?event=messenger.template_status')
  assert.ok(told.data.length >= 2)
  const twice = await live.client.post('/v1/messenger/templates', bill)
  assert.deepEqual([twice.status, twice.body.error.code], [409, 'CONFLICT'])
})

test('a live template without a price is not sent, and one that is sent costs what the operator says', async () => {
  assert.deepEqual(await refusal(live.client.post('/v1/messenger/messages', use)), [403, 'DESTINATION_NOT_ALLOWED'])
  const { body } = await live.client.get('/v1/messenger/messages')
  assert.deepEqual(body.data, [])
  await priceLive(world, { area: 'messenger', unit: 'utility', amount: 2 })
})

test('a template that is changed is decided on anew by the provider, and one that is deleted is gone there', async () => {
  const { body: made } = await live.client.post('/v1/messenger/templates', { ...bill, name: 'notice' })
  const path = `/v1/messenger/templates/${made.id}`
  await doChores(world.app, messenger.chores ?? [])
  const components = [{ type: 'BODY', text: 'Hello {{1}}, your bill of {{2}} is ready.' }]
  const changed = await live.client.patch(path, { components })
  assert.deepEqual([changed.status, changed.body.data.status], [200, 'PENDING'], changed.text)
  const atProvider = async () => {
    const { url, token } = provider()
    const answer = await fetch(`${url}/v23.0/${simulatedBusinessOf(number)}/message_templates`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { data } = (await answer.json()) as { data: { name: string; components: unknown }[] }
    return data.find(({ name }) => name === 'notice')
  }
  assert.deepEqual((await atProvider())?.components, components)
  await eventually(async () => {
    await doChores(world.app, messenger.chores ?? [])
    return (await live.client.get(path)).body.data.status === 'APPROVED'
  }, 'the new decision')
  assert.equal((await live.client.delete(path)).status, 204)
  assert.equal(await atProvider(), undefined)
})

test('a message is sent with the channel’s own token, and its statuses come to the channel’s own address', async () => {
  const id = await accepted(live, use)
  const { provider_id, from, cost } = await becomes(live, id, 'sent')
  assert.equal(from, '+254700111222')
  assert.equal(cost, 2)
  const path = new URL(channel.ingress_url).pathname
  const body = (phone_number_id: string, status: string) =>
    graphNoticeBody('business', 'messages', {
      metadata: { display_phone_number: '254700111222', phone_number_id },
      statuses: [{ id: provider_id, status, timestamp: '1772356530', recipient_id: '254722333444' }],
    })
  const call = (raw: string, secret = provider().appSecret) =>
    world.stranger.request('POST', path, { raw, headers: { 'x-hub-signature-256': graphSignature(secret, raw) } })
  assert.equal((await call(body(number, 'delivered'), 'guess')).status, 401)
  assert.equal((await call(body('5559999', 'delivered'))).status, 200)
  assert.equal((await recordOf(live, id)).status, 'sent', 'a number of somebody else says nothing about this message')
  assert.equal((await call(body(number, 'delivered'))).status, 200)
  await becomes(live, id, 'delivered')
})

test('a number that was disconnected sends nothing more', async () => {
  assert.equal((await world.operator.delete(`/v1/operator/messenger/channels/${channel.id}`)).status, 204)
  assert.deepEqual(await refusal(live.client.post('/v1/messenger/messages', use)), [503, 'PROVIDER_UNAVAILABLE'])
  const gone = world.operator.delete(`/v1/operator/messenger/channels/${channel.id}`)
  assert.deepEqual(await refusal(gone), [404, 'NOT_FOUND'])
})

test('a sender who wants it writes only to users who opted in', async () => {
  const ada = await world.account({ balance: 100 })
  const to = '+254711000001'
  await writes(ada, to)
  const asked = text(to, 'Karibu', { require_opt_in: true })
  assert.deepEqual(await refusal(ada.client.post('/v1/messenger/messages', asked)), [403, '131051'])
  await ada.client.post('/v1/messenger/opt-ins', { phone: to, source: 'form' })
  await becomes(ada, await accepted(ada, asked), 'read')
  await ada.client.delete(`/v1/messenger/opt-ins/${encodeURIComponent(to)}`)
  assert.deepEqual(await refusal(ada.client.post('/v1/messenger/messages', text(to))), [403, '131051'])
})

test('a conversation shows what was written in both directions, newest first', async () => {
  const ada = await world.account({ balance: 100 })
  const to = '+254711000006'
  await writes(ada, to, 'Habari')
  await accepted(ada, text(to, 'Karibu'))
  await writes(ada, to, 'Asante')
  const thread = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/messenger/conversations/${encodeURIComponent(to)}`)
    return body.data.messages.length === 3 ? body.data : null
  }, 'three messages')
  assert.deepEqual(
    thread.messages.map((one: { direction: string; text: { body: string } }) => [one.direction, one.text.body]),
    [
      ['inbound', 'Asante'],
      ['outbound', 'Karibu'],
      ['inbound', 'Habari'],
    ],
  )
  assert.equal(thread.window_open, true)
})
