// SPDX-License-Identifier: Apache-2.0
// Charges a second through group commit, over 1,000 wallets and on one hot wallet, against one transaction per charge.
import { newUuid } from '../src/kernel/ids.ts'
import { verifyLedger } from '../src/ledger/verify.ts'
import { openWallet, post } from '../src/ledger/wallets.ts'
import { systemClock } from '../src/platform/clock.ts'
import { operation } from '../src/platform/commit.ts'
import { one, statement } from '../src/platform/db.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { type Engine, newTenant, rate, withEngine } from './engine.ts'
import type { Figure } from './report.ts'

const wallets = 1_000
const micros = 800_000n

const setUp = `
  create schema bench;
  create type bench.charge_item as (bucket smallint, account uuid, environment text, amount bigint, source uuid, transfer uuid);
  create function bench.charge(node uuid, items bench.charge_item[]) returns table (verdict text) language plpgsql as $$
  begin
    return query select unnest(ledger.charge(array(
      select row(i.bucket, i.account, i.environment, 'KES', i.amount, i.source, 'charge', i.transfer, 'revenue:bench')::ledger.charge_item
        from unnest(items) i)));
  end $$;`

const charge = operation(
  'bench.charge',
  { bucket: 'smallint', account: 'uuid', environment: 'text', amount: 'bigint', source: 'uuid', transfer: 'uuid' },
  { verdict: 'text' },
)

type TenantParameters = { bucket: number; account: string; environment: string }

const lockWallet = statement<TenantParameters, { balance: bigint }>(
  'bench.lock_wallet',
  `select balance from ledger.wallets
    where bucket = $bucket and account_id = $account and environment = $environment and currency = 'KES' for update`,
)
const takeMoney = statement<TenantParameters & { amount: bigint }, object>(
  'bench.take_money',
  `update ledger.wallets set balance = balance - $amount
    where bucket = $bucket and account_id = $account and environment = $environment and currency = 'KES'`,
)
const writeTransfer = statement<TenantParameters & { amount: bigint; source: string; id: string }, object>(
  'bench.write_transfer',
  `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
   values ($bucket, $account, $environment, $source, 'charge', 0, $id, 'wallet', 'revenue:bench', $amount, 'KES')`,
)

export function ledger({ short }: { short: boolean }): Promise<Figure[]> {
  return withEngine(32, async (engine) => {
    const client = await engine.db.connect()
    await client.query(setUp)
    await client.end()
    const tenants = await Promise.all(Array.from({ length: short ? 50 : wallets }, () => funded(engine)))
    const durationMs = short ? 500 : 6_000
    const figures: Figure[] = []
    for (const [name, few] of [
      ['1,000 wallets', tenants],
      ['one hot wallet', tenants.slice(0, 1)],
    ] as const) {
      let n = 0
      const next = (): Tenant => few[n++ % few.length] ?? newTenant()
      await rate(512, durationMs / 4, () => grouped(engine, next()))
      const each = await rate(32, durationMs, () => alone(engine, next()))
      const together = await rate(512, durationMs, () => grouped(engine, next()))
      figures.push(
        { name: `one transaction per charge, ${name}`, value: each, unit: 'charges/s' },
        { name: `group commit, ${name}`, value: together, unit: 'charges/s' },
        { name: `ratio, ${name}`, value: together / each, unit: '' },
      )
    }
    const { ok, problems } = await verifyLedger(engine.db)
    if (!ok) throw new Error(`the ledger does not add up: ${problems.join('; ')}`)
    return figures
  })
}

async function funded({ db }: Engine): Promise<Tenant> {
  const tenant = newTenant()
  const nowMs = systemClock.nowMs()
  await db.tx(async (tx) => {
    await openWallet(tx, tenant, 'KES')
    await post(
      tx,
      tenant,
      { sourceId: newUuid(nowMs), step: 'credit' },
      [{ debit: 'bank', credit: 'wallet', micros: 10n ** 15n, currency: 'KES' }],
      nowMs,
    )
  })
  return tenant
}

async function grouped({ committer }: Engine, tenant: Tenant): Promise<void> {
  const nowMs = systemClock.nowMs()
  const { verdict } = await committer.commit(charge, {
    ...tenant,
    amount: micros,
    source: newUuid(nowMs),
    transfer: newUuid(nowMs),
  })
  if (verdict !== 'charged') throw new Error(`a charge was ${verdict}`)
}

async function alone({ db }: Engine, tenant: Tenant): Promise<void> {
  const nowMs = systemClock.nowMs()
  await db.tx(async (tx) => {
    const { balance } = await one(tx.query(lockWallet, { ...tenant }))
    if (balance < micros) throw new Error('the wallet is empty')
    await tx.query(takeMoney, { ...tenant, amount: micros })
    await tx.query(writeTransfer, { ...tenant, amount: micros, source: newUuid(nowMs), id: newUuid(nowMs) })
  })
}
