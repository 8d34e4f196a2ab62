// SPDX-License-Identifier: Apache-2.0
// Share of the texts that arrived, by network: bars that begin where trouble does, with the figure beside each.
import type { SmsAnalytics } from '#sdk/schemas.ts'
import { Meter } from '../../kit/chart.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card } from '../../kit/kit.tsx'
import { country, percent } from '../../kit/words.ts'
import { t } from '../../words.ts'

/** Where the bars begin: what is below would be trouble at once. */
const leastRate = 0.8

export function Networks({ texts: { networks } }: { texts: SmsAnalytics }) {
  const rows = networks.filter(({ delivery_rate }) => delivery_rate !== null).slice(0, 6)
  return (
    <Card
      title={t('Delivered by network')}
      action={<span class="soft">{t('{from} to {to}', { from: percent(leastRate), to: percent(1) })}</span>}
    >
      {rows.length === 0 && <p class="soft">{t('Nothing yet')}</p>}
      <ul class="rates">
        {rows.map(({ network, country: code, delivery_rate }) => {
          const rate = delivery_rate ?? 0
          return (
            <li key={`${code} ${network}`}>
              <span class="two-lines">
                <span dir="auto">{network ?? t('Other networks')}</span>
                {code && <small>{country(code)}</small>}
              </span>
              <Meter share={rate} from={leastRate} tone={rate < leastRate ? 'bad' : rate < 0.9 ? 'warn' : 'h1'} />
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
