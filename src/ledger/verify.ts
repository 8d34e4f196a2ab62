// SPDX-License-Identifier: Apache-2.0
// Proves the ledger from its transfers: every balance, hold, reversal and roll-up is worked out anew and held against
// what is stored. Reads only, in one snapshot, so it may run under full load. All buckets at once: transfers are kept by
// what they are about, so a part of the buckets takes as long to read as all of them. What is added up and does not fit
// into the memory of a statement, PostgreSQL puts on the disk.
//
// From a day on, it reads only what was transferred since, all of whatever that was about, and all that has an open hold;
// for what is older it relies on the roll-ups, which an earlier proof has held against the transfers.
import type pg from 'pg'
import { idOf } from '../kernel/ids.ts'
import { formatMicros } from '../kernel/money.ts'
import type { Cell } from '../platform/db/cell.ts'
import { type Database, type Statement, statement } from '../platform/db.ts'

const maxProblems = 100

export interface Verification {
  ok: boolean
  wallets: number
  transfers: number
  /** Sentences for the operator, the first hundred. */
  problems: string[]
}

interface Scope {
  buckets: readonly number[]
  /** First transfer that is looked at, by id. The smallest id: all of them. */
  since: string
}

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

/** Before every id. */
export const firstId = '00000000-0000-0000-0000-000000000000'

/** Transfers and what is rolled up of them, for a proof of everything or of what is new. */
interface Extent {
  readonly name: 'all' | 'new'
  /** Beginning of every statement. */
  readonly with: string
  /** Transfers since then. */
  readonly recent: string
  /** Transfers of everything that had one since then, or has an open hold. */
  readonly touched: string
  readonly moved: string
  readonly holds: string
}

const inScope = 'bucket = any($buckets::smallint[])'
const signed = `case when credit = 'wallet' then amount else -amount end`

const everything: Extent = {
  name: 'all',
  with: 'with scope as (select $since::uuid as since)',
  recent: `(select * from ledger.transfers where ${inScope})`,
  touched: `(select * from ledger.transfers where ${inScope})`,
  moved: `select bucket, account_id, environment, currency, ${signed} as net
            from ledger.transfers where ${inScope} and 'wallet' in (debit, credit)`,
  holds: `select * from ledger.holds where ${inScope}`,
}

// `offset 0` keeps PostgreSQL from reading all transfers to join them: there are few new ones, found by an index.
const whatIsNew: Extent = {
  name: 'new',
  with: `with tenants as (
     select w.*, coalesce(m.upto, '${firstId}') as upto
       from (select distinct bucket, account_id, environment::text from ledger.wallets where ${inScope}) w
       left join ledger.rollup_marks m using (bucket, account_id, environment)
   ), recent as (
     select t.* from tenants n
      cross join lateral (select * from ledger.transfers x
        where x.bucket = n.bucket and x.account_id = n.account_id and x.environment = n.environment
          and x.id >= $since::uuid offset 0) t
   ), sources as (
     select bucket, account_id, environment, source_id from recent
      union
     select bucket, account_id, environment, source_id from ledger.holds where ${inScope} and open
   ), touched as (
     select t.* from sources s
      cross join lateral (select * from ledger.transfers x
        where x.source_id = s.source_id and x.bucket = s.bucket and x.account_id = s.account_id
          and x.environment = s.environment offset 0) t
   )`,
  recent: 'recent',
  touched: 'touched',
  moved: `select bucket, account_id, environment, currency, ${signed} as net
            from ledger.rollups where ${inScope} and 'wallet' in (debit, credit)
           union all
          select n.bucket, n.account_id, n.environment, t.currency, t.net from tenants n
           cross join lateral (select x.currency, ${signed} as net from ledger.transfers x
             where x.bucket = n.bucket and x.account_id = n.account_id and x.environment = n.environment
               and x.id >= n.upto and 'wallet' in (x.debit, x.credit) offset 0) t`,
  holds: `select h.* from sources s
           cross join lateral (select * from ledger.holds x
             where x.bucket = s.bucket and x.account_id = s.account_id and x.environment = s.environment
               and x.source_id = s.source_id offset 0) h`,
}

/** Statements of a proof; each gives what is wrong, at most a hundred rows. */
function checksOf({ name, with: beginning, recent, touched, moved, holds }: Extent) {
  const declare = <Row extends object>(what: string, text: string) =>
    statement.everywhere<Scope, Row>(`ledger.verify_${what}_of_${name}`, `${beginning}${text}`)
  return {
    counts: declare<{ wallets: number; transfers: number }>(
      'counts',
      ` select (select count(*) from ledger.wallets w where w.${inScope})::int as wallets,
              (select count(*) from ${recent} t)::int as transfers`,
    ),
    wallets: declare<WalletRow>(
      'wallets',
      `, wallets as (
         select * from ledger.wallets where ${inScope}
       ), moved as (
         select bucket, account_id, environment, currency, sum(net) as net from (${moved}) m
          group by bucket, account_id, environment, currency
       ), promised as (
         select bucket, account_id, environment, currency, sum(amount - captured - released) as remaining
           from ledger.holds
          where ${inScope} and open
          group by bucket, account_id, environment, currency
       )
       select account_id, environment, currency, w.balance, w.held, w.overdraft, coalesce(m.net, 0) as moved,
              coalesce(p.remaining, 0) as promised
         from wallets w
         full join moved m using (bucket, account_id, environment, currency)
         full join promised p using (bucket, account_id, environment, currency)
        where w.balance is distinct from coalesce(m.net, 0) or w.held is distinct from coalesce(p.remaining, 0)
           or w.balance - w.held < -w.overdraft
        order by account_id, environment, currency limit ${maxProblems}`,
    ),
    holds: declare<HoldRow>(
      'holds',
      `, holds as (${holds}), captures as (
         select bucket, account_id, environment, source_id, hold_step as step, currency, sum(amount) as paid
           from ${touched} t
          where hold_step is not null
          group by bucket, account_id, environment, source_id, hold_step, currency
       )
       select account_id, environment, source_id, step, currency, h.amount, h.captured, h.released, h.open,
              coalesce(c.paid, 0) as paid
         from holds h
         full join captures c using (bucket, account_id, environment, source_id, step, currency)
        where h.captured is distinct from coalesce(c.paid, 0) or h.captured + h.released > h.amount or h.released < 0
           or h.open <> (h.captured + h.released < h.amount)
        order by account_id, environment, source_id, step, currency limit ${maxProblems}`,
    ),
    reversals: declare<ReversalRow>(
      'reversals',
      `, legs as (
         select * from ${touched} t where reverses is not null
       ), reversals as (
         select bucket, account_id, environment, source_id, step, reverses, count(*) as legs,
                count(*) over (partition by bucket, account_id, environment, source_id, reverses) as times
           from legs
          group by bucket, account_id, environment, source_id, step, reverses
       ), compared as (
         select r.bucket, r.account_id, r.environment, r.source_id, r.step, r.reverses, r.legs, r.times,
                count(o.leg) as expected_legs, count(l.leg) as mirrored
           from reversals r
           left join ${touched} o
             on o.bucket = r.bucket and o.account_id = r.account_id and o.environment = r.environment
            and o.source_id = r.source_id and o.step = r.reverses
           left join legs l
             on l.bucket = r.bucket and l.account_id = r.account_id and l.environment = r.environment
            and l.source_id = r.source_id and l.step = r.step and l.leg = o.leg
            and (l.debit, l.credit, l.amount, l.currency) = (o.credit, o.debit, o.amount, o.currency)
          group by r.bucket, r.account_id, r.environment, r.source_id, r.step, r.reverses, r.legs, r.times
       )
       select account_id, environment, source_id, step, reverses, legs::int, expected_legs::int, mirrored::int, times::int
         from compared
        where expected_legs = 0 or legs <> expected_legs or mirrored <> expected_legs or times > 1
        order by account_id, environment, source_id, step limit ${maxProblems}`,
    ),
    // The legs of a posting are numbered from 0. Only the fee of a payment, which is number 1, may stand alone, where it took
    // all that was paid; where it did not, the wallet and the roll-ups miss what leg 0 brought.
    postings: declare<PostingRow>(
      'postings',
      ` select account_id, environment, source_id, step, count(*)::int as legs, max(leg) + 1 as expected_legs
         from ${touched} t
        group by bucket, account_id, environment, source_id, step
       having count(*) <> max(leg) + 1 and not (max(leg) = 1 and max(credit) = 'revenue:payment_fees')
        order by account_id, environment, source_id, step limit ${maxProblems}`,
    ),
    rollups: declare<RollupRow>(
      'rollups',
      `, rollups as (
         select * from ledger.rollups where ${inScope} and day >= ledger.day_of($since::uuid)
       ), sums as (
         select bucket, account_id, environment, ledger.day_of(t.id) as day, t.debit, t.credit, t.currency,
                sum(t.amount) as transferred, count(*) as transfers
           from ${recent} t
           join ledger.rollup_marks m using (bucket, account_id, environment)
          where t.id < m.upto
          group by bucket, account_id, environment, ledger.day_of(t.id), t.debit, t.credit, t.currency
       )
       select account_id, environment, day, debit, credit, currency, r.amount, r.entries,
              coalesce(s.transferred, 0) as transferred, coalesce(s.transfers, 0)::int as transfers
         from rollups r
         full join sums s using (bucket, account_id, environment, day, debit, credit, currency)
        where r.amount is distinct from s.transferred or r.entries is distinct from s.transfers
        order by account_id, environment, day, debit, credit, currency limit ${maxProblems}`,
    ),
  }
}

const [checksOfAll, checksOfNew] = [checksOf(everything), checksOf(whatIsNew)]

/** Holds the ledger against its transfers: all of it, or from the first transfer of a UTC day on. */
export async function verifyLedger(db: Database, since = firstId): Promise<Verification> {
  const verification: Verification = { ok: true, wallets: 0, transfers: 0, problems: [] }
  db.requireEvery()
  for (const cell of db.cells) await verifyCell(cell, db.bucketsIn(cell), since, verification)
  verification.ok = verification.problems.length === 0
  verification.problems.length = Math.min(verification.problems.length, maxProblems)
  return verification
}

async function verifyCell(
  cell: Cell,
  buckets: readonly number[],
  since: string,
  verification: Verification,
): Promise<void> {
  const client = await cell.connect()
  try {
    await client.query('begin isolation level repeatable read, read only')
    // A large ledger takes longer to add up than any customer may wait.
    await client.query('set local statement_timeout = 0')
    // What is new is found by indexes, however little PostgreSQL knows of how much of it there is.
    if (since !== firstId) await client.query('set local enable_seqscan = off')
    await verifySince(client, { buckets, since }, verification)
    await client.query('commit')
  } finally {
    await client.end()
  }
}

async function verifySince(client: pg.Client, scope: Scope, verification: Verification): Promise<void> {
  const checks = scope.since === firstId ? checksOfAll : checksOfNew
  const ask = async <R extends object>({ name, text, parameters }: Statement<Scope, R>): Promise<R[]> =>
    (await client.query<R>({ name, text, values: parameters.map((parameter) => scope[parameter]) })).rows
  const [counted] = await ask(checks.counts)
  verification.wallets += counted?.wallets ?? 0
  verification.transfers += counted?.transfers ?? 0
  verification.problems.push(
    ...(await ask(checks.wallets)).flatMap(aboutWallet),
    ...(await ask(checks.holds)).map(aboutHold),
    ...(await ask(checks.reversals)).map(aboutReversal),
    ...(await ask(checks.postings)).map(aboutPosting),
    ...(await ask(checks.rollups)).map(aboutRollup),
  )
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
