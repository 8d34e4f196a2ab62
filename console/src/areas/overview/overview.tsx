// SPDX-License-Identifier: Apache-2.0
// Overview: a first text for who has sent none, then the wallet, requests day by day, what it cost, and the latest.
import { smsList, usageGet, walletBalance } from '#sdk/operations.ts'
import type { Usage } from '#sdk/schemas.ts'
import { api, may, type Session } from '../../api.ts'
import { DayChart } from '../../kit/chart.tsx'
import { Card, PageHead, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { RequestList } from '../accounts/requests.tsx'
import { MessageList } from '../sms/messages.tsx'

const dayMs = 86_400_000
const shownDays = 30

export function Overview({ session }: { session: Session }) {
  const hasWallet = may('wallet:read')
  const hasUsage = may('account:read')
  const wallet = useLoad('wallet', async () => (hasWallet ? walletBalance(api) : null))
  const usage = useLoad('usage', async () =>
    hasUsage ? usageGet(api, { query: { group_by: ['day', 'area'] } }) : null,
  )
  const latest = useLoad('latest', async () => (may('sms:read') ? smsList(api, { query: { limit: 1 } }) : null))
  useLive('', () => {
    wallet.reload()
    latest.reload()
  })
  return (
    <div class="page">
      <PageHead title={t('Overview')} note={session.account.name}>
        {may('payments:write') && (
          <Link to="/ask" class="btn">
            {t('Ask for a payment')}
          </Link>
        )}
        {may('sms:write') && (
          <Link to="/send" class="btn primary">
            {t('Send a text')}
          </Link>
        )}
      </PageHead>
      {latest.value?.data.length === 0 && may('sms:write') && (
        <div class="callout note">
          <p class="strong">{t('Send your first text')}</p>
          <p>{t('It costs play money and arrives on the phone beside this page.')}</p>
        </div>
      )}
      {!hasWallet && !hasUsage && <p class="soft">{t('The navigation leads to what there is.')}</p>}
      <div class="figures">
        {hasWallet && (
          <>
            <Figure name={t('To spend')} value={wallet.value && money(wallet.value.available, wallet.value.currency)} />
            <Figure name={t('Set aside')} value={wallet.value && money(wallet.value.held, wallet.value.currency)} />
          </>
        )}
        {hasUsage && (
          <>
            <Figure name={t('Requests, 30 days')} value={usage.value && count(usage.value.requests)} />
            <Figure name={t('Refused, 30 days')} value={usage.value && count(usage.value.errors)} />
          </>
        )}
      </div>
      {wallet.error && <Problem error={wallet.error} retry={wallet.reload} />}
      {usage.error && <Problem error={usage.error} retry={usage.reload} />}
      {usage.value && <Charts usage={usage.value} />}
      {may('sms:read') && (
        <Card title={t('Latest messages')} action={<Link to="/messages">{t('All messages')}</Link>}>
          <MessageList limit={5} />
        </Card>
      )}
      {may('logs:read') && (
        <Card title={t('Latest requests')} action={<Link to="/requests">{t('All requests')}</Link>}>
          <RequestList limit={5} />
        </Card>
      )}
    </div>
  )
}

function Charts({ usage: { rows, spend } }: { usage: Usage }) {
  const days = Array.from({ length: shownDays }, (_, i) => {
    const day = new Date(Date.now() - (shownDays - 1 - i) * dayMs).toISOString().slice(0, 10)
    const own = rows.filter((row) => row.day === day)
    return { day, value: sum(own.map(({ requests }) => requests)), bad: sum(own.map(({ errors }) => errors)) }
  })
  const costs = new Map<string, { currency: string; cost: number }>()
  for (const { area, currency, cost } of spend) {
    const name = `${area} ${currency}`
    costs.set(name, { currency, cost: (costs.get(name)?.cost ?? 0) + cost })
  }
  return (
    <div class="two">
      <Card title={t('Requests, day by day')}>
        <DayChart label={t('Requests, day by day')} days={days} />
      </Card>
      <Card title={t('Spent, 30 days')}>
        <dl class="facts">
          {[...costs].map(([name, { currency, cost }]) => (
            <div key={name}>
              <dt>{words(name.split(' ')[0] ?? '')}</dt>
              <dd>{money(cost, currency)}</dd>
            </div>
          ))}
        </dl>
        {costs.size === 0 && <p class="soft">{t('Nothing yet')}</p>}
      </Card>
    </div>
  )
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

function Figure({ name, value }: { name: string; value: string | null }) {
  return (
    <div class="figure">
      <p class="soft">{name}</p>
      <p class="big">{value ?? '…'}</p>
    </div>
  )
}
