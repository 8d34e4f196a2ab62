// SPDX-License-Identifier: Apache-2.0
// What requests about money may say in more than one way, and how much of it: names in capitals, a phone under either of its
// names, notes up to their bound, and what is turned off again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plan, subscriptions } from '../billing.ts'
import type { Reply } from '../client.ts'
import { startMarket } from '../market.ts'
import { eventually } from '../world.ts'

const { world } = await startMarket(0.05)

const phone = '+254700000001'
const customer = { name: 'Asha', email: 'asha@example.com' }
const invoice = { customer, currency: 'kes', items: [{ description: 'Setup', unit_amount: 1500 }] }

function refusalOf({ status, body }: Reply): [number, string] {
  return [status, body.error?.code]
}

test('methods and providers may be written in capitals, and a phone is phone or phone_number', async () => {
  const { client } = await world.account()
  const topup = await client.post('/v1/wallet/topup?wait=0', {
    amount: 500,
    phone_number: phone,
    method: 'MOBILE_MONEY',
  })
  assert.deepEqual([topup.status, topup.body.phone, topup.body.method], [201, phone, 'mobile_money'], topup.text)

  const filling = {
    enabled: true,
    threshold: 1,
    amount: 100,
    method: 'MOBILE_MONEY',
    phone_number: phone,
    provider: 'MPESA',
  }
  const { body: recharge, text } = await client.post('/v1/wallet/auto-recharge', filling)
  assert.deepEqual([recharge.method, recharge.phone, recharge.provider], ['mobile_money', phone, 'mpesa'], text)

  const asked = { amount: 100, currency: 'kes', phone_number: phone, method: 'Mobile_Money', provider: 'MPESA' }
  const checked = await client.post('/v1/payments/risk-check', asked)
  assert.equal(checked.status, 200, checked.text)
  const blocked = await client.post('/v1/payments/fraud/blacklist', { type: 'phone', value: phone })
  assert.equal(blocked.status, 201)
  assert.equal(
    (await client.post('/v1/payments/risk-check', asked)).body.decision,
    'block',
    'it is the phone asked about',
  )

  const { client: other } = await world.account()
  const made = await other.post('/v1/billing/invoices', {
    ...invoice,
    payment_methods: ['CARD', 'card', 'Mobile_Money'],
  })
  assert.deepEqual(made.body.payment_methods, ['card', 'mobile_money'], made.text)
  const subscribed = await other.post(subscriptions, {
    plan_id: await plan(other),
    customer,
    payment_method: { type: 'MOBILE_MONEY', phone_number: phone, provider: 'MPESA' },
  })
  const { type, phone: number, provider } = subscribed.body.payment_method
  assert.deepEqual([type, number, provider], ['mobile_money', phone, 'mpesa'], subscribed.text)
})

test('a wallet is filled by debit of a bank account', async () => {
  const { client } = await world.account()
  const bank = { account_number: '1234560001', bank_code: '999', account_name: 'Asha' }
  const { status, body, text } = await client.post('/v1/wallet/topup', { amount: 500, bank })
  assert.deepEqual([status, body.method, body.type], [201, 'bank_transfer', 'topup'], text)
})

test('a limit of a day is lifted by null, and stays when nothing is said of it', async () => {
  const { client } = await world.account()
  const set = async (change: object) =>
    (await client.post('/v1/wallet/auto-recharge', { enabled: true, ...change })).body.daily_limit
  assert.equal(await set({ threshold: 1, amount: 100, phone, daily_limit: 300 }), 300)
  assert.equal(await set({}), 300)
  assert.equal(await set({ daily_limit: null }), null)
})

test('whoever turns off what was never on is told that it is off', async () => {
  const { client } = await world.account()
  const { status, body, text } = await client.post('/v1/wallet/auto-recharge', { enabled: false, currency: 'ugx' })
  assert.deepEqual(
    [status, body.currency, body.enabled, body.status, body.threshold, body.created_at],
    [200, 'UGX', false, 'disabled', null, null],
    text,
  )
  assert.deepEqual((await client.get('/v1/wallet/auto-recharge')).body.data, [], 'nothing was stored')
})

test('a card that fills the wallet is saved when that is asked for, and fills it by itself from then on', async () => {
  const { client } = await world.account()
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { body, text } = await client.post('/v1/wallet/topup', { amount: 100, card, save_card: true })
  assert.match(body.card_token, /^tok_/, text)
  const recharge = { enabled: true, threshold: 1, amount: 100, card_token: body.card_token }
  assert.equal((await client.post('/v1/wallet/auto-recharge', recharge)).body.method, 'card')
})

test('kinds of movements that nothing makes yet can be asked for, and there are none', async () => {
  const { client } = await world.account({ balance: 100 })
  for (const type of [
    'payment_fee',
    'usage_messenger',
    'usage_email',
    'usage_voice',
    'usage_ussd',
    'usage_identity',
    'plan_fee',
    'conversion',
  ]) {
    const { status, body } = await client.get(`/v1/wallet/transactions?type=${type}`)
    assert.deepEqual([status, body.data, body.has_more, body.next_cursor], [200, [], false, null], type)
  }
  assert.equal((await client.get('/v1/wallet/transactions?type=gift')).status, 400)
})

test('what a plan costs is refused when it differs, and a plan that is sent back whole is taken', async () => {
  const { client } = await world.account()
  const id = await plan(client, { code: 'gold', tax_rate: 16, setup_fee: 10 })
  const path = `/v1/billing/plans/${id}`
  for (const [field, value] of Object.entries({
    amount: 1500.5,
    currency: 'USD',
    interval: 'year',
    interval_count: 2,
    trial_days: 7,
    tax_rate: 0,
    tax_inclusive: true,
    setup_fee: 0,
    code: 'silver',
  })) {
    const refused = await client.patch(path, { name: 'Other', [field]: value })
    assert.deepEqual([...refusalOf(refused), refused.body.error?.fields?.[0].field], [422, 'VALIDATION_ERROR', field])
    assert.match(refused.body.error.details, /create another plan/)
  }
  const { data: whole } = (await client.get(path)).body
  assert.equal(whole.name, 'Monthly', 'nothing of it was taken')
  const { status, body, text } = await client.patch(path, { ...whole, name: 'Gold' })
  assert.deepEqual([status, body.name, body.amount], [200, 'Gold', 1500], text)
})

test('notes have at most 8 KiB in all, wherever money takes them', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const plan_id = await plan(client)
  const notes = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x'.repeat(500)]))
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { body: paid } = await client.post('/v1/payments', { amount: 100, currency: 'KES', card })
  const asked = { amount: 10, currency: 'KES', phone }
  for (const [path, body] of [
    ['/v1/payments?wait=0', asked],
    ['/v1/payments/mobile/initiate?wait=0', asked],
    [`/v1/payments/${paid.payment_id}/refund`, { amount: 1 }],
    ['/v1/payouts?wait=0', asked],
    ['/v1/payments/payout/bulk', { currency: 'KES', items: [{ amount: 10, phone }] }],
    ['/v1/wallet/topup?wait=0', asked],
    ['/v1/billing/plans', { name: 'Monthly', amount: 1, currency: 'KES', interval: 'month' }],
    ['/v1/billing/invoices', invoice],
    [subscriptions, { plan_id, customer }],
  ] as const) {
    const taken = await client.post(path, { ...body, metadata: notes(16) })
    assert.deepEqual([taken.status, Object.keys(taken.body.metadata).length], [201, 16], `${path} ${taken.text}`)
    const refused = await client.post(path, { ...body, metadata: notes(17) })
    assert.deepEqual(refusalOf(refused), [422, 'VALIDATION_ERROR'], path)
    assert.match(refused.body.error.details, /^metadata must have at most 8192 bytes/)
  }
  const changed = await client.patch(`/v1/billing/plans/${plan_id}`, { metadata: notes(17) })
  assert.deepEqual(refusalOf(changed), [422, 'VALIDATION_ERROR'])
  const { body: batch } = await client.post('/v1/payments/payout/bulk', {
    currency: 'KES',
    items: [
      { amount: 10, phone },
      { amount: 10, phone, metadata: notes(17) },
    ],
  })
  assert.deepEqual([batch.accepted_count, batch.payouts[1].error.code], [1, 'VALIDATION_ERROR'])
})

test('a phone under both of its names must be the same one, wherever it is asked for money', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const { body: due } = await client.post('/v1/billing/invoices', { ...invoice, send: true })
  const both = { phone, phone_number: '+254700000002' }
  const payment_method = { type: 'mobile_money', ...both }
  for (const [path, body, field] of [
    ['/v1/payments', { amount: 10, currency: 'KES', ...both }, 'phone_number'],
    ['/v1/payments/mobile/initiate', { amount: 10, currency: 'KES', ...both }, 'phone_number'],
    ['/v1/payouts', { amount: 10, currency: 'KES', ...both }, 'phone_number'],
    ['/v1/wallet/topup', { amount: 10, ...both }, 'phone_number'],
    ['/v1/wallet/auto-recharge', { enabled: true, threshold: 1, amount: 10, ...both }, 'phone_number'],
    ['/v1/payments/risk-check', { amount: 10, currency: 'KES', ...both }, 'phone_number'],
    [`/v1/billing/invoices/${due.invoice_id}/pay`, both, 'phone_number'],
    [subscriptions, { plan_id: await plan(client), customer, payment_method }, 'payment_method.phone_number'],
  ] as const) {
    const reply = await client.post(path, body)
    assert.deepEqual(refusalOf(reply), [422, 'VALIDATION_ERROR'], `${path} ${reply.text}`)
    assert.equal(reply.body.error.fields[0].field, field, path)
  }
  const { body: seen } = await client.get('/v1/payments/transactions')
  assert.deepEqual(seen.data, [], 'nobody was asked')
})

test('a refusal names the field, and says what would do', async () => {
  const { client } = await world.account()
  const item = { description: 'Setup', unit_amount: 10 }
  const monthly = { name: 'Monthly', amount: 1, currency: 'KES', interval: 'month' }
  const weekly = (await client.post('/v1/billing/plans', { ...monthly, interval: 'week' })).body.plan_id
  for (const [path, body, code, field, words] of [
    ['/v1/billing/invoices', { ...invoice, items: [item, { ...item, quantity: 0 }] }, 0, 'items[1].quantity', /more/],
    [
      '/v1/billing/invoices',
      { ...invoice, items: [{ ...item, unit_amount: 0.001 }] },
      0,
      'items[0].unit_amount',
      /KES/,
    ],
    ['/v1/billing/invoices', { ...invoice, items: [{ ...item, discount: {} }] }, 0, 'items[0].discount', /either/],
    ['/v1/billing/invoices', { ...invoice, due_date: '2020-01-01' }, 0, 'due_date', /before today/],
    ['/v1/billing/invoices', { ...invoice, customer: {} }, 0, 'customer', /must have/],
    ['/v1/billing/plans', { ...monthly, amount: 0.001 }, 0, 'amount', /KES allows 2 decimals/],
    ['/v1/billing/plans', { ...monthly, tax_rate: 101 }, 0, 'tax_rate', /at most 100/],
    [subscriptions, { plan_id: weekly, customer, start_date: '2020-01-01' }, 0, 'start_date', /past/],
    [subscriptions, { plan_id: weekly, customer, billing_anchor: 3 }, 0, 'billing_anchor', /must be a date/],
    [
      subscriptions,
      { plan_id: weekly, customer, payment_method: { type: 'card' } },
      0,
      'payment_method.card_token',
      /required/,
    ],
    ['/v1/wallet/auto-recharge', { enabled: true }, 0, 'threshold', /first time/],
    ['/v1/wallet/auto-recharge', { enabled: true, threshold: 1, amount: 10 }, 0, 'phone', /card_token/],
    ['/v1/payments/risk-check', {}, 0, 'amount', /payment_id/],
    ['/v1/payments/fraud/blacklist', { type: 'phone' }, 0, 'value', /entries/],
    ['/v1/payments/payout/bulk', { items: [{ amount: 1, phone }] }, 0, 'currency', /required/],
    ['/v1/payments', { amount: 1, currency: 'SHILLING', phone }, 'UNSUPPORTED_CURRENCY', null, /SHILLING/],
    [
      '/v1/payments',
      { amount: 1, currency: 'KES', phone, provider: 'mtn_momo' },
      'UNSUPPORTED_PROVIDER',
      null,
      /^provider .*mpesa/,
    ],
  ] as const) {
    const { status, body: refused, text } = await client.post(path, body)
    assert.deepEqual([status, refused.error?.code], [422, code || 'VALIDATION_ERROR'], `${path} ${text}`)
    assert.match(refused.error.details, words)
    if (field !== null) assert.equal(refused.error.fields[0].field, field, text)
  }
})

test('no text that is kept with bills holds the number of a card', async () => {
  const { client } = await world.account()
  const lost = 'Paid with 4242 4242 4242 4242'
  const plan_id = await plan(client)
  const { subscription_id } = (await client.post(subscriptions, { plan_id, customer })).body
  const { invoice_id } = (await client.post('/v1/billing/invoices', invoice)).body
  const billed = (more: object) => client.post('/v1/billing/invoices', { ...invoice, ...more })
  const subscribed = (more: object) => client.post(subscriptions, { plan_id, customer, ...more })
  const planned = (more: object) =>
    client.post('/v1/billing/plans', { name: 'Monthly', amount: 1, currency: 'KES', interval: 'month', ...more })
  const rows: [field: string, asked: Promise<Reply>][] = [
    ['notes', billed({ notes: lost })],
    ['metadata', billed({ metadata: { lost } })],
    ['customer.name', billed({ customer: { name: lost } })],
    ['items[1].description', billed({ items: [...invoice.items, { description: lost, unit_amount: 1 }] })],
    ['reason', client.post(`/v1/billing/invoices/${invoice_id}/void`, { reason: lost })],
    ['name', planned({ name: lost })],
    ['description', planned({ description: lost })],
    ['metadata', client.patch(`/v1/billing/plans/${plan_id}`, { metadata: { lost } })],
    ['customer.name', subscribed({ customer: { ...customer, name: lost } })],
    ['metadata', subscribed({ metadata: { lost } })],
    ['metadata', client.patch(`${subscriptions}/${subscription_id}`, { metadata: { lost } })],
    ['reason', client.delete(`${subscriptions}/${subscription_id}?reason=${encodeURIComponent(lost)}`)],
  ]
  for (const [field, asked] of rows) {
    const { status, body } = await asked
    assert.deepEqual(
      [status, body.error?.code, body.error?.details],
      [422, 'VALIDATION_ERROR', `${field} must not hold the number of a card`],
    )
  }
})

test('an invoice is found by its number', async () => {
  const { client } = await world.account()
  const [first, second] = [
    await client.post('/v1/billing/invoices', { ...invoice, send: true }),
    await client.post('/v1/billing/invoices', { ...invoice, send: true }),
  ]
  const { body } = await client.get(`/v1/billing/invoices?number=${second.body.number}`)
  assert.deepEqual(
    body.data.map(({ invoice_id }: { invoice_id: string }) => invoice_id),
    [second.body.invoice_id],
  )
  assert.notEqual(first.body.number, second.body.number)
  assert.deepEqual((await client.get('/v1/billing/invoices?number=INV-1999-000001')).body.data, [])
})

test('a plan goes by its code wherever it goes by its id', async () => {
  const { client } = await world.account()
  const id = await plan(client, { code: 'gold' })
  const other = await plan(client, { code: 'silver', amount: 100 })
  assert.equal((await client.get('/v1/billing/plans/gold')).body.plan_id, id)
  assert.equal((await client.patch('/v1/billing/plans/gold', { name: 'Gold' })).body.plan_id, id)
  const { body, text } = await client.post(subscriptions, { plan_id: 'gold', customer, trial_days: 5 })
  assert.equal(body.plan_id, id, text)
  const changed = await client.patch(`${subscriptions}/${body.subscription_id}`, { plan_id: 'silver' })
  assert.equal(changed.body.plan_id, other, changed.text)
  const of = async (name: string) => (await client.get(`${subscriptions}?plan_id=${name}`)).body.data.length
  assert.deepEqual([await of('silver'), await of(other), await of('gold'), await of('bronze')], [1, 1, 0, 0])
  const { client: stranger } = await world.account()
  assert.equal((await stranger.get('/v1/billing/plans/gold')).status, 404)
  const refused = await stranger.post(subscriptions, { plan_id: 'gold', customer })
  assert.deepEqual(refusalOf(refused), [404, 'NOT_FOUND'])
  assert.match(refused.body.error.details, /its code/)
})

test('who is named by id is that customer, whatever else is said of them', async () => {
  const { client } = await world.account()
  const known = (await client.post('/v1/billing/invoices', invoice)).body.customer
  const named = { customer_id: known.customer_id, email: 'other@example.com', name: 'Other' }
  const made = await client.post('/v1/billing/invoices', { ...invoice, customer: named })
  assert.deepEqual([made.status, made.body.customer], [201, known], made.text)
  assert.equal((await client.get('/v1/billing/customers')).body.data.length, 1)
})

test('notes on a subscription are replaced, and nothing else of it changes', async () => {
  const { client } = await world.account()
  const plan_id = await plan(client, { trial_days: 5 })
  const { body: made } = await client.post(subscriptions, { plan_id, customer, metadata: { a: 1 } })
  const path = `${subscriptions}/${made.subscription_id}`
  const changed = await client.patch(path, { metadata: { b: 'two', c: null } })
  assert.deepEqual([changed.status, changed.headers['pamoja-warning']], [200, undefined], changed.text)
  const { data } = (await client.get(path)).body
  assert.deepEqual(data, { ...made.data, metadata: { b: 'two' } })
  const both = await client.patch(path, { quantity: 2, metadata: {} })
  assert.deepEqual([both.body.quantity, both.body.metadata], [2, {}], both.text)
})

test('an address for mail is mailed to, and where no mail can be sent that is said and nobody is told of any', async () => {
  const { client } = await world.account({ balance: 100 })
  const { invoice_id } = (await client.post('/v1/billing/invoices', invoice)).body
  const path = `/v1/billing/invoices/${invoice_id}`
  const { body: key } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const live = world.stranger.as(key.key)
  const { body: earnest } = await live.post('/v1/billing/invoices', invoice)
  const refused = await live.post(`/v1/billing/invoices/${earnest.invoice_id}/send`, { email: 'asha@example.com' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'MAIL_NOT_CONFIGURED'], refused.text)
  assert.equal((await live.get(`/v1/billing/invoices/${earnest.invoice_id}`)).body.sent_at, null)
  assert.deepEqual((await live.get('/v1/events?event=invoice.sent')).body.data, [])
  const unmailable = await client.post(`${path}/send`, { email: 'asha' })
  assert.deepEqual([unmailable.status, unmailable.body.error?.code], [422, 'INVALID_EMAIL'], unmailable.text)
  const sent = await client.post(`${path}/send`, { email: 'asha@example.com' })
  assert.deepEqual([sent.status, sent.body.status], [200, 'open'], sent.text)
  assert.ok(sent.body.sent_at)
  assert.match(sent.body.hosted_url, /^https:/)
  assert.match(sent.body.pdf_url, /^https:/)
  assert.equal((await client.get('/v1/events?event=invoice.sent')).body.data.length, 1)
})

test('an invoice is collected from a phone under either name, from a saved card, and from an account', async () => {
  const { client } = await world.account()
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { card_token } = (await client.post('/v1/payments', { amount: 5, currency: 'KES', card, save_card: true })).body
  const { invoice_id } = (await client.post('/v1/billing/invoices', { ...invoice, send: true })).body
  const pay = (body: object) => client.post(`/v1/billing/invoices/${invoice_id}/pay`, body)
  const byPhone = await pay({ amount: 500, phone_number: phone })
  assert.deepEqual([byPhone.status, byPhone.body.phone], [201, phone], byPhone.text)
  const bank = { account_number: '1234560001', bank_code: '999', account_name: 'Asha' }
  const byBank = await pay({ amount: 400, bank })
  assert.deepEqual([byBank.status, byBank.body.method], [201, 'bank_transfer'], byBank.text)
  const byCard = await pay({ amount: 600, card_token })
  assert.deepEqual([byCard.status, byCard.body.method], [201, 'card'], byCard.text)
  await eventually(
    async () => (await client.get(`/v1/billing/invoices/${invoice_id}`)).body.status === 'paid',
    'the invoice to be paid',
  )
})

test('a wallet holds at most 9,000,000,000,000, and says how much more fits', async () => {
  const { client, id } = await world.account()
  const credit = (amount: number, reference: string) =>
    world.operator.post(`/v1/operator/accounts/${id}/credit`, {
      amount,
      currency: 'KES',
      environment: 'test',
      reference,
    })
  const half = await Promise.all(['a', 'b', 'c', 'd'].map((reference) => credit(4_500_000_000_000, reference)))
  assert.deepEqual(half.map(({ status }) => status).sort(), [200, 200, 422, 422])
  const over = await credit(1, 'one')
  assert.deepEqual([...refusalOf(over), over.body.error.max_amount], [422, 'AMOUNT_TOO_HIGH', 0])
  const topup = await client.post('/v1/wallet/topup', { amount: 1, phone })
  assert.deepEqual([...refusalOf(topup), topup.body.error.currency], [422, 'AMOUNT_TOO_HIGH', 'KES'])
  const lend = (amount: number) =>
    world.operator.post(`/v1/operator/accounts/${id}/overdraft`, { amount, currency: 'KES', environment: 'test' })
  const much = await lend(100_000_000_001)
  assert.deepEqual([...refusalOf(much), much.body.error.max_amount], [422, 'AMOUNT_TOO_HIGH', 100_000_000_000])
  assert.equal((await lend(100_000_000_000)).status, 200)
  const { available } = (await client.get('/v1/wallet/balance')).body
  assert.equal(available, 9_100_000_000_000)
  const text = await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  assert.equal(text.body.success, true, 'it can still be spent')
})
