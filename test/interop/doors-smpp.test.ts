// SPDX-License-Identifier: Apache-2.0
// SMPP for customers, with npm's smpp and with Kannel, both unmodified. Kannel is left out where it is not installed, unless
// PAMOJA_TEST_KANNEL=required says that it has to be.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'
import { createRequire } from 'node:module'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../eventually.ts'
import { root } from '../program.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, startWorld, type World } from '../world.ts'
import { type Kannel, kannelMissing, startKannel } from './kannel.ts'

/** What these tests use of npm's smpp, which has no types of its own. */
interface Pdu {
  command: string
  command_status: number
  source_addr: string
  destination_addr: string
  source_addr_ton: number
  esm_class: number
  message_id: string
  message_state?: number
  receipted_message_id?: Buffer | string
  user_message_reference?: number
  short_message: { message: Buffer | string; udh?: Buffer[] }
  response(fields?: object): Pdu
}
interface Session extends EventEmitter {
  send(pdu: Pdu, answered?: (answer: Pdu) => void): boolean
  connect(): void
  close(): void
  destroy(): void
}
interface Smpp {
  connect(options: object): Session
  PDU: new (command: string, fields: object) => Pdu
}

const smpp: Smpp = createRequire(import.meta.url)('smpp')
const isRequired = process.env.PAMOJA_TEST_KANNEL === 'required'

let world: World
let receiver: Receiver
let ada: Account
const opened: Session[] = []

before(async () => {
  world = await startWorld({ PAMOJA_ALLOW_HTTP: 'loopback', PAMOJA_RATE_LIMITS: 'on' })
  receiver = await startReceiver()
  ada = await world.account({ balance: 1_000 })
})
after(async () => {
  for (const session of opened) session.destroy()
  await receiver?.stop()
  await world?.stop()
})

interface Credential {
  id: string
  system_id: string
  password: string
  port: number
  tls_port: number
}

async function credentialOf(account: Account, more: object = {}): Promise<Credential> {
  const made = await account.client.post('/v1/sms/smpp-credentials', { name: 'Gateway', ...more })
  assert.equal(made.status, 201, made.text)
  return made.body
}

/** Sends a request; gives its answer. */
function ask(session: Session, command: string, fields: object = {}): Promise<Pdu> {
  return new Promise((resolve) => session.send(new smpp.PDU(command, fields), resolve))
}

/** Client of npm's smpp, bound. What is delivered to it is acknowledged with a status; null: never. */
class Client {
  readonly session: Session
  readonly delivered: Pdu[] = []
  ackWith: number | null = 0

  constructor(session: Session) {
    this.session = session
    session.on('error', () => undefined)
    session.on('deliver_sm', (pdu: Pdu) => {
      this.delivered.push(pdu)
      if (this.ackWith !== null) session.send(pdu.response({ command_status: this.ackWith }))
    })
    session.on('enquire_link', (pdu: Pdu) => session.send(pdu.response()))
    session.on('unbind', (pdu: Pdu) => {
      session.send(pdu.response())
      session.close()
    })
    opened.push(session)
  }

  submit(fields: object): Promise<Pdu> {
    return ask(this.session, 'submit_sm', {
      source_addr: 'SHOP',
      source_addr_ton: 5,
      registered_delivery: 1,
      ...fields,
    })
  }

  /** First delivery that fits. */
  next(what: string, fits: (pdu: Pdu, text: string) => boolean): Promise<Pdu> {
    return eventually(async () => this.delivered.find((pdu) => fits(pdu, textOf(pdu))), what)
  }

  receiptOf(id: string): Promise<Pdu> {
    return this.next(`the receipt of ${id}`, (pdu) => pdu.esm_class === 4 && textOf(pdu).startsWith(`id:${id} `))
  }
}

const textOf = ({ short_message: { message } }: Pdu): string => String(message)

async function connected(credential: Credential, isTls = false): Promise<Session> {
  const port = isTls ? credential.tls_port : credential.port
  const session = smpp.connect({ host: '127.0.0.1', port, tls: isTls, rejectUnauthorized: false })
  await once(session, isTls ? 'secureConnect' : 'connect')
  return session
}

async function bound(credential: Credential, mode = 'transceiver', isTls = false): Promise<Client> {
  const client = new Client(await connected(credential, isTls))
  const { system_id, password } = credential
  const answer = await ask(client.session, `bind_${mode}`, { system_id, password, interface_version: 0x34 })
  assert.equal(answer.command_status, 0)
  return client
}

async function textsTo(phone: string) {
  const { body } = await ada.client.get(`/v1/sms?to=${encodeURIComponent(phone)}`)
  return body.data
}

test('a text is sent over TLS and without it, charged, and its receipt has the id of the answer', async () => {
  const credential = await credentialOf(ada)
  assert.match(credential.password, /^\w{8}$/)
  assert.ok(credential.system_id.length <= 15)
  for (const isTls of [false, true]) {
    const client = await bound(credential, 'transceiver', isTls)
    const to = isTls ? '254711000061' : '254711000062'
    const answer = await client.submit({ destination_addr: to, short_message: 'Habari €5', user_message_reference: 77 })
    assert.equal(answer.command_status, 0)
    assert.match(answer.message_id, /^[0-9a-f]{32}$/)
    const receipt = await client.receiptOf(answer.message_id)
    assert.match(textOf(receipt), / stat:DELIVRD err:000 text:Habari/)
    assert.deepEqual([receipt.source_addr, receipt.destination_addr, receipt.message_state], [to, 'SHOP', 2])
    assert.equal(receipt.user_message_reference, 77)
    const [sent] = await textsTo(`+${to}`)
    assert.deepEqual([sent.message, sent.from, sent.status], ['Habari €5', 'SHOP', 'delivered'])
    assert.ok(sent.cost > 0)
    const state = await ask(client.session, 'query_sm', { message_id: answer.message_id })
    assert.equal(state.message_state, 2)
    assert.equal((await ask(client.session, 'enquire_link')).command_status, 0)
    const closed = once(client.session, 'close')
    assert.equal((await ask(client.session, 'unbind')).command_status, 0)
    client.session.close()
    await closed
  }
})

test('the program of examples/doors works as it is after the move', async () => {
  const { system_id: SYSTEM_ID, password: PASSWORD, port } = await credentialOf(ada)
  const env = { ...process.env, SYSTEM_ID, PASSWORD, PAMOJA_HOST: '127.0.0.1', PAMOJA_ESME_PORT: String(port) }
  const program = join(root, 'examples/doors/smpp-after.cjs')
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  assert.match(stdout, /^[0-9a-f]{32}\n stat:DELIVRD\n$/)
})

test('encodings, long texts by header, by parameters and as a payload arrive whole', async () => {
  const client = await bound(await credentialOf(ada))
  const long = 'Habari ya asubuhi, karibu dukani. '.repeat(8)
  const emoji = 'ቁም إيقاف 😀'
  const halves = (text: string) => [text.slice(0, 130), text.slice(130)]
  const cases: [string, string, object[]][] = [
    ['254711000071', emoji, [{ short_message: { message: Buffer.from(emoji, 'utf16le').swap16() }, data_coding: 8 }]],
    ['254711000072', 'Ça va', [{ short_message: { message: Buffer.from('Ça va', 'latin1') }, data_coding: 3 }]],
    ['254711000073', long, [{ short_message: '', message_payload: { message: Buffer.from(long) }, data_coding: 1 }]],
    [
      '254711000074',
      long,
      halves(long)
        .map((part, i) => ({
          esm_class: 0x40,
          short_message: { udh: Buffer.from([5, 0, 3, 9, 2, i + 1]), message: Buffer.from(part) },
          data_coding: 1,
        }))
        .reverse(),
    ],
    [
      '254711000075',
      long,
      halves(long).map((part, i) => ({
        short_message: { message: Buffer.from(part) },
        ...{ data_coding: 1, sar_msg_ref_num: 300, sar_total_segments: 2, sar_segment_seqnum: i + 1 },
      })),
    ],
  ]
  for (const [to, text, parts] of cases) {
    const ids: string[] = []
    for (const part of parts) {
      const answer = await client.submit({ destination_addr: to, ...part })
      assert.equal(answer.command_status, 0, to)
      ids.push(answer.message_id)
    }
    assert.equal(new Set(ids.map((id) => id.split('-')[0])).size, 1)
    for (const id of ids) assert.equal((await client.receiptOf(id)).message_state, 2)
    const texts = await textsTo(`+${to}`)
    assert.deepEqual([texts.length, texts[0].message], [1, text])
  }
})

test('receipts come as registered_delivery asks, also of failures', async () => {
  const client = await bound(await credentialOf(ada))
  const send = (to: string, wants: number) =>
    client.submit({ destination_addr: to, short_message: 'x', registered_delivery: wants })
  const [failed, quiet, silent] = [
    await send('254711000002', 2),
    await send('254711000001', 2),
    await send('254711000001', 0),
  ]
  assert.match(textOf(await client.receiptOf(failed.message_id)), /stat:UNDELIV/)
  const [unwanted, told] = [await send('254711000002', 3), await send('254711000001', 17)]
  assert.match(textOf(await client.receiptOf(told.message_id)), /stat:DELIVRD/)
  for (const { message_id } of [quiet, silent, unwanted])
    assert.ok(!client.delivered.some((pdu) => textOf(pdu).includes(message_id)))
})

test('what cannot be sent is refused with its status, and our code where SMPP has none', async () => {
  const client = await bound(await credentialOf(ada))
  const text = { destination_addr: '254711000001', short_message: 'x' }
  const status = async (fields: object): Promise<number> => (await client.submit({ ...text, ...fields })).command_status
  assert.equal(await status({ destination_addr: '12' }), 0x0b)
  assert.equal(await status({ destination_addr: '254711000001', dest_addr_ton: 5 }), 0x0b)
  assert.equal(await status({ source_addr: '-' }), 0x0a)
  assert.equal(await status({ short_message: '' }), 0x01)
  assert.equal(await status({ data_coding: 4, short_message: { message: Buffer.from('x') } }), 0x45)
  assert.equal(await status({ esm_class: 2 }), 0x43)
  assert.equal(await status({ schedule_delivery_time: 'tomorrow' }), 0x61)
  assert.equal(await status({ validity_period: '200101000000000+' }), 0x62)
  assert.equal(await status({ message_payload: { message: Buffer.alloc(2_000, 'a') }, short_message: '' }), 0x01)
  const poor = await world.account({ balance: 0 })
  const pauper = await bound(await credentialOf(poor))
  const refused = await pauper.submit(text)
  assert.equal(refused.command_status, 0x45)
  assert.equal((await ask(client.session, 'data_sm', text)).command_status, 0x03)
  assert.equal((await ask(client.session, 'replace_sm', {})).command_status, 0x03)
  assert.equal((await ask(client.session, 'query_sm', { message_id: 'f'.repeat(32) })).command_status, 0x67)
  // A text of another account is as unknown as one that was never sent.
  const { message_id } = await client.submit({ ...text, schedule_delivery_time: '000001000000000R' })
  assert.equal((await ask(pauper.session, 'query_sm', { message_id })).command_status, 0x67)
  assert.equal((await ask(pauper.session, 'cancel_sm', { message_id })).command_status, 0x11)
  assert.equal((await ask(client.session, 'cancel_sm', { message_id })).command_status, 0)
  assert.match(textOf(await client.receiptOf(message_id)), /stat:DELETED/)
  assert.equal((await ask(client.session, 'cancel_sm', { message_id })).command_status, 0x11)
})

test('texts from handsets go to one receiver in turn; what is not acknowledged is offered at the next bind', async () => {
  const bea = await world.account({ balance: 100 })
  const credential = await credentialOf(bea)
  await bea.client.post('/v1/sms/numbers', { number: '22777' })
  const write = (message: string) =>
    bea.client.post('/v1/sandbox/sms/inbound', { from: '+254711000081', to: '22777', message })
  const [first, second] = [await bound(credential, 'receiver'), await bound(credential, 'receiver')]
  assert.equal((await first.submit({ destination_addr: '254711000001', short_message: 'x' })).command_status, 0x04)
  await write('moja')
  await write('mbili')
  await eventually(async () => first.delivered.length + second.delivered.length === 2, 'both texts')
  assert.deepEqual([first.delivered.length, second.delivered.length], [1, 1])
  const [pdu] = first.delivered
  assert.deepEqual([pdu?.source_addr, pdu?.source_addr_ton, pdu?.destination_addr], ['254711000081', 1, '22777'])
  second.session.destroy()
  first.ackWith = null
  await write('tatu')
  await first.next('a text that is not acknowledged', (_, text) => text === 'tatu')
  const sender = await bound(credential, 'transmitter')
  const sent = await sender.submit({ destination_addr: '254711000001', short_message: 'x' })
  await first.receiptOf(sent.message_id)
  first.session.destroy()
  const later = await bound(credential, 'receiver')
  await later.next('the text again', (_, text) => text === 'tatu')
  await later.receiptOf(sent.message_id)
  assert.deepEqual(sender.delivered, [], 'a transmitter gets nothing')
  later.session.destroy()
  const last = await bound(credential, 'receiver')
  await write('nne')
  await last.next('the next text', (_, text) => text === 'nne')
  assert.equal(last.delivered.length, 1, 'what was acknowledged does not come again')
})

test('rate, window and sessions are those of the credential; a deleted one is unbound', async () => {
  const credential = await credentialOf(ada, { rate: 2, sessions: 2, window: 3 })
  const client = await bound(credential)
  const burst = await Promise.all(
    Array.from({ length: 6 }, () => client.submit({ destination_addr: '254711000001', short_message: 'x' })),
  )
  const statuses = burst.map(({ command_status }) => command_status)
  assert.equal(statuses.filter((status) => status === 0).length, 2)
  assert.equal(statuses.filter((status) => status === 0x58).length, 4)
  await bound(credential)
  const third = new Client(await connected(credential))
  const { system_id, password } = credential
  assert.equal((await ask(third.session, 'bind_receiver', { system_id, password })).command_status, 0x0d)
  const over = once(client.session, 'close')
  await ada.client.request('DELETE', `/v1/sms/smpp-credentials/${credential.id}`)
  await over
})

describe('Kannel', { skip: isRequired ? false : (kannelMissing() ?? false) }, () => {
  let kannel: Kannel

  after(() => kannel?.stop())

  test('is a customer: texts, long ones too, their reports, and what handsets write', async () => {
    const kim = await world.account({ balance: 100 })
    const { port, system_id: systemId, password } = await credentialOf(kim)
    await kim.client.post('/v1/sms/numbers', { number: '22666' })
    const inboundUrl = receiver.url('/kannel?from=%p&to=%P&text=%b')
    kannel = await startKannel({ smscPort: port, account: { systemId, password }, window: 10, inboundUrl })
    const long = 'Habari ya asubuhi. '.repeat(13)
    for (const [i, text] of ['Habari', long].entries()) {
      const to = `25471100009${i}`
      const mask = { 'dlr-mask': '27', 'dlr-url': receiver.url(`/dlr${i}?type=%d`) }
      assert.equal((await kannel.send({ from: 'SHOP', to, text, ...mask })).status, 202)
      const reports = [(await receiver.next(`/dlr${i}`)).url, (await receiver.next(`/dlr${i}`)).url]
      assert.deepEqual(reports.sort(), [`/dlr${i}?type=1`, `/dlr${i}?type=8`])
      const { body } = await kim.client.get(`/v1/sms?to=%2B${to}`)
      assert.deepEqual([body.data[0].message, body.data[0].status], [text, 'delivered'])
    }
    await kim.client.post('/v1/sandbox/sms/inbound', { from: '+254711000095', to: '22666', message: 'Nataka' })
    await eventually(async () => receiver.received.some(({ url }) => url.includes('text=Nataka')), 'the text')
  })
})

test('addresses that are not allowed, wrong passwords and what is no SMPP do not get in', async () => {
  const credential = await credentialOf(ada)
  const bind = async (system_id: string, password: string): Promise<number> => {
    const { session } = new Client(await connected(credential))
    return (await ask(session, 'bind_transceiver', { system_id, password })).command_status
  }
  const early = new Client(await connected(credential))
  assert.equal((await early.submit({ destination_addr: '254711000001', short_message: 'x' })).command_status, 0x04)
  const huge = connectPlain(credential.port, '127.0.0.1')
  huge.on('error', () => undefined)
  huge.write(Buffer.from('7fffffff00000009000000000000000100000000', 'hex'))
  await once(huge.resume(), 'close')
  const far = await credentialOf(ada, { allowed_ips: ['203.0.113.0/24'] })
  assert.equal(await bind(far.system_id, far.password), 0x0e)
  assert.equal(await bind('nobody', 'secret'), 0x0f)
  for (let tries = 0; tries < 3; tries++) assert.equal(await bind(credential.system_id, 'wrong'), 0x0e)
  assert.equal(await bind(credential.system_id, credential.password), 0x0d, 'after five wrong ones, a minute passes')
})
