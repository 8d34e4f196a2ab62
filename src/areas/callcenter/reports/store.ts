// SPDX-License-Identifier: Apache-2.0
// SQL of reports by mail, and the job that mails one.
import { Type } from 'typebox'
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import type { Schedule } from './schedule.ts'

/** Job that mails the report which is due at a time, under the id of its schedule. */
export const mailReport = {
  lane: 'callcenter.mail_report',
  payload: Type.Object({ schedule: Type.String(), atMs: Type.Integer() }),
}

export interface LastMailing {
  at: string
  from: string
  to: string
  status: 'sent' | 'failed'
  code: string | null
  /** Those who were not mailed; missing from rows of before this was noted. */
  not_sent?: readonly string[]
}

export interface ScheduleRow {
  id: string
  document: Schedule
  next_at: Date | null
  last: LastMailing | null
  created_at: Date
  updated_at: Date
}

/** Schedules of before there were languages are in English. */
const columns = `id, '{"language": "en"}'::jsonb || document as document, next_at, last, created_at, updated_at`

type Written = One & { document: string; nextAt: Date | null; at: Date }

export const insertSchedule = statement.tenant<Written, ScheduleRow>(
  'callcenter.insert_report_schedule',
  `insert into callcenter.report_schedules (bucket, account_id, environment, id, document, next_at, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $document::jsonb, $nextAt, $at, $at)
   returning ${columns}`,
)

export const findSchedule = statement.tenant<One, ScheduleRow>(
  'callcenter.find_report_schedule',
  `select ${columns} from callcenter.report_schedules where ${mine} and id = $id`,
)

export const lockSchedule = statement.tenant<One, ScheduleRow>(
  'callcenter.lock_report_schedule',
  `select ${columns} from callcenter.report_schedules where ${mine} and id = $id for update`,
)

export const listSchedules = statement.tenant<Tenant, ScheduleRow>(
  'callcenter.list_report_schedules',
  `select ${columns} from callcenter.report_schedules where ${mine} order by id desc limit 100`,
)

export const saveSchedule = statement.tenant<Written, ScheduleRow>(
  'callcenter.save_report_schedule',
  `update callcenter.report_schedules set document = $document::jsonb, next_at = $nextAt, updated_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

export const deleteSchedule = statement.tenant<One, { id: string }>(
  'callcenter.delete_report_schedule',
  `delete from callcenter.report_schedules where ${mine} and id = $id returning id`,
)

/** Notes what became of the mailing that was due, and when the next one is; nothing when it was noted before. */
export const noteMailing = statement.tenant<One & { due: Date; nextAt: Date; last: string }, { id: string }>(
  'callcenter.note_report_mailing',
  `update callcenter.report_schedules set next_at = $nextAt, last = $last::jsonb
    where ${mine} and id = $id and next_at = $due
   returning id`,
)

/** Name, looks and time zone of an account. */
export const reportingAccount = statement.home<{ account: string }, { name: string; brand: Brand; timezone: string }>(
  'callcenter.reporting_account',
  `select accounts.name_of($account::uuid) as name, accounts.brand_of($account::uuid) as brand,
          accounts.timezone_of($account::uuid) as timezone`,
)

/** The account's clock, kept from moving until the transaction ends. */
export const holdClock = statement.tenant<Tenant, { ms: bigint }>(
  'callcenter.hold_clock',
  'select accounts.hold_clock($account::uuid, $environment::text) as ms',
)
