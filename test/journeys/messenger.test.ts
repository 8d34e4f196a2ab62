// SPDX-License-Identifier: Apache-2.0
// The messenger channel as a customer uses it: a message is accepted, sent, delivered and read; users write back; and what
// may not be sent is refused before it costs anything.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { refusal } from '../client.ts'
import { accepted, becomes, inbound, png, recordOf, send, text, upload, writes } from '../messaging.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

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

test('a text is accepted, sent, delivered and read, and each status is told as messenger receivers know it', async () => {
  const ada = await world.account({ balance: 100 })
  const { body: hook } = await ada.client.post('/v1/webhooks', {
    url: receiver.url('/statuses'),
    events: ['messenger.status'],
  })
  await writes(ada, '+254711000001')
  const { status, body } = await send(ada, text('+254711000001', 'Karibu', { metadata: { order: '77' } }))
  assert.equal(status, 200)
  const { message_id, timestamp: _, ...rest } = body.data
  assert.match(message_id, /^mmsg_/)
  assert.deepEqual(rest, {
    messaging_product: 'messenger',
    to: '+254711000001',
    status: 'accepted',
    type: 'text',
    contacts: [{ input: '+254711000001', wa_id: '254711000001' }],
    messages: [{ id: message_id }],
    cost: 0,
    currency: 'KES',
  })
  const record = await becomes(ada, message_id, 'read')
  for (const at of ['accepted_at', 'sent_at', 'delivered_at', 'read_at']) assert.ok(record[at], at)
  assert.deepEqual(record.text, { body: 'Karibu', preview_url: false })
  assert.ok(record.conversation.window_expires_at)
  const statuses: string[] = []
  for (let count = 0; count < 3; count++) {
    const told = await receiver.next('/statuses')
    const secret = String(hook.secret ?? hook.data?.secret)
    const expected = `sha256=${createHmac('sha256', secret).update(told.body).digest('hex')}`
    assert.equal(told.headers['x-hub-signature-256'], expected)
    const event = JSON.parse(told.body)
    assert.equal(event.object, 'messenger_business_account')
    assert.equal(event.entry[0].id, ada.id)
    const { value, field } = event.entry[0].changes[0]
    assert.equal(field, 'messages')
    assert.equal(value.messaging_product, 'messenger')
    assert.ok(value.metadata.phone_number_id)
    const [said] = value.statuses
    assert.equal(said.id, message_id)
    statuses.push(said.status)
    assert.equal(said.recipient_id, '254711000001')
    assert.match(said.timestamp, /^\d{10}$/)
    assert.deepEqual(said.metadata, { order: '77' })
  }
  // In any order: each is delivered as soon as it is known.
  assert.deepEqual(statuses.sort(), ['delivered', 'read', 'sent'])
})

test('before a user wrote, and 24 hours after, only templates are sent; nothing is charged or stored', async () => {
  const ada = await world.account({ balance: 100 })
  const to = '+254711000011'
  assert.deepEqual(await refusal(send(ada, text(to))), [403, '131047'])
  await writes(ada, to)
  await accepted(ada, text(to))
  const { body } = await ada.client.get(`/v1/messenger/conversations/${encodeURIComponent(to)}`)
  assert.equal(body.data.window_open, true)
  await advance(ada, 24 * 3600 - 60)
  await accepted(ada, text(to))
  await advance(ada, 120)
  assert.deepEqual(await refusal(send(ada, text(to))), [403, '131047'])
  // A plus sign need not be escaped.
  const { body: list } = await ada.client.get(`/v1/messenger/messages?direction=outbound&to=${to}`)
  assert.equal(list.data.length, 2)
  const { body: closed } = await ada.client.get(`/v1/messenger/conversations/${encodeURIComponent(to)}`)
  assert.equal(closed.data.window_open, false)
  await createTemplate(ada, 'come_back')
  const fallback_template = { name: 'come_back', language: 'en', components: [body1('Ada')] }
  const { body: sent } = await send(ada, text(to, 'Karibu', { fallback_template }))
  assert.equal(sent.data.type, 'template', 'the template goes in its place')
})

test('what each type must be like is said by name, and nothing is stored', async () => {
  const ada = await world.account({ balance: 100 })
  const to = '+254711000012'
  await writes(ada, to)
  const button = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
  const buttons = (...all: object[]) => ({
    to,
    type: 'interactive',
    interactive: { type: 'button', body: { text: 'Which?' }, action: { buttons: all } },
  })
  const listOf = (rows: number) => ({
    to,
    type: 'interactive',
    interactive: {
      type: 'list',
      body: { text: 'Which?' },
      action: {
        button: 'Pick',
        sections: [1, 2].map((s) => ({
          title: `S${s}`,
          rows: Array.from({ length: rows }, (_, i) => ({ id: `${s}-${i}`, title: `Row ${i}` })),
        })),
      },
    },
  })
  const wrong: [object, RegExp][] = [
    [{ to, type: 'text' }, /text must be given/],
    [{ to, type: 'text', text: { body: '' } }, /text\.body/],
    [{ to, type: 'text', text: { body: 'x'.repeat(4097) } }, /text\.body/],
    [{ to, type: 'poem', text: { body: 'x' } }, /type/],
    [{ to, type: 'image', image: {} }, /either link or id/],
    [{ to, type: 'image', image: { link: 'https://example.com/a.png', id: 'media_1' } }, /either link or id/],
    [{ to, type: 'image', image: { link: 'http://example.com/a.png' } }, /https/],
    [{ to, type: 'audio', audio: { link: 'https://example.com/a.mp3', caption: 'x' } }, /caption/],
    [buttons(button('a', 'x'.repeat(20))), /title/],
    [buttons(button('a', 'Yes'), button('a', 'No')), /different ids/],
    [buttons(button('a', 'Yes'), button('b', 'Yes')), /different titles/],
    [buttons(button('a', '1'), button('b', '2'), button('c', '3'), button('d', '4')), /1 to 3 buttons/],
    [listOf(6), /at most 10 rows/],
  ]
  for (const [message, words] of wrong) {
    const { status, body } = await send(ada, message)
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'], JSON.stringify(body))
    assert.match(body.error.details, words)
  }
  assert.deepEqual(await refusal(send(ada, text('0711000012'))), [422, 'INVALID_PHONE'])
  assert.deepEqual(await refusal(send(ada, { to, type: 'image', image: { id: 'media_1' } })), [422, '131053'])
  await accepted(ada, buttons(button('a', 'x'.repeat(19)), button('b', 'No')))
  await accepted(ada, listOf(5))
  const { body } = await ada.client.get('/v1/messenger/messages?direction=outbound')
  assert.equal(body.data.length, 2)
})

test('every number of the sandbox does what the table says', async () => {
  const ada = await world.account({ balance: 100 })
  const number = (nn: string) => `+2547110000${nn}`
  for (const nn of ['02', '03', '04', '05', '06', '07', '08', '09', '10']) await writes(ada, number(nn))
  const failed = await becomes(ada, await accepted(ada, text(number('02'))), 'failed')
  assert.equal(failed.errors[0].code, 133004)
  assert.equal(failed.errors[0].error_data.provider_code, 131026)
  assert.deepEqual(await refusal(send(ada, text(number('03')))), [422, '130472'])
  assert.deepEqual(await refusal(send(ada, text(number('04')))), [403, '131051'])
  await becomes(ada, await accepted(ada, text(number('05'))), 'read')
  const unread = await accepted(ada, text(number('06')))
  const early = await accepted(ada, text(number('07')))
  assert.ok((await becomes(ada, early, 'read')).delivered_at)
  await accepted(ada, text(number('08')))
  await eventually(async () => (await from(ada, number('08'))).some((one) => one.text?.body === 'Hello'), 'an answer')
  const asked = await accepted(ada, {
    to: number('09'),
    type: 'interactive',
    interactive: {
      type: 'button',
      body: { text: 'Well?' },
      action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] },
    },
  })
  await eventually(async () => (await from(ada, number('09'))).some((one) => one.type === 'interactive'), 'a press')
  const [pressed] = await from(ada, number('09'))
  assert.deepEqual(pressed?.interactive, { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } })
  assert.deepEqual(pressed?.context, { message_id: asked })
  await becomes(ada, await accepted(ada, text(number('10'))), 'read')
  assert.equal((await recordOf(ada, unread)).status, 'delivered')
})

test('a user who presses, writes, shows a place or sends a file is told of as messenger receivers know it', async () => {
  const ada = await world.account({ balance: 100 })
  await ada.client.post('/v1/webhooks', { url: receiver.url('/inbound'), events: ['messenger.message'] })
  const { body: media } = await upload(ada, png, 'image/png', { name: 'cat.png' })
  const told: [object, (message: Record<string, never>) => void][] = [
    [{ type: 'text', text: { body: 'Habari' } }, (m) => assert.deepEqual(m.text, { body: 'Habari' })],
    [
      { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } } },
      (m) => assert.deepEqual(m.interactive, { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } }),
    ],
    [
      { type: 'button', button: { payload: 'stop', text: 'Stop' } },
      (m) => assert.deepEqual(m.button, { payload: 'stop', text: 'Stop' }),
    ],
    [
      { type: 'location', location: { latitude: -1.28, longitude: 36.82, name: 'Nairobi' } },
      (m) => assert.deepEqual(m.location, { latitude: -1.28, longitude: 36.82, name: 'Nairobi' }),
    ],
    [
      { type: 'image', image: { id: media.data.media_id, caption: 'a cat' } },
      (m) => {
        const image: { id: string; mime_type: string; sha256: string; caption: string } = m.image ?? assert.fail()
        assert.notEqual(image.id, media.data.media_id, 'a copy of its own')
        assert.deepEqual([image.mime_type, image.sha256, image.caption], ['image/png', media.data.sha256, 'a cat'])
      },
    ],
  ]
  for (const [message, check] of told) {
    const id = await inbound(ada, { from: '+254711000020', name: 'Amina', ...message })
    const event = JSON.parse((await receiver.next('/inbound')).body)
    const { value } = event.entry[0].changes[0]
    assert.deepEqual(value.contacts, [{ profile: { name: 'Amina' }, wa_id: '254711000020' }])
    const [one] = value.messages
    assert.deepEqual([one.id, one.from], [id, '254711000020'])
    assert.match(one.timestamp, /^\d{10}$/)
    check(one)
    if (one.image) {
      const { headers } = await ada.client.get(`/v1/messenger/media/${one.image.id}`)
      assert.equal(headers['content-type'], 'image/png')
      assert.equal(headers['content-length'], String(png.length))
    }
  }
})

test('STOP ends what a user gets, START begins it again, and the list of opt-ins says so', async () => {
  const ada = await world.account({ balance: 100 })
  const to = '+254711000013'
  await writes(ada, to, 'STOP')
  assert.deepEqual(await refusal(send(ada, text(to))), [403, '131051'])
  const { body } = await ada.client.get('/v1/messenger/opt-ins')
  assert.deepEqual([body.data[0].phone, body.data[0].status], [to, 'opted_out'])
  await writes(ada, to, 'START')
  await accepted(ada, text(to))
  const { status } = await ada.client.delete(`/v1/messenger/opt-ins/${encodeURIComponent(to)}`)
  assert.equal(status, 204)
  assert.deepEqual(await refusal(send(ada, text(to))), [403, '131051'])
  await ada.client.post('/v1/messenger/opt-ins', { phone: to, source: 'counter' })
  await accepted(ada, text(to))
})

test('a template is approved by its name, costs what its category costs, and must get what it asks for', async () => {
  const ada = await world.account({ balance: 100 })
  await ada.client.post('/v1/webhooks', { url: receiver.url('/templates'), events: ['messenger.template_status'] })
  const made = await createTemplate(ada, 'order_update')
  assert.equal(made.status, 'APPROVED')
  assert.equal(JSON.parse((await receiver.next('/templates')).body).status, 'APPROVED')
  assert.equal((await createTemplate(ada, 'later_pending')).status, 'PENDING')
  const refused = await createTemplate(ada, 'never_reject')
  assert.deepEqual([refused.status, refused.rejected_reason], ['REJECTED', 'INVALID_FORMAT'])
  const template = (name: string, ...parameters: string[]) => ({
    to: '+254711000001',
    type: 'template',
    template: { name, language: { code: 'en' }, components: [body1(...parameters)] },
  })
  assert.deepEqual(await refusal(send(ada, template('order_update'))), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(send(ada, template('order_update', 'a', 'b'))), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(send(ada, template('unknown', 'Ada'))), [422, '131026'])
  assert.deepEqual(await refusal(send(ada, template('later_pending', 'Ada'))), [422, '131026'])
  assert.deepEqual(await refusal(send(ada, template('never_reject', 'Ada'))), [422, '131026'])
  const { body } = await send(ada, template('order_update', 'Ada'))
  assert.ok(body.data.cost > 0)
  const record = await becomes(ada, body.data.message_id, 'read')
  assert.deepEqual(record.template, { name: 'order_update', language: 'en' })
  const { status } = await ada.client.post('/v1/messenger/templates', templateBody('order_update'))
  assert.equal(status, 409)
  const short = await ada.client.post('/v1/messenger/template', {
    to: '+254711000001',
    name: 'order_update',
    language: 'en',
    components: [body1('Ada')],
  })
  assert.deepEqual([short.status, short.body.data?.type], [200, 'template'], short.text)
  const created = await ada.client.post('/v1/messenger/template', templateBody('another'))
  assert.deepEqual([created.status, created.body.data.name], [201, 'another'])
})

test('templates that no provider would take are refused with the reason', async () => {
  const ada = await world.account()
  const wrong: [object, RegExp][] = [
    [{ ...templateBody('x'), name: 'Big' }, /name/],
    [{ ...templateBody('x'), components: [{ type: 'FOOTER', text: 'x' }] }, /BODY/],
    [{ ...templateBody('x'), components: [{ type: 'BODY', text: 'a {{2}} b' }] }, /without gaps/],
    [{ ...templateBody('x'), components: [{ type: 'BODY', text: '{{1}} b' }] }, /begin or end/],
    [
      {
        ...templateBody('x'),
        components: [
          { type: 'BODY', text: 'a' },
          { type: 'FOOTER', text: 'x'.repeat(61) },
        ],
      },
      /FOOTER/,
    ],
  ]
  for (const [body, words] of wrong) {
    const { status, body: said } = await ada.client.post('/v1/messenger/templates', body)
    assert.equal(status, 422)
    assert.match(said.error.details, words)
  }
})

test('a message that fails is paid back, and one beyond the wallet is refused whole', async () => {
  const ada = await world.account({ balance: 100 })
  await createTemplate(ada, 'costly')
  const template = { name: 'costly', language: 'en', components: [body1('Ada')] }
  const before = await balanceOf(ada)
  const id = await accepted(ada, { to: '+254711000002', type: 'template', template })
  await becomes(ada, id, 'failed')
  assert.equal(await balanceOf(ada), before)
  assert.equal((await recordOf(ada, id)).cost, 0)
  const poor = await world.account()
  await createTemplate(poor, 'costly')
  assert.deepEqual(await refusal(send(poor, { to: '+254711000001', type: 'template', template })), [
    402,
    'INSUFFICIENT_BALANCE',
  ])
  const { body } = await poor.client.get('/v1/messenger/messages')
  assert.deepEqual(body.data, [])
})

test('a request with the same key or reference sends once', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254711000001')
  const headers = { 'idempotency-key': 'once' }
  const first = await ada.client.post('/v1/messenger/messages', text('+254711000001'), { headers })
  const second = await ada.client.post('/v1/messenger/messages', text('+254711000001'), { headers })
  assert.equal(first.body.data.message_id, second.body.data.message_id)
  const id = await accepted(ada, text('+254711000001', 'a', { reference: 'r1' }))
  const again = await send(ada, text('+254711000001', 'b', { reference: 'r1' }))
  const { code, existing_id } = again.body.error
  assert.deepEqual([again.status, code, existing_id], [409, 'DUPLICATE_REFERENCE', id])
  const closed = await send(ada, text('+254711000099', 'b', { reference: 'r1' }))
  assert.equal(closed.body.error.existing_id, id, 'whatever else is the matter with it')
  const atOnce = await Promise.all([1, 2, 3].map(() => send(ada, text('+254711000001', 'c', { reference: 'r2' }))))
  assert.deepEqual(atOnce.map(({ status }) => status).sort(), [200, 409, 409])
  const [taken] = atOnce.filter(({ status }) => status === 200)
  for (const { status, body } of atOnce)
    if (status === 409) assert.equal(body.error.existing_id, taken?.body.data.message_id)
})

test('a message that fails goes on by SMS when its sender asks for it, and the text is what is paid', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254711000002')
  const fallback = { channel: 'sms', from: 'PAMOJA', message: 'By text, then' }
  const id = await accepted(ada, text('+254711000002', 'Karibu', { fallback }))
  await eventually(async () => (await recordOf(ada, id)).fallback_message_id !== null, 'the text')
  const { fallback_message_id } = await recordOf(ada, id)
  const { body } = await ada.client.get(`/v1/sms/${fallback_message_id}`)
  assert.equal((body.data ?? body).to, '+254711000002')
})

/** Numbers of the sandbox to which a text expires, and one of which nothing is heard; both are users of the messenger. */
const failingPhone = '+254711000006'
const silentPhone = '+254711000005'

test('a text that fails goes on over the messenger when its sender asks for it, and only that is paid', async () => {
  const ada = await world.account({ balance: 100 })
  const phone = '+254711000001'
  const fallback = { channel: 'messenger', text: { body: 'By messenger, then' } }
  const sms = { to: failingPhone, from: 'PAMOJA', message: 'Habari' }
  await writes(ada, failingPhone)
  const { status, body } = await ada.client.post('/v1/sms/send', { ...sms, fallback })
  assert.equal(status, 200, JSON.stringify(body))
  const record = await eventually(async () => {
    const { body: now } = await ada.client.get(`/v1/sms/${body.message_id}`)
    return now.fallback_message_id ? now : null
  }, 'the message')
  assert.equal(record.status, 'failed')
  const went = await recordOf(ada, record.fallback_message_id)
  assert.deepEqual([went.to, went.text.body], [failingPhone, 'By messenger, then'])
  for (const bad of [
    { ...fallback, text: undefined },
    { ...fallback, template: { name: 'x', language: 'en' } },
    { ...fallback, channel: 'pigeon' },
    { ...fallback, after: 1 },
  ])
    assert.deepEqual(await refusal(ada.client.post('/v1/sms/send', { ...sms, fallback: bad })), [
      422,
      'VALIDATION_ERROR',
    ])
  assert.deepEqual(await refusal(ada.client.post('/v1/sms/send', { ...sms, to: [phone, failingPhone], fallback })), [
    422,
    'VALIDATION_ERROR',
  ])
})

test('a text that is delivered does not go on, and one that is not delivered in time does', async () => {
  const ada = await world.account({ balance: 100 })
  const fallback = { channel: 'messenger', text: { body: 'Then so' }, after: 3600 }
  const send = async (to: string) => {
    await writes(ada, to)
    const { body } = await ada.client.post('/v1/sms/send', { to, from: 'PAMOJA', message: 'Habari', fallback })
    return body.message_id
  }
  const [arrives, waits] = [await send('+254711000001'), await send(silentPhone)]
  await eventually(
    async () => (await ada.client.get(`/v1/sms/${arrives}`)).body.status === 'delivered',
    'the text to be delivered',
  )
  await eventually(
    async () => (await ada.client.get(`/v1/sms/${waits}`)).body.status === 'sent',
    'the other to be sent',
  )
  await advance(ada, 3700)
  await eventually(
    async () => (await ada.client.get(`/v1/sms/${waits}`)).body.fallback_message_id,
    'the message over the messenger',
  )
  assert.equal((await ada.client.get(`/v1/sms/${arrives}`)).body.fallback_message_id, null)
})

test('a message that was delivered in time does not go on by SMS', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254711000001')
  const fallback = { channel: 'sms', from: 'PAMOJA', message: 'By text, then', after: 3600 }
  const id = await accepted(ada, text('+254711000001', 'Karibu', { fallback }))
  await becomes(ada, id, 'read')
  await advance(ada, 7200)
  const later = await accepted(ada, text('+254711000001', 'Later'))
  await becomes(ada, later, 'read')
  assert.equal((await recordOf(ada, id)).fallback_message_id, null)
})

test('a message of a user is marked as read; one of ours cannot be', async () => {
  const ada = await world.account({ balance: 100 })
  const id = await writes(ada, '+254711000001')
  const { status, body } = await ada.client.post(`/v1/messenger/messages/${id}/read`, { typing: true })
  assert.deepEqual([status, body.data.message_id], [200, id])
  const ours = await accepted(ada, text('+254711000001'))
  assert.deepEqual(await refusal(ada.client.post(`/v1/messenger/messages/${ours}/read`, {})), [409, 'INVALID_STATE'])
})

function body1(...parameters: string[]): object {
  return { type: 'body', parameters: parameters.map((said) => ({ type: 'text', text: said })) }
}

function templateBody(name: string): object {
  return { name, language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'Hello {{1}}, welcome.' }] }
}

async function createTemplate(account: Account, name: string) {
  const { status, body } = await account.client.post('/v1/messenger/templates', templateBody(name))
  assert.equal(status, 201, JSON.stringify(body))
  return body.data
}

async function from(
  account: Account,
  phone: string,
): Promise<{ type: string; text?: { body: string }; interactive?: object; context?: object }[]> {
  const { body } = await account.client.get(`/v1/messenger/messages?from=${encodeURIComponent(phone)}`)
  return body.data
}

async function balanceOf(account: Account): Promise<number> {
  const { body } = await account.client.get('/v1/wallet/balance')
  return (body.data ?? body).available
}

async function advance(account: Account, seconds: number): Promise<void> {
  const { status, body } = await account.client.post('/v1/sandbox/clock', { advance_seconds: seconds })
  assert.equal(status, 200, JSON.stringify(body))
}
