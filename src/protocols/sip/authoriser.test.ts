// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byHand, diary, endpoint, host, invitation, nextRequest, offer } from '../../../test/sip-by-hand.ts'
import type { DialogState } from './dialog.ts'
import { challengeWith, proves } from './digest.ts'
import { makeResponse, readCseq, type SipRequest, serialise } from './message.ts'

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

test('a long call that is asked for its password at each request is still ended with it', async (t) => {
  const carrier = await byHand(t)
  const calling = await endpoint(t)
  const here = diary()
  const credentials = { username: 'trunk-1', password: 'siri' }
  const peer = { transport: 'udp' as const, host, port: carrier.port }
  const uri = `sip:x@${host}:${carrier.port}`
  const call = calling.invite({ ...invitation(calling), uri, peer, credentials }, here.handlers)
  let nonces = 0
  const answer = (request: SipRequest, status: number) => {
    const response = makeResponse(request, status, 'carrier')
    if (status === 407) response.headers.add('proxy-authenticate', challengeWith('carrier', `n${++nonces}`))
    else response.headers.add('content-type', 'application/sdp')
    const body = Buffer.from(status === 407 ? '' : offer)
    carrier.socket.send(serialise({ ...response, body }), calling.ports.udp ?? 0, host)
    return readCseq(request.headers)?.number ?? 0
  }
  const isProved = (request: SipRequest, nonce = `n${nonces}`) =>
    proves(request.headers.get('proxy-authorization') ?? '', request.method, nonce, () => 'siri')
  let seq = answer(await nextRequest(carrier, 'INVITE'), 200)
  await here.until('answered')
  for (let keys = 0; keys < 8; keys++) {
    call.sendInfoDigit('5', 100)
    seq = answer(await nextRequest(carrier, 'INFO', seq), 407)
    const again = await nextRequest(carrier, 'INFO', seq)
    assert.ok(isProved(again), `key ${keys}`)
    seq = answer(again, 200)
  }
  // A request that waits for the verdict on its password takes none of the tries of another.
  call.sendInfoDigit('5', 100)
  seq = answer(await nextRequest(carrier, 'INFO', seq), 407)
  seq = readCseq((await nextRequest(carrier, 'INFO', seq)).headers)?.number ?? 0
  call.hangup()
  seq = answer(await nextRequest(carrier, 'BYE', seq), 407)
  const bye = await nextRequest(carrier, 'BYE', seq)
  assert.ok(isProved(bye))
  answer(bye, 200)
})
