// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { patienceMs } from '../../../../test/eventually.ts'
import { Outbound } from '../../../platform/outbound.ts'
import { createLog } from '../../../platform/telemetry/log.ts'
import { decodeMessage, joinings } from '../../../protocols/smpp/charset.ts'
import { addressTypes, newShortMessage, type SubmitSm } from '../../../protocols/smpp/pdu.ts'
import { encodeReceipt, parseReceipt, type ReceiptState } from '../../../protocols/smpp/receipts.ts'
import { Smsc, type SmscSession, type SubmitAnswer } from '../../../protocols/smpp/session.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import type { Carrier, Incoming, Receipt } from '../carrier.ts'
import { smppKind } from './smpp.ts'
import { receiptOf } from './smpp-deliver.ts'

const message = {
  id: 'm1',
  account: 'a1',
  priority: 'transactional',
  weight: 1,
  to: '+254711000001',
  from: 'PAMOJA',
  text: 'Habari',
  encoding: 'gsm7',
  reference: 7,
  validitySeconds: 600,
  permit: null,
} as const

test('a bind may name its centre in every way that leads to a host', () => {
  const bind = { port: 2775, system_id: 'pamoja', password: 'secret' }
  for (const host of ['smsc.example', 'SMSC-1.example.', 'my_smsc', '10.0.0.7', '::1', '2001:db8::7', 'fe80::1%eth0'])
    assert.doesNotThrow(() => smppKind.check({ ...bind, host }), host)
  for (const host of ['', ' ', '😀', 'smsc example', 'smsc.example:2775', '-smsc', 'smsc/', 'a@smsc'])
    assert.throws(() => smppKind.check({ ...bind, host }), /host must be a host name or address/, host)
})

test('a long message is handed over as the bind says, with an id for each part', async (t) => {
  const shapes = { udh: [2, 0x40], udh16: [3, 0x40], sar: [2, 0], payload: [1, 0] } as const
  for (const concatenation of joinings) {
    const { carrier, submitted } = await connected(t, { concatenation })
    // Two parts with every header but the longest, which leaves room for 152 characters in each.
    const text = 'Habari ya asubuhi. '.repeat(20).slice(0, 306)
    const outcome = await carrier.submit({ ...message, text })
    const [parts, esmClass] = shapes[concatenation]
    assert.equal(submitted.length, parts, concatenation)
    assert.deepEqual(outcome, { kind: 'sent', carrierIds: submitted.map((_, i) => `id-${i}`) })
    assert.ok(submitted.every((pdu) => pdu.esmClass === esmClass))
    assert.ok(submitted.every(({ tlvs }) => (tlvs.sarTotalSegments === 2) === (concatenation === 'sar')))
    assert.ok(submitted.every(({ tlvs }) => (tlvs.messagePayload !== undefined) === (concatenation === 'payload')))
    assert.equal(submitted.map((pdu) => decodeMessage(pdu).text).join(''), text)
    await carrier.submit(message)
    assert.equal(submitted.at(-1)?.shortMessage.toString(), 'Habari', 'a short one goes plainly')
  }
})

test('text is written and read in the alphabet of the centre', async (t) => {
  for (const [alphabet, at] of [
    ['gsm', 0x00],
    ['latin1', 0x40],
  ] as const) {
    const { carrier, submitted, incoming, sessions } = await connected(t, { alphabet })
    await carrier.submit({ ...message, text: '@' })
    await carrier.submit({ ...message, text: '€' })
    const [plain, euro] = submitted
    assert.deepEqual([plain?.dataCoding, plain?.shortMessage], [0, Buffer.from([at])])
    assert.deepEqual([euro && decodeMessage(euro).text, euro?.dataCoding], ['€', alphabet === 'gsm' ? 0 : 8])
    const pdu = {
      source: { ...addressTypes.international, address: '254711000001' },
      destination: { ...addressTypes.network, address: '22141' },
      shortMessage: Buffer.from([at]),
    }
    assert.equal(await sessions[0]?.deliver(newShortMessage(pdu)), 0)
    assert.equal(incoming[0]?.text, '@')
  }
})

test('the sender of a text is typed by what it is, a short code as the centre wants it', async (t) => {
  const typed = async (settings: object, from: string) => {
    const { carrier, submitted } = await connected(t, settings)
    await carrier.submit({ ...message, from })
    return submitted[0]?.source
  }
  assert.deepEqual(await typed({}, 'PAMOJA'), { ton: 5, npi: 0, address: 'PAMOJA' })
  assert.deepEqual(await typed({}, '+254711000001'), { ton: 1, npi: 1, address: '254711000001' })
  assert.deepEqual(await typed({}, '+2902250'), { ton: 1, npi: 1, address: '2902250' })
  assert.deepEqual(await typed({}, '22141'), { ton: 3, npi: 0, address: '22141' })
  assert.deepEqual(await typed({}, '40100200'), { ton: 3, npi: 0, address: '40100200' })
  assert.deepEqual(await typed({ short_code_ton: 0, short_code_npi: 1 }, '22141'), { ton: 0, npi: 1, address: '22141' })
})

test('every part of a text has the service type of its bind', async (t) => {
  for (const [settings, serviceType] of [
    [{}, ''],
    [{ service_type: 'CMT' }, 'CMT'],
  ] as const) {
    const { carrier, submitted } = await connected(t, settings)
    await carrier.submit({ ...message, text: 'x'.repeat(200) })
    assert.deepEqual(
      submitted.map((pdu) => pdu.serviceType),
      [serviceType, serviceType],
    )
  }
  const bind = { host: 'smsc.example', port: 2775, system_id: 'pamoja', password: 'secret' }
  for (const service_type of ['SIXTEE', 'ÄÖÜ', 'C T'])
    assert.throws(() => smppKind.check({ ...bind, service_type }), /service_type must have at most 5 letters/)
})

test('what a handset sends is told in parts, however they are numbered', async (t) => {
  const { incoming, sessions } = await connected(t)
  const addresses = {
    source: { ...addressTypes.international, address: '254711000001' },
    destination: { ...addressTypes.network, address: '22141' },
  }
  const [session] = sessions
  assert.ok(session)
  const table: [Partial<SubmitSm>, Incoming['part']][] = [
    [
      { esmClass: 0x40, shortMessage: Buffer.from('0500030703014a', 'hex') },
      { reference: 7, total: 3, number: 1 },
    ],
    [
      { esmClass: 0x40, shortMessage: Buffer.from('060804010703024a', 'hex') },
      { reference: 0x107, total: 3, number: 2 },
    ],
    [
      {
        shortMessage: Buffer.from('J'),
        tlvs: { sarMsgRefNum: 0x107, sarTotalSegments: 3, sarSegmentSeqnum: 3 },
      },
      { reference: 0x107, total: 3, number: 3 },
    ],
    [{ shortMessage: Buffer.alloc(0), tlvs: { messagePayload: Buffer.from('J') } }, null],
    [
      { esmClass: 0x40, tlvs: { messagePayload: Buffer.from('0500030703034a', 'hex') } },
      { reference: 7, total: 3, number: 3 },
    ],
  ]
  for (const [content, part] of table) {
    assert.equal(await session.deliver(newShortMessage({ ...addresses, ...content })), 0)
    const arrived = incoming.at(-1)
    assert.deepEqual([arrived?.from, arrived?.to, arrived?.text, arrived?.part], ['+254711000001', '22141', 'J', part])
  }
})

test('numbers are written as customers write them, whatever the centre calls their type', async (t) => {
  const { incoming, sessions } = await connected(t)
  const [session] = sessions
  assert.ok(session)
  const table: [ton: number, address: string, shown: string][] = [
    [1, '254711000001', '+254711000001'],
    [1, '+254711000001', '+254711000001'],
    [0, '254711000001', '+254711000001'],
    [0, '22141', '22141'],
    [0, '40100200', '40100200'],
    [3, '22141', '22141'],
    [0, '0711000001', '0711000001'],
    [5, 'PAMOJA', 'PAMOJA'],
  ]
  const destination = { ...addressTypes.network, address: '22141' }
  for (const [ton, address, shown] of table) {
    const pdu = newShortMessage({ source: { ton, npi: 1, address }, destination, shortMessage: Buffer.from('J') })
    assert.equal(await session.deliver(pdu), 0)
    assert.equal(incoming.at(-1)?.from, shown, `${ton} ${address}`)
  }
})

test('each refusal of a centre has its code', async (t) => {
  let status: number = commandStatus.ESME_ROK
  const { carrier } = await connected(t, {}, () => ({ status, messageId: '' }))
  const table: [keyof typeof commandStatus, 'rejected' | 'reroute', string][] = [
    ['ESME_RINVDSTADR', 'rejected', 'INVALID_NUMBER'],
    ['ESME_RINVDSTTON', 'rejected', 'INVALID_NUMBER'],
    ['ESME_RINVDSTNPI', 'rejected', 'INVALID_NUMBER'],
    ['ESME_RINVSRCADR', 'rejected', 'INVALID_SENDER'],
    ['ESME_RINVSRCTON', 'rejected', 'INVALID_SENDER'],
    ['ESME_RINVSRCNPI', 'rejected', 'INVALID_SENDER'],
    ['ESME_RINVEXPIRY', 'rejected', 'CARRIER_ERROR'],
    ['ESME_RSUBMITFAIL', 'rejected', 'REJECTED'],
    ['ESME_RINVMSGLEN', 'rejected', 'REJECTED'],
    ['ESME_RSYSERR', 'reroute', 'CARRIER_ERROR'],
    ['ESME_RINVSERTYP', 'reroute', 'CARRIER_ERROR'],
    ['ESME_RX_T_APPN', 'reroute', 'CARRIER_ERROR'],
    ['ESME_RUNKNOWNERR', 'reroute', 'CARRIER_ERROR'],
  ]
  for (const [name, kind, code] of table) {
    status = commandStatus[name]
    assert.deepEqual(await carrier.submit(message), { kind, code, carrierCode: name })
  }
})

test('a text whose validity a centre refuses is offered once more without one', async (t) => {
  const { carrier, submitted } = await connected(t, {}, ({ validityPeriod }) =>
    validityPeriod === '' ? { status: 0, messageId: 'x' } : { status: commandStatus.ESME_RINVEXPIRY, messageId: '' },
  )
  assert.deepEqual(await carrier.submit(message), { kind: 'sent', carrierIds: ['x'] })
  assert.deepEqual(
    submitted.map(({ validityPeriod }) => validityPeriod),
    ['000000001000000R', ''],
  )
})

test('each state of a receipt has its status and code; those that are not final say nothing', () => {
  const table: [ReceiptState, string | null, [string, string | null, string | null] | null][] = [
    ['DELIVRD', null, ['delivered', null, null]],
    ['DELIVRD', '000', ['delivered', null, null]],
    ['UNDELIV', null, ['failed', 'UNDELIVERABLE', 'UNDELIV']],
    ['UNDELIV', '001', ['failed', 'UNKNOWN_SUBSCRIBER', 'UNDELIV 001']],
    ['UNDELIV', '005', ['failed', 'UNKNOWN_SUBSCRIBER', 'UNDELIV 005']],
    ['UNDELIV', '013', ['failed', 'BLOCKED', 'UNDELIV 013']],
    ['UNDELIV', '027', ['failed', 'ABSENT_SUBSCRIBER', 'UNDELIV 027']],
    ['UNDELIV', '999', ['failed', 'UNDELIVERABLE', 'UNDELIV 999']],
    ['DELETED', null, ['failed', 'UNDELIVERABLE', 'DELETED']],
    ['EXPIRED', '027', ['failed', 'EXPIRED', 'EXPIRED 027']],
    ['REJECTD', null, ['failed', 'REJECTED', 'REJECTD']],
    ['ENROUTE', null, null],
    ['ACCEPTD', null, null],
    ['UNKNOWN', null, null],
  ]
  for (const [state, error, expected] of table) {
    const content = encodeReceipt({ id: 'a1', state, error, submitDate: null, doneDate: null, text: '' })
    const parsed = parseReceipt(newShortMessage(content))
    const receipt = parsed && receiptOf('centre', 'text', parsed)
    const { status, errorCode, carrierCode } = receipt ?? {}
    assert.deepEqual(receipt && [status, errorCode, carrierCode], expected, `${state} ${error}`)
  }
})

test('what a centre reports is never taken for a message of a handset, whatever type it gives it', async (t) => {
  const { incoming, receipts, sessions } = await connected(t)
  const [session] = sessions
  assert.ok(session)
  const report = encodeReceipt({ id: 'a1', state: 'DELIVRD', error: null, submitDate: null, doneDate: null })
  const onTheWay = encodeReceipt({ id: 'a1', state: 'ENROUTE', error: null, submitDate: null, doneDate: null })
  for (const pdu of [report, { ...report, esmClass: 0 }, { ...onTheWay, esmClass: 0x20, tlvs: {} }])
    assert.equal(await session.deliver(newShortMessage(pdu)), 0)
  assert.deepEqual(
    receipts.map(({ carrierId, status }) => [carrierId, status]),
    [
      ['a1', 'delivered'],
      ['a1', 'delivered'],
    ],
  )
  assert.deepEqual(incoming, [])
})

test('a centre that complains is sent to more slowly, and gets the message once it has room', async (t) => {
  let complaints = 3
  const { carrier, submitted } = await connected(t, {}, () =>
    complaints-- > 0 ? { status: commandStatus.ESME_RTHROTTLED, messageId: '' } : { status: 0, messageId: 'x' },
  )
  assert.equal(carrier.ratePerSecond, null)
  assert.deepEqual(await carrier.submit(message), { kind: 'sent', carrierIds: ['x'] })
  assert.equal(submitted.length, 4)
  assert.ok((carrier.ratePerSecond ?? Number.POSITIVE_INFINITY) <= 100, 'it learnt how much is too much')
})

test('a centre that has no room for long loses the message to another', async (t) => {
  const full = { status: commandStatus.ESME_RMSGQFUL, messageId: '' }
  const { carrier, submitted } = await connected(t, {}, () => full)
  assert.deepEqual(await carrier.submit(message), {
    kind: 'reroute',
    code: 'THROTTLED',
    carrierCode: 'ESME_RTHROTTLED',
  })
  assert.equal(submitted.length, 6)
})

test('a message of which only some parts were taken may be out, and is no other carrier’s as if it were not', async (t) => {
  const refusals = [commandStatus.ESME_RSYSERR, commandStatus.ESME_RMSGQFUL]
  for (const refusal of refusals) {
    let taken = 0
    const { carrier } = await connected(t, {}, () =>
      taken++ === 0 ? { status: 0, messageId: 'x' } : { status: refusal, messageId: '' },
    )
    const outcome = await carrier.submit({ ...message, text: 'x'.repeat(200) })
    assert.deepEqual(outcome, { kind: 'unknown', reason: 'of 2 parts only 1 were taken' })
  }
})

test('nothing goes out while the bind may be another node’s', async (t) => {
  const { carrier, submitted, lease } = await connected(t)
  lease.isHeld = false
  const sending = carrier.submit(message)
  await until(() => lease.asked > 3)
  assert.equal(submitted.length, 0)
  lease.isHeld = true
  assert.deepEqual(await sending, { kind: 'sent', carrierIds: ['id-0'] })
})

test('a lost connection is opened again by itself', async (t) => {
  const { carrier, sessions, nextSession } = await connected(t)
  const [session] = sessions
  const again = nextSession()
  session?.drop()
  await again
  await until(() => carrier.isUp)
  assert.deepEqual(await carrier.submit(message), { kind: 'sent', carrierIds: ['id-0'] })
})

test('a centre that lets each session in and drops it is bound to ever more seldom', async (t) => {
  const { carrier, sessions, nextSession } = await connected(t)
  const firstMs = performance.now()
  for (let binds = 1; binds < 4; binds++) {
    const again = nextSession()
    sessions.at(-1)?.drop()
    await again
    await until(() => carrier.isUp)
  }
  // After a tenth of a second, half of one and a whole one, each with a fifth less at most.
  assert.ok(performance.now() - firstMs >= 1_280)
})

interface Connected {
  carrier: Carrier
  submitted: SubmitSm[]
  incoming: Incoming[]
  receipts: Receipt[]
  sessions: SmscSession[]
  /** Whether the node has the bind, and how often the carrier asked. */
  lease: { isHeld: boolean; asked: number }
  /** Fulfilled when the next session is bound. */
  nextSession(): Promise<void>
}

async function connected(
  t: TestContext,
  settings: object = {},
  answer?: (pdu: SubmitSm) => SubmitAnswer,
): Promise<Connected> {
  const submitted: SubmitSm[] = []
  const incoming: Incoming[] = []
  const receipts: Receipt[] = []
  const sessions: SmscSession[] = []
  const lease = { isHeld: true, asked: 0 }
  let onNext: () => void = () => undefined
  const server = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    authenticate: () => 0,
    onSubmit: async (_session, pdu) => {
      const given = answer?.(pdu) ?? { status: 0, messageId: `id-${submitted.length}` }
      submitted.push(pdu)
      return given
    },
    onSession: (session) => {
      sessions.push(session)
      onNext()
    },
  })
  const http = new Outbound({
    policy: {
      production: true,
      allowPrivate: false,
      allowHttp: false,
      allowCidrs: [],
      denyCidrs: [],
      extraCa: null,
      proxy: null,
    },
  })
  const carrier = smppKind.open(
    {
      name: 'centre',
      kind: 'smpp',
      window: 10,
      ratePerSecond: null,
      responseTimeoutSeconds: 30,
      token: '',
      settings: smppKind.check({ host: '127.0.0.1', port: server.port, system_id: 'a', password: 'b', ...settings }),
    },
    {
      intake: {
        receipt: async (one) => void receipts.push(one),
        incoming: async (one) => void incoming.push(one),
      },
      log: createLog({ level: 'silent', pretty: false, file: '/dev/null' }),
      http,
      isOurs: () => {
        lease.asked++
        return lease.isHeld
      },
      publicUrl: () => 'https://localhost',
    },
  )
  t.after(async () => {
    await carrier.stop()
    await server.close()
    await http.close()
  })
  await carrier.start()
  return {
    carrier,
    submitted,
    incoming,
    receipts,
    sessions,
    lease,
    nextSession: () => new Promise((resolve) => (onNext = resolve)),
  }
}

async function until(holds: () => boolean): Promise<void> {
  const untilMs = performance.now() + patienceMs()
  while (!holds()) {
    assert.ok(performance.now() < untilMs, 'it never came true')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
