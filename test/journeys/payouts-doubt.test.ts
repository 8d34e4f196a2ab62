// SPDX-License-Identifier: Apache-2.0
// Payouts of which a provider says first one thing and then the other: nothing moves until a person has found out, and what
// the person says then makes the books right and takes the payout off the list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '../../src/areas/payments/payouts/settle.ts'
import type { OutgoingVerdict } from '../../src/areas/payments/providers/provider.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { startMarket } from '../market.ts'
import { over } from '../paying.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world } = await startMarket(0.01)

const paid = { kind: 'paid', receipt: 'LATE1', micros: null } as const
const refused = { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'x' } as const

const rows = [
  ['it failed, was paid all the same, and is taken from the wallet', '0004', paid, 'paid', 'completed', 899.5],
  ['it failed, and did so indeed', '0004', paid, 'failed', 'failed', 1_000],
  ['it was completed and never paid, and is given back', '0001', refused, 'failed', 'reversed', 1_000],
  ['it was completed, and paid indeed', '0001', refused, 'paid', 'completed', 899.5],
] as const

for (const [name, ending, contradiction, outcome, status, balance] of rows)
  test(name, async () => {
    const account = await world.account({ balance: 1_000 })
    const { client } = account
    const { body } = await client.post('/v1/payouts', { amount: 100, currency: 'KES', phone: `+25470000${ending}` })
    const { status: before } = await over(client, body.payout_id)
    await contradict(account, body.payout_id, contradiction)
    assert.equal((await client.get(`/v1/payouts/${body.payout_id}`)).body.status, before, 'nothing moves by itself')
    assert.equal(await isListed(body.payout_id), true)
    const told = await events(account)
    const settled = await decide(body.payout_id, outcome)
    assert.deepEqual([settled.status, settled.body.status], [200, status], settled.text)
    assert.equal(await isListed(body.payout_id), false)
    assert.equal((await decide(body.payout_id, outcome)).status, 404, 'once')
    const { body: wallet } = await client.get('/v1/wallet/balance')
    assert.deepEqual([wallet.balance, wallet.held], [balance, 0])
    assert.equal((await events(account)).length, told.length + (status === before ? 0 : 1))
  })

test('one that was taken back and paid all the same is not lost sight of, and is taken from the wallet once', async () => {
  const account = await world.account({ balance: 1_000 })
  const { client } = account
  const { body } = await client.post('/v1/payouts', { amount: 100, currency: 'KES', phone: '+254700000001' })
  await over(client, body.payout_id)
  const balance = async () => (await client.get('/v1/wallet/balance')).body.balance
  for (const isFirst of [true, false]) {
    await contradict(account, body.payout_id, { kind: 'reversed' })
    assert.equal(await balance(), 1_000)
    assert.equal(await isListed(body.payout_id), false)
    await contradict(account, body.payout_id, paid)
    assert.deepEqual([await isListed(body.payout_id), await balance()], [true, 1_000], 'nothing moves by itself')
    const settled = await decide(body.payout_id, 'paid')
    assert.equal(settled.status, isFirst ? 200 : 409, settled.text)
    assert.equal(await balance(), isFirst ? 899.5 : 1_000)
  }
  assert.equal((await decide(body.payout_id, 'failed')).status, 200)
  assert.equal(await isListed(body.payout_id), false)
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('what was paid all the same stays on the list until the wallet has it', async () => {
  const account = await world.account({ balance: 101 })
  const { client } = account
  const { body } = await client.post('/v1/payouts', { amount: 100, currency: 'KES', phone: '+254700000004' })
  await over(client, body.payout_id)
  await contradict(account, body.payout_id, paid)
  const waiting = { amount: 50, currency: 'KES', phone: '+254700000001', scheduled_at: later() }
  assert.equal((await client.post('/v1/payouts', waiting)).status, 201)
  const poor = await decide(body.payout_id, 'paid')
  assert.deepEqual([poor.status, poor.body.error.code], [402, 'INSUFFICIENT_WALLET_BALANCE'])
  assert.equal(await isListed(body.payout_id), true)
  assert.equal((await client.get(`/v1/payouts/${body.payout_id}`)).body.status, 'failed')
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, 101)
})

test('one of a batch that was paid all the same counts as paid', async () => {
  const account = await world.account({ balance: 1_000 })
  const { client } = account
  const items = ['0001', '0004'].map((ending) => ({ amount: 100, phone: `+25470000${ending}` }))
  const { body } = await client.post('/v1/payments/payout/bulk', { currency: 'KES', items })
  const path = `/v1/payments/payout/bulk/${body.batch_id}`
  await eventually(async () => (await client.get(path)).body.status === 'completed', 'the batch to be over')
  await contradict(account, body.payouts[1].payout_id, paid)
  assert.equal((await decide(body.payouts[1].payout_id, 'paid')).status, 200)
  const { body: batch } = await client.get(path)
  assert.deepEqual([batch.status, batch.completed_count, batch.failed_count], ['completed', 2, 0])
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, 799)
  const told = await events(account)
  assert.equal(told.filter((event) => event === 'payout.batch_completed').length, 1)
})

function later(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}

/** The provider says something else than before. */
async function contradict(account: Account, id: string, verdict: OutgoingVerdict): Promise<void> {
  const tenant = tenantOf(account)
  await settle(world.app, tenant, uuidOf('payout', id) ?? '', verdict)
}

async function isListed(id: string): Promise<boolean> {
  const { body } = await world.operator.get('/v1/operator/payments/payouts?limit=200')
  return body.data.some(({ payout_id }: { payout_id: string }) => payout_id === id)
}

function decide(id: string, outcome: 'paid' | 'failed') {
  return world.operator.post(`/v1/operator/payments/payouts/${id}/settle`, { outcome })
}

async function events({ client }: Account): Promise<string[]> {
  const { body } = await client.get('/v1/events?limit=50')
  return body.data.map(({ event }: { event: string }) => event)
}
