// SPDX-License-Identifier: Apache-2.0
// Routes of report schedules: reports sent by email.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, noContent, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import { withdraw } from '../../../platform/work/waiting-jobs.ts'
import { canMail } from '../../email/area.ts'
import { requireQueues } from '../checks.ts'
import { requireFewer } from '../limits.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { mailAt } from './mail.ts'
import {
  recipientProblem,
  type Schedule,
  ScheduleChange,
  ScheduleCreate,
  ScheduleRecord,
  scheduleOf,
  timeAfter,
} from './schedule.ts'
import {
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  lockSchedule,
  mailReport,
  reportingAccount,
  type ScheduleRow,
  saveSchedule,
} from './store.ts'

const path = '/v1/call-center/report-schedules'
const ScheduleId = Type.Object({ report_schedule_id: Type.String({ description: 'Id of the schedule, rsch_…' }) })
/** Waiting mailings of a schedule: there is one, or two for a moment. */
const maxWaiting = 10

interface About {
  readonly timezone: string
  readonly isConfigured: boolean
}

async function aboutOf(app: App, tenant: Tenant): Promise<About> {
  const { timezone } = await one(app.db.query(reportingAccount, { account: tenant.account }))
  return { timezone, isConfigured: await canMail(app, tenant) }
}

function scheduleRecord(
  { id, document, next_at, last, created_at, updated_at }: ScheduleRow,
  { timezone, isConfigured }: About,
): Static<typeof ScheduleRecord> {
  return {
    report_schedule_id: idOf('reportSchedule', id),
    ...document,
    timezone,
    next_at,
    last: last && {
      ...{ ...last, not_sent: [...(last.not_sent ?? [])] },
      ...{ at: new Date(last.at), from: new Date(last.from), to: new Date(last.to) },
    },
    mail_configured: isConfigured,
    created_at,
    updated_at,
  }
}

const noSchedule = () =>
  new AppError('NOT_FOUND', 'there is no such report schedule; ids of report schedules begin with rsch_')

function scheduleUuid(id: string): string {
  const uuid = uuidOf('reportSchedule', id)
  if (uuid === null) throw noSchedule()
  return uuid
}

async function check(
  app: App,
  tenant: Tenant,
  { recipients = [], queue_id }: Partial<Pick<Schedule, 'recipients' | 'queue_id'>>,
): Promise<void> {
  const wrong = recipientProblem(recipients)
  if (wrong) throw new AppError('INVALID_EMAIL', `${wrong.field} ${wrong.problem}`, { extra: { field: wrong.field } })
  if (queue_id) await requireQueues(app, tenant, 'queue_id', [queue_id])
}

/** Mailings that a schedule no longer wants are withdrawn; one that runs finds itself out of date. */
async function plan(app: App, tx: Tx, schedule: One, nextAt: Date | null): Promise<void> {
  await withdraw(tx, schedule, mailReport.lane, schedule.id, maxWaiting)
  if (nextAt) await mailAt(app, tx, schedule, nextAt)
}

const create = write({
  method: 'POST',
  path,
  operation: 'callcenter.createReportSchedule',
  summary: 'Create a report schedule',
  description:
    'Emails a report of queues, agents or calls as PDF and CSV every day, week or month, from the account’s domain, at the price of an email. Each recipient receives exactly one email per period. At most 100 schedules per account.',
  scope: 'callcenter:write',
  body: ScheduleCreate,
  reply: { status: 201, schema: ScheduleRecord, location: ({ report_schedule_id }) => `${path}/${report_schedule_id}` },
  errors: ['INVALID_EMAIL', 'CONFLICT'],
  examples: [
    {
      name: 'Weekly queue report, on Monday at seven',
      body: { name: 'Queues', report: 'queues', every: 'week', recipients: ['lead@shop.example'] },
    },
  ],
  prepare: async (app, { body }, { tenant }) => {
    await check(app, tenant, body)
    return aboutOf(app, tenant)
  },
  handle: async (app, tx, { body }, caller, about) => {
    const { tenant, receivedMs, nowMs } = caller
    await holdSwitchboard(tx, tenant)
    const document = scheduleOf(body)
    const schedule = { ...tenant, id: newUuid(receivedMs) }
    const nextAt = document.enabled ? timeAfter(document, new Date(nowMs), about.timezone) : null
    const row = await one(
      tx.query(insertSchedule, { ...schedule, document: JSON.stringify(document), nextAt, at: new Date(nowMs) }),
    )
    await requireFewer(tx, tenant, 'reportSchedules')
    await plan(app, tx, schedule, nextAt)
    await record(tx, caller, 'report_schedule.create', idOf('reportSchedule', row.id), { after: document })
    return scheduleRecord(row, about)
  },
})

const timing = ['every', 'weekday', 'day_of_month', 'hour', 'enabled'] as const

const change = write({
  method: 'PATCH',
  path: `${path}/:report_schedule_id`,
  operation: 'callcenter.changeReportSchedule',
  summary: 'Update a report schedule',
  description: 'A changed time applies from now on; `enabled: false` suspends sending.',
  scope: 'callcenter:write',
  params: ScheduleId,
  body: ScheduleChange,
  reply: { status: 200, schema: ScheduleRecord },
  errors: ['NOT_FOUND', 'INVALID_EMAIL'],
  prepare: async (app, { body }, { tenant }) => {
    await check(app, tenant, body)
    return aboutOf(app, tenant)
  },
  handle: async (app, tx, { params, body }, caller, about) => {
    const { tenant, nowMs } = caller
    const schedule = { ...tenant, id: scheduleUuid(params.report_schedule_id) }
    const row = await maybe(tx.query(lockSchedule, schedule))
    if (!row) throw noSchedule()
    const document: Schedule = { ...row.document, ...body }
    // One that is due right now is still mailed where its time stays the same.
    const isTimeSame = timing.every((field) => document[field] === row.document[field])
    const next = document.enabled ? timeAfter(document, new Date(nowMs), about.timezone) : null
    const nextAt = isTimeSame ? row.next_at : next
    const saved = await one(
      tx.query(saveSchedule, { ...schedule, document: JSON.stringify(document), nextAt, at: new Date(nowMs) }),
    )
    if (!isTimeSame) await plan(app, tx, schedule, nextAt)
    await record(tx, caller, 'report_schedule.update', params.report_schedule_id, {
      before: row.document,
      after: document,
    })
    return scheduleRecord(saved, about)
  },
})

const get = read({
  method: 'GET',
  path: `${path}/:report_schedule_id`,
  operation: 'callcenter.getReportSchedule',
  summary: 'Get a report schedule',
  scope: 'callcenter:read',
  params: ScheduleId,
  reply: { status: 200, schema: ScheduleRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const id = scheduleUuid(params.report_schedule_id)
    const row = await maybe(app.db.query(findSchedule, { ...tenant, id }))
    if (!row) throw noSchedule()
    return scheduleRecord(row, await aboutOf(app, tenant))
  },
})

const listOwn = list({
  path,
  operation: 'callcenter.listReportSchedules',
  summary: 'List report schedules',
  scope: 'callcenter:read',
  query: Type.Object(listQuery),
  row: ScheduleRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const [rows, about] = await Promise.all([app.db.query(listSchedules, tenant), aboutOf(app, tenant)])
    const shown = rows.map((row) => scheduleRecord(row, about))
    return pageOfWhole({ limit: 50, ...query }, shown, ({ report_schedule_id }) => report_schedule_id)
  },
})

const remove = write({
  method: 'DELETE',
  path: `${path}/:report_schedule_id`,
  operation: 'callcenter.deleteReportSchedule',
  summary: 'Delete a report schedule',
  scope: 'callcenter:write',
  params: ScheduleId,
  reply: noContent,
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller: Caller) => {
    const schedule = { ...caller.tenant, id: scheduleUuid(params.report_schedule_id) }
    if (!(await maybe(tx.query(deleteSchedule, schedule)))) throw noSchedule()
    await plan(app, tx, schedule, null)
    await record(tx, caller, 'report_schedule.delete', params.report_schedule_id)
    return {}
  },
})

export const reportRoutes: readonly Route[] = [create, change, get, listOwn, remove]
