// SPDX-License-Identifier: Apache-2.0
// The noun: a report that is mailed every day, week or month, with the times at which it is and the days that it covers.
import { type Static, Type } from 'typebox'
import { parseMailbox } from '../../../kernel/email-address.ts'
import { dayMs } from '../../../kernel/time.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { languages } from '../../../platform/web/language.ts'
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
    description: 'Name, shown in the subject of the email',
  }),
  report: OneOf(reportKinds, {
    description: 'Kind of report: `queues` and `agents` have a line each, `calls` a line for each hour or day',
  }),
  every: OneOf(periods, {
    description: 'Frequency and period covered: the day before, the seven days before, or the calendar month before',
  }),
  weekday: OneOf(weekdays, { description: 'Day of a weekly report; default `monday`' }),
  day_of_month: Type.Integer({
    minimum: 1,
    maximum: 28,
    rule: 'must be 1 to 28',
    description: 'Day of a monthly report; default 1',
  }),
  hour: Type.Integer({
    minimum: 0,
    maximum: 23,
    rule: 'must be 0 to 23',
    description: 'Hour of sending, in the time zone of the account; default 7',
  }),
  recipients: Type.Array(
    Type.String({ maxLength: 320, rule: 'must be an address such as amina@shop.example', errorCode: 'INVALID_EMAIL' }),
    {
      minItems: 1,
      maxItems: maxRecipients,
      rule: `must be 1 to ${maxRecipients} addresses`,
      description: 'Email addresses; each receives its own email',
    },
  ),
  formats: Type.Array(OneOf(reportFormats), {
    minItems: 1,
    maxItems: 2,
    description: 'Attached formats; default both',
  }),
  queue_id: Nullable(
    Type.String({ maxLength: 40, description: 'Id of the queue to report on, `que_…`; null: all queues' }),
  ),
  language: OneOf(languages, {
    description:
      'Language of the email, the PDF and the headings of the CSV; default `en`, whose headings are names of the API. The PDF has Latin letters only: with `ar` it is in English',
  }),
  enabled: Type.Boolean({ description: 'False suspends sending; default true' }),
}

const { name, report, every, recipients, ...rest } = fields
const { weekday, day_of_month, hour, formats, queue_id, language, enabled } = rest
const optional = {
  weekday: Type.Optional(weekday),
  day_of_month: Type.Optional(day_of_month),
  hour: Type.Optional(hour),
  formats: Type.Optional(formats),
  queue_id: Type.Optional(queue_id),
  language: Type.Optional(language),
  enabled: Type.Optional(enabled),
}

export const ScheduleCreate = Type.Object({ name, report, every, recipients, ...optional })
const Fields = Type.Object(fields)
export const ScheduleChange = Type.Partial(Fields)

/** Outcome of the last mailing. */
const Last = Type.Object(
  {
    at: At({ description: 'Time at which it was due' }),
    from: At({ description: 'Start of the period' }),
    to: At({ description: 'End of the period, exclusive' }),
    status: OneOf(['sent', 'failed'], { description: '`failed` if sending to any recipient failed' }),
    code: Nullable(
      Type.String({
        description:
          'Error code of a failure, such as `MAIL_NOT_CONFIGURED`, `INSUFFICIENT_BALANCE`, or `OPTED_OUT` for a suppressed address; null if sent',
      }),
    ),
    not_sent: Type.Array(Type.String(), { description: 'Recipients that were not sent it' }),
  },
  { description: 'Outcome of the last one' },
)

export const ScheduleRecord = Type.Object(
  {
    report_schedule_id: Type.String({ description: 'Id of the schedule, such as `rsch_…`' }),
    ...fields,
    timezone: Type.String({ description: 'Time zone of the account, which days and hours are in' }),
    next_at: Nullable(At({ description: 'Time of the next report; null unless `enabled`' })),
    last: Nullable(Last, { description: 'Outcome of the last report; null before the first' }),
    mail_configured: Type.Boolean({
      description:
        'False if nothing can be sent: the account has no verified sending domain, or the installation sends no email',
    }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'ReportSchedule' },
)

export type Schedule = Static<typeof Fields>

export function scheduleOf(wanted: Static<typeof ScheduleCreate>): Schedule {
  const usual = { weekday: 'monday', day_of_month: 1, hour: 7, queue_id: null, language: 'en', enabled: true } as const
  return { ...usual, formats: [...reportFormats], ...wanted }
}

/** What is wrong with the recipients, and which field says it; null when each is another address. */
export function recipientProblem(given: readonly string[]): { field: string; problem: string } | null {
  const seen = new Set<string>()
  for (const [i, one] of given.entries()) {
    const field = `recipients[${i}]`
    if (parseMailbox(one) === null) return { field, problem: 'is not an address such as amina@shop.example' }
    if (seen.has(addressOf(one))) return { field, problem: `is there twice: ${addressOf(one)}` }
    seen.add(addressOf(one))
  }
  return null
}

/** Address of a recipient in lower case, without a name. */
export function addressOf(recipient: string): string {
  return (parseMailbox(recipient)?.address ?? recipient).toLowerCase()
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
