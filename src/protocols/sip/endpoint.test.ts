// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { SipCall } from './call.ts'
import type { DialogState } from './dialog.ts'
import { challengeWith, proves } from './digest.ts'
import { type EndpointOptions, SipEndpoint } from './endpoint.ts'
import {
  makeResponse,
  parseMessage,
  readCseq,
  SipHeaders,
  type SipMessage,
  type SipRequest,
  serialise,
} from './message.ts'
import type { CallHandlers, Invitation } from './switchboard.ts'
import type { TransportName } from './transport.ts'

const host = '127.0.0.1'
const quick = { t1Ms: 20, t2Ms: 80, t4Ms: 100 }
const offer = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n'

async function endpoint(t: TestContext, options: Partial<EndpointOptions> = {}): Promise<SipEndpoint> {
  const opened = await SipEndpoint.open({
    host,
    ports: { udp: 0, tcp: 0 },
    timing: quick,
    invited: () => null,
    ...options,
  })
  t.after(() => opened.close())
  return opened
}

/** Writes down what a call tells, and lets a test wait for one of its words. */
function diary() {
  const lines: string[] = []
  const waits: { word: string; done(): void }[] = []
  const note = (line: string) => {
    lines.push(line)
    for (const wait of waits) if (line.startsWith(wait.word)) wait.done()
  }
  const handlers: CallHandlers = {
    progress: (status) => note(`progress ${status}`),
    answered: (description) => note(`answered ${description.length}`),
    refused: (status) => note(`refused ${status}`),
    ended: (by, reason) => note(`ended ${by} ${reason}`),
    offered: (description) => {
      note('offered')
      return description
    },
    digit: (digit, ms) => note(`digit ${digit} ${ms}`),
    referred: (target, tell) => {
      note(`referred ${target}`)
      queueMicrotask(() => tell(486))
      return true
    },
  }
  const until = (word: string): Promise<void> =>
    lines.some((line) => line.startsWith(word)) ? Promise.resolve() : new Promise((done) => waits.push({ word, done }))
  return { lines, handlers, until }
}

function invitation(to: SipEndpoint, transport: TransportName = 'udp', extra: Partial<Invitation> = {}): Invitation {
  const port = to.ports[transport] ?? 0
  return {
    uri: `sip:+254711000001@${host}:${port}`,
    peer: { transport, host, port },
    from: '<sip:+254700000000@127.0.0.1>',
    description: offer,
    ...extra,
  }
}

for (const transport of ['udp', 'tcp'] as const)
  test(`a call over ${transport} rings, is answered, changes, says digits and ends once on both sides`, async (t) => {
    const [here, there] = [diary(), diary()]
    let callee: SipCall | undefined
    const answering = await endpoint(t, {
      invited: (call) => {
        callee = call
        queueMicrotask(() => {
          call.ring()
          call.answer(offer)
        })
        return there.handlers
      },
    })
    const calling = await endpoint(t)
    const call = calling.invite(invitation(answering, transport), here.handlers)
    await here.until('answered')
    await there.until('answered')
    call.reinvite(offer)
    await there.until('offered')
    await here.until('offered')
    call.sendInfoDigit('5', 100)
    await there.until('digit')
    const outcome = new Promise<number>((done) => callee?.refer('sip:somebody@example.com', done))
    await here.until('referred')
    assert.equal(await outcome, 486, 'who asked for a transfer hears how it went')
    callee?.hangup()
    await here.until('ended')
    assert.deepEqual(here.lines, [
      'progress 180',
      `answered ${offer.length}`,
      'offered',
      'referred sip:somebody@example.com',
      'ended remote hung up',
    ])
    assert.deepEqual(there.lines, [`answered ${offer.length}`, 'offered', 'digit 5 100', 'ended local hung up'])
    assert.deepEqual([calling.size.calls, answering.size.calls], [0, 0])
  })

test('a transfer is over for who asked when the other side takes it by hanging up, and when the call ends', async (t) => {
  const callees: SipCall[] = []
  const answering = await endpoint(t, {
    invited: (call) => {
      callees.push(call)
      queueMicrotask(() => call.answer(offer))
      return {}
    },
  })
  const calling = await endpoint(t)
  const outcomes: number[] = []
  const transferred = async (target: string, referred: CallHandlers['referred'], hangsUp: 'here' | 'there') => {
    const { handlers, until } = diary()
    const { referred: _, ...others } = handlers
    const taken = (to: string, tell: (status: number) => void) => {
      if (hangsUp === 'there') setImmediate(() => setImmediate(() => call.hangup()))
      return referred?.(to, tell) ?? false
    }
    const call = calling.invite(invitation(answering), referred ? { ...others, referred: taken } : others)
    await until('answered')
    const outcome = await new Promise<number>((done) => {
      callees.at(-1)?.refer(target, done)
      callees.at(-1)?.refer(target, (status) => outcomes.push(status))
      if (hangsUp === 'here') setImmediate(() => callees.at(-1)?.hangup())
    })
    call.hangup()
    return outcome
  }
  const taken = () => true
  assert.equal(await transferred('sip:+254711000002@127.0.0.1', taken, 'there'), 200)
  assert.equal(await transferred('sip:+254711000002@127.0.0.1', taken, 'here'), 487)
  assert.deepEqual(outcomes, [491, 491], 'one at a time')
})

for (const [target, is, status] of [
  ['sip:a@127.0.0.1', 'where nobody takes it', 603],
  ['sip:a@127.0.0.1?Replaces=12345', 'in place of another call', 603],
  ['sip:a@@127.0.0.1', 'to an address that is none', 400],
] as const)
  test(`a transfer ${is} is refused`, async (t) => {
    let callee: SipCall | undefined
    const answering = await endpoint(t, {
      invited: (call) => {
        callee = call
        queueMicrotask(() => call.answer(offer))
        return {}
      },
    })
    const { handlers, until } = diary()
    const { referred: _, ...others } = handlers
    const call = (await endpoint(t)).invite(
      invitation(answering),
      status === 603 && target.endsWith('1') ? others : handlers,
    )
    await until('answered')
    assert.equal(await new Promise((done) => callee?.refer(target, done)), status)
    call.hangup()
  })

test('a notice of a transfer that the other side knows nothing of any more ends no call', async (t) => {
  const carrier = await byHand(t)
  const calling = await endpoint(t)
  const here = diary()
  const peer = { transport: 'udp' as const, host, port: carrier.port }
  const call = calling.invite({ ...invitation(calling), uri: `sip:x@${host}:${carrier.port}`, peer }, here.handlers)
  const answer = (request: SipRequest, status: number, body = '') => {
    const response = makeResponse(request, status, 'carrier')
    response.headers.add('contact', `<sip:x@${host}:${carrier.port}>`).add('content-type', 'application/sdp')
    carrier.socket.send(serialise({ ...response, body: Buffer.from(body) }), calling.ports.udp ?? 0, host)
  }
  const invited = await nextRequest(carrier, 'INVITE')
  answer(invited, 200, offer)
  await here.until('answered')
  const { callId, localTag } = call.dialogState
  const headers = SipHeaders.of([
    ['via', `SIP/2.0/UDP ${host}:${carrier.port};branch=z9hG4bKrefer`],
    ['from', `<sip:x@${host}>;tag=carrier`],
    ['to', `<sip:a@${host}>;tag=${localTag}`],
    ['call-id', callId],
    ['cseq', '7 REFER'],
    ['refer-to', '<sip:+254711000002@127.0.0.1>'],
  ])
  const refer: SipRequest = { kind: 'request', method: 'REFER', uri: 'sip:a', headers, body: Buffer.alloc(0) }
  carrier.socket.send(serialise(refer), calling.ports.udp ?? 0, host)
  for (let notices = 0; notices < 2; notices++) answer(await nextRequest(carrier, 'NOTIFY', 1 + notices), 481)
  call.hangup()
  answer(await nextRequest(carrier, 'BYE'), 200)
  assert.deepEqual(here.lines.slice(1), ['referred sip:+254711000002@127.0.0.1', 'ended local hung up'])
})

test('a call to an address that may lead nowhere else goes on with where its answer came from', async (t) => {
  for (const [mayReach, isFollowed] of [
    [() => false, false],
    [() => true, true],
  ] as const) {
    const [phone, elsewhere] = [await byHand(t), await byHand(t)]
    const calling = await endpoint(t)
    const here = diary()
    const peer = { transport: 'udp' as const, host, port: phone.port }
    const wanted = { ...invitation(calling), uri: `sip:x@${host}:${phone.port}`, peer, mayReach }
    calling.invite(wanted, here.handlers)
    const response = makeResponse(await nextRequest(phone, 'INVITE'), 200, 'phone')
    response.headers.add('contact', `<sip:x@${host}:${phone.port}>`).add('content-type', 'application/sdp')
    response.headers.add('record-route', `<sip:localhost:${elsewhere.port};lr>`)
    phone.socket.send(serialise({ ...response, body: Buffer.from(offer) }), calling.ports.udp ?? 0, host)
    const ack = await nextRequest(isFollowed ? elsewhere : phone, 'ACK')
    assert.match(ack.headers.get('route') ?? '', /localhost/)
  }
})

test('refusals keep their status, and an invitation that is given up is terminated', async (t) => {
  const rejecting = await endpoint(
    t,
    later((call) => call.reject(486)),
  )
  const ringing = await endpoint(
    t,
    later((call) => call.ring()),
  )
  const calling = await endpoint(t)
  const [busy, given] = [diary(), diary()]
  calling.invite(invitation(rejecting), busy.handlers)
  await busy.until('refused')
  assert.deepEqual(busy.lines, ['refused 486'])
  const call = calling.invite(invitation(ringing), given.handlers)
  await given.until('progress')
  call.cancel()
  await given.until('refused')
  assert.deepEqual(given.lines, ['progress 180', 'refused 487'])
})

test('provisional answers that must arrive are acknowledged', async (t) => {
  const calling = await endpoint(t)
  const answering = await endpoint(t, {
    invited: (call) => {
      queueMicrotask(() => call.ring(183, offer))
      setTimeout(() => call.answer(offer), 60)
      return {}
    },
  })
  const here = diary()
  calling.invite(invitation(answering, 'udp', { headers: [['require', '100rel']] }), here.handlers)
  await here.until('answered')
  assert.deepEqual(here.lines, ['progress 183', `answered ${offer.length}`])
})

test('a password is proved when it is asked for, to invite and to register', async (t) => {
  const password = 'siri'
  const asked: string[] = []
  const registrar = await endpoint(t, {
    asked: (transaction) => {
      const { request } = transaction
      const value = request.headers.get('authorization')
      asked.push(`${request.method} ${value ? 'again' : 'first'}`)
      const isProved =
        value !== null && proves(value, request.method, 'n1', (name) => (name === 'trunk-1' ? password : null))
      const response = makeResponse(request, isProved ? 200 : 401, 'reg')
      if (!isProved) response.headers.add('www-authenticate', challengeWith('carrier', 'n1'))
      transaction.respond(response)
      return true
    },
  })
  const calling = await endpoint(t)
  const peer = { transport: 'udp' as const, host, port: registrar.ports.udp ?? 0 }
  const register = (secret: string) =>
    calling.request('REGISTER', `sip:${host}`, peer, {
      from: '<sip:trunk-1@carrier>',
      credentials: { username: 'trunk-1', password: secret },
    })
  assert.equal((await register(password)).status, 200)
  assert.equal((await register('wrong')).status, 401)
  assert.deepEqual(asked, ['REGISTER first', 'REGISTER again', 'REGISTER first', 'REGISTER again'])
})

test('sessions that are too short are raised, unknown extensions and methods are named', async (t) => {
  const answering = await endpoint(
    t,
    later((call) => call.answer(offer)),
  )
  const calling = await endpoint(t)
  const here = diary()
  calling.invite(invitation(answering, 'udp', { sessionSeconds: 30 }), here.handlers)
  await here.until('answered')
  const peer = { transport: 'udp' as const, host, port: answering.ports.udp ?? 0 }
  const ask = (method: string, headers: [string, string][] = [], uri = `sip:x@${host}`) =>
    calling.request(method, uri, peer, { from: '<sip:x@y.example>', headers })
  assert.equal((await ask('OPTIONS')).status, 200)
  assert.equal((await ask('SUBSCRIBE')).status, 405)
  const odd = await ask('OPTIONS', [['require', 'magic']])
  assert.deepEqual([odd.status, odd.headers.get('unsupported')], [420, 'magic'])
  assert.equal((await ask('OPTIONS', [], 'unknown:scheme')).status, 416)
})

/** Does something with each call that comes in, a moment later. */
const later = (act: (call: SipCall) => void) => ({
  invited(call: SipCall) {
    queueMicrotask(() => act(call))
    return {}
  },
})

/** A peer that speaks SIP by hand, so that it can be rude. */
async function byHand(t: TestContext): Promise<{ socket: Socket; port: number; next(): Promise<SipMessage> }> {
  const socket = createSocket('udp4')
  t.after(() => socket.close())
  const heard: SipMessage[] = []
  let wake = () => {}
  socket.on('message', (bytes) => {
    heard.push(parseMessage(bytes))
    wake()
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  const next = async () => {
    while (heard.length === 0) await new Promise<void>((done) => (wake = done))
    const message = heard.shift()
    assert.ok(message)
    return message
  }
  return { socket, port: socket.address().port, next }
}

test('over UDP a request is repeated until somebody answers, and given up at last', async (t) => {
  const deaf = await byHand(t)
  const calling = await endpoint(t)
  const here = diary()
  calling.invite(
    { ...invitation(calling), uri: `sip:x@${host}:${deaf.port}`, peer: { transport: 'udp', host, port: deaf.port } },
    here.handlers,
  )
  const [first, second] = [await deaf.next(), await deaf.next()]
  assert.deepEqual(first.headers.all('via'), second.headers.all('via'))
  await here.until('refused')
  assert.deepEqual(here.lines, ['refused 408'])
})

test('an invitation that was given up is not sent again with a password', async (t) => {
  const asking = await byHand(t)
  const calling = await endpoint(t)
  const here = diary()
  const peer = { transport: 'udp' as const, host, port: asking.port }
  const credentials = { username: 'trunk-1', password: 'siri' }
  const wanted = { ...invitation(calling), uri: `sip:x@${host}:${asking.port}`, peer, credentials }
  const call = calling.invite(wanted, here.handlers)
  const first = await asking.next()
  assert.ok(first.kind === 'request')
  call.cancel()
  const refusal = makeResponse(first, 401, 'asking')
  refusal.headers.add('www-authenticate', challengeWith('carrier', 'n1'))
  asking.socket.send(serialise(refusal), calling.ports.udp ?? 0, host)
  await here.until('refused')
  assert.deepEqual(here.lines, ['refused 487'])
  for (let next = await asking.next(); ; next = await asking.next()) {
    assert.ok(next.kind === 'request' && next.headers.get('authorization') === null)
    if (next.method === 'ACK') return
  }
})

function invite(port: number, changes: [string, string][] = []): SipRequest {
  const headers = SipHeaders.of([
    ['via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bKhand;rport`],
    ['from', '<sip:a@example.com>;tag=hand'],
    ['to', `<sip:b@${host}>`],
    ['call-id', 'by-hand'],
    ['cseq', '1 INVITE'],
    ['contact', `<sip:a@10.9.8.7:5099>`],
    ...changes,
  ])
  return { kind: 'request', method: 'INVITE', uri: `sip:b@${host}:${port}`, headers, body: Buffer.from(offer) }
}

test('a caller behind a NAT is answered where it wrote from; an answer nobody acknowledges ends the call', async (t) => {
  const caller = await byHand(t)
  const there = diary()
  let invited = 0
  const answering = await endpoint(t, {
    invited: (call) => {
      invited++
      queueMicrotask(() => call.answer(offer))
      return there.handlers
    },
  })
  const port = answering.ports.udp ?? 0
  for (let i = 0; i < 2; i++) caller.socket.send(serialise(invite(port)), port, host)
  const statuses = new Set<number>()
  while (!statuses.has(200)) {
    const message = await caller.next()
    if (message.kind === 'response') statuses.add(message.status)
    assert.match(message.headers.get('via') ?? '', new RegExp(`received=${host};rport=${caller.port}`))
  }
  await there.until('ended')
  assert.equal(invited, 1, 'a repeat is no second call')
  for (let message = await caller.next(); ; message = await caller.next())
    if (message.kind === 'request' && message.method === 'BYE') break
})

test('whatever a Via says beside its branch, the answer goes back to its sender, and the endpoint goes on', async (t) => {
  const caller = await byHand(t)
  const answering = await endpoint(t)
  const port = answering.ports.udp ?? 0
  const parameters = [';rportx=1', ';x="a;rport=3"', ';received=192.0.2.1', ';received=192.0.2.1;rport=9', ';x="\\""']
  for (const [i, more] of parameters.entries())
    for (const isBroken of [false, true]) {
      const via = `Via: SIP/2.0/UDP ${host}:${caller.port};branch=z9hG4bKvia${i}${isBroken}${more}`
      const head = [via, 'From: <sip:a@example.com>;tag=v', `To: <sip:b@${host}>`, `Call-ID: via ${i}${isBroken}`]
      const seq = isBroken ? 'CSeq: 1 BYE' : 'CSeq: 1 OPTIONS'
      caller.socket.send([`OPTIONS sip:b@${host} SIP/2.0`, ...head, seq, '', ''].join('\r\n'), port, host)
      const answer = await caller.next()
      assert.ok(answer.kind === 'response' && answer.status === (isBroken ? 400 : 200), via)
      assert.ok(answer.headers.get('via')?.includes(`branch=z9hG4bKvia${i}${isBroken}`))
      assert.doesNotMatch(answer.headers.get('via') ?? '', /192\.0\.2\.1/)
    }
})

test('nonsense is answered where it can be, and a stream of it is closed', async (t) => {
  const caller = await byHand(t)
  const answering = await endpoint(t)
  const port = answering.ports.udp ?? 0
  caller.socket.send('\r\n\r\n', port, host)
  caller.socket.send(Buffer.from([1, 2, 3, 4, 5, 6]), port, host)
  const bad = serialise(invite(port)).toString().replace('CSeq: 1 INVITE', 'CSeq: 1 BYE')
  caller.socket.send(bad, port, host)
  const answer = await caller.next()
  assert.deepEqual(answer.kind === 'response' && [answer.status, answer.reason], [400, 'CSeq names another method'])
  const stream = connect(answering.ports.tcp ?? 0, host)
  stream.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  stream.resume()
  await once(stream, 'close')
})

/** The next request of a method; answers and other requests before it are passed over. */
async function nextRequest(peer: { next(): Promise<SipMessage> }, method: string, seq = 0): Promise<SipRequest> {
  for (;;) {
    const message = await peer.next()
    if (message.kind === 'request' && message.method === method && (readCseq(message.headers)?.number ?? 0) > seq)
      return message
  }
}

test('credentials outlive a stale nonce and a longer session, and a challenged BYE is repeated with them', async (t) => {
  const carrier = await byHand(t)
  const calling = await endpoint(t)
  const here = diary()
  const credentials = { username: 'trunk-1', password: 'siri' }
  const peer = { transport: 'udp' as const, host, port: carrier.port }
  const call = calling.invite(
    { ...invitation(calling), uri: `sip:x@${host}:${carrier.port}`, peer, credentials },
    here.handlers,
  )
  const isProved = (request: SipRequest, nonce: string) =>
    proves(request.headers.get('proxy-authorization') ?? '', request.method, nonce, () => 'siri')
  const answer = (request: SipRequest, status: number, headers: [string, string][], body = '') => {
    const response = makeResponse(request, status, 'carrier')
    for (const header of headers) response.headers.add(...header)
    carrier.socket.send(serialise({ ...response, body: Buffer.from(body) }), calling.ports.udp ?? 0, host)
    return readCseq(request.headers)?.number ?? 0
  }
  const challenge = (nonce: string, more = ''): [string, string][] => [
    ['proxy-authenticate', `${challengeWith('carrier', nonce)}${more}`],
  ]
  let seq = answer(await nextRequest(carrier, 'INVITE'), 407, challenge('n1'))
  seq = answer(await nextRequest(carrier, 'INVITE', seq), 407, challenge('n2', ', stale=TRUE'))
  const renewed = await nextRequest(carrier, 'INVITE', seq)
  assert.ok(isProved(renewed, 'n2'), 'the new nonce is used')
  seq = answer(renewed, 422, [['min-se', '2000']])
  const longer = await nextRequest(carrier, 'INVITE', seq)
  assert.ok(isProved(longer, 'n2') && longer.headers.get('session-expires') === '2000', 'both are kept')
  assert.match(longer.headers.get('proxy-authorization') ?? '', /nc=00000002/)
  answer(longer, 200, [['content-type', 'application/sdp']], offer)
  await here.until('answered')
  // A node that never had the call ends it from what was kept of it.
  const kept: DialogState = JSON.parse(JSON.stringify(call.dialogState))
  const over = calling.hangUp({ ...kept, localSeq: 500 }, credentials)
  const foreign = await nextRequest(carrier, 'BYE')
  assert.equal(foreign.headers.get('call-id'), longer.headers.get('call-id'))
  assert.match(foreign.headers.get('to') ?? '', /tag=carrier/)
  seq = answer(foreign, 407, challenge('n3'))
  const proved = await nextRequest(carrier, 'BYE', seq)
  assert.ok(isProved(proved, 'n3'))
  answer(proved, 200, [])
  assert.equal((await over).status, 200)
  call.hangup()
  const bye = await nextRequest(carrier, 'BYE')
  seq = answer(bye, 407, challenge('n3'))
  const again = await nextRequest(carrier, 'BYE', seq)
  assert.ok(isProved(again, 'n3'))
  answer(again, 200, [])
})

test('a password that is refused is not tried a second time', async (t) => {
  const carrier = await byHand(t)
  const calling = await endpoint(t)
  const here = diary()
  const peer = { transport: 'udp' as const, host, port: carrier.port }
  const credentials = { username: 'trunk-1', password: 'wrong' }
  calling.invite({ ...invitation(calling), uri: `sip:x@${host}:${carrier.port}`, peer, credentials }, here.handlers)
  let seq = 0
  for (const nonce of ['n1', 'n2']) {
    const request = await nextRequest(carrier, 'INVITE', seq)
    seq = readCseq(request.headers)?.number ?? 0
    const refusal = makeResponse(request, 401, 'carrier')
    refusal.headers.add('www-authenticate', challengeWith('carrier', nonce))
    carrier.socket.send(serialise(refusal), calling.ports.udp ?? 0, host)
  }
  await here.until('refused')
  assert.deepEqual(here.lines, ['refused 401'])
})

/** Bodies of two parts, as networks send them. */
const mixed = [
  '--one',
  'Content-Type: application/ISUP;version=itu-t92+',
  'Content-Disposition: signal;handling=optional',
  '',
  '\u0001\u0000I',
  '--one',
  'content-type: application/sdp',
  '',
  `${offer}--one--`,
  '',
].join('\r\n')

test('a description is found beside other parts, and taken from the ACK where the offer came late', async (t) => {
  const caller = await byHand(t)
  const there = diary()
  const answering = await endpoint(t, {
    invited: (call) => {
      queueMicrotask(() => call.answer(offer))
      return {
        ...there.handlers,
        offered: (description) => {
          there.handlers.answered?.(description, call.source)
          return description
        },
      }
    },
  })
  const port = answering.ports.udp ?? 0
  const send = (request: SipRequest) => caller.socket.send(serialise(request), port, host)
  const isup = invite(port, [['content-type', 'multipart/mixed;boundary=one']])
  send({ ...isup, body: Buffer.from(mixed) })
  await there.until('answered')
  const ok = await nextAnswer(caller, 200)
  const inDialog = (method: string, number: number, body = ''): SipRequest => {
    const request = invite(port, body === '' ? [] : [['content-type', 'application/sdp']])
    request.headers.set('to', ok.headers.get('to') ?? '').set('cseq', `${number} ${method}`)
    request.headers.set('via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bK${method}${number};rport`)
    return { ...request, method, body: Buffer.from(body) }
  }
  send(inDialog('ACK', 1))
  send(inDialog('INVITE', 2))
  const late = await nextAnswer(caller, 200, 2)
  assert.match(late.body.toString(), /m=audio/, 'this side offers')
  const moved = offer.replace('m=audio 4000', 'm=audio 40000')
  send(inDialog('ACK', 2, moved))
  await there.until(`answered ${moved.length}`)
  assert.deepEqual(there.lines, [`answered ${offer.length}`, `answered ${moved.length}`])
})

test('a session that is changed keeps its timer, whichever side changes it', async (t) => {
  const caller = await byHand(t)
  let answered: SipCall | null = null
  const answering = await endpoint(t, {
    invited: (call) => {
      answered = call
      queueMicrotask(() => call.answer(offer))
      return { offered: (description) => description }
    },
  })
  const port = answering.ports.udp ?? 0
  const send = (message: SipMessage) => caller.socket.send(serialise(message), port, host)
  const timer: [string, string][] = [
    ['supported', 'timer'],
    ['session-expires', '600;refresher=uac'],
    ['content-type', 'application/sdp'],
  ]
  send({ ...invite(port, timer), body: Buffer.from(offer) })
  const ok = await nextAnswer(caller, 200)
  assert.equal(ok.headers.get('session-expires'), '600;refresher=uac')
  const inDialog = (method: string, number: number): SipRequest => {
    const request = invite(port, [])
    request.headers.set('to', ok.headers.get('to') ?? '').set('cseq', `${number} ${method}`)
    request.headers.set('via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bK${method}${number};rport`)
    return { ...request, method, body: Buffer.alloc(0) }
  }
  send(inDialog('ACK', 1))
  assert.ok(answered !== null)
  const call: SipCall = answered
  call.reinvite(offer)
  const held = await nextRequest(caller, 'INVITE')
  assert.equal(held.headers.get('session-expires'), '600;refresher=uas', 'the other side goes on refreshing')
  const agreed = makeResponse(held, 200, 'caller')
  agreed.headers.add('session-expires', '600;refresher=uas').add('content-type', 'application/sdp')
  send({ ...agreed, body: Buffer.from(offer) })
  await nextRequest(caller, 'ACK')
  send(inDialog('UPDATE', 2))
  const changed = await nextAnswer(caller, 200, 2)
  assert.equal(changed.headers.get('session-expires'), '600;refresher=uas', 'this side refreshes from now on')
  call.reinvite(offer)
  const again = await nextRequest(caller, 'INVITE', readCseq(held.headers)?.number ?? 0)
  assert.equal(again.headers.get('session-expires'), '600;refresher=uac')
})

test('a session is refreshed by whoever agreed to, and its call ends where the other side does not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const phone = await byHand(t)
  const caller = await byHand(t)
  const there = diary()
  const here = await endpoint(t, {
    invited: (call) => {
      queueMicrotask(() => call.answer(offer))
      return there.handlers
    },
  })
  const port = here.ports.udp ?? 0
  const send = (from: { socket: Socket }, message: SipMessage) => from.socket.send(serialise(message), port, host)
  const agreed = (request: SipRequest, refresher: string) => {
    const ok = makeResponse(request, 200, 'phone')
    ok.headers.add('contact', `<sip:x@${host}:${phone.port}>`).add('session-expires', `600;refresher=${refresher}`)
    ok.headers.add('content-type', 'application/sdp')
    return { ...ok, body: Buffer.from(offer) }
  }
  const calls = async (refresher: string) => {
    const told = diary()
    const peer = { transport: 'udp' as const, host, port: phone.port }
    here.invite({ ...invitation(here), uri: `sip:x@${host}:${phone.port}`, peer }, told.handlers)
    const invited = await nextRequest(phone, 'INVITE')
    assert.equal(invited.headers.get('session-expires'), '1800')
    send(phone, agreed(invited, refresher))
    await nextRequest(phone, 'ACK')
    await told.until('answered')
    return told
  }
  // This side calls and refreshes, by INVITE, since the phone does not say that it knows UPDATE.
  const ours = await calls('uac')
  for (let refreshes = 0; refreshes < 2; refreshes++) {
    t.mock.timers.tick(300_000)
    const again = await nextRequest(phone, 'INVITE', 1)
    assert.deepEqual([again.headers.get('session-expires'), again.body.toString()], ['600;refresher=uac', offer])
    send(phone, agreed(again, 'uac'))
    await nextRequest(phone, 'ACK', 1)
  }
  assert.equal(ours.lines.length, 1, ours.lines.join())
  // This side calls, and the phone should refresh; 32 seconds before the end it is given up.
  const theirs = await calls('uas')
  t.mock.timers.tick(567_999)
  assert.equal(theirs.lines.length, 1, theirs.lines.join())
  t.mock.timers.tick(1)
  await theirs.until('ended local the other side no longer refreshes')
  // This side is called and refreshes, by UPDATE; a caller who knows nothing of the call any more has left it.
  const timer: [string, string][] = [
    ['allow', 'INVITE, ACK, BYE, UPDATE'],
    ['supported', 'timer'],
    ['session-expires', '600;refresher=uas'],
  ]
  send(caller, invite(port, timer))
  const ok = await nextAnswer(caller, 200)
  assert.equal(ok.headers.get('session-expires'), '600;refresher=uas')
  for (const [method, seq] of [
    ['ACK', 1],
    ['OPTIONS', 2],
  ] as const) {
    const inside = invite(port)
    inside.headers.set('to', ok.headers.get('to') ?? '').set('cseq', `${seq} ${method}`)
    inside.headers.set('via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bK${method};rport`)
    send(caller, { ...inside, method, body: Buffer.alloc(0) })
  }
  // What answers the second has taken the first.
  await nextAnswer(caller, 200, 2)
  t.mock.timers.tick(300_000)
  const refresh = await nextRequest(caller, 'UPDATE')
  assert.equal(refresh.headers.get('session-expires'), '600;refresher=uac')
  send(caller, makeResponse(refresh, 481, 'hand'))
  await there.until('ended lost')
})

for (const [method, allowed] of [
  ['OPTIONS', 'INVITE, ACK, BYE'],
  ['UPDATE', 'INVITE, ACK, BYE, UPDATE'],
] as const)
  test(`a side without a session timer is asked by ${method} whether it is still there, and lost when it is not`, async (t) => {
    const caller = await byHand(t)
    const there = diary()
    const answering = await endpoint(t, {
      signOfLifeMs: 20,
      invited: (call) => {
        queueMicrotask(() => call.answer(offer))
        return there.handlers
      },
    })
    const port = answering.ports.udp ?? 0
    const send = (message: SipMessage) => caller.socket.send(serialise(message), port, host)
    send(invite(port, [['allow', allowed]]))
    const ok = await nextAnswer(caller, 200)
    assert.equal(ok.headers.get('session-expires'), null, 'nothing was agreed')
    const ack = invite(port)
    ack.headers.set('to', ok.headers.get('to') ?? '').set('cseq', '1 ACK')
    send({ ...ack, method: 'ACK', body: Buffer.alloc(0) })
    const asked = await nextRequest(caller, method)
    assert.deepEqual([asked.body.length, asked.headers.get('session-expires')], [0, null])
    // Whatever it answers, it is there.
    send(makeResponse(asked, 405, 'hand'))
    const again = await nextRequest(caller, method, readCseq(asked.headers)?.number ?? 0)
    assert.deepEqual(there.lines, [`answered ${offer.length}`])
    if (method === 'UPDATE') send(makeResponse(again, 481, 'hand'))
    await there.until('ended')
    assert.match(there.lines.at(-1) ?? '', /^ended lost /)
    assert.equal(answering.size.calls, 0)
  })

async function nextAnswer(peer: { next(): Promise<SipMessage> }, status: number, seq = 1): Promise<SipMessage> {
  for (;;) {
    const message = await peer.next()
    if (message.kind === 'response' && message.status === status && readCseq(message.headers)?.number === seq)
      return message
  }
}

test('what is not done is not promised: replaces is refused by its name, unknown bodies by their type', async (t) => {
  const answering = await endpoint(
    t,
    later((call) => call.answer(offer)),
  )
  const port = answering.ports.udp ?? 0
  for (const [changes, status, header, value] of [
    [[['require', 'replaces']], 420, 'unsupported', 'replaces'],
    [[['content-type', 'text/plain']], 415, 'accept', 'application/sdp, multipart/mixed'],
    [[['content-type', 'multipart/mixed;boundary=x']], 415, 'accept', 'application/sdp, multipart/mixed'],
  ] as [[string, string][], number, string, string][]) {
    const caller = await byHand(t)
    const request = invite(port, changes)
    request.headers.set('via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bK${caller.port};rport`)
    caller.socket.send(serialise(request), port, host)
    const answer = await nextAnswer(caller, status)
    assert.equal(answer.headers.get(header), value)
    assert.doesNotMatch(answer.headers.get('supported') ?? '', /replaces/)
  }
})

test('behind a NAT others are told the public address, and whoever is on this machine the own one', async (t) => {
  const { contact, ports } = await endpoint(t, { publicHost: '203.0.113.9' }).then((opened) => ({
    contact: (peer: string) => opened.contact({ transport: 'udp', host: peer, port: 5060 }),
    ports: opened.ports,
  }))
  assert.equal(contact('198.51.100.1'), `<sip:pamoja@203.0.113.9:${ports.udp}>`)
  assert.equal(contact('127.0.0.1'), `<sip:pamoja@${host}:${ports.udp}>`)
})
