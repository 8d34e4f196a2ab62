// SPDX-License-Identifier: Apache-2.0
// Mail that nobody asked for by the email routes: invoices, bills of subscriptions, receipts, notices to owners. And what operators and
// domains need in the long run: keys that are rotated, a relay that tells what became of mail.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { keepOwner } from '../../src/areas/accounts/members/first-member.ts'
import { reminderChore } from '../../src/areas/accounts/reminders.ts'
import { watchBalances } from '../../src/areas/wallet/low-balance.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { lookInto } from '../looking.ts'
import { mailIn, sendMail, settled, toldOf } from '../mailing.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, doChores, eventually, startWorld, tenantOf, type World } from '../world.ts'

const hookToken = 'relay-token-of-24-letters'
let world: World
let receiver: Receiver

before(async () => {
  world = await startWorld({ PAMOJA_MAIL_HOOK_TOKEN: hookToken })
  receiver = await startReceiver()
  receiver.answer((_request, response) => void response.writeHead(410).end())
})
after(async () => {
  await receiver.stop()
  await world.stop()
})

/** The mail of an account whose subject says so. */
async function mailAbout({ client }: Account, subject: RegExp) {
  const found = await eventually(async () => {
    const { body } = await client.get('/v1/sandbox/email/messages')
    return body.data.find((one: { subject: string }) => subject.test(one.subject)) ?? null
  }, `mail about ${subject}`)
  return (await client.get(`/v1/sandbox/email/messages/${found.id}`)).body
}

const items = [{ description: 'Chai', unit_amount: 100 }]

describe('invoices', () => {
  test('one that was mailed has its receipt mailed to the same address once it is paid', async () => {
    const ada = await world.account({ balance: 100 })
    const customer = { name: 'Juma', email: 'juma@shop.example' }
    const { body: invoice } = await ada.client.post('/v1/billing/invoices', { customer, currency: 'KES', items })
    const path = `/v1/billing/invoices/${invoice.invoice_id}`
    assert.equal((await ada.client.post(`${path}/send`, { email: 'accounts@shop.example' })).status, 200)
    assert.equal((await mailAbout(ada, /: invoice /)).to, 'accounts@shop.example')
    await ada.client.post(`${path}/pay`, { phone_number: '+254700000001' })
    const receipt = await mailAbout(ada, /receipt for invoice/)
    assert.deepEqual(
      [receipt.to, receipt.attachments[0].content_type, /is paid/.test(receipt.html)],
      ['accounts@shop.example', 'application/pdf', true],
    )
    const { body: mails } = await ada.client.get('/v1/email')
    assert.equal(mails.data.length, 2)
  })

  test('a subscription that is paid by invoice has its bill mailed to the customer', async () => {
    const ada = await world.account({ balance: 100 })
    const plan = { name: 'Chai', amount: 100, currency: 'KES', interval: 'month' }
    const { body: made } = await ada.client.post('/v1/billing/plans', plan)
    const customer = { name: 'Juma', email: 'juma@shop.example' }
    const { status, text } = await ada.client.post('/v1/billing/subscriptions', { plan_id: made.plan_id, customer })
    assert.equal(status, 201, text)
    const bill = await mailAbout(ada, /: invoice /)
    assert.deepEqual([bill.to, bill.attachments.length], ['juma@shop.example', 1])
    const told = async () =>
      (await ada.client.get('/v1/events?limit=50&order=asc')).body.data
        .map(({ event }: { event: string }) => event)
        .filter((event: string) => event.startsWith('invoice.'))
    await eventually(async () => (await told()).length === 2, 'the event')
    assert.deepEqual(await told(), ['invoice.opened', 'invoice.sent'])
  })

  test('where there is no address that mail could come from, that is said, and nobody is told that it was sent', async () => {
    const ada = await world.account()
    const { body: live } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    const client = world.stranger.as(live.key)
    const customer = { name: 'Juma' }
    const { body: invoice } = await client.post('/v1/billing/invoices', { customer, currency: 'KES', items })
    const refused = await client.post(`/v1/billing/invoices/${invoice.invoice_id}/send`, { email: 'juma@shop.example' })
    assert.deepEqual([refused.status, refused.body.error?.code], [422, 'MAIL_NOT_CONFIGURED'], refused.text)
    const { body: events } = await client.get('/v1/events?event=invoice.sent')
    assert.deepEqual(events.data, [])
    const { body: now } = await client.get(`/v1/billing/invoices/${invoice.invoice_id}`)
    assert.deepEqual([now.status, now.sent_at], ['open', null])
  })
})

describe('owners are told by mail, at nobody’s cost,', () => {
  let ada: Account
  before(async () => {
    ada = await world.account({ balance: 100 })
    await keepOwner(world.app, tenantOf(ada).account, 'owner@shop.example')
  })

  test('of a wallet that is low', async () => {
    await ada.client.patch('/v1/account', { settings: { low_balance_threshold: 200 } })
    await Promise.all([watchBalances(world.app), watchBalances(world.app)])
    const mail = await mailAbout(ada, /wallet is low/)
    assert.deepEqual([mail.to, /below 200/.test(mail.html)], ['owner@shop.example', true])
    assert.equal((await ada.client.get('/v1/wallet/balance')).body.balance, 100)
  })

  test('of a webhook that was disabled', async () => {
    await ada.client.post('/v1/webhooks', { url: receiver.url('/gone'), events: ['*'] })
    await ada.client.post('/v1/notes', { text: 'anybody there' })
    const mail = await mailAbout(ada, /webhook was disabled/)
    assert.ok(mail.html.includes(receiver.url('/gone')), mail.html)
  })

  test('of a key that should be replaced', async (t) => {
    const sql = lookInto(world)
    await sql.connect()
    t.after(() => sql.end())
    await sql.query(`update accounts.api_keys set created_at = now() - interval '91 days' where account_id = $1`, [
      uuidOf('account', ada.id),
    ])
    await doChores(world.app, [reminderChore])
    assert.match((await mailAbout(ada, /key should be replaced/)).html, /Rotate it/)
  })
})

describe('keys of a domain', () => {
  test('are rotated: the old ones sign until the new ones are found, and stay published for a week', async () => {
    const ada = await world.account({ balance: 100 })
    const path = '/v1/email/domains/soko.example'
    await ada.client.post('/v1/email/domains', { domain: 'soko.example' })
    await ada.client.post(`${path}/verify`)
    const { status, body: rotated } = await ada.client.post(`${path}/rotate-dkim`)
    assert.deepEqual([status, rotated.dkim_selector, rotated.status], [200, 'pj2', 'verified'], JSON.stringify(rotated))
    const selectors = async () => {
      const mail = await mailIn(ada, await sendMail(ada, { from: 'a@soko.example' }))
      const { body } = await ada.client.get(`/v1/sandbox/email/messages/${mail.id}/checks`)
      return body.dkim.map(({ result, selector }: { result: string; selector: string }) => `${selector} ${result}`)
    }
    assert.deepEqual(await selectors(), ['pj1 pass', 'pj1e pass'])
    assert.equal((await ada.client.post(`${path}/rotate-dkim`)).body.error.code, 'CONFLICT')
    const names = (body: { records: { name: string }[] }) => body.records.map(({ name }) => name)
    const { body: found } = await ada.client.post(`${path}/verify`)
    assert.ok(names(found).includes('pj1._domainkey.soko.example') && found.status === 'verified')
    assert.deepEqual(await selectors(), ['pj2 pass', 'pj2e pass'])
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 8 * 86_400 })
    const { body: later } = await ada.client.post(`${path}/verify`)
    assert.ok(!names(later).includes('pj1._domainkey.soko.example'), JSON.stringify(names(later)))
    assert.equal(
      (await ada.client.post('/v1/email/domains/none.example/rotate-dkim')).body.error.code,
      'DOMAIN_NOT_FOUND',
    )
  })
})

describe('a relay that tells what became of mail', () => {
  const tell = (token: string, body: unknown) => world.stranger.post(`/hooks/inbound/email/${token}`, body)

  test('is believed about mail that left from here, and about nothing else', async () => {
    const ada = await world.account({ balance: 100 })
    const [bounced, complained, left] = await Promise.all([
      sendMail(ada, { to: 'bounced@shop.example' }),
      sendMail(ada, { to: 'complained@shop.example' }),
      sendMail(ada, { to: 'left@shop.example' }),
    ])
    for (const event of ['email.spam', 'email.complained']) {
      const url = receiver.url(event.replace('email.', '/'))
      assert.equal((await ada.client.post('/v1/webhooks', { url, events: [event] })).status, 201)
    }
    const pathOf = async (id: string) => (await mailIn(ada, id)).envelope_from
    await settled(ada, bounced)
    const events = [
      { event: 'bounced', return_path: await pathOf(bounced), status: '5.1.1', diagnostic: '550 5.1.1 unknown' },
      { event: 'complained', return_path: await pathOf(complained), feedback_type: 'abuse' },
      { event: 'unsubscribed', return_path: await pathOf(left) },
      { event: 'bounced', return_path: `b+${'a'.repeat(61)}@rp.sandbox.pamoja.test`, status: '5.1.1' },
    ]
    const { status, body } = await tell(hookToken, { events })
    assert.deepEqual([status, body.accepted, body.ignored], [200, 3, 1], JSON.stringify(body))
    assert.ok((await toldOf(ada, complained)).includes('email.complained'))
    assert.ok((await toldOf(ada, left)).includes('email.unsubscribed'))
    for (const [path, event] of [
      ['/spam', 'spam'],
      ['/complained', 'complained'],
    ] as const) {
      const heard = JSON.parse((await receiver.next(path)).body)
      assert.deepEqual([heard.event, heard.type, heard.message_id], [event, `email.${event}`, complained])
    }
    const { body: suppressed } = await ada.client.get('/v1/email/suppressions')
    const reasons = suppressed.data.map(({ email, reason }: { email: string; reason: string }) => `${email} ${reason}`)
    for (const one of ['complained@shop.example complaint', 'left@shop.example unsubscribe'])
      assert.ok(reasons.includes(one), reasons.join())
  })

  test('has to know the token, and to say something that can be read', async () => {
    assert.equal((await tell('another-token-of-24-letters', { events: [] })).status, 404)
    assert.equal((await tell(hookToken, { events: [{ event: 'eaten' }] })).body.error.code, 'INVALID_REQUEST')
    assert.equal((await tell(hookToken, [1])).body.error.code, 'INVALID_REQUEST')
  })
})
