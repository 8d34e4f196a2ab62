// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode, encode, frameSamples } from '../audio/g711.ts'
import { Mixer } from '../audio/mixer.ts'
import { keyIn, share, tone } from '../audio/tones.ts'
import { VoiceActivity } from '../audio/voice-activity.ts'
import { readWav, writeWav } from '../audio/wav.ts'
import { agreedAudio, answerAudio, offerAudio } from '../sdp/session-description.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import { parseRtp, readDigit, writeDigit, writeRtpHeader } from './packet.ts'
import { mos, Reception } from './reception.ts'
import { parseRtcp, writeReport } from './rtcp.ts'

test('G.711 gives the values of the standard, and loses only what it must', () => {
  const samples = Int16Array.from([0, 8, -8, 1_000, -1_000, 32_124, -32_124])
  for (const codec of ['PCMU', 'PCMA'] as const) {
    const bytes = new Uint8Array(samples.length)
    const back = new Int16Array(samples.length)
    encode(codec, samples, bytes)
    decode(codec, bytes, back)
    for (const [i, sample] of samples.entries())
      assert.ok(Math.abs(sample - (back[i] ?? 0)) <= Math.max(16, Math.abs(sample) / 16), codec)
  }
  const silent = new Uint8Array(1)
  encode('PCMU', new Int16Array(1), silent)
  assert.equal(silent[0], 0xff)
  encode('PCMA', new Int16Array(1), silent)
  assert.equal(silent[0], 0xd5)
})

test('RTP packets are read as they were written, and nonsense is none', () => {
  const packet = Buffer.alloc(16)
  writeRtpHeader(packet, { payloadType: 101, marker: true, sequence: 65_535, timestamp: 4_294_967_295, source: 7 })
  writeDigit({ digit: '#', isEnd: true, duration: 1_280 }).copy(packet, 12)
  const read = parseRtp(packet)
  assert.deepEqual(
    [read?.payloadType, read?.marker, read?.sequence, read?.timestamp, read?.source],
    [101, true, 65_535, 4_294_967_295, 7],
  )
  assert.deepEqual(read && readDigit(read.payload), { digit: '#', isEnd: true, duration: 1_280 })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (array) => {
      const bytes = Buffer.from(array)
      const found = parseRtp(bytes)
      if (found) readDigit(found.payload)
      parseRtcp(bytes)
    }),
    { numRuns: 2_000 },
  )
})

test('reports carry what was lost, and the other side reads it', () => {
  const reception = new Reception()
  const packet = (sequence: number) => ({
    payloadType: 0,
    marker: false,
    sequence,
    timestamp: sequence * 160,
    source: 9,
    payload: Buffer.alloc(0),
  })
  for (const sequence of [65_530, 65_531, 65_533, 65_535, 0, 1, 2])
    reception.take(packet(sequence & 0xffff), sequence * 20)
  assert.deepEqual([reception.expected, reception.lost], [9, 2])
  const own = { source: 5, nowMs: 1_700_000_000_000, timestamp: 0, packets: 1, octets: 160 }
  const [report] = parseRtcp(writeReport(own, reception.report(0, 0)))
  assert.deepEqual([report?.source, report?.reports[0]?.source, report?.reports[0]?.lost], [5, 9, 2])
})

test('a good line scores high, a bad one low', () => {
  assert.ok(mos(0, 1, 20) > 4.2)
  assert.ok(mos(5, 80, 300) < 3.5)
  assert.ok(mos(50, 200, 900) < 1.5)
})

test('packets out of order, twice and lost still give a frame every 20 ms', () => {
  const buffer = new JitterBuffer()
  const frame = new Int16Array(frameSamples)
  const payload = (value: number) => Buffer.alloc(frameSamples, value)
  for (const sequence of [10, 12, 11, 11]) buffer.put(sequence, 'PCMU', payload(sequence))
  const heard = Array.from({ length: 3 }, () => {
    assert.ok(buffer.take(frame))
    return frame[0]
  })
  const expected = [10, 11, 12].map((value) => {
    const samples = new Int16Array(1)
    decode('PCMU', payload(value), samples)
    return samples[0]
  })
  assert.deepEqual(heard, expected)
  buffer.put(14, 'PCMU', payload(14))
  assert.ok(buffer.take(frame) && buffer.concealed === 1, 'what was lost is concealed')
})

test('hold, mute and whisper are edges, and take effect without a click', () => {
  const mixer = new Mixer()
  for (const member of ['customer', 'agent', 'supervisor']) mixer.enter(member)
  const heard = new Int16Array(frameSamples)
  const hear = (who: string) => {
    mixer.frameOf('customer').fill(100)
    mixer.frameOf('agent').fill(1_000)
    mixer.frameOf('supervisor').fill(10_000)
    mixer.gather()
    mixer.hear(who, heard)
    return [heard[0], heard[frameSamples - 1]]
  }
  assert.deepEqual(hear('customer'), [11_000, 11_000])
  mixer.gain('supervisor', 'customer', 0)
  const [first = 0, last] = hear('customer')
  assert.ok(first > 10_900 && last === 1_000, 'it fades within the frame')
  assert.deepEqual(hear('customer'), [1_000, 1_000])
  assert.deepEqual(hear('agent'), [10_100, 10_100])
  mixer.leave('supervisor')
  assert.throws(() => mixer.frameOf('supervisor'))
})

test('what each hears is the sum of the others by their gains, whatever the gains', () => {
  const gains = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 12, maxLength: 12 })
  fc.assert(
    fc.property(
      gains,
      fc.array(fc.integer({ min: -3_000, max: 3_000 }), { minLength: 4, maxLength: 4 }),
      (matrix, values) => {
        const mixer = new Mixer()
        const names = ['a', 'b', 'c', 'd']
        for (const name of names) mixer.enter(name)
        const gain = (from: number, to: number) => matrix[(from * 3 + to) % matrix.length] ?? 1
        for (const [from, speaker] of names.entries())
          for (const [to, listener] of names.entries()) if (from !== to) mixer.gain(speaker, listener, gain(from, to))
        const heard = new Int16Array(frameSamples)
        for (let frame = 0; frame < 2; frame++) {
          names.forEach((name, i) => void mixer.frameOf(name).fill(values[i] ?? 0))
          mixer.gather()
          names.forEach((listener, to) => {
            mixer.hear(listener, heard)
            const sum = names.reduce(
              (total, _, from) => total + (from === to ? 0 : (values[from] ?? 0) * gain(from, to)),
              0,
            )
            if (frame === 1)
              assert.ok(Math.abs((heard[frameSamples - 1] ?? 0) - Math.max(-32_768, Math.min(32_767, sum))) <= 1)
          })
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('a WAV file comes back, at another rate with the same tone', () => {
  const sound = tone([440], 500)
  const back = readWav(writeWav([sound]))
  assert.deepEqual(back, sound)
  const wide = writeWav([
    Int16Array.from({ length: 22_050 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 440 * i) / 22_050)),
  ])
  wide.writeUInt32LE(22_050, 24)
  const narrow = readWav(wide)
  assert.ok(typeof narrow !== 'string' && narrow.length === 8_000 && share(narrow.subarray(0, 1_600), 440) > 0.95)
  for (const bad of [Buffer.alloc(3), Buffer.from('RIFFxxxxWAVE'), Buffer.alloc(100)])
    assert.equal(typeof readWav(bad), 'string')
  assert.equal(keyIn(tone([770, 1_336], 20)), '5')
  assert.equal(keyIn(tone([440], 20)), null)
})

test('a word is speech, silence and a click are not', () => {
  const activity = new VoiceActivity()
  for (let i = 0; i < 20; i++) activity.take(new Int16Array(frameSamples))
  activity.take(new Int16Array(frameSamples).fill(9_000))
  assert.equal(activity.hasSpoken, false)
  for (let i = 0; i < 10; i++) activity.take(tone([300, 900], 20))
  assert.ok(activity.hasSpoken)
})

test('the more sensitive, the quieter a word may be', () => {
  const hears = (sensitivity: number, level: number) => {
    const activity = new VoiceActivity(sensitivity)
    for (let i = 0; i < 10; i++) activity.take(tone([300, 900], 20).map((sample) => (sample * level) / 100))
    return activity.hasSpoken
  }
  // How loud the same word has to be at least, in hundredths.
  for (const [sensitivity, unheard, heard] of [
    [100, 3, 7],
    [90, 4, 8],
    [50, 14, 25],
    [10, 40, 80],
  ] as const)
    assert.deepEqual([hears(sensitivity, unheard), hears(sensitivity, heard)], [false, true], `at ${sensitivity}`)
})

test('an offer is answered stream by stream; what has nothing in common is refused', () => {
  const own = { host: '192.0.2.1', port: 4_000, version: 1 }
  const offer = `v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\nm=video 5000 RTP/AVP 96\r\nm=audio 6000 RTP/AVP 111 8 0 110\r\na=rtpmap:111 opus/48000/2\r\na=rtpmap:110 telephone-event/8000\r\na=sendonly\r\n`
  const answer = answerAudio(offer, own) ?? ''
  assert.match(answer, /m=video 0 RTP\/AVP 96/)
  assert.match(answer, /m=audio 4000 RTP\/AVP 8 110/)
  assert.match(answer, /a=recvonly/)
  assert.deepEqual(agreedAudio(offer), {
    codec: 'PCMA',
    payloadType: 8,
    digits: 110,
    host: '192.0.2.9',
    port: 6_000,
    rtcpPort: 6_001,
    sends: true,
    hears: false,
  })
  assert.equal(agreedAudio(offerAudio(own))?.codec, 'PCMU')
  assert.equal(answerAudio(offer.replace('111 8 0 110', '111'), own), null)
  assert.equal(answerAudio(offer.replace('RTP/AVP 111', 'RTP/SAVP 111'), own), null)
  assert.equal(answerAudio('nonsense', own), null)
})
