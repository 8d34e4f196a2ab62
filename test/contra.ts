// SPDX-License-Identifier: Apache-2.0
// What a contra account holds: the sums of the ledger and the transfers after them, as the program reads them.
import type { Currency } from '../src/kernel/money.ts'
import { mark } from '../src/ledger/rollups.ts'
import { one, type Queryable, statement } from '../src/platform/db.ts'
import type { Tenant } from '../src/platform/tenant.ts'

const sumContra = statement.tenant<Tenant & { name: string; currency: string }, { micros: bigint }>(
  'ledger.balance_of_contra',
  `select coalesce(sum(case when s.credit = $name then s.amount else -s.amount end), 0)::bigint as micros
     from (select r.debit, r.credit, r.amount
             from ledger.rollups r
            where r.bucket = $bucket and r.account_id = $account and r.environment = $environment
              and r.currency = $currency
           union all
           select t.debit, t.credit, t.amount
             from ledger.transfers t
            where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
              and t.currency = $currency and t.id >= ${mark}) s
    where $name in (s.debit, s.credit)`,
)

/** Balance in micros: what the account was credited, less what it was debited. */
export async function balanceOfContra(
  queryable: Queryable,
  tenant: Tenant,
  name: string,
  currency: Currency,
): Promise<bigint> {
  const { micros } = await one(queryable.query(sumContra, { ...tenant, name, currency }))
  return micros
}
