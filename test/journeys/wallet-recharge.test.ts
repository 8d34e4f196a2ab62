// SPDX-License-Identifier: Apache-2.0
// Wallets that fill themselves, when what they are filled from changes: what cannot be asked any more counts as a failure, and
// what was replaced while it was asked does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rechargeAll } from '../../src/areas/wallet/auto-recharge.ts'
import { topup } from '../../src/areas/wallet/topup.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'

const { world, sql } = await startMarket(0.05)
const path = '/v1/wallet/auto-recharge'

test('a provider that nobody collects by any more is a failure each time, and pauses it after three', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const rule = { enabled: true, threshold: 500, amount: 1_000, phone: '+254700000001', max_per_day: 24 }
  assert.equal((await client.post(path, rule)).status, 200)
  await sql.query(`update wallet.auto_recharges set provider = 'gone' where account_id = $1`, [uuidOf('account', id)])
  for (const [failures, status] of [
    [1, 'active'],
    [2, 'active'],
    [3, 'paused'],
    [3, 'paused'],
  ] as const) {
    await rechargeAll(world.app, topup)
    const after = await recharge(client)
    assert.deepEqual([after.consecutive_failures, after.status], [failures, status])
  }
  const { rows } = await sql.query(
    `select body from events.events where account_id = $1 and environment = 'test' and type = 'wallet.auto_recharge_failed'`,
    [uuidOf('account', id)],
  )
  const [told] = rows.map(({ body }) => JSON.parse(body))
  assert.deepEqual([rows.length, told.failure_reason, told.payment_id], [1, 'UNSUPPORTED_PROVIDER', null])
  assert.deepEqual((await client.get('/v1/payments/transactions')).body.data, [])
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

async function recharge(client: Client) {
  return (await client.get(path)).body.data[0]
}

/** Newest first. */
async function topups(client: Client) {
  return (await client.get('/v1/payments/transactions?type=topup')).body.data
}
