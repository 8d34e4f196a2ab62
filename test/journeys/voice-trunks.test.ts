// SPDX-License-Identifier: Apache-2.0
// Live calls over trunks that an operator enters: the networks behind them are our own stack in the opposite role, at another
// address of this machine. Failover, prices by prefix, registering, calls that come in.
import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { serverIdentity } from '../../src/platform/http/certificates.ts'
import { answerAudio, offerAudio } from '../../src/protocols/sdp/session-description.ts'
import type { SipCall } from '../../src/protocols/sip/call.ts'
import { challengeWith, proves } from '../../src/protocols/sip/digest.ts'
import { SipEndpoint } from '../../src/protocols/sip/endpoint.ts'
import { makeResponse } from '../../src/protocols/sip/message.ts'
import type { CallHandlers } from '../../src/protocols/sip/switchboard.ts'
import { TelephoneSimulator } from '../../src/simulators/telephones.ts'
import type { Client } from '../client.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { priceLive } from '../texting.ts'
import { eventually, startWorld, type World } from '../world.ts'

const host = '127.0.0.2'
const number = '+254700555666'
const path = '/v1/operator/voice/trunks'

let world: World
let shop: Receiver
let network: TelephoneSimulator
let silent: Socket
let live: Client
let identities: string

before(async () => {
  identities = await mkdtemp(join(tmpdir(), 'pamoja-trunks-'))
  const { caFile } = await identity('known')
  world = await startWorld({
    PAMOJA_SIP_CA_FILE: caFile ?? '',
    PAMOJA_VOICE_LATENESS_MS: 60_000,
    PAMOJA_WEBHOOKS_ALLOW_CIDRS: ['127.0.0.0/8', '::1/128'],
  })
  shop = await startReceiver()
  network = await TelephoneSimulator.start({ host, nowMs: Date.now, timeScale: 1 })
  silent = createSocket('udp4').bind(0, host)
  await once(silent, 'listening')
  const ada = await world.account({ balance: 100 })
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  live = world.stranger.as(key.key)
  const credit = { amount: 100, currency: 'KES', environment: 'live', reference: 'trunks' }
  await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  const given = await world.operator.post('/v1/operator/voice/numbers', { number, account_id: ada.id })
  assert.equal(given.status, 201, JSON.stringify(given.body))
})
after(async () => {
  silent?.close()
  await network?.stop()
  await shop?.stop()
  await world?.stop()
  await rm(identities, { recursive: true, force: true })
})

/** A certificate of a network's own, for localhost. */
function identity(name: string) {
  return serverIdentity({ dir: join(identities, name), now: new Date() })
}

async function enter(trunk: object): Promise<void> {
  const { status, body } = await world.operator.post(path, trunk)
  assert.equal(status, 201, JSON.stringify(body))
  assert.ok(!JSON.stringify(body).includes('secret'), 'no password comes back')
}

async function remove(...names: string[]): Promise<void> {
  for (const name of names) assert.equal((await world.operator.delete(`${path}/${name}`)).status, 200)
}

function trunk(name: string, is: (trunk: Record<string, unknown>) => boolean) {
  return eventually(async () => {
    const { body } = await world.operator.get(path)
    return body.data.find((one: { name: string }) => one.name === name && is(Object(one))) ?? null
  }, `the trunk ${name}`)
}

const wanted = { from: number, to: '+254711000020', actions: [{ action: 'wait', timeout: 600 }] }

async function answered(id: string): Promise<void> {
  await eventually(
    async () => (await live.get(`/v1/voice/${id}`)).body.status === 'answered',
    'the call to be answered',
  )
}

test('without a trunk that leads there a live call is refused, and one that is down does not count', async () => {
  const none = await live.post('/v1/voice/calls', wanted)
  assert.deepEqual([none.status, none.body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
  await enter({ name: 'uganda', host, port: network.port, prefixes: ['+256'] })
  assert.equal((await live.post('/v1/voice/calls', wanted)).status, 503)
  await remove('uganda')
  const stranger = await live.post('/v1/voice/calls', { ...wanted, from: '+254700555667' })
  assert.deepEqual([stranger.status, stranger.body.error.code], [403, 'NUMBER_NOT_OWNED'])
})

test('what is wrong with a trunk is said', async () => {
  const table: [object, number][] = [
    [{ name: 'A', host }, 422],
    [{ name: 'a', host: 'not a host' }, 422],
    [{ name: 'a', host, transport: 'sctp' }, 422],
    [{ name: 'a', host, prefixes: ['254'] }, 422],
    [{ name: 'a', host, prefixes: [] }, 422],
    [{ name: 'a', host, registers: true }, 422],
    [{ name: 'a', host, port: 0 }, 422],
  ]
  for (const [body, status] of table)
    assert.equal((await world.operator.post(path, body)).status, status, JSON.stringify(body))
  assert.equal((await world.operator.patch(`${path}/nobody`, {})).status, 404)
  assert.equal((await world.operator.delete(`${path}/nobody`)).status, 404)
  assert.equal((await live.get(path)).status, 403)
})

test('a live call goes over the trunk with the longest prefix, at its price, and past those that are down', async () => {
  const port = silent.address().port
  await enter({ name: 'dumb', host, port, prefixes: ['+2547'], priority: 1 })
  await enter({ name: 'shut', host, port: 9, transport: 'tcp', prefixes: ['+2547'], priority: 2 })
  await enter({ name: 'good', host, port: network.port, prefixes: ['+254'], username: 'me', password: 'secret' })
  await trunk('good', ({ is_up }) => is_up === true)
  const unpriced = await live.post('/v1/voice/calls', wanted)
  assert.deepEqual([unpriced.status, unpriced.body.error.code], [403, 'DESTINATION_NOT_ALLOWED'])
  const rate = { prefix: '+25471', currency: 'KES', minute: '3' }
  assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf(wanted.to, 'KES') === 3_000_000n, 'the rate to be known')
  const { status, body } = await live.post('/v1/voice/calls', wanted)
  assert.equal(status, 201, JSON.stringify(body))
  await answered(body.call_id)
  const { body: list } = await world.operator.get(path)
  const found = new Map(list.data.map((one: { name: string }) => [one.name, one]))
  assert.deepEqual(
    ['dumb', 'shut', 'good'].map((name) => Object(found.get(name)).is_up),
    [false, false, true],
  )
  assert.equal(Object(found.get('good')).calls, 1)
  assert.deepEqual(
    trunks.waysTo(wanted.to).map(({ name }) => name),
    ['good', 'dumb', 'shut'],
    'those that are down come last',
  )
  assert.equal((await world.operator.patch(`${path}/good`, { max_calls: 1 })).status, 200)
  await trunk('good', ({ max_calls, is_up, calls }) => max_calls === 1 && is_up === true && calls === 1)
  await eventually(async () => !trunks.waysTo(wanted.to).some(({ name }) => name === 'good'), 'the trunk to be full')
  const over = await live.post(`/v1/voice/${body.call_id}/hangup`, {})
  assert.equal(over.body.status, 'completed')
  assert.equal(over.body.cost, over.body.duration / 20, 'three shillings a minute')
  await trunk('good', ({ calls }) => calls === 0)
  await remove('dumb', 'shut')
  const busy = await live.post('/v1/voice/calls', { ...wanted, to: '+254711000002' })
  const refused = await eventually(async () => {
    const { body: call } = await live.get(`/v1/voice/${busy.body.call_id}`)
    return call.ended_at ? call : null
  }, 'the call to end')
  assert.deepEqual([refused.status, refused.sip_code, refused.cost], ['busy', 486, 0])
  const removed = await world.operator.delete('/v1/operator/voice/rates/%2B25471/KES')
  assert.equal(removed.status, 200, JSON.stringify(removed.body))
  await remove('good')
})

test('a price for anywhere is none for a number of no country: only one of its prefix is', async () => {
  const { trunks } = telephoneNetworkOf(world.app)
  await enter({ name: 'far', host, port: network.port, prefixes: ['+870'] })
  await trunk('far', ({ is_up }) => is_up === true)
  await priceLive(world, { area: 'voice', unit: 'minute', amount: 3 })
  const to = '+870771234567'
  const satellite = { ...wanted, to }
  const refused = await live.post('/v1/voice/calls', satellite)
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'DESTINATION_NOT_ALLOWED'])
  const rate = { prefix: '+870', currency: 'KES', minute: 90 }
  assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
  await eventually(async () => trunks.rateOf(to, 'KES') === 90_000_000n, 'the rate to be known')
  const placed = await live.post('/v1/voice/calls', satellite)
  assert.equal(placed.status, 201, placed.text)
  await live.post(`/v1/voice/${placed.body.call_id}/hangup`, {})
  await world.operator.delete('/v1/operator/voice/rates/%2B870/KES')
  await remove('far')
})

test('the address of a trunk is no SIP address that a customer can call: the operator would pay', async () => {
  await enter({ name: 'paid', host, port: network.port })
  await trunk('paid', ({ is_up }) => is_up === true)
  const rate = { prefix: '+25471', currency: 'KES', minute: 3 }
  assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
  shop.answer((_request, response) => void response.end('{}'))
  const endpoint = [{ type: 'sip', uri: `sip:+254711000020@${host}:${network.port}` }]
  const actions = [{ action: 'connect', endpoint, eventUrl: [shop.url('/through')] }, { action: 'hangup' }]
  await eventually(async () => (await live.post('/v1/voice/calls', { ...wanted, actions })).status === 201, 'the rate')
  const { status, reason } = JSON.parse((await shop.next('/through')).body)
  assert.deepEqual([status, reason], ['failed', 'no_route'])
  await world.operator.delete('/v1/operator/voice/rates/%2B25471/KES')
  await remove('paid')
})

test('a call that comes over a trunk reaches the application of its number, as a live call', async () => {
  await enter({ name: 'inbound', host, port: network.port })
  await trunk('inbound', ({ is_up }) => is_up === true)
  shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'wait', timeout: 600 }])))
  const assigned = await live.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/live') },
  })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  await network.call('+254711000077', number, telephoneNetworkOf(world.app).address, 'caller')
  const asked = JSON.parse((await shop.next('/live')).body)
  assert.deepEqual([asked.from, asked.to, asked.direction], ['+254711000077', number, 'inbound'])
  await answered(asked.call_id)
  assert.ok(network.hangup('caller'))
  const over = await eventually(async () => {
    const { body } = await live.get(`/v1/voice/${asked.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_cause, over.hangup_by], ['completed', 'normal', 'caller'])
  await remove('inbound')
})

test('a trunk registers with its password, is told when it is refused, and unregisters when it is given up', async () => {
  const nonce = 'n0nce'
  const heard: string[] = []
  const registrar = await SipEndpoint.open({
    host,
    ports: { tcp: 0 },
    invited: () => null,
    asked: (transaction) => {
      const { request } = transaction
      if (request.method !== 'REGISTER') return false
      const proof = request.headers.get('authorization')
      const isKnown = proof !== null && proves(proof, 'REGISTER', nonce, (name) => (name === 'me' ? 'right' : null))
      const response = makeResponse(request, isKnown ? 200 : proof === null ? 401 : 403, 'registrar')
      if (proof === null) response.headers.add('www-authenticate', challengeWith('example', nonce))
      if (isKnown) heard.push(request.headers.get('expires') ?? '')
      transaction.respond(response)
      return true
    },
  })
  const where = { host, port: registrar.ports.tcp, transport: 'tcp', registers: true, username: 'me' }
  await enter({ name: 'strict', ...where, password: 'wrong' })
  const refused = await trunk('strict', ({ last_error }) => last_error !== null)
  assert.match(refused.last_error, /403/)
  assert.equal((await world.operator.patch(`${path}/strict`, { password: 'right' })).status, 200)
  await trunk('strict', ({ is_registered, is_up }) => is_registered === true && is_up === true)
  assert.deepEqual(heard, ['300'])
  await remove('strict')
  await eventually(async () => heard.includes('0'), 'it to be unregistered')
  await registrar.close()
})

/** A network that speaks TLS alone and answers every call; without audio, which is another matter. */
async function secureNetwork(
  name: string,
  handlers: CallHandlers,
): Promise<{ endpoint: SipEndpoint; calls: SipCall[] }> {
  const { key, cert } = await identity(name)
  const calls: SipCall[] = []
  const own = { host: '127.0.0.1', port: 40_000, version: 1 }
  const endpoint = await SipEndpoint.open({
    host: '127.0.0.1',
    ports: { tls: 0 },
    tls: { key, cert },
    trusted: await readFile(world.node.caFile ?? '', 'utf8'),
    invited: (call) => {
      calls.push(call)
      queueMicrotask(() => call.answer(answerAudio(call.offer ?? '', own) ?? ''))
      return handlers
    },
  })
  return { endpoint, calls }
}

test('a trunk over TLS carries calls both ways, and none where the certificate is not trusted', async () => {
  const ends: string[] = []
  const handlers: CallHandlers = { ended: (by) => void ends.push(by), answered: () => void ends.push('answered') }
  const [known, forged] = [await secureNetwork('known', handlers), await secureNetwork('forged', handlers)]
  const where = { host: 'localhost', transport: 'tls' }
  await enter({ name: 'forged', ...where, port: forged.endpoint.ports.tls, prefixes: ['+2547'] })
  await trunk('forged', ({ is_up, last_error }) => is_up === false && last_error !== null)
  await enter({ name: 'secure', ...where, port: known.endpoint.ports.tls, prefixes: ['+254'] })
  await trunk('secure', ({ is_up }) => is_up === true)
  const rate = { prefix: '+254', currency: 'KES', minute: 3 }
  assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
  const placed = await eventually(async () => {
    const { status, body } = await live.post('/v1/voice/calls', wanted)
    return status === 201 ? body : null
  }, 'the rate to be known')
  await answered(placed.call_id)
  assert.deepEqual([known.calls.length, known.calls[0]?.source.transport, forged.calls.length], [1, 'tls', 0])
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})
  await eventually(async () => ends.includes('remote'), 'the network to hear that it is over')

  shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'wait', timeout: 600 }])))
  await live.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/secure') },
  })
  ends.length = 0
  const { tlsPort } = telephoneNetworkOf(world.app).address
  const call = known.endpoint.invite(
    {
      uri: `sip:${number}@localhost:${tlsPort};transport=tls`,
      peer: { transport: 'tls', host: 'localhost', port: tlsPort },
      from: '<sip:+254711000066@localhost>',
      description: offerAudio({ host: '127.0.0.1', port: 40_000, version: 1 }),
    },
    handlers,
  )
  const asked = JSON.parse((await shop.next('/secure')).body)
  await answered(asked.call_id)
  await eventually(async () => ends.includes('answered'), 'the network to hear the answer')
  call.hangup()
  const over = await eventually(async () => {
    const { body } = await live.get(`/v1/voice/${asked.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_by, over.from], ['completed', 'caller', '+254711000066'])
  await remove('secure', 'forged')
  await Promise.all([known.endpoint.close(), forged.endpoint.close()])
})
