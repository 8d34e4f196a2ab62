// SPDX-License-Identifier: Apache-2.0
// A payment that is under way when the operator removes the account of its provider: nobody can be asked for it any more.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gatewayOf } from '../../src/areas/payments/gateway/gateway.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { simulatePayments } from '../../src/simulation/payments.ts'
import { settled } from '../paying.ts'
import { eventually, startWorld } from '../world.ts'

const timeScale = 0.01
const simulated = await simulatePayments({
  sharedHost: '127.0.0.1',
  clock: systemClock,
  timeScale,
  ca: undefined,
  ready: Promise.resolve(),
  journalOf: () => null,
  onProblem: () => undefined,
})
const { mtn_momo } = simulated.gives
// Without simulators of its own, which test payments would go to in the end.
const world = await startWorld({ PAMOJA_ROLES: ['api', 'carriers', 'timers'], PAMOJA_SANDBOX_TIME_SCALE: timeScale })
after(async () => {
  await world.stop()
  await simulated.stop()
})
const providers = '/v1/operator/payments/providers'
const isSpokenTo = () => gatewayOf(world.app).speaksTo({ provider: 'mtn_momo', country: 'UG' }, 'test') !== null

test('a payment whose provider nobody speaks to any more expires as one that nobody answers', async () => {
  const account = { provider: 'mtn_momo', environment: 'test', country: 'UG', ...mtn_momo }
  const entered = await world.operator.post(providers, account)
  assert.equal(entered.status, 201, entered.text)
  await eventually(async () => isSpokenTo(), 'the account to be used')
  const { client } = await world.account({ currency: 'UGX' })
  const order = { amount: 1_000, currency: 'UGX', phone: '+256770000003', expires_in: 600 }
  const asked = await client.post('/v1/payments', order)
  assert.equal(asked.body.status, 'processing', asked.text)
  const removed = await world.operator.delete(`${providers}/${entered.body.id}`)
  assert.equal(removed.status, 200, removed.text)
  await eventually(async () => !isSpokenTo(), 'the account to be gone')
  const { status, failure_reason } = await settled(client, asked.body.payment_id)
  assert.deepEqual([status, failure_reason], ['expired', 'TRANSACTION_TIMEOUT'])
})
