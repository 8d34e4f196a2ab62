// SPDX-License-Identifier: Apache-2.0
// Mail submitted over SMTP, and what other servers bring back: bounces, complaints, requests to unsubscribe.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { SmtpClient, SmtpError } from '../../src/protocols/smtp/client.ts'
import { mailIn, sendMail, settled, toldOf } from '../mailing.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

function portOf(name: string): number {
  return Number(new URL(world.node.listeners[name] ?? '').port)
}

function connect(
  auth: { username: string; password: string } | null,
  port = portOf('submission'),
): Promise<SmtpClient> {
  const ca = readFileSync(world.node.caFile ?? '', 'utf8')
  return SmtpClient.connect({
    host: '127.0.0.1',
    port,
    hello: 'shop.example',
    tls: 'required',
    servername: 'localhost',
    ca,
    ...(auth ? { auth } : {}),
  })
}

async function credential(
  { client }: Account,
  more: object = {},
): Promise<{ id: string; username: string; password: string }> {
  const { status, body } = await client.post('/v1/email/smtp-credentials', { name: 'shop', ...more })
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

async function submit(client: SmtpClient, header: string, to = 'amina@shop.example', body = 'Habari\r\n') {
  const content = Buffer.from(`${header}\r\n\r\n${body}`)
  const { reply } = await client.send({ from: 'bounces@shop.example', to, content, isUtf8: false, isEightBit: false })
  return `${reply.code} ${reply.text}`
}

const plain =
  'From: Duka <duka@sandbox.pamoja.test>\r\nTo: amina@shop.example\r\nBcc: secret@shop.example\r\nSubject: Habari'

describe('submission', () => {
  test('a message is durable before the 250, arrives signed without its Bcc, and its header commands are obeyed', async () => {
    const ada = await world.account({ balance: 100 })
    const client = await connect(await credential(ada))
    const html = 'Content-Type: text/html\r\nX-Tag: a\r\nX-Metadata: {"order":77}\r\nX-Track-Opens: false'
    const answer = await submit(
      client,
      `${plain}\r\n${html}`,
      'amina@shop.example',
      '<p><a href="https://example.com/x">x</a></p>\r\n',
    )
    const [, id = ''] = /^250 2\.0\.0 Ok: queued as (em_\w+)$/.exec(answer) ?? []
    assert.ok(id, answer)
    const { body: record } = await ada.client.get(`/v1/email/${id}`)
    assert.deepEqual(
      [record.tags, record.metadata, record.tracking],
      [['a'], { order: 77 }, { opens: false, clicks: true }],
    )
    const mail = await mailIn(ada, id)
    const { body: raw } = await ada.client.get(`/v1/sandbox/email/messages/${mail.id}/checks`)
    const names = raw.headers.map(({ name }: { name: string }) => name.toLowerCase())
    assert.deepEqual(
      raw.dkim.map(({ result }: { result: string }) => result),
      ['pass', 'pass'],
    )
    assert.equal(raw.dmarc.result, 'pass')
    assert.ok(
      !names.includes('bcc') && !names.includes('x-tag') && names.includes('message-id') && names.includes('date'),
    )
    assert.match(raw.links[0], /\/t\/c\/.*example\.com%2Fx/)
    await client.quit()
  })

  test('an API key is a password too; wrong ones and keys without the scope are refused', async () => {
    const ada = await world.account({ balance: 100 })
    const client = await connect({ username: 'apikey', password: ada.key })
    assert.match(await submit(client, plain), /^250/)
    await client.quit()
    await assert.rejects(connect({ username: 'apikey', password: `${ada.key}x` }), isRefused(/^535 5\.7\.8/))
    const { username } = await credential(ada)
    for (let i = 0; i < 5; i++) await assert.rejects(connect({ username, password: 'wrong' }), isRefused(/^535/))
    await assert.rejects(connect({ username, password: 'wrong' }), isRefused(/^421 4\.7\.0/))
  })

  test('the server names itself as a host of the DNS, in its greeting and to EHLO', async () => {
    const socket = connectTcp(portOf('submission'), '127.0.0.1')
    let said = ''
    socket.setEncoding('utf8').on('data', (text) => {
      said += text
    })
    await eventually(async () => said.endsWith('\r\n'), 'a greeting')
    socket.write('EHLO shop.example\r\n')
    await eventually(async () => /^250 /m.test(said), 'the answer to EHLO')
    socket.destroy()
    assert.match(said, /^220 mail\.pamoja\.test ESMTP\r\n250-mail\.pamoja\.test\r\n/)
  })

  test('mail is taken only after TLS and AUTH, and only from verified domains', async () => {
    const ada = await world.account({ balance: 100 })
    const client = await connect(null)
    assert.match(await submit(client, plain), /^530 5\.7\.0 Authenticate/)
    await client.quit()
    const insecure = await SmtpClient.connect({
      host: '127.0.0.1',
      port: portOf('submission'),
      hello: 'x.example',
      tls: 'none',
    })
    assert.match(await submit(insecure, plain), /^530 5\.7\.0 Start TLS/)
    await insecure.quit()
    const open = await connect(await credential(ada))
    assert.match(
      await submit(open, plain.replace('duka@sandbox.pamoja.test', 'duka@other.example')),
      /^550 5\.7\.1 DOMAIN_NOT_VERIFIED/,
    )
    assert.match(
      await submit(open, plain.replace('Duka <duka@sandbox.pamoja.test>', 'nobody')),
      /^553 5\.1\.3 INVALID_EMAIL/,
    )
    const nested = (depth: number): string =>
      depth === 0
        ? 'Content-Type: text/plain\r\n\r\nHabari\r\n'
        : `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${nested(depth - 1)}\r\n--b${depth}--\r\n`
    const [head = '', ...inside] = nested(30).split('\r\n\r\n')
    assert.match(
      await submit(open, `${plain}\r\n${head}`, 'amina@shop.example', inside.join('\r\n\r\n')),
      /^550 5\.6\.0 .*nested too deep/,
    )
    assert.match(await submit(open, `${plain}${'\r\nX-More: 1'.repeat(600)}`), /^550 5\.6\.0 .*at most 500 fields/)
    await open.quit()
    const limited = await connect(await credential(ada, { domains: ['shop.example'] }))
    assert.match(await submit(limited, plain), /^550 5\.7\.1 DOMAIN_NOT_VERIFIED/)
    await limited.quit()
  })

  const others: [string, RegExp][] = [
    // Encoded words decode to what looks like an address, and readers see the other one.
    ['From: ceo@bank.example =?utf-8?q?=3Cduka=40sandbox=2Epamoja=2Etest=3E?=', /^553 5\.1\.3/],
    ['From: ceo@bank.example <duka@sandbox.pamoja.test>', /^553 5\.1\.3/],
    ['From: duka@sandbox.pamoja.test, ceo@bank.example', /^553 5\.1\.3/],
    ['From: duka@sandbox.pamoja.test\r\nFrom: ceo@bank.example', /^550 5\.6\.0/],
    ['From: duka@sandbox.pamoja.test\r\nSubject: a\0b', /^550 5\.6\.0/],
    ['From: duka@sandbox.pamoja.test\r\nX-Idempotency-Key: a\0b', /^550 5\.6\.0/],
    ['From: duka@sandbox.pamoja.test\r\nX-Metadata: {"a":"\\u0000"}', /^550 5\.6\.0/],
    ['From: duka@sandbox.pamoja.test\r\nX-Variables: {"a":"\\ud800"}', /^550 5\.6\.0/],
  ]

  test('a header that readers and this server could read differently, or that cannot be stored, is refused for good', async () => {
    const ada = await world.account({ balance: 100 })
    const client = await connect(await credential(ada))
    for (const [header, answer] of others) assert.match(await submit(client, header), answer, header)
    assert.deepEqual((await ada.client.get('/v1/email')).body.data, [])
    for (const [from, shown] of [
      ['=?utf-8?b?RHVrYSDDqA==?= <duka@sandbox.pamoja.test>', 'Duka è <duka@sandbox.pamoja.test>'],
      ['"Duka, ya Amina" <duka@sandbox.pamoja.test>', 'Duka, ya Amina <duka@sandbox.pamoja.test>'],
      ['<duka@sandbox.pamoja.test>', 'duka@sandbox.pamoja.test'],
    ]) {
      const answer = await submit(client, `From: ${from}\r\nSubject: x`)
      const { body } = await ada.client.get(`/v1/email/${/em_\w+/.exec(answer)?.[0]}`)
      assert.equal(body.from, shown)
    }
    await client.quit()
  })

  test('a key or password that is taken away ends for connections that are open', async () => {
    const ada = await world.account({ balance: 100 })
    const { id, username, password } = await credential(ada)
    const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Mail' })
    const open = [await connect({ username, password }), await connect({ username: 'apikey', password: key.key })]
    for (const client of open) assert.match(await submit(client, plain), /^250/)
    await ada.client.delete(`/v1/email/smtp-credentials/${id}`)
    await ada.client.delete(`/v1/api-keys/${key.id}`)
    for (const client of open) {
      await eventually(async () => /^550 5\.7\.8/.test(await submit(client, plain)), 'the end of the connection')
      await client.quit()
    }
  })

  test('a suspended account sends nothing over a connection that was open, and goes on when it is active again', async () => {
    const ada = await world.account({ balance: 100 })
    const open = await connect(await credential(ada))
    const become = (status: string) => world.operator.patch(`/v1/operator/accounts/${ada.id}`, { status })
    assert.match(await submit(open, plain), /^250/)
    await become('suspended')
    await eventually(async () => /ACCOUNT_SUSPENDED/.test(await submit(open, plain)), 'the suspension to be known')
    await become('active')
    await eventually(async () => /^250/.test(await submit(open, plain)), 'the account to be active')
    await open.quit()
  })

  test('an empty wallet refuses, and a message submitted twice under one key is sent once', async () => {
    const poor = await world.account()
    const client = await connect(await credential(poor))
    assert.match(await submit(client, plain), /^550 5\.7\.0 INSUFFICIENT_BALANCE/)
    await client.quit()
    const ada = await world.account({ balance: 100 })
    const open = await connect(await credential(ada))
    const keyed = `${plain}\r\nX-Idempotency-Key: order-1`
    const [first, second] = [await submit(open, keyed), await submit(open, keyed)]
    assert.equal(/em_\w+/.exec(first)?.[0], /em_\w+/.exec(second)?.[0])
    const { body } = await ada.client.get('/v1/email')
    assert.equal(body.data.length, 1)
    await open.quit()
  })

  test('credentials.json has a user that works', async () => {
    const { smtp } = JSON.parse(JSON.stringify(world.credentials))
    const client = await connect(smtp)
    assert.match(await submit(client, plain), /^250/)
    await client.quit()
  })
})

describe('what comes back', () => {
  test('a message that was taken and bounced later is bounced, and the address is suppressed', async () => {
    const ada = await world.account({ balance: 100 })
    const id = await sendMail(ada, { to: 'bounce-later+1@shop.example' })
    const record = await settled(ada, id, 'bounced')
    assert.equal(record.recipients[0].bounce_type, 'hard')
    assert.deepEqual(await toldOf(ada, id), ['email.sent', 'email.delivered', 'email.bounced'])
    const { body } = await ada.client.get('/v1/email/suppressions/bounce-later+1@shop.example')
    assert.deepEqual([body.reason, body.applies_to], ['hard_bounce', 'all'])
  })

  test('a complaint and a one-click unsubscription are told once and suppress', async () => {
    const ada = await world.account({ balance: 100 })
    const spam = await sendMail(ada, { to: 'complaint+1@shop.example' })
    const bulk = await sendMail(ada, { to: 'unsubscribe+1@shop.example', stream: 'bulk' })
    await eventually(async () => (await toldOf(ada, spam)).includes('email.complained'), 'the complaint')
    await eventually(async () => (await toldOf(ada, bulk)).includes('email.unsubscribed'), 'the unsubscription')
    const { body: list } = await ada.client.get('/v1/email/suppressions')
    assert.deepEqual(
      list.data.map(({ reason, applies_to }: { reason: string; applies_to: string }) => [reason, applies_to]).sort(),
      [
        ['complaint', 'all'],
        ['unsubscribe', 'bulk'],
      ],
    )
    const again = await sendMail(ada, { to: 'unsubscribe+1@shop.example' })
    assert.equal((await settled(ada, again)).status, 'delivered')
    assert.equal((await ada.client.delete('/v1/email/suppressions/complaint+1@shop.example')).status, 422)
    assert.equal((await ada.client.delete('/v1/email/suppressions/complaint+1@shop.example?confirm=true')).status, 200)
  })

  test('only addresses that were signed here are taken', async () => {
    const client = await SmtpClient.connect({
      host: '127.0.0.1',
      port: portOf('bounces'),
      hello: 'x.example',
      tls: 'opportunistic',
    })
    const message = { from: '', content: Buffer.from('Subject: x\r\n\r\nx\r\n'), isUtf8: false, isEightBit: false }
    for (const to of ['postmaster@rp.mail.pamoja.test', `b+${'a'.repeat(61)}@rp.mail.pamoja.test`]) {
      const { stage, reply } = await client.send({ ...message, to })
      assert.deepEqual([stage, reply.code, reply.enhanced], ['recipient', 550, '5.1.1'])
    }
    await client.quit()
  })
})

function isRefused(reply: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof SmtpError && error.kind === 'auth' && reply.test(error.message)
}
