// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { frameSamples } from '../audio/g711.ts'
import { agreedAudio, answerAudio, offerAudio } from '../sdp/session-description.ts'
import { RtpLeg } from './leg.ts'
import { writeRtpHeader } from './packet.ts'
import { newSrtpKey, SrtpStream } from './srtp.ts'

const known = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  key: Buffer.from('e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6', 'hex').toString('base64'),
} as const
const filler = 'ab'.repeat(16)

test('packets are sealed and opened as in the test vectors of other implementations', () => {
  const plain = Buffer.from(`800f1234decafbadcafebabe${filler}`, 'hex')
  const sealed = '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb'
  assert.equal(new SrtpStream(known).protect(plain).toString('hex'), sealed)
  assert.deepEqual(new SrtpStream(known).open(Buffer.from(sealed, 'hex')), plain)
  const report = '81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798'
  const opened = new SrtpStream(known).openRtcp(Buffer.from(report, 'hex'))
  assert.equal(opened?.toString('hex'), `81c8000bcafebabe${filler}`)
})

function packet(sequence: number): Buffer {
  const bytes = Buffer.alloc(12 + frameSamples, sequence & 0xff)
  writeRtpHeader(bytes, { payloadType: 0, marker: false, sequence, timestamp: 160 * sequence, source: 7 })
  return bytes
}

test('numbers roll over, packets come in any order, and none is opened twice, forged or with another key', () => {
  const key = newSrtpKey('AES_CM_128_HMAC_SHA1_32')
  const [sender, receiver] = [new SrtpStream(key), new SrtpStream(key)]
  const numbers = Array.from({ length: 40 }, (_, i) => (65_516 + i) & 0xffff)
  const sealed = numbers.map((sequence) => sender.protect(packet(sequence)))
  const swapped = sealed.map((_, i) => sealed[i ^ 1] ?? Buffer.alloc(0))
  const opened = swapped.map((bytes) => receiver.open(bytes)?.readUInt16BE(2))
  assert.deepEqual(
    opened,
    numbers.map((_, i) => numbers[i ^ 1]),
  )
  for (const bytes of sealed) assert.equal(receiver.open(bytes), null, 'a packet that came before')
  const next = sender.protect(packet(20))
  const forged = Buffer.from(next)
  forged[20] = (forged[20] ?? 0) ^ 1
  assert.equal(receiver.open(forged), null)
  assert.equal(new SrtpStream(newSrtpKey('AES_CM_128_HMAC_SHA1_32')).open(next), null)
  assert.deepEqual(receiver.open(next), packet(20))
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(12), next.subarray(0, 14)])
    assert.equal(receiver.open(bytes), null)
  const report = Buffer.concat([Buffer.from('81c8000bcafebabe', 'hex'), Buffer.alloc(16, 5)])
  const secret = sender.protectRtcp(report)
  assert.deepEqual([receiver.openRtcp(secret), receiver.openRtcp(secret)], [report, null])
})

test('keys are offered and answered by the policy of each side', () => {
  const own = { host: '192.0.2.1', port: 4_000, version: 1 }
  const key = newSrtpKey()
  const offers = {
    off: offerAudio(own),
    optional: offerAudio({ ...own, srtp: { policy: 'optional', key } }),
    required: offerAudio({ ...own, srtp: { policy: 'required', key } }),
  }
  assert.match(offers.optional, /RTP\/AVP [\s\S]*a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:/)
  assert.match(offers.required, /RTP\/SAVP /)
  assert.doesNotMatch(offers.off, /crypto/)
  const outcome = (offer: keyof typeof offers, policy: keyof typeof offers) => {
    const answer = answerAudio(offers[offer], { ...own, srtp: { policy, key: newSrtpKey() } })
    if (answer === null) return 'refused'
    return agreedAudio(answer, { srtp: offer })?.crypto ? 'encrypted' : 'plain'
  }
  const policies = ['off', 'optional', 'required'] as const
  const outcomes = policies.map((offer) => policies.map((answer) => outcome(offer, answer)))
  assert.deepEqual(outcomes, [
    ['plain', 'plain', 'refused'],
    ['plain', 'encrypted', 'encrypted'],
    ['refused', 'encrypted', 'encrypted'],
  ])
  assert.equal(agreedAudio(offers.off, { srtp: 'required' }), null, 'an answer without a key is none')
  const unusable = ['|2^20|1:4', ' KDR=1', ' UNENCRYPTED_SRTP'].map((end) =>
    offers.required.replace(/(inline:\S+)/, `$1${end}`),
  )
  for (const offer of unusable) assert.equal(agreedAudio(offer, { srtp: 'optional' }), null)
  assert.ok(agreedAudio(offers.required.replace(/(inline:\S+)/, '$1|2^31'), { srtp: 'optional' })?.crypto)
})

test('an encrypted leg is deaf to plain packets, and what it says is no plain packet', async (t) => {
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: () => undefined })
  t.after(() => leg.close())
  const phone = createSocket('udp4').bind(0, '127.0.0.1')
  await once(phone, 'listening')
  t.after(() => phone.close())
  const [send, receive] = [newSrtpKey(), newSrtpKey()]
  const { port } = phone.address()
  const common = { codec: 'PCMU', payloadType: 0, digits: null, hears: true, host: '127.0.0.1' } as const
  leg.connect({ ...common, port, rtcpPort: port + 1, srtp: { send, receive } })
  const theirs = new SrtpStream(receive)
  phone.send(packet(1), leg.port, '127.0.0.1')
  phone.send(theirs.protect(packet(2)), leg.port, '127.0.0.1')
  while (leg.figures.received === 0) await new Promise((resume) => setImmediate(resume))
  assert.equal(leg.figures.received, 1)
  const heard = once(phone, 'message')
  leg.say(new Int16Array(frameSamples))
  const [bytes] = await heard
  assert.equal(bytes.length, 12 + frameSamples + 10)
  assert.equal(new SrtpStream(send).open(bytes)?.length, 12 + frameSamples)
})
