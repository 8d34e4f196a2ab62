// SPDX-License-Identifier: Apache-2.0
// Sums of the ledger. Old transfers are added up per day once; a query adds the transfers after the tenant's mark, in
// one statement, so the result is exact at any moment.
import { bucketCount, firstUuidAt } from '../kernel/ids.ts'
import type { Currency } from '../kernel/money.ts'
import { dayMs, minuteMs, parseDay } from '../kernel/time.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queryable, statement } from '../platform/db.ts'
import type { Partitioned } from '../platform/nodes/maintenance.ts'
import type { Tenant } from '../platform/tenant.ts'
import { currencyHeld } from './wallets.ts'

/** Transfers are rolled up when they are so old that no transaction can still be about to commit one with an older id. */
export const settledMs = 10 * minuteMs

/** Transfers are kept for ever. */
export const ledgerPartitions: readonly Partitioned[] = [
  { table: 'ledger.transfers', period: 'month', ahead: 2, keepDays: null },
]

/** Revenue of one account, such as `revenue:sms`, on one UTC day, less refunds. */
export interface Spent {
  /** YYYY-MM-DD. */
  day: string
  name: string
  currency: Currency
  micros: bigint
  /** Number of charges. */
  entries: number
}

const rollUpBucket = statement.tenant<{ bucket: number; upto: string }, { sums: number }>(
  'ledger.roll_up',
  'select ledger.roll_up($bucket::smallint, $upto::uuid) as sums',
)

/** The mark of the tenant; the smallest UUID when nothing is rolled up yet. */
export const mark = `coalesce((select m.upto from ledger.rollup_marks m
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment), '00000000-0000-0000-0000-000000000000')`

const sumSpent = statement.tenant<
  Tenant & { from: string; to: string; firstId: string; endId: string },
  { day: string; name: string; currency: string; micros: bigint; entries: number }
>(
  'ledger.spent_by_day',
  `select s.day, s.name, s.currency, sum(s.amount)::bigint as micros, sum(s.entries)::int as entries
     from (select m.day, m.currency, l.name, l.amount, l.entries
             from (select r.day, r.debit, r.credit, r.currency, r.amount, r.entries
                     from ledger.rollups r
                    where r.bucket = $bucket and r.account_id = $account and r.environment = $environment
                      and r.day between $from::date and $to::date
                   union all
                   select ledger.day_of(t.id), t.debit, t.credit, t.currency, t.amount, 1
                     from ledger.transfers t
                    where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
                      and t.id >= greatest(${mark}, $firstId::uuid) and t.id < $endId::uuid) m
            cross join lateral (values (m.credit, m.amount, m.entries), (m.debit, -m.amount, 0)) l(name, amount, entries)
            where l.name like 'revenue:%') s
    group by s.day, s.name, s.currency
    order by s.day, s.name, s.currency`,
)

const sumUsed = statement.tenant<
  Tenant & { currency: string; from: string; firstId: string },
  { day: string; micros: bigint }
>(
  'ledger.used_by_day',
  `select m.day::text as day, sum(case when m.debit = 'wallet' then m.amount else -m.amount end)::bigint as micros
     from (select r.day, r.debit, r.credit, r.currency, r.amount
             from ledger.rollups r
            where r.bucket = $bucket and r.account_id = $account and r.environment = $environment
              and r.day >= $from::date
           union all
           select ledger.day_of(t.id), t.debit, t.credit, t.currency, t.amount
             from ledger.transfers t
            where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
              and t.id >= greatest(${mark}, $firstId::uuid)) m
    where m.currency = $currency
      and (m.debit = 'wallet' and m.credit like 'revenue:%' or m.credit = 'wallet' and m.debit like 'revenue:%')
      and 'revenue:payment_fees' not in (m.debit, m.credit) -- taken from what was collected, not from the wallet
    group by m.day`,
)

/** Adds up settled transfers. Safe to repeat, also concurrently. */
export async function rollUp(db: Database, clock: Clock): Promise<void> {
  const upto = firstUuidAt(clock.nowMs() - settledMs)
  for (let bucket = 0; bucket < bucketCount; bucket++) await db.query(rollUpBucket, { bucket, upto })
}

/**
 * Spends per day, revenue account and currency, both days included. Refunds are deducted on their own day. Money that
 * only passes through, such as a payout, is not revenue.
 */
export async function spentByDay(
  queryable: Queryable,
  tenant: Tenant,
  { from, to }: { from: string; to: string },
): Promise<Spent[]> {
  const rows = await queryable.query(sumSpent, {
    ...tenant,
    from,
    to,
    firstId: firstUuidAt(startOf(from)),
    endId: firstUuidAt(startOf(to) + dayMs),
  })
  return rows.map(({ currency, ...row }) => ({ ...row, currency: currencyHeld(currency) }))
}

/** Charges of a wallet less refunds, per UTC day (YYYY-MM-DD), since a day. */
export function usedByDay(
  queryable: Queryable,
  tenant: Tenant,
  { currency, from }: { currency: Currency; from: string },
): Promise<{ day: string; micros: bigint }[]> {
  return queryable.query(sumUsed, { ...tenant, currency, from, firstId: firstUuidAt(startOf(from)) })
}

function startOf(day: string): number {
  const start = parseDay(day)
  if (!start) throw new Error(`not a day: ${day}`)
  return start.getTime()
}
