// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byHand, diary, endpoint, host, invitation, nextRequest, offer } from '../../../test/sip-by-hand.ts'
import type { SipCall } from './call.ts'
import { makeResponse, SipHeaders, type SipRequest, serialise } from './message.ts'
import type { CallHandlers } from './switchboard.ts'

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
