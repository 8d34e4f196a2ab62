// SPDX-License-Identifier: Apache-2.0
// Overview: is all well, what needs you, how much went through. Each figure leads to its rows. Whoever has sent nothing yet sees
// five steps instead, which tick themselves off.
import { useState } from 'preact/hooks'
import {
  accountTraffic,
  callcenterRealtime,
  smsAnalytics,
  smsList,
  usageGet,
  walletBalance,
  webhooksList,
} from '#sdk/operations.ts'
import type { AccountTraffic, SmsAnalytics } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Columns } from '../../kit/chart.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, type Figure, FiguresRow, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, date, isoDay, money, nowMs, percent } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { entries } from '../../router.tsx'
import { clockAhead, counts } from '../../waiting.ts'
import { t } from '../../words.ts'
import { FirstRun, isFirstRun } from './first-run.tsx'
import { Networks } from './networks.tsx'
import { changeOf, labelsOf, type Range, Ranges, TrafficAreas, totalOf } from './traffic.tsx'

const figuresMs = 5_000

export function Overview({ session }: PageProps) {
  const mayText = may('sms:read')
  const first = useLoad('first', async () => (mayText ? (await smsList(api, { query: { limit: 1 } })).data.length : 1))
  const [isClosed, setIsClosed] = useState(false)
  if (first.value === null && !first.error) return <Beginning />
  const { account } = session
  const isNew = currentEnvironment() === 'test' && may('sms:write') && isFirstRun(account.id, first.value !== 0)
  if (isNew && !isClosed) return <FirstRun account={account} onClose={() => setIsClosed(true)} />
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

/** Figures of one row. */
const shownFigures = 4

/** What the role of the member may read decides which figures stand there, the first of them as many as one row has. */
function Figures() {
  const [range, setRange] = useState<Range>('day')
  const traffic = useLoad(range, () => accountTraffic(api, { query: { range } }), { keeps: true })
  const texts = useLoad('texts', async () => (may('sms:read') ? smsAnalytics(api) : null))
  const wallet = useLoad('wallet', async () => (may('wallet:read') ? walletBalance(api) : null))
  const from = isoDay(nowMs() - (spentDays - 1) * dayMs)
  const spent = useLoad('spent', async () =>
    may('wallet:read') && may('account:read')
      ? usageGet(api, { query: { start_date: from, group_by: ['area'] } })
      : null,
  )
  const mayWatch = may('callcenter:read') && !may('sms:read')
  const queues = useLoad('queues', async () => (mayWatch ? callcenterRealtime(api) : null))
  useLive(
    '',
    async () => {
      await traffic.reload()
      await wallet.reload()
      if (mayWatch) await queues.reload()
    },
    { everyMs: figuresMs },
  )
  const ahead = clockAhead.use()
  const { payouts_to_approve: toApprove } = counts.use()
  const now = new Date(nowMs()).toISOString()
  const { value } = traffic
  const calls = queues.value?.totals
  const failed = [traffic, texts, wallet, queues].find(({ error }) => error !== null)
  const currency = wallet.value?.currency
  const own = (spent.value?.spend ?? []).filter((one) => one.currency === currency)
  const cost = own.reduce((sum, one) => sum + one.cost, 0)
  const moneyFigure = (title: string, name: 'in' | 'out', to: string): Figure => [
    withCurrency(title, value?.currency),
    value && count(moneyOf(value, name)),
    value && changeOf(only(value.money, name)),
    to,
  ]
  const ofRole: readonly (readonly [isOwn: boolean, figure: Figure])[] = [
    [
      may('sms:read'),
      [t('Messages'), value && count(totalOf(value.channels)), value && changeOf(value.channels), '/messages'],
    ],
    [
      may('sms:read'),
      [t('Delivered'), texts.value && rateOf(texts.value), t('texts, 30 days'), '/messages?status=delivered'],
    ],
    [may('payments:read'), moneyFigure(t('Money in'), 'in', '/payments')],
    [
      may('wallet:read'),
      [
        withCurrency(t('Available'), currency),
        // Cents are cut, so that no more is promised than there is.
        wallet.value && count(Math.floor(wallet.value.available * 100) / 100),
        currency &&
          cost > 0 &&
          t('{amount} spent in {count} days', { amount: money(cost, currency), count: spentDays }),
        '/wallet',
      ],
    ],
    [may('payouts:read'), moneyFigure(t('Money out'), 'out', '/payouts')],
    [
      may('payouts:approve'),
      [t('Payouts to approve'), toApprove === undefined ? null : count(toApprove), null, '/payouts?in_review=true'],
    ],
    [mayWatch, [t('Callers waiting'), calls ? count(calls.waiting) : null, null, '/wallboard']],
    [
      mayWatch,
      [
        t('Agents available'),
        calls ? t('{count} of {limit}', { count: calls.agents_available, limit: calls.agents_logged_in }) : null,
        null,
        '/wallboard',
      ],
    ],
    [mayWatch, [t('Calls'), value && count(totalOf(value.channels)), value && changeOf(value.channels), '/calls']],
  ]
  const hasChannels = !value || value.channels.length > 0
  return (
    <div class="page">
      <PageHead title="Overview" note={ahead === 0 ? date(now) : t('{date}, by the test clock', { date: date(now) })}>
        <Ranges range={range} onChoose={setRange} />
      </PageHead>
      {failed?.error && <Problem error={failed.error} retry={failed.reload} />}
      <FiguresRow
        figures={ofRole.flatMap(([isOwn, figure]) => (isOwn ? [figure] : [])).slice(0, shownFigures)}
        error={failed?.error ?? null}
      />
      <div class="cols side">
        {hasChannels ? (
          <Card title={t('Traffic')}>
            {value ? (
              <TrafficAreas channels={value.channels} labels={labelsOf(value, slotsOf(value), range)} />
            ) : (
              <Waiting lines={6} />
            )}
          </Card>
        ) : (
          <MoneyChart traffic={value} range={range} />
        )}
        <NeedsYou />
      </div>
      <div class="cols half">
        {value && hasChannels && <MoneyChart traffic={value} range={range} />}
        {texts.value && <Networks texts={texts.value} />}
      </div>
      {may('webhooks:read') && <Endpoints />}
    </div>
  )
}

const dayMs = 86_400_000
const spentDays = 30

const rateOf = ({ delivery_rate }: SmsAnalytics): string => (delivery_rate === null ? '–' : percent(delivery_rate))

const slotsOf = ({ channels, money: all }: AccountTraffic): number => (channels[0] ?? all[0])?.values.length ?? 0

const only = (all: AccountTraffic['money'], name: string) => all.filter((one) => one.name === name)
const moneyOf = ({ money: all }: AccountTraffic, name: string): number => totalOf(only(all, name))

const withCurrency = (name: string, currency: string | undefined): string => [name, currency].filter(Boolean).join(', ')

function MoneyChart({ traffic, range }: { traffic: AccountTraffic; range: Range }) {
  if (traffic.money.length === 0) return null
  return (
    <Card title={t('Money')} action={<span class="soft">{traffic.currency}</span>}>
      <Columns
        label={t('Money in and out over time')}
        labels={labelsOf(traffic, slotsOf(traffic), range)}
        series={traffic.money.map((one) => ({
          name: one.name === 'in' ? t('In') : t('Out'),
          total: money(one.total, traffic.currency),
          values: one.values,
        }))}
      />
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
              <Link to={`${to}${badge.rows ?? ''}`}>{t(name)}</Link>
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
    <Card title={t('Webhooks')} action={<Link to="/webhooks">{t('Show all')}</Link>}>
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
