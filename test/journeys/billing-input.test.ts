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
    assert.match(refused.body.error.details, /make another plan/)
  }
  const { data: whole } = (await client.get(path)).body
  assert.equal(whole.name, 'Monthly', 'nothing of it was taken')
  const { status, body, text } = await client.patch(path, { ...whole, name: 'Gold' })
  assert.deepEqual([status, body.name, body.amount], [200, 'Gold', 1500], text)
})

test('notes have at most 16 KiB in all, wherever billing takes them', async () => {
  const { client } = await world.account()
  const plan_id = await plan(client)
  const notes = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x'.repeat(500)]))
  for (const [path, body] of [
    ['/v1/billing/plans', { name: 'Monthly', amount: 1, currency: 'KES', interval: 'month' }],
    ['/v1/billing/invoices', invoice],
    [subscriptions, { plan_id, customer }],
  ] as const) {
    const taken = await client.post(path, { ...body, metadata: notes(32) })
    assert.deepEqual([taken.status, Object.keys(taken.body.metadata).length], [201, 32], path)
    assert.deepEqual(
      refusalOf(await client.post(path, { ...body, metadata: notes(33) })),
      [422, 'VALIDATION_ERROR'],
      path,
    )
  }
  const changed = await client.patch(`/v1/billing/plans/${plan_id}`, { metadata: notes(33) })
  assert.deepEqual(refusalOf(changed), [422, 'VALIDATION_ERROR'])
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
  const { body, text } = await client.post(subscriptions, { plan_id: 'gold', customer })
  assert.equal(body.plan_id, id, text)
  const changed = await client.patch(`${subscriptions}/${body.subscription_id}`, { plan_id: 'silver' })
  assert.equal(changed.body.plan_id, other, changed.text)
  const { client: stranger } = await world.account()
  assert.equal((await stranger.get('/v1/billing/plans/gold')).status, 404)
  const refused = await stranger.post(subscriptions, { plan_id: 'gold', customer })
  assert.deepEqual(refusalOf(refused), [404, 'NOT_FOUND'])
  assert.match(refused.body.error.details, /its code/)
})

test('an invoice is collected from a phone under either name, and from a saved card', async () => {
  const { client } = await world.account()
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { card_token } = (await client.post('/v1/payments', { amount: 5, currency: 'KES', card, save_card: true })).body
  const { invoice_id } = (await client.post('/v1/billing/invoices', { ...invoice, send: true })).body
  const pay = (body: object) => client.post(`/v1/billing/invoices/${invoice_id}/pay`, body)
  const byPhone = await pay({ amount: 500, phone_number: phone })
  assert.deepEqual([byPhone.status, byPhone.body.phone], [201, phone], byPhone.text)
  const byCard = await pay({ amount: 1000, card_token })
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
