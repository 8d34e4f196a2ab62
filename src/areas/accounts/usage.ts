// SPDX-License-Identifier: Apache-2.0
// Usage of an account: counts of requests, their cost, and what is left of the rate limits.
import type { Static } from 'typebox'
import { spentByDay } from '../../ledger/rollups.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { usageOf } from '../../platform/http/logged-requests.ts'
import type { CountrySpend } from '../../platform/operator/spending.ts'
import { days } from '../../platform/schema/lists.ts'
import type { LimitsReply, UsageQuery, UsageReply } from './schema.ts'

const maxDays = 366
/** Longest range by country, which is summed over single messages and payments. */
const maxDaysByCountry = 92

type Usage = Static<typeof UsageReply>
type Spend = Usage['spend'][number]

export async function usage(app: App, query: Static<typeof UsageQuery>, caller: Caller): Promise<Usage> {
  const by = new Set(query.group_by ?? ['day', 'area'])
  const range = days(query, caller.receivedMs, by.has('country') ? maxDaysByCountry : maxDays)
  await app.requestLog.flush()
  const rows = await usageOf(app.db, caller.tenant, range, {
    day: by.has('day'),
    area: by.has('area'),
    operation: by.has('operation'),
  })
  return {
    start_date: range.from,
    end_date: range.to,
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    errors: rows.reduce((sum, row) => sum + row.errors, 0),
    rows,
    spend: summed(await spendOf(app, caller, range, by.has('country')), by),
    limits: (await limitsOf(app, caller)).limits,
  }
}

/** Revenue accounts whose name is not their area's. */
const areasOfRevenue: Readonly<Record<string, string>> = { payment_fees: 'payments', payout_fees: 'payouts' }

/** Spends per day and area, and per country if asked for and known. */
async function spendOf(
  app: App,
  { tenant }: Caller,
  range: { from: string; to: string },
  byCountry: boolean,
): Promise<(CountrySpend & { area: string })[]> {
  const paid = (await spentByDay(app.db, tenant, range)).map(({ day, name, currency, micros, entries }) => {
    const account = name.replace(/^revenue:/, '')
    return { day, area: areasOfRevenue[account] ?? account, country: null, currency, micros, count: entries }
  })
  if (!byCountry) return paid
  const known = await Promise.all(
    [...app.spendByCountry].map(async ([area, spendByCountry]) =>
      (await spendByCountry(app.db, tenant, range)).map((row) => ({ ...row, area })),
    ),
  )
  return [...paid.filter(({ area }) => !app.spendByCountry.has(area)), ...known.flat()]
}

/** Sums rows over the dimensions that were not asked for. */
function summed(rows: readonly (CountrySpend & { area: string })[], by: ReadonlySet<string>): Spend[] {
  const sums = new Map<string, Spend>()
  for (const { day, area, country, currency, micros, count } of rows) {
    const group = {
      day: by.has('day') ? day : null,
      area: by.has('area') ? area : null,
      country: by.has('country') ? country : null,
      currency,
    }
    const key = JSON.stringify(group)
    const sum = sums.get(key)
    sums.set(key, { ...group, cost: (sum?.cost ?? 0n) + micros, count: (sum?.count ?? 0) + count })
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
}

export async function limitsOf(app: App, caller: Caller): Promise<Static<typeof LimitsReply>> {
  const { keyPolicies, planPolicies, facts } = caller.principal
  const states = await app.limits.peek([...keyPolicies, ...Object.values(planPolicies)])
  return {
    plan: facts.plan,
    limits: states.map(({ name, limit, windowMs, remaining, resetMs }) => ({
      policy: name,
      limit,
      window: windowMs / 1000,
      remaining,
      resets_at: new Date(caller.receivedMs + resetMs),
    })),
  }
}
