// SPDX-License-Identifier: Apache-2.0
// Charges a second through group commit, over 1,000 wallets and on one hot wallet, against one transaction per charge in
// three ways: with both accounts as rows that are locked and updated, the usual design, in one call and in steps; and with
// our own tables, where only the wallet is a row to lock and revenue is what the entries add up to, in steps.
import { newUuid } from '../src/kernel/ids.ts'
import { verifyLedger } from '../src/ledger/verify.ts'
import { openWallet, post } from '../src/ledger/wallets.ts'
import { systemClock } from '../src/platform/clock.ts'
import { operation } from '../src/platform/commit.ts'
import { one, statement } from '../src/platform/db.ts'
import { mine, type Tenant } from '../src/platform/tenant.ts'
import { type Engine, newTenant, rate, withEngine } from './engine.ts'
import type { Figure } from './report.ts'

const wallets = 1_000
const micros = 800_000n
const opened = 10n ** 15n

const setUp = `
  create schema bench;
  create type bench.charge_item as (bucket smallint, account uuid, environment text, amount bigint, source uuid, transfer uuid);
  create function bench.charge(node uuid, items bench.charge_item[]) returns table (verdict text) language plpgsql as $$
  begin
    return query select unnest(ledger.charge(array(
      select row(i.bucket, i.account, i.environment, 'KES', i.amount, i.source, 'charge', i.transfer, 'revenue:bench')::ledger.charge_item
        from unnest(items) i)));
  end $$;
  create table bench.accounts (id uuid primary key, balance bigint not null) with (fillfactor = 50);
  create table bench.entries (id uuid primary key, debit uuid not null, credit uuid not null, amount bigint not null check (amount > 0));
  create index entries_debit on bench.entries (debit, id);
  create function bench.move(p_id uuid, p_debit uuid, p_credit uuid, p_amount bigint) returns boolean language plpgsql as $$
  begin
    perform from bench.accounts where id = p_debit and balance >= p_amount for update;
    if not found then return false; end if;
    perform from bench.accounts where id = p_credit for update;
    update bench.accounts set balance = balance - p_amount where id = p_debit;
    update bench.accounts set balance = balance + p_amount where id = p_credit;
    insert into bench.entries (id, debit, credit, amount) values (p_id, p_debit, p_credit, p_amount);
    return true;
  end $$;`

const charge = operation.tenant(
  'bench.charge',
  { bucket: 'smallint', account: 'uuid', environment: 'text', amount: 'bigint', source: 'uuid', transfer: 'uuid' },
  { verdict: 'text' },
)

const lockWallet = statement.tenant<Tenant, { balance: bigint }>(
  'bench.lock_wallet',
  `select balance from ledger.wallets
    where ${mine} and currency = 'KES' for update`,
)
const takeMoney = statement.tenant<Tenant & { amount: bigint }, object>(
  'bench.take_money',
  `update ledger.wallets set balance = balance - $amount
    where ${mine} and currency = 'KES'`,
)
const writeTransfer = statement.tenant<Tenant & { amount: bigint; source: string; id: string }, object>(
  'bench.write_transfer',
  `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
   values ($bucket, $account, $environment, $source, 'charge', 0, $id, 'wallet', 'revenue:bench', $amount, 'KES')`,
)

const openAccounts = statement.home<{ ids: readonly string[]; balance: bigint }, object>(
  'bench.open_accounts',
  'insert into bench.accounts (id, balance) select a, $balance::bigint from unnest($ids::uuid[]) a',
)
const lockAccount = statement.home<{ id: string }, { balance: bigint }>(
  'bench.lock_account',
  'select balance from bench.accounts where id = $id for update',
)
const addTo = statement.home<{ id: string; amount: bigint }, object>(
  'bench.add_to',
  'update bench.accounts set balance = balance + $amount where id = $id',
)
type Move = { id: string; debit: string; credit: string; amount: bigint }
const writeEntry = statement.home<Move, object>(
  'bench.write_entry',
  'insert into bench.entries (id, debit, credit, amount) values ($id, $debit, $credit, $amount)',
)
const move = statement.home<Move, { moved: boolean }>(
  'bench.move',
  'select bench.move($id::uuid, $debit::uuid, $credit::uuid, $amount::bigint) as moved',
)
const accountsOff = statement.home<{ opened: bigint; house: string }, { off: number }>(
  'bench.accounts_off',
  `select count(*)::int as off
     from bench.accounts a
     left join (select m.id, sum(m.amount) as moved
                  from (select credit as id, amount from bench.entries
                        union all select debit, -amount from bench.entries) m group by m.id) e on e.id = a.id
    where a.balance <> case when a.id = $house::uuid then 0 else $opened::bigint end + coalesce(e.moved, 0)`,
)

export function ledger({ short }: { short: boolean }): Promise<Figure[]> {
  return withEngine(32, async (engine) => {
    const client = await engine.db.connect()
    await client.query(setUp)
    await client.end()
    const tenants = await Promise.all(Array.from({ length: short ? 50 : wallets }, () => funded(engine)))
    const durationMs = short ? 500 : 6_000
    const house = newUuid(systemClock.nowMs())
    await engine.db.query(openAccounts, { ids: [house], balance: 0n })
    await engine.db.query(openAccounts, { ids: tenants.map(({ account }) => account), balance: opened })
    const figures: Figure[] = []
    for (const [name, few] of [
      ['1,000 wallets', tenants],
      ['hot wallet', tenants.slice(0, 1)],
    ] as const) {
      let n = 0
      const next = (): Tenant => few[n++ % few.length] ?? newTenant()
      const ways: [string, (tenant: Tenant) => Promise<void>][] = [
        ['both locked, one call', (tenant) => rowLocked(engine, tenant, house)],
        ['both locked, in steps', (tenant) => rowLockedInSteps(engine, tenant, house)],
        ['wallet locked, in steps', (tenant) => alone(engine, tenant)],
      ]
      const others: [string, Awaited<ReturnType<typeof rate>>][] = []
      for (const [way, once] of ways) {
        await rate(32, durationMs / 8, () => once(next()))
        others.push([way, await rate(32, durationMs, () => once(next()))])
      }
      await rate(512, durationMs / 4, () => grouped(engine, next()))
      const together = await rate(512, durationMs, () => grouped(engine, next()))
      for (const [way, { perSecond: value, cpu }] of others)
        figures.push({ name: `${way}, ${name}`, value, unit: 'charges/s', cpu })
      figures.push({ name: `group commit, ${name}`, value: together.perSecond, unit: 'charges/s', cpu: together.cpu })
      for (const [way, { perSecond }] of others)
        figures.push({ name: `ratio, ${way}, ${name}`, value: together.perSecond / perSecond, unit: '' })
    }
    const { off } = await one(engine.db.query(accountsOff, { opened, house }))
    if (off > 0) throw new Error(`${off} accounts do not add up`)
    const { ok, problems } = await verifyLedger(engine.db)
    if (!ok) throw new Error(`the ledger does not add up: ${problems.join('; ')}`)
    return figures
  })
}

async function funded({ db }: Engine): Promise<Tenant> {
  const tenant = newTenant()
  const nowMs = systemClock.nowMs()
  await db.acrossTx(async (tx) => {
    await openWallet(tx, tenant, 'KES')
    await post(
      tx,
      tenant,
      { sourceId: newUuid(nowMs), step: 'credit' },
      [{ debit: 'bank', credit: 'wallet', micros: opened, currency: 'KES' }],
      nowMs,
    )
  })
  return tenant
}

async function grouped({ committer }: Engine, { bucket, account, environment }: Tenant): Promise<void> {
  const nowMs = systemClock.nowMs()
  const { verdict } = await committer.commit(charge, {
    bucket,
    account,
    environment,
    amount: micros,
    source: newUuid(nowMs),
    transfer: newUuid(nowMs),
  })
  if (verdict !== 'charged') throw new Error(`a charge was ${verdict}`)
}

async function alone({ db }: Engine, { bucket, account, environment }: Tenant): Promise<void> {
  const nowMs = systemClock.nowMs()
  await db.acrossTx(async (tx) => {
    const { balance } = await one(tx.query(lockWallet, { bucket, account, environment }))
    if (balance < micros) throw new Error('the wallet is empty')
    await tx.query(takeMoney, { bucket, account, environment, amount: micros })
    const [source, id] = [newUuid(nowMs), newUuid(nowMs)]
    await tx.query(writeTransfer, { bucket, account, environment, amount: micros, source, id })
  })
}

async function rowLocked({ db }: Engine, { account }: Tenant, house: string): Promise<void> {
  const id = newUuid(systemClock.nowMs())
  const { moved } = await one(db.query(move, { id, debit: account, credit: house, amount: micros }))
  if (!moved) throw new Error('the wallet is empty')
}

async function rowLockedInSteps({ db }: Engine, { account }: Tenant, house: string): Promise<void> {
  const id = newUuid(systemClock.nowMs())
  await db.acrossTx(async (tx) => {
    const { balance } = await one(tx.query(lockAccount, { id: account }))
    if (balance < micros) throw new Error('the wallet is empty')
    await tx.query(lockAccount, { id: house })
    await tx.query(addTo, { id: account, amount: -micros })
    await tx.query(addTo, { id: house, amount: micros })
    await tx.query(writeEntry, { id, debit: account, credit: house, amount: micros })
  })
}
