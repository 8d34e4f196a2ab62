// SPDX-License-Identifier: Apache-2.0
// Payments, payouts and refunds that were completed while a statement ran, and that it did not name. Which they are is noted
// beside the statement; what they are is asked of the databases that have them.
import { nilUuid } from '../../../kernel/ids.ts'
import { type AcrossTx, one, type Queryable, statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { type Asked, completed, inPages, objectsAtOnce, type Page, type Places, paged } from './objects.ts'
import { type ClassCount, countLines, type Here, type LineObject, type StatementRow } from './store.ts'

const gapsAtOnce = 2_000

/** Payments completed within the statement's time that have no line. */
const insertGaps = statement.tenant<Here & { id: string; currency: string }, { payment_id: string }>(
  'payments.insert_gaps',
  `insert into payments.statement_gaps (bucket, account_id, environment, statement_id, payment_id, payment_bucket,
     payment_account, object)
   select s.bucket, s.account_id, s.environment, s.id, p.id, p.bucket, p.account_id, p.object
     from payments.statements s
     join ${completed} p
       on p.environment = s.environment and p.provider = s.provider and p.currency = s.currency and p.country = s.country
      and p.completed_at between s.first_at and s.last_at and s.covers in ('everything', p.kept)
    where s.bucket = $bucket and s.account_id = $account and s.environment = $environment and s.id = $id
      and s.provider = $provider and s.country = $country and s.currency = $currency
      and not exists (select from payments.statement_lines l where l.payment_id = p.id)
   on conflict do nothing
   returning payment_id`,
)

type Span = Pick<StatementRow, 'environment' | 'provider' | 'country' | 'currency' | 'covers'> & {
  firstAt: Date | null
  lastAt: Date | null
}

const completedPage = statement.everywhere<Asked & Span, Page>(
  'payments.page_completed',
  paged(`select p.object, p.bucket, p.account_id, p.id from ${completed} p
          where p.environment = $environment and p.provider = $provider and p.country = $country and p.currency = $currency
            and p.completed_at between $firstAt::timestamptz and $lastAt::timestamptz and $covers::text in ('everything', p.kept)
            and p.id > $after::uuid`),
)

const insertGapsElsewhere = statement.tenant<Tenant & { id: string; rows: string }, object>(
  'payments.insert_gaps_elsewhere',
  `insert into payments.statement_gaps (bucket, account_id, environment, statement_id, payment_id, payment_bucket,
     payment_account, object)
   select $bucket, $account, $environment, $id, p.id, p.bucket, p.account_id, p.object
     from jsonb_to_recordset($rows::jsonb) as p(object text, bucket smallint, account_id uuid, id uuid)
    where not exists (select from payments.statement_lines l
                       where l.payment_id = p.id and l.bucket = $bucket and l.account_id = $account)
   on conflict do nothing`,
)

/** Notes what was completed within the statement's time and no line names. */
export async function noteGaps(
  tx: AcrossTx,
  house: Tenant,
  { id, environment, provider, country, currency, covers, first_at: firstAt, last_at: lastAt }: StatementRow,
  { here, elsewhere }: Places,
): Promise<void> {
  await tx.query(insertGaps, { ...house, buckets: here, provider, country, currency, id })
  const window = { environment, provider, country, currency, covers, firstAt, lastAt, limit: objectsAtOnce }
  for (const there of elsewhere)
    await inPages(
      (after) => one(tx.query(completedPage, { ...window, buckets: there, after })),
      (rows) => tx.query(insertGapsElsewhere, { ...house, id, rows }),
    )
}

/** Gap of a statement: whose, and which. */
interface Gap {
  bucket: number
  account: string
  id: string
}

export interface GapRow {
  id: string
  object: LineObject
  payment_account: string
  provider_reference: string | null
  completed_at: Date
  amount: bigint
  currency: string
  phone: string | null
}

interface Window {
  after: string | null
  descending: boolean
  limit: number
}

/** Gaps that no line of a later statement names. */
const findGaps = statement.tenant<Tenant & Window & { id: string }, Gap>(
  'payments.find_statement_gaps',
  `select g.payment_bucket as bucket, g.payment_account as account, g.payment_id as id
     from payments.statement_gaps g
    where ${mine} and g.statement_id = $id
      and not exists (select from payments.statement_lines l where l.payment_id = g.payment_id)
      and ($after::uuid is null or (case when $descending::boolean then g.payment_id < $after else g.payment_id > $after end))
    order by case when $descending then g.payment_id end desc, g.payment_id
    limit $limit`,
)

/** Gaps of one database. */
interface Wanted {
  buckets: readonly number[]
  environment: string
  accounts: readonly string[]
  ids: readonly string[]
}

const wanted = `unnest($buckets::smallint[], $accounts::uuid[], $ids::uuid[]) as g(bucket, account_id, id)
     join ${completed} p
       on p.bucket = g.bucket and p.account_id = g.account_id and p.environment = $environment and p.id = g.id`

const describeGaps = statement.tenant<Wanted, GapRow>(
  'payments.describe_gaps',
  `select p.id, p.object, p.account_id as payment_account, p.provider_reference, p.completed_at, p.amount, p.currency, p.phone
     from ${wanted}`,
)

const sumGaps = statement.tenant<Wanted, Omit<ClassCount, 'class'>>(
  'payments.sum_gaps',
  `select count(*)::int as lines, coalesce(sum(p.amount), 0)::bigint as micros,
          coalesce(sum(case p.object when 'payment' then p.amount else -p.amount end), 0)::bigint as net
     from ${wanted}`,
)

/** What each database is asked of some gaps. What was taken back since is completed no more, and so no gap. */
function wantedOf(queryable: Queryable, { environment }: Tenant, gaps: readonly Gap[]): Wanted[] {
  return queryable
    .apart(gaps, ({ bucket }) => bucket)
    .map((part) => ({
      buckets: part.map(({ bucket }) => bucket),
      environment,
      accounts: part.map(({ account }) => account),
      ids: part.map(({ id }) => id),
    }))
}

async function countGaps(queryable: Queryable, house: Tenant, id: string): Promise<Omit<ClassCount, 'class'>> {
  const sum = { lines: 0, micros: 0n, net: 0n }
  for (let after = nilUuid; ; ) {
    const gaps = await queryable.query(findGaps, { ...house, id, after, descending: false, limit: gapsAtOnce })
    const last = gaps.at(-1)
    if (!last) return sum
    for (const asked of wantedOf(queryable, house, gaps)) {
      const { lines, micros, net } = await one(queryable.query(sumGaps, asked))
      sum.lines += lines
      sum.micros += micros
      sum.net += net
    }
    after = last.id
  }
}

/** Lines of a statement by class, and its gaps. */
export async function countClasses(queryable: Queryable, house: Tenant, id: string): Promise<ClassCount[]> {
  const lines = await queryable.query(countLines, { ...house, id })
  return [...lines, { class: 'ours_only', ...(await countGaps(queryable, house, id)) }]
}

/** A page of gaps, with one more that tells of a next page. */
export async function listGaps(queryable: Queryable, house: Tenant, id: string, window: Window): Promise<GapRow[]> {
  const found: GapRow[] = []
  // Most gaps are shown; where they were taken back since, the next are looked for among many at once.
  for (let { after } = window, limit = window.limit + 1; ; limit = gapsAtOnce) {
    const gaps = await queryable.query(findGaps, { ...house, ...window, id, after, limit })
    const described = new Map<string, GapRow>()
    for (const asked of wantedOf(queryable, house, gaps))
      for (const row of await queryable.query(describeGaps, asked)) described.set(row.id, row)
    found.push(...gaps.flatMap((gap) => described.get(gap.id) ?? []))
    after = gaps.at(-1)?.id ?? null
    if (gaps.length < limit || found.length > window.limit) return found.slice(0, window.limit + 1)
  }
}
