// SPDX-License-Identifier: Apache-2.0
// Mail servers that behave badly: what they do to a message is told, nothing is lost, and nobody else waits for them.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { mailWorld } from '../../src/areas/email/mail-world.ts'
import { startMailServer } from '../mail-server.ts'
import { liveSender, sendMail, settled } from '../mailing.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

async function deferred({ client }: Account, id: string) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/email/${id}`)
    return body.next_attempt_at ? body : null
  }, `${id} to be put off`)
}

describe('a relay', () => {
  let behaviour: (socket: Socket) => void
  let world: World
  let sender: Account
  let stopServer: () => Promise<void>
  before(async () => {
    const server = await startMailServer((socket) => behaviour(socket))
    stopServer = () => server.stop()
    world = await startWorld({ PAMOJA_MAIL_RELAY: `smtp://127.0.0.1:${server.port}` })
    sender = (await liveSender(world, 'duka.example')).account
  })
  after(async () => {
    await world.stop()
    await stopServer()
  })

  /** Answers each command by its first word; `null` says nothing. */
  const talk =
    (answers: Record<string, string | null>, greeting = '220 mx\r\n') =>
    (socket: Socket) => {
      socket.write(greeting)
      socket.on('data', (chunk) => {
        const word = chunk.toString().slice(0, 4).toUpperCase()
        const answer = word in answers ? answers[word] : '250 ok\r\n'
        if (answer) socket.write(answer)
      })
    }

  const cases: [string, (socket: Socket) => void, RegExp][] = [
    ['greets with garbage', talk({}, 'SSH-2.0-OpenSSH\r\n'), /not a reply/],
    ['answers garbage in the middle', talk({ MAIL: '<html>\r\n' }), /not a reply/],
    ['never ends its reply', talk({ EHLO: `250-${'x'.repeat(200_000)}` }), /says too much/],
    ['is closing', talk({}, '421 4.3.2 Shutting down\r\n'), /421/],
    ['resets once it has the content', resetting(), /closed|broke/],
    ['hangs up at once', (socket) => void socket.destroy(), /closed|broke/],
  ]
  for (const [what, badly, reason] of cases)
    test(`that ${what} puts the message off, and says why`, async () => {
      behaviour = badly
      const id = await sendMail(sender, { from: 'a@duka.example' })
      const { status, reason: said, attempts } = await deferred(sender, id)
      assert.equal(status, 'sent')
      assert.match(said, reason)
      assert.equal(attempts, 1)
    })

  test('that says what cannot be stored is understood all the same, and a bulk that it took is over', async () => {
    let hello = ''
    const talking = talk({ DATA: '354 go on\r\n', DKIM: '250 2.0.0 taken \0\u0001\r\n' })
    behaviour = (socket) => {
      socket.once('data', (line) => {
        hello = line.toString()
      })
      talking(socket)
    }
    const id = await sendMail(sender, { from: 'a@duka.example' })
    const record = await eventually(async () => {
      const { body } = await sender.client.get(`/v1/email/${id}`)
      return body.recipients[0].smtp_response ? body : null
    }, 'the answer')
    assert.deepEqual([record.status, record.recipients[0].smtp_code], ['sent', 250])
    assert.equal(hello, 'EHLO mail.pamoja.test\r\n')
    const { body: bulk } = await sender.client.post('/v1/email/bulk', {
      from: 'a@duka.example',
      subject: 'Habari',
      html: '<p>Karibu</p>',
      recipients: [{ email: 'amina@shop.example' }, { email: 'juma@shop.example' }],
    })
    const over = await eventually(async () => {
      const { body } = await sender.client.get(`/v1/email/bulk/${bulk.bulk_id}`)
      return body.status === 'completed' ? body : null
    }, 'the end of the bulk')
    assert.deepEqual([over.counts.sent, over.counts.delivered], [2, 0])
  })
})

function resetting(): (socket: Socket) => void {
  return (socket) => {
    let isContent = false
    socket.write('220 mx\r\n')
    socket.on('data', (chunk) => {
      if (isContent) return void socket.resetAndDestroy()
      isContent = chunk.toString().startsWith('DATA')
      socket.write(isContent ? '354 go on\r\n' : '250 ok\r\n')
    })
  }
}

describe('in the sandbox', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.stop())

  test('a server that takes a minute for each command holds up nobody else', async () => {
    const ada = await world.account({ balance: 100 })
    const slow = await sendMail(ada, { to: 'tarpit+1@shop.example' })
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, i) => sendMail(ada, { to: `amina${i}@shop.example` })),
    )
    for (const id of others) assert.equal((await settled(ada, id)).status, 'delivered')
    assert.ok(['queued', 'sent'].includes((await ada.client.get(`/v1/email/${slow}`)).body.status))
  })

  test('a DNS that is away puts mail off, and it leaves once the DNS is back', async () => {
    const ada = await world.account({ balance: 100 })
    const simulated = mailWorld.of(world.app)
    simulated?.takeDnsAway(true)
    const id = await sendMail(ada, {})
    assert.match((await deferred(ada, id)).reason, /DNS does not answer/)
    simulated?.takeDnsAway(false)
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 70 })
    assert.deepEqual([(await settled(ada, id)).status, (await settled(ada, id)).attempts], ['delivered', 2])
  })
})
