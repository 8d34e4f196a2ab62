// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import {
  byHand,
  diary,
  endpoint,
  host,
  invitation,
  invite,
  later,
  nextAnswer,
  nextRequest,
  offer,
} from '../../../test/sip-by-hand.ts'
import type { SipCall } from './call.ts'
import { makeResponse, type SipMessage, type SipRequest, serialise } from './message.ts'

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

test('a network goes on with its call from another address, a stranger begins none, and a phone that leads nowhere stays', async (t) => {
  const [network, elsewhere] = [await byHand(t), await byHand(t)]
  const there = diary()
  const here = await endpoint(t, {
    admits: ({ port }) => port === network.port,
    invited: (call) => {
      queueMicrotask(() => call.answer(offer))
      return there.handlers
    },
  })
  const port = here.ports.udp ?? 0
  const send = (from: typeof network, message: SipMessage) => from.socket.send(serialise(message), port, host)
  const inside = (method: string, number: number, tags: Record<string, string>): SipRequest => {
    const request = invite(port)
    for (const [name, value] of Object.entries(tags)) request.headers.set(name, value)
    request.headers.set('cseq', `${number} ${method}`)
    request.headers.set(
      'via',
      `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bK${method}${number}${tags['call-id'] ?? ''};rport`,
    )
    return { ...request, method, body: Buffer.alloc(0) }
  }
  send(network, invite(port, [['content-type', 'application/sdp']]))
  const to = (await nextAnswer(network, 200)).headers.get('to') ?? ''
  send(elsewhere, inside('OPTIONS', 9, { 'call-id': 'stranger' }))
  send(elsewhere, inside('ACK', 1, { to }))
  send(elsewhere, inside('BYE', 2, { to }))
  const answer = await elsewhere.next()
  assert.deepEqual([answer.kind === 'response' && answer.status, answer.headers.get('cseq')], [200, '2 BYE'])
  await there.until('ended remote')

  const peer = { transport: 'udp' as const, host, port: network.port }
  const uri = `sip:x@${host}:${network.port}`
  const called = diary()
  here.invite({ uri, peer, from: '<sip:y@example.com>', description: offer, mayReach: () => false }, called.handlers)
  const asked = await nextRequest(network, 'INVITE')
  const ok = makeResponse(asked, 200, 'phone')
  ok.headers.add('content-type', 'application/sdp')
  send(network, { ...ok, body: Buffer.from(offer) })
  await called.until('answered')
  const theirs = {
    'call-id': asked.headers.get('call-id') ?? '',
    from: ok.headers.get('to') ?? '',
    to: asked.headers.get('from') ?? '',
  }
  send(elsewhere, inside('BYE', 1, theirs))
  send(network, inside('BYE', 2, theirs))
  await nextAnswer(network, 200, 2)
  await called.until('ended remote')
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
