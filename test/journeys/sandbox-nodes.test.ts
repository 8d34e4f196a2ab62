// SPDX-License-Identifier: Apache-2.0
// The sandbox of several nodes: whichever node a test key asks, simulated phones, payers and mailboxes are the same, on a node
// without the role `sandbox` too. When the node that runs them leaves, another one takes its place.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Config } from '../../src/config.ts'
import type { RunningNode } from '../../src/node/server.ts'
import { Client } from '../client.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { application, dial, newCode, newPhone, type } from '../ussd.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const settings = { PAMOJA_SANDBOX_TIME_SCALE: 0.04 }
const shortcode = newCode()
let world: World
let receiver: Receiver
let account: Account
const nodes: RunningNode[] = []
/** The account at the node whose simulators are used, at one with simulators of its own, and at one without any. */
let first: Client
let second: Client
let third: Client

before(async () => {
  world = await startWorld(settings)
  receiver = await startReceiver()
  application(receiver, {
    '/menu': ({ text }) => (text === '' ? 'CON Karibu' : text === '1' ? 'CON Which account?' : `END You said ${text}`),
  })
  account = await world.account({ balance: 10_000 })
  first = account.client
  second = await joinedBy({})
  third = await joinedBy({ PAMOJA_ROLES: ['api', 'dispatch', 'webhooks', 'timers'] })
  const made = await second.post('/v1/ussd/shortcodes', { shortcode, mode: 'text', url: receiver.url('/menu') })
  assert.equal(made.status, 201, made.text)
})
after(async () => {
  for (const client of [second, third]) client?.close()
  for (const node of nodes.reverse()) await node.stop()
  await world?.stop()
  await receiver?.stop()
})

/** Another node of the installation; gives a client of the account there. */
async function joinedBy(more: Partial<Config>): Promise<Client> {
  const node = await world.another({ ...settings, ...more })
  nodes.push(node)
  return new Client(node.url, readFileSync(node.caFile ?? '', 'utf8'), account.key)
}

test('a USSD session that was dialled at one node goes on at the others', async () => {
  for (const [one, two, three] of [
    [first, second, third],
    [third, first, second],
  ] as const) {
    const dialled = await dial(one, shortcode)
    assert.equal(dialled.body.message, 'Karibu', dialled.text)
    const { session_id } = dialled.body
    const next = await type(two, session_id, '1')
    assert.equal(next.body.message, 'Which account?', next.text)
    const last = await type(three, session_id, '7')
    assert.deepEqual([last.body.message, last.body.action], ['You said 1*7', 'end'], last.text)
  }
})

test('a payer who was asked at one node answers at another, and the refund is of a third', async () => {
  const phone = newPhone()
  const byHand = await second.patch('/v1/sandbox/payments/behaviour', { by_hand: [phone] })
  assert.deepEqual(byHand.body.by_hand, [phone], byHand.text)
  for (const [one, two, three] of [
    [second, third, first],
    [third, first, second],
  ] as const) {
    const wanted = { amount: 150, currency: 'KES', method: 'mobile_money', phone }
    const { status, body, text } = await one.post('/v1/payments', wanted)
    assert.equal(status, 201, text)
    const id = body.payment_id
    await eventually(async () => {
      const { body: prompts } = await three.get(`/v1/sandbox/payments/prompts?phone=${encodeURIComponent(phone)}`)
      return prompts.data[0]?.payment_id === id && prompts.data[0].status === 'waiting'
    }, 'the prompt')
    const answered = await eventually(async () => {
      const reply = await two.post(`/v1/sandbox/payments/${id}/answer`, { decision: 'approve', pin: '1234' })
      return reply.status === 200 && reply
    }, 'the answer to be taken')
    assert.equal(answered.status, 200)
    await eventually(async () => (await three.get(`/v1/payments/${id}`)).body.status === 'completed', 'the payment')
    const refund = await three.post(`/v1/payments/${id}/refund`, { reason: 'requested_by_customer' })
    assert.equal(refund.status, 201, refund.text)
    const of = `/v1/refunds/${refund.body.refund_id}`
    await eventually(async () => (await one.get(of)).body.status === 'completed', 'the refund')
  }
})

test('mail that was sent at one node is in the mailbox at every other', async () => {
  for (const [index, client] of [first, second, third].entries()) {
    const subject = `Order ${index}`
    const mail = { from: 'shop@sandbox.pamoja.test', to: ['ada@example.com'], subject, text: 'On its way' }
    const sent = await client.post('/v1/email/send', mail)
    assert.equal(sent.status, 200, sent.text)
    for (const reader of [first, second, third])
      await eventually(async () => {
        const { body } = await reader.get('/v1/sandbox/email/messages')
        return body.data.some((one: { subject: string }) => one.subject === subject)
      }, `${subject} in the mailbox`)
  }
})

test('texts go out from every node, and a handset answers at every node', async () => {
  for (const client of [first, second, third]) {
    const to = newPhone()
    const sent = await client.post('/v1/sms/send', { to, from: 'DUKA', message: 'Habari' })
    assert.equal(sent.status, 200, sent.text)
    const at = `/v1/sms/${sent.body.messages?.[0]?.message_id ?? sent.body.message_id}`
    await eventually(async () => (await first.get(at)).body.status === 'delivered', 'the text')
    const written = await client.post('/v1/sandbox/sms/inbound', { from: to, to: '22141', message: 'Asante' })
    assert.equal(written.status, 201, written.text)
  }
})

test('a forwarded request keeps the address of its client, and nobody else can claim one', async () => {
  const from = (client: Client) =>
    client.post(
      '/v1/sandbox/ussd/dial',
      { phone: newPhone(), shortcode },
      { headers: { 'pamoja-forwarded': '192.0.2.7 0 00' } },
    )
  assert.equal((await from(third)).status, 200)
  const { body } = await first.get('/v1/logs?operation=sandbox.ussdDial&limit=1')
  assert.equal(body.data[0].ip, '127.0.0.1')
  assert.equal((await world.stranger.get('/internal/simulators')).status, 404)
})

test('when the node that runs the simulators leaves, another one takes its place', async () => {
  await world.node.stop()
  for (const client of [second, third]) {
    const dialled = await eventually(async () => {
      const reply = await dial(client, shortcode)
      return reply.status === 200 && reply
    }, 'the other node to take over')
    assert.equal(dialled.body.message, 'Karibu')
  }
})
