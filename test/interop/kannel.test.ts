// SPDX-License-Identifier: Apache-2.0
// A gateway that somebody else wrote against our message centre: messages, long ones, other alphabets, receipts and what
// handsets write. Left out where Kannel is not installed, unless PAMOJA_TEST_KANNEL=required says that it has to be.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { type HandsetMessage, SmscSimulator } from '../../src/simulators/smsc.ts'
import { eventually } from '../eventually.ts'
import { type Kannel, kannelAccounts, kannelMissing, startKannel } from './kannel.ts'

const isRequired = process.env.PAMOJA_TEST_KANNEL === 'required'
const skip = isRequired ? false : (kannelMissing() ?? false)

describe('Kannel’s bearerbox, bound to our message centre', { skip }, () => {
  const inbox: HandsetMessage[] = []
  let smsc: SmscSimulator
  let kannel: Kannel
  let customer: Customer

  before(async () => {
    smsc = await SmscSimulator.start({
      accounts: kannelAccounts,
      delayMs: 20,
      onMessage: (message) => inbox.push(message),
    })
    customer = await startCustomer()
    kannel = await startKannel({
      smscPort: smsc.port,
      window: 10,
      inboundUrl: customer.url('/inbound?from=%p&to=%P&text=%b&charset=%C'),
    })
  })
  after(async () => {
    await kannel?.stop()
    await customer?.stop()
    await smsc?.stop()
  })

  const texts = {
    'a short text': 'Habari Amina',
    'a text with characters of the extension table': 'Bei: {5 €} [x] ~ @£_',
    'a long text in two parts': 'Habari ya asubuhi. '.repeat(13),
    'a text in another alphabet': 'ቁም إيقاف 😀',
    'a long text in another alphabet': 'ቁም '.repeat(40),
  }

  for (const [what, text] of Object.entries(texts))
    test(`${what} arrives as it was written, and its receipt comes back`, async () => {
      const answer = await send(text, '+254712345678', `/receipt?of=${encodeURIComponent(what)}&type=%d&id=%F`)
      assert.deepEqual(answer, { status: 202, text: '0: Accepted for delivery' })
      const arrived = await eventually(async () => inbox.find((message) => message.text === text), `"${text}"`)
      assert.deepEqual([arrived.from, arrived.to], ['PAMOJA', '254712345678'])
      const about = (query: URLSearchParams): boolean => query.get('of') === what
      const taken = await customer.heard('/receipt', (query) => about(query) && query.get('type') === '8')
      const delivered = await customer.heard('/receipt', (query) => about(query) && query.get('type') === '1')
      assert.equal(delivered.get('id'), taken.get('id'), 'the receipt is for the id that the answer gave')
    })

  test('a message that the network cannot deliver comes back as failed', async () => {
    await send('Karibu', '+254711000002', '/failure?type=%d')
    const failed = await customer.heard('/failure', (query) => query.get('type') === '2')
    assert.equal(failed.get('type'), '2')
  })

  test('a message that is refused at once comes back as refused', async () => {
    await send('Karibu', '+254711000003', '/refusal?type=%d')
    const refused = await customer.heard('/refusal', (query) => query.get('type') === '16')
    assert.equal(refused.get('type'), '16')
  })

  for (const [what, text] of Object.entries(texts))
    test(`${what} that a handset writes reaches Kannel’s customer`, async () => {
      assert.equal(await smsc.inbound('+254711222333', '22141', text), 0)
      const heard = await customer.heard('/inbound', (query) => query.get('text') === text)
      assert.deepEqual([heard.get('from'), heard.get('to')], ['+254711222333', '22141'])
    })

  test('a connection that is cut is bound again, and messages go on', async () => {
    smsc.dropSessions()
    await eventually(async () => smsc.sessions.size > 0, 'Kannel to bind again')
    await send('Bado hapa', '+254712345678', '/again?type=%d')
    await customer.heard('/again', (query) => query.get('type') === '1')
  })

  /** Text in Kannel's own alphabet where that holds it, else in UCS-2. */
  function send(text: string, to: string, receiptPath: string): Promise<{ status: number; text: string }> {
    const isLatin = /^[\n -~€£]*$/.test(text)
    return kannel.send({
      from: 'PAMOJA',
      to,
      text,
      charset: 'UTF-8',
      coding: isLatin ? '0' : '2',
      // Delivered, not delivered, taken and refused by the message centre.
      'dlr-mask': '27',
      'dlr-url': customer.url(receiptPath),
    })
  }
})

/** Customer whom Kannel tells of receipts and messages, by plain GET. */
interface Customer {
  url(path: string): string
  /** Waits for a request to the path whose query is the one. */
  heard(path: string, isTheOne: (query: URLSearchParams) => boolean): Promise<URLSearchParams>
  stop(): Promise<void>
}

async function startCustomer(): Promise<Customer> {
  const requests: { path: string; query: URLSearchParams }[] = []
  const server: Server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    requests.push({ path, query: decoded(query) })
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  return {
    url: (path) => `http://127.0.0.1:${address.port}${path}`,
    heard: (path, isTheOne) =>
      eventually(
        async () => requests.find((request) => request.path === path && isTheOne(request.query))?.query,
        `a request to ${path}; there were ${requests.map(({ path: other, query }) => `${other}?${query}`).join(' ')}`,
      ),
    async stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Kannel says beside a text in which alphabet its octets are. */
function decoded(query: string): URLSearchParams {
  const fields = new URLSearchParams(query)
  if (fields.get('charset') !== 'UTF-16BE') return fields
  const escaped = /(?:^|&)text=([^&]*)/.exec(query)?.[1] ?? ''
  const octets = escaped.replaceAll('+', ' ').replaceAll(/%([0-9A-F]{2})/gi, (_, octet: string) => {
    return String.fromCharCode(Number.parseInt(octet, 16))
  })
  fields.set('text', Buffer.from(octets, 'latin1').swap16().toString('utf16le'))
  return fields
}
