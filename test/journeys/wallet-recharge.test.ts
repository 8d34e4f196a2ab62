// SPDX-License-Identifier: Apache-2.0
// Wallets that fill themselves, when what they are filled from changes: what cannot be asked any more counts as a failure,
// what was replaced while it was asked does not, and neither does what is paid late.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expire, settle } from '../../src/areas/payments/collect/settle.ts'
import { attemptOfPayment } from '../../src/areas/payments/records/store.ts'
import { rechargeAll } from '../../src/areas/wallet/auto-recharge.ts'
import { topup } from '../../src/areas/wallet/topup.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { one } from '../../src/platform/db.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'
import { tenantOf } from '../world.ts'

const { world, sql } = await startMarket(0.05)
const path = '/v1/wallet/auto-recharge'

test('a provider that nobody collects by any more is a failure each time, and pauses it after three', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const rule = { enabled: true, threshold: 500, amount: 1_000, phone: '+254700000001', max_per_day: 24 }
  assert.equal((await client.post(path, rule)).status, 200)
  await sql.query(`update wallet.auto_recharges set provider = 'gone' where account_id = $1`, [uuidOf('account', id)])
  const seen = async () => {
    await rechargeAll(world.app, topup)
    const { consecutive_failures, status } = await recharge(client)
    return [consecutive_failures, status]
  }
  // The node has rounds of its own beside these.
  for (let failures = 0; failures < 3; ) {
    const [counted, status] = await seen()
    assert.ok(counted > failures, `${counted} failures after ${failures}`)
    assert.equal(status, counted < 3 ? 'active' : 'paused')
    failures = counted
  }
  assert.deepEqual(await seen(), [3, 'paused'])
  const { rows } = await sql.query(
    `select body from events.events where account_id = $1 and environment = 'test' and type = 'wallet.auto_recharge_failed'`,
    [uuidOf('account', id)],
  )
  const [told] = rows.map(({ body }) => JSON.parse(body))
  assert.deepEqual([rows.length, told.failure_reason, told.payment_id], [1, 'UNSUPPORTED_PROVIDER', null])
  assert.deepEqual((await client.get('/v1/payments/transactions')).body.data, [])
})

test('one that the account’s rules block is a failure, and nobody is asked for it', async () => {
  const { client } = await world.account({ balance: 10 })
  const blocked = { name: 'All', action: 'block', conditions: [{ field: 'amount', operator: 'gt', value: 0 }] }
  assert.equal((await client.post('/v1/payments/fraud/rules', blocked)).status, 201)
  const rule = { enabled: true, threshold: 500, amount: 1_000, phone: '+254700000001', max_per_day: 24 }
  assert.equal((await client.post(path, rule)).status, 200)
  const paused = await eventually(async () => {
    await rechargeAll(world.app, topup)
    const after = await recharge(client)
    return after.status === 'paused' && after
  }, 'three failures')
  assert.equal(paused.consecutive_failures, 3)
  const all = await topups(client)
  assert.deepEqual(
    all.map(({ status }: { status: string }) => status),
    ['failed', 'failed', 'failed'],
  )
  const { body } = await client.get(`/v1/payments/${all[0].payment_id}`)
  assert.equal(body.failure_reason, 'BLOCKED_BY_RULE')
})

test('a phone that was replaced while it was asked fails for itself, and the new one is asked next', async () => {
  const rule = { enabled: true, threshold: 500, amount: 1_000, phone: '+254700000003', max_per_day: 24 }
  const client = await eventually(async () => {
    const { client } = await world.account({ balance: 10 })
    assert.equal((await client.post(path, rule)).status, 200)
    await rechargeAll(world.app, topup)
    const changed = await client.post(path, { enabled: true, phone: '+254700000001' })
    assert.equal(changed.status, 200, changed.text)
    const [asked] = await topups(client)
    // On a slow machine it may be replaced too late to tell.
    return asked.status !== 'expired' && client
  }, 'a phone that is replaced in time')
  await eventually(async () => (await topups(client))[0].status === 'expired', 'the end of the first')
  assert.equal((await recharge(client)).consecutive_failures, 0)
  await rechargeAll(world.app, topup)
  await eventually(async () => (await topups(client))[0].status === 'completed', 'the second')
  const after = await recharge(client)
  assert.deepEqual([after.consecutive_failures, after.status], [0, 'active'])
})

test('a top-up that is paid late has not failed, and ends the pause that it led to', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const tenant = tenantOf({ id })
  const rule = { enabled: true, threshold: 500, amount: 100, phone: '+254700000003', max_per_day: 24 }
  assert.equal((await client.post(path, rule)).status, 200)
  const fail = async (): Promise<string> => {
    await rechargeAll(world.app, topup)
    const asked = await eventually(
      async () => (await topups(client)).find(({ status }: { status: string }) => status === 'processing'),
      'the phone to be asked',
    )
    await expire(world.app, tenant, await attemptOf(asked.payment_id))
    return asked.payment_id
  }
  const attemptOf = (payment: string) =>
    one(world.app.db.query(attemptOfPayment, { ...tenant, payment: uuidOf('payment', payment) ?? '' }))
  const payLate = async (payment: string): Promise<void> => {
    const verdict = { kind: 'paid', receipt: payment, micros: 100_000_000n } as const
    const paid = await settle(world.app, tenant, await attemptOf(payment), verdict)
    assert.deepEqual([paid.status, paid.late], ['completed', true])
  }
  const state = async () => {
    const { consecutive_failures, status } = await recharge(client)
    return [consecutive_failures, status]
  }
  const [first, second, third] = [await fail(), await fail(), await fail()]
  assert.deepEqual(await state(), [3, 'paused'])
  await payLate(second)
  assert.deepEqual(await state(), [1, 'active'], 'one failed since')
  await payLate(first)
  assert.deepEqual(await state(), [1, 'active'], 'what came before is forgotten')
  await fail()
  assert.deepEqual(await state(), [2, 'active'])
  await payLate(third)
  assert.deepEqual(await state(), [1, 'active'])
  const fifth = await fail()
  await client.post(path, { enabled: true })
  await payLate(fifth)
  assert.deepEqual(await state(), [0, 'active'], 'turned on again, it has no failures to take back')
})

async function recharge(client: Client) {
  return (await client.get(path)).body.data[0]
}

/** Newest first. */
async function topups(client: Client) {
  return (await client.get('/v1/payments/transactions?type=topup')).body.data
}
