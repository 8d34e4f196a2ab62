// SPDX-License-Identifier: Apache-2.0
// Campaign that was started: how far it is and how fast, what became of its messages by variant, and what is answered, beside.
import { useEffect, useRef } from 'preact/hooks'
import { campaignsReplies, campaignsStats } from '#sdk/operations.ts'
import type { Campaign, CampaignStats } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Bar, Meter } from '../../kit/chart.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Ago, Card, Facts, FiguresRow, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, money, percent, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { leftOutRows } from './beside.tsx'

const refreshMs = 2_000
const shareOf = (part: number, whole: number): string => (whole === 0 ? '–' : percent(part / whole))

export function Result({ campaign }: { campaign: Campaign }) {
  const { id, state, budget, currency, spent } = campaign
  const { value, error, reload } = useLoad(id, () => campaignsStats(api, { id }), { keeps: true })
  useLive('campaign. sms. email. messenger.', reload, { everyMs: refreshMs })
  const pace = usePace(value, state === 'running')
  if (error) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting lines={6} />
  const { audience, waiting, sent, delivered, failed, queued, replied, unsubscribed, opened, clicked, cost } = value
  const done = audience - waiting
  const secondsLeft = pace ? Math.ceil(waiting / pace) : null
  return (
    <div class="cols side">
      <div class="stack">
        <Card
          title={t('{done} of {count} done', { done: count(done), count: count(audience) })}
          action={
            pace !== null && (
              <>
                <Pill state="running" tone="good" word={t('{count} a second', { count: count(pace) })} />
                {secondsLeft !== null && (
                  <span class="soft small push">{t('{count} s left', { count: count(secondsLeft) })}</span>
                )}
              </>
            )
          }
        >
          <Bar
            label={t('{done} of {count} done', { done: count(done), count: count(audience) })}
            parts={[
              [t('Delivered'), delivered, 'good'],
              [t('On the way'), queued, 'note'],
              [t('Failed'), failed, 'bad'],
              [t('Excluded'), Math.max(0, done - sent), 'idle'],
              [t('Waiting'), waiting, 'rest'],
            ]}
          />
        </Card>
        <FiguresRow
          figures={[
            [t('Delivered'), shareOf(delivered, sent), t('of {count} sent', { count: count(sent) })],
            [t('Replied'), count(replied), shareOf(replied, delivered)],
            [t('Unsubscribed'), count(unsubscribed), shareOf(unsubscribed, delivered)],
            [
              t('Cost'),
              money(cost, currency),
              budget === null
                ? null
                : t('{spent} of {budget}', { spent: money(spent, currency), budget: money(budget, currency) }),
            ],
          ]}
        />
        <Variants stats={value} />
        <Networks stats={value} />
        <div class="cols half">
          <Card title="Excluded">
            {Object.keys(value.left_out).length === 0 ? (
              <p class="soft">{t('None')}</p>
            ) : (
              <Facts rows={leftOutRows(value.left_out)} />
            )}
          </Card>
          <Card title="Details">
            <Facts
              rows={[
                ...Object.entries(value.by_channel).map(([channel, many]): [string, string] => [
                  words(channel),
                  count(many),
                ]),
                ['Opened', count(opened)],
                ['Clicked', count(clicked)],
                ...Object.entries(value.failures).map(([code, many]): [string, string] => [words(code), count(many)]),
              ]}
            />
          </Card>
        </div>
      </div>
      <Replies id={id} replied={replied} />
    </div>
  )
}

/** Messages a second between the last two readings; null while nothing moves. */
function usePace(stats: CampaignStats | null, isRunning: boolean): number | null {
  const seen = useRef<{ waiting: number; atMs: number; pace: number | null } | null>(null)
  useEffect(() => {
    if (!stats) return
    const { waiting } = stats
    const [before, atMs] = [seen.current, performance.now()]
    if (before?.waiting === waiting) return
    const pace = before ? Math.max(0, before.waiting - waiting) / ((atMs - before.atMs) / 1_000) : null
    seen.current = { waiting, atMs, pace: pace && Math.round(pace) }
  }, [stats])
  return isRunning ? (seen.current?.pace ?? null) : null
}

/** Variants side by side: the share that arrived, and the one that was answered. */
function Variants({ stats }: { stats: CampaignStats }) {
  if (stats.variants.length === 0) return null
  return (
    <Card title="Variants">
      <ul class="variants">
        {stats.variants.map(({ name, sent, delivered, replied, opened, clicked }) => (
          <li key={name}>
            <p>
              <strong>{name}</strong> <span class="soft">{t('{count} sent', { count: count(sent) })}</span>
            </p>
            {(
              [
                ['Delivered', delivered, sent],
                ['Opened', opened, delivered],
                ['Clicked', clicked, delivered],
                ['Replied', replied, delivered],
              ] as const
            ).map(([what, many, of]) => (
              <div key={what}>
                <span>{t(what)}</span>
                <Meter share={of === 0 ? 0 : many / of} />
                <span class="number">{shareOf(many, of)}</span>
              </div>
            ))}
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Networks side by side: how many texts arrived, and their price. */
function Networks({ stats: { networks, currency } }: { stats: CampaignStats }) {
  if (networks.length === 0) return null
  return (
    <Card title="By network">
      <ul class="variants">
        {networks.map(({ country, network, sent, delivered, failed, replied, cost }) => (
          <li key={`${country} ${network}`}>
            <p>
              <strong>{network ?? t('Other networks')}</strong>{' '}
              <span class="soft">
                {t('{count} sent', { count: count(sent) })} · {money(cost, currency)}
              </span>
            </p>
            {(
              [
                ['Delivered', delivered, sent],
                ['Failed', failed, sent],
                ['Replied', replied, delivered],
              ] as const
            ).map(([what, many, of]) => (
              <div key={what}>
                <span>{t(what)}</span>
                <Meter share={of === 0 ? 0 : many / of} />
                <span class="number">{shareOf(many, of)}</span>
              </div>
            ))}
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The last replies; asked for when their number has changed. */
function Replies({ id, replied }: { id: string; replied: number }) {
  const { value, error, reload } = useLoad(
    `replies ${id} ${replied}`,
    () => campaignsReplies(api, { id, query: { limit: 20 } }),
    { keeps: true },
  )
  return (
    <Card
      title="Replies"
      action={
        <Link to="/inbox" class="btn quiet small push">
          {t('Open the inbox')}
        </Link>
      }
    >
      {error && <Problem error={error} retry={reload} />}
      {value?.data.length === 0 && <p class="soft">{t('No replies yet')}</p>}
      <ul class="replies">
        {value?.data.map(({ message_id, customer_id, conversation_id, name, from, text, variant, at }) => {
          const to = conversation_id ? `/inbox/${conversation_id}` : customer_id && `/customers/${customer_id}`
          const who = <bdi>{name ?? from}</bdi>
          return (
            <li key={message_id}>
              <Icon name="message" />
              <div>
                <p>
                  <strong>{to ? <Link to={to}>{who}</Link> : who}</strong>
                  {variant && <span class="soft small"> · {variant}</span>}
                </p>
                <p dir="auto">{text ?? '–'}</p>
              </div>
              <small class="soft">
                <Ago at={at} />
              </small>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
