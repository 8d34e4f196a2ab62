// SPDX-License-Identifier: Apache-2.0
// The doors of SendGrid and Resend, with the clients that they publish, unmodified but for the address and the key.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Resend } from 'resend'
import { Webhook } from 'standardwebhooks'
import { mailIn } from '../mailing.ts'
import { root } from '../program.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, startWorld, type World } from '../world.ts'

const require = createRequire(import.meta.url)

let world: World
let receiver: Receiver
let ada: Account

before(async () => {
  world = await startWorld({ PAMOJA_ALLOW_HTTP: 'loopback' })
  receiver = await startReceiver()
  ada = await world.account({ balance: 1_000 })
})
after(async () => {
  await receiver?.stop()
  await world?.stop()
})

/** Address of a door, over plain HTTP on this machine: the clients do not know the installation's authority. */
const doorAt = (name: string): string => `http://127.0.0.1:${world.node.port}/compat/${name}`

const sender = 'duka@sandbox.pamoja.test'

/** What a program of examples/doors prints. */
async function printed(name: string): Promise<string> {
  const settings = { PAMOJA_URL: `http://127.0.0.1:${world.node.port}`, PAMOJA_KEY: ada.key, PAMOJA_FROM: sender }
  const env = { ...process.env, ...settings }
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples/doors', name)], { env })
  return stdout
}

describe('SendGrid', () => {
  const sgMail = require('@sendgrid/mail')
  const message = { to: 'amina@shop.example', from: { email: sender, name: 'Duka' }, subject: 'Habari', text: 'Karibu' }

  function client(key = ada.key) {
    sgMail.setApiKey(key)
    sgMail.client.setDefaultRequest('baseUrl', `${doorAt('sendgrid')}/`)
    return sgMail
  }

  /** Status and first error of what the client throws. */
  async function refused(sending: Promise<unknown>): Promise<[number, string | null]> {
    const error = await sending.then(
      () => assert.fail('it was taken'),
      (thrown) => thrown,
    )
    const [first] = error.response.body.errors
    assert.equal(typeof first.message, 'string')
    return [error.code, first.field]
  }

  test('a mail with a file goes out, and its events come as SendGrid tells them', async () => {
    const hook = { url: receiver.url('/sendgrid'), dialect: 'sendgrid', events: ['email.sent', 'email.delivered'] }
    const made = await ada.client.post('/v1/webhooks', hook)
    assert.deepEqual([made.status, made.body.dialect, made.body.url], [201, 'sendgrid', hook.url])
    const file = Buffer.from('risiti').toString('base64')
    const [answer] = await client().send({
      ...message,
      html: '<p>Karibu</p>',
      attachments: [{ content: file, filename: 'risiti.txt', type: 'text/plain', disposition: 'attachment' }],
      categories: ['receipts'],
      customArgs: { order: '77' },
    })
    assert.equal(answer.statusCode, 202)
    const id = answer.headers['x-message-id']
    assert.match(id, /^[0-9a-f]{32}$/)
    const events = [await receiver.next('/sendgrid'), await receiver.next('/sendgrid')].map(
      ({ body }) => JSON.parse(body)[0],
    )
    assert.deepEqual(events.map(({ event }) => event).sort(), ['delivered', 'processed'])
    const [told] = events
    assert.deepEqual([told.email, told.order, told.sg_message_id], ['amina@shop.example', '77', `${id}.0`])
    assert.deepEqual(told.category, ['receipts'])
    await ada.client.request('DELETE', `/v1/webhooks/${made.body.id}`)
  })

  test('each personalization is a mail of its own, with its substitutions', async () => {
    const [answer] = await client().send({
      from: sender,
      subject: 'Oda -order-',
      substitutionWrappers: ['-', '-'],
      content: [{ type: 'text/plain', value: 'Oda yako -order- imefika' }],
      personalizations: [
        { to: [{ email: 'a@shop.example' }], substitutions: { order: '1' } },
        { to: [{ email: 'b@shop.example', name: 'Bea, "B"' }], substitutions: { order: '2' } },
      ],
    })
    assert.equal(answer.statusCode, 202)
    const { body } = await ada.client.get('/v1/email?recipient=b@shop.example')
    assert.equal(body.data[0].subject, 'Oda 2')
    assert.match((await mailIn(ada, body.data[0].message_id)).text ?? '', /Oda yako 2 imefika/)
  })

  test('sandbox mode checks and stores nothing; what is wrong is said in SendGrid’s words', async () => {
    const before = (await ada.client.get('/v1/email')).body.data.length
    const [checked] = await client().send({ ...message, mailSettings: { sandboxMode: { enable: true } } })
    assert.equal(checked.statusCode, 200)
    const wrong = { from: sender, subject: 'x', content: [{ type: 'text/plain', value: 'x' }] }
    const people = [{ to: [{ email: 'a@shop.example' }] }, { to: [{ email: 'nobody' }] }]
    assert.deepEqual(await refused(client().send({ ...wrong, personalizations: people })), [
      400,
      'personalizations.1.to.0.email',
    ])
    assert.deepEqual(await refused(client().send({ ...message, from: 'x@elsewhere.example' })), [403, 'from'])
    assert.deepEqual(await refused(client().send({ ...message, sendAt: 1e15 })), [400, 'send_at'])
    assert.equal((await refused(client('SG.wrong').send(message)))[0], 401)
    const [, scopes] = await client().client.request({ method: 'GET', url: '/v3/scopes' })
    assert.ok(scopes.scopes.length > 0)
    assert.equal((await refused(client().client.request({ method: 'GET', url: '/v3/templates' })))[0], 404)
    assert.equal((await ada.client.get('/v1/email')).body.data.length, before)
  })

  test('the program of examples/doors works as it is after the move', async () => {
    assert.match(await printed('sendgrid-after.cjs'), /^202 [0-9a-f]{32}\n$/)
  })
})

describe('Resend', () => {
  const client = (key = ada.key): Resend => new Resend(key, { baseUrl: doorAt('resend') })
  const message = { from: `Duka <${sender}>`, to: ['amina@shop.example'], subject: 'Habari', html: '<p>Karibu</p>' }

  test('a mail goes out once under its key, is read and listed, and its events verify', async () => {
    const hook = { url: receiver.url('/resend'), dialect: 'resend', events: ['email.delivered'] }
    const made = await ada.client.post('/v1/webhooks', hook)
    const content = Buffer.from('risiti')
    const mail = { ...message, tags: [{ name: 'order', value: '77' }], attachments: [{ filename: 'a.txt', content }] }
    const [sent, again] = [
      await client().emails.send(mail, { idempotencyKey: 'order-77' }),
      await client().emails.send(mail, { idempotencyKey: 'order-77' }),
    ]
    assert.equal(sent.error, null)
    const id = sent.data?.id ?? ''
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.equal(again.data?.id, id)
    const other = await client().emails.send({ ...mail, subject: 'Nyingine' }, { idempotencyKey: 'order-77' })
    assert.equal(other.error?.name, 'invalid_idempotent_request')
    const { body, headers } = await receiver.next('/resend')
    const told = JSON.parse(body)
    assert.deepEqual([told.type, told.data.email_id, told.data.tags.order], ['email.delivered', id, '77'])
    const secret = made.body.secret
    const verified = client().webhooks.verify({
      payload: body,
      headers: {
        id: String(headers['svix-id']),
        timestamp: String(headers['svix-timestamp']),
        signature: String(headers['svix-signature']),
      },
      webhookSecret: secret,
    })
    assert.equal(verified.type, 'email.delivered')
    assert.ok(
      new Webhook(secret).verify(body, Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v)]))),
    )
    const read = await client().emails.get(id)
    assert.deepEqual([read.data?.html, read.data?.to, read.data?.subject], ['<p>Karibu</p>', message.to, 'Habari'])
    const listed = await client().emails.list({ limit: 1 })
    assert.equal(listed.data?.data[0]?.id, id)
  })

  test('a scheduled mail is moved and cancelled; a batch is sent', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const { data } = await client().emails.send({ ...message, scheduledAt: at(1) })
    const id = data?.id ?? ''
    assert.equal((await client().emails.update({ id, scheduledAt: at(2) })).data?.id, id)
    assert.equal((await client().emails.cancel(id)).data?.id, id)
    assert.equal((await client().emails.get(id)).data?.last_event, 'canceled')
    const batch = await client().batch.send([message, { ...message, subject: 'Pili' }])
    assert.equal(batch.data?.data.length, 2)
    const strict = await client().batch.send([message, { ...message, to: 'nobody' }])
    assert.deepEqual([strict.data, strict.error?.name], [null, 'validation_error'])
    const some = await client().batch.send([message, { ...message, to: 'nobody' }], { batchValidation: 'permissive' })
    assert.deepEqual([some.data?.data.length, some.data?.errors?.[0]?.index], [1, 1])
  })

  test('refusals have Resend’s names', async () => {
    const name = async (sending: Promise<{ error: { name: string } | null }>) => (await sending).error?.name
    assert.equal(await name(client('re_wrong').emails.send(message)), 'invalid_api_key')
    assert.equal(await name(client().emails.send({ ...message, from: 'x@elsewhere.example' })), 'validation_error')
    assert.equal(await name(client().emails.get('00000000-0000-0000-0000-000000000000')), 'not_found')
    assert.equal(await name(client().domains.list()), 'not_found')
    const path = [{ filename: 'a.txt', path: 'https://shop.example/a.txt' }]
    assert.equal(await name(client().emails.send({ ...message, attachments: path })), 'invalid_attachment')
    assert.equal(await name(client().emails.send({ ...message, scheduledAt: 'in an hour' })), 'validation_error')
  })

  test('the program of examples/doors works as it is after the move', async () => {
    assert.match(await printed('resend-after.mjs'), /^[0-9a-f-]{36}\n$/)
  })
})
