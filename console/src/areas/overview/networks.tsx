// SPDX-License-Identifier: Apache-2.0
// Share of the texts that arrived, by network: a bar that begins where trouble does, the days before it as a line, and the figure.
import type { SmsAnalytics } from '#sdk/schemas.ts'
import { Meter, Spark } from '../../kit/chart.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card } from '../../kit/kit.tsx'
import { country, percent } from '../../kit/words.ts'
import { t } from '../../words.ts'

/** Where the bars begin: what is below would be trouble at once. */
const leastRate = 0.8
const goodRate = 0.9

/** Rates day by day on the scale of the bars, from 0 to 1; a day without texts is as the one before it. */
function lineOf(days: readonly (number | null)[]): number[] {
  let last = days.find((rate) => rate !== null) ?? 0
  return days.map((rate) => {
    last = rate ?? last
    return Math.max(0, (last - leastRate) / (1 - leastRate))
  })
}

export function Networks({ texts: { networks } }: { texts: SmsAnalytics }) {
  const rows = networks.filter(({ delivery_rate }) => delivery_rate !== null).slice(0, 6)
  return (
    <Card
      title={t('Delivered by network')}
      action={<span class="soft">{t('{from} to {to}', { from: percent(leastRate), to: percent(1) })}</span>}
    >
      {rows.length === 0 && <p class="soft">{t('Nothing yet')}</p>}
      <ul class="rates">
        {rows.map(({ network, country: code, delivery_rate, daily_delivery_rates: days }) => {
          const rate = delivery_rate ?? 0
          const tone = rate < leastRate ? 'bad' : rate < goodRate ? 'warn' : 'h1'
          return (
            <li key={`${code} ${network}`}>
              <span class="two-lines">
                <span dir="auto">{network ?? t('Other networks')}</span>
                {code && <small>{country(code)}</small>}
              </span>
              <span class="rate">
                {days.length > 1 && <Spark values={lineOf(days)} tone={tone} />}
                <Meter share={rate} from={leastRate} tone={tone} />
              </span>
              <span class={rate < leastRate ? 'number bad' : 'number'}>
                {rate < leastRate && <Icon name="warn" />} {percent(rate)}
              </span>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
