// SPDX-License-Identifier: Apache-2.0
// Reports by mail: which report goes to whom and how often, what became of the last one, and why none can go.
import { useState } from 'preact/hooks'
import {
  callcenterChangeReportSchedule,
  callcenterCreateReportSchedule,
  callcenterDeleteReportSchedule,
  callcenterListReportSchedules,
} from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import { Deeds } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Choice } from '../../kit/fields.tsx'
import { type Control, type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { Card, Pill } from '../../kit/kit.tsx'
import { type ListOf, ListRecords, type Row, textOf } from '../../kit/list-page.tsx'
import { shortMoment, words } from '../../kit/words.ts'
import { currentLanguage, languages, t } from '../../words.ts'
import { days } from './forms.tsx'
import { useNames } from './names.ts'

const scope = 'callcenter:write'

const oftenNames = { day: 'Every day', week: 'Every week', month: 'Every month' } as const
const reportNames = { queues: 'Queues', agents: 'Agents', calls: 'Calls over time' } as const
const fileNames = { 'pdf csv': 'PDF and CSV', pdf: 'PDF', csv: 'CSV' } as const

/** A choice whose words are the form's own. */
const among = (names: Readonly<Record<string, string>>, shows: (control: Control) => boolean = () => true) =>
  function Among(control: Control) {
    if (!shows(control)) return null
    const told = Object.fromEntries(Object.entries(names).map(([code, name]) => [code, t(name)]))
    return (
      <Choice
        label={control.label}
        value={control.value}
        among={Object.keys(told)}
        names={told}
        isRequired
        onChange={control.onInput}
      />
    )
  }

function OneQueue({ label, value, onInput }: Control) {
  const { queues } = useNames()
  return (
    <Choice
      label={label}
      value={value}
      among={['', ...Object.keys(queues)]}
      names={{ '': t('All queues'), ...queues }}
      isRequired
      onChange={onInput}
    />
  )
}

const Often = among(oftenNames)
const Kind = among(reportNames)
const Weekday = among(Object.fromEntries(days), ({ typed }) => typed?.every === 'week')
const DayOfMonth = among(
  Object.fromEntries(Array.from({ length: 28 }, (_, i) => [String(i + 1), String(i + 1)])),
  ({ typed }) => typed?.every === 'month',
)
const hourText = (hour: number): string => `${String(hour).padStart(2, '0')}:00`
const Hour = among(Object.fromEntries(Array.from({ length: 24 }, (_, i) => [String(i), hourText(i)])))
const FilesIn = among(fileNames)
const Language = among(languages)

const fields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true },
  { name: 'report', label: 'Report', show: (control) => <Kind {...control} /> },
  { name: 'recipients', label: 'Recipients', as: 'list', isRequired: true, hint: 'Mail addresses, at most 10' },
  { name: 'every', label: 'Frequency', show: (control) => <Often {...control} /> },
  { name: 'weekday', label: 'Day of the week', show: (control) => <Weekday {...control} /> },
  { name: 'day_of_month', label: 'Day of the month', as: 'number', show: (control) => <DayOfMonth {...control} /> },
  {
    name: 'hour',
    label: 'Hour, in the time zone of the account',
    as: 'number',
    show: (control) => <Hour {...control} />,
  },
  { name: 'queue_id', label: 'Queue', show: (control) => <OneQueue {...control} /> },
  {
    ...{ name: 'formats', label: 'Files', value: (text: string) => text.split(' ') },
    show: (control) => <FilesIn {...control} />,
  },
  { name: 'language', label: 'Language', show: (control) => <Language {...control} /> },
]

const initial = {
  ...{ report: 'queues', every: 'week', weekday: 'monday', day_of_month: '1', hour: '7', formats: 'pdf csv' },
}

const make: FormOf = formOf(callcenterCreateReportSchedule, {
  ...{ title: 'Schedule a report by mail', action: 'Schedule', fields, initial },
})

function change(row: Row): FormOf {
  return formOf(callcenterChangeReportSchedule, {
    title: 'Change the report by mail',
    action: 'Save',
    given: { report_schedule_id: textOf(row.report_schedule_id) },
    fields,
    initial: {
      ...Object.fromEntries(fields.map(({ name }) => [name, textOf(row[name] ?? '') || undefined])),
      recipients: listed(row.recipients).join(', '),
      formats: listed(row.formats).join(' '),
    },
  })
}

const listed = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function oftenText({ every, weekday, day_of_month, hour }: Row): string {
  const time = hourText(Number(hour))
  if (every === 'day') return t('Every day at {time}', { time })
  if (every === 'month') return t('On day {day} of the month at {time}', { day: textOf(day_of_month), time })
  const [, day = ''] = days.find(([code]) => code === weekday) ?? []
  return t('{day} at {time}', { day: t(day), time })
}

const whyNot: Readonly<Record<string, string>> = {
  OPTED_OUT: 'mail to this address came back, or was not wanted',
  INSUFFICIENT_BALANCE: 'the wallet had too little money',
  MAIL_NOT_CONFIGURED: 'no domain to send from',
  ACCOUNT_SUSPENDED: 'the account was suspended',
}

/** What became of the last one, and what is in the way of the next. */
function Standing({ enabled, mail_configured, last }: Row) {
  if (enabled === false) return <Pill state="paused" />
  if (mail_configured === false) return <Pill state="failed" word={t('No mail can be sent')} tone="bad" />
  const { status, at, code, not_sent } = Object(last)
  if (status === undefined) return <Pill state="scheduled" />
  const when = shortMoment(String(at))
  if (status === 'sent') return <Pill state="sent" word={t('Sent {time}', { time: when })} tone="good" />
  const why = whyNot[String(code)]
  const missed = listed(not_sent)
  return (
    <>
      <Pill
        state="failed"
        word={t('Not sent {time}: {why}', { time: when, why: why ? t(why) : words(String(code).toLowerCase()) })}
        tone="bad"
      />
      {missed.length > 0 && <small class="soft cut">{t('To {name}', { name: missed.join(', ') })}</small>}
    </>
  )
}

const set = (enabled: boolean) => (row: Row) =>
  callcenterChangeReportSchedule(api, { report_schedule_id: textOf(row.report_schedule_id), body: { enabled } })

const schedules: ListOf = {
  title: 'Scheduled reports',
  icon: 'mail',
  path: callcenterListReportSchedules.at(),
  keyField: 'report_schedule_id',
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    {
      ...{ name: 'Report', field: 'report', priority: 3 },
      text: (report) => t(Object(reportNames)[textOf(report)] ?? textOf(report)),
    },
    { name: 'Frequency', field: 'every', priority: 1, card: 'sub', show: (row) => oftenText(row) },
    {
      ...{ name: 'Recipients', field: 'recipients', priority: 3 },
      show: ({ recipients }) => <span class="cut">{listed(recipients).join(', ')}</span>,
    },
    { name: 'Next', field: 'next_at', as: 'time', priority: 3 },
    { name: 'State', field: 'last', priority: 1, card: 'state', show: (row) => <Standing {...row} /> },
  ],
  actions: [
    { name: 'Change', scope, form: change },
    { name: 'Pause', scope, shows: ({ enabled }) => enabled === true, run: set(false) },
    { name: 'Resume', scope, shows: ({ enabled }) => enabled === false, run: set(true) },
    {
      ...{ name: 'Remove', scope, isDanger: true },
      asks: ({ name }) => removing(textOf(name), t('No further reports are mailed.')),
      run: ({ report_schedule_id }) =>
        callcenterDeleteReportSchedule(api, { report_schedule_id: textOf(report_schedule_id) }),
    },
  ],
  none: { title: 'No reports by mail', advice: 'A report can come by mail every day, week or month, as PDF and CSV.' },
}

export function ReportsByMail() {
  const [turn, setTurn] = useState(0)
  const form = { ...make, initial: { ...initial, language: currentLanguage() } }
  const deed = { name: 'Schedule a report by mail', icon: 'plus', scope, form } as const
  return (
    <Card
      title="Reports by mail"
      action={may(scope) ? <Deeds deeds={[deed]} onDone={() => setTurn((before) => before + 1)} /> : null}
    >
      <ListRecords list={schedules} turn={turn} />
    </Card>
  )
}
