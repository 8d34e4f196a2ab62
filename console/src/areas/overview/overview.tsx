// SPDX-License-Identifier: Apache-2.0
// Overview: is all well, what needs you, how much went through. Each figure leads to its rows. Whoever has sent nothing yet sees
// five steps instead, which tick themselves off.
import { useState } from 'preact/hooks'
import { accountTraffic, smsAnalytics, smsList, walletBalance, webhooksList } from '#sdk/operations.ts'
import type { AccountTraffic, SmsAnalytics } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Areas, Columns, Meter } from '../../kit/chart.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, FiguresRow, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime, count, country, date, money, nowMs, percent, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { entries } from '../../router.tsx'
import { clockAhead, counts } from '../../waiting.ts'
import { t } from '../../words.ts'
import { FirstRun, isFirstRunOver } from './first-run.tsx'

type Range = 'day' | 'week' | 'month'
const rangeNames: readonly [Range, string][] = [
  ['day', '24 hours'],
  ['week', '7 days'],
  ['month', '30 days'],
]

const figuresMs = 5_000

export function Overview({ session }: PageProps) {
  const mayText = may('sms:read')
  const first = useLoad('first', async () => (mayText ? (await smsList(api, { query: { limit: 1 } })).data.length : 1))
  const [isClosed, setIsClosed] = useState(isFirstRunOver)
  if (first.value === null && !first.error) return <Beginning />
  const isNew = first.value === 0 && currentEnvironment() === 'test' && may('sms:write')
  if (isNew && !isClosed) return <FirstRun name={session.account.name} onClose={() => setIsClosed(true)} />
  return <Figures />
}

/** The page says where it is while it loads. */
function Beginning() {
  return (
    <div class="page">
      <PageHead title="Overview" />
      <Waiting lines={8} />
    </div>
  )
}

function Figures() {
  const [range, setRange] = useState<Range>('day')
  const mayRead = may('account:read')
  const traffic = useLoad(range, async () => (mayRead ? accountTraffic(api, { query: { range } }) : null), {
    keeps: true,
  })
  const texts = useLoad('texts', async () => (may('sms:read') ? smsAnalytics(api) : null))
  const wallet = useLoad('wallet', async () => (may('wallet:read') ? walletBalance(api) : null))
  useLive(
    '',
    async () => {
      await traffic.reload()
      await wallet.reload()
    },
    { everyMs: figuresMs },
  )
  const ahead = clockAhead.use()
  const now = new Date(nowMs()).toISOString()
  const { value } = traffic
  return (
    <div class="page">
      <PageHead title="Overview" note={ahead === 0 ? date(now) : t('{date}, by the test clock', { date: date(now) })}>
        <div class="segments">
          {rangeNames.map(([one, name]) => (
            <button key={one} type="button" aria-pressed={range === one} onClick={() => setRange(one)}>
              {t(name)}
            </button>
          ))}
        </div>
      </PageHead>
      {traffic.error && <Problem error={traffic.error} retry={traffic.reload} />}
      <FiguresRow
        figures={[
          [t('Messages'), value && count(sumOf(value.channels)), value && changeOf(value.channels), '/messages'],
          [t('Delivered'), texts.value && rateOf(texts.value), t('texts, 30 days'), '/messages?status=delivered'],
          [
            withCurrency(t('Money in'), value?.currency),
            value && count(moneyOf(value, 'in')),
            value && changeOf(only(value.money, 'in')),
            '/payments',
          ],
          [
            withCurrency(t('To spend'), wallet.value?.currency),
            // Cents are cut, so that no more is promised than there is.
            wallet.value && count(Math.floor(wallet.value.available * 100) / 100),
            null,
            '/wallet',
          ],
        ]}
      />
      <div class="cols side">
        <Card title={t('Traffic')}>
          {value ? <TrafficChart traffic={value} range={range} /> : <Waiting lines={6} />}
        </Card>
        <NeedsYou />
      </div>
      <div class="cols half">
        {value && <MoneyChart traffic={value} range={range} />}
        {texts.value && <Networks texts={texts.value} />}
      </div>
      {may('webhooks:read') && <Endpoints />}
    </div>
  )
}

const sumOf = (all: AccountTraffic['channels']): number => all.reduce((sum, { total }) => sum + total, 0)
const rateOf = ({ delivery_rate }: SmsAnalytics): string => (delivery_rate === null ? '–' : percent(delivery_rate))

const only = (all: AccountTraffic['money'], name: string) => all.filter((one) => one.name === name)
const moneyOf = ({ money: all }: AccountTraffic, name: string): number => sumOf(only(all, name))

/** `▲ 12% more`, held against as much time before; nothing where there was nothing to compare with. */
function changeOf(all: AccountTraffic['channels']): string | null {
  const before = all.reduce((sum, one) => sum + one.before, 0)
  if (before === 0) return null
  const change = sumOf(all) / before - 1
  if (Math.abs(change) < 0.005) return t('As much as before')
  return change > 0
    ? t('▲ {share} more', { share: percent(change, 0) })
    : t('▼ {share} less', { share: percent(-change, 0) })
}

const withCurrency = (name: string, currency: string | undefined): string => [name, currency].filter(Boolean).join(', ')

/** Time of each slot: the hour in a day, otherwise the day. */
function labelsOf({ start, slot_seconds, channels, money: all }: AccountTraffic, range: Range): string[] {
  const slots = (channels[0] ?? all[0])?.values.length ?? 0
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
}

function TrafficChart({ traffic, range }: { traffic: AccountTraffic; range: Range }) {
  const total = sumOf(traffic.channels)
  return (
    <Areas
      label={t('{count} messages by channel over time', { count: count(total) })}
      labels={labelsOf(traffic, range)}
      series={traffic.channels.map((one) => ({
        name: t(channelNames[one.name] ?? words(one.name)),
        total: count(one.total),
        values: one.values,
      }))}
    />
  )
}

function MoneyChart({ traffic, range }: { traffic: AccountTraffic; range: Range }) {
  if (traffic.money.length === 0) return null
  return (
    <Card title={t('Money')} action={<span class="soft">{traffic.currency}</span>}>
      <Columns
        label={t('Money in and out over time')}
        labels={labelsOf(traffic, range)}
        series={traffic.money.map((one) => ({
          name: one.name === 'in' ? t('In') : t('Out'),
          total: money(one.total, traffic.currency),
          values: one.values,
        }))}
      />
    </Card>
  )
}

/** Where the bars begin: what is below would be trouble at once. */
const leastRate = 0.8

function Networks({ texts: { networks } }: { texts: SmsAnalytics }) {
  const rows = networks.filter(({ delivery_rate }) => delivery_rate !== null).slice(0, 6)
  return (
    <Card title={t('Delivered by network')} action={<span class="soft">{t('80 to 100 %')}</span>}>
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

const maxNeeds = 5

/** What waits for a person, worst first, each with the place where it is done. */
export function NeedsYou({ isOperating = false }: { isOperating?: boolean }) {
  const now = counts.use()
  const waiting = entries
    .filter(({ to, scope }) => to.startsWith('/operator') === isOperating && (!scope || isOperating || may(scope)))
    .flatMap(({ to, name, icon, badge }) => (badge && (now[badge.count] ?? 0) > 0 ? [{ to, name, icon, badge }] : []))
    .sort((a, b) => Number(b.badge.tone === 'bad') - Number(a.badge.tone === 'bad'))
  return (
    <Card
      title={t('Needs attention')}
      action={<span class={waiting.length > 0 ? 'count warn' : 'count'}>{waiting.length}</span>}
    >
      {waiting.length === 0 && (
        <p class="soft">
          <Icon name="good" /> {t('Nothing needs attention')}
        </p>
      )}
      <ul class="story">
        {waiting.slice(0, maxNeeds).map(({ to, name, icon, badge }) => (
          <li key={to}>
            <Icon name={icon} class={badge.tone ?? 'warn'} />
            <span class="two-lines">
              <Link to={to}>{t(name)}</Link>
              <small>{t(badge.words, { count: now[badge.count] ?? 0 })}</small>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Health of the account's own endpoints. */
function Endpoints() {
  const endpoints = useLoad('endpoints', () => webhooksList(api, { query: { limit: 6 } }))
  if (!endpoints.value || endpoints.value.data.length === 0) return null
  return (
    <Card title={t('Webhooks')} action={<Link to="/webhooks">{t('All of them')}</Link>}>
      <ul class="story">
        {endpoints.value.data.map(({ id, url, enabled, health }) => (
          <li key={id}>
            <Link to={`/webhooks/${id}`} class="mono cut">
              {url}
            </Link>
            <span class="push soft">{t('{count} waiting', { count: count(health.pending) })}</span>
            <Pill state={enabled ? health.state : 'disabled'} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
