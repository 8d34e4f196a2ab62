// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { patienceMs } from '../../../test/eventually.ts'
import { Framer } from './framer.ts'
import { SessionError } from './link.ts'
import { type DeliverSm, decode, encode, newShortMessage, type Pdu, type SubmitSm } from './pdu.ts'
import { Esme, type EsmeOptions, Smsc, type SmscOptions, type SmscSession, type SubmitAnswer } from './session.ts'
import { commandStatus, PduError, statusName } from './status.ts'

/** An answer without the number of its request. */
const said = ({ status, messageId }: SubmitAnswer) => ({ status, messageId })

const waitMs = patienceMs()

test('a message is submitted, taken and its receipt delivered over one transceiver', async (t) => {
  const acknowledged = signal<Promise<number>>()
  const smsc = await centre(t, {
    onSubmit: async (session, { source, destination }) => {
      acknowledged.give(session.deliver(newShortMessage({ source: destination, destination: source, esmClass: 4 })))
      return { status: 0, messageId: 'a1' }
    },
  })
  const delivered = signal<DeliverSm>()
  const esme = await bound(t, smsc, {
    onDeliver: async (message) => {
      delivered.give(message)
      return 0
    },
  })
  assert.deepEqual(said(await esme.submit(hello)), { status: 0, messageId: 'a1' })
  assert.equal((await delivered.value).source.address, '254712345678')
  assert.equal(await acknowledged.value, 0)
  assert.deepEqual(
    [...smsc.sessions].map(({ systemId, bindMode }) => [systemId, bindMode]),
    [['ada', 'transceiver']],
  )
})

test('a wrong password does not bind, and says which status refused it', async (t) => {
  const smsc = await centre(t, {})
  const refused = await failure(Esme.connect(options(smsc.port, { password: 'wrong' })))
  assert.equal(refused.kind, 'bind_refused')
  assert.equal(refused.status, commandStatus.ESME_RINVPASWD)
  const tooLong = await failure(Esme.connect(options(smsc.port, { password: 'longer than eight' })))
  assert.equal(tooLong.kind, 'bind_refused')
  assert.equal(smsc.sessions.size, 0)
})

test('a centre that is not there is told apart from one that refuses', async (t) => {
  const smsc = await centre(t, {})
  const { port } = smsc
  await smsc.close()
  assert.equal((await failure(Esme.connect(options(port, {})))).kind, 'connect')
})

test('no more than the window is under way, the rest waits its turn, and beyond the queue is refused', async (t) => {
  const waiting: (() => void)[] = []
  const full = signal<void>()
  let most = 0
  const smsc = await centre(t, {
    onSubmit: (_session, message) => {
      most = Math.max(most, waiting.length + 1)
      return new Promise((resolve) => {
        waiting.push(() => resolve({ status: 0, messageId: message.shortMessage.toString() }))
        if (waiting.length === 3) full.give()
      })
    },
  })
  const esme = await bound(t, smsc, { window: 3, maxQueued: 4 })
  const answers = Array.from({ length: 7 }, (_, i) => esme.submit(saying(`m${i}`)))
  assert.equal(esme.pending, 7)
  const refused = await failure(esme.submit(saying('m7')))
  assert.deepEqual([refused.kind, refused.sent], ['queue_full', false])
  await full.value
  for (let answered = 0; answered < 7; answered++) {
    waiting.shift()?.()
    assert.equal((await answers[answered])?.messageId, `m${answered}`)
    if (answered < 4) await until(() => waiting.length === 3)
  }
  assert.equal(most, 3)
  assert.equal(esme.pending, 0)
})

test('when the connection is lost, what was sent is of unknown fate and what waited was not sent', async (t) => {
  const arrived = signal<SmscSession>()
  const smsc = await centre(t, {
    onSubmit: (session) => {
      arrived.give(session)
      return new Promise(() => undefined)
    },
  })
  const closed = signal<string>()
  const esme = await bound(t, smsc, { window: 1, onClosed: closed.give })
  const [sent, waited] = [failure(esme.submit(hello)), failure(esme.submit(hello))]
  const session = await arrived.value
  session.drop()
  assert.deepEqual(await Promise.all([sent, waited].map(async (error) => [(await error).kind, (await error).sent])), [
    ['closed', true],
    ['closed', false],
  ])
  await closed.value
  assert.deepEqual([(await failure(esme.submit(hello))).sent, esme.pending], [false, 0])
  await until(() => smsc.sessions.size === 0)
})

test('a request without an answer times out alone, and its late answer is told to whoever wants it', async (t) => {
  const late = signal<() => void>()
  const heard = signal<SubmitAnswer>()
  const smsc = await centre(t, {
    onSubmit: (_session, message) =>
      message.shortMessage.toString() === 'slow'
        ? new Promise((resolve) => late.give(() => resolve({ status: 0, messageId: 'late' })))
        : Promise.resolve({ status: 0, messageId: 'quick' }),
  })
  const esme = await bound(t, smsc, { responseTimeoutMs: 500 })
  const slow = await failure(esme.submit(saying('slow'), heard.give))
  assert.deepEqual([slow.kind, slow.sent], ['timeout', true])
  const answerLate = await late.value
  answerLate()
  assert.deepEqual(said(await esme.submit(hello)), { status: 0, messageId: 'quick' })
  assert.deepEqual(said(await heard.value), { status: 0, messageId: 'late' })
})

test('a silent centre is asked whether it is there, and left when it does not say', async (t) => {
  const peer = await rawCentre(t, (pdu, send) => {
    if (pdu.command === 'bind_transceiver') send(answerTo(pdu))
    if (pdu.command === 'enquire_link') enquiries.push(pdu)
  })
  const enquiries: Pdu[] = []
  const closed = signal<string>()
  await Esme.connect(options(peer.port, { enquireLinkMs: 20, responseTimeoutMs: 500, onClosed: closed.give }))
  assert.equal(await closed.value, 'no answer to enquire_link')
  assert.ok(enquiries.length > 0)
})

test('a customer that falls silent is asked too', async (t) => {
  const gone = signal<string>()
  const smsc = await centre(t, {
    enquireLinkMs: 20,
    responseTimeoutMs: 40,
    onClosed: (_session, reason) => gone.give(reason),
  })
  const raw = await rawCustomer(t, smsc.port)
  raw.send({ command: 'bind_receiver', status: 0, sequence: 1, body: ada })
  assert.equal(await gone.value, 'no answer to enquire_link')
  assert.deepEqual(
    raw.received.slice(0, 2).map(({ command }) => command),
    ['bind_receiver_resp', 'enquire_link'],
  )
})

test('whoever does not bind is sent away', async (t) => {
  const smsc = await centre(t, { bindTimeoutMs: 20 })
  const raw = await rawCustomer(t, smsc.port)
  await once(raw.socket, 'close')
  assert.equal(smsc.sessions.size, 0)
})

test('a request before the bind, a second bind and a submit by a receiver are refused', async (t) => {
  const smsc = await centre(t, {})
  const raw = await rawCustomer(t, smsc.port)
  const submit = (sequence: number): Pdu => ({ command: 'submit_sm', status: 0, sequence, body: hello })
  const refusals = async (pdu: Pdu): Promise<[string, string]> => {
    raw.send(pdu)
    const answer = await raw.next()
    assert.equal(answer.sequence, pdu.sequence)
    return [answer.command, statusName(answer.status)]
  }
  assert.deepEqual(await refusals(submit(1)), ['submit_sm_resp', 'ESME_RINVBNDSTS'])
  const bind: Pdu = { command: 'bind_receiver', status: 0, sequence: 2, body: ada }
  assert.deepEqual(await refusals(bind), ['bind_receiver_resp', 'ESME_ROK'])
  assert.deepEqual(await refusals({ ...bind, sequence: 3 }), ['bind_receiver_resp', 'ESME_RALYBND'])
  assert.deepEqual(await refusals(submit(4)), ['submit_sm_resp', 'ESME_RINVBNDSTS'])
})

test('malformed requests get a generic_nack with their number, and the session goes on', async (t) => {
  const smsc = await centre(t, {})
  const raw = await rawCustomer(t, smsc.port)
  raw.send({ command: 'bind_transceiver', status: 0, sequence: 1, body: ada })
  assert.equal((await raw.next()).status, 0)
  for (const [hex, status] of [
    ['00000014 00000004 00000000 00000007 41414141', commandStatus.ESME_RINVCMDLEN],
    ['00000010 00000099 00000000 00000008', commandStatus.ESME_RINVCMDID],
  ] as const) {
    const frame = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    raw.socket.write(frame)
    const nack = await raw.next()
    assert.deepEqual([nack.command, nack.status, nack.sequence], ['generic_nack', status, frame.readUInt32BE(12)])
  }
  raw.socket.write(Buffer.from('00000010800000990000000000000009', 'hex'))
  raw.send({ command: 'enquire_link', status: 0, sequence: 10, body: {} })
  assert.deepEqual([(await raw.next()).command, raw.received.length], ['enquire_link_resp', 4])
})

test('what is not SMPP is refused and cut off', async (t) => {
  const smsc = await centre(t, {})
  const raw = await rawCustomer(t, smsc.port)
  raw.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(raw.socket, 'close')
  assert.deepEqual(
    raw.received.map(({ command, status }) => [command, status]),
    [['generic_nack', commandStatus.ESME_RINVCMDLEN]],
  )
})

test('random bytes never bring the centre down', async (t) => {
  const smsc = await centre(t, {})
  let state = 1
  const random = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return state >>> 16
  }
  for (let round = 0; round < 40; round++) {
    const raw = await rawCustomer(t, smsc.port)
    if (round % 2 === 0) raw.send({ command: 'bind_transceiver', status: 0, sequence: 1, body: ada })
    for (let frames = 0; frames < 30; frames++) {
      const frame = Buffer.from(Array.from({ length: 16 + (random() % 100) }, () => random() & 0xff))
      frame.writeUInt32BE(frame.length, 0)
      if (frames % 2 === 0) frame.writeUInt32BE(random() % 22, 4)
      raw.socket.write(frame)
    }
    raw.socket.end(Buffer.from([0, 0, 0, 3]))
    await once(raw.socket, 'close')
  }
  const esme = await bound(t, smsc, {})
  assert.equal((await esme.submit(hello)).status, 0)
})

test('an answer that cannot be read leaves what was asked unknown, and only that', async (t) => {
  const peer = await rawCentre(t, (pdu, send) => {
    if (pdu.command !== 'query_sm') return send(answerTo(pdu))
    const broken = Buffer.from('0000001480000003000000000000000041414141', 'hex')
    broken.writeUInt32BE(pdu.sequence, 12)
    send(broken)
  })
  const esme = await Esme.connect(options(peer.port, {}))
  const error = await failure(esme.query({ messageId: 'AAAA', source: hello.source }))
  assert.deepEqual([error.kind, error.sent], ['malformed_answer', true])
  assert.equal((await esme.submit(hello)).status, 0)
  await esme.close()
})

test('a generic_nack refuses the request it names', async (t) => {
  const peer = await rawCentre(t, (pdu, send) => {
    const { sequence } = pdu
    if (pdu.command !== 'submit_sm') return send(answerTo(pdu))
    const status = pdu.body.shortMessage.toString() === 'odd' ? 0 : commandStatus.ESME_RINVCMDID
    send(bytesOf({ command: 'generic_nack', status, sequence, body: {} }))
  })
  const esme = await Esme.connect(options(peer.port, {}))
  assert.deepEqual(said(await esme.submit(hello)), { status: commandStatus.ESME_RINVCMDID, messageId: '' })
  assert.deepEqual(said(await esme.submit(saying('odd'))), { status: commandStatus.ESME_RUNKNOWNERR, messageId: '' })
  await esme.close()
})

test('a message that has no bytes is refused without being sent', async (t) => {
  const esme = await bound(t, await centre(t, {}), {})
  const destination = { ton: 1, npi: 1, address: '2'.repeat(30) }
  assert.deepEqual(said(await esme.submit({ ...hello, destination })), {
    status: commandStatus.ESME_RINVDSTADR,
    messageId: '',
  })
  assert.equal(esme.pending, 0)
})

test('a delivery that could not be stored is refused for now, so that the centre tries again', async (t) => {
  const smsc = await centre(t, {})
  await bound(t, smsc, { onDeliver: () => Promise.reject(new Error('no database')) })
  const [session] = smsc.sessions
  assert.ok(session)
  assert.equal(await smsc.deliver(session, hello), commandStatus.ESME_RX_T_APPN)
})

test('a message by data_sm arrives as any other', async (t) => {
  const delivered = signal<DeliverSm>()
  const { tlvs, ...rest } = newShortMessage({ tlvs: { messagePayload: Buffer.from('Habari') } })
  const peer = await rawCentre(t, (pdu, send) => {
    if (pdu.command === 'data_sm_resp') answered.give(pdu.status)
    else send(answerTo(pdu))
    if (pdu.command === 'bind_transceiver')
      send(bytesOf({ command: 'data_sm', status: 0, sequence: 77, body: { ...rest, tlvs } }))
  })
  const answered = signal<number>()
  const onDeliver = async (message: DeliverSm): Promise<number> => {
    delivered.give(message)
    return 0
  }
  const esme = await Esme.connect(options(peer.port, { onDeliver }))
  assert.equal((await delivered.value).tlvs.messagePayload?.toString(), 'Habari')
  assert.equal(await answered.value, 0)
  await esme.close()
})

test('closing waits for the answers that are due and unbinds', async (t) => {
  const answer = signal<() => void>()
  const left = signal<string>()
  const smsc = await centre(t, {
    onSubmit: () => new Promise((resolve) => answer.give(() => resolve({ status: 0, messageId: 'x' }))),
    onClosed: (_session, reason) => left.give(reason),
  })
  const esme = await bound(t, smsc, { window: 1 })
  const [sent, waited] = [esme.submit(hello), failure(esme.submit(hello))]
  const go = await answer.value
  const closed = esme.close()
  assert.equal((await waited).sent, false)
  go()
  assert.equal((await sent).messageId, 'x')
  await closed
  assert.equal(await left.value, 'the other side unbound')
})

test('a centre that closes unbinds those who are bound', async (t) => {
  const smsc = await centre(t, {})
  const closed = signal<string>()
  await bound(t, smsc, { onClosed: closed.give })
  await smsc.close()
  assert.equal(await closed.value, 'the other side unbound')
})

test('what a centre still owes when it unbinds is waited for, and nothing new is sent', async (t) => {
  const owed: Buffer[] = []
  const unbind = Buffer.from('00000010000000060000000000000009', 'hex')
  const peer = await rawCentre(t, (pdu, send) => {
    if (pdu.command !== 'submit_sm') return send(answerTo(pdu))
    owed.push(answerTo(pdu))
    if (owed.length === 2) send(Buffer.concat([unbind, ...owed]))
  })
  const closed = signal<string>()
  const esme = await Esme.connect(options(peer.port, { onClosed: closed.give }))
  const answers = await Promise.all([esme.submit(hello), esme.submit(hello)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [0, 0],
  )
  assert.equal(await closed.value, 'the other side unbound')
  assert.equal((await failure(esme.submit(hello))).sent, false)
  await esme.close()
})

test('a centre that unbinds as soon as it has bound leaves no session behind', async (t) => {
  const unbind = Buffer.from('00000010000000060000000000000009', 'hex')
  const peer = await rawCentre(t, (pdu, send) => {
    if (pdu.command === 'bind_transceiver') send(Buffer.concat([answerTo(pdu), unbind]))
  })
  const error = await failure(Esme.connect(options(peer.port, {})))
  assert.deepEqual([error.kind, error.message], ['closed', 'the other side unbound'])
})

test('a flood is read no faster than it is handled, and nothing of it is lost', async (t) => {
  const held: (() => void)[] = []
  let most = 0
  let handled = 0
  const smsc = await centre(t, {
    onSubmit: (_session, message) =>
      new Promise((resolve) => {
        most = Math.max(most, held.length + 1)
        held.push(() => resolve({ status: 0, messageId: message.shortMessage.toString() }))
      }),
  })
  const esme = await bound(t, smsc, { window: 5000 })
  const answers = Promise.all(Array.from({ length: 2500 }, (_, i) => esme.submit(saying(`m${i}`))))
  while (handled < 2500) {
    await until(() => held.length === Math.min(1000, 2500 - handled))
    for (const release of held.splice(0)) {
      release()
      handled += 1
    }
  }
  assert.deepEqual(
    (await answers).map(({ messageId }) => messageId),
    Array.from({ length: 2500 }, (_, i) => `m${i}`),
  )
  assert.equal(most, 1000)
})

test('what one turn of the event loop asks for leaves in one packet', async (t) => {
  const chunks: number[] = []
  const peer = await rawCentre(
    t,
    (pdu, send) => send(answerTo(pdu)),
    (chunk) => chunks.push(chunk.length),
  )
  const esme = await Esme.connect(options(peer.port, { window: 100 }))
  chunks.length = 0
  await Promise.all(Array.from({ length: 20 }, () => esme.submit(hello)))
  assert.equal(chunks.length, 1)
  await esme.close()
})

test('what became of a message can be asked, where the centre tells', async (t) => {
  const silent = await bound(t, await centre(t, {}), {})
  const source = { ton: 0, npi: 0, address: '' }
  assert.equal(await silent.query({ messageId: 'a', source }), null)
  const smsc = await centre(t, {
    onQuery: async (_session, { messageId }) =>
      messageId === 'a' ? { messageId, finalDate: '', messageState: 2, errorCode: 0 } : null,
    onCancel: async () => commandStatus.ESME_RCANCELFAIL,
  })
  const esme = await bound(t, smsc, {})
  assert.equal((await esme.query({ messageId: 'a', source }))?.messageState, 2)
  assert.equal(await esme.query({ messageId: 'b', source }), null)
  const cancelled = await esme.cancel({ serviceType: '', messageId: 'a', source, destination: source })
  assert.equal(cancelled, commandStatus.ESME_RCANCELFAIL)
})

const ada = {
  systemId: 'ada',
  password: 'secret',
  systemType: '',
  interfaceVersion: 0x34,
  addressRange: { ton: 0, npi: 0, address: '' },
}

const saying = (text: string): SubmitSm =>
  newShortMessage({
    source: { ton: 5, npi: 0, address: 'PAMOJA' },
    destination: { ton: 1, npi: 1, address: '254712345678' },
    shortMessage: Buffer.from(text),
  })
const hello = saying('Hello')

async function centre(t: TestContext, some: Partial<SmscOptions>): Promise<Smsc> {
  const smsc = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    responseTimeoutMs: 1000,
    authenticate: (_systemId, password) => (password === 'secret' ? 0 : commandStatus.ESME_RINVPASWD),
    onSubmit: async () => ({ status: 0, messageId: '1' }),
    ...some,
  })
  t.after(() => {
    for (const session of [...smsc.sessions]) session.drop()
    return smsc.close()
  })
  return smsc
}

function options(port: number, some: Partial<EsmeOptions>): EsmeOptions {
  return {
    host: '127.0.0.1',
    port,
    systemId: 'ada',
    password: 'secret',
    bindMode: 'transceiver',
    window: 10,
    responseTimeoutMs: waitMs,
    enquireLinkMs: waitMs,
    onDeliver: async () => 0,
    onClosed: () => undefined,
    ...some,
  }
}

async function bound(t: TestContext, smsc: Smsc, some: Partial<EsmeOptions>): Promise<Esme> {
  const esme = await Esme.connect(options(smsc.port, some))
  t.after(() => esme.close())
  return esme
}

/** A peer that says what it is told, so that both ends are also tried against something that is not their twin. */
async function rawCentre(
  t: TestContext,
  onPdu: (pdu: Pdu, send: (frame: Buffer) => void) => void,
  onChunk?: (chunk: Buffer) => void,
): Promise<{ port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (onChunk) socket.on('data', onChunk)
    reading(socket, (pdu) => onPdu(pdu, (frame) => socket.write(frame)))
    t.after(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  return { port: address.port }
}

interface RawCustomer {
  socket: Socket
  received: Pdu[]
  send(pdu: Pdu): void
  next(): Promise<Pdu>
}

async function rawCustomer(t: TestContext, port: number): Promise<RawCustomer> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  const received: Pdu[] = []
  let given = 0
  reading(socket, (pdu) => received.push(pdu))
  await once(socket, 'connect')
  return {
    socket,
    received,
    send: (pdu) => void socket.write(bytesOf(pdu)),
    next: async () => {
      await until(() => received.length > given)
      const pdu = received[given]
      assert.ok(pdu)
      given += 1
      return pdu
    },
  }
}

function reading(socket: Socket, onPdu: (pdu: Pdu) => void): void {
  const framer = new Framer()
  socket.on('data', (chunk) => {
    framer.push(chunk)
    for (let frame = framer.next(); Buffer.isBuffer(frame); frame = framer.next()) {
      const pdu = decode(frame)
      assert.ok(!(pdu instanceof PduError))
      onPdu(pdu)
    }
  })
}

function bytesOf(pdu: Pdu): Buffer {
  const frame = encode(pdu)
  assert.ok(Buffer.isBuffer(frame))
  return frame
}

/** Grants whatever a customer asks. */
function answerTo({ command, sequence }: Pdu): Buffer {
  const head = { status: 0, sequence }
  if (command === 'bind_transceiver')
    return bytesOf({ ...head, command: 'bind_transceiver_resp', body: { systemId: 'RAW', tlvs: {} } })
  if (command === 'submit_sm') return bytesOf({ ...head, command: 'submit_sm_resp', body: { messageId: 'r1' } })
  return bytesOf({ ...head, command: command === 'unbind' ? 'unbind_resp' : 'enquire_link_resp', body: {} })
}

async function failure(promise: Promise<unknown>): Promise<SessionError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof SessionError, String(error))
  return error
}

function signal<T>(): { value: Promise<T>; give(value: T): void } {
  let give: (value: T) => void = () => undefined
  const value = new Promise<T>((resolve) => {
    give = resolve
  })
  return { value, give: (given) => give(given) }
}

/** Looks again after each turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + waitMs
  while (!condition()) {
    assert.ok(performance.now() < endMs, 'waited in vain')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
