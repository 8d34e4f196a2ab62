// SPDX-License-Identifier: Apache-2.0
// What cards bring, where the acquirer pays out some days later: the account's own, and not to be spent before.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { loadConfig } from '../../src/config.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { post, reverse } from '../../src/ledger/wallets.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import type { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { eventually, startWorld, tenantOf, type World } from '../world.ts'

const visa = { number: '4242424242424242', exp_month: 12, exp_year: 2099, cvv: '123' }

let world: World
let sql: pg.Client
before(async () => {
  world = await startWorld({ PAMOJA_CARD_SETTLEMENT_DAYS: 2 })
  sql = lookInto(world)
  await sql.connect()
  const { acquirer = {}, mpesa = {} } = simulatedAccounts(world.app)
  for (const [provider, terms] of Object.entries({ acquirer, mpesa })) {
    const entered = await world.operator.post('/v1/operator/payments/providers', {
      provider,
      environment: 'live',
      ...terms,
    })
    assert.equal(entered.status, 201, entered.text)
  }
})
after(async () => {
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
  await sql.end()
  await world.stop()
})

test('a live card payment is pending for as long as the acquirer keeps it, and then in the wallet', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = client.as(key.key)
  const paid = await eventually(async () => {
    const { status, body } = await live.post('/v1/payments', { amount: 1000, currency: 'KES', card: visa })
    return status === 201 && body
  }, 'the acquirer to be asked')
  assert.deepEqual([paid.status, paid.fee, paid.net_amount], ['completed', 29, 971])
  assert.deepEqual(await figures(live), { balance: 0, available: 0, held: 0, pending: 971 })
  assert.deepEqual((await live.get('/v1/wallet/transactions')).body.data, [], 'nothing has come into the wallet')
  const early = await live.post(`/v1/payments/${paid.payment_id}/refund`, {})
  assert.equal(early.body.error.code, 'INSUFFICIENT_WALLET_BALANCE', 'nothing of it can be spent')

  const { rowCount } = await sql.query(
    `update work.jobs set run_at = now() where lane = 'payments.settlement'
        and run_at between now() + interval '47 hours' and now() + interval '48 hours'`,
  )
  assert.equal(rowCount, 1)
  await eventually(async () => (await figures(live)).pending === 0, 'the money to be paid out')
  assert.deepEqual(await figures(live), { balance: 971, available: 971, held: 0, pending: 0 })
  const [row, ...more] = (await live.get('/v1/wallet/transactions')).body.data
  assert.deepEqual([row.type, row.amount, row.source.id, more.length], ['payment', 971, paid.payment_id, 0])
})

test('test cards, and what is paid into the wallet itself, are there at once', async () => {
  const { client } = await world.account()
  const tested = await client.post('/v1/payments', { amount: 1000, currency: 'KES', card: visa })
  assert.equal(tested.body.status, 'completed', tested.text)
  assert.equal((await figures(client)).pending, 0)
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = client.as(key.key)
  const topup = await live.post('/v1/wallet/topup', { amount: 500, currency: 'KES', card: visa })
  assert.equal(topup.body.status, 'completed', topup.text)
  assert.deepEqual(await figures(live), { balance: 500, available: 500, held: 0, pending: 0 })
})

test('what was topped up can be used at once, and be paid out only some days later', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = client.as(key.key)
  const topup = await live.post('/v1/wallet/topup', { amount: 500, currency: 'KES', card: visa })
  assert.equal(topup.body.status, 'completed', topup.text)
  const payout = { amount: 100, currency: 'KES', phone: '+254700000001' }
  const refused = await eventually(async () => {
    const reply = await live.post('/v1/payouts', payout)
    return reply.status !== 503 && reply
  }, 'the provider to be known')
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.available],
    [402, 'INSUFFICIENT_WALLET_BALANCE', 0],
  )
  assert.match(refused.body.error.details, /topped up/)
  const batch = await live.post('/v1/payments/payout/bulk', { currency: 'KES', items: [payout] })
  assert.equal(batch.body.error?.code, 'INSUFFICIENT_WALLET_BALANCE', batch.text)
  await sql.query(`update payments.payments set completed_at = now() - interval '8 days' where id = $1`, [
    uuidOf('payment', topup.body.payment_id),
  ])
  const paid = await live.post('/v1/payouts', payout)
  assert.equal(paid.status, 201, paid.text)
})

test('what was topped up refunds nobody before it can be paid out, unless the acquirer still has the money of the payment', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = client.as(key.key)
  const phone = '+254700000001'
  const own = await eventually(async () => {
    const reply = await live.post('/v1/payments', { amount: 200, currency: 'KES', phone })
    return reply.status !== 503 && reply
  }, 'the provider to be known')
  assert.equal(own.status, 201, own.text)
  await eventually(
    async () => (await live.get(`/v1/payments/${own.body.payment_id}`)).body.status === 'completed',
    'it',
  )
  const { available } = await figures(live)
  const out = await eventually(async () => {
    const reply = await live.post('/v1/payouts', { amount: 100, currency: 'KES', phone })
    return reply.status !== 503 && reply
  }, 'the payout')
  assert.equal(out.status, 201, `${out.text} of ${available}`)
  const topup = await live.post('/v1/wallet/topup', { amount: 500, currency: 'KES', card: visa })
  assert.equal(topup.body.status, 'completed', topup.text)
  const refund = `/v1/payments/${own.body.payment_id}/refund`
  const refused = await live.post(refund, {})
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'INSUFFICIENT_WALLET_BALANCE'], refused.text)
  assert.match(refused.body.error.details, /topped up/)
  assert.ok(refused.body.error.available < 100, refused.text)
  assert.equal((await live.post(refund, { amount: 10 })).status, 201, 'what was collected is refunded')
  const { body: card } = await live.post('/v1/payments', { amount: 300, currency: 'KES', card: visa })
  const pending = await live.post(`/v1/payments/${card.payment_id}/refund`, { amount: 250 })
  assert.equal(pending.status, 201, pending.text)
})

test('what was topped up and used holds back nothing else, and holds it back again when it is given back', async () => {
  const account = await world.account()
  const { body: key } = await account.client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = account.client.as(key.key)
  const own = await eventually(async () => {
    const reply = await live.post('/v1/payments', { amount: 200, currency: 'KES', phone: '+254700000001' })
    return reply.status !== 503 && reply
  }, 'the provider to be known')
  const id = own.body.payment_id
  await eventually(async () => (await live.get(`/v1/payments/${id}`)).body.status === 'completed', 'it')
  const { available: earned } = await figures(live)
  assert.equal((await live.post('/v1/wallet/topup', { amount: 500, currency: 'KES', card: visa })).status, 201)
  const tenant: Tenant = { ...tenantOf(account), environment: 'live' }
  const charge = { sourceId: randomUUID(), step: 'charge' }
  const legs = [{ debit: 'wallet', credit: 'revenue:sms', micros: 500_000_000n, currency: 'KES' as const }]
  const { clock, db } = world.app
  assert.equal(await db.tx(tenant, (tx) => post(tx, tenant, charge, legs, clock.nowMs())), 'posted')
  assert.equal((await figures(live)).available, earned)
  const refunded = await live.post(`/v1/payments/${id}/refund`, { amount: 100 })
  assert.equal(refunded.status, 201, refunded.text)
  await db.tx(tenant, (tx) => reverse(tx, tenant, charge, clock.nowMs()))
  const refused = await live.post(`/v1/payments/${id}/refund`, { amount: 100 })
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'INSUFFICIENT_WALLET_BALANCE'], refused.text)
  assert.equal(refused.body.error.available, earned - 100)
})

test('live cards settle after a delay unless the operator says otherwise', () => {
  assert.equal(loadConfig({}, {}).config.PAMOJA_CARD_SETTLEMENT_DAYS, 7)
})

test('a fee may take the whole amount, and the books are right then too', async () => {
  const { client, id } = await world.account()
  const price = { area: 'payments', unit: 'card.fixed', amount: 5, currency: 'KES', account_id: id }
  const set = await world.operator.post('/v1/operator/prices', price)
  assert.equal(set.status, 201, set.text)
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const order = { amount: 3, currency: 'KES', card: visa }
  for (const payer of [client, client.as(key.key)]) {
    const paid = await eventually(async () => {
      const { body } = await payer.post('/v1/payments', order)
      return body.fee === 3 && body
    }, 'the price to be in force')
    assert.deepEqual([paid.status, paid.net_amount], ['completed', 0])
  }
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

async function figures(client: Client) {
  const { body } = await client.get('/v1/wallet/balance?currency=KES')
  const { balance, available, held, pending } = body
  const [own] = body.balances.filter(({ currency }: { currency: string }) => currency === 'KES')
  assert.deepEqual(own, { currency: 'KES', balance, available, held, pending })
  return { balance, available, held, pending }
}
