// SPDX-License-Identifier: Apache-2.0
// An invoice as its payer meets it: a page that any phone can show, a form, a page that follows the payment, and a PDF.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { payUrl } from '../../src/areas/billing/invoices/invoice.ts'
import { pdfOf } from '../../src/areas/billing/invoices/pdf.ts'
import { renderInvoice } from '../../src/areas/billing/invoices/render.ts'
import { findInvoice, type InvoiceRow } from '../../src/areas/billing/invoices/store.ts'
import { readBarcodes } from '../../src/areas/identity/engines/barcodes.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { one } from '../../src/platform/db.ts'
import { plain } from '../../src/platform/paper/sheet.ts'
import type { Client, Reply } from '../client.ts'
import { startMarket } from '../market.ts'
import { type Account, eventually, startWorld, tenantOf } from '../world.ts'

const { world, receiver } = await startMarket(0.05)

const maxPageBytes = 30 * 1_024
const work = {
  customer: { name: 'Asha' },
  currency: 'KES',
  items: [{ description: 'Setup', quantity: 2, unit_amount: 1500, tax_rate: 16 }],
  send: true,
}

interface Sent {
  invoice_id: string
  number: string
  /** Of the page. */
  path: string
}

async function sentInvoice({ client }: Pick<Account, 'client'>, change: object = {}): Promise<Sent> {
  const { body, status, text } = await client.post('/v1/billing/invoices', { ...work, ...change })
  assert.equal(status, 201, text)
  return { ...body, path: new URL(body.hosted_url).pathname }
}

function submit(client: Client, path: string, fields: Record<string, string>): Promise<Reply> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return client.request('POST', path, { raw: new URLSearchParams(fields).toString(), headers })
}

async function rowOf({ id }: Pick<Account, 'id'>, invoice: string): Promise<InvoiceRow> {
  const tenant = tenantOf({ id })
  return one(world.app.db.query(findInvoice, { ...tenant, id: uuidOf('invoice', invoice) ?? '' }))
}

test('whoever has the address sees the invoice and pays it by phone, without scripts', async () => {
  const account = await world.account()
  const { client } = account
  const events = ['invoice.payment_succeeded']
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/paid'), events })
  const { path, number, invoice_id } = await sentInvoice(account)
  const page = await world.stranger.get(path)
  assert.equal(page.status, 200)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'.*frame-ancestors 'none'/)
  assert.deepEqual(
    [page.headers['cache-control'], page.headers['referrer-policy'], page.headers['x-robots-tag']],
    ['no-store', 'no-referrer', 'noindex'],
  )
  for (const part of [
    'Ada',
    number,
    'Asha',
    'Setup',
    '2 × KES\u00a01,500.00',
    'KES\u00a03,480.00',
    'M-Pesa',
    'Airtel Money',
    'This is a test',
    '…0001',
    '4242 × 4',
  ])
    assert.ok(page.text.includes(part), part)
  assert.ok(
    !/<script|javascript:|https?:\/\//i.test(page.text),
    'nothing is run, and nothing is fetched from elsewhere',
  )

  // As people write their number.
  const sent = await submit(world.stranger, path, { phone: '0700 000 001', provider: '' })
  assert.equal(sent.status, 303, sent.text)
  const status = sent.headers.location ?? ''
  assert.match(status, /^\/pay\/[A-Za-z0-9_-]{23}\/pay_[0-9a-z]{26}$/)
  const waiting = await world.stranger.get(status)
  assert.equal(waiting.status, 200)
  const done = await eventually(
    async () => {
      const { text } = await world.stranger.get(status)
      if (!text.includes('http-equiv="refresh"')) return text
      assert.match(text, /Look at your phone/)
      assert.match(text, /You have until /)
      assert.match(text, /…001/)
      return null
    },
    'the page to say how it went',
    60_000,
  )
  assert.match(done, /Paid, thank you/)
  const [, receipt = ''] = /href="(\/r\/[^"]+)">Your receipt</.exec(done) ?? []
  assert.equal((await world.stranger.get(receipt)).status, 200, 'the receipt is one step away')
  assert.match(done, /Receipt [A-Z0-9]+/)

  const got = await receiver.next('/paid')
  const body = JSON.parse(got.body)
  const headers = Object.fromEntries(Object.entries(got.headers).map(([name, value]) => [name, String(value)]))
  assert.deepEqual(new Webhook(hook.secret).verify(got.body, headers), body)
  assert.deepEqual(
    [
      body.event,
      body.invoice_id,
      body.number,
      body.status,
      body.amount_paid,
      body.payment.status,
      body.payment.invoice_id,
    ],
    ['invoice.payment_succeeded', invoice_id, number, 'paid', 3480, 'completed', invoice_id],
  )
  const after = await world.stranger.get(path)
  assert.match(after.text, /Paid\. Nothing more is due/)
  assert.ok(!after.text.includes('<form'))
  const again = await submit(world.stranger, path, { phone: '+254700000001' })
  assert.deepEqual([again.status, again.headers.location], [303, path])
  assert.equal((await client.get('/v1/payments/transactions')).body.data.length, 1)
})

const visa = { number: '4242 4242 4242 4242', expiry: '12/40', cvv: '123' }

test('an invoice is paid by bank transfer: the page shows where to, to everybody the same', async () => {
  const account = await world.account()
  const { path, invoice_id } = await sentInvoice(account)
  assert.match((await world.stranger.get(path)).text, /Bank transfer/)
  const form = { method: 'bank_transfer' }
  const sent = await submit(world.stranger, path, form)
  assert.equal(sent.status, 303, sent.text)
  const status = sent.headers.location ?? ''
  const text = await eventually(
    async () => {
      const page = (await world.stranger.get(status)).text
      return page.includes('Pay into this account') && page
    },
    'the account',
    90_000,
  )
  assert.match(text, /KES\u00a03,480\.00/)
  assert.match(text, /http-equiv="refresh"/)
  const [payment] = (await account.client.get('/v1/payments/transactions')).body.data
  const { bank_transfer, invoice_id: paid } = (await account.client.get(`/v1/payments/${payment.payment_id}`)).body
  assert.equal(paid, invoice_id)
  for (const part of [bank_transfer.account_number, bank_transfer.bank_name, bank_transfer.account_name])
    assert.ok(text.includes(part), part)
  assert.equal((await submit(world.stranger, path, form)).headers.location, status)
  const credit = { account_number: bank_transfer.account_number, amount: 3480 }
  assert.equal((await account.client.post('/v1/sandbox/bank/credit', credit)).status, 200)
  await eventually(async () => (await world.stranger.get(status)).text.includes('Paid, thank you'), 'the money')
  assert.equal((await account.client.get(`/v1/billing/invoices/${invoice_id}`)).body.status, 'paid')
  assert.equal((await account.client.get('/v1/payments/transactions')).body.data.length, 1)
})

test('an invoice is paid by card, once however often the form is sent', async () => {
  const account = await world.account()
  const { path, invoice_id } = await sentInvoice(account)
  assert.match((await world.stranger.get(path)).text, /<input name="number"[^>]*autocomplete="cc-number"/)
  const sent = await Promise.all([1, 2, 3].map(() => submit(world.stranger, path, { method: 'card', ...visa })))
  for (const { status, headers } of sent) {
    assert.equal(status, 303)
    assert.ok(headers.location?.startsWith(path))
  }
  await eventually(async () => (await world.stranger.get(path)).text.includes('Nothing more is due'), 'the money')
  const rows = (await account.client.get('/v1/payments/transactions')).body.data
  assert.deepEqual(
    rows.map(({ method, status, amount }: Record<string, unknown>) => [method, status, amount]),
    [['card', 'completed', 3480]],
  )
  assert.equal((await account.client.get(`/v1/billing/invoices/${invoice_id}`)).body.status, 'paid')
  const { text } = await world.stranger.get(`${path}/${rows[0].payment_id}`)
  assert.match(text, /Paid, thank you/)
})

test('a card that is refused or mistyped is said in the form, and not shown again', async () => {
  const account = await world.account()
  const { path } = await sentInvoice(account)
  for (const [change, status, sentence] of [
    [{ number: '4000000000000002' }, 402, /Your bank declined/],
    [{ number: '4000000000009995' }, 402, /not enough money/],
    [{ number: '4000000000000069' }, 402, /has expired/],
    [{ number: '4000000000000127' }, 402, /not that of the card/],
    [{ number: '4000000000004954' }, 403, /cannot be used here/],
    [{ number: '4242424242424241' }, 422, /Check the number/],
    [{ number: '4111111111111111' }, 422, /Check the number/],
    [{ number: '<b>' }, 422, /Check the number/],
    [{ number: '' }, 422, /Check the number/],
    [{ expiry: '13/40' }, 422, /Check the number/],
    [{ expiry: '12/20' }, 422, /Check the number/],
    [{ expiry: 'x' }, 422, /Check the number/],
    [{ cvv: '12' }, 422, /Check the number/],
    [{ cvv: '' }, 422, /Check the number/],
  ] as const) {
    const fields = { method: 'card', ...visa, ...change }
    const refused = await submit(world.stranger, path, fields)
    assert.equal(refused.status, status, `${JSON.stringify(change)}: ${refused.text}`)
    assert.match(refused.text, sentence, JSON.stringify(change))
    assert.match(refused.text, /<form method="post"/)
    assert.ok(fields.number.length < 4 || !refused.text.includes(fields.number))
  }
  assert.equal((await submit(world.stranger, path, { method: 'card', number: '4'.repeat(17_000) })).status, 413)
  assert.equal(
    (await submit(world.stranger, path, { method: 'card', ...visa, number: '4000000000000333' })).status,
    503,
  )
  const { data } = (await account.client.get('/v1/payments/transactions?status=completed')).body
  assert.deepEqual(data, [])
})

test('a payer who must prove who it is goes to its bank and comes back to the page', async () => {
  const account = await world.account()
  const { path } = await sentInvoice(account)
  const sent = await submit(world.stranger, path, { method: 'card', ...visa, number: '4000000000003220' })
  assert.equal(sent.status, 303, sent.text)
  const { text } = await world.stranger.get(sent.headers.location ?? '')
  const [, bank = ''] = /http-equiv="refresh" content="0; url=(\/go\/[0-9a-f]+)"/.exec(text) ?? []
  assert.ok(text.includes(`<a class="button" href="${bank}">`), text)
  const decided = await world.stranger.request('POST', bank, { raw: 'decision=approve' })
  assert.equal(decided.status, 303, decided.text)
  const back = new URL(decided.headers.location ?? '')
  assert.equal(back.pathname, path)
  const there = await world.stranger.get(`${back.pathname}${back.search}`)
  assert.deepEqual([there.status, there.headers.location], [303, sent.headers.location])
  assert.match((await world.stranger.get(there.headers.location ?? '')).text, /Paid, thank you/)
  // Whatever else stands there is ignored.
  for (const query of [
    'payment_id=x',
    'payment_id=https://example.com',
    'payment_id=a&payment_id=b',
    'status=completed',
  ])
    assert.equal((await world.stranger.get(`${path}?${query}`)).status, 200, query)
})

test('a refused payment says why, and can be tried again', async () => {
  const { path } = await sentInvoice(await world.account())
  const sent = await submit(world.stranger, path, { phone: '+254700000002', provider: 'mpesa' })
  assert.equal(sent.status, 303, sent.text)
  const text = await eventually(async () => {
    const page = (await world.stranger.get(sent.headers.location ?? '')).text
    return page.includes('It was not paid') && page
  }, 'the refusal')
  assert.ok(text.includes(`<a class="button" href="${path}">Try again</a>`))
})

test('what cannot be paid from is said in the form, with what was written', async () => {
  const account = await world.account()
  const { path } = await sentInvoice(account)
  for (const [fields, sentence] of [
    [{ phone: '' }, /not a phone number/],
    [{ phone: '12' }, /not a phone number/],
    [{ phone: '+4915112345678' }, /not a phone number/],
    [{}, /not a phone number/],
    [{ phone: '+254700000001', provider: 'cowries' }, /Choose the provider/],
    [{ phone: '+254700000001', provider: 'mtn_momo' }, /Choose the provider/],
  ] as const) {
    const { status, text } = await submit(world.stranger, path, fields)
    assert.equal(status, 422, JSON.stringify(fields))
    assert.match(text, sentence)
    assert.match(text, /<form method="post"/)
  }
  const written = await submit(world.stranger, path, { phone: '"><script>alert(1)</script>' })
  assert.ok(!written.text.includes('<script'))
  assert.ok(written.text.includes('value="&quot;&gt;&lt;script&gt;'))
  assert.equal((await account.client.get('/v1/payments/transactions')).body.data.length, 0)
  assert.equal((await world.stranger.request('POST', path, { raw: '{}' })).status, 415)
  const long = await submit(world.stranger, path, { phone: 'x'.repeat(5_000) })
  assert.equal(long.status, 413)
})

test('what people call themselves is text, never a part of the page', async () => {
  const evil = `<script>alert("1")</script>'&<img src=x onerror=alert(2)>`
  const account = await world.account()
  await account.client.patch('/v1/account', { name: evil.slice(0, 40) })
  const { path } = await sentInvoice(account, {
    customer: { name: evil },
    notes: evil,
    items: [{ description: evil, unit_amount: 10 }],
  })
  const { text } = await world.stranger.get(path)
  assert.ok(!/<script|<img/i.test(text))
  const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;&lt;img src=x onerror=alert(2)&gt;'
  assert.equal(text.split(escaped).length - 1, 3, 'the customer, the item and the notes')
  const sent = await submit(world.stranger, path, { phone: '+254700000001' })
  assert.ok(!/<script|<img/i.test((await world.stranger.get(sent.headers.location ?? '')).text))
})

test('the page stays small, whatever the invoice holds', async () => {
  const items = Array.from({ length: 200 }, () => ({ description: '"'.repeat(500), unit_amount: 1_000_000.25 }))
  const { path } = await sentInvoice(await world.account(), {
    customer: { name: '"'.repeat(100) },
    notes: '"'.repeat(2_000),
    items,
  })
  const { text } = await world.stranger.get(path)
  assert.ok(Buffer.byteLength(text) < maxPageBytes, `${Buffer.byteLength(text)} bytes`)
  assert.match(text, /and 180 more, see the PDF/)
  // More than anybody takes at once: there is no form.
  assert.match(text, /cannot be paid on this page/)
  assert.ok(!text.includes('<form'))
})

test('an account that was suspended collects nothing, and its pages say so', async () => {
  const account = await world.account()
  const { path } = await sentInvoice(account)
  await world.operator.patch(`/v1/operator/accounts/${account.id}`, { status: 'suspended' })
  const { status, text } = await world.stranger.get(path)
  assert.equal(status, 200)
  assert.match(text, /cannot be paid on this page/)
  assert.equal((await submit(world.stranger, path, { phone: '+254700000001' })).status, 422)
})

test('the address of an invoice is in no line of the log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pamoja-invoice-log-'))
  const logged = await startWorld({ PAMOJA_LOG_FILE: join(folder, 'log'), PAMOJA_LOG_LEVEL: 'debug' })
  try {
    const { path } = await sentInvoice(await logged.account())
    const { headers } = await submit(logged.stranger, path, { phone: '+254700000001' })
    await logged.stranger.get(headers.location ?? '')
    await logged.stranger.get(`${path}/nothing`)
    await logged.stranger.get(`${path}/invoice.pdf`)
    const text = await eventually(async () => {
      const read = await readFile(join(folder, 'log'), 'utf8')
      return read.includes('/pay/:token/invoice.pdf') && read
    }, 'the log')
    assert.ok(!text.includes(path.slice('/pay/'.length)))
    assert.ok(!text.includes('254700000001'))
  } finally {
    await logged.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

test('only what takes the amount is offered', async () => {
  const account = await world.account()
  const { path } = await sentInvoice(account, { items: [{ description: 'x', unit_amount: 10.5 }] })
  const { text } = await world.stranger.get(path)
  assert.ok(!text.includes('M-Pesa'), 'it takes whole shillings')
  assert.ok(text.includes('Airtel Money'))
  const euros = { currency: 'EUR', items: [{ description: 'x', unit_amount: 10 }] }
  const { text: byCard } = await world.stranger.get((await sentInvoice(account, euros)).path)
  assert.deepEqual(
    [/>Card</, /Mobile money/, /Bank transfer/].map((way) => way.test(byCard)),
    [true, false, true],
  )
  const phoneOnly = await sentInvoice(account, { ...euros, payment_methods: ['mobile_money'] })
  assert.match((await world.stranger.get(phoneOnly.path)).text, /cannot be paid on this page/)
  const bankOnly = await sentInvoice(account, { payment_methods: ['bank_transfer'] })
  const { text: byBank } = await world.stranger.get(bankOnly.path)
  assert.deepEqual(
    [/>Card</, /Mobile money/, /Bank transfer/].map((way) => way.test(byBank)),
    [false, false, true],
  )
  const card = { method: 'card', ...visa }
  for (const [sent, code] of [
    [submit(world.stranger, bankOnly.path, card), 422],
    [submit(world.stranger, bankOnly.path, { phone: '+254700000001' }), 422],
    [submit(world.stranger, phoneOnly.path, card), 422],
    [submit(world.stranger, phoneOnly.path, { method: 'bank_transfer' }), 422],
  ] as const)
    assert.equal((await sent).status, code)
  assert.equal((await account.client.get('/v1/payments/transactions')).body.data.length, 0)
})

test('an address that is none shows nothing, nor does that of a draft or of somebody else’s payment', async () => {
  const account = await world.account()
  const { path, invoice_id } = await sentInvoice(account)
  const other = await sentInvoice(account)
  const { body: payment } = await account.client.post(`/v1/billing/invoices/${other.invoice_id}/pay?wait=0`, {
    phone: '+254700000001',
  })
  const stranger = world.stranger
  const wrong = `${path.slice(0, -2)}AA`
  for (const there of ['/pay/x', '/pay/AAAAAAAAAAAAAAAAAAAAAAA', wrong, `${wrong}/invoice.pdf`, `${path}/x`]) {
    const { status, text, headers } = await stranger.get(there)
    assert.equal(status, 404, there)
    assert.match(headers['content-type'] ?? '', /text\/html/)
    assert.match(text, /There is no invoice under this address/)
  }
  assert.equal((await stranger.get(`${path}/${payment.payment_id}`)).status, 404)
  assert.equal((await stranger.get(`${other.path}/${payment.payment_id}`)).status, 200)
  assert.equal((await submit(stranger, '/pay/AAAAAAAAAAAAAAAAAAAAAAA', { phone: '+254700000001' })).status, 404)
  await account.client.post(`/v1/billing/invoices/${invoice_id}/void`, {})
  assert.match((await stranger.get(path)).text, /withdrawn/)
  const { body: draft } = await account.client.post('/v1/billing/invoices', { ...work, send: false })
  const unseen = new URL(payUrl(world.app, await rowOf(account, draft.invoice_id))).pathname
  assert.equal((await stranger.get(unseen)).status, 404)
  await account.client.post(`/v1/billing/invoices/${draft.invoice_id}/send`, {})
  assert.equal((await stranger.get(unseen)).status, 200)
})

test('one phone is asked once at a time, and one invoice asks few phones at once', async () => {
  const account = await world.account()
  const { path, invoice_id } = await sentInvoice(account)
  const ask = (phone: string) =>
    account.client.post(`/v1/billing/invoices/${invoice_id}/pay?wait=0`, { phone, expires_in: 86_400 })
  const { body: first } = await ask('+254701000003')
  const sent = await Promise.all([1, 2, 3].map(() => submit(world.stranger, path, { phone: '0701 000 003' })))
  for (const { headers } of sent) assert.equal(headers.location, `${path}/${first.payment_id}`)
  assert.equal((await ask('+254702000003')).status, 201)
  assert.equal((await submit(world.stranger, path, { phone: '+254703000003' })).status, 303)
  await ask('+254704000003')
  const refused = await submit(world.stranger, path, { phone: '+254705000003' })
  assert.equal(refused.status, 429)
  assert.match(refused.text, /tried too often/)
  assert.equal((await account.client.get('/v1/payments/transactions')).body.data.length, 4)
})

test('an invoice that was tried twenty times in an hour is left alone for a while', async () => {
  const { client, ...account } = await world.account()
  const { path, invoice_id } = await sentInvoice({ client, ...account })
  const ask = () => client.post(`/v1/billing/invoices/${invoice_id}/pay?wait=0`, { phone: '+254700000002' })
  await Promise.all(Array.from({ length: 19 }, ask))
  const over = async (count: number) =>
    eventually(
      async () => (await client.get('/v1/payments/transactions?status=failed')).body.data.length === count,
      `${count} refusals`,
      90_000,
    )
  await over(19)
  assert.equal((await submit(world.stranger, path, { phone: '+254700000002' })).status, 303)
  await over(20)
  assert.equal((await submit(world.stranger, path, { phone: '+254700000001' })).status, 429)
})

test('forms, pages and PDFs are limited for each invoice', async () => {
  const limited = await startWorld({ PAMOJA_RATE_LIMITS: 'on', PAMOJA_TRUSTED_PROXIES: ['127.0.0.0/8', '::1'] })
  try {
    const { path } = await sentInvoice(await limited.account())
    const forms = await Promise.all(Array.from({ length: 7 }, () => submit(limited.stranger, path, { phone: '1' })))
    assert.deepEqual(forms.map(({ status }) => status).sort(), [422, 422, 422, 422, 422, 422, 429])
    const last = forms.find(({ status }) => status === 429)
    assert.match(last?.headers['retry-after'] ?? '', /^\d+$/)
    assert.match(last?.text ?? '', /Too often/)
    // One address: six forms were taken for the first invoice, and 54 are for nine others.
    const account = await limited.account()
    const [tenth, ...others] = await Promise.all(Array.from({ length: 10 }, () => sentInvoice(account)))
    const six = others.flatMap((other) => Array.from({ length: 6 }, () => other.path))
    const taken = await Promise.all(six.map((there) => submit(limited.stranger, there, { phone: '1' })))
    assert.ok(taken.every(({ status }) => status === 422))
    assert.equal((await submit(limited.stranger, tenth?.path ?? '', { phone: '1' })).status, 429)
    const many = async (there: string, count: number) =>
      (await Promise.all(Array.from({ length: count }, () => limited.stranger.get(there)))).map(({ status }) => status)
    const from = (address: number) =>
      Array.from({ length: 49 }, () =>
        limited.stranger.get(path, { headers: { 'x-forwarded-for': `203.0.113.${address}` } }),
      )
    const views = (await Promise.all([1, 2, 3, 4, 5].flatMap(from))).map(({ status }) => status)
    assert.equal(views.filter((status) => status === 429).length, 5, 'of 245 views from five addresses 240 are shown')
    const seen = await limited.stranger.get(tenth?.path ?? '')
    assert.equal(seen.headers['x-ratelimit-limit'], '50', 'one address looks at fifty pages a second, of all areas')
    // Some may be told to come back because too many are made at once; none is made beyond the limit.
    const pdfs = await many(`${path}/invoice.pdf`, 31)
    assert.equal(pdfs.filter((status) => status === 429).length, 1)
    assert.ok(pdfs.every((status) => [200, 429, 503].includes(status)))
  } finally {
    await limited.stop()
  }
})

test('an invoice is a PDF too: the same bytes for the same invoice, also a long one in any script', async () => {
  const account = await world.account()
  const items = Array.from({ length: 200 }, (_, i) => ({
    description: `Ẹ̀kọ́ ${i} የአማርኛ 中文 🎉 ${'long '.repeat(80)}`,
    unit_amount: 10,
    discount: 1,
    tax_rate: 16,
  }))
  const { path, invoice_id, number } = await sentInvoice(account, { items, notes: 'አመሰግናለሁ\n'.repeat(150) })
  const { status, headers, text } = await world.stranger.get(`${path}/invoice.pdf`)
  assert.equal(status, 200)
  assert.deepEqual(
    [headers['content-type'], headers['content-disposition']],
    ['application/pdf', `inline; filename="${number}.pdf"`],
  )
  assert.match(text, /^%PDF-1\.\d/)
  const row = await rowOf(account, invoice_id)
  const [first, second] = [
    await pdfOf(row, 'Ada', payUrl(world.app, row)),
    await pdfOf(row, 'Ada', payUrl(world.app, row)),
  ]
  assert.ok(first.equals(second))
  assert.equal(first.toString(), text)
  const pages = first.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
  assert.ok(pages > 5 && pages < 100, `${pages} pages`)
  assert.ok(!first.equals(await pdfOf({ ...row, amount_paid: 1_000_000n }, 'Ada', payUrl(world.app, row))))

  const asked = Array.from({ length: 21 }, (_, i) =>
    renderInvoice(world.app, { ...row, items: row.items.slice(0, 1), amount_paid: BigInt(i) }, 'Ada'),
  )
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 1, 'twenty may wait')
  const kept = await renderInvoice(world.app, row, 'Ada')
  assert.ok(first.equals(kept), 'and those after them')
  assert.equal(await renderInvoice(world.app, row, 'Ada'), kept, 'what was drawn is kept')

  // Drawn on the event loop, it would stand still meanwhile.
  let [isOver, turns] = [false, 0]
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  turn()
  await renderInvoice(world.app, { ...row, amount_paid: 2_000_000n }, 'Ada')
  isOver = true
  assert.ok(turns > 100, `the event loop turned ${turns} times`)
})

test('a PDF that takes too long to draw is refused for now, and the next one is drawn', async (t) => {
  const account = await world.account()
  const { invoice_id } = await sentInvoice(account)
  const row = await rowOf(account, invoice_id)
  const items = Array.from({ length: 20 }, () => row.items).flat()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isOver = false
  const drawn = renderInvoice(world.app, { ...row, items }, 'Ada').finally(() => {
    isOver = true
  })
  const refused = assert.rejects(drawn, {
    code: 'SERVICE_UNAVAILABLE',
    extras: { retryAfterSeconds: 2 },
  })
  while (!isOver) {
    t.mock.timers.tick(30_000)
    await new Promise(setImmediate)
  }
  t.mock.timers.reset()
  await refused
  assert.ok((await renderInvoice(world.app, row, 'Ada')).length > 0)
})

test('the PDF of an invoice to be paid has a code that leads to its page, and one that is paid has none', async () => {
  const account = await world.account()
  const { invoice_id } = await sentInvoice(account)
  const row = await rowOf(account, invoice_id)
  const url = payUrl(world.app, row)
  assert.deepEqual(await codesIn(await pdfOf(row, 'Ada', url)), [url])
  assert.deepEqual(await codesIn(await pdfOf({ ...row, status: 'paid', amount_paid: row.total }, 'Ada', url)), [])
})

/** What the codes of a PDF say, by its squares as a reader of codes sees them. */
async function codesIn(pdf: Buffer): Promise<string[]> {
  const squares: [x: number, y: number][] = []
  let side = 0
  for (const [, stream = ''] of pdf.toString('latin1').matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)) {
    const bytes = Buffer.from(stream, 'latin1')
    const text = bytes[0] === 0x78 ? inflateSync(bytes).toString('latin1') : stream
    for (const [, x, y, width, height] of text.matchAll(/^(\S+) (\S+) (\S+) (\S+) re$/gm))
      if (width === height && Number(width) < 10) {
        side = Number(width)
        squares.push([Number(x), Number(y)])
      }
  }
  if (squares.length === 0) return []
  const [left, top] = [Math.min(...squares.map(([x]) => x)), Math.min(...squares.map(([, y]) => y))]
  const [dot, quiet, pixels] = [6, 24, 420]
  const data = Buffer.alloc(pixels * pixels * 3, 255)
  for (const [x, y] of squares)
    for (let line = 0; line < dot; line++) {
      const at = quiet + Math.round((y - top) / side) * dot + line
      const from = (at * pixels + quiet + Math.round((x - left) / side) * dot) * 3
      data.fill(0, from, from + dot * 3)
    }
  return (await readBarcodes({ width: pixels, height: pixels, data })).map(({ text }) => text)
}

test('so many PDFs are drawn for one account a minute, and what is kept is given all the same', async () => {
  const account = await world.account()
  const { invoice_id } = await sentInvoice(account)
  const row = await rowOf(account, invoice_id)
  const limited = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  try {
    const draw = (paid: number) => renderInvoice(limited.app, { ...row, amount_paid: BigInt(paid) }, 'Ada')
    for (let i = 0; i < 30; i++) await draw(i)
    await assert.rejects(draw(30), { code: 'RATE_LIMITED' })
    assert.ok((await draw(0)).length > 0)
  } finally {
    await limited.stop()
  }
})

test('letters that the PDF has no picture of lose their marks, or are question marks', () => {
  for (const [given, shown] of [
    ['Café, “naïve” – €5', 'Café, “naïve” – €5'],
    ['Ṣọlá Ẹ̀kọ́', 'Solá Eko'],
    ['ጤና ይስጥልኝ', '?? ?????'],
    ['Ａ①', 'A1'],
    ['🎉\u0000\u202e', '???'],
    ['a\tb\r\nc\nd', 'a b c\nd'],
  ] as const)
    assert.equal(plain(given), shown)
})

test('the page, the paper and the receipt show whose they are: colour, logo, tax number and address', async () => {
  const account = await world.account()
  const logo = `data:image/png;base64,${Buffer.alloc(60, 7).toString('base64')}`
  const brand = {
    brand_color: '#7a1fa2',
    brand_logo: logo,
    tax_number: 'P051234567X',
    address: 'Moi Avenue 1\nNairobi',
  }
  const set = await account.client.patch('/v1/account', { settings: brand })
  assert.equal(set.status, 200, set.text)
  const { path, invoice_id } = await sentInvoice(account)
  const { text, headers } = await world.stranger.get(path)
  assert.ok(text.includes(`<img src="${logo}"`) && text.includes('.from i{background:#7a1fa2;color:#fff}'))
  const policy = headers['content-security-policy'] ?? ''
  assert.match(policy, /style-src 'sha256-[^']+' 'sha256-[^']+'; img-src data:;/)
  for (const bad of [
    { brand_color: 'red' },
    { brand_color: '#12345g' },
    { brand_logo: 'https://evil.example/x.png' },
    { brand_logo: 'data:image/svg+xml;base64,AAAA' },
    { tax_number: '' },
    { address: 'x'.repeat(301) },
  ])
    assert.equal((await account.client.patch('/v1/account', { settings: bad })).status, 422, JSON.stringify(bad))

  const buyer = { name: 'Duka', email: 'duka@example.com', tax_number: 'A009876543Z', address: 'Biashara Street 2' }
  const items = [{ description: 'Setup', quantity: 1, unit_amount: 10 }]
  const billed = await account.client.post('/v1/billing/invoices', { customer: buyer, currency: 'KES', items })
  const { customer_id, ...told } = billed.body.customer
  assert.deepEqual(told, buyer, 'an invoice says whom it is for')
  const { body: known } = await account.client.get(`/v1/billing/customers/${customer_id}`)
  assert.deepEqual([known.tax_number, known.address], [buyer.tax_number, buyer.address])

  const plain = await pdfOf(await rowOf(account, invoice_id), 'Ada', 'https://localhost/pay/x')
  const own = await pdfOf(await rowOf(account, invoice_id), 'Ada', 'https://localhost/pay/x', {
    tax_number: brand.tax_number,
    address: brand.address,
  })
  assert.ok(own.length > plain.length, 'the paper has its lines')

  await submit(world.stranger, path, { phone: '0700 000 001', provider: '' })
  const paid = await eventually(async () => {
    const { body } = await account.client.get('/v1/payments/transactions?status=completed')
    return body.data[0]?.payment_id
  }, 'the payment')
  const { body: payment } = await account.client.get(`/v1/payments/${paid}`)
  const receipt = await world.stranger.get(new URL(payment.receipt_url).pathname)
  for (const part of ['Tax number P051234567X', 'Moi Avenue 1', logo]) assert.ok(receipt.text.includes(part), part)
})
