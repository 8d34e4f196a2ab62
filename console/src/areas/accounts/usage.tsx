// SPDX-License-Identifier: Apache-2.0
// Usage and limits: what was asked and spent, and how much of each limit is left.
import { usageGet } from '#sdk/operations.ts'
import type { Usage } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Columns } from '../../kit/chart.tsx'
import { Card, Facts, Figures, FiguresRow, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, date, money, percent, words } from '../../kit/words.ts'
import { t } from '../../words.ts'

const dayMs = 86_400_000

/** Areas whose name in the API is no word that people use. */
function areaName(area: string | null): string {
  if (area === 'apiKeys') return t('Keys')
  if (area === 'auditLog') return t('Audit log')
  if (area === 'callcenter') return t('Call centre')
  if (area === 'none') return t('No such route')
  return words(area ?? '')
}

/** Name of a limit: that of all requests, or of an area. */
const limitName = (policy: string): string =>
  policy === 'key' ? t('All requests') : areaName(policy.replace(/^plan-/, ''))

export function UsagePage() {
  const { value, error, reload } = useLoad('usage', () => usageGet(api, { query: { group_by: ['area'] } }))
  const days = useLoad('usage by day', () => usageGet(api, { query: { group_by: ['day'] } }))
  if (error && !value) return <Problem error={error} retry={reload} />
  return (
    <div class="page">
      <PageHead title={t('Usage and limits')} note={t('the last 30 days')} />
      <FiguresRow
        figures={[
          [t('Requests'), value && count(value.requests)],
          [t('Refused'), value && count(value.errors), value && share(value)],
          ...spentOf(value).map(([currency, cost]) => [t('Cost'), money(cost, currency)] as const),
        ]}
      />
      {days.value && <OverTime usage={days.value} />}
      {!value && <Waiting />}
      {value && <Details usage={value} />}
    </div>
  )
}

const share = ({ requests, errors }: Usage): string | null =>
  requests === 0 ? null : t('{share} of all', { share: percent(errors / requests) })

/** What was spent, in each currency. */
function spentOf(usage: Usage | null): [currency: string, cost: number][] {
  const sums = new Map<string, number>()
  for (const { currency, cost } of usage?.spend ?? []) sums.set(currency, (sums.get(currency) ?? 0) + cost)
  return [...sums]
}

function OverTime({ usage: { rows, start_date, end_date, requests, errors } }: { usage: Usage }) {
  const days = Math.round((Date.parse(end_date) - Date.parse(start_date)) / dayMs) + 1
  const names = Array.from({ length: days }, (_, i) =>
    new Date(Date.parse(start_date) + i * dayMs).toISOString().slice(0, 10),
  )
  const onDay = (name: string) => rows.find(({ day }) => day === name)
  return (
    <Card title={t('Requests a day')}>
      <Columns
        label={t('{count} requests over time', { count: count(requests) })}
        labels={names.map(date)}
        series={[
          { name: t('Requests'), total: count(requests), values: names.map((one) => onDay(one)?.requests ?? 0) },
          { name: t('Refused'), total: count(errors), values: names.map((one) => onDay(one)?.errors ?? 0) },
        ]}
      />
    </Card>
  )
}

function Details({ usage: { rows, spend, limits } }: { usage: Usage }) {
  return (
    <div class="cols half">
      <Card title={t('Requests')}>
        <Figures
          names={['Area', 'Requests', 'Refused']}
          rows={[...rows]
            .sort((a, b) => b.requests - a.requests)
            .map(({ area, requests, errors }) => ({
              key: area ?? '',
              name: areaName(area),
              figures: [count(requests), count(errors)],
            }))}
        />
      </Card>
      <div class="stack">
        <Card title={t('Cost')}>
          {spend.length === 0 && <p class="soft">{t('No costs')}</p>}
          <Facts
            rows={spend.map(({ area, country, currency, cost }) => [
              [areaName(area), country].filter(Boolean).join(', '),
              money(cost, currency),
            ])}
          />
        </Card>
        <Card title={t('Limits')}>
          <ul class="lines">
            {limits.map(({ policy, limit, remaining, window }) => (
              <li key={policy}>
                <span class="strong">{limitName(policy)}</span>
                <span>
                  <meter min={0} max={limit} value={limit - remaining} aria-label={limitName(policy)} />{' '}
                  {t('{left} of {limit} left in {seconds} s', {
                    left: count(remaining),
                    limit: count(limit),
                    seconds: window,
                  })}
                </span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </div>
  )
}
