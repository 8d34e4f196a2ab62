// SPDX-License-Identifier: Apache-2.0
// Live calls over trunks that an operator enters: which one is taken, at what price, where the DNS says it is, registering, TLS, calls
// that come in. The networks behind them are our own stack in the opposite role, at another address of this machine.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { getServers, setServers } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { selectTrunks } from '../../src/areas/voice/trunks/store.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
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
import { priceLive } from '../texting.ts'
import {
  answered,
  enter,
  live,
  number,
  over,
  path,
  plainNetwork,
  remove,
  shop,
  tester,
  trunk,
  wanted,
  withTrunks,
  world,
} from '../trunks.ts'
import { eventually } from '../world.ts'

const host = '127.0.0.2'

/** Ports for the audio of twelve legs, below those that the system gives out. */
const firstPort = 2 * randomInt(10_000, 16_000)
const audioPorts = `${firstPort}-${firstPort + 23}`

let network: TelephoneSimulator
let silent: Socket
let identities: string
let files: { cert: string; key: string }
/** Certificates of those that issued ours, now and later. */
let authorities: string

withTrunks(async () => {
  identities = await mkdtemp(join(tmpdir(), 'pamoja-trunks-'))
  const [{ caFile }, ours, renewed] = [await identity('known'), await identity('ours'), await identity('renewed')]
  const issuers = [ours, renewed].map((one) => readFile(one.caFile ?? '', 'utf8'))
  authorities = (await Promise.all(issuers)).join('\n')
  files = { cert: join(identities, 'cert.pem'), key: join(identities, 'key.pem') }
  await place(ours)
  return {
    PAMOJA_RTP_PORTS: audioPorts,
    PAMOJA_SIP_CA_FILE: caFile ?? '',
    PAMOJA_TLS_CERT: files.cert,
    PAMOJA_TLS_KEY: files.key,
  }
})
before(async () => {
  network = await TelephoneSimulator.start({ host, nowMs: Date.now, timeScale: 1 })
  silent = createSocket('udp4').bind(0, host)
  await once(silent, 'listening')
})
after(async () => {
  silent?.close()
  await network?.stop()
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
      const expires = request.headers.get('expires') ?? ''
      if (isKnown) heard.push(expires)
      const respond = () => {
        if (expires === '0' && isKnown) heard.push('0 answered')
        transaction.respond(response)
      }
      // A farewell takes its time.
      if (expires === '0' && isKnown) setTimeout(respond, 200)
      else respond()
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
  assert.equal((await world.operator.patch(`${path}/strict`, { prefixes: ['+2541'] })).status, 200)
  assert.ok(before && before === (await sealed()))
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.waysTo('+254100000001').length > 0, 'the change')
  await trunk('strict', ({ is_registered }) => is_registered === true)
  assert.ok(!heard.includes('0'), 'a trunk that keeps its name is registered on')
  assert.equal((await world.operator.patch(`${path}/strict`, { domain: 'example.org' })).status, 200)
  const farewell = await eventually(async () => {
    const last = heard.includes('0') ? heard.slice(heard.indexOf('0')) : []
    return last.length > 2 && last
  }, 'the farewell')
  assert.deepEqual(farewell.slice(0, 3), ['0', '0 answered', '300'], 'the later of two requests counts')
  heard.length = 0
  await remove('strict')
  await eventually(async () => heard.includes('0 answered'), 'it to be unregistered')
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

test('the DNS says where a trunk is: its services in order, as they move; what was known holds while it is silent', async (t) => {
  const at = '127.0.0.1'
  const [first, second, third] = [
    await plainNetwork((user) => (user.endsWith('402') ? 402 : null), { at, isShut: true }),
    await plainNetwork((user) => [503, 402].find((status) => user.endsWith(`${status}`)) ?? null, { at }),
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
  await called('+254711000402')
  const asked = [...first.called, ...second.called].filter((user) => user.endsWith('402'))
  assert.equal(asked.length, 1, 'who wants no calls of ours wants none at another address of theirs either')

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

test('a certificate of a sips address is for its name, and so is the connection', async () => {
  const network = telephoneNetworkOf(world.app)
  const peersOf = async (uri: string) =>
    (await network.waysToAddress('test', uri)).map(({ peer }) => peer).filter(({ host }) => host === '127.0.0.1')
  const at = { transport: 'tls', host: '127.0.0.1' }
  assert.deepEqual(await peersOf('sips:shop@localhost'), [{ ...at, port: 5_061, name: 'localhost' }])
  assert.deepEqual(await peersOf('sip:shop@localhost:5999;transport=tls'), [{ ...at, port: 5_999, name: 'localhost' }])
  assert.deepEqual(await peersOf('sips:shop@127.0.0.1'), [{ ...at, port: 5_061 }])

  const known = await secureNetwork('known', {})
  const caller = await SipEndpoint.open({
    ...{ host: '127.0.0.1', ports: { tls: 0 }, tls: await identity('ours'), invited: () => null },
    trusted: await readFile((await identity('known')).caFile ?? '', 'utf8'),
  })
  const asks = async (name: string) => {
    const peer = { transport: 'tls', host: '127.0.0.1', port: known.endpoint.ports.tls ?? 0, name } as const
    return (await caller.request('OPTIONS', 'sip:localhost', peer, { from: '<sip:pamoja@localhost>' })).status
  }
  assert.deepEqual([await asks('localhost'), await asks('elsewhere.example')], [200, 408])
  await Promise.all([caller.close(), known.endpoint.close()])
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
