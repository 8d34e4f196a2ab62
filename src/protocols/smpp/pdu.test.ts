// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../../test/properties.ts'
import { Framer } from './framer.ts'
import { maxPduBytes } from './octets.ts'
import { type Command, decode, encode, encodeRefusal, newShortMessage, type Pdu, type PduOf } from './pdu.ts'
import { commandStatus, PduError, statusName } from './status.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex.replace(/\s+/g, ''), 'hex')

const empty = { ton: 0, npi: 0, address: '' }

/** The first is the example of section 3.2.3; the others are set down octet by octet from the tables of section 4. */
const vectors: readonly { name: string; pdu: Pdu; hex: string }[] = [
  {
    name: 'bind_transmitter, as section 3.2.3 prints it',
    pdu: {
      command: 'bind_transmitter',
      status: 0,
      sequence: 1,
      body: {
        systemId: 'SMPP3TEST',
        password: 'secret08',
        systemType: 'SUBMIT1',
        interfaceVersion: 0,
        addressRange: { ton: 1, npi: 1, address: '' },
      },
    },
    hex: `00 00 00 2F 00 00 00 02 00 00 00 00 00 00 00 01
      53 4D 50 50 33 54 45 53 54 00 73 65 63 72 65 74 30 38 00 53 55 42 4D 49 54 31 00 00 01 01 00`,
  },
  {
    name: 'bind_transceiver_resp with sc_interface_version',
    pdu: {
      command: 'bind_transceiver_resp',
      status: 0,
      sequence: 2,
      body: { systemId: 'SMSC', tlvs: { scInterfaceVersion: 0x34 } },
    },
    hex: '00 00 00 1A 80 00 00 09 00 00 00 00 00 00 00 02 53 4D 53 43 00 02 10 00 01 34',
  },
  {
    name: 'bind_receiver_resp that refuses, which has no body',
    pdu: { command: 'bind_receiver_resp', status: 0x0e, sequence: 3, body: { systemId: '', tlvs: {} } },
    hex: '00 00 00 10 80 00 00 01 00 00 00 0E 00 00 00 03',
  },
  {
    name: 'submit_sm from a name to a number, with a receipt asked for',
    pdu: {
      command: 'submit_sm',
      status: 0,
      sequence: 4,
      body: newShortMessage({
        source: { ton: 5, npi: 0, address: 'PAMOJA' },
        destination: { ton: 1, npi: 1, address: '254712345678' },
        validityPeriod: '000002000000000R',
        registeredDelivery: 1,
        shortMessage: Buffer.from('Hello'),
      }),
    },
    hex: `00 00 00 48 00 00 00 04 00 00 00 00 00 00 00 04
      00 05 00 50 41 4D 4F 4A 41 00 01 01 32 35 34 37 31 32 33 34 35 36 37 38 00
      00 00 00 00 30 30 30 30 30 32 30 30 30 30 30 30 30 30 30 52 00
      01 00 00 00 05 48 65 6C 6C 6F`,
  },
  {
    name: 'submit_sm_resp',
    pdu: { command: 'submit_sm_resp', status: 0, sequence: 4, body: { messageId: '0a1B' } },
    hex: '00 00 00 15 80 00 00 04 00 00 00 00 00 00 00 04 30 61 31 42 00',
  },
  {
    name: 'deliver_sm with the optional parameters of a receipt and one that nobody knows',
    pdu: {
      command: 'deliver_sm',
      status: 0,
      sequence: 5,
      body: newShortMessage({
        source: { ton: 1, npi: 1, address: '2547' },
        destination: { ton: 5, npi: 0, address: 'AB' },
        esmClass: 4,
        tlvs: {
          receiptedMessageId: '1f',
          messageState: 2,
          networkErrorCode: bytes('03 00 01'),
          unknown: [{ tag: 0x1400, value: bytes('CA FE') }],
        },
      }),
    },
    hex: `00 00 00 40 00 00 00 05 00 00 00 00 00 00 00 05
      00 01 01 32 35 34 37 00 05 00 41 42 00 04 00 00 00 00 00 00 00 00 00
      00 1E 00 03 31 66 00 04 27 00 01 02 04 23 00 03 03 00 01 14 00 00 02 CA FE`,
  },
  {
    name: 'deliver_sm_resp, whose id is always empty',
    pdu: { command: 'deliver_sm_resp', status: 0, sequence: 5, body: { messageId: '' } },
    hex: '00 00 00 11 80 00 00 05 00 00 00 00 00 00 00 05 00',
  },
  {
    name: 'data_sm with message_payload and sar parameters',
    pdu: {
      command: 'data_sm',
      status: 0,
      sequence: 6,
      body: {
        serviceType: 'CMT',
        source: empty,
        destination: { ton: 1, npi: 1, address: '99' },
        esmClass: 0,
        registeredDelivery: 0,
        dataCoding: 8,
        tlvs: {
          messagePayload: bytes('00 41'),
          sarMsgRefNum: 0x0102,
          sarTotalSegments: 2,
          sarSegmentSeqnum: 1,
          alertOnMessageDelivery: true,
          qosTimeToLive: 0x00015180,
        },
      },
    },
    hex: `00 00 00 41 00 00 01 03 00 00 00 00 00 00 00 06
      43 4D 54 00 00 00 00 01 01 39 39 00 00 00 08
      04 24 00 02 00 41 02 0C 00 02 01 02 02 0E 00 01 02 02 0F 00 01 01 13 0C 00 00 00 17 00 04 00 01 51 80`,
  },
  {
    name: 'data_sm_resp',
    pdu: {
      command: 'data_sm_resp',
      status: 0,
      sequence: 6,
      body: { messageId: '7', tlvs: { deliveryFailureReason: 1 } },
    },
    hex: '00 00 00 17 80 00 01 03 00 00 00 00 00 00 00 06 37 00 04 25 00 01 01',
  },
  {
    name: 'query_sm',
    pdu: { command: 'query_sm', status: 0, sequence: 7, body: { messageId: '12', source: empty } },
    hex: '00 00 00 16 00 00 00 03 00 00 00 00 00 00 00 07 31 32 00 00 00 00',
  },
  {
    name: 'query_sm_resp',
    pdu: {
      command: 'query_sm_resp',
      status: 0,
      sequence: 7,
      body: { messageId: '12', finalDate: '', messageState: 2, errorCode: 0 },
    },
    hex: '00 00 00 16 80 00 00 03 00 00 00 00 00 00 00 07 31 32 00 00 02 00',
  },
  {
    name: 'cancel_sm',
    pdu: {
      command: 'cancel_sm',
      status: 0,
      sequence: 8,
      body: { serviceType: '', messageId: '12', source: empty, destination: empty },
    },
    hex: '00 00 00 1A 00 00 00 08 00 00 00 00 00 00 00 08 00 31 32 00 00 00 00 00 00 00',
  },
  {
    name: 'cancel_sm_resp',
    pdu: { command: 'cancel_sm_resp', status: 0x11, sequence: 8, body: {} },
    hex: '00 00 00 10 80 00 00 08 00 00 00 11 00 00 00 08',
  },
  {
    name: 'enquire_link',
    pdu: { command: 'enquire_link', status: 0, sequence: 9, body: {} },
    hex: '00 00 00 10 00 00 00 15 00 00 00 00 00 00 00 09',
  },
  {
    name: 'enquire_link_resp',
    pdu: { command: 'enquire_link_resp', status: 0, sequence: 9, body: {} },
    hex: '00 00 00 10 80 00 00 15 00 00 00 00 00 00 00 09',
  },
  {
    name: 'unbind',
    pdu: { command: 'unbind', status: 0, sequence: 10, body: {} },
    hex: '00 00 00 10 00 00 00 06 00 00 00 00 00 00 00 0A',
  },
  {
    name: 'unbind_resp',
    pdu: { command: 'unbind_resp', status: 0, sequence: 10, body: {} },
    hex: '00 00 00 10 80 00 00 06 00 00 00 00 00 00 00 0A',
  },
  {
    name: 'outbind',
    pdu: { command: 'outbind', status: 0, sequence: 11, body: { systemId: 'S', password: 'p' } },
    hex: '00 00 00 14 00 00 00 0B 00 00 00 00 00 00 00 0B 53 00 70 00',
  },
  {
    name: 'alert_notification',
    pdu: {
      command: 'alert_notification',
      status: 0,
      sequence: 12,
      body: { source: { ton: 1, npi: 1, address: '2547' }, esme: empty, tlvs: { msAvailabilityStatus: 0 } },
    },
    hex: '00 00 00 1F 00 00 01 02 00 00 00 00 00 00 00 0C 01 01 32 35 34 37 00 00 00 00 04 22 00 01 00',
  },
  {
    name: 'generic_nack',
    pdu: { command: 'generic_nack', status: 3, sequence: 13, body: {} },
    hex: '00 00 00 10 80 00 00 00 00 00 00 03 00 00 00 0D',
  },
]

test('every PDU has the bytes that the specification gives it, and is read from them', () => {
  for (const { name, pdu, hex } of vectors) {
    const written = encode(pdu)
    assert.ok(Buffer.isBuffer(written), name)
    assert.equal(written.toString('hex'), bytes(hex).toString('hex'), name)
    assert.deepEqual(decode(bytes(hex)), pdu, name)
  }
})

test('whatever is written is read back the same', () => {
  fc.assert(
    fc.property(anyPdu, (pdu) => {
      const written = encode(pdu)
      assert.ok(Buffer.isBuffer(written))
      assert.deepEqual(decode(written), pdu)
    }),
    { numRuns: runs(1000) },
  )
})

test('a malformed request is an error that knows its sequence number and how to refuse it', () => {
  const submit = bytes(vectors.find(({ pdu }) => pdu.command === 'submit_sm')?.hex ?? '')
  const smLengthAt = submit.length - 6
  const deliver = bytes(vectors.find(({ pdu }) => pdu.command === 'deliver_sm')?.hex ?? '')
  const cases: readonly [string, Buffer, number][] = [
    ['sm_length beyond the PDU', changed(submit, smLengthAt, 6), commandStatus.ESME_RINVMSGLEN],
    ['sm_length of 255', resized(changed(submit, smLengthAt, 255), 400), commandStatus.ESME_RINVMSGLEN],
    ['an address of 21 characters', longAddress(21), commandStatus.ESME_RINVSRCADR],
    ['a text without an end', resized(submit, 30), commandStatus.ESME_RINVCMDLEN],
    ['a body that ends too soon', resized(submit, submit.length - 8), commandStatus.ESME_RINVCMDLEN],
    ['a parameter that is cut off', resized(deliver, deliver.length - 1), commandStatus.ESME_RINVOPTPARSTREAM],
    ['an unknown command', changed(submit, 7, 0x77), commandStatus.ESME_RINVCMDID],
    ['a length that is not its own', changed(submit, 3, 0x40), commandStatus.ESME_RINVCMDLEN],
  ]
  for (const [name, frame, status] of cases) {
    const error = decode(frame)
    assert.ok(error instanceof PduError, name)
    assert.equal(statusName(error.status), statusName(status), name)
    assert.equal(error.sequence, frame.readUInt32BE(12), name)
    assert.equal(error.isAnswer, false, name)
  }
  assert.ok(Buffer.isBuffer(longAddress(20)))
  assert.ok(!(decode(longAddress(20)) instanceof PduError), 'twenty characters are allowed')
})

test('a message counts that has some zeros behind it', () => {
  const deliver = bytes(vectors.find(({ pdu }) => pdu.command === 'deliver_sm')?.hex ?? '')
  for (const zeros of [1, 2, 3]) assert.deepEqual(decode(resized(deliver, deliver.length + zeros)), decode(deliver))
})

test('an answer may come without its body', () => {
  for (const id of ['04', '05', '09']) {
    const pdu = decode(bytes(`00 00 00 10 80 00 00 ${id} 00 00 00 58 00 00 00 01`))
    assert.ok(!(pdu instanceof PduError))
    assert.equal(pdu.status, commandStatus.ESME_RTHROTTLED)
  }
})

test('an answer counts that leaves out a closing zero, or says more than there may be', () => {
  const long = 'ab'.repeat(40)
  for (const [id, text] of [
    ['7b2f', Buffer.from('7b2f')],
    [long, Buffer.from(`${long}\0`)],
  ] as const) {
    const taken = decode(answerWith(0x80000004, text))
    assert.ok(!(taken instanceof PduError) && taken.command === 'submit_sm_resp')
    assert.equal(taken.body.messageId, id)
    const bound = decode(answerWith(0x80000009, text))
    assert.ok(!(bound instanceof PduError) && bound.command === 'bind_transceiver_resp')
    assert.equal(bound.body.systemId, id)
  }
})

test('a parameter with an unusual length is kept as it came', () => {
  const pdu = decode(bytes('00 00 00 1B 80 00 00 09 00 00 00 00 00 00 00 02 53 4D 53 43 00 02 10 00 02 34 35'))
  assert.ok(!(pdu instanceof PduError) && pdu.command === 'bind_transceiver_resp')
  assert.deepEqual(pdu.body.tlvs, { unknown: [{ tag: 0x0210, value: bytes('34 35') }] })
})

test('a message id without its closing zero is still read', () => {
  const whole = newShortMessage({ tlvs: { unknown: [{ tag: 0x001e, value: Buffer.from('1f2e') }] } })
  const frame = encode({ command: 'deliver_sm', status: 0, sequence: 1, body: whole })
  assert.ok(Buffer.isBuffer(frame))
  const pdu = decode(frame)
  assert.ok(!(pdu instanceof PduError) && pdu.command === 'deliver_sm')
  assert.equal(pdu.body.tlvs.receiptedMessageId, '1f2e')
})

test('what does not fit its field is not written, and says how a centre would refuse it', () => {
  const submit = (fields: Parameters<typeof newShortMessage>[0]): Buffer | PduError =>
    encode({ command: 'submit_sm', status: 0, sequence: 9, body: newShortMessage(fields) })
  const cases: readonly [Buffer | PduError, number][] = [
    [submit({ shortMessage: Buffer.alloc(255) }), commandStatus.ESME_RINVMSGLEN],
    [submit({ destination: { ton: 1, npi: 1, address: '1'.repeat(21) } }), commandStatus.ESME_RINVDSTADR],
    [submit({ source: { ton: 5, npi: 0, address: 'Ŵ' } }), commandStatus.ESME_RINVSRCADR],
    [submit({ source: { ton: 5, npi: 0, address: 'A\0B' } }), commandStatus.ESME_RINVSRCADR],
    [submit({ priority: 256 }), commandStatus.ESME_RINVPARLEN],
    [submit({ tlvs: { messagePayload: Buffer.alloc(maxPduBytes) } }), commandStatus.ESME_RINVMSGLEN],
    [encode({ command: 'enquire_link', status: -1, sequence: 1, body: {} }), commandStatus.ESME_RINVPARLEN],
  ]
  for (const [error, status] of cases) {
    assert.ok(error instanceof PduError)
    assert.equal(statusName(error.status), statusName(status))
  }
})

test('a refusal has the form of the answer, and is a generic_nack where there is none', () => {
  const forms: readonly [Command, string, number][] = [
    ['submit_sm', 'submit_sm_resp', 16],
    ['deliver_sm', 'deliver_sm_resp', 17],
    ['query_sm', 'query_sm_resp', 20],
    ['alert_notification', 'generic_nack', 16],
    ['generic_nack', 'generic_nack', 16],
  ]
  for (const [request, answer, length] of forms) {
    const frame = encodeRefusal(request, 77, commandStatus.ESME_RSYSERR)
    assert.equal(frame.length, length)
    const pdu = decode(frame)
    assert.ok(!(pdu instanceof PduError))
    assert.deepEqual([pdu.command, pdu.status, pdu.sequence], [answer, commandStatus.ESME_RSYSERR, 77])
  }
})

test('a stream is cut into frames however it arrives', () => {
  const all = Buffer.concat(vectors.map(({ hex }) => bytes(hex)))
  for (const size of [1, 2, 3, 7, 16, 17, 100, all.length]) {
    const framer = new Framer()
    const seen: string[] = []
    for (let at = 0; at < all.length; at += size) {
      framer.push(all.subarray(at, at + size))
      for (let frame = framer.next(); frame !== null; frame = framer.next()) {
        assert.ok(Buffer.isBuffer(frame))
        seen.push(frame.toString('hex'))
      }
    }
    assert.deepEqual(
      seen,
      vectors.map(({ hex }) => bytes(hex).toString('hex')),
    )
  }
})

test('a length that no PDU has is seen before the rest of it arrives', () => {
  for (const [hex, sequence] of [
    ['00 00 00 0F', 0],
    ['00 01 00 01', 0],
    ['47 45 54 20', 0],
    ['FF FF FF FF 00 00 00 04 00 00 00 00 00 00 00 2A', 42],
  ] as const) {
    const framer = new Framer()
    framer.push(bytes(hex))
    const error = framer.next()
    assert.ok(error instanceof PduError)
    assert.equal(error.status, commandStatus.ESME_RINVCMDLEN)
    assert.equal(error.sequence, sequence)
  }
})

test('no bytes make the codec throw or read outside the frame', () => {
  const random = generator(3338)
  const seeds = vectors.map(({ hex }) => bytes(hex))
  let malformed = 0
  for (let round = 0; round < 6000; round++) {
    const seed = seeds[random(seeds.length)] ?? Buffer.alloc(16)
    const body =
      round % 3 === 0 ? Buffer.from(Array.from({ length: 16 + random(120) }, () => random(256))) : mutated(seed)
    body.writeUInt32BE(body.length, 0)
    // What lies around the frame must not matter: a reader that leaves it would see another value the second time.
    const results = [0x00, 0xff].map((around) => {
      const memory = Buffer.alloc(body.length + 600, around)
      body.copy(memory, 300)
      return decode(memory.subarray(300, 300 + body.length))
    })
    assert.deepEqual(results[0], results[1])
    if (results[0] instanceof PduError) malformed += 1
    else if (results[0]) assert.ok(Buffer.isBuffer(encode(results[0])))
  }
  assert.ok(malformed > 1000 && malformed < 5900, `${malformed} of 6000 were malformed`)

  function mutated(seed: Buffer): Buffer {
    const frame = Buffer.from(seed)
    for (let i = random(4); i >= 0; i--) frame[4 + random(frame.length - 4)] = random(256)
    return random(2) === 0 ? frame : Buffer.concat([frame.subarray(0, 16 + random(frame.length - 15))])
  }
})

function changed(frame: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(frame)
  copy[at] = value
  return copy
}

/** Cut or filled up with sevens, with its length set right. */
function resized(frame: Buffer, length: number): Buffer {
  const copy = Buffer.alloc(length, 7)
  frame.copy(copy)
  copy.writeUInt32BE(length, 0)
  return copy
}

function longAddress(length: number): Buffer {
  const tail = Buffer.concat([Buffer.from([0, 5, 0]), Buffer.alloc(length, 0x41), Buffer.alloc(14)])
  const frame = Buffer.concat([bytes('00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 63'), tail])
  frame.writeUInt32BE(frame.length, 0)
  return frame
}

/** The same numbers each time (mulberry32). */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Plain objects, as the codec makes them. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true })
const octet = fc.integer({ min: 0, max: 255 })
const text = (length: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: length }).map((units) => String.fromCharCode(...units))
const octets = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength: length }).map((value) => Buffer.from(value))
const address = (length: number) => record({ ton: octet, npi: octet, address: text(length) })
const tlvs = fc.record(
  {
    receiptedMessageId: text(64),
    messageState: octet,
    userMessageReference: fc.integer({ min: 0, max: 0xffff }),
    qosTimeToLive: fc.integer({ min: 0, max: 0xffffffff }),
    messagePayload: octets(300),
    alertOnMessageDelivery: fc.constant<true>(true),
    unknown: fc.array(record({ tag: fc.integer({ min: 0x1400, max: 0x3fff }), value: octets(20) }), {
      minLength: 1,
    }),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const shortMessage = record({
  serviceType: text(5),
  source: address(20),
  destination: address(20),
  esmClass: octet,
  protocolId: octet,
  priority: octet,
  scheduleDeliveryTime: text(16),
  validityPeriod: text(16),
  registeredDelivery: octet,
  replaceIfPresent: octet,
  dataCoding: octet,
  defaultMessageId: octet,
  shortMessage: octets(254),
  tlvs,
})
const bind = record({
  systemId: text(15),
  password: text(8),
  systemType: text(12),
  interfaceVersion: octet,
  addressRange: address(40),
})

function pduOf<C extends Command>(command: C, body: fc.Arbitrary<PduOf<C>['body']>): fc.Arbitrary<PduOf<C>> {
  const sequence = fc.integer({ min: 0, max: 0xffffffff })
  return fc.tuple(sequence, body).map(([number, value]) => ({ command, status: 0, sequence: number, body: value }))
}

const anyPdu: fc.Arbitrary<Pdu> = fc.oneof(
  pduOf('submit_sm', shortMessage),
  pduOf('deliver_sm', shortMessage),
  pduOf('submit_sm_resp', record({ messageId: text(64) })),
  pduOf('data_sm_resp', record({ messageId: text(64), tlvs })),
  pduOf('bind_transceiver', bind),
  pduOf('bind_receiver_resp', record({ systemId: text(15), tlvs })),
  pduOf(
    'data_sm',
    record({
      serviceType: text(5),
      source: address(64),
      destination: address(64),
      esmClass: octet,
      registeredDelivery: octet,
      dataCoding: octet,
      tlvs,
    }),
  ),
  pduOf('query_sm', record({ messageId: text(64), source: address(20) })),
  pduOf(
    'cancel_sm',
    record({ serviceType: text(5), messageId: text(64), source: address(20), destination: address(20) }),
  ),
)

function answerWith(commandId: number, body: Buffer): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32BE(16 + body.length, 0)
  header.writeUInt32BE(commandId, 4)
  header.writeUInt32BE(1, 12)
  return Buffer.concat([header, body])
}

test('a refusal has a body where it says why in an optional parameter', () => {
  const tlvs = { unknown: [{ tag: 0x1400, value: Buffer.from('OPTED_OUT') }] }
  const refusal = { command: 'submit_sm_resp', status: 0x45, sequence: 7 } as const
  const said = encode({ ...refusal, body: { messageId: '', tlvs } })
  assert.ok(Buffer.isBuffer(said))
  assert.equal(said.subarray(16).toString('hex'), `0014000009${Buffer.from('OPTED_OUT').toString('hex')}`)
  const bare = encode({ ...refusal, body: { messageId: '' } })
  assert.ok(Buffer.isBuffer(bare) && bare.length === 16)
})
