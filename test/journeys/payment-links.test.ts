// SPDX-License-Identifier: Apache-2.0
// Links at which anybody pays: shared with many, or the checkout of one order, without an invoice.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Client, Reply } from '../client.ts'
import { startMarket } from '../market.ts'
import { type Account, eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.05)

const shirt = { amount: 500, currency: 'KES', description: 'Football shirt' }
const visa = { method: 'card', number: '4242 4242 4242 4242', expiry: '12/40', cvv: '123' }
const pays = { method: 'mobile_money', phone: '0700 000 001' }
const neverAnswers = { method: 'mobile_money', phone: '0700 000 003' }

async function linkOf({ client }: Pick<Account, 'client'>, change: object = {}) {
  const { body, status, text } = await client.post('/v1/payments/links', { ...shirt, ...change })
  assert.equal(status, 201, text)
  return { ...body, path: new URL(body.url).pathname }
}

function submit(client: Client, path: string, fields: Record<string, string>): Promise<Reply> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return client.request('POST', path, { raw: new URLSearchParams(fields).toString(), headers })
}

/** Sends a form that must be taken; gives the page that follows the payment. */
async function begin(path: string, fields: Record<string, string>): Promise<string> {
  const { status, headers, text } = await submit(world.stranger, path, fields)
  assert.equal(status, 303, text)
  return headers.location ?? ''
}

async function over(page: string): Promise<Reply> {
  const found = async () => {
    const reply = await world.stranger.get(page)
    return reply.status === 303 || !reply.text.includes('http-equiv="refresh"') ? reply : null
  }
  return eventually(found, 'the page to say how it went', 60_000)
}

test('anybody who has the link pays over it, as often as somebody does, and each is told', async () => {
  const ada = await world.account()
  await ada.client.patch('/v1/account', { settings: { brand_color: '#0a7d33' } })
  await ada.client.post('/v1/webhooks', { url: receiver.url('/link'), events: ['payment_link.paid'] })
  const link = await linkOf(ada, { metadata: { product: 'shirt' } })
  assert.match(link.payment_link_id, /^plink_/)
  assert.deepEqual(
    [link.status, link.uses, link.max_uses, link.amount_collected, link.payment_methods],
    ['active', 0, null, 0, null],
  )
  const page = await world.stranger.get(link.path)
  assert.equal(page.status, 200)
  for (const part of ['Ada', 'Football shirt', 'KES\u00a0500.00', 'M-Pesa', 'This is a test', '…0001', '#0a7d33'])
    assert.ok(page.text.includes(part), part)
  assert.ok(!/<script|javascript:|https?:\/\//i.test(page.text), 'nothing is run or fetched from elsewhere')

  const done = await over(await begin(link.path, pays))
  assert.match(done.text, /Paid, thank you/)
  assert.match(done.text, /href="\/r\/[^"]+">Your receipt</)
  const first = JSON.parse((await receiver.next('/link')).body)
  assert.deepEqual(
    [first.event, first.payment_link_id, first.amount, first.uses, first.over_limit, first.metadata, first.sequence],
    ['payment_link.paid', link.payment_link_id, 500, 1, false, { product: 'shirt' }, 1],
  )
  const { body: payment } = await ada.client.get(`/v1/payments/${first.payment_id}`)
  assert.deepEqual(
    [payment.status, payment.payment_link_id, payment.description, payment.metadata],
    ['completed', link.payment_link_id, 'Football shirt', { product: 'shirt' }],
  )
  // The same phone again: it has paid, and is asked anew.
  await over(await begin(link.path, pays))
  await over(await begin(link.path, visa))
  const { body: after } = await ada.client.get(`/v1/payments/links/${link.payment_link_id}`)
  assert.deepEqual([after.status, after.uses, after.amount_collected], ['active', 3, 1500])
})

test('a form that is sent twice, or a phone that has not answered, is one payment', async () => {
  const ada = await world.account()
  const { path } = await linkOf(ada)
  const { text } = await world.stranger.get(path)
  const [, once = ''] = /name="once" value="([^"]+)"/.exec(text) ?? []
  assert.match(once, /^[A-Za-z0-9_-]{16}$/)
  const both = await Promise.all([begin(path, { ...visa, once }), begin(path, { ...visa, once })])
  assert.equal(new Set(both).size, 1)
  assert.notEqual(await begin(path, { ...visa, once: 'another' }), both[0], 'another payer')
  const waiting = await begin(path, neverAnswers)
  assert.equal(await begin(path, { ...neverAnswers, once: 'again' }), waiting)
  assert.equal((await ada.client.get('/v1/payments/transactions')).body.data.length, 3)
})

test('a checkout is paid once, and its payer goes back to the shop, which can trust what it brings', async () => {
  const ada = await world.account()
  const { body: secret } = await ada.client.get('/v1/webhooks/callback-secret')
  const redirect_url = 'https://shop.example.com/thanks?order=77'
  const { path, payment_link_id } = await linkOf(ada, { max_uses: 1, redirect_url })
  const refused = await submit(world.stranger, path, { ...visa, number: '4000000000000002' })
  assert.equal(refused.status, 402, refused.text)
  assert.match(refused.text, /Your bank declined the card/)
  const landed = await over(await begin(path, visa))
  const there = new URL(landed.headers.location ?? '')
  assert.equal(`${there.origin}${there.pathname}`, 'https://shop.example.com/thanks')
  const { payment_id = '', status, sig, order } = Object.fromEntries(there.searchParams)
  const expected = createHmac('sha256', secret.secret).update(`${payment_id}.completed`).digest('hex')
  assert.deepEqual([order, status, sig], ['77', 'completed', expected])
  const followed = `${path}/${payment_id}`
  const site = (value: string) => world.stranger.get(followed, { headers: { 'sec-fetch-site': value } })
  assert.equal((await site('same-origin')).status, 303)
  for (const elsewhere of ['none', 'cross-site']) {
    const shown = await site(elsewhere)
    assert.equal(shown.status, 200, 'a test key leads no browser from here to anywhere')
    assert.match(shown.text, /href="https:\/\/shop\.example\.com\/thanks/)
  }
  const { body: link } = await ada.client.get(`/v1/payments/links/${payment_link_id}`)
  assert.deepEqual([link.status, link.uses], ['completed', 1])
  const page = await world.stranger.get(path)
  assert.match(page.text, /It was paid already/)
  assert.ok(!page.text.includes('<form'))
  const late = await submit(world.stranger, path, visa)
  assert.deepEqual([late.status, late.headers.location], [303, path])
  assert.equal((await ada.client.get('/v1/payments/transactions?status=completed')).body.data.length, 1)
})

test('no more begin to pay than the link takes, and money that comes over it all the same is said to be', async () => {
  const ada = await world.account()
  const { path, payment_link_id } = await linkOf(ada, { max_uses: 1 })
  const transfer = await begin(path, { method: 'bank_transfer' })
  const account = await eventually(async () => {
    const { text } = await world.stranger.get(transfer)
    return /<strong dir="ltr">(\d+)</.exec(text)?.[1] ?? null
  }, 'the account to pay into')
  const waiting = await begin(path, neverAnswers)
  const busy = await submit(world.stranger, path, visa)
  assert.equal(busy.status, 409)
  assert.match(busy.text, /A payment is in progress/)
  await over(waiting)
  await over(await begin(path, visa))
  const paid = await ada.client.post('/v1/sandbox/bank/credit', { account_number: account, amount: 500 })
  assert.ok(paid.status < 300, paid.text)
  await over(transfer)
  const events = await eventually(async () => {
    const { body } = await ada.client.get('/v1/events?event=payment_link.paid&order=asc')
    return body.data.length === 2 ? body.data : null
  }, 'both to be told')
  assert.deepEqual(
    events.map(({ payload }: { payload: { uses: number; over_limit: boolean } }) => [payload.uses, payload.over_limit]),
    [
      [1, false],
      [2, true],
    ],
  )
  const { body: link } = await ada.client.get(`/v1/payments/links/${payment_link_id}`)
  assert.deepEqual([link.status, link.uses, link.amount_collected], ['completed', 2, 1000])
})

test('a link closes by its time, by hand and with its account; lists are narrowed by how it stands', async () => {
  const ada = await world.account()
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const soon = await linkOf(ada, { expires_at })
  const closed = await linkOf(ada)
  const stays = await linkOf(ada, { payment_methods: ['Card', 'card'] })
  assert.deepEqual(stays.payment_methods, ['card'])
  const text = (await world.stranger.get(stays.path)).text
  assert.ok(text.includes('Card number') && !text.includes('Bank transfer') && !text.includes('M-Pesa'))
  assert.equal((await submit(world.stranger, stays.path, pays)).status, 422)

  for (const times of [1, 2]) {
    const { body } = await ada.client.post(`/v1/payments/links/${closed.payment_link_id}/deactivate`, {})
    assert.deepEqual([body.status, typeof body.deactivated_at], ['inactive', 'string'], String(times))
  }
  assert.match((await world.stranger.get(closed.path)).text, /The link was closed/)
  assert.equal((await submit(world.stranger, closed.path, pays)).headers.location, closed.path)
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3_601 })
  assert.match((await world.stranger.get(soon.path)).text, /The payment link has expired/)
  assert.match((await world.stranger.get(`${soon.path}?lang=fr`)).text, /Le délai de paiement est passé/)
  for (const [status, link] of [
    ['expired', soon],
    ['inactive', closed],
    ['active', stays],
  ] as const) {
    const { body } = await ada.client.get(`/v1/payments/links?status=${status}`)
    assert.deepEqual(
      body.data.map((row: { payment_link_id: string; status: string }) => [row.payment_link_id, row.status]),
      [[link.payment_link_id, status]],
    )
  }
  assert.equal((await ada.client.get('/v1/payments/transactions')).body.data.length, 0)
})

test('what cannot be a link is refused with the reason, and nothing is kept of it', async () => {
  const ada = await world.account()
  for (const [change, status, code, field] of [
    [{ amount: 0 }, 422, 'VALIDATION_ERROR', 'amount'],
    [{ amount: 0.005 }, 422, 'VALIDATION_ERROR', 'amount'],
    [{ currency: 'XXX' }, 422, 'UNSUPPORTED_CURRENCY', null],
    [{ description: '' }, 422, 'VALIDATION_ERROR', 'description'],
    [{ description: 'Card 4242424242424242' }, 422, 'VALIDATION_ERROR', 'description'],
    [{ payment_methods: ['cash'] }, 422, 'VALIDATION_ERROR', 'payment_methods[0]'],
    [{ payment_methods: ['mobile_money'], amount: 9_000_000 }, 422, 'UNSUPPORTED_METHOD', null],
    [{ max_uses: 0 }, 422, 'VALIDATION_ERROR', 'max_uses'],
    [{ max_uses: 100_001 }, 422, 'VALIDATION_ERROR', 'max_uses'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 422, 'VALIDATION_ERROR', 'expires_at'],
    [{ expires_at: '2040-01-01T00:00:00Z' }, 422, 'VALIDATION_ERROR', 'expires_at'],
    [{ redirect_url: 'javascript:alert(1)' }, 400, 'INVALID_URL', null],
    [{ redirect_url: 'http://shop.example.com/' }, 400, 'INVALID_URL', null],
  ] as const) {
    const reply = await ada.client.post('/v1/payments/links', { ...shirt, ...change })
    assert.deepEqual([reply.status, reply.body.error?.code], [status, code], `${JSON.stringify(change)} ${reply.text}`)
    if (field !== null) assert.equal(reply.body.error.fields[0].field, field)
  }
  assert.deepEqual((await ada.client.get('/v1/payments/links')).body.data, [])
})

test('an address that is none shows nothing, nor does somebody else’s payment; other accounts see no link', async () => {
  const ada = await world.account()
  const link = await linkOf(ada)
  const other = await linkOf(ada)
  const page = await begin(other.path, neverAnswers)
  const payment = page.split('/').at(-1)
  for (const there of ['/link/x', '/link/AAAAAAAAAAAAAAAAAAAAAAA', `${link.path}/x`, `${link.path}/${payment}`]) {
    const { status, text } = await world.stranger.get(there)
    assert.equal(status, 404, there)
    assert.match(text, /There is nothing to pay under this address/)
  }
  assert.equal((await submit(world.stranger, '/link/AAAAAAAAAAAAAAAAAAAAAAA', visa)).status, 404)
  const json = await world.stranger.request('POST', link.path, {
    raw: '{}',
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(json.status, 415)
  const bob = await world.account()
  for (const id of [link.payment_link_id, 'plink_x', payment])
    assert.equal((await bob.client.get(`/v1/payments/links/${id}`)).status, 404)
  assert.equal((await bob.client.post(`/v1/payments/links/${link.payment_link_id}/deactivate`, {})).status, 404)
  assert.deepEqual((await bob.client.get('/v1/payments/links')).body.data, [])
})
