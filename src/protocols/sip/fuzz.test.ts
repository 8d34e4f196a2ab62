// SPDX-License-Identifier: Apache-2.0
// Ten thousand datagrams that nobody should send, to a SIP endpoint and to an end of audio: both go on as before.
import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { frameSamples } from '../audio/g711.ts'
import { RtpLeg } from '../rtp/leg.ts'
import { SipEndpoint } from './endpoint.ts'

const host = '127.0.0.1'
const each = 5_000
const atOnce = 100

/** Random numbers that are the same in every run (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const lines = (...all: string[]) => Buffer.from(`${all.join('\r\n')}\r\n\r\n`)
const head = [
  'Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKfuzz;rport',
  'From: <sip:a@127.0.0.1>;tag=1',
  'To: <sip:b@127.0.0.1>',
  'Call-ID: fuzz',
  'Max-Forwards: 70',
  'Contact: <sip:a@127.0.0.1:9>',
]
const seeds = [
  lines('INVITE sip:+254711000001@127.0.0.1 SIP/2.0', ...head, 'CSeq: 1 INVITE', 'Content-Length: 0'),
  lines('OPTIONS sip:127.0.0.1 SIP/2.0', ...head, 'CSeq: 2 OPTIONS', 'Supported: 100rel, timer', 'Content-Length: 0'),
  lines('BYE sip:b@127.0.0.1 SIP/2.0', ...head, 'CSeq: 3 BYE', 'Authorization: Digest username="x", nonce="y"'),
  lines('CANCEL sip:b@127.0.0.1 SIP/2.0', ...head, 'CSeq: 1 CANCEL'),
  lines('SIP/2.0 200 OK', ...head, 'CSeq: 1 INVITE', 'Session-Expires: 1800;refresher=uac'),
  lines('REFER sip:b@127.0.0.1 SIP/2.0', ...head, 'CSeq: 9 REFER', 'Refer-To: <sip:c@127.0.0.1?Replaces=x>'),
]

/** A seed with bytes changed, taken out, doubled or put in. */
function mutated(seed: Buffer, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(seed)
  for (let changes = 1 + random(8); changes > 0; changes--) {
    const at = random(Math.max(1, bytes.length))
    const length = random(20)
    const kind = random(4)
    if (kind === 0 && bytes.length > 0) bytes[at] = random(256)
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
    else if (kind === 2) bytes = Buffer.concat([bytes, bytes.subarray(at, at + length)])
    else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(length, random(256)), bytes.subarray(at)])
  }
  return bytes.subarray(0, 1_400)
}

async function throwAt(socket: Socket, port: number, make: () => Buffer): Promise<void> {
  for (let sent = 0; sent < each; sent += atOnce) {
    for (let i = 0; i < atOnce; i++) socket.send(make(), port, host)
    await new Promise((done) => setImmediate(done))
  }
}

test('ten thousand datagrams of nonsense stop neither signalling nor audio', async (t) => {
  const random = randomFrom(20_261_117)
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
  await throwAt(socket, endpoint.ports.udp ?? 0, () => mutated(seeds[random(seeds.length)] ?? Buffer.alloc(0), random))
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
  const packet = Buffer.alloc(172)
  const frame = new Int16Array(frameSamples)
  await throwAt(socket, leg.port + random(2), () => {
    packet[0] = random(4) === 0 ? random(256) : 0x80
    packet[1] = random(4) === 0 ? random(256) : random(2) === 0 ? 0 : 101
    packet.writeUInt16BE(random(65_536), 2)
    packet.writeUInt32BE(random(2 ** 31), 4)
    leg.hear(frame)
    return Buffer.from(packet.subarray(0, random(packet.length + 1)))
  })
  leg.say(frame)
  assert.ok(digits.every((digit) => /^[0-9A-D*#]$/.test(digit)))
})
