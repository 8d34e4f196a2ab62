// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import type { EventEmitter } from 'node:events'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { decodeMessage, encodeMessage } from './charset.ts'
import { type DeliverSm, newShortMessage, type SubmitSm } from './pdu.ts'
import { encodeReceipt, parseReceipt } from './receipts.ts'
import { Esme, type EsmeOptions, Smsc, type SubmitAnswer } from './session.ts'
import { commandStatus } from './status.ts'

/** An answer without the number of its request. */
const said = ({ status, messageId }: SubmitAnswer) => ({ status, messageId })

/** What these tests use of npm's smpp, which has no types of its own. */
interface TheirPdu {
  command: string
  command_status: number
  system_id: string
  password: string
  source_addr: string
  destination_addr: string
  data_coding: number
  esm_class: number
  message_id: string
  receipted_message_id?: Buffer | string
  message_state?: number
  short_message: { message: Buffer | string; udh?: Buffer[] }
  response(fields?: Record<string, unknown>): TheirPdu
}
type Send = (fields: Record<string, unknown>, answered: (answer: TheirPdu) => void) => void
interface TheirSession extends EventEmitter {
  send(pdu: TheirPdu): void
  bind_transceiver: Send
  submit_sm: Send
  deliver_sm: Send
  enquire_link: Send
  unbind: Send
  close(): void
}
interface Theirs {
  createServer(listener: (session: TheirSession) => void): Server
  connect(options: { host: string; port: number }): TheirSession
}
const require = createRequire(import.meta.url)
const theirs: Theirs = require('smpp')

const ask = (send: Send, session: TheirSession, fields: Record<string, unknown>): Promise<TheirPdu> =>
  new Promise((resolve) => send.call(session, fields, resolve))

test('our customer end works with a message centre that somebody else wrote', async (t) => {
  const submitted: TheirPdu[] = []
  const port = await theirCentre(t, (session) => {
    session.on('bind_transceiver', (pdu: TheirPdu) => session.send(pdu.response({ system_id: 'THEIRS' })))
    session.on('submit_sm', (pdu: TheirPdu) => {
      submitted.push(pdu)
      session.send(
        pdu.response(
          pdu.destination_addr === '999'
            ? { command_status: commandStatus.ESME_RINVDSTADR }
            : { message_id: `id${submitted.length}` },
        ),
      )
      session.deliver_sm(
        {
          source_addr: pdu.destination_addr,
          destination_addr: pdu.source_addr,
          esm_class: 4,
          receipted_message_id: 'id1',
          message_state: 2,
          short_message: 'id:id1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:',
        },
        () => undefined,
      )
    })
    session.on('unbind', (pdu: TheirPdu) => session.send(pdu.response()))
    session.on('enquire_link', (pdu: TheirPdu) => session.send(pdu.response()))
  })
  const deliveries: DeliverSm[] = []
  const esme = await customer(port, deliveries)
  const [content] = encodeMessage('Habari {Amina}', { reference: 1 })
  const message = { ...to('254712345678'), ...content, registeredDelivery: 1 }
  assert.deepEqual(said(await esme.submit(message)), { status: 0, messageId: 'id1' })
  assert.deepEqual(said(await esme.submit(to('999'))), { status: commandStatus.ESME_RINVDSTADR, messageId: '' })
  await esme.close()
  assert.equal(submitted[0]?.source_addr, 'PAMOJA')
  assert.equal(submitted[0]?.destination_addr, '254712345678')
  const [receipt] = deliveries
  assert.ok(receipt)
  assert.deepEqual([parseReceipt(receipt)?.id, parseReceipt(receipt)?.state], ['id1', 'DELIVRD'])
})

test('a message centre that somebody else wrote throttles us, writes to us, asks after us and lets us go', async (t) => {
  const sessions: TheirSession[] = []
  const heard: string[] = []
  const port = await theirCentre(t, (session) => {
    sessions.push(session)
    session.on('bind_transceiver', (pdu: TheirPdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: TheirPdu) =>
      session.send(pdu.response({ command_status: commandStatus.ESME_RTHROTTLED })),
    )
    for (const command of ['enquire_link', 'unbind'])
      session.on(command, (pdu: TheirPdu) => {
        heard.push(command)
        session.send(pdu.response())
      })
  })
  const deliveries: DeliverSm[] = []
  const esme = await customer(port, deliveries, { enquireLinkMs: 20 })
  const [session] = sessions
  assert.ok(session)
  assert.equal((await esme.submit(to('254712345678'))).status, commandStatus.ESME_RTHROTTLED)

  const inbound = { source_addr: '254711222333', destination_addr: '22141', data_coding: 8 }
  const text = Buffer.from('1241121d', 'hex')
  const answer = await ask(session.deliver_sm, session, { ...inbound, short_message: { message: text } })
  assert.equal(answer.command_status, 0)
  const [message] = deliveries
  assert.ok(message)
  assert.equal(parseReceipt(message), null)
  assert.deepEqual([message.source.address, decodeMessage(message).text], ['254711222333', 'ቁም'])

  assert.equal((await ask(session.enquire_link, session, {})).command_status, 0)
  if (!heard.includes('enquire_link')) await once(session, 'enquire_link')
  await esme.close()
  assert.equal(heard.at(-1), 'unbind')
})

test('a message centre that somebody else wrote sends us away, and we hear why', async (t) => {
  const sessions: TheirSession[] = []
  const port = await theirCentre(t, (session) => {
    sessions.push(session)
    session.on('bind_transceiver', (pdu: TheirPdu) => session.send(pdu.response()))
  })
  let closedBecause = ''
  await customer(port, [], {
    onClosed: (reason) => {
      closedBecause = reason
    },
  })
  const [session] = sessions
  assert.ok(session)
  assert.equal((await ask(session.unbind, session, {})).command_status, 0)
  assert.equal(closedBecause, 'the other side unbound')
})

test('a long message of ours has the parts that somebody else reads', async (t) => {
  const parts: TheirPdu[] = []
  const port = await theirCentre(t, (session) => {
    session.on('bind_transceiver', (pdu: TheirPdu) => session.send(pdu.response()))
    session.on('unbind', (pdu: TheirPdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: TheirPdu) => {
      parts.push(pdu)
      session.send(pdu.response({ message_id: 'x' }))
    })
  })
  const esme = await customer(port, [])
  const text = `${'ቁም '.repeat(30)}😀`
  await Promise.all(encodeMessage(text, { reference: 7 }).map((part) => esme.submit({ ...to('2547'), ...part })))
  await esme.close()
  assert.deepEqual(
    parts.map(({ short_message: { udh = [] } }) =>
      Buffer.concat(udh.map((piece) => Buffer.from(piece))).toString('hex'),
    ),
    ['0003070201', '0003070202'],
  )
  assert.equal(parts.map(({ short_message: { message } }) => message.toString()).join(''), text)
})

test('a customer that somebody else wrote works with our message centre', async (t) => {
  const submitted: SubmitSm[] = []
  const smsc = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    authenticate: (systemId, password) =>
      systemId === 'ada' && password === 'secret' ? 0 : commandStatus.ESME_RINVPASWD,
    onSubmit: async (_session, message) => {
      submitted.push(message)
      return message.destination.address === '999'
        ? { status: commandStatus.ESME_RTHROTTLED, messageId: '' }
        : { status: 0, messageId: 'ours-1' }
    },
  })
  t.after(() => smsc.close())
  const session = theirs.connect({ host: '127.0.0.1', port: smsc.port })
  session.on('error', () => undefined)
  await once(session, 'connect')
  const bound = await ask(session.bind_transceiver, session, { system_id: 'ada', password: 'secret' })
  assert.deepEqual([bound.command_status, bound.system_id], [0, 'PAMOJA'])
  const taken = await ask(session.submit_sm, session, {
    source_addr: 'ACME',
    destination_addr: '254712345678',
    data_coding: 8,
    short_message: { message: Buffer.from('004800690021', 'hex') },
  })
  assert.deepEqual([taken.command_status, taken.message_id], [0, 'ours-1'])
  const [first] = submitted
  assert.ok(first)
  assert.equal(decodeMessage(first).text, 'Hi!')
  const refused = await ask(session.submit_sm, session, { destination_addr: '999', short_message: 'x' })
  assert.equal(refused.command_status, commandStatus.ESME_RTHROTTLED)
  assert.equal((await ask(session.enquire_link, session, {})).command_status, 0)

  const arrival = once(session, 'deliver_sm')
  const [ours] = smsc.sessions
  assert.ok(ours)
  const receipt = { id: 'ours-1', state: 'DELIVRD', error: null, submitDate: null, doneDate: null } as const
  const acknowledged = ours.deliver(newShortMessage({ ...to('254712345678'), ...encodeReceipt(receipt) }))
  const [theirReceipt]: TheirPdu[] = await arrival
  assert.ok(theirReceipt)
  assert.equal(String(theirReceipt.receipted_message_id), 'ours-1')
  assert.equal(theirReceipt.message_state, 2)
  session.send(theirReceipt.response())
  assert.equal(await acknowledged, 0)
  assert.equal((await ask(session.unbind, session, {})).command_status, 0)
  session.close()
})

async function theirCentre(t: TestContext, onSession: (session: TheirSession) => void): Promise<number> {
  const server = theirs.createServer((session) => {
    session.on('error', () => undefined)
    onSession(session)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  return address.port
}

function customer(port: number, deliveries: DeliverSm[], options: Partial<EsmeOptions> = {}): Promise<Esme> {
  return Esme.connect({
    host: '127.0.0.1',
    port,
    systemId: 'ada',
    password: 'secret',
    bindMode: 'transceiver',
    window: 10,
    responseTimeoutMs: 30_000,
    enquireLinkMs: 30_000,
    onDeliver: async (message) => {
      deliveries.push(message)
      return 0
    },
    onClosed: () => undefined,
    ...options,
  })
}

const to = (address: string): SubmitSm =>
  newShortMessage({
    source: { ton: 5, npi: 0, address: 'PAMOJA' },
    destination: { ton: 1, npi: 1, address },
  })
