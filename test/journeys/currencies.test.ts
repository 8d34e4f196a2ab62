// SPDX-License-Identifier: Apache-2.0
// Currencies that are off until the operator turns them on, and what works once they are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { settled } from '../paying.ts'
import { startWorld, type World } from '../world.ts'

let usual: World
let sudan: World
before(async () => {
  usual = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.01 })
  sudan = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.01, PAMOJA_CURRENCIES_ON: ['SDG'] })
})
after(async () => {
  await usual.stop()
  await sudan.stop()
})

const visa = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
const bill = { customer: { name: 'Asha' }, items: [{ description: 'Work', quantity: 1, unit_amount: 100 }] }

test('a code that people write for another currency is refused with the one it stands for', async () => {
  const { client } = await usual.account()
  const { body } = await client.post('/v1/payments', { amount: 100, currency: 'ksh', phone: '+254700000001' })
  assert.equal(body.error.code, 'UNSUPPORTED_CURRENCY')
  assert.equal(body.error.details, 'ksh is not a currency of this service; did you mean KES?')
})

test('a currency that is off is taken nowhere, and offered nowhere', async () => {
  for (const [world, off] of [
    [usual, ['ERN', 'LYD', 'SDG']],
    [sudan, ['ERN', 'LYD']],
  ] as const) {
    const { id, client } = await world.account({ balance: 100 })
    for (const currency of off) {
      const money = { amount: 100, currency }
      const replies = [
        await world.operator.post('/v1/operator/accounts', { name: 'Duka', country: 'KE', currency }),
        await world.operator.post(`/v1/operator/accounts/${id}/credit`, {
          ...money,
          environment: 'test',
          reference: `first-${currency}`,
        }),
        await world.operator.post(`/v1/operator/accounts/${id}/overdraft`, { ...money, environment: 'test' }),
        await world.operator.post('/v1/operator/prices', { area: 'sms', unit: 'segment', ...money }),
        await client.post('/v1/payments', { ...money, method: 'card', card: visa }),
        await client.post('/v1/payments', { ...money, currency: currency.toLowerCase(), phone: '+254700000001' }),
        await client.post('/v1/payments/risk-check', { ...money, phone: '+254700000001' }),
        await client.post('/v1/payouts', { ...money, phone: '+254700000001' }),
        await client.post('/v1/payments/payout/bulk', { currency, items: [{ amount: 1, phone: '+254700000001' }] }),
        await client.post('/v1/wallet/topup', { ...money, method: 'card', card: visa }),
        await client.post('/v1/billing/invoices', { ...bill, currency }),
        await client.post('/v1/billing/plans', { name: 'Monthly', ...money, interval: 'month' }),
      ]
      for (const [n, { status, body, text }] of replies.entries())
        assert.deepEqual([status, body.error?.code], [422, 'UNSUPPORTED_CURRENCY'], `${n} ${text}`)
      assert.deepEqual((await client.get(`/v1/payments/methods?currency=${currency}`)).body.data, [])
    }
    const { data } = (await client.get('/v1/payments/methods')).body
    const offered = new Set(data.flatMap(({ currencies }: { currencies: string[] }) => currencies))
    assert.deepEqual(
      off.filter((code) => offered.has(code)),
      [],
    )
    assert.equal(offered.has('SDG'), world === sudan)
  }
})

test('one that is on has accounts, prices, texts, payments and invoices', async () => {
  const opened = await sudan.operator.post('/v1/operator/accounts', { name: 'Duka', country: 'SD', currency: 'SDG' })
  assert.equal(opened.status, 201, opened.text)
  const client = sudan.stranger.as(opened.body.test_api_key)
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, 100_000)
  const text = await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari!' })
  assert.deepEqual([text.status, text.body.currency, text.body.cost], [200, 'SDG', 3.7], text.text)
  const price = { area: 'sms', unit: 'segment', country: 'SD', amount: 4, currency: 'SDG' }
  assert.equal((await sudan.operator.post('/v1/operator/prices', price)).status, 201)
  const paid = await client.post('/v1/payments', { amount: 5000, currency: 'sdg', method: 'card', card: visa })
  assert.equal(paid.status, 201, paid.text)
  const { status, currency, amount } = await settled(client, paid.body.payment_id)
  assert.deepEqual([status, currency, amount], ['completed', 'SDG', 5000])
  const invoice = await client.post('/v1/billing/invoices', { ...bill, currency: 'SDG', send: true })
  assert.deepEqual([invoice.status, invoice.body.total, invoice.body.currency], [201, 100, 'SDG'], invoice.text)
})
