// SPDX-License-Identifier: Apache-2.0
// The pages as people use them: they read, fill in and press. What becomes of it is asked of the API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tab } from '../browser.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.05)

async function portalOf(client: Client, session: object = {}): Promise<Tab> {
  const { body } = await client.post('/v1/webhooks/portal-session', session)
  return Tab.open(world.stranger, body.url)
}

async function invoiceOf(client: Client): Promise<string> {
  const { body, status, text } = await client.post('/v1/billing/invoices', {
    customer: { name: 'Asha' },
    currency: 'KES',
    items: [{ description: 'Setup', unit_amount: 1500 }],
    send: true,
  })
  assert.equal(status, 201, text)
  return body.hosted_url
}

test('in the portal an endpoint is added, tested, changed, given a new secret, disabled and deleted', async () => {
  const { client } = await world.account()
  const tab = await portalOf(client)
  await tab.says(/No endpoints yet/)
  await tab.press('Add endpoint')
  tab.fill('URL', receiver.url('/portal'))
  await tab.press('Save')
  await tab.says(/events is empty/)
  assert.equal((await client.get('/v1/webhooks')).body.data.length, 0, 'one without events is not taken')
  tab.fill('payment.*', true)
  await tab.press('Save')
  const secret = (await tab.says(/shown this once: whsec_\S+/)).split(' ').at(-1) ?? ''
  const [added] = (await client.get('/v1/webhooks')).body.data
  assert.deepEqual([added.url, added.events, added.enabled], [receiver.url('/portal'), ['payment.*'], true])

  await tab.press('Send a test')
  await tab.says(/payment\.\w+: delivered, answered 200/)
  await receiver.next('/portal')

  await tab.press('Edit')
  tab.fill('Description', 'Orders')
  await tab.press('Save')
  await tab.says(/Saved\..*Orders/)
  assert.equal((await client.get(`/v1/webhooks/${added.id}`)).body.description, 'Orders')

  await tab.press('New secret')
  await tab.press('Cancel')
  await tab.press('New secret')
  await tab.press('Rotate secret')
  const next = (await tab.says(/new secret, shown this once: whsec_\S+/)).split(' ').at(-1)
  assert.notEqual(next, secret)

  await tab.press('Disable')
  await tab.says(/Saved\..*Enable/)
  assert.equal((await client.get(`/v1/webhooks/${added.id}`)).body.enabled, false)
  await tab.press('Delete')
  await tab.press('Delete')
  await tab.says(/No endpoints yet/)
  assert.equal((await client.get(`/v1/webhooks/${added.id}`)).status, 404)
  await tab.close()
})

test('in the portal a delivery is looked at, and sent again', async () => {
  const { client } = await world.account()
  const made = await client.post('/v1/webhooks', { url: receiver.url('/again'), events: ['payment.created'] })
  assert.equal(made.status, 201, made.text)
  await client.post('/v1/payments', { amount: 100, currency: 'KES', phone: '+254700000001' })
  const { body } = await receiver.next('/again')
  const tab = await portalOf(client)
  await tab.says(/1 delivered in 24 hours/)
  await tab.press('Deliveries')
  await tab.says(/payment\.created/)
  await tab.press('Show')
  await tab.says(/webhook-signature: v1,/)
  await tab.press('Send again')
  await tab.says(/on its way again/)
  assert.equal(JSON.parse((await receiver.next('/again')).body).event_id, JSON.parse(body).event_id)
  await tab.close()
})

test('the portal of a session that only looks has nothing to press, and one that is over says so', async () => {
  const { client } = await world.account()
  await client.post('/v1/webhooks', { url: receiver.url('/seen'), events: ['*'] })
  const tab = await portalOf(client, { read_only: true })
  await tab.says(/\/seen/)
  for (const words of ['Add endpoint', 'Send a test', 'Edit', 'New secret', 'Disable', 'Delete'])
    assert.equal(tab.has(words), false, words)
  assert.equal(tab.has('Deliveries'), true)
  await tab.close()
  const over = await Tab.open(world.stranger, `${world.node.url}/portal/webhooks#nothing`)
  await over.says(/This page has expired/)
  await over.close()
})

test('what an API says is text on the portal, whatever it looks like', async () => {
  const { client } = await world.account()
  const description = '<img src=x onerror=alert(1)><script>alert(2)</script>'
  await client.post('/v1/webhooks', { url: receiver.url('/evil'), events: ['*'], description })
  const tab = await portalOf(client)
  await tab.says(/<img src=x onerror=alert\(1\)>/)
  await tab.close()
})

test('an invoice is paid by phone, on a page that follows by itself', async () => {
  const { client } = await world.account()
  const tab = await Tab.open(world.stranger, await invoiceOf(client))
  tab.fill('Phone number', '0700 000 001')
  await tab.press('Pay KES 1,500.00')
  assert.equal(tab.status, 200)
  await tab.says(/Paid, thank you.*Receipt \w+/, { reloading: true })
  await tab.press('Back to the invoice')
  assert.match(tab.text, /Nothing more is due/)
  await tab.close()
})

test('a card that is refused is said beside its form, and the next one goes by the bank', async () => {
  const { client } = await world.account()
  const tab = await Tab.open(world.stranger, await invoiceOf(client))
  const card = (number: string) => {
    tab.fill('Card number', number)
    tab.fill('Month and year', '12/40')
    tab.fill('Security code', '123')
    return tab.press('Pay KES 1,500.00 by card')
  }
  await card('1234 5678 9012')
  assert.equal(tab.status, 422)
  assert.match(tab.text, /Card Check the number/)
  await card('4000 0000 0000 3220')
  assert.match(tab.text, /Is it you who pays.*KES 1,500\.00/)
  await tab.press('Approve')
  await tab.says(/Paid, thank you/, { reloading: true })
  const { body } = await client.get('/v1/payments/transactions')
  assert.deepEqual(
    body.data.map(({ status }: { status: string }) => status),
    ['completed'],
  )
  await tab.close()
})

test('a payer who fails the bank’s question has not paid, and may try again', async () => {
  const { client } = await world.account()
  const url = await invoiceOf(client)
  const tab = await Tab.open(world.stranger, url)
  tab.fill('Card number', '4000000000003220')
  tab.fill('Month and year', '12/40')
  tab.fill('Security code', '123')
  await tab.press('Pay KES 1,500.00 by card')
  await tab.press('Fail')
  await tab.says(/It was not paid/, { reloading: true })
  await tab.press('Try again')
  assert.equal(tab.url.href, url)
  assert.ok(tab.has('Pay KES 1,500.00'))
  await tab.close()
})

test('an invoice is paid by bank transfer: the page says where to, and when it came', async () => {
  const { client } = await world.account()
  const tab = await Tab.open(world.stranger, await invoiceOf(client))
  await tab.press('Show me where to transfer')
  await tab.says(/Pay into this account.*KES 1,500\.00/, { reloading: true })
  const account_number = /Account ?(\d+)/.exec(tab.text)?.[1]
  const credited = await client.post('/v1/sandbox/bank/credit', { account_number, amount: 1500 })
  assert.equal(credited.body.success, true, credited.text)
  await tab.says(/Paid, thank you/, { reloading: true })
  await tab.close()
})

test('a receipt is read in the way its reader writes', async () => {
  const { client } = await world.account()
  await client.patch('/v1/account', { timezone: 'Africa/Nairobi' })
  const asked = await client.post('/v1/payments', { amount: 12345.5, currency: 'KES', phone: '+254733000001' })
  assert.equal(asked.status, 201, asked.text)
  const paid = await eventually(async () => {
    const { body } = await client.get(`/v1/payments/${asked.body.payment_id}?wait=30`)
    return body.status === 'completed' && body
  }, 'the payment')
  const { pathname } = new URL(paid.receipt_url)
  for (const [language, amount] of [
    ['en-KE,en;q=0.9', 'KES\u00a012,345.50'],
    ['fr-CI', '12\u202f345,50\u00a0KES'],
    ['ar-EG', '12,345.50'],
    ['', 'KES\u00a012,345.50'],
    ['*', 'KES\u00a012,345.50'],
    [`xx-${'y'.repeat(500)}, -, en--`, 'KES\u00a012,345.50'],
  ] as const) {
    const { text, status } = await world.stranger.get(pathname, { headers: { 'accept-language': language } })
    assert.equal(status, 200, language)
    assert.ok(text.includes(amount), `${language}: ${text.slice(-900)}`)
    if (language.startsWith('en')) assert.match(text, /GMT\+3|EAT/, 'at the clock of the account')
  }
})

test('a page that is not there says so to people, and its styles are its own', async () => {
  for (const path of ['/pay/x', '/link/x', '/r/x', '/go/x', '/o/x']) {
    const { status, text, headers } = await world.stranger.get(path)
    assert.equal(status, 404, path)
    assert.match(headers['content-type'] ?? '', /text\/html/, path)
    assert.match(text, /<h1>No such page<\/h1>/, path)
    assert.match(headers['content-security-policy'] ?? '', /default-src 'none'; style-src 'sha256-[\w+/]+=*'/, path)
    assert.equal(headers['x-robots-tag'], 'noindex', path)
  }
})
