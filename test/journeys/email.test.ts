// SPDX-License-Identifier: Apache-2.0
// The whole way of a message: API, wallet, DNS, SMTP over a real socket, DKIM, the reader's picture and links, signed events.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { mailIn, sendMail, settled, toldOf } from '../mailing.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver

before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
})
after(async () => {
  await receiver.stop()
  await world.stop()
})

describe('a message', () => {
  test('arrives signed, is opened and clicked, and the signed events reach a webhook', async () => {
    const ada = await world.account({ balance: 100 })
    const { body: hook } = await ada.client.post('/v1/webhooks', { url: receiver.url('/mail'), events: ['email.*'] })
    const { status, body: sent } = await ada.client.post('/v1/email/send', {
      from: 'Duka <duka@sandbox.pamoja.test>',
      to: 'click+1@shop.example',
      subject: 'Habari 👋',
      html: '<p>Karibu, <a href="https://example.com/start?a=1&amp;b=2">anza hapa</a>.</p>',
      tags: ['welcome'],
      metadata: { order: '77' },
    })
    assert.equal(status, 200, JSON.stringify(sent))
    assert.deepEqual([sent.status, sent.recipients, sent.cost > 0], ['queued', 1, true])
    const mail = await mailIn(ada, sent.message_id)
    assert.equal(mail.subject, 'Habari 👋')
    assert.match(mail.text, /Karibu, anza hapa \(https:\/\/example\.com\/start\?a=1&b=2\)/)
    const { body: checks } = await ada.client.get(`/v1/sandbox/email/messages/${mail.id}/checks`)
    assert.deepEqual(
      [checks.dkim.map(({ result }: { result: string }) => result), checks.spf.result, checks.dmarc.result],
      [['pass', 'pass'], 'pass', 'pass'],
    )
    assert.match(checks.tls, /^TLSv1/)
    const record = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/email/${sent.message_id}`)
      return body.click_count > 0 ? body : null
    }, 'a click')
    assert.deepEqual([record.status, record.open_count > 0, record.metadata], ['delivered', true, { order: '77' }])
    const heard = new Map<string, { body: string; signature: unknown }>()
    while (heard.size < 4) {
      const { body, headers } = await receiver.next('/mail')
      heard.set(JSON.parse(body).event, { body, signature: headers['x-service-signature'] })
    }
    assert.deepEqual([...heard.keys()].sort(), ['clicked', 'delivered', 'opened', 'sent'])
    for (const { body, signature } of heard.values())
      assert.equal(signature, createHmac('sha256', hook.secret).update(body).digest('hex'))
    const clicked = JSON.parse(heard.get('clicked')?.body ?? '{}')
    assert.deepEqual(
      [clicked.url, clicked.email, clicked.tags],
      ['https://example.com/start?a=1&b=2', 'click+1@shop.example', ['welcome']],
    )
  })

  test('that is refused bounces and suppresses its address, and the next one is not sent', async () => {
    const ada = await world.account({ balance: 100 })
    const first = await sendMail(ada, { to: 'bounce+1@shop.example' })
    const record = await settled(ada, first)
    assert.deepEqual(
      [record.status, record.recipients[0].enhanced_code, record.recipients[0].bounce_type],
      ['bounced', '5.1.1', 'hard'],
    )
    const { body } = await ada.client.post('/v1/email/send', {
      from: 'a@sandbox.pamoja.test',
      to: 'bounce+1@shop.example',
      subject: 'x',
      html: 'x',
    })
    assert.deepEqual(
      [body.status, body.reason, body.suppressed, body.cost],
      ['failed', 'suppressed', ['bounce+1@shop.example'], 0],
    )
    assert.deepEqual(await toldOf(ada, first), ['email.sent', 'email.bounced'])
    assert.deepEqual(await toldOf(ada, body.message_id), ['email.suppressed'])
  })

  test('goes to all but a suppressed recipient, who is not paid for, however often the request is repeated', async () => {
    const ada = await world.account({ balance: 100 })
    await ada.client.post('/v1/email/suppressions', { email: 'gone@shop.example' })
    const mail = { from: 'a@sandbox.pamoja.test', subject: 'x', html: 'x', reference: 'welcome-1' }
    const to = ['amina@shop.example', 'Gone@Shop.example']
    const send = () =>
      ada.client.post('/v1/email/send', { ...mail, to }, { headers: { 'idempotency-key': 'welcome-1' } })
    const { body: first } = await send()
    const { body: alone } = await ada.client.post('/v1/email/send', { ...mail, to: to[0], reference: 'alone' })
    assert.deepEqual(
      [first.status, first.recipients, first.suppressed, first.cost],
      ['queued', 1, ['gone@shop.example'], alone.cost],
    )
    const { body: again } = await send()
    assert.equal(again.message_id, first.message_id)
    const { recipients } = await settled(ada, first.message_id)
    assert.deepEqual(
      recipients.map(({ email, status, reason }: Record<string, string>) => [email, status, reason]),
      [
        ['amina@shop.example', 'delivered', null],
        ['Gone@shop.example', 'failed', 'suppressed'],
      ],
    )
  })
})
