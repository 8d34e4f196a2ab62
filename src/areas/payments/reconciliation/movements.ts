// SPDX-License-Identifier: Apache-2.0
// Movements of the float after a statement, which its closing balance cannot have: those of the database of the house, and of
// every other one.
import { nilUuid } from '../../../kernel/ids.ts'
import { type AcrossTx, one, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { objectsAtOnce, type Places } from './objects.ts'

interface Movements {
  environment: string
  names: readonly string[]
  currency: string
  since: string
}

/** Movements of the float in the database of the house, but for those that a line names. */
const movedHere = statement.tenant<Tenant & Movements & { buckets: readonly number[] }, { micros: bigint }>(
  'payments.moved_since',
  `select coalesce(sum(m.amount), 0)::bigint as micros
     from ledger.object_moves_since($environment::text, $names::text[], $currency::text, $since::uuid) m
    where m.bucket = any($buckets::smallint[]) and (m.bucket, m.account_id) <> ($bucket::smallint, $account::uuid)
      and not exists (select from payments.statement_lines l
                       where l.payment_id = m.object_id and (l.kind = 'collection') = (m.amount > 0))`,
)

/** Rows as JSON, which goes to the database of the house as it is, and the transfer after which the next page begins. */
interface Moved {
  rows: string
  account: string | null
  last: string | null
}

const movedElsewhere = statement.everywhere<
  Movements & { buckets: readonly number[]; account: string; after: string; limit: number },
  Moved
>(
  'payments.page_movements',
  `select coalesce(jsonb_agg(jsonb_build_object('id', m.object_id, 'amount', m.amount))
                     filter (where m.bucket = any($buckets::smallint[])), '[]')::text as rows,
          (array_agg(m.account_id order by m.account_id desc, m.id desc))[1] as account,
          (array_agg(m.id order by m.account_id desc, m.id desc))[1] as last
     from ledger.object_moves_page($environment::text, $names::text[], $currency::text, $since::uuid, $account::uuid,
                                   $after::uuid, $limit::int) m`,
)

const sumUnnamed = statement.tenant<Pick<Tenant, 'bucket' | 'account'> & { rows: string }, { micros: bigint }>(
  'payments.sum_unnamed_movements',
  `select coalesce(sum(m.amount), 0)::bigint as micros
     from jsonb_to_recordset($rows::jsonb) as m(id uuid, amount bigint)
    where not exists (select from payments.statement_lines l
                       where l.payment_id = m.id and l.bucket = $bucket and l.account_id = $account
                         and (l.kind = 'collection') = (m.amount > 0))`,
)

/** What the float grew by since, but for what a line names. */
export async function movedSince(
  tx: AcrossTx,
  house: Tenant,
  since: Omit<Movements, 'environment'>,
  { here, elsewhere }: Places,
): Promise<bigint> {
  const { bucket, account, environment } = house
  let { micros } = await one(tx.query(movedHere, { ...house, ...since, buckets: here }))
  for (const buckets of elsewhere)
    for (let at = { account: nilUuid, after: nilUuid }; ; ) {
      const page = { environment, ...since, ...at, buckets, limit: objectsAtOnce }
      const { rows, account: lastAccount, last } = await one(tx.query(movedElsewhere, page))
      if (lastAccount === null || last === null) break
      micros += (await one(tx.query(sumUnnamed, { bucket, account, rows }))).micros
      at = { account: lastAccount, after: last }
    }
  return micros
}
