// SPDX-License-Identifier: Apache-2.0
// Debts of lost disputes, of all accounts: they are collected from money that comes into the wallets, and listed for
// operators.

import { type Static, Type } from 'typebox'
import { buckets, idOf } from '../../../kernel/ids.ts'
import { list, type Route } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { firstBy } from '../../../platform/db/merging.ts'
import { statement } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { Amount, At, EnvironmentName, listQuery, Nullable } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { type Environment, tenantOf } from '../../../platform/tenant.ts'
import { collectDebts } from '../records/debts.ts'

/** Debts per sweep. */
const debtsAtOnce = 500

interface DebtRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  payment_id: string
  amount: bigint
  owed: bigint
  currency: string
  closed_at: Date | null
}

const listDebts = statement.everywhere<{ buckets: readonly number[]; after: string | null; limit: number }, DebtRow>(
  'payments.list_debts',
  `select bucket, account_id, environment, id, payment_id, amount, owed, currency, closed_at from payments.disputes
    where bucket = any($buckets::smallint[]) and owed > 0 and ($after::uuid is null or id > $after)
    order by id limit $limit::int + 1`,
  {
    merge: firstBy(
      ({ id }) => id,
      ({ limit }) => limit + 1,
    ),
  },
)

export const debtChore: Chore = { name: 'debts of disputes', everyMs: 30_000, run: collectAll }

export async function collectAll(app: App): Promise<void> {
  let after: string | null = null
  do {
    const rows: DebtRow[] = await app.db.query(listDebts, { buckets, after, limit: debtsAtOnce })
    const owing = new Map(rows.map((row) => [`${row.account_id} ${row.environment}`, tenantOf(row)]))
    for (const tenant of owing.values())
      await app.db
        .tx(tenant, (tx) => collectDebts(app, tx, tenant, app.clock.nowMs()))
        .catch((error) =>
          app.log.error(
            { error, account: idOf('account', tenant.account) },
            'debt not collected: tried again with the next sweep; check the error if this repeats',
          ),
        )
    after = rows[debtsAtOnce]?.id ?? null
  } while (after !== null)
}

const Debt = Type.Object(
  {
    dispute_id: Type.String({ description: 'Id of the lost dispute, such as `dsp_…`' }),
    payment_id: Type.String({ description: 'Id of the disputed payment, such as `pay_…`' }),
    account_id: Type.String({ description: 'Id of the account that owes it, such as `acc_…`' }),
    environment: EnvironmentName({ description: '`test` or `live`' }),
    amount: Amount({ description: 'Amount of the dispute' }),
    amount_owed: Amount({ description: 'Amount still owed' }),
    currency: Type.String({ description: 'Currency of the amounts, ISO 4217' }),
    closed_at: Nullable(At({ description: 'Time of the decision' })),
  },
  { title: 'Debt' },
)

const listRoute = list({
  path: '/v1/operator/payments/debts',
  operation: 'operator.listDebts',
  summary: 'List debts from lost disputes',
  description:
    'A debt is collected from the next money in the account’s wallets, and blocks payouts until it is paid. Paid debts are not listed.',
  scope: 'operator',
  query: Type.Object({ limit: listQuery.limit, cursor: listQuery.cursor }),
  row: Debt,
  examples: [{ name: 'The oldest' }],
  handle: async (app, { query }) => {
    const { limit, after } = windowOf(query)
    return pageOf(
      { limit, after, descending: false },
      await app.db.query(listDebts, { buckets, limit, after }),
      shownDebt,
    )
  },
})

function shownDebt(row: DebtRow): Static<typeof Debt> {
  const { environment, amount, currency, closed_at } = row
  return {
    dispute_id: idOf('dispute', row.id),
    payment_id: idOf('payment', row.payment_id),
    account_id: idOf('account', row.account_id),
    environment,
    amount,
    amount_owed: row.owed,
    currency,
    closed_at,
  }
}

export const debtRoutes: readonly Route[] = [listRoute]
