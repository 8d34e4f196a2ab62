// SPDX-License-Identifier: Apache-2.0
// Movements of the float after a statement, which its closing balance cannot have: those of the database of the house, and of
// every other one.
import { type AcrossTx, one, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Asked, inPages, objectsAtOnce, type Page, type Places, paged } from './objects.ts'

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

const movedElsewhere = statement.everywhere<Asked & Movements, Page>(
  'payments.page_movements',
  paged(`select m.object_id as id, coalesce(sum(m.amount) filter (where m.amount > 0), 0)::bigint as paid_in,
                coalesce(sum(m.amount) filter (where m.amount < 0), 0)::bigint as paid_out
           from ledger.object_moves_since($environment::text, $names::text[], $currency::text, $since::uuid) m
          where m.bucket = any($buckets::smallint[]) and m.object_id > $after::uuid
          group by m.object_id`),
)

const sumUnnamed = statement.tenant<Pick<Tenant, 'bucket' | 'account'> & { rows: string }, { micros: bigint }>(
  'payments.sum_unnamed_movements',
  `select coalesce(sum(case when n.collected then 0 else m.paid_in end + case when n.paid then 0 else m.paid_out end), 0)::bigint
            as micros
     from jsonb_to_recordset($rows::jsonb) as m(id uuid, paid_in bigint, paid_out bigint)
    cross join lateral (select coalesce(bool_or(l.kind = 'collection'), false) as collected,
                               coalesce(bool_or(l.kind <> 'collection'), false) as paid
                          from payments.statement_lines l
                         where l.payment_id = m.id and l.bucket = $bucket and l.account_id = $account) n`,
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
  for (const there of elsewhere)
    await inPages(
      (after) => one(tx.query(movedElsewhere, { environment, ...since, buckets: there, after, limit: objectsAtOnce })),
      async (rows) => {
        micros += (await one(tx.query(sumUnnamed, { bucket, account, rows }))).micros
      },
    )
  return micros
}
