// SPDX-License-Identifier: Apache-2.0
// Payments with wallets that ask no phone: the payer is sent to a page, says yes there and comes back. Whoever is not there
// cannot be sent anywhere, so that nothing is collected from such a wallet by itself.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { startMarket } from '../market.ts'
import { hookOf, settled } from '../paying.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.04)

interface Wallet {
  provider: string
  name: string
  currency: string
  /** Of a payer's number; the last four digits say what happens. */
  beginning: string
  /** What payers who do not pay end with. */
  reasons: Readonly<Record<string, string>>
  gone: readonly [status: string, reason: string]
}

const wallets: readonly Wallet[] = [
  {
    provider: 'orange_money',
    name: 'Orange Money',
    currency: 'XOF',
    beginning: '+225070000',
    reasons: { '0002': 'PROVIDER_ERROR' },
    gone: ['failed', 'PROVIDER_ERROR'],
  },
  {
    provider: 'wave',
    name: 'Wave',
    currency: 'XOF',
    beginning: '+22177000',
    reasons: { '0002': 'INSUFFICIENT_FUNDS' },
    gone: ['failed', 'TRANSACTION_TIMEOUT'],
  },
  {
    provider: 'telebirr',
    name: 'telebirr',
    currency: 'ETB',
    beginning: '+25191100',
    reasons: { '0002': 'PROVIDER_ERROR', '0013': 'AMOUNT_MISMATCH' },
    gone: ['failed', 'PROVIDER_ERROR'],
  },
]

/** Payers wait for most of their time, so several have their turn at once. */
describe('wallets', { concurrency: 6 }, () => {
  for (const wallet of wallets) {
    const { provider, name, currency, beginning } = wallet
    const asking = (ending: string, change: object = {}) => {
      return { amount: 1_000, currency, provider, phone: `${beginning}${ending}`, ...change }
    }

    const asked = async (ending: string, change: object = {}) => {
      const { client } = await world.account({ currency })
      const made = await client.post('/v1/payments', asking(ending, change))
      assert.deepEqual([made.status, made.body.provider], [201, provider], made.text)
      // The first request to a provider may take longer than an answer waits: keys are made, and tokens asked for.
      const { body, text } = await eventually(async () => {
        const reply = await client.get(`/v1/payments/${made.body.payment_id}`)
        return reply.body.status !== 'pending' && reply
      }, 'the provider to answer')
      assert.equal(body.status, 'requires_action', text)
      const page = new URL(body.redirect_url).pathname
      const press = (decision: string) => world.stranger.request('POST', page, { raw: `decision=${decision}` })
      return { client, body, text, page, press }
    }

    test(`${provider}: a payer is sent to a page, pays there and lands where the account wants it`, async () => {
      const { client, body, text, page, press } = await asked('0001', { return_url: 'https://shop.example/done' })
      assert.ok(!text.includes('page_url') && !text.includes('shop.example'), 'where else the payer goes is not told')
      const shown = await world.stranger.get(page)
      assert.equal(shown.status, 200)
      assert.ok(shown.text.includes(name) && !/bank/i.test(shown.text), 'the page speaks of the wallet')
      assert.equal((await press('fail')).status, 400, 'there is no such button')
      const landed = await press('approve')
      assert.equal(landed.status, 303, landed.text)
      assert.match(
        String(landed.headers.location),
        /^https:\/\/shop\.example\/done\?payment_id=pay_\w+&status=completed&sig=/,
      )
      const paid = await settled(client, body.payment_id)
      assert.deepEqual([paid.status, paid.failure_reason, paid.redirect_url], ['completed', null, undefined])
      assert.ok(paid.provider_reference)
      assert.equal((await world.stranger.get(page)).status, 410, 'the page is used once')
      const told = (await client.get('/v1/events?limit=20')).body.data.map(({ event }: { event: string }) => event)
      assert.deepEqual(told.sort(), ['payment.completed', 'payment.created', 'payment.requires_action'])
    })

    test(`${provider}: whoever gives up, or cannot pay, has not paid`, async () => {
      const left = await asked('0001')
      assert.equal((await left.press('abandon')).status, 200)
      const over = await settled(left.client, left.body.payment_id)
      assert.deepEqual([over.status, over.failure_reason], wallet.gone)
      for (const [ending, reason] of Object.entries(wallet.reasons)) {
        const { client, body, press } = await asked(ending)
        await press('approve')
        const payment = await settled(client, body.payment_id)
        assert.deepEqual([payment.status, payment.failure_reason], ['failed', reason])
      }
    })

    for (const ending of ['0009', '0010', '0014', '0015'])
      test(`${provider}: a payer whose number ends in ${ending} has paid, once`, async () => {
        const { client, body, press } = await asked(ending)
        await press('approve')
        const payment = await settled(client, body.payment_id)
        assert.deepEqual([payment.status, payment.late], ['completed', false])
      })

    test(`${provider}: a page that nobody answers is over with its payment`, async () => {
      const { client, body, page } = await asked('0001', { expires_in: 86_400 })
      const lifeMs = Date.parse(body.expires_at) - Date.parse(body.created_at)
      assert.ok(lifeMs <= 3_600_000 * 0.04, 'nobody can make the page live longer')
      const ended = await settled(client, body.payment_id)
      assert.deepEqual([ended.status, ended.failure_reason], ['expired', 'TRANSACTION_TIMEOUT'])
      assert.equal((await world.stranger.get(page)).status, 410)
    })

    test(`${provider}: who must be present is not asked by itself`, async () => {
      const { client } = await world.account({ currency })
      const { phone } = asking('0001')
      const recharge = { enabled: true, threshold: 500, amount: 1_000, currency, phone, provider }
      const refused = await client.post('/v1/wallet/auto-recharge', recharge)
      assert.deepEqual([refused.status, refused.body.error.code], [422, 'UNSUPPORTED_PROVIDER'], refused.text)
      assert.match(refused.body.error.details, /saved card/)
      const plan = await client.post('/v1/billing/plans', { name: 'Gold', amount: 1_000, currency, interval: 'month' })
      assert.equal(plan.status, 201, plan.text)
      const subscription = {
        plan_id: plan.body.plan_id,
        customer: { name: 'Ada', phone },
        payment_method: { type: 'mobile_money', phone, provider },
      }
      const unrenewable = await client.post('/v1/billing/subscriptions', subscription)
      assert.deepEqual(
        [unrenewable.status, unrenewable.body.error.code],
        [422, 'UNSUPPORTED_PROVIDER'],
        unrenewable.text,
      )
      assert.deepEqual((await client.get('/v1/payments/transactions')).body.data, [])
    })

    test(`${provider}: its offer says that payers confirm on a page`, async () => {
      const { client } = await world.account({ currency })
      const { data } = (await client.get(`/v1/payments/methods?currency=${currency}`)).body
      const offers = data.filter((one: { provider: string }) => one.provider === provider)
      assert.ok(offers.length > 0)
      for (const one of offers) assert.deepEqual([one.confirms_on, one.directions], ['page', ['in']])
    })
  }
})

test('the page of an invoice sends a payer to the wallet in its own words, and takes it back', async () => {
  const { client } = await world.account({ currency: 'XOF' })
  const items = [{ description: 'Setup', quantity: 1, unit_amount: 1_000 }]
  const invoice = { customer: { name: 'Ada' }, currency: 'XOF', items, send: true }
  const { body, text: made } = await client.post('/v1/billing/invoices', invoice)
  const path = new URL(body.hosted_url ?? made).pathname
  const sent = await world.stranger.request('POST', path, {
    raw: 'phone=%2B2250700000001&provider=',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(sent.status, 303, sent.text)
  const text = await eventually(async () => {
    const { text } = await world.stranger.get(sent.headers.location ?? '')
    return text.includes('/go/') && text
  }, 'the page to send the payer on')
  assert.match(text, /You pay on a page of Orange Money/)
  assert.doesNotMatch(text, /bank/i)
  const [, page = ''] = /href="(\/go\/[0-9a-f]+)"/.exec(text) ?? []
  const decided = await world.stranger.request('POST', page, { raw: 'decision=approve' })
  const back = new URL(decided.headers.location ?? '')
  assert.equal(back.pathname, path)
  const there = await world.stranger.get(`${back.pathname}${back.search}`)
  assert.match((await world.stranger.get(there.headers.location ?? '')).text, /Paid, thank you/)
})

test('the address that a payer is sent to is not the one that the provider calls', async () => {
  const { client } = await world.account({ currency: 'ETB' })
  const asked = { amount: 1_000, currency: 'ETB', phone: '+251911000001', provider: 'telebirr' }
  const made = await client.post('/v1/payments', asked)
  const { body } = await eventually(async () => {
    const reply = await client.get(`/v1/payments/${made.body.payment_id}`)
    return reply.body.status === 'requires_action' && reply
  }, 'the provider to answer')
  const page = new URL(body.redirect_url).pathname
  const { rows } = await sql.query('select provider_id from payments.attempts where payment_id = $1', [
    uuidOf('payment', body.payment_id),
  ])
  const [{ provider_id: merch_order_id }] = rows
  const notice = (trade_status: string, total_amount: string) => ({ merch_order_id, trade_status, total_amount })
  const guessed = page.replace('/go/', '/hooks/p/')
  for (const forged of [notice('Failure', '1000'), notice('Completed', '9000000')])
    assert.equal((await world.stranger.post(guessed, forged)).status, 404)
  const hook = await hookOf(world.app, sql, body.payment_id)
  assert.equal((await world.stranger.get(hook.replace('/hooks/p/', '/go/'))).status, 404)
  assert.equal((await client.get(`/v1/payments/${body.payment_id}`)).body.status, 'requires_action')
})

test('a call with another amount than the provider tells when it is asked moves no other amount', async () => {
  const { client } = await world.account({ currency: 'ETB' })
  // Its payer pays, and nobody is called.
  const asked = { amount: 1_000, currency: 'ETB', phone: '+251911000010', provider: 'telebirr' }
  const made = await client.post('/v1/payments', asked)
  const { body } = await eventually(async () => {
    const reply = await client.get(`/v1/payments/${made.body.payment_id}`)
    return reply.body.status === 'requires_action' && reply
  }, 'the provider to answer')
  const payment = uuidOf('payment', body.payment_id)
  const { rows } = await sql.query('select provider_id from payments.attempts where payment_id = $1', [payment])
  const { rows: pages } = await sql.query(`select details->>'page_url' as url from payments.payments where id = $1`, [
    payment,
  ])
  await fetch(pages[0].url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'approve', phone: asked.phone }),
  })
  const called = { merch_order_id: rows[0].provider_id, trade_status: 'Completed', total_amount: '9000000' }
  assert.equal((await world.stranger.post(await hookOf(world.app, sql, body.payment_id), called)).status, 200)
  const paid = await settled(client, body.payment_id)
  assert.deepEqual([paid.status, paid.failure_reason, paid.amount], ['completed', null, 1_000])
})

test('a provider in earnest has its own page, and a notice without its token is none of its', async () => {
  const { orange_money: simulated = {} } = simulatedAccounts(world.app)
  const elsewhere = { ...simulated, base_url: String(simulated.base_url).replace('127.0.0.1', 'localhost') }
  const entered = await world.operator.post('/v1/operator/payments/providers', {
    ...{ provider: 'orange_money', environment: 'test', country: 'ML' },
    ...elsewhere,
  })
  assert.equal(entered.status, 201, entered.text)
  assert.ok(!entered.text.includes(String(simulated.merchant_key)), 'no secret comes back')
  const { client } = await world.account({ currency: 'XOF' })
  const { body, text } = await client.post('/v1/payments', { amount: 500, currency: 'XOF', phone: '+22370000001' })
  assert.equal(body.status, 'requires_action', text)
  const hook = await hookOf(world.app, sql, body.payment_id)
  for (const forged of [
    { status: 'SUCCESS', notif_token: 'x', txnid: 'MP1' },
    { status: 'FAILED', notif_token: '' },
  ])
    assert.equal((await world.stranger.post(hook, forged)).status, 404)
  assert.equal((await client.get(`/v1/payments/${body.payment_id}`)).body.status, 'requires_action')
  assert.equal((await world.operator.delete('/v1/operator/payments/providers/orange_money-ml-test')).status, 200)
})
