// SPDX-License-Identifier: Apache-2.0
// Job of a campaign: gathers its audience, waits for its time, and sends at its rate until everybody had their turn.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { callerOf } from '../caller.ts'
import { audienceOf, pageOfAudience } from '../segments/segment.ts'
import { findSegment } from '../segments/store.ts'
import { findPeople } from '../store.ts'
import { move } from './campaign.ts'
import { aboveFor } from './four-eyes.ts'
import { afterQuiet, momentIn, type Whereabouts, zoneFor } from './hours.ts'
import { sendSome } from './send.ts'
import {
  type CampaignRow,
  deleteRecipients,
  findCampaign,
  insertRecipients,
  listRecipients,
  lockCampaign,
  nextDue,
  noteGathered,
} from './store.ts'

const gatheredAtOnce = 5_000
/** Customers of an audience that are looked at together before it is started. */
const lookedAtOnce = 1_000
const sentAtOnce = 1_000
/** Steps of one run; then other campaigns have their turn. */
const maxSteps = 50
/** Steps a minute of a campaign with a rate. */
const stepsPerMinute = 12
const longestWaitMs = minuteMs

const Payload = Type.Object({ campaign: Type.String() })

export const campaignJob: Job<App, typeof Payload> = {
  lane: 'customers.campaign',
  role: 'dispatch',
  payload: Payload,
  concurrency: 8,
  retrySeconds: [1, 5, 30, 120, 600],
  async handle(app, { id, tenant, payload }): Promise<Outcome> {
    if (!tenant) throw new Error('a campaign belongs to an account')
    for (let steps = 0; steps < maxSteps; steps++) {
      const row = await maybe(app.db.query(findCampaign, { ...tenant, id: payload.campaign }))
      if (!row || row.job !== id) return { kind: 'done' }
      const outcome = await step(app, tenant, row)
      if (outcome !== null) return outcome
    }
    return { kind: 'again', afterMs: 0 }
  },
}

/** One step; null when the next may follow at once. What refuses the campaign as a whole pauses it. */
async function step(app: App, tenant: Tenant, row: CampaignRow): Promise<Outcome | null> {
  try {
    const caller = await callerOf(app, tenant, row)
    return row.state === 'checking' ? await gather(app, caller, row) : await run(app, caller, row)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code } = error
    await app.db.tx(tenant, async (tx) => {
      const now = await one(tx.query(lockCampaign, { ...tenant, id: row.id }))
      if (now.job !== row.job) return
      await move(app, tx, occasionNow(app.clock, tenant, 0), now, { state: 'paused', reason: code })
    })
    return { kind: 'done' }
  }
}

/** Adds the next customers of the audience; after the last, the campaign is scheduled. */
async function gather(app: App, caller: Caller, row: CampaignRow): Promise<null> {
  const { tenant, nowMs } = caller
  const ids = await audiencePage(app, caller, row, gatheredAtOnce)
  const { at, local_at } = row.schedule
  const isEverywhere = local_at === undefined && row.quiet_hours === null
  const customers = isEverywhere ? ids.map(placeless) : await app.db.query(findPeople, { ...tenant, ids })
  const home = caller.principal.facts.country
  const dues = customers.map((customer) => {
    const zone = zoneFor(customer, home)
    const startMs =
      local_at !== undefined ? momentIn(zone, Date.parse(`${local_at}:00Z`)) : at === undefined ? nowMs : Date.parse(at)
    return new Date(afterQuiet(zone, row.quiet_hours, Math.max(startMs, nowMs))).toISOString()
  })
  await app.db.tx(tenant, async (tx) => {
    const now = await one(tx.query(lockCampaign, { ...tenant, id: row.id }))
    if (now.job !== row.job || now.cursor !== row.cursor) return
    await tx.query(insertRecipients, { ...tenant, id: row.id, customers: customers.map(({ id }) => id), dues })
    const isLast = ids.length < gatheredAtOnce
    await tx.query(noteGathered, { ...tenant, id: row.id, cursor: ids.at(-1) ?? row.cursor, gathered: isLast })
    if (!isLast) return
    if (!(await isBeyondOne(tx, now, tenant))) return move(app, tx, caller, now, { state: 'scheduled', job: row.job })
    await tx.query(deleteRecipients, { ...tenant, id: row.id })
    await tx.query(noteGathered, { ...tenant, id: row.id, cursor: null, gathered: false })
    await move(app, tx, caller, now, { state: 'draft', reason: 'FOUR_EYES' })
  })
  return null
}

/** Whether one person started it, and its segment has grown to more customers since than one person may write to. */
async function isBeyondOne(tx: Tx, { id, asked_by, segment_id }: CampaignRow, tenant: Tenant): Promise<boolean> {
  if (asked_by !== null || segment_id === null) return false
  const above = await aboveFor(tx, tenant.account)
  if (above === null) return false
  return (await tx.query(listRecipients, { ...tenant, id, after: null, limit: above + 1 })).length > above
}

/** Somebody of whom it does not matter where they are. */
function placeless(id: string): Whereabouts & { readonly id: string } {
  return { id, timezone: 'UTC', country: null, phones: [] }
}

/** Next customers of the audience. */
export async function audiencePage(
  app: App,
  { tenant, nowMs }: Caller,
  { id, segment_id, cursor: after }: Pick<CampaignRow, 'id' | 'segment_id' | 'cursor'>,
  most = lookedAtOnce,
): Promise<string[]> {
  if (segment_id === null) {
    const rows = await app.db.query(listRecipients, { ...tenant, id, after, limit: most })
    return rows.map(({ customer_id }) => customer_id)
  }
  const segment = await maybe(app.db.query(findSegment, { ...tenant, id: segment_id }))
  if (segment === null) throw new AppError('NOT_FOUND', 'the segment of the campaign was deleted')
  const place = { after, descending: false, most }
  return app.db.tx(tenant, (tx) => pageOfAudience(tx, tenant, audienceOf(segment), new Date(nowMs), place), {
    statementTimeoutMs: minuteMs,
  })
}

async function run(app: App, caller: Caller, row: CampaignRow): Promise<Outcome | null> {
  const { tenant, nowMs } = caller
  const { due_at } = await one(app.db.query(nextDue, { ...tenant, id: row.id }))
  if (due_at !== null && due_at.getTime() > nowMs)
    return { kind: 'again', afterMs: Math.min(due_at.getTime() - nowMs, longestWaitMs) }
  if (due_at === null || row.state === 'scheduled') {
    const isOver = await app.db.tx(tenant, async (tx) => {
      const now = await one(tx.query(lockCampaign, { ...tenant, id: row.id }))
      if (now.job !== row.job) return true
      const { waiting } = await one(tx.query(nextDue, { ...tenant, id: row.id }))
      await move(app, tx, caller, now, waiting ? { state: 'running', job: row.job } : { state: 'completed' })
      return !waiting
    })
    return isOver ? { kind: 'done' } : null
  }
  const perMinute = rateOf(app, caller, row)
  const limit =
    perMinute === null ? sentAtOnce : Math.min(sentAtOnce, Math.max(1, Math.ceil(perMinute / stepsPerMinute)))
  await sendSome(app, caller, row, limit)
  return perMinute === null ? null : { kind: 'again', afterMs: Math.ceil((limit / perMinute) * minuteMs) }
}

/** Messages a minute: as asked for, and no more than the plan allows. */
function rateOf(app: App, { principal }: Caller, { rate, channels }: CampaignRow): number | null {
  const plan =
    app.config.PAMOJA_RATE_LIMITS === 'off'
      ? []
      : channels.flatMap((channel) => principal.planPolicies[channel]?.limit ?? []).filter((limit) => limit > 0)
  const rates = [...plan, ...(rate === null ? [] : [rate])]
  return rates.length === 0 ? null : Math.min(...rates)
}
