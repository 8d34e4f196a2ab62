// SPDX-License-Identifier: Apache-2.0
// A whole batch of payouts, from the request until every one of them is over: one in a hundred is refused by the provider,
// and of one in a hundred nobody is told. The provider's own books, the wallet, the ledger and what was told must agree to
// the last micro; otherwise the benchmark ends.
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { verifyLedger } from '../src/ledger/verify.ts'
import type { MomoSimulator } from '../src/simulators/momo.ts'
import type { Installation } from '../test/faults/harness.ts'
import { eventually } from '../test/world.ts'
import { cpuMeter } from './cpu.ts'
import { type MomoMerchant, startMomoMerchant } from './momo-merchant.ts'
import type { Figure } from './report.ts'

/** A payee's provider takes a fifth of a second, and is asked after one and a half when it did not call. */
const timeScale = 0.1
const credit = 1_000_000_000
const path = '/v1/payments/payout/bulk'

export async function payouts({ short }: { short: boolean }): Promise<Figure[]> {
  const count = short ? 300 : 10_000
  const merchant = await startMomoMerchant(timeScale, credit)
  try {
    return await measured(merchant, count)
  } finally {
    await merchant.stop()
  }
}

async function measured({ installation, provider, account }: MomoMerchant, count: number): Promise<Figure[]> {
  const client = installation.client(0, account.key)
  const items = Array.from({ length: count }, (_, n) => ({ amount: 500 + (n % 1_000), phone: phoneOf(n) }))
  // A few alone, so that what is measured is not the first of its kind.
  const warm = await client.post(path, { currency: 'UGX', items: items.slice(10, 60) })
  assert.equal(warm.status, 201, warm.text)
  await over(installation, warm.body.batch_id)
  const before = await committed(installation)
  const meter = cpuMeter()
  const startedAt = performance.now()
  const { status, body, text } = await client.post(path, { currency: 'UGX', items })
  assert.deepEqual([status, body.accepted_count], [201, count], text.slice(0, 500))
  const acceptedMs = performance.now() - startedAt
  const seconds = await over(installation, body.batch_id).then(() => (performance.now() - startedAt) / 1_000)
  const cpu = meter.per(count)
  const transactions = (await committed(installation)) - before
  const batch = (await client.get(`${path}/${body.batch_id}?limit=1`)).body
  const refused = items.filter((_, n) => isRefused(n)).length
  assert.deepEqual([batch.status, batch.completed_count, batch.failed_count], ['completed', count - refused, refused])
  assert.deepEqual([batch.total_amount, batch.total_fee], [body.total_amount, body.total_fee])
  await check(installation, provider, { all: count + 50, refused, batches: 2 })
  return [
    { name: 'payouts of one batch, accepted', value: acceptedMs / 1_000, unit: 's' },
    { name: 'all of them over', value: seconds, unit: 's' },
    { name: 'paid', value: count / seconds, unit: 'payouts/s', cpu },
    { name: 'transactions of PostgreSQL', value: transactions / count, unit: 'a payout' },
  ]
}

const isRefused = (n: number): boolean => n % 100 === 1

/** No two are paid to one number, but for those whose number says what becomes of them. */
function phoneOf(n: number): string {
  const ending = isRefused(n) ? '0004' : n % 100 === 2 ? '0010' : null
  const own = `${100 + Math.floor(n / 9_000)}${1_000 + (n % 9_000)}`
  return ending === null ? `+25677${own}` : `+25678${own.slice(-3)}${ending}`
}

async function over(installation: Installation, batch: string): Promise<void> {
  assert.match(batch, /^pob_/)
  const open = `select count(*)::int as open from payments.payout_batches where status = 'processing'`
  await eventually(
    async () => (await installation.sql<{ open: number }>(open))[0]?.open === 0,
    'the batch to be over',
    1_800_000,
  )
}

/** Whether everybody's books agree. */
async function check(
  installation: Installation,
  provider: MomoSimulator,
  { all, refused, batches }: { all: number; refused: number; batches: number },
): Promise<void> {
  const { paid } = provider.transfers
  assert.equal(paid.size, all - refused, 'as many are paid as should be')
  const completed = await installation.sql<{ id: string; amount: string }>(
    `select id, (amount / 1000000)::text as amount from payments.payouts where status = 'completed'`,
  )
  assert.equal(completed.length, paid.size)
  for (const { id, amount } of completed) assert.equal(paid.get(id), amount, 'under its own id')
  const [sums] = await installation.sql<
    Record<'balance' | 'held' | 'out' | 'paid' | 'fees', string> & { holds: number }
  >(
    `select w.balance::text as balance, w.held::text as held,
            (select sum(amount) from ledger.transfers where credit = 'float_out:mtn_momo')::text as out,
            (select sum(amount) from payments.payouts where status = 'completed')::text as paid,
            (select sum(fee) from payments.payouts where status = 'completed')::text as fees,
            (select count(*)::int from ledger.holds where not open) as holds
       from ledger.wallets w where w.currency = 'UGX' and w.environment = 'test'`,
  )
  assert.deepEqual([sums?.held, sums?.holds, sums?.out], ['0', batches, sums?.paid])
  const left = BigInt(credit) * 1_000_000n - BigInt(sums?.paid ?? 0) - BigInt(sums?.fees ?? 0)
  assert.equal(sums?.balance, left.toString())
  const told = await installation.sql<{ type: string; told: number; objects: number }>(
    `select type, count(*)::int as told, count(distinct resource_id)::int as objects
       from events.events where type like 'payout.%' group by type order by type`,
  )
  assert.deepEqual(told, [
    { type: 'payout.batch_completed', told: batches, objects: batches },
    { type: 'payout.completed', told: paid.size, objects: paid.size },
    { type: 'payout.failed', told: refused, objects: refused },
  ])
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
}

/** Transactions that were committed up to now. */
async function committed(installation: Installation): Promise<number> {
  const [row] = await installation.sql<{ transactions: string }>(
    'select xact_commit::text as transactions from pg_stat_database where datname = current_database()',
  )
  return Number(row?.transactions ?? 0)
}
