// SPDX-License-Identifier: Apache-2.0
// Email over HTTP beside the plain send: refusals and limits, templates, domains, bulk, figures, changes of messages.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { mailWorld } from '../../src/areas/email/mail-world.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { lookInto } from '../looking.ts'
import { mailIn, sendMail, settled, toldOf } from '../mailing.ts'
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

const message = { from: 'duka@sandbox.pamoja.test', to: 'amina@shop.example', subject: 'Habari', html: '<p>Karibu</p>' }

describe('what is refused', () => {
  const many = Array.from({ length: 51 }, (_, i) => `a${i}@shop.example`)
  const file = { filename: 'a.txt', content: 'aGFiYXJp', contentType: 'text/plain' }
  const cases: [string, object, number, string][] = [
    ['an address that is none', { to: 'amina' }, 422, 'INVALID_EMAIL'],
    ['a second line in an address', { from: 'a@sandbox.pamoja.test\r\nBcc: x@y.example' }, 422, 'INVALID_EMAIL'],
    ['a bad address in cc', { cc: ['x'] }, 422, 'INVALID_EMAIL'],
    ['a bad address in reply_to', { reply_to: 'x' }, 422, 'INVALID_EMAIL'],
    ['too many recipients', { to: many.slice(0, 50), cc: many.slice(50) }, 422, 'TOO_MANY_RECIPIENTS'],
    ['too many in to alone', { to: many }, 422, 'TOO_MANY_RECIPIENTS'],
    ['a domain of somebody else', { from: 'x@shop.example' }, 403, 'DOMAIN_NOT_VERIFIED'],
    ['no subject', { subject: undefined }, 422, 'VALIDATION_ERROR'],
    ['a subject of two lines', { subject: 'a\nb' }, 422, 'VALIDATION_ERROR'],
    ['no content', { html: undefined }, 422, 'VALIDATION_ERROR'],
    ['a template that is not there', { template: 'nothing' }, 404, 'TEMPLATE_NOT_FOUND'],
    ['a placeholder that is never closed', { html: '{{name', variables: {} }, 422, 'TEMPLATE_SYNTAX'],
    [
      'a missing value, where that is strict',
      { html: '{{name}}', variables: {}, strict: true },
      422,
      'MISSING_VARIABLE',
    ],
    ['a program as attachment', { attachments: [{ ...file, filename: 'x.exe' }] }, 422, 'ATTACHMENT_BLOCKED'],
    [
      'a second line in the type of an attachment',
      { attachments: [{ ...file, contentType: 'text/plain\r\nX-A: b' }] },
      422,
      'VALIDATION_ERROR',
    ],
    ['base64 that is none', { attachments: [{ ...file, content: 'a b' }] }, 422, 'VALIDATION_ERROR'],
    ['a path as file name', { attachments: [{ ...file, filename: '../x' }] }, 422, 'VALIDATION_ERROR'],
    [
      'more than 25 MiB',
      { attachments: [{ ...file, content: Buffer.alloc(19_500_000).toString('base64') }] },
      422,
      'ATTACHMENT_TOO_LARGE',
    ],
    ['a header that is ours', { headers: { Received: 'x' } }, 422, 'VALIDATION_ERROR'],
    ['a time too soon', { scheduled_at: new Date().toISOString() }, 422, 'VALIDATION_ERROR'],
    ['a lifetime too short', { ttl: 59 }, 422, 'VALIDATION_ERROR'],
    ['a callback over plain HTTP', { callback_url: 'http://example.com/' }, 400, 'INVALID_URL'],
  ]
  let ada: Account
  before(async () => {
    ada = await world.account({ balance: 100 })
  })
  for (const [what, fields, status, code] of cases)
    test(`${what}: ${code}`, async () => {
      const { status: answered, body } = await ada.client.post('/v1/email/send', { ...message, ...fields })
      assert.deepEqual([answered, body.error?.code], [status, code], JSON.stringify(body))
    })

  test('nothing of it was stored or charged', async () => {
    const { body } = await ada.client.get('/v1/email')
    assert.deepEqual(body.data, [])
  })

  test('an empty wallet: INSUFFICIENT_BALANCE; a used reference: DUPLICATE_REFERENCE', async () => {
    const poor = await world.account()
    assert.equal((await poor.client.post('/v1/email/send', message)).body.error.code, 'INSUFFICIENT_BALANCE')
    const id = await sendMail(ada, { reference: 'order-1' })
    const { status, body } = await ada.client.post('/v1/email/send', { ...message, reference: 'order-1' })
    assert.deepEqual([status, body.error.code, body.error.existing_id], [409, 'DUPLICATE_REFERENCE', id])
  })
})

test('a large message that is refused, or was answered before, leaves nothing behind', async () => {
  const html = `<p>${'x'.repeat(300_000)}</p>`
  const poor = await world.account()
  const ada = await world.account({ balance: 100 })
  assert.equal((await poor.client.post('/v1/email/send', { ...message, html })).status, 402)
  const once = { headers: { 'idempotency-key': 'large-1' } }
  const first = await ada.client.post('/v1/email/send', { ...message, html, reference: 'large-1' }, once)
  const again = await ada.client.post('/v1/email/send', { ...message, html, reference: 'large-1' }, once)
  assert.equal(again.body.message_id, first.body.message_id)
  assert.equal((await ada.client.post('/v1/email/send', { ...message, html, reference: 'large-1' })).status, 409)
  const sql = lookInto(world)
  await sql.connect()
  const { rows } = await sql.query('select count(*)::int as many from email.contents where account_id = any($1)', [
    [poor, ada].map(({ id }) => uuidOf('account', id)),
  ])
  await sql.end()
  assert.equal(rows[0].many, 1)
})

describe('templates', () => {
  test('versions, escaping, fallbacks and sections; a message keeps the version it was accepted with', async () => {
    const ada = await world.account({ balance: 100 })
    const html =
      '<a href="{{link}}">{{name}}</a>{{#items}}<li>{{.}}</li>{{/items}}{{^items}}none{{/items}}{{city|Nairobi}}'
    const { status, body: made } = await ada.client.post('/v1/email/templates', {
      name: 'welcome',
      subject: 'Hi {{name}}',
      html,
    })
    assert.deepEqual([status, made.version, made.variables], [201, 1, ['name', 'link', 'items', 'city']])
    assert.equal(
      (await ada.client.post('/v1/email/templates', { name: 'welcome', subject: 'x', html: 'x' })).body.error.code,
      'TEMPLATE_EXISTS',
    )
    const bad = await ada.client.post('/v1/email/templates', { name: 'bad', subject: 'x', html: 'a\n {{#x}}' })
    assert.deepEqual(
      [bad.status, bad.body.error.code, bad.body.error.line, bad.body.error.column],
      [422, 'TEMPLATE_SYNTAX', 2, 2],
    )
    const variables = { name: '<b>"A"</b>', link: 'javascript:alert(1)', items: [1, 2] }
    const { body: preview } = await ada.client.post('/v1/email/templates/welcome/preview', { variables })
    assert.equal(preview.html, '<a href="#">&lt;b&gt;&quot;A&quot;&lt;/b&gt;</a><li>1</li><li>2</li>Nairobi')
    const draft = { subject: 'Karibu {{name}}', html: '{{shop}}', variables: { name: 'Amina' } }
    const { body: before } = await ada.client.post('/v1/email/templates/welcome/preview', draft)
    assert.deepEqual([before.subject, before.variables, before.missing], ['Karibu Amina', ['name', 'shop'], ['shop']])
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const { body: sent } = await ada.client.post('/v1/email/send', {
      ...message,
      subject: undefined,
      html: undefined,
      template: 'welcome',
      variables,
      scheduled_at: later,
    })
    assert.equal(sent.status, 'scheduled', JSON.stringify(sent))
    const { body: second } = await ada.client.put('/v1/email/templates/welcome', {
      subject: 'New {{name}}',
      html: 'new',
    })
    assert.equal(second.version, 2)
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3_600 })
    const mail = await mailIn(ada, sent.message_id)
    assert.equal(mail.subject, 'Hi <b>"A"</b>')
    assert.match(mail.html, /<li>2<\/li>/)
    assert.equal((await ada.client.delete('/v1/email/templates/welcome')).body.deleted, true)
    assert.equal((await ada.client.get('/v1/email/templates/welcome')).body.error.code, 'TEMPLATE_NOT_FOUND')
  })
})

describe('domains', () => {
  test('a domain is verified by its records, mail from it is signed with its key, and it is nobody else’s', async () => {
    const ada = await world.account({ balance: 100 })
    const { status, body: made } = await ada.client.post('/v1/email/domains', { domain: 'Duka.example' })
    assert.deepEqual([status, made.domain, made.status], [201, 'duka.example', 'pending'], JSON.stringify(made))
    assert.deepEqual(
      made.records.filter(({ required }: { required: boolean }) => required).map(({ type }: { type: string }) => type),
      ['TXT', 'CNAME'],
    )
    assert.equal(
      (await ada.client.post('/v1/email/send', { ...message, from: 'a@duka.example' })).body.error.code,
      'DOMAIN_NOT_VERIFIED',
    )
    const { body: verified } = await ada.client.post('/v1/email/domains/duka.example/verify')
    assert.equal(verified.status, 'verified', JSON.stringify(verified))
    const id = await sendMail(ada, { from: 'a@news.duka.example' })
    const mail = await mailIn(ada, id)
    const { body: checks } = await ada.client.get(`/v1/sandbox/email/messages/${mail.id}/checks`)
    assert.deepEqual(
      checks.dkim.map(({ result, domain }: { result: string; domain: string }) => [result, domain]),
      [
        ['pass', 'duka.example'],
        ['pass', 'duka.example'],
      ],
    )
    assert.deepEqual([checks.spf.result, checks.spf.domain, checks.dmarc.result], ['pass', 'rp.duka.example', 'pass'])
    const eve = await world.account({ balance: 100 })
    assert.equal(
      (await eve.client.post('/v1/email/domains', { domain: 'duka.example' })).body.error.code,
      'DOMAIN_EXISTS',
    )
    assert.equal((await ada.client.post('/v1/email/domains', { domain: 'duka.example' })).body.error.id, made.id)
    assert.equal((await ada.client.delete('/v1/email/domains/duka.example')).status, 200)
    assert.equal((await ada.client.get('/v1/email/domains/duka.example')).body.error.code, 'DOMAIN_NOT_FOUND')
  })

  test('a missing record, a wrong one and a DNS that is away are told apart', async () => {
    const ada = await world.account({ balance: 100 })
    await ada.client.post('/v1/email/domains', { domain: 'soko.example', dkim_record: 'txt' })
    const edit = (name: string, type: string, value: string | null) =>
      ada.client.post('/v1/sandbox/dns', { name, type, value })
    await edit('_pamoja.soko.example', 'TXT', null)
    await edit('link.soko.example', 'CNAME', 'elsewhere.example')
    const { body: first } = await ada.client.post('/v1/email/domains/soko.example/verify')
    const of = (body: { records: { purpose: string; status: string; found?: string }[] }, purpose: string) =>
      body.records.find((one) => one.purpose === purpose)
    assert.deepEqual(
      [first.status, of(first, 'verification')?.status, of(first, 'dkim')?.status],
      ['pending', 'missing', 'valid'],
    )
    assert.deepEqual([of(first, 'tracking')?.status, of(first, 'tracking')?.found], ['invalid', 'elsewhere.example'])
    const simulated = mailWorld.of(world.app)
    simulated?.takeDnsAway(true)
    const { body: away } = await ada.client.post('/v1/email/domains/soko.example/verify')
    simulated?.takeDnsAway(false)
    assert.deepEqual([of(away, 'dkim')?.status, typeof away.last_error], ['valid', 'string'])
    for (const domain of ['localhost', 'co.ke', '127.0.0.1', 'mail.pamoja.test', 'a_b.example'])
      assert.equal((await ada.client.post('/v1/email/domains', { domain })).body.error.code, 'INVALID_DOMAIN', domain)
  })
})

describe('bulk', () => {
  test('each recipient gets a message of its own; bad, doubled and suppressed ones are named', async () => {
    const ada = await world.account({ balance: 100 })
    await ada.client.post('/v1/email/suppressions', { email: 'gone@shop.example' })
    const good = Array.from({ length: 30 }, (_, i) => ({
      email: `r${i}@shop.example`,
      name: `R${i}`,
      variables: { code: i },
    }))
    const { status, body } = await ada.client.post('/v1/email/bulk', {
      from: message.from,
      subject: 'Hi {{name}}',
      html: '<p>{{code}} {{email}} <a href="{{unsubscribe_url}}">out</a></p>',
      recipients: [
        ...good,
        { email: 'bad@' },
        { email: 'R1@shop.example' },
        { email: 'gone@shop.example' },
        { name: 'x' },
      ],
      batch_size: 20,
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.total, body.accepted, body.rejected, body.suppressed, body.batches], [34, 30, 3, 1, 2])
    assert.equal(body.suppressed_recipients.length, 1)
    assert.match(body.suppressed_recipients[0].reason, /^[a-z_]+$/)
    assert.deepEqual(
      body.errors.map(({ index, code }: { index: number; code: string }) => [index, code]),
      [
        [30, 'INVALID_EMAIL'],
        [31, 'DUPLICATE_RECIPIENT'],
        [33, 'VALIDATION_ERROR'],
      ],
    )
    assert.equal(body.warnings.length, 1)
    const done = await eventually(async () => {
      const { body: bulk } = await ada.client.get(`/v1/email/bulk/${body.bulk_id}`)
      return bulk.status === 'completed' ? bulk : null
    }, 'the end of the bulk')
    assert.deepEqual([done.counts.delivered, done.batches_sent], [30, 2])
    const mail = await mailIn(ada, body.messages[7].message_id)
    assert.deepEqual([mail.subject, mail.to, /7 r7@shop\.example/.test(mail.html)], ['Hi R7', 'r7@shop.example', true])
    const { body: checks } = await ada.client.get(`/v1/sandbox/email/messages/${mail.id}/checks`)
    const names = checks.headers.map(({ name }: { name: string }) => name)
    assert.ok(
      ['List-Unsubscribe', 'List-Unsubscribe-Post', 'Precedence', 'Feedback-ID'].every((name) => names.includes(name)),
    )
    assert.deepEqual(await toldOf(ada, body.bulk_id), ['email.bulk_completed'])
  })

  test('a bulk that was cancelled or paused sends nothing more, and its price comes back', async () => {
    const ada = await world.account({ balance: 100 })
    const before = (await ada.client.get('/v1/wallet/balance')).body.balance
    const recipients = Array.from({ length: 5 }, (_, i) => ({ email: `r${i}@shop.example` }))
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await ada.client.post('/v1/email/bulk', {
      from: message.from,
      subject: 'x',
      html: 'x',
      recipients,
      scheduled_at: later,
    })
    assert.equal((await ada.client.post(`/v1/email/bulk/${body.bulk_id}/pause`)).body.status, 'paused')
    assert.equal((await ada.client.post(`/v1/email/bulk/${body.bulk_id}/resume`)).body.status, 'sending')
    const { body: cancelled } = await ada.client.post(`/v1/email/bulk/${body.bulk_id}/cancel`)
    assert.deepEqual([cancelled.status, cancelled.counts.failed], ['cancelled', 5])
    assert.equal((await ada.client.get('/v1/wallet/balance')).body.balance, before)
    const abort = await ada.client.post('/v1/email/bulk', {
      from: message.from,
      subject: 'x',
      html: 'x',
      recipients: [{ email: 'a@b.example' }, { email: 'x' }],
      on_error: 'abort',
    })
    assert.deepEqual([abort.status, abort.body.error.code], [422, 'VALIDATION_ERROR'])
    assert.equal(
      (
        await ada.client.post('/v1/email/bulk', {
          from: message.from,
          subject: 'x',
          html: 'x',
          recipients: [{ email: 'x' }],
        })
      ).status,
      422,
    )
  })
})

describe('figures and the tracking webhook', () => {
  test('analytics and events need an address that hears, and then count', async () => {
    const ada = await world.account({ balance: 100 })
    assert.equal((await ada.client.get('/v1/email/analytics?from=2026-13-01')).body.error.code, 'INVALID_DATE_RANGE')
    assert.equal(
      (await ada.client.get('/v1/email/analytics?from=2026-02-01&to=2026-01-01')).body.error.code,
      'INVALID_DATE_RANGE',
    )
    for (const path of ['/v1/email/analytics', '/v1/email/events', '/v1/email/tracking-webhook']) {
      const { status, body } = await ada.client.get(path)
      assert.deepEqual([status, body.error.code], [404, 'WEBHOOK_NOT_CONFIGURED'], path)
    }
    assert.equal(
      (await ada.client.put('/v1/email/tracking-webhook', { url: 'http://x.example' })).body.error.code,
      'INVALID_URL',
    )
    assert.equal(
      (await ada.client.put('/v1/email/tracking-webhook', { url: receiver.url('/t'), events: ['nothing'] })).body.error
        .code,
      'INVALID_EVENT',
    )
    const { status, body: set } = await ada.client.put('/v1/email/tracking-webhook', { url: receiver.url('/t') })
    assert.deepEqual([status, typeof set.secret, set.events], [200, 'string', ['email.*']], JSON.stringify(set))
    const { body: again } = await ada.client.put('/v1/email/tracking-webhook', {
      url: receiver.url('/t'),
      events: ['delivered'],
    })
    assert.deepEqual([again.id, again.secret, again.events], [set.id, undefined, ['email.delivered']])
    assert.deepEqual((await ada.client.get('/v1/webhooks')).body.data, [])
    assert.equal((await ada.client.get('/v1/webhooks?include=system')).body.data.length, 1)
    const id = await sendMail(ada, { tags: ['t1'] })
    await sendMail(ada, { to: 'bounce+1@shop.example' }).then((bounced) => settled(ada, bounced))
    await settled(ada, id)
    assert.equal(JSON.parse((await receiver.next('/t')).body).event, 'delivered')
    const { body } = await ada.client.get('/v1/email/analytics?group_by=tag')
    assert.deepEqual(
      [body.sent, body.delivered, body.bounced, body.deliverability_rate, body.open_rate],
      [2, 1, 1, 50, 0],
    )
    assert.deepEqual(
      body.series.map(({ key, sent }: { key: string | null; sent: number }) => [key, sent]),
      [
        ['t1', 1],
        [null, 1],
      ],
    )
    const { body: tagged } = await ada.client.get('/v1/email/events?tag=t1')
    assert.deepEqual(
      [...new Set(tagged.data.map((one: { payload: { message_id: string } }) => one.payload.message_id))],
      [id],
    )
    assert.deepEqual((await ada.client.get('/v1/email/events?tag=t2')).body.data, [])
    const { body: feed } = await ada.client.get(`/v1/email/${id}/events`)
    assert.deepEqual(
      feed.data.map(({ event }: { event: string }) => event),
      ['delivered', 'sent'],
    )
    for (const { event, payload } of feed.data) assert.equal(event, payload.event, 'the word of the webhook')
    assert.equal((await ada.client.delete('/v1/email/tracking-webhook')).status, 200)
    assert.equal((await ada.client.get('/v1/email/analytics')).status, 404)
  })
})

describe('an invoice', () => {
  test('is mailed with its PDF, and is sent only once it was', async () => {
    const ada = await world.account({ balance: 100 })
    const item = { description: 'Chai', unit_amount: 100 }
    const { body: invoice } = await ada.client.post('/v1/billing/invoices', {
      customer: { name: 'Juma' },
      currency: 'KES',
      items: [item],
    })
    const bad = await ada.client.post(`/v1/billing/invoices/${invoice.invoice_id}/send`, { email: 'juma' })
    assert.deepEqual([bad.status, bad.body.error?.code], [422, 'INVALID_EMAIL'], JSON.stringify(bad.body))
    const { status, body } = await ada.client.post(`/v1/billing/invoices/${invoice.invoice_id}/send`, {
      email: 'juma@shop.example',
    })
    assert.equal(status, 200, JSON.stringify(body))
    const { body: list } = await ada.client.get('/v1/email')
    const mail = await mailIn(ada, list.data[0].message_id)
    assert.match(mail.subject, /invoice/)
    assert.deepEqual([mail.attachments.length, mail.attachments[0].content_type], [1, 'application/pdf'])
    assert.equal((await toldOf(ada, invoice.invoice_id)).filter((event) => event === 'invoice.sent').length, 1)
  })
})

describe('a message on its way', () => {
  test('can be cancelled and moved while it waits, sent again, and read', async () => {
    const ada = await world.account({ balance: 100 })
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
    const id = await sendMail(ada, { scheduled_at: at(3_600) })
    assert.equal((await ada.client.patch(`/v1/email/${id}`, { scheduled_at: at(7_200) })).body.status, 'scheduled')
    const { body: cancelled } = await ada.client.post(`/v1/email/${id}/cancel`)
    assert.deepEqual([cancelled.status, cancelled.cost], ['cancelled', 0])
    assert.equal((await ada.client.post(`/v1/email/${id}/cancel`)).body.error.code, 'NOT_CANCELLABLE')
    assert.deepEqual(await toldOf(ada, id), ['email.cancelled'])
    const { body: sent } = await ada.client.post(`/v1/email/${id}/resend`, { to: 'juma@shop.example' })
    const mail = await mailIn(ada, sent.message_id)
    assert.deepEqual([mail.to, mail.subject], ['juma@shop.example', 'Habari'])
    const { body: html } = await ada.client.get(`/v1/email/${sent.message_id}/content?part=html`)
    assert.equal(html.content, '<p>Karibu</p>')
    const { body: raw } = await ada.client.get(`/v1/email/${sent.message_id}/content?part=raw`)
    assert.match(raw.content, /^DKIM-Signature: /)
    assert.ok((await verifyLedger(world.app.db)).ok)
  })

  test('is tried again after greylisting, and bounces when it has waited for 72 hours', async () => {
    const ada = await world.account({ balance: 100 })
    const grey = await sendMail(ada, { to: 'greylist+1@shop.example' })
    const full = await sendMail(ada, { to: 'bounce-soft+1@shop.example' })
    const waiting = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/email/${grey}`)
      return body.next_attempt_at ? body : null
    }, 'the first attempt')
    assert.deepEqual([waiting.status, /4\.7\.1/.test(waiting.reason)], ['sent', true])
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 70 })
    assert.equal((await settled(ada, grey)).attempts, 2)
    for (let i = 0; i < 14; i++) {
      const { body } = await ada.client.get(`/v1/email/${full}`)
      const attempts = body.attempts
      if (body.status === 'bounced') break
      await ada.client.post('/v1/sandbox/clock', { advance_seconds: 90_000 })
      await eventually(async () => {
        const { body: now } = await ada.client.get(`/v1/email/${full}`)
        return now.attempts > attempts || now.status === 'bounced'
      }, 'another attempt')
    }
    const record = await settled(ada, full)
    assert.deepEqual(
      [record.status, record.recipients[0].bounce_type, record.recipients[0].enhanced_code],
      ['bounced', 'soft', '4.2.2'],
    )
  })

  test('is not sent once its time is over, and is not charged if no server was asked', async () => {
    const ada = await world.account({ balance: 100 })
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const id = await sendMail(ada, { scheduled_at: inAnHour, ttl: 60 })
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 7_200 })
    const { status, cost, recipients } = await settled(ada, id)
    assert.deepEqual([status, cost, recipients[0].bounce_type], ['bounced', 0, 'soft'])
    assert.deepEqual(await toldOf(ada, id), ['email.bounced'])
    assert.deepEqual((await ada.client.get('/v1/sandbox/email/messages')).body.data, [])
    assert.ok((await verifyLedger(world.app.db)).ok)
  })

  test('finds servers without TLS, with broken TLS, that reset after the content, and no server at all', async () => {
    const ada = await world.account({ balance: 100 })
    const [notls, badtls, drop, gone] = await Promise.all([
      sendMail(ada, { to: 'notls+1@shop.example' }),
      sendMail(ada, { to: 'badtls+1@shop.example' }),
      sendMail(ada, { to: 'drop+1@shop.example' }),
      sendMail(ada, { to: 'amina@nothing.invalid' }),
    ])
    assert.equal((await settled(ada, notls)).recipients[0].tls, null)
    assert.equal((await settled(ada, badtls)).recipients[0].tls, null)
    const { status, reason } = await settled(ada, gone)
    assert.deepEqual([status, /does not exist/.test(reason)], ['bounced', true])
    const dropped = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/email/${drop}`)
      return body.next_attempt_at ? body : null
    }, 'the dropped message')
    assert.equal(dropped.status, 'sent')
  })
})
