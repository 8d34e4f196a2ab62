// SPDX-License-Identifier: Apache-2.0
// Whatever providers say of payouts, in whatever order and however often: each is what a model of a few lines says it is, and
// the wallet holds what the model reckons, to the micro.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { accept } from '../../src/areas/payments/payouts/create.ts'
import { settle } from '../../src/areas/payments/payouts/settle.ts'
import { settleOne } from '../../src/areas/payments/payouts/settle-batch.ts'
import { findPayout, moveState } from '../../src/areas/payments/payouts/store.ts'
import type { OutgoingVerdict } from '../../src/areas/payments/providers/provider.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { walletsOf } from '../../src/ledger/wallets.ts'
import { one } from '../../src/platform/db.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import { runs } from '../properties.ts'
import { startWorld, tenantOf, type World } from '../world.ts'

let world: World

before(async () => {
  // Nobody looks after jobs here: what happens is what the test does.
  world = await startWorld({ PAMOJA_ROLES: ['api'], PAMOJA_SANDBOX_TIME_SCALE: 0.01 })
})
after(() => world.stop())

const micros = 100_000_000n

const verdicts: readonly OutgoingVerdict[] = [
  { kind: 'accepted', providerId: 'x' },
  { kind: 'pending' },
  { kind: 'unknown', reason: 'x' },
  { kind: 'asked' },
  { kind: 'missing' },
  { kind: 'unavailable', reason: 'x' },
  { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND', code: 'x' },
  { kind: 'paid', receipt: 'R1', micros: null },
  { kind: 'paid', receipt: 'R1', micros },
  { kind: 'paid', receipt: 'R1', micros: micros + 1n },
  { kind: 'paid', receipt: 'R1', micros, currency: 'UGX' },
  { kind: 'unreadable', receipt: 'R1', words: 'much' },
  { kind: 'reversed' },
]

interface Modelled {
  status: 'processing' | 'completed' | 'failed' | 'reversed'
  sending: boolean
  /** Whether the provider told of other money: it cannot say any more that nothing was paid. */
  isOther: boolean
}

/** Whether what is told is the money that was asked for. */
function isAsked({ micros: told, currency }: Extract<OutgoingVerdict, { kind: 'paid' }>): boolean {
  return (told === null || told === micros) && currency === undefined
}

function next({ status, sending, isOther }: Modelled, verdict: OutgoingVerdict): Modelled {
  if (status === 'completed') return { status: verdict.kind === 'reversed' ? 'reversed' : status, sending, isOther }
  if (status !== 'processing') return { status, sending, isOther }
  switch (verdict.kind) {
    case 'unavailable':
      return { status: sending ? 'failed' : status, sending, isOther }
    case 'refused':
      return { status: isOther ? status : 'failed', sending, isOther }
    case 'reversed':
      return { status: 'failed', sending, isOther }
    case 'paid': {
      const isPaid = isAsked(verdict) && !(isOther && verdict.micros === null)
      return { status: isPaid ? 'completed' : status, sending: false, isOther: isOther || !isAsked(verdict) }
    }
    case 'unreadable':
      return { status, sending: false, isOther: true }
    default:
      return { status, sending: false, isOther }
  }
}

test('a payout is what its model says, and so is the wallet', async () => {
  const { app } = world
  const { id } = await world.account({ balance: 1_000_000 })
  const tenant = tenantOf({ id })
  const before = await walletNow(tenant)
  const fee = micros / 200n
  const all: Modelled[] = []
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...verdicts), { maxLength: 6 }), async (said) => {
      const nowMs = app.clock.nowMs()
      const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null, madeBy: 'key:model' }
      const input = { amount: 100, currency: 'KES', phone: '+254700000001' }
      const { id: payout } = await app.db.acrossTx((tx) => accept(app, tx, input, occasion, true))
      const sending = { from: ['planned'], to: 'sending', tries: 0, at: new Date(nowMs) } as const
      await app.db.query(moveState, { ...tenant, id: payout, ...sending })
      let modelled: Modelled = { status: 'processing', sending: true, isOther: false }
      for (const verdict of said) {
        modelled = next(modelled, verdict)
        const { status } = await settle(app, tenant, payout, verdict)
        assert.equal(
          status,
          modelled.status,
          JSON.stringify(verdict, (_, value) => String(value)),
        )
      }
      all.push(modelled)
      const count = (status: Modelled['status']) => BigInt(all.filter((one) => one.status === status).length)
      assert.deepEqual(await walletNow(tenant), {
        balance: before.balance - count('completed') * (micros + fee),
        held: count('processing') * (micros + fee),
      })
    }),
    { numRuns: runs(60) },
  )
  assert.deepEqual((await verifyLedger(app.db)).problems, [])
})

test('a reference may be used again when nobody was asked, and not when the provider gave up what it had taken', async () => {
  const { app } = world
  const { id, client } = await world.account({ balance: 1_000 })
  const tenant = tenantOf({ id })
  const refused = { kind: 'refused', reason: 'PROVIDER_UNAVAILABLE', code: 'x' } as const
  const rows: [OutgoingVerdict[], string | null][] = [
    [[{ kind: 'unavailable', reason: 'x' }], null],
    [[{ kind: 'accepted', providerId: 'x' }, refused], 'wages-77'],
  ]
  for (const [said, reference] of rows) {
    const input = { amount: 100, currency: 'KES', phone: '+254700000001', reference: 'wages-77' }
    const { body } = await client.post('/v1/payouts?wait=0', input)
    const payout = uuidOf('payout', body.payout_id) ?? ''
    const sending = { from: ['planned'], to: 'sending', tries: 0, at: new Date() } as const
    await app.db.query(moveState, { ...tenant, id: payout, ...sending })
    for (const verdict of said) await settle(app, tenant, payout, verdict)
    const after = (await client.get(`/v1/payouts/${body.payout_id}`)).body
    assert.deepEqual(
      [after.status, after.failure_reason, after.reference],
      ['failed', 'PROVIDER_UNAVAILABLE', reference],
    )
  }
})

test('one of which the provider paid something is not sent again, though it knows nothing of it later', async () => {
  const { app } = world
  const { id, client } = await world.account({ balance: 1_000 })
  const tenant = tenantOf({ id })
  const told: OutgoingVerdict[] = [
    { kind: 'paid', receipt: 'R1', micros: micros + 1n },
    { kind: 'paid', receipt: 'R1', micros: null, currency: 'UGX' },
    { kind: 'unreadable', receipt: 'R1', words: 'much' },
  ]
  for (const paid of told) {
    const { body } = await client.post('/v1/payouts?wait=0', { amount: 100, currency: 'KES', phone: '+254700000001' })
    const payout = { ...tenant, id: uuidOf('payout', body.payout_id) ?? '' }
    await app.db.query(moveState, { ...payout, from: ['planned'], to: 'sending', tries: 0, at: new Date() })
    const later: OutgoingVerdict[] = [paid, { kind: 'missing' }, { kind: 'unavailable', reason: 'x' }]
    for (const verdict of later) await settle(app, tenant, payout.id, verdict)
    const { status, state, missed_at } = await one(app.db.query(findPayout, payout))
    assert.deepEqual([status, state, missed_at], ['processing', 'accepted', null])
  }
})

test('one of which other money was told stays on the list and its money held, whatever is said later without an amount', async () => {
  const { app } = world
  const { id, client } = await world.account({ balance: 1_000 })
  const tenant = tenantOf({ id })
  const isListed = async (payout: string) =>
    (await world.operator.get('/v1/operator/payments/payouts?limit=200')).body.data.some(
      (row: { payout_id: string }) => row.payout_id === payout,
    )
  const later: OutgoingVerdict[] = [
    { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND', code: 'x' },
    { kind: 'paid', receipt: 'R2', micros: null },
  ]
  const found = { failed: 0, paid: 0 }
  for (const verdict of later)
    for (const outcome of ['failed', 'paid'] as const) {
      const { body } = await client.post('/v1/payouts?wait=0', { amount: 100, currency: 'KES', phone: '+254700000001' })
      const payout = uuidOf('payout', body.payout_id) ?? ''
      const sending = { from: ['planned'], to: 'sending', tries: 0, at: new Date() } as const
      await app.db.query(moveState, { ...tenant, id: payout, ...sending })
      await settle(app, tenant, payout, { kind: 'paid', receipt: 'R1', micros: micros - 1n })
      assert.equal((await settle(app, tenant, payout, verdict)).status, 'processing')
      assert.deepEqual([await isListed(body.payout_id), (await walletNow(tenant)).held], [true, micros + micros / 200n])
      const decided = await world.operator.post(`/v1/operator/payments/payouts/${body.payout_id}/settle`, { outcome })
      assert.equal(decided.body.status, outcome === 'paid' ? 'completed' : 'failed', decided.text)
      found[outcome]++
      assert.deepEqual([await isListed(body.payout_id), (await walletNow(tenant)).held], [false, 0n])
    }
  assert.equal((await walletNow(tenant)).balance, 1_000_000_000n - BigInt(found.paid) * (micros + micros / 200n))
})

test('of a batch only the payout of which other money was told waits, and an amount ends it, once', async () => {
  const { app } = world
  const { id, client } = await world.account({ balance: 1_000 })
  const tenant = tenantOf({ id })
  const items = [1, 2].map(() => ({ amount: 100, phone: '+254700000001' }))
  const { body } = await client.post('/v1/payments/payout/bulk', { currency: 'KES', items })
  const ids: string[] = body.payouts.map((item: { payout_id: string }) => uuidOf('payout', item.payout_id) ?? '')
  const sending = { from: ['planned'], to: 'sending', tries: 0, at: new Date() } as const
  for (const payout of ids) await app.db.query(moveState, { ...tenant, id: payout, ...sending })
  const rows = await Promise.all(ids.map((payout) => one(app.db.query(findPayout, { ...tenant, id: payout }))))
  const say = (verdict: OutgoingVerdict, some = rows) =>
    Promise.all(some.map(async (row) => (await settleOne(app, tenant, row, verdict)).status))
  assert.deepEqual(await say({ kind: 'paid', receipt: 'R1', micros: micros - 1n }, rows.slice(0, 1)), ['processing'])
  assert.deepEqual(await say({ kind: 'paid', receipt: 'R2', micros: null }), ['processing', 'completed'])
  const part = micros + micros / 200n
  assert.deepEqual(await walletNow(tenant), { balance: 1_000_000_000n - part, held: part })
  const asked: OutgoingVerdict = { kind: 'paid', receipt: 'R3', micros }
  assert.deepEqual(await say(asked, [...rows, ...rows]), Array(4).fill('completed'))
  assert.deepEqual(await walletNow(tenant), { balance: 1_000_000_000n - 2n * part, held: 0n })
  const { body: batch } = await client.get(`/v1/payments/payout/bulk/${body.batch_id}`)
  assert.deepEqual([batch.status, batch.completed_count], ['completed', 2])
})

test('the same verdict from many at once is applied once', async () => {
  const { app } = world
  const { id, client } = await world.account({ balance: 1_000 })
  const tenant = tenantOf({ id })
  const { body } = await client.post('/v1/payouts', { amount: 100, currency: 'KES', phone: '+254700000003' })
  const payout = uuidOf('payout', body.payout_id) ?? ''
  const mixed: OutgoingVerdict[] = Array.from({ length: 12 }, (_, i) =>
    i % 2 === 0
      ? { kind: 'paid', receipt: 'R', micros: null }
      : { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'x' },
  )
  const after = await Promise.all(mixed.map((verdict) => settle(app, tenant, payout, verdict)))
  assert.equal(new Set(after.map(({ status }) => status)).size, 1, 'whoever wins, all see the same')
  const isPaid = after[0]?.status === 'completed'
  assert.deepEqual(await walletNow(tenant), { balance: isPaid ? 899_500_000n : 1_000_000_000n, held: 0n })
  assert.equal((await client.get('/v1/events')).body.data.length, 1)
})

async function walletNow(tenant: Tenant): Promise<{ balance: bigint; held: bigint }> {
  const wallet = (await walletsOf(world.app.db, tenant)).find(({ currency }) => currency === 'KES')
  return { balance: wallet?.balanceMicros ?? 0n, held: wallet?.heldMicros ?? 0n }
}
