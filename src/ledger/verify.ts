// SPDX-License-Identifier: Apache-2.0
// Proves the ledger from its transfers: every balance, hold, reversal and roll-up is worked out anew and held against
// what is stored. Reads only, in one snapshot, so it may run under full load. All buckets at once: transfers are kept by
// what they are about, so a part of the buckets takes as long to read as all of them. What is added up and does not fit
// into the memory of a statement, PostgreSQL puts on the disk.
import type pg from 'pg'
import { buckets, idOf } from '../kernel/ids.ts'
import { formatMicros } from '../kernel/money.ts'
import { type Database, type Statement, statement } from '../platform/db.ts'

const mostProblems = 100

export interface Verification {
  ok: boolean
  wallets: number
  transfers: number
  /** Sentences for the operator, the first hundred. */
  problems: string[]
}

type Buckets = { buckets: readonly number[] }

interface TenantRow {
  account_id: string
  environment: string
}

interface WalletRow extends TenantRow {
  currency: string
  /** Balance of the wallet; null when there is none. */
  balance: bigint | null
  held: bigint | null
  overdraft: bigint | null
  moved: string
  promised: string
}

interface HoldRow extends TenantRow {
  source_id: string
  step: string
  currency: string
  /** Amount of the hold; null when there is none. */
  amount: bigint | null
  captured: bigint | null
  released: bigint | null
  open: boolean | null
  paid: string
}

interface ReversalRow extends TenantRow {
  source_id: string
  step: string
  reverses: string
  legs: number
  expected_legs: number
  mirrored: number
  times: number
}

interface PostingRow extends TenantRow {
  source_id: string
  step: string
  legs: number
  expected_legs: number
}

interface RollupRow extends TenantRow {
  day: string
  debit: string
  credit: string
  currency: string
  amount: bigint | null
  entries: number | null
  transferred: string
  transfers: number
}

const countRows = statement.everywhere<Buckets, { wallets: number; transfers: number }>(
  'ledger.verify_counts',
  `select (select count(*) from ledger.wallets w where w.bucket = any($buckets::smallint[]))::int as wallets,
          (select count(*) from ledger.transfers t where t.bucket = any($buckets::smallint[]))::int as transfers`,
)

const wrongWallets = statement.everywhere<Buckets, WalletRow>(
  'ledger.verify_wallets',
  `with wallets as (
     select * from ledger.wallets where bucket = any($buckets::smallint[])
   ), moved as (
     select bucket, account_id, environment, currency, sum(case when credit = 'wallet' then amount else -amount end) as net
       from ledger.transfers
      where bucket = any($buckets::smallint[]) and 'wallet' in (debit, credit)
      group by bucket, account_id, environment, currency
   ), promised as (
     select bucket, account_id, environment, currency, sum(amount - captured - released) as remaining
       from ledger.holds
      where bucket = any($buckets::smallint[]) and open
      group by bucket, account_id, environment, currency
   )
   select account_id, environment, currency, w.balance, w.held, w.overdraft, coalesce(m.net, 0) as moved,
          coalesce(p.remaining, 0) as promised
     from wallets w
     full join moved m using (bucket, account_id, environment, currency)
     full join promised p using (bucket, account_id, environment, currency)
    where w.balance is distinct from coalesce(m.net, 0) or w.held is distinct from coalesce(p.remaining, 0)
       or w.balance - w.held < -w.overdraft
    order by account_id, environment, currency limit ${mostProblems}`,
)

const wrongHolds = statement.everywhere<Buckets, HoldRow>(
  'ledger.verify_holds',
  `with holds as (
     select * from ledger.holds where bucket = any($buckets::smallint[])
   ), captures as (
     select bucket, account_id, environment, source_id, hold_step as step, currency, sum(amount) as paid
       from ledger.transfers
      where bucket = any($buckets::smallint[]) and hold_step is not null
      group by bucket, account_id, environment, source_id, hold_step, currency
   )
   select account_id, environment, source_id, step, currency, h.amount, h.captured, h.released, h.open,
          coalesce(c.paid, 0) as paid
     from holds h
     full join captures c using (bucket, account_id, environment, source_id, step, currency)
    where h.captured is distinct from coalesce(c.paid, 0) or h.captured + h.released > h.amount or h.released < 0
       or h.open <> (h.captured + h.released < h.amount)
    order by account_id, environment, source_id, step, currency limit ${mostProblems}`,
)

const wrongReversals = statement.everywhere<Buckets, ReversalRow>(
  'ledger.verify_reversals',
  `with legs as (
     select * from ledger.transfers where bucket = any($buckets::smallint[]) and reverses is not null
   ), reversals as (
     select bucket, account_id, environment, source_id, step, reverses, count(*) as legs,
            count(*) over (partition by bucket, account_id, environment, source_id, reverses) as times
       from legs
      group by bucket, account_id, environment, source_id, step, reverses
   ), compared as (
     select r.bucket, r.account_id, r.environment, r.source_id, r.step, r.reverses, r.legs, r.times,
            count(o.leg) as expected_legs, count(l.leg) as mirrored
       from reversals r
       left join ledger.transfers o
         on o.bucket = r.bucket and o.account_id = r.account_id and o.environment = r.environment
        and o.source_id = r.source_id and o.step = r.reverses and o.bucket = any($buckets::smallint[])
       left join legs l
         on l.bucket = r.bucket and l.account_id = r.account_id and l.environment = r.environment
        and l.source_id = r.source_id and l.step = r.step and l.leg = o.leg
        and (l.debit, l.credit, l.amount, l.currency) = (o.credit, o.debit, o.amount, o.currency)
      group by r.bucket, r.account_id, r.environment, r.source_id, r.step, r.reverses, r.legs, r.times
   )
   select account_id, environment, source_id, step, reverses, legs::int, expected_legs::int, mirrored::int, times::int
     from compared
    where expected_legs = 0 or legs <> expected_legs or mirrored <> expected_legs or times > 1
    order by account_id, environment, source_id, step limit ${mostProblems}`,
)

// The legs of a posting are numbered from 0. Only the fee of a payment, which is number 1, may stand alone, where it took all
// that was paid; where it did not, the wallet and the roll-ups miss what leg 0 brought.
const wrongPostings = statement.everywhere<Buckets, PostingRow>(
  'ledger.verify_postings',
  `select account_id, environment, source_id, step, count(*)::int as legs, max(leg) + 1 as expected_legs
     from ledger.transfers
    where bucket = any($buckets::smallint[])
    group by bucket, account_id, environment, source_id, step
   having count(*) <> max(leg) + 1 and not (max(leg) = 1 and max(credit) = 'revenue:payment_fees')
    order by account_id, environment, source_id, step limit ${mostProblems}`,
)

const wrongRollups = statement.everywhere<Buckets, RollupRow>(
  'ledger.verify_rollups',
  `with rollups as (
     select * from ledger.rollups where bucket = any($buckets::smallint[])
   ), sums as (
     select bucket, account_id, environment, ledger.day_of(t.id) as day, t.debit, t.credit, t.currency,
            sum(t.amount) as transferred, count(*) as transfers
       from ledger.transfers t
       join ledger.rollup_marks m using (bucket, account_id, environment)
      where bucket = any($buckets::smallint[]) and t.id < m.upto
      group by bucket, account_id, environment, ledger.day_of(t.id), t.debit, t.credit, t.currency
   )
   select account_id, environment, day, debit, credit, currency, r.amount, r.entries,
          coalesce(s.transferred, 0) as transferred, coalesce(s.transfers, 0)::int as transfers
     from rollups r
     full join sums s using (bucket, account_id, environment, day, debit, credit, currency)
    where r.amount is distinct from s.transferred or r.entries is distinct from s.transfers
    order by account_id, environment, day, debit, credit, currency limit ${mostProblems}`,
)

/** Holds all of the ledger against its transfers. */
export async function verifyLedger(db: Database): Promise<Verification> {
  const verification: Verification = { ok: true, wallets: 0, transfers: 0, problems: [] }
  const client = await db.connect()
  try {
    await client.query('begin isolation level repeatable read, read only')
    // A large ledger takes longer to add up than any customer may wait.
    await client.query('set local statement_timeout = 0')
    await verifyAll(client, verification)
    await client.query('commit')
  } finally {
    await client.end()
  }
  verification.ok = verification.problems.length === 0
  verification.problems.length = Math.min(verification.problems.length, mostProblems)
  return verification
}

async function verifyAll(client: pg.Client, verification: Verification): Promise<void> {
  const [counted] = await ask(client, countRows)
  verification.wallets = counted?.wallets ?? 0
  verification.transfers = counted?.transfers ?? 0
  verification.problems.push(
    ...(await ask(client, wrongWallets)).flatMap(aboutWallet),
    ...(await ask(client, wrongHolds)).map(aboutHold),
    ...(await ask(client, wrongReversals)).map(aboutReversal),
    ...(await ask(client, wrongPostings)).map(aboutPosting),
    ...(await ask(client, wrongRollups)).map(aboutRollup),
  )
}

async function ask<R extends object>(client: pg.Client, { name, text }: Statement<Buckets, R>): Promise<R[]> {
  return (await client.query<R>({ name, text, values: [buckets] })).rows
}

function aboutWallet(row: WalletRow): string[] {
  const { currency, balance, held, overdraft, moved, promised } = row
  const money = (micros: bigint | string): string => moneyText(micros, currency)
  if (balance === null || held === null || overdraft === null)
    return [
      `${tenantText(row)}: there is no ${currency} wallet, but transfers put ${money(moved)} into it and open holds set aside ${money(promised)}.`,
    ]
  const problems: string[] = []
  if (balance !== BigInt(moved))
    problems.push(
      `the balance of the ${currency} wallet must be ${money(moved)} by its transfers, but is ${money(balance)}`,
    )
  if (held !== BigInt(promised))
    problems.push(
      `the ${currency} wallet must hold back ${money(promised)} for its open holds, but holds back ${money(held)}`,
    )
  if (balance - held < -overdraft)
    problems.push(`the ${currency} wallet may go down to ${money(-overdraft)}, but is at ${money(balance - held)}`)
  return problems.map((problem) => `${tenantText(row)}: ${problem}.`)
}

function aboutHold(row: HoldRow): string {
  const { currency, amount, captured, released, open, paid } = row
  const money = (micros: bigint | string): string => moneyText(micros, currency)
  const where = `${tenantText(row)}: the hold ${row.step} of ${row.source_id}`
  if (amount === null || captured === null || released === null)
    return `${where} does not exist in ${currency}, but ${money(paid)} was captured from it.`
  if (captured !== BigInt(paid))
    return `${where} must have ${money(paid)} captured by its transfers, but has ${money(captured)}.`
  return `${where} over ${money(amount)} is ${open ? 'open' : 'closed'}, but has ${money(captured)} captured and ${money(released)} released.`
}

function aboutReversal(row: ReversalRow): string {
  const { source_id, step, reverses, legs, expected_legs, mirrored, times } = row
  const where = `${tenantText(row)}: the step ${step} of ${source_id}`
  if (expected_legs === 0) return `${where} reverses ${reverses}, which does not exist.`
  if (legs !== expected_legs || mirrored !== expected_legs)
    return `${where} must mirror the ${expected_legs} legs of ${reverses}, but of its ${legs} legs ${mirrored} do.`
  return `${where} reverses ${reverses}, which must be reversed once, but is reversed ${times} times.`
}

function aboutPosting(row: PostingRow): string {
  const { source_id, step, legs, expected_legs } = row
  return `${tenantText(row)}: the step ${step} of ${source_id} must have at least ${expected_legs} legs, but has ${legs}.`
}

function aboutRollup(row: RollupRow): string {
  const { day, debit, credit, currency, amount, entries, transferred, transfers } = row
  const found = amount === null ? 'is missing' : `is ${moneyText(amount, currency)} in ${entries}`
  return `${tenantText(row)}: the roll-up of ${day} from ${debit} to ${credit} must be ${moneyText(transferred, currency)} in ${transfers} transfers, but ${found}.`
}

function tenantText({ account_id, environment }: TenantRow): string {
  return `${idOf('account', account_id)} ${environment}`
}

function moneyText(micros: bigint | string, currency: string): string {
  return `${currency} ${formatMicros(BigInt(micros))}`
}
