// SPDX-License-Identifier: Apache-2.0
// Live calls over trunks that an operator enters: the networks behind them are our own stack in the opposite role, at another
// address of this machine. Failover, prices by prefix, registering, calls that come in.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { getServers, setServers } from 'node:dns'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { selectTrunks } from '../../src/areas/voice/trunks/store.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { withheldNumber } from '../../src/kernel/phone.ts'
import { serverIdentity } from '../../src/platform/http/certificates.ts'
import { DnsServer } from '../../src/protocols/dns/server.ts'
import { answerAudio, offerAudio } from '../../src/protocols/sdp/session-description.ts'
import type { SipCall } from '../../src/protocols/sip/call.ts'
import { challengeWith, proves } from '../../src/protocols/sip/digest.ts'
import { SipEndpoint } from '../../src/protocols/sip/endpoint.ts'
import {
  makeResponse,
  parseMessage,
  type SipMessage,
  type SipRequest,
  serialise,
} from '../../src/protocols/sip/message.ts'
import type { CallHandlers } from '../../src/protocols/sip/switchboard.ts'
import { TelephoneSimulator } from '../../src/simulators/telephones.ts'
import type { Client } from '../client.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { priceLive } from '../texting.ts'
import { eventually, startWorld, type World } from '../world.ts'

const host = '127.0.0.2'
const number = '+254700555666'
const path = '/v1/operator/voice/trunks'

/** Ports for the audio of twelve legs, below those that the system gives out. */
const firstPort = 2 * randomInt(10_000, 16_000)
const audioPorts = `${firstPort}-${firstPort + 23}`

let world: World
let shop: Receiver
let network: TelephoneSimulator
let silent: Socket
let live: Client
let tester: Client
let identities: string
let files: { cert: string; key: string }
/** Certificates of those that issued ours, now and later. */
let authorities: string

before(async () => {
  identities = await mkdtemp(join(tmpdir(), 'pamoja-trunks-'))
  const [{ caFile }, ours, renewed] = [await identity('known'), await identity('ours'), await identity('renewed')]
  const issuers = [ours, renewed].map((one) => readFile(one.caFile ?? '', 'utf8'))
  authorities = (await Promise.all(issuers)).join('\n')
  files = { cert: join(identities, 'cert.pem'), key: join(identities, 'key.pem') }
  await place(ours)
  world = await startWorld({
    PAMOJA_RTP_PORTS: audioPorts,
    PAMOJA_SIP_CA_FILE: caFile ?? '',
    PAMOJA_TLS_CERT: files.cert,
    PAMOJA_TLS_KEY: files.key,
    PAMOJA_VOICE_LATENESS_MS: 60_000,
    PAMOJA_WEBHOOKS_ALLOW_CIDRS: ['127.0.0.0/8', '::1/128'],
  })
  shop = await startReceiver()
  network = await TelephoneSimulator.start({ host, nowMs: Date.now, timeScale: 1 })
  silent = createSocket('udp4').bind(0, host)
  await once(silent, 'listening')
  const ada = await world.account({ balance: 1_000 })
  tester = ada.client
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

/** Puts a certificate where the node looks for its own. */
async function place({ cert, key }: { cert: string; key: string }): Promise<void> {
  await writeFile(files.cert, `${cert}\n${authorities}`)
  await writeFile(files.key, key)
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
      // A network that keeps a registration for two seconds, and shows another one that it keeps for longer.
      const [contact] = request.headers.all('contact')
      if (isKnown) response.headers.add('contact', `<sip:me@192.0.2.9>;expires=3600, ${contact};expires=2`)
      if (isKnown) heard.push(request.headers.get('expires') ?? '')
      transaction.respond(response)
      return true
    },
  })
  const where = { host, port: registrar.ports.tcp, transport: 'tcp', registers: true, username: 'me' }
  await enter({ name: 'strict', ...where, password: 'wrong' })
  const refused = await trunk('strict', ({ last_error }) => last_error !== null)
  assert.match(refused.last_error, /403/)
  const tested = async () => (await world.operator.post(`${path}/strict/test`)).body
  const stopped = await tested()
  assert.deepEqual(
    stopped.steps.map(({ name, status }: Record<string, string>) => `${name} ${status}`),
    ['name passed', 'connection passed', 'tls skipped', 'sign_in failed', 'answer skipped'],
  )
  assert.match(stopped.steps[3].detail, /REGISTER was answered with 403/)
  assert.equal((await world.operator.patch(`${path}/strict`, { password: 'right' })).status, 200)
  await trunk('strict', ({ is_registered, is_up }) => is_registered === true && is_up === true)
  await eventually(async () => heard.length > 2, 'the registration to be refreshed before it ends')
  assert.deepEqual([...new Set(heard)], ['300'])
  const good = await tested()
  assert.ok(good.is_good && /^OPTIONS was answered with \d+/.test(good.steps[4].detail), JSON.stringify(good))
  // A change of something else leaves the sealed password alone, whether or not it can be opened just now.
  const sealed = async () => {
    const rows = await world.app.db.query(selectTrunks, {})
    return rows.find(({ name }) => name === 'strict')?.secret?.toString('hex')
  }
  const before = await sealed()
  assert.equal((await world.operator.patch(`${path}/strict`, { max_calls: 7 })).status, 200)
  assert.ok(before && before === (await sealed()))
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
    trusted: authorities,
    invited: (call) => {
      calls.push(call)
      const answer = answerAudio(call.offer ?? '', own)
      queueMicrotask(() => (answer === null ? call.reject(488) : call.answer(answer)))
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
  assert.match(known.calls[0]?.offer ?? '', /m=audio \d+ RTP\/AVP [\s\S]*a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:/)
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})
  await eventually(async () => ends.includes('remote'), 'the network to hear that it is over')
  const readable = await world.operator.patch(`${path}/secure`, { transport: 'tcp' })
  assert.deepEqual([readable.status, readable.body.error.fields[0].field], [422, 'srtp'], JSON.stringify(readable.body))
  assert.equal((await world.operator.patch(`${path}/secure`, { srtp: 'required' })).status, 200)
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.waysTo(wanted.to).some(({ srtp }) => srtp === 'required'), 'the change')
  const bare = await live.post('/v1/voice/calls', wanted)
  const refusal = await over(bare.body.call_id)
  assert.deepEqual([refusal.status, refusal.sip_code], ['failed', 488], 'a network without a key is none')
  assert.match(known.calls[1]?.offer ?? '', /RTP\/SAVP/)
  assert.equal((await world.operator.patch(`${path}/secure`, { srtp: 'optional' })).status, 200)
  await trunk('secure', ({ is_up, srtp }) => is_up === true && srtp === 'optional')

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
  const gone = await over(asked.call_id)
  assert.deepEqual([gone.status, gone.hangup_by, gone.from], ['completed', 'caller', '+254711000066'])
  await remove('secure', 'forged')
  await Promise.all([known.endpoint.close(), forged.endpoint.close()])
})

test('a network over TLS goes on at addresses of its own, which are known by the name of the trunk', async () => {
  const { key, cert } = await identity('known')
  const heard: string[] = []
  const listen = async (at: string, answer: (request: SipRequest) => SipMessage | null) => {
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const message = parseMessage(bytes)
        if (message.kind !== 'request') return
        if (message.method !== 'OPTIONS') heard.push(`${message.method} ${at}`)
        const response = answer(message)
        if (response) socket.write(serialise(response))
      })
    })
    await once(server.listen(0, at), 'listening')
    const { port } = Object(server.address())
    return { server, port: Number(port) }
  }
  // No certificate here is for this address.
  const aside = await listen('127.0.0.7', (request) =>
    request.method === 'BYE' ? makeResponse(request, 200, null) : null,
  )
  const front = await listen('127.0.0.1', (request) => {
    const response = makeResponse(request, 200, 'front')
    if (request.method !== 'INVITE') return response
    response.headers.add('record-route', `<sip:127.0.0.7:${aside.port};transport=tls;lr>`)
    response.headers.add('contact', '<sip:phone@127.0.0.8>').add('content-type', 'application/sdp')
    const description = answerAudio(request.body.toString(), { host: '127.0.0.1', port: 40_020, version: 1 })
    return { ...response, body: Buffer.from(description ?? '') }
  })
  await enter({ name: 'wide', host: 'localhost', transport: 'tls', port: front.port, prefixes: ['+254'], srtp: 'off' })
  await trunk('wide', ({ is_up }) => is_up === true)
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  const placed = await eventually(async () => {
    const { status, body } = await live.post('/v1/voice/calls', wanted)
    return status === 201 ? body : null
  }, 'the rate to be known')
  await answered(placed.call_id)
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})
  await eventually(async () => heard.length > 2, 'the network to hear that it is over')
  assert.deepEqual(heard, ['INVITE 127.0.0.1', 'ACK 127.0.0.7', 'BYE 127.0.0.7'])
  await remove('wide')
  front.server.close()
  aside.server.close()
})

/** A network by hand: it answers each number as told, and keeps the addresses that calls were made to. */
async function plainNetwork(statusOf: (number: string) => number | null, { at = '127.0.0.3', isShut = false } = {}) {
  const called: string[] = []
  const from: string[] = []
  const calls: SipCall[] = []
  const handlers: CallHandlers = {}
  const network = { contacts: [] as string[] }
  const endpoint = await SipEndpoint.open({
    host: at,
    ports: { udp: 0 },
    asked: (transaction) => {
      if (isShut) transaction.reply(503, 'shut')
      return isShut
    },
    invited: (call) => {
      const user = /sip:([^@]*)@/.exec(call.requestUri)?.[1] ?? ''
      called.push(user)
      calls.push(call)
      from.push(call.from)
      const status = statusOf(user)
      queueMicrotask(() => {
        if (status === 180) return call.ring()
        if (status === 302) return call.reject(302, undefined, network.contacts)
        if (status !== null) return call.reject(status)
        call.answer(answerAudio(call.offer ?? '', { host: at, port: 40_010, version: 1 }) ?? '')
      })
      return handlers
    },
  })
  return Object.assign(network, { endpoint, called, calls, handlers, from, port: endpoint.ports.udp ?? 0 })
}

async function over(id: string) {
  return eventually(async () => {
    const { body } = await live.get(`/v1/voice/${id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
}

test('one destination without a line shuts no trunk, five in a row do; numbers are written as the trunk wants', async () => {
  const plain = await plainNetwork((user) => (user.startsWith('07110001') ? 503 : null))
  await enter({ name: 'plain', host: '127.0.0.3', port: plain.port, prefixes: ['+254'], number_format: 'national' })
  await trunk('plain', ({ is_up }) => is_up === true)
  const rate = { prefix: '+254', currency: 'KES', minute: 3 }
  assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
  const dial = (to: string) =>
    eventually(async () => {
      const { status, body } = await live.post('/v1/voice/calls', { ...wanted, to })
      return status === 201 ? body.call_id : null
    }, 'the call to be taken')
  const first = await over(await dial('+254711000101'))
  assert.deepEqual([first.status, first.sip_code, first.cost], ['failed', 503, 0])
  const others = await live.post('/v1/voice/calls', wanted)
  assert.equal(others.status, 201, 'the others still call')
  await answered(others.body.call_id)
  await live.post(`/v1/voice/${others.body.call_id}/hangup`, {})
  assert.deepEqual(plain.called, ['0711000101', '0711000020'])
  const ids = await Promise.all(['02', '03', '04', '05', '06'].map((last) => dial(`+2547110001${last}`)))
  for (const id of ids) await over(id)
  const { trunks } = telephoneNetworkOf(world.app)
  assert.match(trunks.stateOf('plain')?.lastError ?? '', /5 numbers in a row/)
  await remove('plain')
  await plain.endpoint.close()
})

test('a network that does not want us, or is broken, leaves the call to the next; the callee is not called again', async () => {
  const [broken, whole] = [await plainNetwork((user) => Number(user.slice(-3))), await plainNetwork(() => null)]
  const where = { host: '127.0.0.3', prefixes: ['+254'] }
  await enter({ name: 'broken', ...where, port: broken.port, priority: 1 })
  await enter({ name: 'whole', ...where, port: whole.port, priority: 2 })
  for (const name of ['broken', 'whole']) await trunk(name, ({ is_up }) => is_up === true)
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf(wanted.to, 'KES') !== null, 'the rate to be known')
  const actions = [{ action: 'wait', timeout: 0.1 }]
  for (const [status, end] of [
    [401, 'completed'],
    [402, 'completed'],
    [407, 'completed'],
    [500, 'completed'],
    [403, 'rejected'],
    [502, 'completed'],
    [504, 'completed'],
    [486, 'busy'],
  ] as const) {
    whole.called.length = 0
    const to = `+254711000${status}`
    const { body } = await live.post('/v1/voice/calls', { ...wanted, to, actions })
    const ended = await over(body.call_id)
    assert.deepEqual([ended.status, whole.called], [end, end === 'completed' ? [to] : []], `${status}`)
  }
  await remove('broken', 'whole')
  await Promise.all([broken, whole].map(({ endpoint }) => endpoint.close()))
})

test('the DNS says where a trunk is: its services in order, as they move; what was known holds while it is silent', async (t) => {
  const at = '127.0.0.1'
  const [first, second, third] = [
    await plainNetwork(() => null, { at, isShut: true }),
    await plainNetwork((user) => (user.endsWith('503') ? 503 : null), { at }),
    await plainNetwork(() => null, { at }),
  ]
  let services: number[] | null = [first.port, second.port]
  const dns = await DnsServer.start(
    async ({ name, type }) => {
      if (services === null) throw new Error('the DNS is down')
      const isAsked = type === 'SRV' && name === '_sip._udp.carrier.invalid'
      const values = isAsked ? services.map((port, i) => `${10 * (i + 1)} 1 ${port} localhost`) : []
      const answers = values.map((value) => ({ name, type: 'SRV' as const, value }))
      return { code: isAsked ? 'ok' : 'nonexistent', answers, isAuthenticated: false }
    },
    { host: at, port: 0 },
  )
  const usual = getServers()
  setServers([`${at}:${dns.port}`])
  t.after(async () => {
    setServers(usual)
    await dns.stop()
  })
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  await enter({ name: 'named', host: 'carrier.invalid', prefixes: ['+254'] })
  const { trunks } = telephoneNetworkOf(world.app)
  const ports = () => trunks.waysTo(wanted.to).map(({ peer }) => peer.port)
  await trunk('named', ({ is_up }) => is_up === true)
  assert.deepEqual(ports(), [second.port, first.port], 'the address without a line comes last')
  await eventually(async () => trunks.rateOf(wanted.to, 'KES') !== null, 'the rate to be known')
  const called = async (to: string) => {
    const { body } = await live.post('/v1/voice/calls', { ...wanted, to, actions: [{ action: 'wait', timeout: 0.1 }] })
    return (await over(body.call_id)).status
  }
  assert.equal(await called('+254711000503'), 'completed')
  assert.deepEqual(
    [second.called, first.called],
    [['+254711000503'], ['+254711000503']],
    'and carries the call all the same',
  )
  assert.match(first.calls[0]?.requestUri ?? '', /^sip:\+254711000503@carrier\.invalid;user=phone$/)

  const reload = async () => {
    await world.operator.post('/v1/operator/voice/rates', { prefix: '+2549', currency: 'KES', minute: 3 })
  }
  services = [third.port]
  await eventually(async () => {
    await reload()
    return ports().join() === String(third.port)
  }, 'the network to be found where it moved')
  assert.equal(await called('+254711000020'), 'completed')
  assert.deepEqual(third.called, ['+254711000020'])
  services = null
  const { status } = await world.operator.patch(`${path}/named`, { max_calls: 7 })
  assert.equal(status, 200)
  await trunk('named', ({ max_calls, is_up }) => max_calls === 7 && is_up === true)
  assert.deepEqual(ports(), [third.port])
  await remove('named')
  await Promise.all([first, second, third].map(({ endpoint }) => endpoint.close()))
})

test('the cheapest trunk carries a call, shows what it may, and follows a redirect to itself alone', async () => {
  const [cheap, dear] = [
    await plainNetwork((user) => (user.endsWith('302') ? 302 : null)),
    await plainNetwork(() => null),
  ]
  const elsewhere = await plainNetwork(() => null)
  const common = { host: '127.0.0.3', prefixes: ['+254'], priority: 7 }
  const costs = (minute: number) => [
    { prefix: '+', minute: 90 },
    { prefix: '+2547', minute },
  ]
  await enter({ name: 'dear', ...common, port: dear.port, costs: costs(2), weight: 1_000 })
  await enter({ name: 'cheap', ...common, port: cheap.port, costs: costs(1), follows_redirects: true })
  await enter({ name: 'unpriced', ...common, port: elsewhere.port })
  for (const name of ['dear', 'cheap', 'unpriced']) await trunk(name, ({ is_up }) => is_up === true)
  const { trunks } = telephoneNetworkOf(world.app)
  const order = (to: string) => trunks.waysTo(to).map(({ name }) => name)
  await eventually(async () => order('+254711000020').join() === 'cheap,dear,unpriced', 'the trunks to be known')
  const firsts = Array.from({ length: 400 }, () => order('+254200000020')[0])
  assert.ok(firsts.filter((name) => name === 'dear').length > 380, 'at the same cost the lot falls by weight')
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  await eventually(async () => trunks.rateOf('+254711000302', 'KES') !== null, 'the rate to be known')
  const ended = async (to: string) => {
    const { body } = await live.post('/v1/voice/calls', { ...wanted, to, actions: [{ action: 'wait', timeout: 0.1 }] })
    return over(body.call_id)
  }
  cheap.contacts = [`<sip:302@127.0.0.66:${dear.port}>`, `<sip:moved@127.0.0.3:${dear.port}>`]
  assert.equal((await ended('+254711000302')).status, 'completed')
  assert.deepEqual([cheap.called, dear.called], [['+254711000302'], ['moved']])
  const to = (user: string) => `<sip:${user}@127.0.0.3:${dear.port}>`
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+2549', currency: 'KES', minute: 30 })
  await eventually(async () => trunks.rateOf('+254900000302', 'KES') === 30_000_000n, 'the rate of a dear number')
  for (const [users, called] of [
    [['+882160000302', '00882160000302'], []],
    [['+254900000302', '0900000303'], []],
    [['+254900000302', '0711000303'], ['0711000303']],
    [['+254711000302'], ['+254711000302']],
  ] as const) {
    cheap.contacts = users.map(to)
    dear.called.length = 0
    const { status } = await ended('+254711000302')
    const expected = called.length > 0 ? 'completed' : 'failed'
    assert.deepEqual(
      [dear.called, status],
      [called, expected],
      `a redirect to ${users}: no blocked and no dearer number`,
    )
  }
  dear.called.length = 0
  dear.called.push('moved')
  cheap.contacts = [to('moved')]
  assert.equal((await world.operator.patch(`${path}/cheap`, { follows_redirects: false })).status, 200)
  await eventually(
    async () =>
      trunks.redirected({ ...(trunks.waysTo('+254711000302')[0] ?? Object()) }, cheap.contacts, () => true).length ===
      0,
    'the change',
  )
  const refused = await ended('+254711000302')
  assert.deepEqual([refused.status, refused.sip_code, dear.called.length], ['failed', 302, 1])

  const shown = { caller_ids: ['+25420'], caller_id: '+254200111222' }
  assert.equal((await world.operator.patch(`${path}/cheap`, shown)).status, 200)
  assert.equal((await world.operator.patch(`${path}/dear`, { caller_ids: ['+25420'] })).status, 200)
  await eventually(
    async () =>
      trunks.waysTo(wanted.to).every((way) => way.name === 'unpriced' || trunks.shown(way, number) !== number),
    'the rules',
  )
  assert.equal((await ended(wanted.to)).from, number)
  assert.match(cheap.from.at(-1) ?? '', /\+254200111222/)
  assert.match(cheap.calls.at(-1)?.header('p-asserted-identity') ?? '', /^<sip:\+254200111222@127\.0\.0\.3>$/)
  await world.operator.patch(`${path}/cheap`, { enabled: false })
  await eventually(async () => !order(wanted.to).includes('cheap'), 'the trunk to be off')
  assert.equal((await ended(wanted.to)).status, 'completed')
  assert.deepEqual(
    [dear.called.length, elsewhere.called.length],
    [1, 1],
    'a trunk that may not show the number is passed over',
  )
  await remove('dear', 'cheap', 'unpriced')
  await Promise.all([cheap, dear, elsewhere].map(({ endpoint }) => endpoint.close()))
})

test('a party that connect rang is replaced by another where its trunk says so, under the rules of every call', async () => {
  const plain = await plainNetwork((user) => (user.endsWith('486') ? 486 : null))
  const transfers = { host: '127.0.0.3', port: plain.port, prefixes: ['+254', '+870'], country: 'KE' }
  await enter({ name: 'pbx', ...transfers, caller_ids: ['+25420'], caller_id: '+254200111222' })
  await trunk('pbx', ({ is_up, follows_transfers }) => is_up === true && follows_transfers === false)
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+2547', currency: 'KES', minute: 3 })
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf('+254711000031', 'KES') !== null, 'the rate to be known')
  shop.answer((_request, response) => void response.end('{}'))
  const endpoint = [{ type: 'phone', number: '+254711000031' }]
  const actions = [
    { action: 'connect', endpoint, eventUrl: [shop.url('/connected')] },
    { action: 'wait', timeout: 600 },
  ]
  const { body: placed } = await live.post('/v1/voice/calls', { ...wanted, actions })
  const told = async () => JSON.parse((await shop.next('/connected')).body)
  assert.deepEqual([(await told()).status, plain.called], ['answered', ['+254711000020', '+254711000031']])
  const refer = (target: string) => new Promise<number>((done) => plain.calls.at(1)?.refer(target, done))
  const at = '127.0.0.3'
  assert.equal(await refer(`sip:0711000032@${at}`), 603, 'a trunk follows none unless told')
  assert.equal((await world.operator.patch(`${path}/pbx`, { follows_transfers: true })).status, 200)
  const way = Object(trunks.waysTo('+254711000031')[0])
  await eventually(async () => trunks.transferred(way, `sip:0711000032@${at}`) === '+254711000032', 'the change')
  assert.equal(await refer(`sip:reception@${at}`), 603, 'a name is no number')
  assert.equal(await refer(`sip:+870771234567@${at}`), 404, 'a number without a price is not called')
  assert.equal(await refer(`sip:0711000486@${at}`), 486, 'who is busy is not spoken to')
  assert.equal(plain.calls[1]?.isOver, false, 'and the first party is still there')
  assert.equal(await refer(`sip:0711000032@${at};user=phone`), 200)
  assert.deepEqual(plain.called.slice(2), ['+254711000486', '+254711000032'])
  assert.match(plain.from.at(-1) ?? '', /\+254200111222/, 'the caller id is that of every call over the trunk')
  await eventually(async () => plain.calls[1]?.isOver === true, 'the first party to be hung up')
  const replaced = await told()
  assert.deepEqual([replaced.status, replaced.to], ['answered', '+254711000032'])
  const legs = async () => {
    const { body: made } = await live.get('/v1/voice/calls?limit=10')
    return made.data
      .filter(({ parent_call_id }: { parent_call_id: string }) => parent_call_id === placed.call_id)
      .map(({ to, status, cost }: Record<string, unknown>) => [to, status, Number(cost) > 0].join(' '))
      .reverse()
      .join()
  }
  const expected = '+254711000031 completed true,+254711000486 busy false,+254711000032 answered false'
  await eventually(async () => (await legs()) === expected, 'the first party to be charged and the last to be answered')
  plain.calls.at(-1)?.hangup()
  const over = await told()
  assert.deepEqual([over.status, over.to, over.reason], ['completed', '+254711000032', 'normal'])
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})

  // A party that hangs up as soon as it is heard leaves the caller with the tone, and then with who answers.
  const { body: second } = await live.post('/v1/voice/calls', { ...wanted, actions })
  await told()
  const [party] = plain.calls.slice(-1)
  const gone = new Promise<number>((done) => party?.refer(`sip:0711000033@${at}`, done))
  party?.hangup()
  assert.equal(await gone, 487)
  const taken = await told()
  assert.deepEqual([taken.status, taken.to], ['answered', '+254711000033'])
  await live.post(`/v1/voice/${second.call_id}/hangup`, {})
  await eventually(async () => plain.calls.every(({ isOver }) => isOver), 'all to be over')
  await remove('pbx')
  await plain.endpoint.close()
})

test('the limit of a connect holds for whoever is rung in place of its party', async () => {
  const plain = await plainNetwork((user) => (user.endsWith('180') ? 180 : null))
  const trunkOf = { host: '127.0.0.3', port: plain.port, prefixes: ['+254'], follows_transfers: true }
  await enter({ name: 'limited', ...trunkOf })
  await trunk('limited', ({ is_up }) => is_up === true)
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.waysTo('+254711000031').length > 0, 'the trunk to be known')
  shop.answer((_request, response) => void response.end('{}'))
  const endpoint = [{ type: 'phone', number: '+254711000031' }]
  const connect = { action: 'connect', endpoint, limit: 2, eventUrl: [shop.url('/limited')] }
  const { body: placed } = await live.post('/v1/voice/calls', {
    ...wanted,
    actions: [connect, { action: 'wait', timeout: 600 }],
  })
  const told = async () => JSON.parse((await shop.next('/limited')).body)
  assert.equal((await told()).status, 'answered')
  const party = plain.calls.at(-1)
  const refer = (to: string) => new Promise((done) => party?.refer(`sip:${to}@127.0.0.3`, done))
  assert.equal(await refer('+882160000180'), 403, 'a number that is blocked is not called')
  const gone = new Promise<number>((done) => party?.refer('sip:+254711000180@127.0.0.3', done))
  await eventually(async () => plain.called.includes('+254711000180'), 'the other to ring')
  party?.hangup()
  assert.equal(await gone, 487)
  const { status, reason } = await told()
  assert.deepEqual([status, reason], ['completed', 'max_duration'])
  await eventually(async () => plain.calls.at(-1)?.isOver === true, 'the other to ring no more')
  assert.equal((await live.get(`/v1/voice/${placed.call_id}`)).body.status, 'answered', 'the caller goes on')
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})
  await remove('limited')
  await plain.endpoint.close()
})

test('a network connects its caller with a number when it is asked to, and the call is over and charged until then', async () => {
  const plain = await plainNetwork(() => null)
  await enter({ name: 'taking', host: '127.0.0.3', port: plain.port, prefixes: ['+254'], transfers_to: ['+25420'] })
  await trunk('taking', ({ is_up }) => is_up === true)
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf(wanted.to, 'KES') !== null, 'the rate to be known')
  const asked: string[] = []
  plain.handlers.referred = (target, tell) => {
    asked.push(target)
    queueMicrotask(() => tell(asked.length === 1 ? 486 : 200))
    return true
  }
  shop.answer((_request, response) => void response.end('{}'))
  const eventUrl = [shop.url('/referred')]
  const actions = ['+254711000099', '+254200000001', '+254200000002', '+254200000003'].map((to) => ({
    ...{ action: 'refer', to, eventUrl },
  }))
  const { body: placed } = await live.post('/v1/voice/calls', { ...wanted, actions })
  const ended = await over(placed.call_id)
  assert.deepEqual([ended.status, ended.hangup_cause, ended.hangup_by], ['completed', 'normal', 'system'])
  assert.equal(ended.cost, ended.duration / 20)
  const told = [await shop.next('/referred'), await shop.next('/referred'), await shop.next('/referred')]
  // Requests of actions do not wait for each other.
  const results = told.map(({ body }) => JSON.parse(body)).map(({ to, status, reason }) => [to, status, reason])
  assert.deepEqual(results.sort(), [
    ['+254200000001', 'busy', 'busy'],
    ['+254200000002', 'completed', 'normal'],
    ['+254711000099', 'rejected', 'not_allowed'],
  ])
  const uri = (to: string) => `sip:${to}@127.0.0.3:${plain.port};user=phone`
  assert.deepEqual(
    asked,
    [uri('+254200000001'), uri('+254200000002')],
    'nobody is asked for what the trunk does not allow',
  )
  await remove('taking')
  await plain.endpoint.close()
})

test('a number that a trunk writes at home is found, in every form, and so is the caller, unless they withhold it', async () => {
  const plain = await plainNetwork(() => null)
  await enter({ name: 'home', host: '127.0.0.3', port: plain.port, prefixes: ['+254'] })
  await trunk('home', ({ is_up }) => is_up === true)
  shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'wait', timeout: 600 }])))
  await live.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/home') },
  })
  const { port } = telephoneNetworkOf(world.app).address
  const [passed, asserted] = [';verstat=TN-Validation-Passed', 'P-Asserted-Identity']
  const callers: [string, string, string[][], string, string | null][] = [
    ['0700555666', `0711000066${passed}`, [], '+254711000066', 'eyJ.e30.sig'],
    ['700555666', 'line-7', [[asserted, `"Shop" <sip:0711000066${passed}@127.0.0.3>`]], '+254711000066', 'eyJ.e30.sig'],
    ['00254700555666', '0711000066', [[asserted, `<tel:+254711000077${passed}>`]], '+254711000066', 'eyJ.e30.sig'],
    [
      '254700555666',
      '0711000066',
      [
        [asserted, `<sip:0711000066${passed}@127.0.0.3>`],
        ['Privacy', 'id'],
      ],
      withheldNumber,
      null,
    ],
  ]
  for (const [written, caller, headers, shown, signed] of callers) {
    const ends: string[] = []
    const call = plain.endpoint.invite(
      {
        uri: `sip:${written}@127.0.0.1:${port}`,
        peer: { transport: 'udp', host: '127.0.0.1', port },
        from: `<sip:${caller}@127.0.0.3>`,
        headers: [
          ['Identity', 'eyJ.e30.sig;info=<https://cert.example/a>;alg=ES256;ppt=shaken'],
          ...headers.map(([name = '', value = '']) => [name, value] as const),
        ],
        description: offerAudio({ host: '127.0.0.3', port: 40_010, version: 1 }),
      },
      { answered: () => void ends.push('answered'), refused: (status) => void ends.push(`refused ${status}`) },
    )
    const asked = JSON.parse((await shop.next('/home')).body)
    assert.deepEqual([asked.to, asked.from], [number, shown], written)
    const { verstat, identity } = asked.verification
    assert.deepEqual([verstat, identity?.split(';')[0] ?? null], ['TN-Validation-Passed', signed])
    await eventually(async () => ends.length > 0, 'an answer')
    assert.deepEqual(ends, ['answered'])
    call.hangup()
    assert.equal((await over(asked.call_id)).status, 'completed')
  }
  await remove('home')
  await plain.endpoint.close()
})

test('audio goes where a description may name: a stranger’s private address is replaced by the peer’s own', () => {
  const network = telephoneNetworkOf(world.app)
  const named = (address: string, peer: string, environment: 'test' | 'live') => {
    const description = offerAudio({ host: address, port: 4_000, version: 1 })
    const audio = network.audioOf(description, { transport: 'udp', host: peer, port: 5_060 }, environment, {})
    return audio && [audio.host, audio.peer]
  }
  assert.deepEqual(named('198.41.0.4', '198.41.0.5', 'live'), ['198.41.0.4', '198.41.0.5'])
  assert.deepEqual(named('10.0.0.7', '198.41.0.5', 'live'), ['198.41.0.5', '198.41.0.5'])
  assert.deepEqual(named('169.254.169.254', '198.41.0.5', 'test'), ['198.41.0.5', '198.41.0.5'])
})

test('a caller who answers no offer is hung up, and the call is over then', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.3')
  await once(socket, 'listening')
  const heard: SipMessage[] = []
  socket.on('message', (bytes) => void heard.push(parseMessage(bytes)))
  await enter({ name: 'late', host: '127.0.0.3', port: socket.address().port, prefixes: ['+254'] })
  await live.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/late') },
  })
  const { port } = telephoneNetworkOf(world.app).address
  const known = () => telephoneNetworkOf(world.app).trunks.stateOf('late') !== null
  await eventually(async () => known(), 'the trunk to be known')
  const say = (method: string, to: string) => {
    const via = `Via: SIP/2.0/UDP 127.0.0.3:${socket.address().port};branch=z9hG4bK${method};rport`
    const head = [
      'From: <sip:+254711000066@127.0.0.3>;tag=late',
      `To: ${to}`,
      'Call-ID: late-offer',
      'Max-Forwards: 70',
    ]
    const contact = `Contact: <sip:late@127.0.0.3:${socket.address().port}>`
    const lines = [`${method} sip:${number}@127.0.0.1 SIP/2.0`, via, ...head, `CSeq: 1 ${method}`, contact, '', '']
    socket.send(lines.join('\r\n'), port, '127.0.0.1')
  }
  say('INVITE', `<sip:${number}@127.0.0.1>`)
  const isAnswer = (message: SipMessage) => message.kind === 'response' && message.status === 200
  const answer = await eventually(async () => heard.find(isAnswer), 'an answer with an offer')
  assert.match(answer.body.toString(), /m=audio/)
  say('ACK', answer.headers.get('to') ?? '')
  const isBye = (message: SipMessage) => message.kind === 'request' && message.method === 'BYE'
  await eventually(async () => heard.some(isBye), 'the call to be hung up')
  const ended = await over(JSON.parse((await shop.next('/late')).body).call_id)
  assert.deepEqual([ended.status, ended.hangup_cause, ended.hangup_by], ['completed', 'network_error', 'system'])
  await remove('late')
  socket.close()
})

test('a call to a SIP address ends the same way whether its TCP port is open or closed', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = Object(server.address())
  shop.answer((_request, response) => void response.end('{}'))
  const ends = await Promise.all(
    [port, await closedPort()].map(async (each, i) => {
      const endpoint = [{ type: 'sip', uri: `sip:shop@127.0.0.1:${each};transport=tcp` }]
      const eventUrl = [shop.url(`/silent-${i}`)]
      const actions = [{ action: 'connect', endpoint, eventUrl }, { action: 'hangup' }]
      const { status, body } = await tester.post('/v1/voice/calls', { ...wanted, from: '+254700555777', actions })
      assert.equal(status, 201, JSON.stringify(body))
      const { status: end, reason } = JSON.parse((await shop.next(`/silent-${i}`)).body)
      return [end, reason]
    }),
  )
  server.close()
  assert.deepEqual(ends[0], ends[1])
})

/** A port where nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = Object(server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** Fingerprint of the certificate at a port of this node. */
async function certificateAt(port: number, isMail = false): Promise<string> {
  const plain = connect({ host: '127.0.0.1', port })
  if (isMail)
    for (const line of ['EHLO phone.example', 'STARTTLS']) {
      await once(plain, 'data')
      plain.write(`${line}\r\n`)
    }
  await once(plain, isMail ? 'data' : 'connect')
  const secure = connectTls({ socket: plain, rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  const { fingerprint256 } = secure.getPeerCertificate()
  secure.destroy()
  return fingerprint256
}

test('a renewed certificate is that of every listener, without a restart', async () => {
  const { tlsPort } = telephoneNetworkOf(world.app).address
  const [smpp, submission, bounces] = ['esme_tls', 'submission', 'bounces'].map((name) =>
    Number(new URL(world.node.listeners[name] ?? assert.fail(name)).port),
  )
  const shown = () =>
    Promise.all([
      ...[world.node.port, tlsPort, smpp ?? 0].map((port) => certificateAt(port)),
      ...[submission ?? 0, bounces ?? 0].map((port) => certificateAt(port, true)),
    ])
  const before = new Set(await shown())
  assert.equal(before.size, 1)
  await place(await identity('renewed'))
  const after = await eventually(async () => {
    const now = new Set(await shown())
    return now.size === 1 && [...now].every((one) => !before.has(one)) ? now : null
  }, 'the new certificate')
  assert.equal(after.size, 1)
})

test('a call for which there is no room for audio is refused at the request', async () => {
  const calls: string[] = []
  const refused = await eventually(async () => {
    const reply = await tester.post('/v1/voice/calls', { ...wanted, from: '+254700555777' })
    if (reply.status === 201) calls.push(reply.body.id ?? reply.body.call_id)
    return reply.status === 201 ? null : reply
  }, 'a call that finds no room')
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
  assert.match(refused.body.error.details, /no capacity for the call: this node has as many calls as it takes/)
  assert.equal(refused.headers['retry-after'], '5')
  assert.ok(calls.length >= 12, `${calls.length} calls`)
  for (const id of calls) await tester.post(`/v1/voice/${id}/hangup`)
})
