// SPDX-License-Identifier: Apache-2.0
// The noun: a report that is mailed every day, week or month, with the times at which it is and the days that it covers.
import { type Static, Type } from 'typebox'
import { parseMailbox } from '../../../kernel/email-address.ts'
import { dayMs } from '../../../kernel/time.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { momentOfWall } from '../metrics/intervals.ts'
import { wallTime } from '../routing/hours.ts'

const reportKinds = ['queues', 'agents', 'calls'] as const
const periods = ['day', 'week', 'month'] as const
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const reportFormats = ['pdf', 'csv'] as const
const maxRecipients = 10

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    rule: 'must have 1 to 64 characters',
    description: 'Your name for it, in the subject of the mail',
  }),
  report: OneOf(reportKinds, {
    description: '`queues` and `agents` have a line for each of them, `calls` for each hour or day',
  }),
  every: OneOf(periods, {
    description:
      'How often: a `day` has the day before, a `week` the seven days before, a `month` the calendar month before',
  }),
  weekday: OneOf(weekdays, { description: 'Day of a weekly report; monday unless told' }),
  day_of_month: Type.Integer({
    minimum: 1,
    maximum: 28,
    rule: 'must be 1 to 28',
    description: 'Day of a monthly report; 1 unless told',
  }),
  hour: Type.Integer({
    minimum: 0,
    maximum: 23,
    rule: 'must be 0 to 23',
    description: 'Hour at which it is mailed, in the time zone of the account; 7 unless told',
  }),
  recipients: Type.Array(
    Type.String({ maxLength: 320, rule: 'must be an address such as amina@shop.example', errorCode: 'INVALID_EMAIL' }),
    {
      minItems: 1,
      maxItems: maxRecipients,
      rule: `must be 1 to ${maxRecipients} addresses`,
      description: 'Addresses that get it, each a mail of its own',
    },
  ),
  formats: Type.Array(OneOf(reportFormats), {
    minItems: 1,
    maxItems: 2,
    description: 'Files in the mail; both unless told',
  }),
  queue_id: Nullable(
    Type.String({ maxLength: 40, description: 'Only the queue with this id, `que_…`; null or left out: all of them' }),
  ),
  enabled: Type.Boolean({ description: 'False: nothing is mailed until it is true again; true unless told' }),
}

const { name, report, every, recipients, ...rest } = fields
const { weekday, day_of_month, hour, formats, queue_id, enabled } = rest
const optional = {
  weekday: Type.Optional(weekday),
  day_of_month: Type.Optional(day_of_month),
  hour: Type.Optional(hour),
  formats: Type.Optional(formats),
  queue_id: Type.Optional(queue_id),
  enabled: Type.Optional(enabled),
}

export const ScheduleCreate = Type.Object({ name, report, every, recipients, ...optional })
const Fields = Type.Object(fields)
export const ScheduleChange = Type.Partial(Fields)

/** Outcome of the last mailing. */
const Last = Type.Object(
  {
    at: At({ description: 'When it was due' }),
    from: At({ description: 'From when calls were counted' }),
    to: At({ description: 'Until when, this moment not included' }),
    status: OneOf(['sent', 'failed'], { description: '`failed`: some recipient, or nobody, got it' }),
    code: Nullable(
      Type.String({ description: 'Error code of a failure, such as `MAIL_NOT_CONFIGURED` or `INSUFFICIENT_BALANCE`' }),
    ),
  },
  { description: 'What became of the last one' },
)

export const ScheduleRecord = Type.Object(
  {
    report_schedule_id: Type.String({ description: 'Id, such as `rsch_…`' }),
    ...fields,
    timezone: Type.String({ description: 'Time zone of the account, in which hours and days are meant' }),
    next_at: Nullable(At({ description: 'When the next one is mailed; null while it is not `enabled`' })),
    last: Nullable(Last, { description: 'What became of the last one; null before the first' }),
    mail_configured: Type.Boolean({
      description:
        'False: nothing can be mailed, since the account has no verified domain to send from, or no mail leaves the installation',
    }),
    created_at: At({ description: 'When it was made' }),
    updated_at: At({ description: 'When it was last changed' }),
  },
  { title: 'ReportSchedule' },
)

export type Schedule = Static<typeof Fields>

export function scheduleOf(wanted: Static<typeof ScheduleCreate>): Schedule {
  const usual = { weekday: 'monday', day_of_month: 1, hour: 7, queue_id: null, enabled: true } as const
  return { ...usual, formats: [...reportFormats], ...wanted }
}

/** The first recipient that is no address; -1 when all are. */
export function wrongRecipient({ recipients: given }: Pick<Schedule, 'recipients'>): number {
  return given.findIndex((one) => parseMailbox(one) === null)
}

/** Days looked ahead for the next time: more than the longest month. */
const maxDaysAhead = 40

/** The first time after a moment at which the report is mailed. */
export function timeAfter(schedule: Schedule, after: Date, timezone: string): Date {
  const today = Date.parse(`${wallTime(after, timezone).date}T00:00:00Z`)
  for (let i = 0; i < maxDaysAhead; i++) {
    const date = new Date(today + i * dayMs)
    if (!isDayOf(schedule, date)) continue
    const at = momentOfWall(dayText(date), schedule.hour * 60, timezone)
    if (at > after) return at
  }
  throw new Error('a report has no next time')
}

function isDayOf({ every: how, weekday: day, day_of_month: number }: Schedule, date: Date): boolean {
  switch (how) {
    case 'day':
      return true
    case 'week':
      return weekdays[(date.getUTCDay() + 6) % 7] === day
    case 'month':
      return date.getUTCDate() === number
  }
}

/** Days that the report of a moment covers, the last one included, and their bounds. */
export function periodAt({ every: how }: Pick<Schedule, 'every'>, at: Date, timezone: string) {
  const today = new Date(`${wallTime(at, timezone).date}T00:00:00Z`)
  const thisMonth = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1))
  const end = how === 'month' ? thisMonth : today
  const start =
    how === 'month'
      ? new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1))
      : new Date(end.getTime() - (how === 'week' ? 7 : 1) * dayMs)
  return {
    from: momentOfWall(dayText(start), 0, timezone),
    to: momentOfWall(dayText(end), 0, timezone),
    firstDay: dayText(start),
    lastDay: dayText(new Date(end.getTime() - dayMs)),
  }
}

function dayText(date: Date): string {
  return date.toISOString().slice(0, 10)
}
