// SPDX-License-Identifier: Apache-2.0
// Figures of texts: how many there were and when, how many arrived, how fast, what they cost, by country, network and reason of
// failure.
import { useState } from 'preact/hooks'
import { accountTraffic, smsAnalytics, smsBalance } from '#sdk/operations.ts'
import type { SmsAnalytics } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { Columns } from '../../kit/chart.tsx'
import { Card, Figures, FiguresRow, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, country, money, nowMs, percent, words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { Networks } from '../overview/networks.tsx'
import { labelsOf } from '../overview/traffic.tsx'

const nameOf = (code: string | null): string => (code ? country(code) : t('Other'))
const rateOf = (share: number | null): string => (share === null ? '–' : percent(share))

const ranges = [
  ['week', '7 days', 7],
  ['month', '30 days', 30],
] as const
type Range = (typeof ranges)[number][0]

const dayMs = 86_400_000
/** The first of so many days, by the clock of the account. */
const firstOf = (days: number): string => new Date(nowMs() - (days - 1) * dayMs).toISOString().slice(0, 10)

export function SmsFigures() {
  const [range, setRange] = useState<Range>('month')
  const days = ranges.find(([name]) => name === range)?.[2] ?? 30
  const figures = useLoad(range, () => smsAnalytics(api, { query: { from_date: firstOf(days) } }), { keeps: true })
  const balance = useLoad('sms balance', () => smsBalance(api))
  const { value } = figures
  const seconds = value?.latency_seconds.p95 ?? null
  return (
    <div class="page">
      <PageHead title="SMS statistics">
        <div class="segments">
          {ranges.map(([one, name]) => (
            <button key={one} type="button" aria-pressed={range === one} onClick={() => setRange(one)}>
              {t(name)}
            </button>
          ))}
        </div>
      </PageHead>
      {figures.error && <Problem error={figures.error} retry={figures.reload} />}
      <FiguresRow
        error={figures.error}
        figures={[
          [t('Texts'), value && count(value.messages)],
          [t('Delivered'), value && rateOf(value.delivery_rate)],
          [
            t('Delivery time'),
            value && (seconds === null ? '–' : `${count(Math.round(seconds * 10) / 10)} s`),
            t('for {share} of texts', { share: percent(0.95) }),
          ],
          [
            t('Cost'),
            value && money(value.cost, value.currency),
            balance.value && t('{amount} left', { amount: money(balance.value.balance, balance.value.currency) }),
          ],
        ]}
      />
      {may('account:read') && <OverTime range={range} />}
      {!value && !figures.error && <Waiting lines={6} />}
      {value && value.messages > 0 && <Shares figures={value} />}
    </div>
  )
}

/** Texts by day, or by a quarter of one. */
function OverTime({ range }: { range: Range }) {
  const { value } = useLoad(range, () => accountTraffic(api, { query: { range } }), { keeps: true })
  const texts = value?.channels.find(({ name }) => name === 'sms')
  if (!value || !texts) return null
  return (
    <Card title="Texts over time">
      <Columns
        label={t('{count} texts', { count: count(texts.total) })}
        labels={labelsOf(value, texts.values.length, range)}
        series={[{ name: t('Texts'), total: count(texts.total), values: texts.values }]}
      />
    </Card>
  )
}

function Shares({ figures }: { figures: SmsAnalytics }) {
  const { countries, errors, currency } = figures
  const all = countries.reduce((sum, { messages }) => sum + messages, 0)
  return (
    <>
      <div class="cols half">
        <Networks texts={figures} />
        {errors.length > 0 && (
          <Card title="Failure reasons">
            <Figures
              names={['Error', 'Texts']}
              rows={errors.map(({ error_code, messages }) => ({
                key: error_code,
                name: <span title={error_code}>{words(error_code.toLowerCase())}</span>,
                figures: [count(messages)],
              }))}
            />
          </Card>
        )}
      </div>
      <Card title="By country">
        <Figures
          names={['Country', 'Texts', 'Share', 'Delivered', 'Failed', 'Cost']}
          rows={countries.map((one) => ({
            key: one.country ?? '–',
            name: nameOf(one.country),
            figures: [
              count(one.messages),
              percent(all === 0 ? 0 : one.messages / all, 0),
              rateOf(one.delivery_rate),
              count(one.failed),
              money(one.cost, currency),
            ],
          }))}
        />
      </Card>
    </>
  )
}
