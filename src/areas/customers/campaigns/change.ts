// SPDX-License-Identifier: Apache-2.0
// Verbs of a campaign: create, change, start, pause, resume, cancel.
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { currencyOf, microsOf } from '../../../ledger/currencies.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { type Caller, makerOf } from '../../../platform/auth.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { segmentNamed } from '../segments/segment.ts'
import { findPeople } from '../store.ts'
import { customersNamedIn } from './audience.ts'
import { lockedCampaign, type Move, move, requireUnchanged, shown } from './campaign.ts'
import { campaignEvents } from './events.ts'
import { aboveFor } from './four-eyes.ts'
import { chosen } from './recipients.ts'
import { audiencePage, campaignJob } from './run.ts'
import type { ChangedCampaign, NewCampaign, State } from './schema.ts'
import {
  askForStart,
  type CampaignRow,
  deleteRecipients,
  forgetAsked,
  insertCampaign,
  insertRecipients,
  noteDuplicates,
  standFor,
  updateCampaign,
  type WrittenSettings,
} from './store.ts'

const usualQuietHours = { from: '21:00', to: '08:00' }

/** Settings of a campaign, before they are checked. */
type Settings = Pick<
  CampaignRow,
  'name' | 'channels' | 'content' | 'variants' | 'schedule' | 'quiet_hours' | 'rate' | 'budget'
> & {
  readonly segment_id: string | null
}

export async function createCampaign(tx: Tx, caller: Caller, input: NewCampaign): Promise<CampaignRow> {
  const { tenant, receivedMs, nowMs } = caller
  requireOneAudience(input, true)
  const segment = input.segment_id === undefined ? null : (await segmentNamed(tx, tenant, input.segment_id)).id
  const { currency } = caller.principal.facts
  const settings = withChanges(
    {
      ...{ name: input.name, segment_id: segment, channels: input.channel, content: input.content, variants: [] },
      ...{ schedule: {}, quiet_hours: usualQuietHours, rate: null, budget: null },
    },
    input,
    currency,
  )
  const at = new Date(nowMs)
  const row = await one(
    tx.query(insertCampaign, { ...tenant, id: newUuid(receivedMs), ...written(settings, caller), currency, at }),
  )
  await addCustomers(tx, caller, row.id, input)
  await record(tx, caller, 'campaign.create', idOf('campaign', row.id))
  return row
}

/** Changes a campaign: all of a draft; the name, rate and budget of one that has not ended. */
export async function changeCampaign(
  tx: Tx,
  caller: Caller,
  id: string,
  { unchanged_since, ...input }: ChangedCampaign,
): Promise<CampaignRow> {
  const { tenant, nowMs } = caller
  const before = await lockedCampaign(tx, tenant, id, [
    'draft',
    'checking',
    'scheduled',
    'running',
    'paused',
    'stopped_budget',
  ])
  const others = Object.keys(input).filter((field) => !['name', 'rate', 'budget'].includes(field))
  if (before.state !== 'draft' && others.length > 0)
    throw new AppError(
      'CAMPAIGN_STATE',
      `the campaign is ${before.state}; ${others.join(', ')} can be changed in a draft only`,
      {
        extra: { current_state: before.state },
      },
    )
  requireUnchanged(before, unchanged_since)
  const isList = input.customer_ids !== undefined || input.csv !== undefined
  requireOneAudience(input, false)
  const named =
    input.segment_id === undefined ? before.segment_id : (await segmentNamed(tx, tenant, input.segment_id)).id
  const settings = withChanges({ ...before, segment_id: isList ? null : named }, input, before.currency)
  if (settings.budget !== null && settings.budget < before.spent)
    throw invalid('budget', 'must not be less than the amount spent')
  const changes = { ...tenant, id: before.id, ...written(settings, caller), at: new Date(nowMs) }
  const row = await one(tx.query(updateCampaign, changes))
  if (isList || input.segment_id !== undefined) {
    await tx.query(deleteRecipients, { ...tenant, id: row.id })
    await tx.query(noteDuplicates, { ...tenant, id: row.id, duplicates: 0 })
  }
  await addCustomers(tx, caller, row.id, input)
  await record(tx, caller, 'campaign.update', idOf('campaign', row.id), { after: { fields: Object.keys(input) } })
  return row
}

function withChanges(before: Settings, input: ChangedCampaign, currency: string): Settings {
  const { name = before.name, channel = before.channels, content = before.content, variants = before.variants } = input
  const { schedule = before.schedule, quiet_hours = before.quiet_hours, rate = before.rate } = input
  const budget =
    input.budget === undefined
      ? before.budget
      : input.budget === null
        ? null
        : microsOf('budget', input.budget, currencyOf(currency))
  return {
    name,
    segment_id: before.segment_id,
    channels: [...new Set(channel)],
    content,
    variants,
    schedule,
    quiet_hours,
    rate,
    budget,
  }
}

/** Settings as they are stored. Throws what is wrong with them together. */
function written(settings: Settings, caller: Caller): WrittenSettings {
  const { name, segment_id: segment, channels, content, variants, schedule, quiet_hours, rate, budget } = settings
  for (const channel of channels)
    if (content[channel] === undefined) throw invalid(`content.${channel}`, 'is required: channel contains it')
  const mail = content.email
  if (mail && mail.html === undefined && mail.text === undefined) throw invalid('content.email', 'needs html or text')
  if (variants.reduce((sum, { share }) => sum + share, 0) > 99)
    throw invalid('variants', 'must leave a share for content')
  if (schedule.at !== undefined && schedule.local_at !== undefined)
    throw invalid('schedule', 'must have at or local_at, not both')
  if (schedule.at !== undefined && Date.parse(schedule.at) < caller.nowMs - 60_000)
    throw invalid('schedule.at', 'must not be in the past')
  refuseCardNumbers({ name, text: content.sms?.text ?? '' })
  return {
    ...{ name, segment, channels, rate, budget },
    content: JSON.stringify(content),
    variants: JSON.stringify(variants),
    schedule: JSON.stringify(schedule),
    quietHours: quiet_hours === null ? null : JSON.stringify(quiet_hours),
  }
}

type Audience = Pick<ChangedCampaign, 'segment_id' | 'customer_ids' | 'csv'>

function requireOneAudience({ segment_id, customer_ids, csv }: Audience, isRequired: boolean): void {
  const given = [segment_id, customer_ids, csv].filter((one) => one !== undefined).length
  if (given === 0 && isRequired) throw invalid('segment_id', 'is required, or customer_ids or csv')
  if (given > 1) throw invalid('segment_id', 'must be the only one of segment_id, customer_ids and csv')
}

async function addCustomers(tx: Tx, { tenant, nowMs }: Caller, id: string, input: Audience): Promise<void> {
  const { customer_ids, csv } = input
  if (customer_ids === undefined && csv === undefined) return
  const ids =
    csv === undefined
      ? (customer_ids ?? []).flatMap((text) => uuidOf('customer', text) ?? [])
      : await customersNamedIn(tx, tenant, csv)
  const named = await tx.query(standFor, { ...tenant, ids })
  const customers = [...new Set(named.map((one) => one.id))]
  const due = new Date(nowMs).toISOString()
  const added = await tx.query(insertRecipients, { ...tenant, id, customers, dues: customers.map(() => due) })
  if (added.length === 0)
    throw new AppError(
      'NO_RECIPIENTS',
      csv === undefined ? 'customer_ids contains no customer; ids begin with cus_' : 'csv names no customer',
    )
  const duplicates = named.length - customers.length
  if (duplicates > 0) await tx.query(noteDuplicates, { ...tenant, id, duplicates })
}

/** Whether the audience is so large that the account asks for a second person to start the campaign. */
export async function needsFourEyes(app: App, caller: Caller, row: CampaignRow): Promise<boolean> {
  const above = await aboveFor(app.db, caller.tenant.account)
  if (above === null) return false
  const ids = await audiencePage(app, caller, { ...row, cursor: null }, above + 1)
  return ids.length > above
}

/** What was found of a draft before it is started. */
interface Startable {
  readonly needsFourEyes: boolean
  /** `updated_at` of the draft that was looked at. */
  readonly version: string
}

/** Looks at a draft that is to be started. Throws NO_RECIPIENTS, CONSENT_REQUIRED. */
export async function startable(app: App, caller: Caller, row: CampaignRow): Promise<Startable> {
  await requireRecipients(app, caller, row)
  return { needsFourEyes: await needsFourEyes(app, caller, row), version: row.updated_at.toISOString() }
}

/** Refuses a campaign that would reach nobody. Throws NO_RECIPIENTS, CONSENT_REQUIRED. */
async function requireRecipients(app: App, caller: Caller, row: CampaignRow): Promise<void> {
  const ids = await audiencePage(app, caller, { ...row, cursor: null })
  if (ids.length === 0) throw new AppError('NO_RECIPIENTS', 'the audience of the campaign is empty')
  const customers = await app.db.query(findPeople, { ...caller.tenant, ids })
  const verdicts = await chosen(app, caller, row, customers)
  if (ids.length < 1_000 && verdicts.every((one) => 'reason' in one && one.reason === 'no_consent'))
    throw new AppError('CONSENT_REQUIRED', 'no customer in the audience has agreed to marketing on these channels')
}

/** Starts a campaign, or notes who asked for it where a second person has to. Throws FORBIDDEN for whoever asked for it. */
export async function startCampaign(
  app: App,
  tx: Tx,
  caller: Caller,
  id: string,
  since: string | undefined,
  found: Startable | null,
): Promise<CampaignRow> {
  const row = await lockedCampaign(tx, caller.tenant, id, ['draft'])
  requireUnchanged(row, since)
  requireUnchanged(row, found?.version)
  const maker = makerOf(caller)
  if (!found?.needsFourEyes) {
    // Who asked while the audience was larger starts it alone: nobody approved it.
    if (row.asked_by === maker) await tx.query(forgetAsked, { ...caller.tenant, id: row.id })
    return run(app, tx, caller, row, 'start', 'checking')
  }
  if (row.asked_by === maker)
    throw new AppError('FORBIDDEN', 'who asked for the start of a campaign cannot approve it; another member does')
  return row.asked_by === null ? ask(app, tx, caller, row, maker) : run(app, tx, caller, row, 'start', 'checking')
}

async function ask(app: App, tx: Tx, caller: Caller, before: CampaignRow, by: string): Promise<CampaignRow> {
  const { tenant, nowMs } = caller
  const row = await one(tx.query(askForStart, { ...tenant, id: before.id, by, at: new Date(nowMs) }))
  await record(tx, caller, 'campaign.ask', idOf('campaign', row.id))
  const { content: _, variants: __, ...campaign } = shown(row)
  await app.outbox.emit(tx, campaignEvents.asked, caller, campaign.id, { campaign })
  return row
}

export async function pauseCampaign(app: App, tx: Tx, caller: Caller, id: string): Promise<CampaignRow> {
  const row = await lockedCampaign(tx, caller.tenant, id, ['checking', 'scheduled', 'running'])
  return changeState(app, tx, caller, row, 'pause', { state: 'paused' })
}

export async function resumeCampaign(app: App, tx: Tx, caller: Caller, id: string): Promise<CampaignRow> {
  const row = await lockedCampaign(tx, caller.tenant, id, ['paused', 'stopped_budget'])
  if (row.budget !== null && row.spent >= row.budget)
    throw new AppError('BUDGET_REACHED', 'the campaign has spent its budget; raise it first')
  return run(app, tx, caller, row, 'resume', row.gathered ? 'scheduled' : 'checking')
}

export async function cancelCampaign(app: App, tx: Tx, caller: Caller, id: string): Promise<CampaignRow> {
  const row = await lockedCampaign(tx, caller.tenant, id, [
    'draft',
    'checking',
    'scheduled',
    'running',
    'paused',
    'stopped_budget',
  ])
  return changeState(app, tx, caller, row, 'cancel', { state: 'cancelled' })
}

/** Gives a campaign a job of its own; one that it had before leaves it alone from now on. */
async function run(
  app: App,
  tx: Tx,
  caller: Caller,
  row: CampaignRow,
  verb: string,
  state: State,
): Promise<CampaignRow> {
  const job = app.work.prepare(campaignJob, caller.tenant, { campaign: row.id })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  return changeState(app, tx, caller, row, verb, { state, job: job.id, startedBy: caller.actor })
}

async function changeState(
  app: App,
  tx: Tx,
  caller: Caller,
  row: CampaignRow,
  verb: string,
  to: Move,
): Promise<CampaignRow> {
  await record(tx, caller, `campaign.${verb}`, idOf('campaign', row.id), { before: { state: row.state } })
  return move(app, tx, caller, row, to)
}
