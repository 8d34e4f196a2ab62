// SPDX-License-Identifier: Apache-2.0
// Mail programs of others against ours: swaks and smtp-source submit, smtp-sink and Postfix receive, mailauth verifies what arrived.
// Left out where they are not installed, unless PAMOJA_REQUIRE_MAIL=1 says that they have to be.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { authenticate } from 'mailauth'
import { startMailBridge } from '../mail-bridge.ts'
import { liveSender, mailIn, sendMail, settled, toldOf } from '../mailing.ts'
import { eventually, startWorld, type World } from '../world.ts'
import { type MailReceiver, mailProgramsMissing, runProgram, startPostfix, startSink } from './postfix.ts'

const isRequired = process.env.PAMOJA_REQUIRE_MAIL === '1'
const skip = isRequired ? false : (mailProgramsMissing() ?? false)

function submissionOf(world: World): { port: number; ca: string } {
  const port = Number(new URL(world.node.listeners.submission ?? '').port)
  return { port, ca: readFileSync(world.node.caFile ?? '', 'utf8') }
}

async function credentialOf(client: World['demo']): Promise<{ username: string; password: string }> {
  const { status, body } = await client.post('/v1/email/smtp-credentials', { name: 'interop' })
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

describe('mail programs of others submit to us', { skip }, () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.stop())

  test('swaks, over STARTTLS with each kind of AUTH: the mail arrives signed, is opened and clicked', async () => {
    const ada = await world.account({ balance: 100 })
    const { port } = submissionOf(world)
    const { username, password } = await credentialOf(ada.client)
    for (const how of ['PLAIN', 'LOGIN']) {
      const { code, said } = await runProgram('swaks', [
        ...['--server', '127.0.0.1', '--port', String(port), '-tls', '--auth', how],
        ...['--auth-user', username, '--auth-password', password],
        ...['--from', 'shop@sandbox.pamoja.test', '--to', `click+${how}@shop.example`],
        ...['--header', 'Content-Type: text/html', '--body', '<p><a href="https://example.com/">Karibu</a></p>'],
      ])
      assert.equal(code, 0, said)
      const id = /queued as (em_\w+)/.exec(said)?.[1] ?? ''
      const mail = await mailIn(ada, id)
      const { body: checks } = await ada.client.get(`/v1/sandbox/email/messages/${mail.id}/checks`)
      assert.deepEqual(
        [checks.dkim.map(({ result }: { result: string }) => result), checks.spf.result, checks.dmarc.result],
        [['pass', 'pass'], 'pass', 'pass'],
      )
      await eventually(async () => (await toldOf(ada, id)).includes('email.clicked'), 'the click')
    }
    const wrong = await runProgram('swaks', [
      ...['--server', '127.0.0.1', '--port', String(port), '-tls', '--auth', 'PLAIN'],
      ...['--auth-user', username, '--auth-password', 'x', '--from', 'a@sandbox.pamoja.test', '--to', 'b@shop.example'],
    ])
    assert.match(wrong.said, /535 5\.7\.8/)
  })

  test('smtp-source, 60 messages over 4 connections: each is delivered once', async () => {
    const ada = await world.account({ balance: 100 })
    const bridge = await startMailBridge({ ...submissionOf(world), ...(await credentialOf(ada.client)) })
    try {
      const { code, said } = await runProgram('smtp-source', [
        ...['-s', '4', '-m', '60', '-l', '2000', '-f', 'shop@sandbox.pamoja.test', '-t', 'amina@shop.example'],
        `inet:127.0.0.1:${bridge.port}`,
      ])
      assert.equal(code, 0, said)
    } finally {
      await bridge.stop()
    }
    await eventually(async () => {
      const { body } = await ada.client.get('/v1/email?status=delivered&limit=100')
      return body.data.length === 60
    }, 'all of it to be delivered')
  })
})

describe('mail servers of others receive from us', { skip }, () => {
  for (const [name, start] of [
    ['smtp-sink', () => startSink()],
    ['Postfix', () => startPostfix('shop.example')],
  ] as const)
    test(`${name}: what arrives is what was sent, and mailauth verifies both signatures of each`, async (t) => {
      const isRoot = process.getuid?.() === 0
      if (name === 'Postfix' && !isRoot && !isRequired) return t.skip('only root can start a Postfix')
      const server: MailReceiver = await start()
      const world = await startWorld({ PAMOJA_MAIL_RELAY: `smtp://127.0.0.1:${server.port}` })
      try {
        const { account, records } = await liveSender(world, 'duka.example')
        const contents = [
          { subject: 'Plain', text: 'Habari\n.\n..dots\n', html: undefined },
          { subject: 'Ḥabari ✓', html: `<p>${'Karibu '.repeat(400)}</p>` },
          {
            subject: 'With a file',
            html: '<p>x</p>',
            attachments: [{ filename: 'bei €.txt', content: Buffer.from('bei').toString('base64') }],
          },
        ]
        const ids = await Promise.all(
          contents.map((content) => sendMail(account, { from: 'Duka <a@duka.example>', ...content })),
        )
        for (const id of ids) await settled(account, id, 'sent', 'delivered')
        const arrived = await eventually(async () => {
          const messages = await server.messages()
          return messages.length === ids.length ? messages : null
        }, 'every message')
        for (const message of arrived) assert.deepEqual(await verdicts(message, records), ['pass', 'pass'])
      } finally {
        await world.stop()
        await server.stop()
      }
    })
})

/** Verdicts of mailauth on the signatures of a message, whatever the server wrote in front of it. */
async function verdicts(message: Buffer, records: readonly { name: string; value: string }[]): Promise<string[]> {
  const crlf = Buffer.from(message.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1')
  const start = crlf.indexOf('DKIM-Signature:')
  assert.ok(start >= 0, 'the message is signed')
  const { dkim } = await authenticate(crlf.subarray(start), {
    ip: '127.0.0.1',
    helo: 'x',
    sender: 'x@duka.example',
    resolver: async (name: string, type: string) => {
      const found = type === 'TXT' ? records.filter((one) => one.name === name) : []
      if (found.length === 0) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      return found.map(({ value }) => [value])
    },
  })
  return dkim.results.map(({ status }) => status.result)
}
