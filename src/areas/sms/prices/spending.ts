// SPDX-License-Identifier: Apache-2.0
// Spending of an account on texts, by country, on the day they were accepted.
import { firstUuidAt } from '../../../kernel/ids.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { dayMs, parseDay } from '../../../kernel/time.ts'
import { statement } from '../../../platform/db.ts'
import type { CountrySpend, SpendByCountry } from '../../../platform/operator/spending.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'

/** Messages that failed before they were sent were refunded. */
const spent = statement.tenant<
  Tenant & { from: string; to: string },
  { day: string; country: string | null; currency: string | null; micros: bigint; count: number }
>(
  'sms.spent_by_country',
  `select ledger.day_of(id) as day, country, currency,
          coalesce(sum(cost) filter (where status <> 'failed' or sent_at is not null), 0)::bigint as micros,
          count(*)::int as count
     from sms.messages
    where ${mine} and id >= $from::uuid and id < $to::uuid
      and direction = 'outbound' and cost > 0
    group by 1, country, currency order by 1, country, currency`,
)

export const spendByCountry: SpendByCountry = async (queryable, tenant, { from, to }) => {
  const rows = await queryable.query(spent, {
    ...tenant,
    from: firstUuidAt(startOf(from)),
    to: firstUuidAt(startOf(to) + dayMs),
  })
  return rows.flatMap(({ currency, ...row }): CountrySpend[] =>
    currency !== null && isCurrency(currency) ? [{ ...row, currency }] : [],
  )
}

function startOf(day: string): number {
  const start = parseDay(day)
  if (!start) throw new Error(`not a day: ${day}`)
  return start.getTime()
}
