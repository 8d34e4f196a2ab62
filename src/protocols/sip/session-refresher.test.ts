// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket as Line } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  byHand,
  diary,
  endpoint,
  host,
  invitation,
  invite,
  nextAnswer,
  nextRequest,
  offer,
  quick,
} from '../../../test/sip-by-hand.ts'
import type { SipCall } from './call.ts'
import { makeResponse, parseMessage, readCseq, type SipMessage, type SipRequest, serialise } from './message.ts'
import { dueAfterMs } from './session-timer.ts'

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

test('a session of years is refreshed within a day, and not at once', () => {
  for (const isOurs of [true, false]) assert.equal(dueAfterMs({ seconds: 999_999_999, isOurs }), 86_400_000)
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

const lifeMs = 400
const timeoutMs = 64 * quick.t1Ms
const seqOf = (request: SipRequest) => readCseq(request.headers)?.number ?? 0

/** A side that is called by hand, agrees to no session timer, and says whether it holds the call. */
async function calledByHand(t: TestContext, isHeld: () => boolean, allow = 'INVITE, ACK, BYE') {
  const caller = await byHand(t)
  const there = diary()
  const here = await endpoint(t, {
    signOfLifeMs: lifeMs,
    invited: (call) => {
      queueMicrotask(() => call.answer(offer))
      return { ...there.handlers, isHeld }
    },
  })
  const port = here.ports.udp ?? 0
  const send = (message: SipMessage) => caller.socket.send(serialise(message), port, host)
  send(invite(port, [['allow', allow]]))
  const ok = await nextAnswer(caller, 200)
  assert.equal(ok.headers.get('session-expires'), null, 'nothing was agreed')
  const inside = (method: string, seq: number, body = ''): SipRequest => {
    const request = invite(port, body === '' ? [] : [['content-type', 'application/sdp']])
    request.headers.set('to', ok.headers.get('to') ?? '').set('cseq', `${seq} ${method}`)
    request.headers.set('via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bK${method}${seq};rport`)
    return { ...request, method, body: Buffer.from(body) }
  }
  /** What was sent before has been taken once this is answered. */
  const settle = async (seq: number) => {
    send(inside('INFO', seq))
    await nextAnswer(caller, 200, seq)
  }
  send(inside('ACK', 1))
  await settle(2)
  return { caller, there, here, send, inside, settle }
}

for (const [method, allowed] of [
  ['OPTIONS', 'INVITE, ACK, BYE'],
  ['UPDATE', 'INVITE, ACK, BYE, UPDATE'],
] as const)
  test(`a held side without a session timer is asked by ${method} whether it is still there`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { caller, there, here, send, settle } = await calledByHand(t, () => true, allowed)
    t.mock.timers.tick(lifeMs)
    const asked = await nextRequest(caller, method)
    assert.deepEqual([asked.body.length, asked.headers.get('session-expires')], [0, null])
    // Whatever it answers, it is there.
    send(makeResponse(asked, 405, 'hand'))
    await settle(3)
    t.mock.timers.tick(lifeMs)
    const again = await nextRequest(caller, method, seqOf(asked))
    assert.deepEqual(there.lines, [`answered ${offer.length}`])
    send(makeResponse(again, 481, 'hand'))
    await there.until('ended lost the other side does not know the call')
    assert.equal(here.size.calls, 0)
  })

test('a held side that answers no OPTIONS is asked by INVITE, and told that it is given up when that fails too', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { caller, there, here, send, inside, settle } = await calledByHand(t, () => true)
  t.mock.timers.tick(lifeMs)
  const unheard = await nextRequest(caller, 'OPTIONS')
  t.mock.timers.tick(timeoutMs)
  const invited = await nextRequest(caller, 'INVITE', seqOf(unheard))
  assert.equal(invited.body.toString(), offer, 'nothing changes')
  send({ ...makeResponse(invited, 200, 'hand'), body: Buffer.from(offer) })
  await nextRequest(caller, 'ACK', seqOf(unheard))
  // What the other side says by itself is a sign as well: the question before it is void.
  t.mock.timers.tick(lifeMs)
  const late = await nextRequest(caller, 'OPTIONS', seqOf(invited))
  send(inside('INVITE', 3, offer))
  await nextAnswer(caller, 200, 3)
  send(inside('ACK', 3))
  await settle(4)
  t.mock.timers.tick(lifeMs)
  const next = await nextRequest(caller, 'OPTIONS', seqOf(late))
  t.mock.timers.tick(timeoutMs - lifeMs)
  assert.equal(there.lines.includes('offered'), true)
  assert.equal(here.size.calls, 1, there.lines.join())
  // A proxy that gives up for the other side is no answer either.
  send(makeResponse(next, 408, 'hand'))
  const last = await nextRequest(caller, 'INVITE', seqOf(next))
  t.mock.timers.tick(timeoutMs)
  await there.until('ended lost')
  await nextRequest(caller, 'BYE', seqOf(last))
})

test('a side whose audio flows is asked nothing, and a question ends no call whose audio came back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isHeld = false
  const { caller, there, here, send, inside } = await calledByHand(t, () => isHeld)
  t.mock.timers.tick(10 * lifeMs)
  send(inside('INFO', 3))
  assert.equal((await caller.next()).kind, 'response', 'nothing was asked before')
  isHeld = true
  t.mock.timers.tick(lifeMs)
  await nextRequest(caller, 'OPTIONS')
  isHeld = false
  t.mock.timers.tick(timeoutMs)
  t.mock.timers.tick(timeoutMs)
  assert.deepEqual([here.size.calls, there.lines.length], [1, 1])
})

test('a question that cannot be sent says nothing of the other side: it is asked again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const heard: SipRequest[] = []
  let port = 0
  let line: Line | null = null
  let wake = () => {}
  const phone = () => {
    const server = createServer((socket) => {
      line = socket
      socket.on('data', (bytes) => {
        const message = parseMessage(bytes)
        if (message.kind !== 'request' || message.method === 'ACK') return
        heard.push(message)
        wake()
        if (message.method !== 'INVITE') return void socket.write(serialise(makeResponse(message, 481, 'phone')))
        const response = makeResponse(message, 200, 'phone')
        response.headers.add('contact', `<sip:x@${host}:${port};transport=tcp>`)
        response.headers.add('content-type', 'application/sdp')
        socket.write(serialise({ ...response, body: Buffer.from(offer) }))
      })
    })
    t.after(() => server.close())
    return server
  }
  const first = phone()
  await once(first.listen(0, host), 'listening')
  port = Object(first.address()).port
  const here = await endpoint(t, { signOfLifeMs: lifeMs })
  const told = diary()
  const peer = { transport: 'tcp' as const, host, port }
  const uri = `sip:x@${host}:${port};transport=tcp`
  here.invite({ ...invitation(here), uri, peer }, { ...told.handlers, isHeld: () => true })
  await told.until('answered')
  const hungUp = once(first.close(), 'close')
  Object(line).end()
  await hungUp
  for (let turns = 0; turns < 3; turns++) await new Promise((done) => setImmediate(done))
  t.mock.timers.tick(1)
  const before = here.size.transactions
  t.mock.timers.tick(lifeMs)
  assert.equal(here.size.transactions, before + 1)
  while (here.size.transactions > before) await new Promise((done) => setImmediate(done))
  assert.equal(here.size.calls, 1, told.lines.join())
  await once(phone().listen(port, host), 'listening')
  const asked = new Promise<void>((done) => (wake = done))
  t.mock.timers.tick(lifeMs)
  await asked
  assert.equal(heard.at(-1)?.method, 'OPTIONS')
  await told.until('ended lost')
})
