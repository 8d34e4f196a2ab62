// SPDX-License-Identifier: Apache-2.0
// Figures of texts: how many arrived, how fast, what they cost, by country and by reason of failure.
import { smsAnalytics, smsBalance } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Columns } from '../../kit/chart.tsx'
import { Card, Figures, FiguresRow, PageHead, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, country, money, percent } from '../../kit/words.ts'
import { t } from '../../words.ts'

const nameOf = (code: string | null): string => (code ? country(code) : '–')

export function SmsFigures() {
  const figures = useLoad('sms figures', () => smsAnalytics(api))
  const balance = useLoad('sms balance', () => smsBalance(api))
  const { value } = figures
  const rate = (share: number | null): string => (share === null ? '–' : percent(share))
  const seconds = value?.latency_seconds.p95 ?? null
  return (
    <div class="page">
      <PageHead title="SMS statistics" note="the last 30 days" />
      {figures.error && <Problem error={figures.error} retry={figures.reload} />}
      <FiguresRow
        figures={[
          [t('Texts'), value && count(value.messages)],
          [t('Delivered'), value && rate(value.delivery_rate)],
          [t('Delivery time (95th percentile)'), value && (seconds === null ? '–' : `${count(seconds)} s`)],
          [t('Spent'), value && money(value.cost, value.currency)],
          [t('SMS balance'), balance.value && money(balance.value.balance, balance.value.currency)],
        ]}
      />
      {value && value.countries.length > 0 && (
        <Card title="By country">
          <Columns
            label={t('By country')}
            labels={value.countries.map(({ country: code }) => nameOf(code))}
            series={[
              {
                name: t('Delivered'),
                total: count(value.delivered),
                values: value.countries.map(({ delivered }) => delivered),
              },
              { name: t('Failed'), total: count(value.failed), values: value.countries.map(({ failed }) => failed) },
            ]}
          />
          <Figures
            names={['Country', 'Texts', 'Delivered', 'Failed', 'Cost']}
            rows={value.countries.map((one) => ({
              key: one.country ?? '–',
              name: nameOf(one.country),
              figures: [
                count(one.messages),
                rate(one.delivery_rate),
                count(one.failed),
                money(one.cost, value.currency),
              ],
            }))}
          />
        </Card>
      )}
      {value && value.errors.length > 0 && (
        <Card title="Failure reasons">
          <Figures
            names={['Error', 'Texts']}
            rows={value.errors.map(({ error_code, messages }) => ({
              key: error_code,
              name: <span class="mono">{error_code}</span>,
              figures: [count(messages)],
            }))}
          />
        </Card>
      )}
    </div>
  )
}
