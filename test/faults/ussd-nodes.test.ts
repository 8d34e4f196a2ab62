// SPDX-License-Identifier: Apache-2.0
// Two nodes and a USSD gateway, which one of them has open. When that node is killed in the middle of a session the other goes
// on: the subscriber sees the next screen, and the account pays once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { UssdNetworkSimulator } from '../../src/simulators/ussd-network.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { application } from '../ussd.ts'
import { type Installation, startInstallation } from './harness.ts'

// What live keys call must be public: here the machine itself counts as that.
const environment = { PAMOJA_RATE_LIMITS: 'off', PAMOJA_WEBHOOKS_ALLOW_CIDRS: '127.0.0.0/8,::1/128' }
const shortcode = '*384#'
const price = 0.5
let network: UssdNetworkSimulator
let installation: Installation
let receiver: Receiver
/** Whether the application says nothing. */
let isSilent = false

before(async () => {
  network = await UssdNetworkSimulator.start({ host: '127.0.0.1', systemId: 'network', password: 'secret' })
  receiver = await startReceiver()
  application(receiver, {
    '/menu': ({ text }) => (isSilent ? null : text === '1*2' ? 'END Asante' : `CON Screen after ${text || 'the dial'}`),
  })
  installation = await startInstallation({ nodes: 2, database: 'shared', environment })
  const made = await installation.operator().post('/v1/operator/ussd/smpp-gateways', {
    ...{ name: 'network', host: '127.0.0.1', port: network.port, system_id: 'network', password: 'secret' },
  })
  assert.equal(made.status, 201, made.text)
  await eventually(async () => (await gateway()).is_up, 'the gateway to be open')
  const session = { area: 'ussd', unit: 'session', amount: price, currency: 'KES' }
  const priced = await installation.operator().post('/v1/operator/prices', session)
  assert.equal(priced.status, 201, priced.text)
})

test('nodes share the gateways, and have none twice', async () => {
  const other = await UssdNetworkSimulator.start({ host: '127.0.0.1', systemId: 'other', password: 'secret' })
  const made = await installation.operator().post('/v1/operator/ussd/smpp-gateways', {
    ...{ name: 'other', host: '127.0.0.1', port: other.port, system_id: 'other', password: 'secret' },
  })
  assert.equal(made.status, 201, made.text)
  const second = () => installation.operator().get('/v1/operator/ussd/smpp-gateways/other')
  const { body } = await eventually(async () => {
    const answer = await second()
    return answer.body.is_up && answer
  }, 'the second gateway to be open')
  assert.notEqual(body.node, (await gateway()).node)
  assert.equal((await installation.operator().delete('/v1/operator/ussd/smpp-gateways/other')).status, 200)
  await other.stop()
})

after(async () => {
  await installation.stop()
  await network.stop()
  await receiver.stop()
})

async function gateway() {
  const [node = 0] = installation.runningNodes()
  return (await installation.operator(node).get('/v1/operator/ussd/smpp-gateways/network')).body
}

async function killOwner(): Promise<number> {
  const { node } = await gateway()
  const owner = installation.runningNodes().find((index) => installation.nodeId(index) === uuidOf('node', node))
  assert.ok(owner !== undefined, `${node} is no node`)
  await installation.killNode(owner)
  return owner
}

async function screen(phone: string) {
  return eventually(async () => network.screen(phone, 1_000), 'a screen', 30_000)
}

/** An account with money and a code of its own, as clients of each node. */
async function shop(code: string): Promise<(node: number) => Client> {
  const account = await installation.account()
  const credit = { amount: 10, currency: 'KES', environment: 'live', reference: `live ${code}` }
  const credited = await installation.operator().post(`/v1/operator/accounts/${account.id}/credit`, credit)
  assert.equal(credited.status, 200, credited.text)
  const { body: key } = await installation
    .client(0, account.key)
    .post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = (node: number) => installation.client(node, key.key)
  const assigned = { account_id: account.id, shortcode: code }
  assert.equal((await installation.operator().post('/v1/operator/ussd/shortcodes', assigned)).status, 200)
  const app = { shortcode: code, mode: 'text', url: receiver.url('/menu'), network_limit: 60, timeout: 180 }
  const made = await live(0).post('/v1/ussd/shortcodes', app)
  assert.equal(made.status, 201, made.text)
  return live
}

test('a session goes on at the other node, between two screens and while the application thinks', async (t) => {
  const live = await shop(shortcode)
  const [resting, thinking] = ['+254711300001', '+254711300002']
  for (const phone of [resting, thinking]) {
    assert.equal((await network.dial(phone, shortcode)).status, 0)
    assert.equal((await screen(phone))?.text, 'Screen after the dial')
  }
  isSilent = true
  assert.equal(await network.input(thinking, '1'), 0)
  const dead = await killOwner()
  const killedMs = performance.now()
  isSilent = false
  assert.equal((await screen(thinking))?.text, 'Screen after 1')
  t.diagnostic(`the next screen came ${Math.round(performance.now() - killedMs)} ms after the node was killed`)
  assert.equal(await network.input(resting, '1'), 0)
  assert.equal((await screen(resting))?.text, 'Screen after 1')
  for (const phone of [resting, thinking]) {
    assert.equal(await network.input(phone, '2'), 0)
    assert.deepEqual(await screen(phone), { text: 'Asante', isOpen: false })
  }
  const [left = 0] = installation.runningNodes()
  const { body } = await eventually(async () => {
    const answer = await live(left).get('/v1/ussd/sessions?status=completed')
    return answer.body.data.length === 2 && answer
  }, 'both to be completed')
  for (const session of body.data) assert.deepEqual([session.reason, session.cost], ['completed', price])
  const { ok, problems } = await verifyLedger(installation.db)
  assert.ok(ok, problems.join())
  await installation.startNode(dead)
})

test('a push that was accepted while the gateway’s node was dead is shown by the node that takes over', async () => {
  const live = await shop('*385#')
  const phone = '+254711300003'
  const dead = await killOwner()
  const [left = 0] = installation.runningNodes()
  const push = { phone, shortcode: '*385#', message: 'Una deni. 1. Lipa', session_id: 'push' }
  // Refused, and asked again, where the lease of the dead node is over already.
  await eventually(async () => (await live(left).post('/v1/ussd/send', push)).status === 200, 'the push to be accepted')
  assert.deepEqual(await screen(phone), { text: 'Una deni. 1. Lipa', isOpen: true })
  await installation.startNode(dead)
})
