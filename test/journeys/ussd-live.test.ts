// SPDX-License-Identifier: Apache-2.0
// Live keys over a network that the operator connected: our own SMPP server in the opposite role, with operation codes and
// tags of a vendor, which says everything twice.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { showTo } from '../../src/areas/ussd/intake.ts'
import { namedSession } from '../../src/areas/ussd/store.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import { UssdNetworkSimulator } from '../../src/simulators/ussd-network.ts'
import type { Client } from '../client.ts'
import { startReceiver } from '../receiver.ts'
import { priceLive } from '../texting.ts'
import { application, newCode, newPhone } from '../ussd.ts'
import { eventually, startWorld, tenantOf } from '../world.ts'

const ops = { dialled: 0x21, asks: 0x22, tells: 0x23, ends: 0x24, answered: 0x25, aborted: 0x26, released: 0x27 }
const network = await UssdNetworkSimulator.start({
  ...{ host: '127.0.0.1', systemId: 'vendor', password: 'secret', repeats: true },
  profile: { serviceType: 'VND', opTag: 0x1501, sessionTag: 0x1502, dialogBytes: 4, ops },
})
after(() => network.stop())

// What live keys call must be public: here the machine itself counts as that.
const world = await startWorld({ PAMOJA_WEBHOOKS_ALLOW_CIDRS: ['127.0.0.0/8', '::1/128'] })
const receiver = await startReceiver()
after(async () => {
  const { problems } = await verifyLedger(world.app.db)
  await receiver.stop()
  await world.stop()
  assert.deepEqual(problems, [])
})
const asked: string[] = []
application(receiver, {
  '/menu': ({ text }) => {
    asked.push(String(text))
    return text === '' ? 'CON Karibu\n1. Salio' : `END Umechagua ${text}`
  },
  '/deep': ({ text }) => (String(text).split('*').length > 3 ? `END Over ${text}` : `CON At ${text}`),
  '/later': () => '',
})

const gateways = '/v1/operator/ussd/smpp-gateways'
const vendor = {
  ...{ name: 'vendor', host: '127.0.0.1', port: network.port, system_id: 'vendor', password: 'secret' },
  bind_mode: 'pair',
  profile: { service_type: 'VND', op_tag: 0x1501, session_tag: 0x1502, dialog_bytes: 4, ops },
}

const isUp = (wanted: boolean) =>
  eventually(
    async () => {
      const { body } = await world.operator.get(`${gateways}/vendor`)
      return body.is_up === wanted && body
    },
    `the gateway to be ${wanted ? 'up' : 'down'}`,
  )

async function shop(more: object): Promise<{ live: Client; shortcode: string; tenant: Tenant }> {
  const { client, id } = await world.account()
  const credit = { amount: 10, currency: 'KES', environment: 'live', reference: `live-${id}` }
  const credited = await world.operator.post(`/v1/operator/accounts/${id}/credit`, credit)
  assert.ok(credited.status < 300, credited.text)
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const shortcode = newCode()
  await world.operator.post('/v1/operator/ussd/shortcodes', { account_id: id, shortcode })
  const live = world.stranger.as(key.key)
  const made = await live.post('/v1/ussd/shortcodes', { shortcode, ...more })
  assert.equal(made.status, 201, made.text)
  return { live, shortcode, tenant: { ...tenantOf({ id }), environment: 'live' } }
}

/** A push may not have reached its handset yet. */
const sees = (phone: string) => eventually(() => network.screen(phone, 1_000), 'a screen')

const balance = async (live: Client) => (await live.get('/v1/wallet/balance')).body.balances[0].balance

test('an operator enters a gateway, which is open at once, and never shows its password', async () => {
  const same = { ...vendor.profile, ops: { ...ops, ends: ops.asks } }
  const unclear = await world.operator.post(gateways, { ...vendor, profile: same })
  assert.deepEqual([unclear.status, unclear.body.error.code], [422, 'VALIDATION_ERROR'])
  const made = await world.operator.post(gateways, vendor)
  assert.equal(made.status, 201, made.text)
  assert.equal((await world.operator.post(gateways, vendor)).status, 409)
  const { node } = await isUp(true)
  assert.match(node, /^node_/)
  const { text, body } = await world.operator.get(gateways)
  assert.deepEqual([text.includes('secret'), body.data.length, body.data[0].profile.op_tag], [false, 1, 0x1501])
})

test('where nobody has set a price no live session begins, by a push or a dial, and nothing is taken', async () => {
  const { live, shortcode } = await shop({ mode: 'text', url: receiver.url('/menu') })
  const push = { phone: newPhone(), shortcode, message: 'Hello', session_id: 'unpriced' }
  const pushed = await live.post('/v1/ussd/send', push)
  assert.deepEqual([pushed.status, pushed.body.error.code], [403, 'DESTINATION_NOT_ALLOWED'])
  assert.notEqual((await network.dial(newPhone(), shortcode)).status, 0)
  const { body } = await live.get('/v1/ussd/sessions')
  assert.deepEqual([body.data, await balance(live)], [[], 10])
  await priceLive(world, { area: 'ussd', unit: 'session', amount: 0.5 })
})

test('a subscriber dials a live code over a gateway that repeats everything: asked once for each step, paid once', async () => {
  const { live, shortcode } = await shop({ mode: 'text', url: receiver.url('/menu') })
  const phone = newPhone()
  asked.length = 0
  assert.equal((await network.dial(phone, shortcode)).status, 0)
  assert.deepEqual(await sees(phone), { text: 'Karibu\n1. Salio', isOpen: true })
  assert.equal(await network.input(phone, '1'), 0)
  assert.deepEqual(await sees(phone), { text: 'Umechagua 1', isOpen: false })
  assert.deepEqual(asked, ['', '1'])
  const session = await eventually(async () => {
    const { body } = await live.get('/v1/ussd/sessions')
    return body.data.length === 1 && body.data[0].status === 'completed' && body.data[0]
  }, 'the end')
  assert.deepEqual(
    [session.direction, session.reason, session.total_steps, session.cost],
    ['dial', 'completed', 2, 0.5],
  )
  assert.equal(await balance(live), 9.5)
  assert.notEqual((await network.dial(newPhone(), '*99999#')).status, 0, 'a code of nobody is refused')
})

for (const sequences of ['echoed', 'none'] as const)
  test(`a network whose answers have ${sequences === 'none' ? 'always the same number' : 'the numbers of our screens'} gets through every screen`, async () => {
    const own = await UssdNetworkSimulator.start({ host: '127.0.0.1', systemId: 'own', password: 'secret', sequences })
    after(() => own.stop())
    const gateway = { name: sequences, host: '127.0.0.1', port: own.port, system_id: 'own', password: 'secret' }
    assert.equal((await world.operator.post(gateways, gateway)).status, 201)
    await eventually(async () => (await world.operator.get(`${gateways}/${sequences}`)).body.is_up, 'the gateway')
    const { live, shortcode } = await shop({ mode: 'text', url: receiver.url('/deep') })
    const phone = newPhone()
    assert.equal((await own.dial(phone, shortcode)).status, 0)
    const screens = [(await own.screen(phone, 10_000))?.text]
    for (const input of ['1', '2', '2', '2']) {
      assert.equal(await own.input(phone, input), 0)
      screens.push((await own.screen(phone, 10_000))?.text)
    }
    assert.deepEqual(screens, ['At', 'At 1', 'At 1*2', 'At 1*2*2', 'Over 1*2*2*2'])
    const { body } = await live.get('/v1/ussd/sessions?status=completed')
    assert.deepEqual([body.data.length, body.data[0].total_steps], [1, 5])
    assert.equal((await world.operator.delete(`${gateways}/${sequences}`)).status, 200)
  })

test('what a handset sends that no text can hold is taken without it', async () => {
  const { live, shortcode } = await shop({ mode: 'text', url: receiver.url('/menu') })
  const phone = newPhone()
  await network.dial(phone, shortcode)
  assert.equal((await sees(phone))?.isOpen, true)
  assert.equal(await network.input(phone, '1\u0000\ud83d'), 0)
  assert.deepEqual(await sees(phone), { text: 'Umechagua 1\ufffd', isOpen: false })
  assert.equal(await balance(live), 9.5)
})

test('a screen is pushed with a live key, and goes on once the subscriber has answered', async () => {
  const { live, shortcode } = await shop({ mode: 'webhook', url: receiver.url('/later') })
  const phone = newPhone()
  const pushed = await live.post('/v1/ussd/send', {
    phone,
    shortcode,
    message: 'Una deni. 1. Lipa',
    session_id: 'push-1',
  })
  assert.equal(pushed.status, 200, pushed.text)
  assert.deepEqual(await sees(phone), { text: 'Una deni. 1. Lipa', isOpen: true })
  const next = { session_id: 'push-1', input: '1', message: 'Asante', end_session: true }
  const early = await live.post('/v1/ussd/continue', next)
  assert.deepEqual([early.status, early.body.error.code], [409, 'NO_PENDING_INPUT'])
  assert.equal(await network.input(phone, '1'), 0)
  const gone = await eventually(async () => {
    const answer = await live.post('/v1/ussd/continue', next)
    return answer.status === 200 && answer
  }, 'the input to arrive')
  assert.equal(gone.body.status, 'completed')
  assert.deepEqual(await sees(phone), { text: 'Asante', isOpen: false })
  assert.equal(await balance(live), 9.5)
})

test('a push that is over before the node with the gateway comes to it is not shown', async () => {
  const { live, shortcode, tenant } = await shop({ mode: 'webhook', url: receiver.url('/later') })
  const [phone, other] = [newPhone(), newPhone()]
  await live.post('/v1/ussd/send', { phone, shortcode, message: 'Una deni', session_id: 'push-2' })
  assert.deepEqual(await sees(phone), { text: 'Una deni', isOpen: true })
  const pushed = (await namedSession(world.app, world.app.db, tenant, 'push-2')) ?? assert.fail()
  const over = { awaiting: 'nobody', status: 'completed', reason: 'completed', cost: 0n, shown_at: null } as const
  await showTo(world.app, { ...pushed, ...over, phone: other })
  assert.equal(await network.screen(other, 0), null)
})

test('a subscriber hangs up, and an end without a word closes the dialog', async () => {
  const { live, shortcode } = await shop({ mode: 'text', url: receiver.url('/menu') })
  const [left, closed] = [newPhone(), newPhone()]
  for (const phone of [left, closed]) {
    await network.dial(phone, shortcode)
    assert.equal((await sees(phone))?.isOpen, true)
  }
  await network.cancel(left)
  const reason = await eventually(async () => {
    const { body } = await live.get(`/v1/ussd/sessions?phone=${encodeURIComponent(left)}`)
    return body.data[0]?.reason
  }, 'the end')
  assert.equal(reason, 'user_cancelled')
  const { body } = await live.get(`/v1/ussd/sessions?phone=${encodeURIComponent(closed)}`)
  assert.equal((await live.post(`/v1/ussd/sessions/${body.data[0].session_id}/end`, {})).status, 200)
  await eventually(async () => (await network.screen(closed, 1_000))?.isOpen === false, 'the dialog to be closed')
})

test('a gateway that is put out of use takes no pushes; one that is given up is gone', async () => {
  const { live, shortcode } = await shop({ mode: 'text', url: receiver.url('/menu') })
  const push = { phone: newPhone(), shortcode, message: 'Hello', session_id: 'push-2' }
  assert.equal((await world.operator.patch(`${gateways}/vendor`, { enabled: false })).status, 200)
  const refused = await live.post('/v1/ussd/send', push)
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
  assert.ok(Number(refused.headers['retry-after']) > 0)
  await world.operator.patch(`${gateways}/vendor`, { enabled: true, prefixes: ['+2557'] })
  await isUp(true)
  assert.equal((await live.post('/v1/ussd/send', push)).status, 503, 'the number is beyond its prefixes')
  assert.equal(await balance(live), 10)
  assert.equal((await world.operator.delete(`${gateways}/vendor`)).status, 200)
  assert.equal((await world.operator.get(`${gateways}/vendor`)).status, 404)
})
