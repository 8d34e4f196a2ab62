// SPDX-License-Identifier: Apache-2.0
// Message centres that fail: one goes away among messages and another takes over; one sends what no message centre should.
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { decodeMessage } from '../../src/protocols/smpp/charset.ts'
import { Framer } from '../../src/protocols/smpp/framer.ts'
import { decode, encode, newShortMessage, type PduOf } from '../../src/protocols/smpp/pdu.ts'
import { encodeReceipt } from '../../src/protocols/smpp/receipts.ts'
import { Smsc } from '../../src/protocols/smpp/session.ts'
import { PduError } from '../../src/protocols/smpp/status.ts'
import { SmscSimulator } from '../../src/simulators/smsc.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account

before(async () => {
  world = await startWorld()
  ada = await world.account({ balance: 10_000 })
})
after(() => world.stop())

test('when a centre goes away among messages, another one takes them and what it had not answered', async () => {
  const arrived = new Set<string>()
  const onMessage = ({ text }: { text: string }): unknown => arrived.add(text)
  const first = await SmscSimulator.start({ accounts: { first: 'secret' }, delayMs: 5, onMessage })
  const second = await SmscSimulator.start({ accounts: { second: 'secret' }, delayMs: 5, onMessage })
  const route = await routeOver([await bind('first', first.port)], [await bind('second', second.port)])
  // Half of them reach the first centre and hear nothing from it; the others come when it is gone.
  first.silent = true
  const before = await sendMany('before', 30)
  await eventually(async () => first.unanswered > 0, 'the first centre to hold messages')
  first.dropSessions()
  await first.stop()
  const ids = [...before, ...(await sendMany('after', 30))]
  for (const id of ids) assert.equal((await ended(id)).status, 'delivered')
  assert.equal(arrived.size, 60)
  assert.equal((await ada.client.get('/v1/sms/balance')).body.balance, 10_000 - 60 * 0.8)
  await world.operator.delete(`/v1/operator/sms/routes/${route}`)
  await second.stop()
})

test('a long message that is sent again names its parts as it did before', async () => {
  const parts: { to: string; reference: number; number: number }[] = []
  let isSilent = true
  const centre = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    authenticate: () => 0,
    onSubmit: async (_session, pdu) => {
      const { concatenation } = decodeMessage(pdu)
      if (concatenation) parts.push({ to: pdu.destination.address, ...concatenation })
      return isSilent ? new Promise(() => undefined) : { status: 0, messageId: `long-${parts.length}` }
    },
  })
  const route = await routeOver([await bind('long', centre.port)])
  const ids = await sendMany('x'.repeat(200), 2)
  await eventually(async () => parts.length === 4, 'four parts that get no answer')
  const before = parts.splice(0)
  isSilent = false
  for (const session of centre.sessions) session.drop()
  for (const id of ids)
    await eventually(
      async () => (await ada.client.get(`/v1/sms/${id}`)).body.status === 'sent',
      `${id} to be sent again`,
    )
  const named = ({ to, reference, number }: (typeof parts)[number]): string => `${to} ${reference} ${number}`
  assert.deepEqual(parts.map(named).sort(), before.map(named).sort())
  assert.equal(new Set(parts.map(({ reference }) => reference)).size, 2, 'another message is named otherwise')
  await world.operator.delete(`/v1/operator/sms/routes/${route}`)
  await world.operator.delete('/v1/operator/sms/binds/long')
  await centre.close()
})

test('a centre that answers too late is believed, and its receipts find the message', async () => {
  const answers: (() => void)[] = []
  const centre = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    authenticate: () => 0,
    onSubmit: (_session, pdu) => {
      const { concatenation } = decodeMessage(pdu)
      const messageId = `slow-${concatenation?.number}`
      return new Promise((resolve) => answers.push(() => resolve({ status: 0, messageId })))
    },
  })
  const route = await routeOver([await bind('slow', centre.port, { response_timeout_seconds: 1 })])
  const [id = ''] = await sendMany('x'.repeat(200), 1)
  const isUp = async () => (await world.operator.get('/v1/operator/sms/binds/slow')).body.is_up
  await eventually(async () => answers.length >= 2 && !(await isUp()), 'two parts to be given up')
  for (const answer of answers.splice(0)) answer()
  await eventually(async () => (await ada.client.get(`/v1/sms/${id}`)).body.status === 'sent', 'the message to be sent')
  const [session] = centre.sessions
  for (const part of [1, 2]) {
    const receipt = { id: `slow-${part}`, state: 'DELIVRD', error: null, submitDate: null, doneDate: null } as const
    assert.equal(await session?.deliver(newShortMessage(encodeReceipt(receipt))), 0)
  }
  assert.equal((await ended(id)).status, 'delivered')
  await world.operator.delete(`/v1/operator/sms/routes/${route}`)
  await world.operator.delete('/v1/operator/sms/binds/slow')
  for (const answer of answers) answer()
  await centre.close()
})

test('a text that no centre answers for is given up, and not sent for ever', async () => {
  let arrived = 0
  const centre = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    authenticate: () => 0,
    onSubmit: () => {
      arrived++
      return new Promise(() => undefined)
    },
  })
  const names = Array.from({ length: 6 }, (_, i) => `mute-${i}`)
  const binds = await Promise.all(names.map((name) => bind(name, centre.port, { response_timeout_seconds: 1 })))
  const route = await routeOver(binds)
  const { balance } = (await ada.client.get('/v1/sms/balance')).body
  const [id = ''] = await sendMany('mute', 1)
  const { status, error_code, cost } = await ended(id)
  assert.deepEqual([status, error_code, cost], ['failed', 'CARRIER_ERROR', 0])
  assert.equal(arrived, 5)
  assert.equal((await ada.client.get('/v1/sms/balance')).body.balance, balance)
  await world.operator.delete(`/v1/operator/sms/routes/${route}`)
  for (const name of names) await world.operator.delete(`/v1/operator/sms/binds/${name}`)
  await centre.close()
})

const header = (length: number, command: number, sequence = 1): Buffer => {
  const octets = Buffer.alloc(16)
  octets.writeUInt32BE(length, 0)
  octets.writeUInt32BE(command, 4)
  octets.writeUInt32BE(sequence, 12)
  return octets
}
const deliverSm = 0x00000005
const submitSmResp = 0x80000004

const nonsense: Readonly<Record<string, Buffer>> = {
  'a length of four gigabytes': header(0xffffffff, deliverSm),
  'a length below the header': header(8, deliverSm),
  'a command that does not exist': header(16, 0x00004711),
  'a deliver_sm without a body': header(16, deliverSm),
  'a text that does not end': Buffer.concat([header(40, deliverSm), Buffer.alloc(24, 0x41)]),
  'a short message longer than its PDU': Buffer.concat([header(33, deliverSm), Buffer.alloc(16), Buffer.from([0xff])]),
  'an optional parameter that runs over the end': Buffer.concat([
    header(37, deliverSm),
    Buffer.alloc(17),
    Buffer.from('04240fff', 'hex'),
  ]),
  'an answer to nothing that was asked': Buffer.concat([header(17, submitSmResp, 0x7ffffffe), Buffer.alloc(1)]),
  'a receipt of something else': receipt('what:ever stat:NONSENSE err:99999999999999999999'),
  'a receipt for a message nobody sent': receipt('id:0000000000 stat:DELIVRD err:000 text:'),
  'a web page': Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
}

test('whatever a centre sends, its bind comes back and the next message goes out', async (t) => {
  for (const [what, octets] of Object.entries(nonsense))
    await t.test(what, async () => {
      const centre = await startRudeCentre(octets)
      const name = `rude-${centre.port}`
      const route = await routeOver([await bind(name, centre.port)])
      await eventually(async () => centre.wasRude(), 'the centre to say it')
      const [id = ''] = await sendMany(what, 1)
      await eventually(
        async () => (await ada.client.get(`/v1/sms/${id}`)).body.status === 'sent',
        `a message to be taken after ${what}`,
      )
      await world.operator.delete(`/v1/operator/sms/routes/${route}`)
      await world.operator.delete(`/v1/operator/sms/binds/${name}`)
      await centre.stop()
    })
})

/** Lets everybody bind and takes every message, and says something rude to the first who binds. */
async function startRudeCentre(rudeness: Buffer): Promise<{ port: number; wasRude(): boolean; stop(): Promise<void> }> {
  let wasRude = false
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    const framer = new Framer()
    socket.on('data', (chunk) => {
      framer.push(chunk)
      for (let frame = framer.next(); frame !== null && !(frame instanceof PduError); frame = framer.next()) {
        const pdu = decode(frame)
        if (pdu instanceof PduError) continue
        const { sequence } = pdu
        if (pdu.command === 'bind_transceiver') {
          write(socket, { command: 'bind_transceiver_resp', status: 0, sequence, body: { systemId: 'RUDE', tlvs: {} } })
          if (!wasRude) socket.write(rudeness)
          wasRude = true
        } else if (pdu.command === 'submit_sm')
          write(socket, { command: 'submit_sm_resp', status: 0, sequence, body: { messageId: `rude-${sequence}` } })
        else if (pdu.command === 'enquire_link')
          write(socket, { command: 'enquire_link_resp', status: 0, sequence, body: {} })
        else if (pdu.command === 'unbind') write(socket, { command: 'unbind_resp', status: 0, sequence, body: {} })
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  return {
    port: address.port,
    wasRude: () => wasRude,
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function write<C extends Parameters<typeof encode>[0]['command']>(socket: Socket, pdu: PduOf<C>): void {
  const octets = encode(pdu)
  assert.ok(!(octets instanceof PduError))
  socket.write(octets)
}

function receipt(text: string): Buffer {
  const octets = Buffer.from(text, 'latin1')
  const fields = Buffer.alloc(16)
  // esm_class, behind the service type and two empty addresses.
  fields[7] = 4
  return Buffer.concat([header(16 + 17 + octets.length, deliverSm), fields, Buffer.from([octets.length]), octets])
}

async function bind(name: string, port: number, more: object = {}): Promise<{ bind: string }> {
  const settings = { name, host: '127.0.0.1', port, system_id: name, password: 'secret', window: 20, ...more }
  const { status, text } = await world.operator.post('/v1/operator/sms/binds', settings)
  assert.equal(status, 201, text)
  return { bind: name }
}

/** A route of Ada's own over these tiers, once it is in force. */
async function routeOver(...tiers: { bind: string }[][]): Promise<string> {
  const { status, body, text } = await world.operator.post('/v1/operator/sms/routes', {
    environment: 'test',
    account_id: ada.id,
    tiers,
  })
  assert.equal(status, 201, text)
  await eventually(async () => {
    const { body: routes } = await world.operator.get('/v1/operator/sms/routes')
    return routes.data.find(({ id }: { id: string }) => id === body.id).in_force
  }, 'the route to be in force')
  return body.id
}

function sendMany(what: string, howMany: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: howMany }, async (_, i) => {
      const message = { to: `+2547223${10_000 + i}`, from: 'PAMOJA', message: `${what} ${i}` }
      const { status, body, text } = await ada.client.post('/v1/sms/send', message)
      assert.equal(status, 200, text)
      return body.message_id
    }),
  )
}

async function ended(id: string) {
  return eventually(async () => {
    const { body } = await ada.client.get(`/v1/sms/${id}`)
    return ['delivered', 'failed'].includes(body.status) && body
  }, `the end of ${id}`)
}
