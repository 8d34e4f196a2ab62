// SPDX-License-Identifier: Apache-2.0
// Money that may have been sent with one account of a provider, which the operator then replaces: the other account has never
// heard of it, and that is no reason to send it a second time.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gatewayOf } from '../../src/areas/payments/gateway/gateway.ts'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'
import { openDoor } from '../momo.ts'
import { settled, wallet } from '../paying.ts'

const { world } = await startMarket(0.01)
/** Nothing that goes out arrives. */
const door = await openDoor(world, 'UG', (method, path) => method === 'POST' && /(transfer|refund)$/.test(path))
after(() => door.close())
const providers = '/v1/operator/payments/providers'
const momo = { provider: 'mtn_momo', country: 'UG' }
const account = () => gatewayOf(world.app).accountOf(momo, 'test')

test('a payout and a refund that one account may have taken are not sent again with another', async () => {
  const simulated = account()
  const entered = await world.operator.post(providers, door.account)
  assert.equal(entered.status, 201, entered.text)
  const first = await eventually(async () => account() !== simulated && account(), 'the account to be used')
  const { client, id } = await world.account({ currency: 'UGX', balance: 10_000 })
  const order = { amount: 1_000, currency: 'UGX', phone: '+256770000001' }
  const asked = await client.post('/v1/payments', order)
  const payment = await settled(client, asked.body.payment_id)
  assert.equal(payment.status, 'completed', asked.text)
  const { body: payout } = await client.post('/v1/payouts', order)
  const { body: refund } = await client.post(`/v1/payments/${payment.payment_id}/refund`)
  assert.deepEqual([payout.status, refund.status], ['processing', 'processing'])

  const { base_url } = simulatedAccounts(world.app).mtn_momo ?? {}
  const changed = await world.operator.patch(`${providers}/${entered.body.id}`, { base_url })
  assert.equal(changed.status, 200, changed.text)
  await eventually(async () => account() !== first, 'the account to be replaced')
  const listed = async (what: string) => (await world.operator.get(`/v1/operator/payments/${what}?limit=200`)).body.data
  await eventually(async () => {
    const [payouts, refunds] = await Promise.all([listed('payouts'), listed('refunds')])
    return payouts[0]?.payout_id === payout.payout_id && refunds[0]?.refund_id === refund.refund_id
  }, 'both to be on the lists')
  const held = await wallet(client, 'UGX')
  assert.deepEqual(held, { balance: 10_985, held: 2_005 })
  assert.equal((await client.get(`/v1/payouts/${payout.payout_id}`)).body.status, 'processing')
  assert.equal((await client.get(`/v1/refunds/${refund.refund_id}`)).body.status, 'processing')

  const path = `/v1/operator/payments/payouts/${payout.payout_id}/settle`
  assert.equal((await world.operator.post(path, { outcome: 'failed' })).status, 200)
  const done = `/v1/operator/accounts/${id}/refunds/${refund.refund_id}/complete`
  assert.equal((await world.operator.post(done, { provider_reference: 'ST1' })).status, 200)
  assert.deepEqual(await wallet(client, 'UGX'), { balance: 9_985, held: 0 })
  assert.deepEqual([await listed('payouts'), await listed('refunds')], [[], []])
})

test('a payer whom one account may have asked is not asked again by another', async () => {
  let asks = 0
  const unheard = await openDoor(world, 'RW', (method, path) => {
    const isAsk = method === 'POST' && path.endsWith('/requesttopay')
    if (isAsk) asks++
    return isAsk
  })
  after(() => unheard.close())
  const rwanda = { provider: 'mtn_momo', country: 'RW' }
  const used = () => gatewayOf(world.app).accountOf(rwanda, 'test')
  const simulated = used()
  const entered = await world.operator.post(providers, unheard.account)
  assert.equal(entered.status, 201, entered.text)
  const first = await eventually(async () => used() !== simulated && used(), 'the account to be used')
  const { client } = await world.account({ currency: 'RWF' })
  const order = { amount: 1_000, currency: 'RWF', phone: '+250780000001', expires_in: 600 }
  const asked = await client.post('/v1/payments', order)
  assert.equal(asked.status, 201, asked.text)
  await eventually(async () => asks > 0, 'the payer to be asked with it')
  const { base_url } = simulatedAccounts(world.app).mtn_momo ?? {}
  const changed = await world.operator.patch(`${providers}/${entered.body.id}`, { base_url })
  assert.equal(changed.status, 200, changed.text)
  await eventually(async () => used() !== first, 'the account to be replaced')
  const payment = await settled(client, asked.body.payment_id)
  assert.deepEqual([payment.status, await wallet(client, 'RWF')], ['expired', { balance: 0, held: 0 }])
})
