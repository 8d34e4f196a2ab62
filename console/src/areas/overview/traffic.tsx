// SPDX-License-Identifier: Apache-2.0
// Traffic by channel over a day, a week or a month: that of the account, and of all accounts for operators.
import { Areas } from '../../kit/chart.tsx'
import { clockTime, count, date, percent, words } from '../../kit/words.ts'
import { t } from '../../words.ts'

export type Range = 'day' | 'week' | 'month'
const rangeNames: readonly [Range, string][] = [
  ['day', '24 hours'],
  ['week', '7 days'],
  ['month', '30 days'],
]

export function Ranges({ range, onChoose }: { range: Range; onChoose(range: Range): void }) {
  return (
    <div class="segments">
      {rangeNames.map(([one, name]) => (
        <button key={one} type="button" aria-pressed={range === one} onClick={() => onChoose(one)}>
          {t(name)}
        </button>
      ))}
    </div>
  )
}

interface Sums {
  readonly total: number
  readonly before: number
}

interface Channel extends Sums {
  readonly name: string
  readonly values: readonly number[]
}

export const totalOf = (all: readonly Sums[]): number => all.reduce((sum, { total }) => sum + total, 0)

/** `▲ 12% more`, held against as much time before; nothing where there was nothing to compare with. */
export function changeOf(all: readonly Sums[]): string | null {
  const before = all.reduce((sum, one) => sum + one.before, 0)
  if (before === 0) return null
  const change = totalOf(all) / before - 1
  if (Math.abs(change) < 0.005) return t('Unchanged')
  return change > 0
    ? t('▲ {share} more', { share: percent(change, 0) })
    : t('▼ {share} less', { share: percent(-change, 0) })
}

/** Time of each slot: the hour in a day, otherwise the day. */
export function labelsOf(
  { start, slot_seconds }: { start: string; slot_seconds: number },
  slots: number,
  range: Range,
): string[] {
  return Array.from({ length: slots }, (_, i) => {
    const at = new Date(Date.parse(start) + i * slot_seconds * 1_000).toISOString()
    return range === 'day' ? clockTime(at) : date(at)
  })
}

const channelNames: Readonly<Record<string, string>> = {
  sms: 'SMS',
  chat: 'Chat',
  email: 'Email',
  ussd: 'USSD',
  calls: 'Calls',
  payments: 'Payments',
  payouts: 'Payouts',
}

export function TrafficAreas({ channels, labels }: { channels: readonly Channel[]; labels: readonly string[] }) {
  return (
    <Areas
      label={t('{count} messages by channel over time', { count: count(totalOf(channels)) })}
      labels={labels}
      series={channels.map((one) => ({
        name: t(channelNames[one.name] ?? words(one.name)),
        total: count(one.total),
        values: one.values,
      }))}
    />
  )
}
