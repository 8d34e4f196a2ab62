// SPDX-License-Identifier: Apache-2.0
// SQL of reconciliation. Statements and their lines belong to the house; payments of every account are held against them
// (objects.ts), in statements that take all lines of a provider's account at once.
import { statement } from '../../../platform/db.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Columns, Kind } from './columns.ts'
import { type Account, candidates, isByPayer } from './objects.ts'

type StatementStatus = 'open' | 'matching' | 'matched'
export const classes = ['matched', 'theirs_only', 'amount_differs', 'booked', 'ours_only'] as const
type LineClass = Exclude<(typeof classes)[number], 'ours_only'>
export const covers = ['everything', 'collections', 'payouts'] as const
/** Subjects of a line. */
export type LineObject = 'payment' | 'payout' | 'refund'

export interface StatementRow {
  id: string
  environment: Environment
  provider: string
  country: string
  currency: string
  columns: Columns
  utc_offset: string
  covers: (typeof covers)[number]
  status: StatementStatus
  lines: number
  known_lines: number
  skipped_lines: number
  first_at: Date | null
  last_at: Date | null
  closing_balance: bigint | null
  closing_at: Date | null
  float_balance: bigint | null
  difference: bigint | null
  created_at: Date
  matched_at: Date | null
}

export interface LineRow {
  id: string
  environment: Environment
  statement_id: string
  provider: string
  country: string
  currency: string
  receipt: string
  kind: Kind
  occurred_at: Date
  amount: bigint
  phone: string | null
  details: string | null
  class: LineClass | null
  matched_by: 'receipt' | 'payer' | 'hand' | null
  object: LineObject
  payment_bucket: number | null
  payment_account: string | null
  payment_id: string | null
  is_settled: boolean
  booking: 'suspense' | 'fee' | 'bank' | null
  turn: number
}

/** Account of a provider, and the buckets whose payments are in the database of the house. */
export type Here = Account & { buckets: readonly number[] }

/** Condition for the lines of a tenant, in statements that also name payments. */
const ours = 'l.bucket = $bucket and l.account_id = $account and l.environment = $environment'

const columns = `id, environment, provider, country, currency, columns, utc_offset, covers, status, lines, known_lines, skipped_lines,
  first_at, last_at, closing_balance, closing_at, float_balance, difference, created_at, matched_at`

const lineColumns = `id, environment, statement_id, provider, country, currency, receipt, kind, occurred_at, amount, phone,
  details, class, matched_by, object, payment_bucket, payment_account, payment_id, is_settled, booking, turn`

export const insertStatement = statement.tenant<
  Account & {
    id: string
    currency: string
    columns: string
    utcOffset: string
    covers: string
    closingBalance: bigint | null
    closingAt: Date | null
    at: Date
  },
  StatementRow
>(
  'payments.insert_statement',
  `insert into payments.statements (bucket, account_id, environment, id, provider, country, currency, columns, utc_offset,
     covers, status, closing_balance, closing_at, created_at)
   values ($bucket, $account, $environment, $id, $provider, $country, $currency, $columns::jsonb, $utcOffset, $covers, 'open',
     $closingBalance, $closingAt, $at)
   returning ${columns}`,
)

/** Statement by id, in either environment. */
export const findStatement = statement.tenant<{ bucket: number; account: string; id: string }, StatementRow>(
  'payments.find_statement',
  `select ${columns} from payments.statements
    where bucket = $bucket and account_id = $account and environment in ('test', 'live') and id = $id`,
)

export const listStatements = statement.tenant<
  {
    bucket: number
    account: string
    environment: string | null
    provider: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  StatementRow
>(
  'payments.list_statements',
  `select ${columns} from payments.statements
    where bucket = $bucket and account_id = $account and ($environment::text is null or environment = $environment)
      and ($provider::text is null or provider = $provider)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Inserts lines; those with a known receipt are skipped. */
export const insertLines = statement.tenant<
  Account & {
    statementId: string
    currency: string
    ids: readonly string[]
    receipts: readonly string[]
    kinds: readonly string[]
    times: readonly string[]
    amounts: readonly string[]
    phones: readonly string[]
    details: readonly string[]
  },
  { added: number }
>(
  'payments.insert_statement_lines',
  `with added as (
     insert into payments.statement_lines (bucket, account_id, environment, id, statement_id, provider, country, currency,
       receipt, kind, occurred_at, amount, phone, details)
     select $bucket, $account, $environment, n.id, $statementId, $provider, $country, $currency, n.receipt, n.kind,
            n.occurred_at, n.amount, nullif(n.phone, ''), nullif(n.details, '')
       from unnest($ids::uuid[], $receipts::text[], $kinds::text[], $times::timestamptz[], $amounts::bigint[], $phones::text[],
                   $details::text[]) as n(id, receipt, kind, occurred_at, amount, phone, details)
     on conflict (bucket, account_id, environment, provider, country, receipt, kind) do nothing
     returning 1)
   select count(*)::int as added from added`,
)

/** Counts of an imported file; several files may make one statement. */
export const noteImport = statement.tenant<
  One & {
    added: number
    known: number
    skipped: number
    firstAt: Date | null
    lastAt: Date | null
    closingBalance: bigint | null
    closingAt: Date | null
  },
  StatementRow
>(
  'payments.note_import',
  `update payments.statements
      set status = 'matching', lines = lines + $added::int, known_lines = known_lines + $known::int,
          skipped_lines = skipped_lines + $skipped::int,
          first_at = least(first_at, $firstAt::timestamptz), last_at = greatest(last_at, $lastAt::timestamptz),
          closing_balance = case when $closingAt::timestamptz >= coalesce(closing_at, '-infinity') then $closingBalance
                                 else closing_balance end,
          closing_at = greatest(closing_at, $closingAt::timestamptz)
    where ${mine} and id = $id
   returning ${columns}`,
)

/** Lock of a provider's account: one run at a time. */
export const lockAccount = statement.tenant<{ bucket: number; account: string }, object>(
  'payments.lock_statements',
  `select pg_advisory_xact_lock(hashtextextended('payments.statements ' || $account::text, 0))`,
)

/** A file brings more lines than the planner has ever seen: it takes them for a handful, and each for a look at all others. */
export const planForMany = statement.tenant<{ bucket: number }, object>(
  'payments.plan_for_many',
  'set local enable_nestloop = off',
)

/** Condition for lines of any kind without a match. */
export const looseLines = `${ours} and l.provider = $provider and l.country = $country
  and (l.class is null or l.class = 'theirs_only')`
const unmatched = `${looseLines} and l.kind = 'collection'`

/** Matches lines whose receipt a payment has. A differing amount is left to an operator. */
export const matchReceipts = statement.tenant<Here, { id: string }>(
  'payments.match_receipts',
  `update payments.statement_lines l
      set class = case when p.amount = l.amount then 'matched' else 'amount_differs' end, matched_by = 'receipt',
          payment_bucket = p.bucket, payment_account = p.account_id, payment_id = p.id,
          is_settled = p.status = 'completed' or p.amount <> l.amount
     from ${candidates}
    where ${unmatched} and p.object = 'payment' and p.environment = l.environment and p.provider = l.provider
      and p.currency = l.currency and p.provider_reference = l.receipt
   returning l.id`,
)

/**
 * Lines without a known receipt: the one payment of that amount from that number at that time, when it has no other line
 * and the line no other payment. Outgoing lines find their payout or refund in the same way.
 */
const matchByPayer = (name: string, lines: string, objects: string) =>
  statement.tenant<Here, { id: string }>(
    name,
    `with pairs as (
       select l.id, p.object, p.bucket as payment_bucket, p.account_id as payment_account, p.id as payment_id,
              count(*) over (partition by l.id) as objects, count(*) over (partition by p.id) as lines
         from payments.statement_lines l
         join ${candidates} on ${isByPayer} and p.object in (${objects})
        where ${lines} and not exists (select from payments.statement_lines other where other.payment_id = p.id)
     )
     update payments.statement_lines l
        set class = 'matched', matched_by = 'payer', object = c.object, payment_bucket = c.payment_bucket,
            payment_account = c.payment_account, payment_id = c.payment_id, is_settled = false
       from pairs c
      where ${ours} and l.id = c.id and c.objects = 1 and c.lines = 1
     returning l.id`,
  )
export const matchPayers = matchByPayer('payments.match_payers', unmatched, `'payment'`)
export const matchPayees = matchByPayer(
  'payments.match_payees',
  `${looseLines} and l.kind = 'other'`,
  `'payout', 'refund'`,
)

/** Classifies the rest: unmatched lines are the provider's alone; charges and transfers to the bank are our own. */
export const classifyRest = statement.tenant<Account, object>(
  'payments.classify_lines',
  `update payments.statement_lines l
      set class = case when l.kind in ('fee', 'settlement') then 'booked' else 'theirs_only' end
    where ${ours} and l.provider = $provider and l.country = $country and l.class is null`,
)

/** Statement line to be booked, with what its statement covers, which decides the ledger account. */
export type Booked = Pick<LineRow, 'id' | 'kind' | 'amount' | 'turn'> & Pick<StatementRow, 'covers'>

const booked = `select l.id, l.kind, l.amount, l.turn, s.covers
     from payments.statement_lines l
     join payments.statements s
       on s.bucket = l.bucket and s.account_id = l.account_id and s.environment = l.environment and s.id = l.statement_id`

/** Lines that are not in the ledger yet. Outgoing money of unknown reason is left to an operator. */
export const unbooked = statement.tenant<Account & { limit: number }, Booked>(
  'payments.unbooked_lines',
  `${booked}
    where ${ours} and l.provider = $provider and l.country = $country and l.booking is null
      and (l.class = 'booked' or (l.class = 'theirs_only' and l.kind = 'collection'))
    order by l.id limit $limit`,
)

export const noteBooked = statement.tenant<Tenant & { ids: readonly string[] }, object>(
  'payments.note_booked',
  `update payments.statement_lines
      set booking = case kind when 'fee' then 'fee' when 'settlement' then 'bank' else 'suspense' end
    where ${mine} and id = any($ids::uuid[])`,
)

/** Lines that found their payment after they were put into suspense. */
export const inSuspense = statement.tenant<Account & { limit: number }, Booked>(
  'payments.matched_in_suspense',
  `${booked}
    where ${ours} and l.provider = $provider and l.country = $country and l.booking = 'suspense'
      and l.class in ('matched', 'amount_differs')
    order by l.id limit $limit`,
)

export const noteReleased = statement.tenant<Tenant & { ids: readonly string[] }, object>(
  'payments.note_released',
  `update payments.statement_lines set booking = null, turn = turn + 1 where ${mine} and id = any($ids::uuid[])`,
)

/** Payments of one database that were completed without a receipt have it now: nothing else is to be settled of them. */
export const nameReceipts = statement.tenant<
  {
    buckets: readonly number[]
    environment: string
    accounts: readonly string[]
    ids: readonly string[]
    receipts: readonly string[]
  },
  { id: string }
>(
  'payments.name_receipts',
  `update payments.payments p set provider_reference = n.receipt
     from unnest($buckets::smallint[], $accounts::uuid[], $ids::uuid[], $receipts::text[]) as n(bucket, account_id, id, receipt)
    where p.bucket = n.bucket and p.account_id = n.account_id and p.environment = $environment and p.id = n.id
      and p.status = 'completed' and p.provider_reference is null
   returning p.id`,
)

export const noteNamed = statement.tenant<Tenant & { ids: readonly string[] }, object>(
  'payments.note_named',
  `update payments.statement_lines set is_settled = true where ${mine} and payment_id = any($ids::uuid[]) and not is_settled`,
)

export const unsettled = statement.tenant<Account & { after: string; limit: number }, LineRow>(
  'payments.unsettled_lines',
  `select ${lineColumns} from payments.statement_lines
    where ${mine} and provider = $provider and country = $country and not is_settled and id > $after::uuid
    order by id limit $limit`,
)

/** Stores the outcome of a line whose payment was settled by it. */
export const noteSettled = statement.tenant<One & { class: string; keeps: boolean }, object>(
  'payments.note_settled',
  `update payments.statement_lines
      set is_settled = true, class = $class, matched_by = case when $keeps::boolean then matched_by end,
          payment_bucket = case when $keeps then payment_bucket end,
          payment_account = case when $keeps then payment_account end,
          payment_id = case when $keeps then payment_id end
    where ${mine} and id = $id and not is_settled`,
)

/** The sum of the last closing balances of a provider's accounts in one currency. */
export const closingBalances = statement.tenant<
  Tenant & { provider: string; currency: string; covers: string },
  { micros: bigint | null; closing_at: Date | null }
>(
  'payments.closing_balances',
  `select sum(c.closing_balance)::bigint as micros, max(c.closing_at) as closing_at
     from (select distinct on (country) closing_balance, closing_at from payments.statements
            where ${mine} and provider = $provider and currency = $currency and covers = $covers
              and closing_balance is not null
            order by country, closing_at desc, id desc) c`,
)

export const finishStatement = statement.tenant<
  One & { floatBalance: bigint; difference: bigint | null; at: Date },
  StatementRow
>(
  'payments.finish_statement',
  `update payments.statements
      set status = 'matched', float_balance = $floatBalance, difference = $difference, matched_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

/** The last known difference of every account with a provider. */
export const latestDifferences = statement.tenant<
  { bucket: number; account: string },
  { environment: string; provider: string; currency: string; covers: string; difference: bigint }
>(
  'payments.latest_differences',
  `select distinct on (environment, provider, currency, covers) environment, provider, currency, covers, difference
     from payments.statements
    where bucket = $bucket and account_id = $account and difference is not null
    order by environment, provider, currency, covers, matched_at desc`,
)

export interface ClassCount {
  class: (typeof classes)[number]
  lines: number
  micros: bigint
  net: bigint
}

/** Lines of a statement by class. */
export const countLines = statement.tenant<Tenant & { id: string }, ClassCount>(
  'payments.count_classes',
  `select class, count(*)::int as lines, sum(amount)::bigint as micros,
          sum(case kind when 'collection' then amount else -amount end)::bigint as net
     from payments.statement_lines
    where ${mine} and statement_id = $id and class is not null
    group by class`,
)

export const listLines = statement.tenant<
  Tenant & { id: string; class: string | null; after: string | null; descending: boolean; limit: number },
  LineRow
>(
  'payments.list_statement_lines',
  `select ${lineColumns} from payments.statement_lines
    where ${mine} and statement_id = $id and ($class::text is null or class = $class)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const lockLine = statement.tenant<{ bucket: number; account: string; id: string }, LineRow>(
  'payments.lock_statement_line',
  `select ${lineColumns} from payments.statement_lines
    where bucket = $bucket and account_id = $account and environment in ('test', 'live') and id = $id for update`,
)

export const assignLine = statement.tenant<
  One & { paymentBucket: number; paymentAccount: string; paymentId: string },
  LineRow
>(
  'payments.assign_line',
  `update payments.statement_lines
      set class = 'matched', matched_by = 'hand', payment_bucket = $paymentBucket, payment_account = $paymentAccount,
          payment_id = $paymentId, is_settled = false
    where ${mine} and id = $id
   returning ${lineColumns}`,
)

export const lineOfPayment = statement.tenant<Tenant & { payment: string }, { receipt: string }>(
  'payments.line_of_payment',
  `select receipt from payments.statement_lines where ${mine} and payment_id = $payment limit 1`,
)
