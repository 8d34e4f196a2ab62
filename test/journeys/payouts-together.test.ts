// SPDX-License-Identifier: Apache-2.0
// What is said of the payouts of one batch at the same moment: each is settled once, and one that cannot be keeps no other
// from it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { settleOne } from '../../src/areas/payments/payouts/settle-batch.ts'
import { findPayout } from '../../src/areas/payments/payouts/store.ts'
import { newUuid, uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { one } from '../../src/platform/db.ts'
import { lookInto } from '../looking.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let sql: pg.Client
const count = 30
const path = '/v1/payments/payout/bulk'

before(async () => {
  // Payees take a minute, so that the provider has nothing to say meanwhile.
  world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 1 })
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await world.stop()
})

test('payouts of a batch that are said to be paid at once, twice over, are paid once and told of once', async () => {
  const { account, tenant, rows, batch } = await sent()
  const said = [...rows, ...rows].map((row, i) =>
    settleOne(world.app, tenant, row, { kind: 'paid', receipt: `R${i % count}`, micros: row.amount }),
  )
  const settled = await Promise.all(said)
  assert.deepEqual(new Set(settled.map(({ status }) => status)), new Set(['completed']))
  const { body } = await account.client.get(`${path}/${batch}`)
  assert.deepEqual([body.status, body.completed_count, body.failed_count], ['completed', count, 0])
  const { body: wallet } = await account.client.get('/v1/wallet/balance')
  assert.deepEqual([wallet.balance, wallet.held], [1_000 - count * 10.05, 0])
  const { rows: told } = await sql.query(
    `select type, count(*)::int as told, count(distinct resource_id)::int as of from events.events
      where account_id = $1 and type like 'payout.%' group by type order by type`,
    [tenant.account],
  )
  assert.deepEqual(told, [
    { type: 'payout.batch_completed', told: 1, of: 1 },
    { type: 'payout.completed', told: count, of: count },
  ])
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
  // What the provider says later, with a receipt of its own, changes nothing.
  const [first] = rows
  assert.ok(first)
  const late = await settleOne(world.app, tenant, first, { kind: 'paid', receipt: 'LATE', micros: first.amount })
  assert.equal(late.provider_reference, 'R0')
})

test('one that cannot be settled keeps no other of its batch from it', async () => {
  const { tenant, rows, batch } = await sent()
  const broken = rows[7]
  assert.ok(broken)
  // Somebody has taken its part of the hold already.
  await sql.query(
    `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
     values ($1, $2, 'test', $3, $4, 0, $5, 'wallet', 'float_out:mpesa', 1, 'KES')`,
    [tenant.bucket, tenant.account, uuidOf('payoutBatch', batch), `payout:settle:${broken.id}`, newUuid(Date.now())],
  )
  const settled = await Promise.allSettled(
    rows.map((row) => settleOne(world.app, tenant, row, { kind: 'paid', receipt: 'R', micros: row.amount })),
  )
  const failed = settled.flatMap(({ status }, i) => (status === 'rejected' ? [rows[i]?.id] : []))
  assert.deepEqual(failed, [broken.id])
  const now = await one(world.app.db.query(findPayout, { ...tenant, id: broken.id }))
  assert.equal(now.status, 'processing', 'its status has not moved without its money')
})

test('one that was paid in another currency, or in words that cannot be read, waits for an operator', async () => {
  const { tenant, rows } = await sent()
  const [foreign, unread] = rows
  assert.ok(foreign && unread)
  const told = { kind: 'paid', receipt: 'R', micros: foreign.amount, currency: 'UGX' } as const
  assert.equal((await settleOne(world.app, tenant, foreign, told)).status, 'processing')
  const words = { kind: 'unreadable', receipt: 'R', words: '10 KSH' } as const
  assert.equal((await settleOne(world.app, tenant, unread, words)).status, 'processing')
  const { data } = (await world.operator.get('/v1/operator/payments/payouts?limit=200')).body
  const listed = data.map(({ payout_id }: { payout_id: string }) => uuidOf('payout', payout_id))
  assert.deepEqual(new Set(listed), new Set([foreign.id, unread.id]))
})

/** A batch that the provider has taken, and not paid yet. */
async function sent() {
  const account: Account = await world.account({ balance: 1_000 })
  const items = Array.from({ length: count }, () => ({ amount: 10, phone: '+254700000006' }))
  const { body, text } = await account.client.post(path, { currency: 'KES', items })
  assert.equal(body.accepted_count, count, text)
  const tenant = tenantOf(account)
  const find = (id: string) => one(world.app.db.query(findPayout, { ...tenant, id: uuidOf('payout', id) ?? '' }))
  const rows = await eventually(
    async () => {
      const found = await Promise.all(body.payouts.map(({ payout_id }: { payout_id: string }) => find(payout_id)))
      return found.every(({ state }) => state === 'accepted') && found
    },
    'the provider to have all of them',
    60_000,
  )
  return { account, tenant, rows, batch: String(body.batch_id) }
}
