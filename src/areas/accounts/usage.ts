// SPDX-License-Identifier: Apache-2.0
// What an account used and may still use: counts of requests, what they cost, and what is left of the rate limits.
import type { Static } from 'typebox'
import { spentByDay } from '../../ledger/rollups.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { usageOf } from '../../platform/http/request-log.ts'
import { days } from '../../platform/page.ts'
import type { LimitsReply, UsageQuery, UsageReply } from './schema.ts'

const maxDays = 366

export async function usage(
  app: App,
  query: Static<typeof UsageQuery>,
  caller: Caller,
): Promise<Static<typeof UsageReply>> {
  const range = days(query, caller.receivedMs, maxDays)
  const by = query.group_by ?? ['day', 'area']
  await app.requestLog.flush()
  const rows = await usageOf(app.db, caller.tenant, range, {
    day: by.includes('day'),
    area: by.includes('area'),
    operation: by.includes('operation'),
  })
  const spent = await spentByDay(app.db, caller.tenant, range)
  return {
    start_date: range.from,
    end_date: range.to,
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    errors: rows.reduce((sum, row) => sum + row.errors, 0),
    rows,
    spend: spent.map(({ day, name, currency, micros, entries }) => ({
      day,
      area: name.replace(/^revenue:/, ''),
      currency,
      cost: micros,
      count: entries,
    })),
    limits: (await limitsOf(app, caller)).limits,
  }
}

export async function limitsOf(app: App, caller: Caller): Promise<Static<typeof LimitsReply>> {
  const { keyPolicy, planPolicies, facts } = caller.principal
  const states = await app.limits.peek([keyPolicy, ...Object.values(planPolicies)])
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
