// SPDX-License-Identifier: Apache-2.0
// Invoices as an account and its customers meet them: reckoned, numbered, sent, paid in full, in part or too much, taken
// back, given up and overdue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createInvoice, openInvoice } from '../../src/areas/billing/invoices/create.ts'
import { onInvoice } from '../../src/areas/billing/invoices/hooks.ts'
import { tellOverdue } from '../../src/areas/billing/invoices/overdue.ts'
import { findInvoice } from '../../src/areas/billing/invoices/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { one } from '../../src/platform/db.ts'
import { type Client, refusal } from '../client.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { runs } from '../properties.ts'
import { eventually, tenantOf } from '../world.ts'

const { world, sql, receiver } = await startMarket(0.05)

const payer = '+254700000001'
const asha = { name: 'Asha', email: 'asha@example.com' }
const work = {
  customer: asha,
  currency: 'KES',
  items: [{ description: 'Setup', quantity: 2, unit_amount: 1500, tax_rate: 16 }],
}
const year = new Date().getUTCFullYear()

test('a draft is reckoned, and gets its number and its address when it is sent', async () => {
  const { client } = await world.account()
  const made = await client.post('/v1/billing/invoices', {
    ...work,
    reference: 'order-77',
    metadata: { order: '77' },
    notes: 'Thank you',
    discount: { percent: 10 },
  })
  assert.equal(made.status, 201, made.text)
  const draft = made.body
  assert.equal(made.headers.location, `/api/v1/billing/invoices/${draft.invoice_id}`)
  assert.match(draft.invoice_id, /^inv_[0-9a-z]{26}$/)
  assert.match(draft.customer.customer_id, /^cus_[0-9a-z]{26}$/)
  assert.deepEqual(
    [draft.status, draft.number, draft.hosted_url, draft.pdf_url, draft.sent_at, draft.payments, draft.overdue],
    ['draft', null, null, null, null, [], false],
  )
  assert.deepEqual(draft.items, [
    { description: 'Setup', quantity: 2, unit_amount: 1500, discount: 300, tax_rate: 16, amount: 3000, tax: 432 },
  ])
  assert.deepEqual(
    [draft.subtotal, draft.discount_total, draft.tax_total, draft.total, draft.amount_paid, draft.amount_due],
    [3000, 300, 432, 3132, 0, 3132],
  )
  const fortnight = new Date(Date.parse(draft.created_at) + 14 * 86_400_000).toISOString().slice(0, 10)
  assert.equal(draft.due_date, fortnight)

  const sent = await client.post(`/v1/billing/invoices/${draft.invoice_id}/send`, {})
  assert.equal(sent.status, 200, sent.text)
  assert.deepEqual([sent.body.status, sent.body.number], ['open', `INV-${year}-000001`])
  assert.match(sent.body.hosted_url, /^https:\/\/[^/]+\/pay\/[A-Za-z0-9_-]{23}$/)
  assert.equal(sent.body.pdf_url, `${sent.body.hosted_url}/invoice.pdf`)
  assert.equal(sent.body.sent_at, null, 'nothing left: the link is the account’s to bring')
  const read = (await client.get(`/v1/billing/invoices/${draft.invoice_id}`)).body
  assert.deepEqual(read, sent.body)
  assert.deepEqual((await client.get('/v1/billing/invoices?reference=order-77')).body.data, [read.data])

  const again = (await client.post(`/v1/billing/invoices/${draft.invoice_id}/send`, {})).body
  assert.deepEqual([again.number, again.status], [`INV-${year}-000001`, 'open'])
  assert.deepEqual(await eventsOf(client, 'invoice.sent'), [])
  const told = await eventsOf(client, 'invoice.opened')
  assert.deepEqual(
    told.map(({ sequence, number, invoice }) => [sequence, number, invoice.total]),
    [
      [1, `INV-${year}-000001`, 3132],
      [2, `INV-${year}-000001`, 3132],
    ],
  )
  const next = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  assert.deepEqual([next.status, next.number, next.sent_at], ['open', `INV-${year}-000002`, null])
})

test('what cannot be billed is refused with a code and the field, and leaves nothing behind', async () => {
  const { client, id } = await world.account()
  const item = { description: 'x', unit_amount: 10 }
  const rows: [change: object, status: number, code: string, details: RegExp][] = [
    [{ customer: undefined }, 422, 'VALIDATION_ERROR', /customer/],
    [{ customer: {} }, 422, 'VALIDATION_ERROR', /customer must have/],
    [{ customer: { email: 'asha' } }, 422, 'VALIDATION_ERROR', /email/],
    [{ customer: { phone: '0700' } }, 422, 'INVALID_PHONE', /phone/],
    [{ customer: { customer_id: 'cus_1' } }, 404, 'NOT_FOUND', /cus_/],
    [{ currency: 'KSH' }, 422, 'UNSUPPORTED_CURRENCY', /KSH/],
    [{ currency: undefined }, 422, 'VALIDATION_ERROR', /currency/],
    [{ items: [] }, 422, 'VALIDATION_ERROR', /1 to 200 items/],
    [{ items: Array.from({ length: 201 }, () => item) }, 422, 'VALIDATION_ERROR', /1 to 200 items/],
    [{ items: [{ ...item, description: '' }] }, 422, 'VALIDATION_ERROR', /description/],
    [{ items: [{ ...item, description: 'x'.repeat(501) }] }, 422, 'VALIDATION_ERROR', /description/],
    [{ items: [{ ...item, quantity: 0 }] }, 422, 'VALIDATION_ERROR', /items\[0\]\.quantity/],
    [{ items: [{ ...item, quantity: '1.0000001' }] }, 422, 'VALIDATION_ERROR', /6 decimals/],
    [{ items: [item, { ...item, unit_amount: -1 }] }, 422, 'VALIDATION_ERROR', /items\[1\]\.unit_amount/],
    [{ items: [{ ...item, unit_amount: 0.001 }] }, 422, 'VALIDATION_ERROR', /2 decimals/],
    [{ items: [{ ...item, tax_rate: 101 }] }, 422, 'VALIDATION_ERROR', /items\[0\]\.tax_rate/],
    [{ items: [{ ...item, tax_rate: 0.00001 }] }, 422, 'VALIDATION_ERROR', /items\[0\]\.tax_rate/],
    [{ items: [{ ...item, discount: 11 }] }, 422, 'VALIDATION_ERROR', /items\[0\]\.discount/],
    [{ items: [{ ...item, discount: {} }] }, 422, 'VALIDATION_ERROR', /items\[0\]\.discount/],
    [{ discount: { percent: 1, amount: 1 } }, 422, 'VALIDATION_ERROR', /discount/],
    [{ discount: { amount: 9_999 } }, 422, 'VALIDATION_ERROR', /discount/],
    [{ items: [{ ...item, unit_amount: 9_000_000_000_001 }] }, 422, 'VALIDATION_ERROR', /at most 9000000000000/],
    [{ items: [{ ...item, quantity: 2, unit_amount: 9_000_000_000_000 }] }, 422, 'VALIDATION_ERROR', /more than/],
    [{ due_date: '2026-02-30' }, 422, 'VALIDATION_ERROR', /due_date/],
    [{ due_date: '2020-01-01' }, 422, 'VALIDATION_ERROR', /due_date/],
    [{ reference: 'a b' }, 422, 'VALIDATION_ERROR', /reference/],
    [{ notes: 'x'.repeat(2_001) }, 422, 'VALIDATION_ERROR', /notes/],
    [{ payment_methods: ['cowries'] }, 422, 'VALIDATION_ERROR', /payment_methods/],
    [{ payment_methods: [] }, 422, 'VALIDATION_ERROR', /payment_methods/],
    [{ metadata: manyNotes() }, 422, 'VALIDATION_ERROR', /metadata/],
    [{ callback_url: 'ftp://example.com' }, 400, 'INVALID_URL', /callback_url/],
  ]
  for (const [change, status, code, details] of rows) {
    const { body, status: found } = await client.post('/v1/billing/invoices', { ...work, ...change })
    assert.deepEqual([found, body.error?.code], [status, code], JSON.stringify(change))
    assert.match(body.error.details, details)
  }
  for (const table of ['billing.invoices', 'customers.customers', 'billing.counters'])
    assert.equal(await countOf(table, id), 0, table)
  for (const path of ['?start_date=2026-13-01', '?start_date=2026-02-02&end_date=2026-02-01'])
    assert.deepEqual(await refusal(client.get(`/v1/billing/invoices${path}`)), [400, 'INVALID_DATE_RANGE'])
})

/** Each note is short enough, all of them together are not. */
function manyNotes(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`note-${i}`, 'x'.repeat(400)]))
}

test('a reference is used once, and a repeated request is one invoice', async () => {
  const { client, id } = await world.account()
  const first = (await client.post('/v1/billing/invoices', { ...work, reference: 'a', send: true })).body
  const second = await client.post('/v1/billing/invoices', { ...work, reference: 'a' })
  assert.deepEqual([second.status, second.body.error.code], [409, 'DUPLICATE_REFERENCE'])
  assert.deepEqual([second.body.error.original_id, second.body.error.original_status], [first.invoice_id, 'open'])
  const options = { headers: { 'idempotency-key': 'once' } }
  const replies = await Promise.all(
    Array.from({ length: 3 }, () => client.post('/v1/billing/invoices', { ...work, reference: 'b' }, options)),
  )
  const made = replies.filter(({ status }) => status === 201)
  assert.ok(made.length > 0)
  assert.equal(new Set(made.map(({ body }) => body.invoice_id)).size, 1)
  assert.equal(await countOf('billing.invoices', id), 2)
})

test('lists go by state, customer and day, and page', async () => {
  const { client } = await world.account()
  const made = []
  for (const name of ['Asha', 'Baraka', 'Asha'])
    made.push(
      (await client.post('/v1/billing/invoices', { ...work, customer: { name, email: `${name}@example.com` } })).body,
    )
  await client.post(`/v1/billing/invoices/${made[0].invoice_id}/send`, {})
  const ids = async (query: string) =>
    (await client.get(`/v1/billing/invoices${query}`)).body.data.map((one: { invoice_id: string }) => one.invoice_id)
  const [first, second, third] = made.map(({ invoice_id }) => invoice_id)
  assert.deepEqual(await ids(''), [third, second, first])
  assert.deepEqual(await ids('?status=open'), [first])
  assert.deepEqual(await ids('?overdue=true'), [])
  assert.equal(made[0].customer.customer_id, made[2].customer.customer_id)
  assert.deepEqual(await ids(`?customer_id=${made[0].customer.customer_id}`), [third, first])
  assert.deepEqual(await ids('?customer_id=nobody'), [])
  assert.deepEqual(await ids('?subscription_id=nothing'), [])
  const page = (await client.get('/v1/billing/invoices?limit=2')).body
  assert.equal(page.has_more, true)
  assert.deepEqual(await ids(`?limit=2&cursor=${page.next_cursor}`), [first])
  const file = await client.get('/v1/billing/invoices?status=open', { headers: { accept: 'text/csv' } })
  assert.match(file.text, new RegExp(`^invoice_id,number,.*\r\n${first},INV-`))
  assert.ok(file.text.includes('""unit_amount"":1500'), file.text)
  const named = (await client.get('/v1/billing/customers?email=ASHA@example.com')).body.data
  assert.deepEqual(
    named.map((one: { customer_id: string; name: string; credits: unknown[] }) => [
      one.customer_id,
      one.name,
      one.credits,
    ]),
    [[made[0].customer.customer_id, 'Asha', []]],
  )
})

test('a link goes out by text, and is told of as sent when it was taken', async () => {
  const { client } = await world.account({ balance: 100 })
  const { body: draft } = await client.post('/v1/billing/invoices', work)
  const path = `/v1/billing/invoices/${draft.invoice_id}/send`
  for (const [body, status, code] of [
    [{ phone: '0711' }, 422, 'INVALID_PHONE'],
    [{ phone: '+254711000001', from: '!' }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254711000001', from: 'ACME', message: 'x'.repeat(301) }, 422, 'VALIDATION_ERROR'],
  ] as const)
    assert.deepEqual(await refusal(client.post(path, body)), [status, code])
  assert.equal((await client.get(`/v1/billing/invoices/${draft.invoice_id}`)).body.status, 'draft')

  for (const [phone, status, code] of [
    ['+254711000010', 402, 'INSUFFICIENT_BALANCE'],
    ['+254711000011', 403, 'OPTED_OUT'],
  ] as const)
    assert.deepEqual(await refusal(client.post(path, { phone, from: 'ACME' })), [status, code])
  const open = (await client.get(`/v1/billing/invoices/${draft.invoice_id}`)).body
  assert.deepEqual([open.status, open.sent_at], ['open', null])
  assert.deepEqual(await eventsOf(client, 'invoice.sent'), [])

  assert.equal((await client.post(path, { phone: '+254711000001' })).status, 200)
  assert.equal((await client.get('/v1/sms')).body.data[0].from, 'PAMOJA', 'the platform’s, where there is no other')
  await client.patch('/v1/account', { settings: { default_sender: 'ACME' } })
  const sent = await client.post(path, { phone: '+254711000001' })
  assert.equal(sent.status, 200, sent.text)
  assert.ok(sent.body.sent_at)
  const [text] = (await client.get('/v1/sms')).body.data
  assert.equal(text.from, 'ACME')
  assert.equal(
    text.message ?? text.text,
    `Ada: invoice ${open.number}, KES 3480.00, due ${open.due_date}. ${open.hosted_url}`,
  )
  const own = await client.post(path, { phone: '+254711000001', from: 'SHOP', message: 'Please pay' })
  assert.equal(own.status, 200)
  assert.equal((await eventsOf(client, 'invoice.sent')).length, 3)
})

test('nobody is sent a text about an invoice of which nothing is due', async () => {
  const { client } = await world.account({ balance: 100 })
  const first = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  const pay = (phone: string) => client.post(`/v1/billing/invoices/${first.invoice_id}/pay?wait=0`, { phone })
  for (const { body } of await Promise.all([payer, '+254733000001'].map(pay))) await settled(client, body.payment_id)
  const { body: draft } = await client.post('/v1/billing/invoices', work)
  const to = { phone: '+254711000001', from: 'ACME' }
  const sent = await client.post(`/v1/billing/invoices/${draft.invoice_id}/send`, to)
  assert.deepEqual(
    [sent.status, sent.body.status, sent.body.credit_applied, sent.body.sent_at],
    [200, 'paid', 3480, null],
    sent.text,
  )
  assert.deepEqual((await client.get('/v1/sms')).body.data, [])
  assert.deepEqual(
    (await eventsOf(client, 'invoice.opened')).map(({ invoice_id }) => invoice_id),
    [first.invoice_id],
  )
})

test('an account numbers its invoices as it likes, and no number comes twice', async () => {
  const { client } = await world.account()
  const bad = await client.patch('/v1/account', { settings: { invoice_number_pattern: '{year}{seq}' } })
  assert.deepEqual([bad.status, bad.body.error.code], [422, 'VALIDATION_ERROR'])
  await client.patch('/v1/account', { settings: { invoice_number_pattern: 'ACME/{year}/{seq:3}' } })
  const numbered = async () => (await client.post('/v1/billing/invoices', { ...work, send: true })).body.number
  assert.equal(await numbered(), `ACME/${year}/001`)
  await client.patch('/v1/account', { settings: { invoice_number_pattern: '{seq}' } })
  assert.equal(await numbered(), '2')
})

test('money in parts adds up, and the last part makes it paid', async () => {
  const { client } = await world.account()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/parts'), events: ['invoice.*'] })
  assert.ok(hook.secret)
  const invoice = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  const path = `/v1/billing/invoices/${invoice.invoice_id}`
  assert.deepEqual(await refusal(client.post(`${path}/pay`, { phone: payer, amount: 3481 })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(client.post(`${path}/pay`, { phone: payer, amount: 0 })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(client.post(`${path}/pay`, { phone: '+4915112345678' })), [422, 'INVALID_PHONE'])
  assert.deepEqual(await refusal(client.post(`${path}/pay`, { phone: '+254700000012' })), [503, 'PROVIDER_UNAVAILABLE'])

  const part = await client.post(`${path}/pay`, { phone: payer, amount: 1000, reference: 'part-1' })
  assert.equal(part.status, 201, part.text)
  assert.deepEqual([part.body.invoice_id, part.body.amount], [invoice.invoice_id, 1000])
  const paid = await settled(client, part.body.payment_id)
  assert.deepEqual([paid.status, paid.fee, paid.invoice_id], ['completed', 15, invoice.invoice_id])
  const partly = (await client.get(path)).body
  assert.deepEqual(
    [partly.status, partly.amount_paid, partly.amount_due, partly.payments],
    ['open', 1000, 2480, [part.body.payment_id]],
  )
  assert.deepEqual(await refusal(client.post(`${path}/void`, {})), [409, 'INVALID_STATE'])

  const rest = (await client.post(`${path}/pay?wait=0`, { phone: payer })).body
  assert.deepEqual([rest.amount, rest.status], [2480, 'pending'])
  await settled(client, rest.payment_id)
  const whole = (await client.get(path)).body
  assert.deepEqual(
    [whole.status, whole.amount_paid, whole.amount_due, whole.payments.length, typeof whole.paid_at],
    ['paid', 3480, 0, 2, 'string'],
  )
  for (const verb of ['pay', 'send', 'void']) {
    const refused = await client.post(`${path}/${verb}`, verb === 'pay' ? { phone: payer } : {})
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.status],
      [409, 'INVALID_STATE', 'paid'],
    )
  }
  const [told] = await eventsOf(client, 'invoice.payment_succeeded')
  assert.deepEqual(
    [told?.payment_id, told?.payment?.payment_id, told?.amount_paid, told?.total, told?.status],
    [rest.payment_id, rest.payment_id, 3480, 3480, 'paid'],
  )
  const rows = (await client.get('/v1/wallet/transactions')).body.data
  assert.deepEqual(
    rows.map(({ type, amount }: { type: string; amount: number }) => [type, amount]),
    [
      ['payment', 2442.8],
      ['payment', 985],
    ],
  )
  const listed = (await client.get('/v1/payments/transactions?status=completed&type=payment')).body.data
  assert.deepEqual(
    listed.map(({ type }: { type: string }) => type),
    ['payment', 'payment'],
  )
})

test('a payment that fails leaves the invoice open and is told of; late money still pays it', async () => {
  const { client } = await world.account()
  const invoice = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  const path = `/v1/billing/invoices/${invoice.invoice_id}`
  const failed = (await client.post(`${path}/pay?wait=0`, { phone: '+254700000002' })).body
  await settled(client, failed.payment_id)
  const [told] = await eventsOf(client, 'invoice.payment_failed')
  assert.deepEqual(
    [told?.payment_id, told?.status, told?.amount_paid, told?.invoice.status],
    [failed.payment_id, 'open', 0, 'open'],
  )
  assert.equal((await client.get(path)).body.status, 'open')
  const late = (await client.post(`${path}/pay?wait=0`, { phone: '+254700000008' })).body
  await eventually(async () => (await client.get(path)).body.status === 'paid', 'late money')
  const payment = (await client.get(`/v1/payments/${late.payment_id}`)).body
  assert.deepEqual([payment.status, payment.late], ['completed', true])
  const names = (await eventsOf(client, '')).map(({ event, sequence }) => [event, sequence])
  assert.deepEqual(
    names.filter(([event]) => String(event).startsWith('invoice')),
    [
      ['invoice.opened', 1],
      ['invoice.payment_failed', 2],
      ['invoice.payment_failed', 3],
      ['invoice.payment_succeeded', 4],
    ],
  )
})

test('two who pay at once pay once: the second has it in hand for the next invoice', async () => {
  const { client } = await world.account()
  const make = async (unit_amount: number) =>
    (
      await client.post('/v1/billing/invoices', {
        customer: asha,
        currency: 'KES',
        items: [{ description: 'Rent', unit_amount }],
        send: true,
      })
    ).body
  const first = await make(1000)
  const path = `/v1/billing/invoices/${first.invoice_id}`
  const both = await Promise.all(
    ['+254700100001', '+254700200001'].map((phone) => client.post(`${path}/pay?wait=0`, { phone })),
  )
  for (const { body } of both) assert.equal((await settled(client, body.payment_id)).status, 'completed')
  const paid = (await client.get(path)).body
  assert.deepEqual([paid.status, paid.amount_paid, paid.payments.length], ['paid', 1000, 2])
  assert.equal((await eventsOf(client, 'invoice.payment_succeeded')).length, 1)
  const customer = async () => (await client.get(`/v1/billing/customers/${first.customer.customer_id}`)).body
  assert.deepEqual((await customer()).credits, [{ currency: 'KES', amount: 1000 }])

  const second = await make(300)
  assert.deepEqual([second.status, second.amount_paid, second.credit_applied, second.amount_due], ['paid', 300, 300, 0])
  const third = await make(900)
  assert.deepEqual([third.status, third.amount_paid, third.credit_applied, third.amount_due], ['open', 700, 700, 200])
  assert.deepEqual((await customer()).credits, [])
  const told = await eventsOf(client, 'invoice.payment_succeeded')
  assert.deepEqual([told[1]?.invoice_id, told[1]?.payment, told[1]?.payment_id], [second.invoice_id, null, null])

  const voided = (await client.post(`/v1/billing/invoices/${third.invoice_id}/void`, { reason: 'a mistake' })).body
  assert.deepEqual(
    [voided.status, voided.amount_paid, voided.amount_due, voided.number, voided.void_reason],
    ['void', 0, 0, third.number, 'a mistake'],
  )
  assert.deepEqual((await customer()).credits, [{ currency: 'KES', amount: 700 }])
  const again = (await client.post(`/v1/billing/invoices/${third.invoice_id}/void`, {})).body
  assert.deepEqual([again.void_reason, again.voided_at], ['a mistake', voided.voided_at])
  assert.equal((await eventsOf(client, 'invoice.voided')).length, 1)
  assert.deepEqual((await customer()).credits, [{ currency: 'KES', amount: 700 }])
  assert.deepEqual(await refusal(client.post(`/v1/billing/invoices/${third.invoice_id}/send`, {})), [
    409,
    'INVALID_STATE',
  ])
})

test('money for an invoice that was taken back meanwhile is in hand too', async () => {
  const { client } = await world.account()
  const invoice = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  const path = `/v1/billing/invoices/${invoice.invoice_id}`
  const { body: payment } = await client.post(`${path}/pay?wait=0`, { phone: payer })
  assert.equal((await client.post(`${path}/void`, {})).body.status, 'void')
  assert.equal((await settled(client, payment.payment_id)).status, 'completed')
  const after = (await client.get(path)).body
  assert.deepEqual([after.status, after.amount_paid, after.payments], ['void', 0, [payment.payment_id]])
  const { body: customer } = await client.get(`/v1/billing/customers/${invoice.customer.customer_id}`)
  assert.deepEqual(customer.credits, [{ currency: 'KES', amount: 3480 }])
})

test('a draft can be taken back, cannot be paid, and one that comes to nothing is paid when it is opened', async () => {
  const { client } = await world.account()
  const { body: draft } = await client.post('/v1/billing/invoices', work)
  const path = `/v1/billing/invoices/${draft.invoice_id}`
  assert.deepEqual(await refusal(client.post(`${path}/pay`, { phone: payer })), [409, 'INVALID_STATE'])
  const voided = (await client.post(`${path}/void`, {})).body
  assert.deepEqual([voided.status, voided.number], ['void', null])
  const free = (await client.post('/v1/billing/invoices', { ...work, discount: { percent: 100 }, send: true })).body
  assert.deepEqual([free.status, free.total, free.number], ['paid', 0, `INV-${year}-000001`])
})

test('an invoice is overdue when its day is over by the clock of the account, and told of once', async () => {
  const { client } = await world.account()
  const today = new Date().toISOString().slice(0, 10)
  const invoice = (await client.post('/v1/billing/invoices', { ...work, due_date: today, send: true })).body
  const later = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  await tellOverdue(world.app)
  assert.deepEqual(await eventsOf(client, 'invoice.overdue'), [])
  await client.post('/v1/sandbox/clock', { advance_seconds: 2 * 86_400 })
  for (let i = 0; i < 2; i++) await tellOverdue(world.app)
  const told = await eventsOf(client, 'invoice.overdue')
  assert.deepEqual(
    told.map(({ invoice_id, invoice: whole, status }) => [invoice_id, whole.overdue, status]),
    [[invoice.invoice_id, true, 'open']],
  )
  assert.equal((await client.get(`/v1/billing/invoices/${invoice.invoice_id}`)).body.overdue, true)
  assert.equal((await client.get(`/v1/billing/invoices/${later.invoice_id}`)).body.overdue, false)
  const listed = (await client.get('/v1/billing/invoices?overdue=true')).body.data
  assert.deepEqual(
    listed.map((one: { invoice_id: string }) => one.invoice_id),
    [invoice.invoice_id],
  )
})

test('the operator gives an invoice up, and money that comes after all makes it paid', async () => {
  const { client, id } = await world.account()
  const { body: draft } = await client.post('/v1/billing/invoices', work)
  const path = `/v1/operator/accounts/${id}/invoices/${draft.invoice_id}/write-off`
  assert.deepEqual(await refusal(world.operator.post(path)), [409, 'INVALID_STATE'])
  await client.post(`/v1/billing/invoices/${draft.invoice_id}/send`, {})
  assert.deepEqual(await refusal(client.post(path)), [403, 'FORBIDDEN'])
  const { id: other } = await world.account()
  const elsewhere = `/v1/operator/accounts/${other}/invoices/${draft.invoice_id}/write-off`
  assert.deepEqual(await refusal(world.operator.post(elsewhere)), [404, 'NOT_FOUND'])
  const given = await world.operator.post(path)
  assert.deepEqual([given.status, given.body.status], [200, 'uncollectible'])
  assert.deepEqual(await refusal(client.post(`/v1/billing/invoices/${draft.invoice_id}/void`, {})), [
    409,
    'INVALID_STATE',
  ])
  const { body: payment } = await client.post(`/v1/billing/invoices/${draft.invoice_id}/pay?wait=0`, { phone: payer })
  await settled(client, payment.payment_id)
  assert.equal((await client.get(`/v1/billing/invoices/${draft.invoice_id}`)).body.status, 'paid')
})

test('who listens at a callback address hears of the invoice, signed', async () => {
  const { client } = await world.account()
  const callback_url = receiver.url('/invoice-callback')
  const invoice = (await client.post('/v1/billing/invoices', { ...work, callback_url, send: true })).body
  const got = await receiver.next('/invoice-callback')
  const body = JSON.parse(got.body)
  assert.deepEqual(
    [body.event, body.invoice_id, body.invoice.number],
    ['invoice.opened', invoice.invoice_id, invoice.number],
  )
  assert.ok(got.headers['x-service-signature'])
})

test('whoever made an invoice for a reason goes on in the transaction that pays it, or not at all', async () => {
  const { client } = await world.account()
  const invoice = (await client.post('/v1/billing/invoices', { ...work, send: true })).body
  const uuid = uuidOf('invoice', invoice.invoice_id)
  const heard: [what: string, status: string][] = []
  let isBroken = true
  onInvoice({
    invoicePaid: async (_app, _tx, _occasion, row, payment) => {
      if (row.id !== uuid) return
      heard.push(['paid', payment?.status ?? 'none'])
      if (isBroken) throw new Error('the hook fails')
    },
    invoicePaymentFailed: async (_app, _tx, _occasion, row, payment) => {
      if (row.id === uuid) heard.push(['failed', payment.status])
    },
  })
  const path = `/v1/billing/invoices/${invoice.invoice_id}`
  const { body: first } = await client.post(`${path}/pay?wait=0`, { phone: '+254700000004' })
  await settled(client, first.payment_id)
  assert.deepEqual(heard, [['failed', 'cancelled']])
  const { body: second } = await client.post(`${path}/pay?wait=0`, { phone: payer })
  await eventually(async () => heard.length > 1, 'the hook to be called')
  assert.equal((await client.get(path)).body.status, 'open')
  assert.notEqual((await client.get(`/v1/payments/${second.payment_id}`)).body.status, 'completed')
  isBroken = false
  await eventually(async () => (await client.get(path)).body.status === 'paid', 'the next try')
  assert.deepEqual(heard.at(-1), ['paid', 'completed'])
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, 3427.8)
})

test('numbers have no gaps and none comes twice, whoever finalises at once and whoever gives up', async () => {
  const finalisers = 64
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: finalisers, maxLength: finalisers }), async (aborts) => {
      const { id } = await world.account()
      const tenant = tenantOf({ id })
      const nowMs = world.app.clock.nowMs()
      const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
      const wanted = {
        customer: { name: 'x' },
        currency: 'KES' as const,
        items: [{ description: 'x', unit_amount: 1 }],
      }
      const drafts = await Promise.all(
        aborts.map(() =>
          world.app.db.acrossTx((tx) => createInvoice(world.app, tx, occasion, { ...wanted, open: false })),
        ),
      )
      await Promise.all(
        drafts.map((draft, i) =>
          world.app.db
            .acrossTx(async (tx) => {
              await openInvoice(world.app, tx, occasion, draft)
              if (aborts[i]) throw new Error('given up')
            })
            .catch((error: Error) => assert.equal(error.message, 'given up')),
        ),
      )
      const opened = await Promise.all(
        drafts.map(({ id: invoice }) => one(world.app.db.query(findInvoice, { ...tenant, id: invoice }))),
      )
      const numbers = opened.flatMap(({ number }) => number ?? []).sort()
      assert.deepEqual(
        numbers,
        Array.from({ length: aborts.filter((abort) => !abort).length }, (_, i) => {
          return `INV-${year}-${String(i + 1).padStart(6, '0')}`
        }),
      )
      opened.forEach(({ status }, i) => {
        assert.equal(status, aborts[i] ? 'draft' : 'open')
      })
    }),
    { numRuns: runs(5) },
  )
})

interface Told {
  event: string
  sequence: number
  invoice_id: string
  number: string
  status: string
  amount_paid: number
  total: number
  payment_id: string | null
  payment: { payment_id: string } | null
  invoice: { total: number; status: string; overdue: boolean }
}

/** Oldest first. */
async function eventsOf(client: Client, name: string): Promise<Told[]> {
  const { body } = await client.get('/v1/events?order=asc&limit=200')
  const told: Told[] = body.data.map(({ payload }: { payload: Told }) => payload)
  return told.filter(({ event }) => name === '' || event === name)
}

async function countOf(table: string, account: string): Promise<number> {
  const { rows } = await sql.query(`select count(*)::int as count from ${table} where account_id = $1`, [
    uuidOf('account', account),
  ])
  return rows[0].count
}
