// SPDX-License-Identifier: Apache-2.0
// Renewals: a hundred thousand subscriptions fall due at one moment, each with two jobs that want to renew it. Every one of
// them must be billed once, with numbers that have no gap; otherwise the benchmark ends.
import { rm } from 'node:fs/promises'
import type pg from 'pg'
import { areas } from '../src/areas.ts'
import { loadConfig } from '../src/config.ts'
import { bucketOf, newUuid } from '../src/kernel/ids.ts'
import { dayMs } from '../src/kernel/time.ts'
import { type RunningNode, startNode } from '../src/node/server.ts'
import { systemClock } from '../src/platform/clock.ts'
import { cpuMeter } from './cpu.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const accounts = 50
/** Counting a hundred thousand rows takes its time from what is measured: it is done seldom. */
const lookMs = 250

/** Subscriptions to one plan whose period has just ended, as they would be after their first month. */
const subscribeMany = `
  with made as (
    select gen_random_uuid() as id, gen_random_uuid() as customer, n from generate_series(1, $6::int) as n
  ), customers as (
    insert into customers.customers (bucket, account_id, environment, id, name, email, created_at, updated_at)
    select $1::smallint, $2::uuid, 'live', customer, 'Asha', n || '@example.com', $4, $4 from made
  ), jobs as (
    insert into work.jobs (bucket, id, lane, run_at, account_id, environment, key, attempt, owner, payload)
    select $1, gen_random_uuid(), 'billing.renew', 'infinity', $2, 'live', null, 0, null,
           jsonb_build_object('subscription', id, 'at', (extract(epoch from $5::timestamptz) * 1000)::bigint)
      from made cross join generate_series(1, 2)
  )
  insert into billing.subscriptions (bucket, account_id, environment, id, status, plan_id, customer_id, customer, quantity,
    amount, currency, method, proration, interval, interval_count, anchor, anchor_day, time_zone, cycle, period_start,
    period_end, paid_from, paid_amount, cancel_at_period_end, next_at, metadata, created_at, updated_at)
  select $1, $2, 'live', id, 'active', $3::uuid, customer, '{}', 1, 1500000000, 'KES', 'invoice', 'create_prorations',
         'month', 1, to_char($4::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'),
         extract(day from $4::timestamptz at time zone 'UTC'), 'UTC', 1, $4::timestamptz, $5::timestamptz, $4, 1500000000,
         false, $5, '{}', $4, $4
    from made`

const addAccount = `
  insert into accounts.accounts (id, bucket, name, country, currency, plan)
  values ($1, $2, 'Renewals', 'KE', 'KES', 'enterprise')`

const addPlan = `
  insert into billing.plans (bucket, account_id, environment, id, name, amount, currency, interval, interval_count, trial_days,
    tax_rate, tax_inclusive, setup_fee, active, metadata, created_at)
  values ($1, $2, 'live', $3, 'Monthly', 1500000000, 'KES', 'month', 1, 0, 16000000, false, 0, true, '{}', $4)`

export async function renewals({ short }: { short: boolean }): Promise<Figure[]> {
  const each = short ? 10 : 2_000
  const home = await newHome()
  const { config } = loadConfig({
    PAMOJA_HOME: home,
    PAMOJA_PORT: '0',
    PAMOJA_ADMIN_PORT: '0',
    PAMOJA_LOG_FILE: '/dev/null',
  })
  const node = await startNode({ config, areas })
  try {
    return await measured(node, each)
  } finally {
    await node.stop()
    await rm(home, { recursive: true, force: true })
  }
}

async function measured(node: RunningNode, each: number): Promise<Figure[]> {
  const client = await node.app.db.connect()
  try {
    const all = accounts * each
    await fill(client, each)
    await client.query('analyze billing.subscriptions, customers.customers, billing.plans, work.jobs')
    const meter = cpuMeter()
    const startedAt = performance.now()
    await client.query(`update work.jobs set run_at = now() where lane = 'billing.renew' and run_at = 'infinity'`)
    await renewed(client, all)
    const seconds = (performance.now() - startedAt) / 1_000
    const cpu = meter.per(all)
    await idle(client)
    const twice = await check(client, all)
    return [
      { name: 'subscriptions due at once, two jobs each', value: all, unit: '' },
      { name: 'renewed', value: all / seconds, unit: 'subscriptions/s', cpu },
      { name: 'all of them', value: seconds, unit: 's' },
      { name: 'billed twice, or not at all', value: twice, unit: 'subscriptions' },
    ]
  } finally {
    await client.end()
  }
}

async function fill(client: pg.Client, each: number): Promise<void> {
  const nowMs = systemClock.nowMs()
  const end = new Date(Math.floor(nowMs / 1_000) * 1_000 - 60_000)
  const start = new Date(end.getTime())
  start.setUTCMonth(start.getUTCMonth() - 1)
  // A month that is too short for the day would begin elsewhere: any earlier boundary will do.
  const from = start.getUTCDate() === end.getUTCDate() ? start : new Date(end.getTime() - 31 * dayMs)
  for (let i = 0; i < accounts; i++) {
    const account = newUuid(nowMs)
    const bucket = bucketOf(account)
    const plan = newUuid(nowMs)
    await client.query(addAccount, [account, bucket])
    await client.query(addPlan, [bucket, account, plan, from])
    await client.query(subscribeMany, [bucket, account, plan, from, end, each])
  }
}

async function renewed(client: pg.Client, all: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query('select count(*)::int as done from billing.periods')
    if (rows[0].done >= all) return
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

/** Waits until the second job of each has found nothing to do. */
async function idle(client: pg.Client): Promise<void> {
  for (;;) {
    const due = `select count(*)::int as due from work.jobs where lane = 'billing.renew' and run_at < now() + interval '1 day'`
    const { rows } = await client.query(due)
    if (rows[0].due === 0) return
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

async function check(client: pg.Client, all: number): Promise<number> {
  const { rows } = await client.query(
    `select (select count(*)::int from billing.invoices) as invoices,
            (select count(*)::int from billing.subscriptions where cycle <> 2) as wrong,
            (select count(*)::int from (select 1 from billing.invoices group by subscription_id having count(*) > 1) t) as twice,
            (select coalesce(sum(last), 0)::int from billing.counters) as numbered`,
  )
  const { invoices, wrong, twice, numbered } = rows[0]
  if (invoices !== all || wrong !== 0 || twice !== 0 || numbered !== all)
    throw new Error(
      `${all} were due: ${invoices} invoices, ${wrong} not renewed, ${twice} billed twice, ${numbered} numbers`,
    )
  return wrong + twice
}
