// SPDX-License-Identifier: Apache-2.0
// How it went is asked of the provider until it says so. A provider that does not answer for a while, and whose calls get
// lost, is asked again soon, whatever it was asked for.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'
import { openDoor } from '../momo.ts'
import { over, settled } from '../paying.ts'

const { world } = await startMarket(0.01)
/** So many questions about each are cut; as many as any table of times has before its waits grow long. */
const unanswered = 8
const asked = new Map<string, number>()
const door = await openDoor(world, 'UG', (method, path) => {
  if (method !== 'GET') return false
  const times = (asked.get(path) ?? 0) + 1
  asked.set(path, times)
  return times <= unanswered
})
after(() => door.close())
const entered = await world.operator.post('/v1/operator/payments/providers', door.account)
assert.equal(entered.status, 201, entered.text)

test('a payment, a refund and a payout end soon after a provider that was silent answers again', async () => {
  const { client } = await world.account({ currency: 'UGX', balance: 10_000 })
  const order = { amount: 1_000, currency: 'UGX', phone: '+256770000001' }
  const [payment, payout] = await Promise.all([paid(client, order), paidOut(client, order)])
  assert.deepEqual([payment.status, payout.status], ['completed', 'completed'])
  const { body: refund, text } = await client.post(`/v1/payments/${payment.payment_id}/refund`)
  assert.equal(refund.status, 'processing', text)
  await eventually(
    async () => (await client.get(`/v1/refunds/${refund.refund_id}`)).body.status === 'completed',
    'the refund to be completed',
  )
  assert.deepEqual([...asked.values()], [unanswered + 1, unanswered + 1, unanswered + 1])
})

async function paid(client: Client, order: object) {
  const { body, text } = await client.post('/v1/payments', { ...order, expires_in: 3_600 })
  assert.equal(body.status, 'processing', text)
  return settled(client, body.payment_id)
}

async function paidOut(client: Client, order: object) {
  const { body, text } = await client.post('/v1/payouts', order)
  assert.equal(body.status, 'processing', text)
  return over(client, body.payout_id)
}
