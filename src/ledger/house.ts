// SPDX-License-Identifier: Apache-2.0
// The house: the operator as a tenant of the ledger, without wallet or keys. Its contra accounts hold money that
// belongs to no customer yet: unassigned receipts, costs of providers, payments of providers to the bank.
import { bucketOf, buckets, nilUuid } from '../kernel/ids.ts'
import type { Currency } from '../kernel/money.ts'
import { one, type Queryable, statement, type Tx } from '../platform/db.ts'
import type { Environment, Tenant } from '../platform/tenant.ts'

export function houseOf(environment: Environment): Tenant {
  return { bucket: bucketOf(nilUuid), account: nilUuid, environment }
}

/** A movement between two contra accounts: one leg, which (source, step) names. */
export interface ContraMove {
  sourceId: string
  step: string
  id: string
  debit: string
  credit: string
  micros: bigint
  reverses: string | null
}

const insertMoves = statement.tenant<
  {
    bucket: number
    account: string
    environment: string
    currency: string
    sources: readonly string[]
    steps: readonly string[]
    ids: readonly string[]
    debits: readonly string[]
    credits: readonly string[]
    amounts: readonly string[]
    reverses: readonly string[]
  },
  object
>(
  'ledger.post_contra',
  `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, reverses)
   select $bucket, $account, $environment, m.source_id, m.step, 0, m.id, m.debit, m.credit, m.amount, $currency,
          nullif(m.reverses, '')
     from unnest($sources::uuid[], $steps::text[], $ids::uuid[], $debits::text[], $credits::text[], $amounts::bigint[],
                 $reverses::text[]) as m(source_id, step, id, debit, credit, amount, reverses)
   on conflict do nothing`,
)

/** Debits less credits of a contra account over all tenants. */
const sumAll = statement.everywhere<
  { buckets: readonly number[]; environment: string; name: string; currency: string },
  { micros: bigint }
>(
  'ledger.debited_in_all',
  `select coalesce(sum(case when s.debit = $name then s.amount else -s.amount end), 0)::bigint as micros
     from (select r.debit, r.credit, r.amount
             from ledger.rollups r
            where r.bucket = any($buckets::smallint[]) and r.environment = $environment and r.currency = $currency
           union all
           select t.debit, t.credit, t.amount
             from ledger.transfers t
             left join ledger.rollup_marks m
               on m.bucket = t.bucket and m.account_id = t.account_id and m.environment = t.environment
            where t.bucket = any($buckets::smallint[]) and t.environment = $environment and t.currency = $currency
              and t.id >= coalesce(m.upto, '${nilUuid}')) s
    where $name in (s.debit, s.credit)`,
  { merge: (rows) => [{ micros: rows.reduce((total, row) => total + row.micros, 0n) }] },
)

/** Posts many movements between contra accounts at once; those that were posted before move nothing. */
export async function postContra(
  tx: Tx,
  tenant: Tenant,
  currency: Currency,
  moves: readonly ContraMove[],
): Promise<void> {
  if (moves.some(({ debit, credit }) => debit === 'wallet' || credit === 'wallet'))
    throw new Error('a wallet is moved under its lock')
  if (moves.length === 0) return
  await tx.query(insertMoves, {
    ...tenant,
    currency,
    sources: moves.map(({ sourceId }) => sourceId),
    steps: moves.map(({ step }) => step),
    ids: moves.map(({ id }) => id),
    debits: moves.map(({ debit }) => debit),
    credits: moves.map(({ credit }) => credit),
    amounts: moves.map(({ micros }) => micros.toString()),
    reverses: moves.map(({ reverses }) => reverses ?? ''),
  })
}

export async function debitedInAll(
  queryable: Queryable,
  environment: Environment,
  name: string,
  currency: Currency,
): Promise<bigint> {
  return (await one(queryable.query(sumAll, { buckets, environment, name, currency }))).micros
}
