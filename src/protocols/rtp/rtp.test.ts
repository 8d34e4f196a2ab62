// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { decoderOf, encoderOf } from '../audio/codec.ts'
import { decode, encode, frameSamples } from '../audio/g711.ts'
import { Mixer } from '../audio/mixer.ts'
import { keyIn, rms, share, silence, tone } from '../audio/tones.ts'
import { VoiceActivity } from '../audio/voice-activity.ts'
import { readWav, writeWav } from '../audio/wav.ts'
import { Room } from '../media/room.ts'
import { MachineDetector, Recorder } from '../media/taps.ts'
import { agreedAudio, answerAudio, offerAudio } from '../sdp/session-description.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import { RtpLeg } from './leg.ts'
import { parseRtp, readDigit, writeDigit, writeRtpHeader } from './packet.ts'
import { mos, Reception } from './reception.ts'
import { ntpMiddle, parseRtcp, writeReport } from './rtcp.ts'

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
  for (const sequence of [10, 12, 11, 11]) buffer.put(sequence, decoderOf('PCMU'), payload(sequence))
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
  buffer.put(14, decoderOf('PCMU'), payload(14))
  assert.ok(buffer.take(frame) && buffer.concealed === 1, 'what was lost is concealed')
})

for (const ms of [10, 30, 60])
  test(`packets of ${ms} ms are heard without a gap`, () => {
    const buffer = new JitterBuffer()
    const decoder = decoderOf('PCMA')
    const sound = tone([1_000], 1_200, 9_000)
    const each = 8 * ms
    const payloads = Array.from({ length: sound.length / each }, (_, i) => {
      const payload = Buffer.alloc(each)
      encode('PCMA', sound.subarray(i * each, (i + 1) * each), payload)
      return payload
    })
    const frame = new Int16Array(frameSamples)
    const heard: number[] = []
    for (let now = 0, next = 0; now < 55; now++) {
      for (; next * ms < (now + 1) * 20; next++) buffer.put(next, decoder, payloads[next] ?? Buffer.alloc(0))
      if (buffer.take(frame)) heard.push(...frame)
    }
    const middle = Int16Array.from(heard.slice(1_600, 7_200))
    assert.ok(middle.length === 5_600 && share(middle, 1_000) > 0.99, `${share(middle, 1_000)}`)
    assert.equal(buffer.concealed, 0)
  })

test('G.722 keeps the tones of a telephone, both ways and from packet to packet', () => {
  const [encoder, decoder] = [encoderOf('G722'), decoderOf('G722')]
  for (const hertz of [300, 1_000, 2_000, 3_000]) {
    const sound = tone([hertz], 400, 9_000)
    const heard = new Int16Array(sound.length)
    for (let at = 0; at < sound.length; at += frameSamples) {
      const bytes = new Uint8Array(frameSamples)
      encoder.encode(sound.subarray(at, at + frameSamples), bytes, 0)
      heard.set(decoder.decode(bytes), at)
    }
    const settled = heard.subarray(4 * frameSamples)
    assert.ok(share(settled, hertz) > 0.98, `${hertz} Hz: ${share(settled, hertz)}`)
    assert.ok(Math.abs(rms(settled) / rms(sound.subarray(4 * frameSamples)) - 1) < 0.1, `${hertz} Hz keeps its level`)
  }
})

/** Frames that a listener gets of a tone whose packets are lost or late by turns, in steps of 20 ms. */
function heardThrough(lossOf: (sequence: number) => boolean, delayOf: (sequence: number) => number, frames: number) {
  const buffer = new JitterBuffer()
  const decoder = decoderOf('PCMU')
  const payload = Buffer.alloc(frameSamples)
  const arriving = new Map<number, number[]>()
  for (let sequence = 0; sequence < frames; sequence++) {
    const at = sequence + Math.floor(delayOf(sequence) / 20)
    if (!lossOf(sequence)) arriving.set(at, [...(arriving.get(at) ?? []), sequence])
  }
  encode('PCMU', tone([1_000], 20, 8_000), payload)
  let heard = 0
  const frame = new Int16Array(frameSamples)
  for (let now = 0; now < frames; now++) {
    for (const sequence of arriving.get(now) ?? []) buffer.put(sequence, decoder, payload)
    if (buffer.take(frame) && rms(frame) > 1_000) heard++
  }
  return { heard: heard / frames, concealed: buffer.concealed / frames }
}

test('lost and late packets leave hardly a gap: the buffer grows as deep as the line is uneven', () => {
  let state = 7
  const chance = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const never = () => false
  for (const percent of [2, 5]) {
    const { heard, concealed } = heardThrough(
      () => chance() < percent / 100,
      () => 0,
      3_000,
    )
    assert.ok(heard > 0.99, `${percent} % lost: ${heard} heard`)
    assert.ok(Math.abs(concealed - percent / 100) < 0.02, `${percent} % lost: ${concealed} concealed`)
  }
  const uneven = heardThrough(never, () => 80 * chance(), 3_000)
  assert.ok(uneven.heard > 0.97 && uneven.concealed < 0.05, JSON.stringify(uneven))
  assert.deepEqual(heardThrough(never, () => 0, 3_000).concealed, 0)
})

test('a phone that says how quiet it is, is heard as that noise until it speaks again', () => {
  const buffer = new JitterBuffer()
  const frame = new Int16Array(frameSamples)
  const loud = Buffer.alloc(frameSamples)
  encode('PCMU', tone([1_000], 20, 8_000), loud)
  for (const sequence of [1, 2]) buffer.put(sequence, decoderOf('PCMU'), loud)
  buffer.putSilence(3, Buffer.from([40]))
  const levels = Array.from({ length: 20 }, () => {
    buffer.take(frame)
    return rms(frame)
  })
  assert.ok(levels.slice(0, 2).every((level) => level > 3_000))
  assert.ok(
    levels.slice(2).every((level) => level > 100 && level < 330),
    JSON.stringify(levels),
  )
  for (const sequence of [4, 5]) buffer.put(sequence, decoderOf('PCMU'), loud)
  assert.ok(buffer.take(frame) && rms(frame) > 3_000)
  assert.equal(buffer.concealed, 0)
})

test('keys are tones where the network carries no digits', async (t) => {
  const pressed: string[] = []
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: () => undefined })
  const phone = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: (digit) => void pressed.push(digit) })
  t.after(() => leg.close())
  t.after(() => phone.close())
  const common = { codec: 'PCMA', payloadType: 8, digits: null, hears: true, host: '127.0.0.1' } as const
  leg.connect({ ...common, port: phone.port, rtcpPort: phone.port + 1 })
  phone.connect({ ...common, port: leg.port, rtcpPort: leg.port + 1 })
  leg.dial('5#A')
  const frame = new Int16Array(frameSamples)
  for (let i = 0; i < 60; i++) {
    leg.say(new Int16Array(frameSamples))
    while (phone.figures.received <= i) await new Promise((resume) => setImmediate(resume))
    phone.hear(frame)
  }
  assert.deepEqual(pressed, ['5', '#', 'A'])
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
  const data = Buffer.alloc(4 * sound.length)
  sound.forEach((sample, i) => void data.writeInt32LE(sample * 65_536, 4 * i))
  const header = writeWav([sound]).subarray(0, 44)
  header.writeUInt16LE(32, 34)
  header.writeUInt32LE(data.length, 40)
  assert.deepEqual(readWav(Buffer.concat([header, data])), sound, '32 bits a sample')
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

test('a machine is told from a person, and its greeting is over with the beep, or with a pause where there is none', () => {
  const found = (sounds: readonly Int16Array[]) => {
    const detector = new MachineDetector(true)
    const whole = Int16Array.from(sounds.flatMap((sound) => [...sound]))
    const told: string[] = []
    for (let at = 0; at + frameSamples <= whole.length && !detector.isDone; at += frameSamples) {
      const who = detector.take(whole.subarray(at, at + frameSamples))
      if (who) told.push(`${who} ${at / 8}`)
    }
    return told
  }
  const [hello, greeting, beep] = [tone([300, 900], 600), tone([300, 900], 3_000), tone([1_000], 400)]
  assert.deepEqual(
    found([silence(200), hello, silence(9_000)]).map((told) => told.split(' ')[0]),
    ['person'],
  )
  const [machine, ready] = found([silence(200), greeting, silence(400), beep, silence(9_000)])
  assert.match(machine ?? '', /^machine/)
  assert.equal(ready, 'recording 4000', 'at the end of the beep')
  const [, paused] = found([silence(200), greeting, silence(9_000)])
  assert.match(paused ?? '', /^recording 5[1-4]\d\d$/)
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
    digitClock: 8_000,
    takes: { 8: 'PCMA', 110: 'digits' },
    host: '192.0.2.9',
    port: 6_000,
    rtcpPort: 6_001,
    sends: true,
    hears: false,
    crypto: null,
  })
  assert.equal(agreedAudio(offerAudio(own))?.codec, 'PCMU')
  assert.equal(answerAudio(offer.replace('111 8 0 110', '111'), own), null)
  assert.equal(answerAudio(offer.replace('RTP/AVP 111', 'RTP/SAVP 111'), own), null)
  assert.equal(answerAudio('nonsense', own), null)
})

/** A socket that counts what it hears, at an address of this machine. */
async function telephone(t: TestContext, host: string) {
  const socket = createSocket('udp4').bind(0, host)
  await once(socket, 'listening')
  t.after(() => socket.close())
  let sequence = 0
  const speaks = (value: number, port: number) => {
    const packet = Buffer.alloc(12 + frameSamples, value)
    writeRtpHeader(packet, {
      payloadType: 0,
      marker: false,
      sequence: ++sequence,
      timestamp: 160 * sequence,
      source: 7,
    })
    socket.send(packet, port, '127.0.0.1')
  }
  /** Reports that what it heard last took so long to come and go. */
  const reports = (rttMs: number, port: number, nowMs: number) => {
    const sentAt = ntpMiddle(nowMs - rttMs)
    const none = { fractionLost: 0, lost: 0, highestSequence: 0, jitter: 0, delaySinceLast: 0 }
    const own = { source: 7, nowMs, timestamp: 0, packets: 1, octets: 160 }
    const report = writeReport(own, { ...none, source: telephone.source, lastSenderReport: sentAt })
    socket.send(report, port, '127.0.0.1')
  }
  const telephone = { heard: 0, source: 0, port: socket.address().port, speaks, reports }
  socket.on('message', (packet) => {
    telephone.heard++
    telephone.source = packet.readUInt32BE(8)
  })
  return telephone
}

test('sound goes to and comes from the addresses of the call alone, whoever else sends first or after silence', async (t) => {
  let nowMs = 0
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => nowMs, digit: () => undefined })
  t.after(() => leg.close())
  const phone = await telephone(t, '127.0.0.24')
  const peer = await telephone(t, '127.0.0.25')
  const stranger = await telephone(t, '127.0.0.99')
  const common = { codec: 'PCMU', payloadType: 0, digits: null, hears: true } as const
  const named = { ...common, host: '127.0.0.24', port: phone.port, rtcpPort: phone.port + 1, peer: '127.0.0.25' }
  leg.connect(named)
  const frame = new Int16Array(frameSamples)
  /** Everybody who is named speaks, the stranger first, and the leg says one frame. */
  const turn = async (speakers: readonly (typeof phone)[]) => {
    const before = [phone.heard, peer.heard, stranger.heard]
    const received = leg.figures.received
    for (const speaker of speakers) speaker.speaks(1, leg.port)
    while (leg.figures.received - received < speakers.filter((each) => each !== stranger).length)
      await new Promise((resume) => setImmediate(resume))
    // The stranger's packet has had its turn when one that is taken was read after it.
    leg.say(frame)
    while (phone.heard + peer.heard + stranger.heard === before.reduce((sum, count) => sum + count, 0))
      await new Promise((resume) => setImmediate(resume))
    return [phone.heard, peer.heard, stranger.heard].map((count, i) => count - (before[i] ?? 0))
  }
  assert.deepEqual(await turn([stranger, phone]), [1, 0, 0])
  nowMs += 10_000
  assert.deepEqual(await turn([stranger]), [1, 0, 0], 'silence makes nobody a party')
  assert.deepEqual(await turn([stranger, peer]), [0, 1, 0], 'the signalling peer is one, behind its NAT')
  assert.deepEqual(await turn([phone]), [1, 0, 0], 'the place that is named always is')
  const { received } = leg.figures
  assert.equal(received, 3)
  // Reports are taken from the same addresses only.
  stranger.source = phone.source
  stranger.reports(2_000, leg.port + 1, nowMs)
  phone.reports(1_000, leg.port + 1, nowMs)
  while (leg.quality()?.rttMs === 0) await new Promise((resume) => setImmediate(resume))
  assert.equal(leg.quality()?.rttMs, 1_000)
})

test('frames left out are silence in a recording and loss in the quality; a raised level does not clip', async (t) => {
  const recorded: number[] = []
  const said: Int16Array[] = []
  const nothing = () => undefined
  const room = new Room({
    played: nothing,
    recorded: (_, [sound]) => void recorded.push(sound?.length ?? 0),
    recordingEnded: (_, _reason, durationMs) => void recorded.push(-durationMs),
    speechBegan: nothing,
    speechEnded: nothing,
    answerer: nothing,
  })
  const leg = await RtpLeg.open({ host: '127.0.0.1', nowMs: () => 0, digit: nothing })
  t.after(() => leg.close())
  const phone = await telephone(t, '127.0.0.24')
  const common = { codec: 'PCMU', payloadType: 0, digits: null, hears: true } as const
  leg.connect({ ...common, host: '127.0.0.24', port: phone.port, rtcpPort: phone.port + 1 })
  phone.speaks(1, leg.port)
  while (leg.figures.received === 0) await new Promise((resume) => setImmediate(resume))
  room.enter('phone', leg)
  room.enter('ear', {
    lastHeardMs: 0,
    isConnected: true,
    figures: { sent: 0, received: 0 },
    hear: (into) => into.fill(0),
    say: (frame) => void said.push(frame.slice()),
    skip: nothing,
    dial: nothing,
    quality: () => null,
    close: nothing,
  })
  room.record('r', new Recorder(1, { silenceMs: 100, maxMs: 60_000, endKeys: '' }), [{}])
  room.play('p', new Int16Array(frameSamples).fill(20_000), { loop: 1, level: 2, to: null })
  room.tick()
  assert.ok(Math.max(...(said[0] ?? [])) > 32_000, 'as loud as can be, and not wrapped around')
  room.skip(74)
  assert.deepEqual(recorded, [8_000], 'a second of it is handed over')
  assert.ok((leg.quality()?.lossPercent ?? 0) > 95)
  room.endRecording('r')
  assert.deepEqual(recorded, [8_000, 25 * frameSamples, -1_500])
})
