// SPDX-License-Identifier: Apache-2.0
// What a request for money may say, and what it is answered: the names of fields, the ways that exclude each other, what a
// payer dials, the pictures, and the words of refusals.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../../src/areas/payments/carriers/kinds.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'

const { world } = await startMarket(0.01)

const phone = '+254700000001'
const kes = { amount: 100, currency: 'KES' }
const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
const bank = { account_number: '0112230001', bank_code: '999', account_name: 'Asha' }

test('a number is a number under either of its names', async () => {
  const { client } = await world.account({ balance: 1_000 })
  for (const path of ['/v1/payments', '/v1/payments/charge', '/v1/payments/mobile/initiate'])
    for (const named of [{ phone }, { phone_number: phone }, { phone, phone_number: phone }]) {
      const { status, body } = await client.post(`${path}?wait=0`, { ...kes, ...named })
      assert.deepEqual([status, body.method, body.phone], [201, 'mobile_money', phone], `${path} ${Object.keys(named)}`)
    }
  for (const path of ['/v1/payouts', '/v1/payments/payout']) {
    const { status, body } = await client.post(`${path}?wait=0`, { ...kes, amount: 10, phone_number: phone })
    assert.deepEqual([status, body.recipient?.phone], [201, phone], path)
  }
  const { body: batch } = await client.post('/v1/payments/payout/bulk', {
    currency: 'KES',
    items: [{ amount: 10, phone_number: phone }],
  })
  assert.equal(batch.accepted_count, 1)
  for (const path of ['/v1/payments', '/v1/payments/mobile/initiate', '/v1/payouts'])
    assert.deepEqual(await refused(client, path, { ...kes, phone, phone_number: '+254700000002' }), [
      422,
      'VALIDATION_ERROR',
      'phone_number',
      'must be the same as phone, or absent',
    ])
  assert.deepEqual(await refused(client, '/v1/payments', { ...kes, phone_number: 'x' }), [
    422,
    'INVALID_PHONE',
    'phone_number',
    'must be E.164, such as +254711000001',
  ])
})

test('what was paid, paid out, given back, billed and subscribed to is found on the day it shows', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const terms = { name: 'Daily', amount: 10, currency: 'KES', interval: 'day' }
  const { body: plan } = await client.post('/v1/billing/plans', terms)
  const customer = { name: 'Asha', email: 'asha@example.com', phone }
  const make = async () => {
    const { body: asked } = await client.post('/v1/payments', { ...kes, phone })
    const { body: paid } = await client.get(`/v1/payments/${asked.payment_id}?wait=30`)
    await client.post(`/v1/payments/${asked.payment_id}/refund?wait=0`, { amount: 10 })
    await client.post('/v1/payouts?wait=0', { ...kes, amount: 10, phone })
    await client.post('/v1/billing/invoices', {
      customer,
      currency: 'KES',
      items: [{ description: 'Tea', unit_amount: 10 }],
    })
    await client.post('/v1/billing/subscriptions', { plan_id: plan.plan_id, customer, trial_days: 100 })
    return paid.created_at.slice(0, 10)
  }
  const first = await make()
  await client.post('/v1/sandbox/clock', { advance_seconds: 40 * 86_400 })
  const second = await make()
  assert.equal(Date.parse(second) - Date.parse(first), 40 * 86_400_000)
  const lists = ['payments/transactions', 'payouts', 'refunds', 'billing/invoices', 'billing/subscriptions']
  for (const path of lists) {
    const found = async (query: string) => (await client.get(`/v1/${path}?limit=100${query}`)).body.data.length
    const all = await found('')
    assert.ok(all >= 2, `${path} has ${all}`)
    const days = [await found(`&start_date=${first}&end_date=${first}`), await found(`&start_date=${second}`)]
    assert.deepEqual(days, [all / 2, all / 2], path)
  }
})

test('what is asked of phones is asked of phones alone', async () => {
  const { client } = await world.account()
  const path = '/v1/payments/mobile/initiate'
  assert.deepEqual((await refused(client, path, kes)).slice(2), ['phone_number', 'is required'])
  assert.equal(
    (await refused(client, path, { ...kes, phone_number: phone, provider: 'bank' }))[1],
    'UNSUPPORTED_PROVIDER',
  )
  // Whoever names another source of the money must not find the phone charged.
  for (const [field, other] of [
    ['method', { method: 'bank_transfer' }],
    ['method', { method: 'card' }],
    ['bank', { bank }],
    ['card_token', { card_token: 'tok_x' }],
    ['capture', { capture: false }],
    ['save_card', { save_card: true }],
    ['card', { card: {} }],
  ] as const) {
    const [status, code, named] = await refused(client, path, { ...kes, phone_number: phone, ...other })
    assert.deepEqual([status, code, named], [422, 'VALIDATION_ERROR', field])
  }
  assert.equal(await countOf(client), 0)
  const same = { ...kes, phone_number: phone, method: 'Mobile_Money', capture: true, bank: null }
  const taken = await client.post(`${path}?wait=0`, same)
  assert.deepEqual([taken.status, taken.headers['pamoja-warning']], [201, undefined], taken.text)
})

test('whoever wants a card saved where none is charged is told so', async () => {
  const { client } = await world.account({ balance: 1_000 })
  for (const [path, source, method] of [
    ['/v1/payments', { phone }, 'mobile_money'],
    ['/v1/payments', { bank }, 'bank_transfer'],
    ['/v1/wallet/topup', { phone }, 'mobile_money'],
  ] as const)
    assert.deepEqual(await refused(client, path, { ...kes, ...source, save_card: true }), [
      422,
      'VALIDATION_ERROR',
      'save_card',
      `there is no card to save in a payment by ${method}`,
    ])
  assert.equal(await countOf(client), 0)
  assert.equal((await client.post('/v1/payments?wait=0', { ...kes, phone, save_card: false })).status, 201)
})

test('whoever names a provider that does not charge cards is told so', async () => {
  const { client } = await world.account()
  assert.equal((await refused(client, '/v1/payments', { ...kes, card, provider: 'mpesa' }))[1], 'UNSUPPORTED_PROVIDER')
  assert.equal(await countOf(client), 0)
  const { status } = await client.post('/v1/payments', { ...kes, card, provider: 'Acquirer' })
  assert.equal(status, 201)
})

test('a card is given, or a saved one named, and never both', async () => {
  const { client } = await world.account()
  const { body: paid } = await client.post('/v1/payments', { ...kes, card, save_card: true })
  const both = await refused(client, '/v1/payments', { ...kes, card, card_token: paid.card_token })
  assert.deepEqual(both.slice(0, 3), [422, 'VALIDATION_ERROR', 'card_token'])
  assert.equal(await countOf(client), 1)
})

test('whoever is the first to pay in earnest is told what is missing', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { body: key } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live', scopes: ['*'] })
  const live = world.stranger.as(key.key)
  for (const [body, provider] of [
    [{ ...kes, phone }, 'mpesa'],
    [{ ...kes, card }, 'acquirer'],
    [{ ...kes, method: 'bank_transfer' }, 'bank'],
  ] as const) {
    const { status, body: answer, headers } = await live.post('/v1/payments', body)
    const { code, details } = answer.error
    const words = `this installation has no account with ${provider} yet; ask its operator`
    assert.deepEqual([status, code, details, headers['retry-after']], [503, 'PROVIDER_UNAVAILABLE', words, undefined])
    assert.doesNotMatch(
      answer.error.message,
      /Nothing was done|temporarily/,
      'it is stored and told of, and will not pass',
    )
    const { body: stored } = await live.get(`/v1/payments/${answer.error.payment_id}`)
    assert.deepEqual([stored.status, stored.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
  }
})

test('a payer is told what to dial, until the payment is over', async () => {
  const { client } = await world.account()
  for (const [currency, payer, code] of [
    ['KES', phone, '*334#'],
    ['UGX', '+256770000001', '*165#'],
  ]) {
    const { body: asked } = await client.post('/v1/payments?wait=0', { amount: 100, currency, phone: payer })
    assert.equal(asked.ussd_code, code)
    const { body: over } = await client.get(`/v1/payments/${asked.payment_id}?wait=30`)
    assert.deepEqual([over.status, Object.hasOwn(over, 'ussd_code')], ['completed', false])
  }
  const { body: charged } = await client.post('/v1/payments', { ...kes, card })
  assert.ok(!Object.hasOwn(charged, 'ussd_code'))
})

test('too little is too little before it is no whole unit, and says how little', async () => {
  const { client } = await world.account({ balance: 1_000 })
  for (const path of ['/v1/payments', '/v1/payouts'])
    for (const [amount, code, words] of [
      [0.5, 'AMOUNT_TOO_LOW', 'mpesa takes KES 1 and more'],
      [1.5, 'VALIDATION_ERROR', 'amount: provider mpesa takes whole KES'],
      [-1, 'VALIDATION_ERROR', /^amount: KES takes a plain decimal number such as 100 or 0\.5/],
      ['123456789012345.67', 'VALIDATION_ERROR', /^amount: KES takes a plain decimal number/],
      ['1234567890123.45', 'AMOUNT_TOO_HIGH', /^mpesa takes at most KES 250000/],
    ] as const) {
      const { body } = await client.post(path, { amount, currency: 'KES', phone })
      assert.equal(body.error.code, code, `${path} ${amount}`)
      if (typeof words === 'string') assert.equal(body.error.details, words)
      else assert.match(body.error.details, words)
      if (code === 'AMOUNT_TOO_LOW') assert.deepEqual([body.error.min_amount, body.error.currency], [1, 'KES'])
      if (code === 'VALIDATION_ERROR') assert.equal(body.error.fields[0].field, 'amount')
    }
})

test('a mobile-money payment is waited for under its own path too', async () => {
  const { client } = await world.account()
  const { body: asked } = await client.post('/v1/payments?wait=0', { ...kes, phone })
  const waited = await client.get(`/v1/payments/mobile/${asked.payment_id}?wait=30&fail_on_timeout=true`)
  assert.deepEqual([waited.status, waited.body.status], [200, 'completed'], waited.text)
  const { body: charged } = await client.post('/v1/payments', { ...kes, card })
  assert.equal((await client.get(`/v1/payments/mobile/${charged.payment_id}`)).status, 404)
})

test('whoever cannot withdraw a payment is told why', async () => {
  const { client } = await world.account()
  const words = async (ending: string, wait: string) => {
    const { body: asked } = await client.post('/v1/payments', {
      ...kes,
      phone: `+25470000${ending}`,
      expires_in: 86_400,
    })
    if (wait) await client.get(`/v1/payments/${asked.payment_id}?wait=${wait}`)
    const { status, body } = await client.post(`/v1/payments/${asked.payment_id}/cancel`)
    return [status, body.error.code, body.error.status, body.error.details]
  }
  assert.deepEqual(await words('0003', ''), [
    409,
    'INVALID_STATE',
    'processing',
    'the payment is processing; the payer may have been asked already, so it has to be waited for',
  ])
  assert.deepEqual((await words('0001', '30')).slice(2), ['completed', 'the payment is completed; it can be refunded'])
  assert.deepEqual((await words('0002', '30')).slice(2), ['failed', 'the payment is failed; it is over already'])
})

test('every way to pay has a picture, and every bank the code that a request names it by', async () => {
  const { client } = await world.account()
  const { body } = await client.get('/v1/payments/methods?limit=200')
  const seen = new Set<string>()
  for (const { logo_url, provider, banks = [] } of body.data) {
    seen.add(provider)
    const picture = await world.stranger.get(new URL(logo_url).pathname)
    assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/svg+xml; charset=utf-8'], logo_url)
    assert.match(picture.text, /^<svg [^>]*aria-label="[^"]+"/)
    for (const one of banks) assert.deepEqual(one, { bank_code: '999', name: 'Sandbox Bank' })
  }
  assert.deepEqual(seen, new Set(kinds.map(({ facts }) => facts.provider)))
})

test('payouts and transactions are found by method and by phone, in whatever case', async () => {
  const { client } = await world.account({ balance: 1_000 })
  await client.post('/v1/payouts?wait=0', { ...kes, amount: 10, phone })
  await client.post('/v1/payouts?wait=0', { ...kes, amount: 11, bank })
  const amounts = async (query: string) => {
    const { body } = await client.get(`/v1/payouts?${query}`)
    return body.data.map(({ amount }: { amount: number }) => amount)
  }
  assert.deepEqual(await amounts('order=asc'), [10, 11])
  assert.deepEqual(await amounts('method=BANK_transfer'), [11])
  assert.deepEqual(await amounts(`phone=${phone}`), [10])
  assert.deepEqual(await amounts('phone=%2B254700000009'), [])
  const { body } = await client.get('/v1/payments/transactions?method=Mobile_Money')
  assert.equal(body.data.length, 1)
  assert.equal((await client.get('/v1/payouts?method=card')).status, 400)
})

/** The status, the code, and the first field with its message. */
async function refused(client: Client, path: string, body: object) {
  const { status, body: answer } = await client.post(path, body)
  const [first] = answer.error?.fields ?? []
  return [status, answer.error?.code, first?.field, first?.message]
}

async function countOf(client: Client): Promise<number> {
  return (await client.get('/v1/payments/transactions')).body.data.length
}
