// SPDX-License-Identifier: Apache-2.0
// A chart of days: bars, of which a part may be bad. The table below it has the numbers, so that it is never the only way.
import { t } from '../words.ts'
import { count } from './words.ts'

interface Day {
  day: string
  value: number
  bad: number
}

const width = 600
const height = 120
const gap = 2

export function DayChart({ label, days }: { label: string; days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ value }) => value))
  const step = width / Math.max(1, days.length)
  const high = (value: number): number => (value / most) * height
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map(({ day, value, bad }, i) => (
          <g key={day}>
            <title>{`${day}: ${count(value)}`}</title>
            <rect
              class="bar"
              x={i * step}
              width={Math.max(1, step - gap)}
              y={height - high(value)}
              height={high(value)}
            />
            <rect
              class="bar-bad"
              x={i * step}
              width={Math.max(1, step - gap)}
              y={height - high(bad)}
              height={high(bad)}
            />
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{days[0]?.day}</span>
        <span>{t('at most {count} a day', { count: count(most) })}</span>
        <span>{days.at(-1)?.day}</span>
      </figcaption>
    </figure>
  )
}
