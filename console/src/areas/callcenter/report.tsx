// SPDX-License-Identifier: Apache-2.0
// Report of calls: by hour or day, in time, by person and outcome, as charts, as a file and by mail.
import { callcenterReport } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Columns } from '../../kit/chart.tsx'
import { Choice, Field } from '../../kit/fields.tsx'
import { ExportButton } from '../../kit/filters.tsx'
import { Card, Figures, FiguresRow, Nothing, PageHead, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime, count, date, isoDay, momentAt, nowMs, words } from '../../kit/words.ts'
import { filterBy, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'
import { share } from './lists.tsx'
import { useNames } from './names.ts'
import { ReportsByMail } from './reports-by-mail.tsx'
import { clockOf } from './states.tsx'

const dayMs = 86_400_000

export function CallReport({ session }: PageProps) {
  const { query } = usePlace()
  const names = useNames()
  const from = query.get('from') ?? isoDay(nowMs() - 6 * dayMs)
  const to = query.get('to') ?? isoDay(nowMs())
  const queue = query.get('queue') ?? ''
  const set = (part: Record<string, string>): void => filterBy({ from, to, queue, ...part })
  const range = { from, to, timezone: session.account.timezone, ...(queue === '' ? {} : { queue_id: queue }) }
  const key = JSON.stringify(range)
  const interval = from === to ? 'hour' : 'day'
  const over = useLoad(key, () => callcenterReport(api, { query: { ...range, interval } }), { keeps: true })
  const grouped = (by: 'agent' | 'disposition') =>
    callcenterReport(api, { query: { ...range, interval: 'month', group_by: [by] } })
  const people = useLoad(`people ${key}`, () => grouped('agent'), { keeps: true })
  const outcomes = useLoad(`outcomes ${key}`, () => grouped('disposition'), { keeps: true })
  const totals = over.value?.totals
  const rows = over.value?.rows ?? []
  const lengths = over.value?.waits ?? []
  const nameOf = (start: string): string => (interval === 'hour' ? clockTime(start) : date(start))
  const steps = rows.length === 0 ? [] : stepsOf(from, to, rows, session.account.timezone)
  // Where nobody was answered or gave up there is no service level, which is not one of 0 %.
  const levels = rows.filter(({ service_level_percent }) => service_level_percent !== null)
  const target = targetOf(queue === '' ? Object.values(names.targets) : [names.targets[queue]])
  return (
    <div class="page">
      <PageHead title="Call report">
        <ExportButton
          path={callcenterReport.at()}
          query={{ ...range, interval, group_by: 'queue,agent' }}
          name="Call report"
        />
      </PageHead>
      <div class="filters">
        <Field label="From day" type="date" value={from} onInput={(day) => set({ from: day })} />
        <Field label="To day" type="date" value={to} onInput={(day) => set({ to: day })} />
        <Choice
          label="Queue"
          value={queue}
          among={Object.keys(names.queues)}
          names={names.queues}
          onChange={(one) => set({ queue: one })}
        />
      </div>
      {over.error && <Problem error={over.error} retry={over.reload} />}
      <FiguresRow
        figures={[
          [t('Calls'), totals ? count(totals.offered ?? 0) : null],
          [t('Answered'), totals ? count(totals.answered ?? 0) : null, totals && gaveUp(totals.abandoned ?? 0)],
          [t('Within target'), totals ? share(totals.service_level_percent) : null],
          [t('Average wait'), totals ? clockOf(totals.asa_seconds ?? 0) : null, totals && waits(totals)],
          [t('Average call'), totals ? clockOf(totals.aht_seconds ?? 0) : null],
          [t('Solved at once'), totals ? share(totals.first_call_resolution_percent) : null],
        ]}
      />
      {over.value && rows.length === 0 && (
        <Nothing title="No calls" icon="chart">
          <p class="soft">{t('No calls in this period.')}</p>
        </Nothing>
      )}
      {rows.length > 0 && (
        <div class="two">
          <Card title="Calls over time">
            <Columns
              label={t('Calls over time')}
              labels={steps.map(({ start }) => nameOf(start))}
              series={[
                {
                  name: t('Answered'),
                  total: count(totals?.answered ?? 0),
                  values: steps.map(({ row }) => row?.answered ?? 0),
                },
                {
                  name: t('Abandoned'),
                  total: count(totals?.abandoned ?? 0),
                  values: steps.map(({ row }) => row?.abandoned ?? 0),
                },
              ]}
            />
          </Card>
          <Card title="Service level, percent">
            <Columns
              label={t('Service level, percent')}
              labels={levels.map(({ interval_start }) => nameOf(interval_start))}
              series={[
                {
                  name: t('Within target'),
                  total: share(totals?.service_level_percent),
                  values: levels.map(({ service_level_percent }) => service_level_percent ?? 0),
                },
              ]}
              {...(target === null ? {} : { target: { value: target, name: share(target) } })}
            />
            {target !== null && <Below target={target} rows={levels} nameOf={nameOf} />}
          </Card>
        </div>
      )}
      {rows.length > 0 && (
        <div class="two">
          <Card title="People">
            <Figures
              names={['Name', 'Answered', 'Average call', 'Passed on', 'Talk']}
              rows={together(people.value?.rows ?? [], 'agent_id').map((sum) => ({
                key: sum.name,
                name: <span dir="auto">{sum.name === '' ? t('No agent') : (names.agents[sum.name] ?? sum.name)}</span>,
                figures: [
                  count(sum.answered),
                  clockOf(sum.handledSeconds / Math.max(1, sum.answered)),
                  count(sum.transferred),
                  clockOf(sum.talkSeconds),
                ],
              }))}
            />
          </Card>
          <div class="stack">
            <Card title="Waits by length">
              <Columns
                label={t('Waits by length')}
                labels={lengths.map(({ under_seconds }, i) =>
                  lengthName(lengths[i - 1]?.under_seconds ?? 0, under_seconds),
                )}
                series={[
                  {
                    name: t('Calls in queues'),
                    total: count(lengths.reduce((sum, { calls }) => sum + calls, 0)),
                    values: lengths.map(({ calls }) => calls),
                  },
                ]}
              />
            </Card>
            <Card title="Outcomes">
              <Figures
                names={['Outcome', 'Calls']}
                rows={together(outcomes.value?.rows ?? [], 'disposition').map(({ name, calls }) => ({
                  key: name,
                  name: <span dir="auto">{name === '' ? t('Not noted') : words(name)}</span>,
                  figures: [count(calls)],
                }))}
              />
            </Card>
          </div>
        </div>
      )}
      <ReportsByMail />
    </div>
  )
}

/** Service level that queues promise; null where they promise different ones. */
function targetOf(targets: readonly (number | undefined)[]): number | null {
  const [first] = targets
  return first !== undefined && targets.every((one) => one === first) ? first : null
}

/** Times named below the chart, the worst first. */
const maxBelow = 5

/** When the service level was below what was promised, and how many gave up then. */
function Below({
  target,
  rows,
  nameOf,
}: {
  target: number
  rows: readonly ReportRow[]
  nameOf(start: string): string
}) {
  const levelOf = (row: ReportRow): number => row.service_level_percent ?? target
  const below = rows.filter((row) => levelOf(row) < target).sort((a, b) => levelOf(a) - levelOf(b))
  if (below.length === 0) return null
  const told = below
    .slice(0, maxBelow)
    .map((row) => `${nameOf(row.interval_start)} ${share(levelOf(row))} (${gaveUp(row.abandoned ?? 0)})`)
  return (
    <p class="soft small">
      {t('Below the service level of {percent} %', { percent: target })}: {told.join(', ')}
      {below.length > maxBelow && `, ${t('{count} more', { count: below.length - maxBelow })}`}
    </p>
  )
}

/** Name of the waits between two lengths in seconds; null has no end. */
function lengthName(from: number, under: number | null): string {
  if (under === null) return t('over {seconds} s', { seconds: from })
  return from === 0 ? t('under {seconds} s', { seconds: under }) : t('{from} to {seconds} s', { from, seconds: under })
}

type ReportRow = Awaited<ReturnType<typeof callcenterReport>>['rows'][number]

interface Step {
  readonly start: string
  readonly row: ReportRow | undefined
}

/** Every day of a time, or every hour of a day, also those without calls, which a report has no row for. */
function stepsOf(from: string, to: string, rows: readonly ReportRow[], timeZone: string): Step[] {
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...(from === to ? { hour: '2-digit' } : {}),
  })
  const named = new Map(rows.map((row) => [parts.format(new Date(row.interval_start)), row]))
  const count = from === to ? 24 : Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1
  const stepMs = from === to ? dayMs / 24 : dayMs
  return Array.from({ length: Math.max(0, count) }, (_, i) => {
    const start = momentAt(new Date(Date.parse(from) + i * stepMs).toISOString().slice(0, 16))
    return { start, row: named.get(parts.format(new Date(start))) }
  })
}

interface Sum {
  readonly name: string
  calls: number
  answered: number
  transferred: number
  handledSeconds: number
  talkSeconds: number
}

/** Sums by group: a time may span several months, each a row of its own. */
function together(rows: readonly ReportRow[], by: 'agent_id' | 'disposition'): Sum[] {
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    const name = row[by] ?? ''
    const sum = sums.get(name) ?? { name, calls: 0, answered: 0, transferred: 0, handledSeconds: 0, talkSeconds: 0 }
    sum.calls += row.offered ?? 0
    sum.answered += row.answered ?? 0
    sum.transferred += row.transferred ?? 0
    sum.handledSeconds += (row.aht_seconds ?? 0) * (row.answered ?? 0)
    sum.talkSeconds += row.talk_seconds ?? 0
    sums.set(name, sum)
  }
  return [...sums.values()].sort((a, b) => b.calls - a.calls)
}

const waits = ({ wait_p90, max_wait_seconds }: Partial<ReportRow>): string =>
  t('nine of ten {time}, longest {longest}', {
    time: clockOf(wait_p90 ?? 0),
    longest: clockOf(max_wait_seconds ?? 0),
  })
const gaveUp = (number: number): string => t('{count} abandoned', { count: count(number) })
