// SPDX-License-Identifier: Apache-2.0
// Payments, payouts and refunds that lines are held against. Those in the database of the house are joined with its lines; every
// other database is asked for what the lines may mean, a page at a time, and its answer is passed on unread.
import { AppError } from '../../../kernel/errors.ts'
import { buckets, nilUuid } from '../../../kernel/ids.ts'
import { type AcrossTx, type Database, one, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'

const linesAtOnce = 2_000
export const objectsAtOnce = 10_000

/** Account of the installation with a provider. */
export type Account = Tenant & { provider: string; country: string }

/** Buckets in the database of the house, and those of each other one. */
export interface Places {
  readonly here: readonly number[]
  readonly elsewhere: readonly (readonly number[])[]
}

export function placesOf(db: Database, { bucket }: Tenant): Places {
  db.requireEvery()
  const own = db.cellOf(bucket)
  const others = db.cells.filter((cell) => cell !== own).map((cell) => db.bucketsIn(cell))
  const places = { here: db.bucketsIn(own), elsewhere: others.filter(({ length }) => length > 0) }
  const count = places.elsewhere.reduce((total, { length }) => total + length, places.here.length)
  if (count < buckets.length) throw new AppError('SERVICE_UNAVAILABLE', 'some accounts cannot be reached')
  return places
}

/** Refuses to go on where a bucket moved meanwhile: its payments may have been seen twice, or not at all. */
export function requireUnmoved(db: Database, house: Tenant, before: Places): void {
  if (JSON.stringify(placesOf(db, house)) !== JSON.stringify(before))
    throw new AppError('SERVICE_UNAVAILABLE', 'accounts are being moved between databases')
}

/** Objects of some buckets. One is awaited while it has no receipt and may have moved money. */
const objects = `
     select 'payment' as object, p.bucket, p.account_id, p.environment, p.id, p.provider, p.currency, p.amount::bigint as amount,
            p.phone, p.provider_reference, p.status::text as status, p.created_at, coalesce(p.completed_at, p.expires_at) as ended_at,
            p.provider_reference is null and p.status in ('pending', 'processing', 'expired', 'completed') as is_awaited
       from payments.payments p
      where p.bucket = any($buckets::smallint[])
     union all
     select 'payout', o.bucket, o.account_id, o.environment, o.id, o.provider, o.currency, o.amount, o.phone,
            o.provider_reference, o.status, o.created_at, o.completed_at,
            o.provider_reference is null and o.status in ('processing', 'completed') and o.state <> 'planned'
       from payments.payouts o
      where o.bucket = any($buckets::smallint[])
     union all
     select 'refund', r.bucket, r.account_id, r.environment, r.id, r.provider, r.currency, r.amount,
            (select s.phone from payments.payments s
              where s.bucket = r.bucket and s.account_id = r.account_id and s.environment = r.environment and s.id = r.payment_id),
            r.provider_reference, r.status, r.created_at, r.completed_at,
            r.provider_reference is null and r.status in ('processing', 'completed') and r.state <> 'planned'
       from payments.refunds r
      where r.bucket = any($buckets::smallint[])`

/** Objects of every database: those of this one, and those that `fetchObjects` has brought here. */
export const candidates = `(${objects}
     union all
     select e.object, e.payment_bucket, e.payment_account, e.environment, e.payment_id, e.provider, e.currency, e.amount, e.phone,
            e.provider_reference, e.status, e.created_at, e.ended_at, e.is_awaited
       from payments.statement_objects e
      where e.bucket = $bucket and e.account_id = $account and e.environment = $environment) p`

/** Condition by which a line may be about an object that has no receipt. The last digits can be looked up. */
export const isByPayer = `p.is_awaited and p.environment = l.environment and p.provider = l.provider and p.currency = l.currency
        and p.amount = l.amount and right(p.phone, 3) = right(l.phone, 3) and p.phone like l.phone
        and l.occurred_at >= p.created_at - interval '10 minutes'
        and l.occurred_at <= coalesce(p.ended_at, l.occurred_at) + interval '10 minutes'`

/** Payments, payouts and refunds of some buckets completed with a provider, which its statements should name. */
export const completed = `(
     select 'payment' as object, p.bucket, p.account_id, p.environment, p.id, p.provider, a.country, p.currency, p.amount,
            p.provider_reference, p.completed_at, p.phone, 'collections' as kept
       from payments.payments p
       join payments.attempts a
         on a.bucket = p.bucket and a.account_id = p.account_id and a.environment = p.environment and a.payment_id = p.id
      where p.status = 'completed' and p.bucket = any($buckets::smallint[])
     union all
     select 'payout', p.bucket, p.account_id, p.environment, p.id, p.provider, p.country, p.currency, p.amount,
            p.provider_reference, p.completed_at, p.phone, 'payouts'
       from payments.payouts p where p.status = 'completed' and p.bucket = any($buckets::smallint[])
     union all
     select 'refund', r.bucket, r.account_id, r.environment, r.id, r.provider, r.country, r.currency, r.amount,
            r.provider_reference, r.completed_at, null, case r.way when 'payout' then 'payouts' else 'collections' end
       from payments.refunds r where r.status = 'completed' and r.bucket = any($buckets::smallint[]))`

/** Part of a list: its rows as JSON, which goes to another database as it is, and the id of its last row, null without any. */
export interface Page {
  rows: string
  last: string | null
}

/** A page of a query that is sorted by its column `id`. */
export const paged = (query: string) =>
  `select coalesce(jsonb_agg(to_jsonb(q) order by q.id), '[]')::text as rows, (array_agg(q.id order by q.id desc))[1] as last
     from (${query} order by id limit $limit) q`

/** Buckets of one database, and where a page of its rows begins. */
export type Asked = { buckets: readonly number[]; after: string; limit: number }

const unmatchedLines = statement.tenant<Account & { after: string; limit: number }, Page>(
  'payments.page_unmatched_lines',
  paged(`select id, environment, provider, currency, receipt, amount, phone, occurred_at
           from payments.statement_lines
          where bucket = $bucket and account_id = $account and environment = $environment and provider = $provider
            and country = $country and kind in ('collection', 'other') and (class is null or class = 'theirs_only')
            and id > $after::uuid`),
)

/** Objects that are looked up in an index for each line: of many lines a plan would rather read all objects. */
const eachByItself = (condition: string) => `(select * from (${objects}) p where ${condition} offset 0)`

const objectsOfLines = statement.everywhere<Asked & { lines: string }, Page>(
  'payments.page_objects_of_lines',
  `with lines as materialized (
     select * from jsonb_to_recordset($lines::jsonb) as n(environment text, provider text, currency text, receipt text,
                                                          amount bigint, phone text, occurred_at timestamptz)
   ), found as (
     select p.* from lines l cross join lateral ${eachByItself(`p.environment = l.environment and p.provider = l.provider
        and p.currency = l.currency and p.provider_reference = l.receipt`)} p
     union
     select p.* from lines l cross join lateral ${eachByItself(isByPayer)} p
   )
   ${paged('select * from found where id > $after::uuid')}`,
)

const bringObjects = statement.tenant<Tenant & { rows: string }, object>(
  'payments.bring_objects',
  `insert into payments.statement_objects (bucket, account_id, environment, object, payment_bucket, payment_account, payment_id,
     provider, currency, amount, phone, provider_reference, status, is_awaited, created_at, ended_at)
   select $bucket, $account, $environment, o.object, o.bucket, o.account_id, o.id, o.provider, o.currency, o.amount, o.phone,
          o.provider_reference, o.status, o.is_awaited, o.created_at, o.ended_at
     from jsonb_to_recordset($rows::jsonb) as o(object text, bucket smallint, account_id uuid, id uuid, provider text, currency text,
            amount bigint, phone text, provider_reference text, status text, is_awaited boolean, created_at timestamptz,
            ended_at timestamptz)
   on conflict do nothing`,
)

/** Objects brought for lines are forgotten with the transaction that matched them. */
export const forgetObjects = statement.tenant<Tenant, object>(
  'payments.forget_objects',
  `delete from payments.statement_objects where bucket = $bucket and account_id = $account and environment = $environment`,
)

/** Asks every other database for the objects that lines without a match may be about. */
export async function fetchObjects(tx: AcrossTx, account: Account, { elsewhere }: Places): Promise<void> {
  if (elsewhere.length === 0) return
  await inPages(
    (after) => one(tx.query(unmatchedLines, { ...account, after, limit: linesAtOnce })),
    async (lines) => {
      for (const there of elsewhere) {
        const asked = { buckets: there, lines, limit: objectsAtOnce }
        await inPages(
          (after) => one(tx.query(objectsOfLines, { ...asked, after })),
          (rows) => tx.query(bringObjects, { ...account, rows }),
        )
      }
    },
  )
}

/** Takes a list a page at a time. */
export async function inPages(
  ask: (after: string) => Promise<Page>,
  take: (rows: string) => Promise<unknown>,
): Promise<void> {
  for (let after = nilUuid; ; ) {
    const { rows, last } = await ask(after)
    if (last === null) return
    await take(rows)
    after = last
  }
}
