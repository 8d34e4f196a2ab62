// SPDX-License-Identifier: Apache-2.0
// Batch renewal job. Renewals of one account that fall due together share a transaction: plain ones, a whole period on
// a new invoice, take a few statements for all; others, and all charges, go to the single-subscription job. Idempotent.

import type { Static } from 'typebox'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { Gatherer } from '../../../platform/concurrency/gather.ts'
import { isUnavailable, one, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { addJobs, type Settlement, settleJobs } from '../../../platform/work/many.ts'
import { suspendedMs } from '../../../platform/work/suspended.ts'
import type { Job, NewJob, Outcome, Run } from '../../../platform/work.ts'
import { type CustomerRow, findCustomers } from '../../customers/area.ts'
import { holdClock } from '../clock.ts'
import { creditsOf } from '../customers/store.ts'
import { createInvoices } from '../invoices/create-many.ts'
import { mailToCustomer } from '../invoices/mail.ts'
import type { InvoiceRow } from '../invoices/store.ts'
import { findPlans, type PlanRow } from '../plans/store.ts'
import { chargeableAt, type PlainPeriod, plainPeriodOf } from './bill.ts'
import { retrySeconds } from './renew.ts'
import { jobAt, renewal, renewalAlone } from './schedule.ts'
import {
  advanceSubscriptions,
  insertCollections,
  insertPeriods,
  lockSubscriptions,
  type SubscriptionRow,
  withCollections,
} from './store.ts'
import { endsWithPeriod } from './subscription.ts'

/** Jobs per transaction, and accounts at once. */
const maxAtOnce = 200
const accountsAtOnce = 4
/** Jobs claimed into memory: many fall due at the start of a month. */
const claimedAtOnce = 1_000

type Renewal = Run<Static<typeof renewal.payload>>

interface Asked {
  readonly tenant: Tenant
  readonly run: Renewal
}

export const renewJob: Job<App, typeof renewal.payload> = {
  ...renewal,
  role: 'timers',
  concurrency: claimedAtOnce,
  retrySeconds,
  calendar: {},
  async handle(app, run) {
    const { tenant } = run
    if (!tenant) throw new Error('a subscription belongs to an account')
    return gatheringOf(app).join({ tenant, run }, `${tenant.account} ${tenant.environment}`)
  },
}

const gatheringOf = onePerApp(
  (app) =>
    new Gatherer<Asked, Outcome>({
      most: maxAtOnce,
      atOnce: accountsAtOnce,
      run: async (asked) => {
        const [first] = asked
        const runs = asked.map(({ run }) => run)
        if (first) await renewMany(app, first.tenant, runs)
        return asked.map(() => ({ kind: 'settled' }))
      },
    }),
)

/**
 * Renews the subscriptions of one account's jobs and settles the jobs. On failure the batch is halved, so that only the
 * subscription that cannot be billed is left out.
 */
export async function renewMany(app: App, tenant: Tenant, runs: readonly Renewal[]): Promise<void> {
  try {
    await app.db.tx(tenant, (tx) => renewBatch(app, tx, tenant, runs))
  } catch (error) {
    if (isUnavailable(error)) throw error
    if (runs.length === 1) return app.db.tx(tenant, (tx) => handOver(app, tx, tenant, runs))
    const middle = runs.length >> 1
    await renewMany(app, tenant, runs.slice(0, middle))
    await renewMany(app, tenant, runs.slice(middle))
  }
}

/** Hands jobs over to the single-subscription job. */
async function handOver(app: App, tx: Tx, tenant: Tenant, runs: readonly Renewal[]): Promise<void> {
  await settleAndAdd(app, tx, runs.map(done), aloneJobs(app, tenant, runs))
}

function aloneJobs(app: App, tenant: Tenant, runs: readonly Renewal[]): NewJob[] {
  return runs.map(({ payload }) => app.work.prepare(renewalAlone, tenant, payload))
}

async function renewBatch(app: App, tx: Tx, tenant: Tenant, runs: readonly Renewal[]): Promise<void> {
  const { offset_ms, is_suspended } = await one(tx.query(holdClock, tenant))
  if (is_suspended)
    return settleAndAdd(
      app,
      tx,
      runs.map((run) => ({ run, againMs: suspendedMs })),
      [],
    )
  const occasion = occasionNow(app.clock, tenant, offset_ms)
  const { due, alone, settlements } = await sorted(tx, occasion, runs)
  const plain = await plainOf(app, tx, occasion, due)
  const isPlain = new Set(plain.map(({ row }) => row.id))
  const rest = [...alone, ...due.filter(({ row }) => !isPlain.has(row.id)).map(({ run }) => run)]
  const next = await bill(app, tx, occasion, plain)
  await settleAndAdd(app, tx, settlements, [...next, ...aloneJobs(app, tenant, rest)])
}

interface Due {
  readonly run: Renewal
  readonly row: SubscriptionRow
}

/** Due work of the claimed jobs, one entry per subscription, and the outcome of the other jobs. */
async function sorted(tx: Tx, { tenant, nowMs }: Occasion, runs: readonly Renewal[]) {
  const ids = [...new Set(runs.map(({ payload }) => payload.subscription))]
  const rows = new Map((await tx.query(lockSubscriptions, { ...tenant, ids })).map((row) => [row.id, row]))
  const seen = new Set<string>()
  const due: Due[] = []
  const alone: Renewal[] = []
  const settlements = runs.map((run): Settlement => {
    const { subscription, at } = run.payload
    const row = rows.get(subscription)
    const nextMs = row?.next_at?.getTime()
    if (row && nextMs === undefined) return done(run)
    if (nextMs !== undefined && nextMs > nowMs) return nextMs === at ? { run, againMs: nextMs - nowMs } : done(run)
    if (!seen.has(subscription)) {
      seen.add(subscription)
      if (row) due.push({ run, row })
      // Subscription locked by another transaction: the single job waits for it.
      else alone.push(run)
    }
    return done(run)
  })
  return { due, alone, settlements }
}

interface Plain {
  readonly row: SubscriptionRow
  readonly plan: PlanRow
  readonly customer: CustomerRow
  readonly period: PlainPeriod
}

/** Subscriptions that only need another whole period. */
async function plainOf(app: App, tx: Tx, { tenant }: Occasion, due: readonly Due[]): Promise<Plain[]> {
  const rows = due.map(({ row }) => row).filter(isOrdinary)
  if (rows.length === 0) return []
  const customers = [...new Set(rows.map(({ customer_id }) => customer_id))]
  const plans = await tx.query(findPlans, { ...tenant, ids: [...new Set(rows.map(({ plan_id }) => plan_id))] })
  const known = await tx.query(findCustomers, { ...tenant, ids: customers })
  const credits = await tx.query(creditsOf, { ...tenant, customers })
  const asked = await tx.query(withCollections, { ...tenant, ids: rows.map(({ id }) => id) })
  const planOf = new Map(plans.map((plan) => [plan.id, plan]))
  const customerOf = new Map(known.map((customer) => [customer.id, customer]))
  const withCredit = new Set(credits.map(({ customer_id }) => customer_id))
  const isAsked = new Set(asked.map(({ subscription_id }) => subscription_id))
  return rows.flatMap((row) => {
    const plan = planOf.get(row.plan_id)
    const customer = customerOf.get(row.customer_id)
    if (!plan || !customer || withCredit.has(customer.id) || isAsked.has(row.id)) return []
    const period = plainPeriodOf(app, tenant, row, plan)
    return period ? [{ row, plan, customer, period }] : []
  })
}

/** Whether a period ended and the next is to follow. */
function isOrdinary(row: SubscriptionRow): boolean {
  const isAtEnd = row.next_at?.getTime() === row.period_end.getTime()
  return row.status === 'active' && row.cycle > 0 && isAtEnd && !endsWithPeriod(row)
}

/** Begins the periods and bill them; returns the next renewal jobs, not stored yet. */
async function bill(app: App, tx: Tx, occasion: Occasion, plain: readonly Plain[]): Promise<NewJob[]> {
  if (plain.length === 0) return []
  const { tenant, nowMs } = occasion
  const invoices = await createInvoices(
    app,
    tx,
    occasion,
    plain.map(({ row, plan, customer, period }) => ({
      customer,
      currency: currencyOf(row.currency),
      figures: period.figures,
      taxInclusive: plan.tax_inclusive,
      subscriptionId: row.id,
      callbackUrl: row.callback_url,
      isTold: row.method === 'invoice',
    })),
  )
  for (const invoice of invoices) if (invoice.sequence > 0) await mailToCustomer(app, tx, tenant, invoice)
  const now = new Date(nowMs)
  const begun = plain.map(({ row, period }, i) => begunBy(row, period, invoices[i], now))
  const periods = JSON.stringify(begun)
  const isMine = await tx.query(insertPeriods, { ...tenant, periods })
  const moved = await tx.query(advanceSubscriptions, { ...tenant, periods, at: now })
  if (isMine.length !== plain.length || moved.length !== plain.length)
    throw new Error('a period was begun without the subscription’s lock')
  await tx.query(insertCollections, { ...tenant, collections: periods })
  return begun.map(({ subscription_id, next_at, ends_at }) => {
    const delayMs = Math.max(0, next_at.getTime() - nowMs)
    const isCharge = delayMs === 0 && next_at < ends_at
    return jobAt(app, tenant, isCharge ? renewalAlone : renewal, subscription_id, next_at, delayMs)
  })
}

/** Rows of a period: itself, the collection of its bill and the subscription's new state. */
function begunBy(row: SubscriptionRow, period: PlainPeriod, invoice: InvoiceRow | undefined, now: Date) {
  if (!invoice) throw new Error('a period was begun without an invoice')
  const { start, end, cycle, paidAmount } = period
  // Automatic charges run in a job of their own, at the first allowed hour.
  const tryAt = row.method === 'invoice' ? null : chargeableAt(row, now)
  return {
    subscription_id: row.id,
    cycle,
    starts_at: start,
    ends_at: end,
    paid_amount: paidAmount.toString(),
    invoice_id: invoice.id,
    try_at: tryAt,
    next_at: tryAt !== null && tryAt < end ? tryAt : end,
  }
}

async function settleAndAdd(
  app: App,
  tx: Tx,
  settlements: readonly Settlement[],
  jobs: readonly NewJob[],
): Promise<void> {
  await addJobs(tx, jobs)
  await settleJobs(tx, app.nodeId, settlements)
  tx.afterCommit(() => {
    for (const job of jobs) app.work.begin(job)
  })
}

function done(run: Renewal): Settlement {
  return { run, againMs: null }
}
