// SPDX-License-Identifier: Apache-2.0
// Opus from the session description to the sound: who offers what is heard in what, and what is lost on the way is mended.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Codec, decoderOf, encoderOf } from '../audio/codec.ts'
import { frameSamples } from '../audio/g711.ts'
import { hasOpus, OpusDecoder, OpusEncoder } from '../audio/opus.ts'
import { rms, share, tone } from '../audio/tones.ts'
import { agreedAudio, answerAudio, offerAudio } from '../sdp/session-description.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import { type RemoteAudio, RtpLeg } from './leg.ts'
import { parseRtp, readDigit } from './packet.ts'
import { Reception } from './reception.ts'

const skip = hasOpus() ? false : 'the package libopus-wasm is not installed'
const wishes = { correctsLosses: true, maxBitrate: null, isConstant: false }
const own = { host: '192.0.2.1', port: 4_000, version: 1 }

function offered(formats: string, ...attributes: string[]): string {
  const lines = [
    'v=0',
    'o=- 1 1 IN IP4 192.0.2.9',
    's=-',
    'c=IN IP4 192.0.2.9',
    't=0 0',
    `m=audio 6000 RTP/AVP ${formats}`,
  ]
  return [...lines, ...attributes.map((each) => `a=${each}`), ''].join('\r\n')
}

const opus = ['rtpmap:96 opus/48000/2', 'fmtp:96 minptime=10; useinbandfec=1;maxaveragebitrate=16000']
const keys = ['rtpmap:110 telephone-event/48000', 'rtpmap:126 telephone-event/8000']
const all: readonly Codec[] = ['PCMU', 'PCMA', 'G722', 'opus']
const opusFirst: readonly Codec[] = ['opus', 'PCMA', 'PCMU']

for (const [what, codecs, offer, answered] of [
  ['G.711 before Opus, unless told', all, offered('96 110 126 8 0', ...opus, ...keys), '8 126'],
  ['Opus with digits of its own clock', opusFirst, offered('0 8 96 126 110', ...opus, ...keys), '96 110'],
  ['Opus with digits of 8,000 where there are no others', opusFirst, offered('0 96 126', ...opus, ...keys), '96 126'],
  ['Opus where there is nothing else', all, offered('96', ...opus), '96'],
  ['no Opus by another clock', all, offered('96', 'rtpmap:96 opus/16000/2'), null],
  ['no Opus where it is not wanted', ['PCMU'], offered('96', ...opus), null],
  ['one form of G.711 where the other is not wanted', ['PCMU'], offered('8 0'), '0'],
  ['the form of G.711 that the other side prefers', ['opus', 'PCMU', 'PCMA'], offered('8 0'), '8'],
  ['G.722 before G.711 where it is told so', ['G722', 'PCMA'], offered('8 9'), '9'],
  ['G.711 without digits of 48,000', ['PCMA'], offered('8 110', ...keys), '8'],
] as const)
  test(`an offer is answered with ${what}`, () => {
    const answer = answerAudio(offer, { ...own, codecs })
    assert.equal(/^m=audio 4000 RTP\/AVP (.+)\r$/m.exec(answer ?? '')?.[1] ?? null, answered)
  })

test('an offer of Opus says what is heard of it, and its types hold beside those of the answer', () => {
  const offer = offerAudio({ ...own, codecs: opusFirst })
  for (const line of [
    'm=audio 4000 RTP/AVP 107 8 0 102 101',
    'a=rtpmap:107 opus/48000/2',
    'a=fmtp:107 useinbandfec=1;maxplaybackrate=8000;sprop-maxcapturerate=8000',
    'a=rtpmap:102 telephone-event/48000',
    'a=rtpmap:101 telephone-event/8000',
  ])
    assert.ok(offer.includes(`${line}\r\n`), line)
  const agreed = agreedAudio(offered('96 110', ...opus, ...keys), { codecs: opusFirst, isAnswer: true })
  assert.deepEqual([agreed?.codec, agreed?.payloadType, agreed?.digits, agreed?.digitClock], ['opus', 96, 110, 48_000])
  assert.deepEqual(agreed?.opus, { correctsLosses: true, maxBitrate: 16_000, isConstant: false })
  assert.deepEqual(agreed?.takes, {
    ...{ 0: 'PCMU', 8: 'PCMA', 107: 'opus', 101: 'digits', 102: 'digits' },
    ...{ 96: 'opus', 110: 'digits' },
  })
  const taken = agreedAudio(offered('96 110', ...opus, ...keys), { codecs: opusFirst })
  assert.deepEqual(taken?.takes, { 96: 'opus', 110: 'digits' }, 'the types of an offer are those of the answer')
})

/** Packets of a sound, 20 ms each. */
async function packetsOf(sound: Int16Array, encoder = new OpusEncoder(wishes)): Promise<Buffer[]> {
  await spoken(encoder)
  const packets: Buffer[] = []
  for (let at = 0; at + frameSamples <= sound.length; at += frameSamples) {
    const packet = Buffer.alloc(encoder.maxBytes)
    packets.push(packet.subarray(0, encoder.encode(sound.subarray(at, at + frameSamples), packet, 0)))
  }
  encoder.close()
  return packets
}

/** Resolves when an encoder has its package. */
async function spoken(encoder: OpusEncoder): Promise<void> {
  const packet = Buffer.alloc(encoder.maxBytes)
  while (encoder.encode(new Int16Array(frameSamples), packet, 0) === 0) await new Promise((done) => setImmediate(done))
}

/** A decoder that has its package: it was read for an encoder, and comes at once then. */
async function listening(): Promise<OpusDecoder> {
  await packetsOf(new Int16Array(frameSamples))
  const decoder = new OpusDecoder()
  await new Promise((done) => setImmediate(done))
  return decoder
}

test('Opus keeps the tones of a telephone in a third of the bytes', { skip }, async () => {
  for (const hertz of [300, 1_000, 2_000, 3_000]) {
    const sound = tone([hertz], 600, 9_000)
    const decoder = await listening()
    const packets = await packetsOf(sound)
    const heard = Int16Array.from(packets.flatMap((packet) => [...decoder.decode(packet)]))
    const settled = heard.subarray(10 * frameSamples)
    assert.ok(share(settled, hertz) > 0.9, `${hertz} Hz: ${share(settled, hertz)}`)
    assert.ok(Math.abs(rms(settled) / rms(sound) - 1) < 0.25, `${hertz} Hz keeps its level: ${rms(settled)}`)
    const bytes = packets.reduce((sum, { length }) => sum + length, 0) / packets.length
    assert.ok(bytes < 75, `${bytes} bytes a packet`)
    decoder.close()
  }
})

test('the other side sets the bit rate', { skip }, async () => {
  const [usual, slow, steady] = await Promise.all(
    [
      { correctsLosses: false, maxBitrate: null, isConstant: false },
      { correctsLosses: false, maxBitrate: 8_000, isConstant: false },
      { correctsLosses: false, maxBitrate: 16_000, isConstant: true },
    ].map((wanted) => packetsOf(tone([300, 900], 1_000), new OpusEncoder(wanted))),
  )
  const mean = (packets: Buffer[] = []) => packets.reduce((sum, { length }) => sum + length, 0) / packets.length
  assert.ok(mean(slow) < 0.85 * mean(usual), `${mean(slow)} bytes at 8 kbit/s, ${mean(usual)} without a limit`)
  assert.deepEqual(new Set(steady?.map(({ length }) => length)), new Set([40]))
})

test('a lost packet of Opus is heard from the next one, and nonsense is heard as little', { skip }, async () => {
  const melody = Int16Array.from(
    [300, 500, 700, 900, 1_100, 1_300, 1_500, 1_700].flatMap((hertz) => [...tone([hertz], 200)]),
  )
  const packets = await packetsOf(melody)
  const heardWithout = async (lost: (i: number) => boolean) => {
    const buffer = new JitterBuffer()
    const decoder = await listening()
    const frame = new Int16Array(frameSamples)
    const heard: number[] = []
    for (let now = 0; now < packets.length; now++) {
      if (!lost(now)) buffer.put(now, decoder, packets[now] ?? Buffer.alloc(0))
      if (buffer.take(frame)) heard.push(...frame)
    }
    decoder.close()
    return { heard: Int16Array.from(heard), concealed: buffer.concealed }
  }
  const lost = (i: number) => i % 7 === 3
  const [whole, mended] = [await heardWithout(() => false), await heardWithout(lost)]
  assert.equal(whole.concealed, 0)
  assert.ok(mended.concealed > 8, 'packets were lost')
  const difference = mended.heard.map((sample, i) => sample - (whole.heard[i] ?? 0))
  assert.ok(
    rms(whole.heard) > 3_000 && rms(difference) < 0.2 * rms(whole.heard),
    `${rms(difference)} of ${rms(whole.heard)}`,
  )
  const decoder = await listening()
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      const samples = decoder.decode(bytes)
      assert.ok(samples.length > 0 && samples.length <= 960)
    }),
    { numRuns: 2_000 },
  )
  decoder.close()
  assert.equal(decoder.decode(packets[0] ?? Buffer.alloc(0)).length, frameSamples, 'after its end it is silent')
})

test('two ends speak Opus by types of their own, with its clock, and keys beside it', { skip }, async (t) => {
  const pressed: string[] = []
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: () => undefined })
  const phone = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: (digit) => void pressed.push(digit) })
  t.after(() => leg.close())
  t.after(() => phone.close())
  const common = { codec: 'opus', digitClock: 48_000, hears: true, host: '127.0.0.1', opus: wishes } as const
  const at = ({ port }: RtpLeg) => ({ port, rtcpPort: port + 1 })
  const takes: RemoteAudio['takes'] = { 107: 'opus', 102: 'digits', 0: 'PCMU' }
  leg.connect({ ...common, ...at(phone), payloadType: 107, digits: 102, takes: { 96: 'opus' } })
  phone.connect({ ...common, ...at(leg), payloadType: 96, digits: 110, takes })
  const frame = new Int16Array(frameSamples)
  const heard: number[] = []
  const sound = tone([1_000], 20, 9_000)
  // The first packets wait for the package.
  for (let i = 0; phone.figures.received < 40; i++) {
    leg.say(sound)
    await new Promise((resume) => setImmediate(resume))
    assert.ok(i < 100_000, 'packets come')
  }
  leg.dial('5#')
  for (let received = phone.figures.received, i = 0; i < 60; i++) {
    leg.say(sound)
    while (phone.figures.received <= received + i) await new Promise((resume) => setImmediate(resume))
    phone.hear(frame)
    heard.push(...frame)
  }
  assert.deepEqual(pressed, ['5', '#'])
  const settled = Int16Array.from(heard.slice(0, 8 * frameSamples))
  assert.ok(rms(settled) > 3_000, `${rms(settled)}`)
})

test('timestamps of Opus and of its digits go by 48,000', { skip }, async (t) => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const packets: { timestamp: number; sequence: number; payloadType: number; payload: Buffer }[] = []
  socket.on('message', (bytes) => {
    const packet = parseRtp(bytes)
    if (packet) packets.push(packet)
  })
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: () => undefined })
  t.after(() => leg.close())
  const { port } = socket.address()
  const remote = { host: '127.0.0.1', port, rtcpPort: port + 1, codec: 'opus', payloadType: 96, digits: 110 } as const
  leg.connect({ ...remote, digitClock: 48_000, hears: true, opus: wishes })
  const until = async (count: number, payloadType: number) => {
    const found = () => packets.filter((packet) => packet.payloadType === payloadType)
    while (found().length < count) {
      leg.say(tone([500], 20))
      await new Promise((resume) => setImmediate(resume))
    }
    return found()
  }
  const [first, second] = (await until(2, 96)).slice(-2)
  assert.equal(((second?.timestamp ?? 0) - (first?.timestamp ?? 0)) >>> 0, 960)
  leg.dial('7')
  const digits = await until(3, 110)
  assert.deepEqual(
    digits.slice(0, 3).map(({ payload }) => readDigit(payload)),
    [1, 2, 3].map((frames) => ({ digit: '7', isEnd: false, duration: 960 * frames })),
  )
})

test('the jitter of a line is the same by either clock', () => {
  const jitterBy = (clock: number) => {
    const reception = new Reception()
    for (let i = 0; i < 200; i++) {
      const packet = { payloadType: 0, marker: false, sequence: i, timestamp: (i * clock) / 50, source: 1 }
      reception.take({ ...packet, payload: Buffer.alloc(0) }, i * 20 + (i % 2) * 10, clock)
    }
    return reception.quality()?.jitterMs ?? 0
  }
  assert.ok(Math.abs(jitterBy(8_000) - 10) < 0.1, `${jitterBy(8_000)}`)
  assert.ok(Math.abs(jitterBy(48_000) - 10) < 0.1, `${jitterBy(48_000)}`)
})

test('an end that changes from Opus to G.711 is heard all the way', { skip }, async (t) => {
  const phone = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: () => undefined })
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: () => undefined })
  t.after(() => phone.close())
  t.after(() => leg.close())
  const takes: RemoteAudio['takes'] = { 107: 'opus', 8: 'PCMA' }
  const at = { host: '127.0.0.1', port: phone.port, rtcpPort: phone.port + 1, digits: null, hears: true }
  phone.connect({ ...at, port: leg.port, rtcpPort: leg.port + 1, codec: 'opus', payloadType: 107, takes })
  const frame = new Int16Array(frameSamples)
  for (const [codec, payloadType] of [
    ['opus', 107],
    ['PCMA', 8],
  ] as const) {
    leg.connect({ ...at, codec, payloadType })
    const before = phone.figures.received
    let loud = 0
    while (loud < 10) {
      leg.say(tone([1_000], 20, 9_000))
      await new Promise((resume) => setImmediate(resume))
      phone.hear(frame)
      if (rms(frame) > 3_000) loud++
    }
    assert.ok(phone.figures.received > before, codec)
  }
})

test('encoders of all codecs write what they say they write', { skip }, async () => {
  for (const codec of all) {
    const encoder = encoderOf(codec)
    const into = Buffer.alloc(encoder.maxBytes)
    let length = 0
    while (length === 0) {
      length = encoder.encode(tone([700], 20), into, 0)
      await new Promise((resume) => setImmediate(resume))
    }
    const decoder = decoderOf(codec)
    assert.ok(length <= encoder.maxBytes)
    await new Promise((resume) => setImmediate(resume))
    assert.equal(decoder.decode(into.subarray(0, length)).length, frameSamples, codec)
    encoder.close?.()
    decoder.close?.()
  }
})
