// SPDX-License-Identifier: Apache-2.0
// Ten thousand datagrams that nobody should send, to a SIP endpoint and to an end of audio: both go on as before.
import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { randomFrom, spoiledRtp, spoiledSip } from '../../../test/spoiled-datagrams.ts'
import { frameSamples } from '../audio/g711.ts'
import { RtpLeg } from '../rtp/leg.ts'
import { SipEndpoint } from './endpoint.ts'

const host = '127.0.0.1'
const each = 5_000
const atOnce = 100

async function throwAt(socket: Socket, port: number, make: () => Buffer): Promise<void> {
  for (let sent = 0; sent < each; sent += atOnce) {
    for (let i = 0; i < atOnce; i++) socket.send(make(), port, host)
    await new Promise((done) => setImmediate(done))
  }
}

test('ten thousand datagrams of nonsense stop neither signalling nor audio', async (t) => {
  const random = randomFrom(Number(process.env.PAMOJA_TEST_SEED ?? 20_261_117))
  const socket = createSocket('udp4').bind(0, host)
  await once(socket, 'listening')
  t.after(() => socket.close())

  const timing = { t1Ms: 10, t2Ms: 40, t4Ms: 50 }
  const endpoint = await SipEndpoint.open({
    host,
    ports: { udp: 0 },
    timing,
    invited: (call) => {
      queueMicrotask(() => call.reject(486))
      return {}
    },
  })
  const asker = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  t.after(() => Promise.all([endpoint.close(), asker.close()]))
  await throwAt(socket, endpoint.ports.udp ?? 0, () => spoiledSip(random))
  const peer = { transport: 'udp', host, port: endpoint.ports.udp ?? 0 } as const
  const { status } = await asker.request('OPTIONS', `sip:${host}`, peer, { from: '<sip:asker@127.0.0.1>' })
  assert.equal(status, 200, 'the endpoint answers as before')
  assert.ok(endpoint.size.calls <= 5_000 && endpoint.size.transactions <= 20_000, JSON.stringify(endpoint.size))

  const digits: string[] = []
  const leg = await RtpLeg.open({ host, nowMs: () => performance.now(), digit: (digit) => digits.push(digit) })
  t.after(() => leg.close())
  leg.connect({
    host,
    port: socket.address().port,
    rtcpPort: 9,
    codec: 'PCMU',
    payloadType: 0,
    digits: 101,
    hears: true,
  })
  const frame = new Int16Array(frameSamples)
  await throwAt(socket, leg.port + random(2), () => {
    leg.hear(frame)
    return spoiledRtp(random)
  })
  leg.say(frame)
  assert.ok(digits.every((digit) => /^[0-9A-D*#]$/.test(digit)))
})
