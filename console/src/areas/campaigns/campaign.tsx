// SPDX-License-Identifier: Apache-2.0
// One campaign: before the start what would be sent, at which price and to whom not; then how far it is and what became of it.
import {
  campaignsCancel,
  campaignsGet,
  campaignsPause,
  campaignsPreview,
  campaignsResume,
  campaignsStart,
  campaignsStats,
  walletBalance,
} from '#sdk/operations.ts'
import type { Campaign, CampaignPreview, CampaignStats } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Meter } from '../../kit/chart.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { Card, Facts, FiguresRow, Problem, Waiting } from '../../kit/kit.tsx'
import { type Loaded, useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { count, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'
import { changeForm } from './forms.ts'

export function CampaignPage({ id }: PageProps) {
  const campaign = useLoad(id, () => campaignsGet(api, { id }))
  const { state, updated_at } = campaign.value ?? {}
  const preview = useLoad(`${id} ${state === 'draft' ? updated_at : ''}`, async () =>
    state === 'draft' ? campaignsPreview(api, { id }) : null,
  )
  useLive('campaign.', campaign.reload, { about: id })
  return (
    <Opened record={campaign}>
      {(value) => (
        <Detail
          in={['/campaigns', 'Campaigns']}
          id={value.id}
          title={value.name}
          state={value.state}
          note={value.reason && words(value.reason)}
          deeds={deedsOf(value, preview.value)}
          onDone={campaign.reload}
          path={campaignsGet.at({ id })}
          raw={value}
        >
          {value.state === 'draft' ? <Preview preview={preview} /> : <Result campaign={value} />}
        </Detail>
      )}
    </Opened>
  )
}

function deedsOf(campaign: Campaign, preview: CampaignPreview | null): Deed[] {
  const { id, state, name } = campaign
  const scope = 'campaigns:start'
  const isOn = ['checking', 'scheduled', 'running'].includes(state)
  const isHeld = ['paused', 'stopped_budget'].includes(state)
  return [
    ...(isOn || isHeld
      ? [
          {
            ...{ name: 'Cancel campaign', isDanger: true, scope },
            asks: {
              title: t('Cancel {name}?', { name }),
              consequences: [
                t('No further messages are sent.'),
                t('Messages already handed over are still delivered.'),
              ],
              ...{ action: t('Cancel campaign'), keep: t('Do not cancel'), isDanger: true },
            },
            run: () => campaignsCancel(api, { id }),
          },
        ]
      : []),
    ...(state === 'draft' || isOn || isHeld
      ? [{ name: 'Change', icon: 'pencil' as const, scope: 'campaigns:write', form: changeForm(campaign) }]
      : []),
    ...(isOn ? [{ name: 'Pause', icon: 'pause' as const, scope, run: () => campaignsPause(api, { id }) }] : []),
    ...(isHeld
      ? [{ name: 'Resume', icon: 'play' as const, isMain: true, scope, run: () => campaignsResume(api, { id }) }]
      : []),
    ...(state === 'draft' && preview && preview.recipients > 0 ? [starting(campaign, preview)] : []),
  ]
}

/** Says to how many and for how much before it goes. */
function starting({ id, name }: Campaign, { recipients, whole, cost, currency }: CampaignPreview): Deed {
  const many = whole ? count(recipients) : t('at least {count}', { count: count(recipients) })
  const price = money(cost, currency)
  return {
    ...{ name: t('Send to {count}', { count: many }), icon: 'send', isMain: true, scope: 'campaigns:start' },
    asks: {
      title: t('Send {name} to {count} customers?', { name, count: many }),
      consequences: [
        t('It costs {price}, charged as messages are sent.', { price }),
        t('Sent messages cannot be recalled.'),
      ],
      ...{ action: t('Send for {amount}', { amount: price }), keep: t('Not now'), isDanger: false },
    },
    run: () => campaignsStart(api, { id }),
  }
}

const reasons: Readonly<Record<string, string>> = {
  no_consent: 'Without consent',
  no_address: 'Without an address',
  blocked: 'Blocked',
}

function leftOutRows(leftOut: Readonly<Record<string, number>>): [string, string][] {
  return Object.entries(leftOut).map(([reason, many]): [string, string] => [reasons[reason] ?? reason, count(many)])
}

function Preview({ preview: { value, error, reload } }: { preview: Loaded<CampaignPreview | null> }) {
  const wallet = useLoad('wallet', async () => (may('wallet:read') ? walletBalance(api) : null))
  if (error) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting lines={6} />
  const { recipients, audience, cost, currency, parts, left_out, by_channel, messages } = value
  const funnel: readonly (readonly [name: string, many: number])[] = [
    [t('Audience'), audience],
    ...Object.entries(left_out).map(([reason, many]) => [t(reasons[reason] ?? reason), -many] as const),
    [t('Reachable'), recipients],
  ]
  const available = wallet.value?.currency === currency ? wallet.value.available : null
  return (
    <div class="cols side">
      <div class="stack">
        <Card title={t('Recipients')}>
          <ul class="rates">
            {funnel.map(([name, many]) => (
              <li key={name}>
                <span>{name}</span>
                <Meter share={audience === 0 ? 0 : Math.abs(many) / audience} tone={many < 0 ? 'warn' : 'h1'} />
                <span class="number">{count(many)}</span>
              </li>
            ))}
          </ul>
        </Card>
        <Card title={t('Messages')} action={<span class="soft small">{t('Samples')}</span>}>
          <ul class="samples">
            {messages.map(({ customer_id, to, text, variant }) => (
              <li key={customer_id}>
                <p class="soft small">
                  <RecordLink id={customer_id} /> · <bdi dir="ltr">{to}</bdi> · {variant}
                </p>
                <p class="bubble-preview text" dir="auto">
                  {text}
                </p>
              </li>
            ))}
          </ul>
        </Card>
      </div>
      <Card title={t('Price')}>
        <p class="sum">{money(cost, currency)}</p>
        <Facts
          rows={[
            ...Object.entries(by_channel)
              .filter(([, many]) => many > 0)
              .map(([channel, many]): [string, string] => [words(channel), count(many)]),
            [t('SMS segments'), count(parts)],
            ...(available === null ? [] : [[t('Wallet'), money(available, currency)] satisfies [string, string]]),
          ]}
        />
        {available !== null && available < cost && (
          <div class="callout warn">
            <p>{t('The wallet balance is too low for all recipients.')}</p>
          </div>
        )}
      </Card>
    </div>
  )
}

function Result({ campaign }: { campaign: Campaign }) {
  const { id, budget, currency, spent } = campaign
  const { value, error, reload } = useLoad(id, () => campaignsStats(api, { id }), { keeps: true })
  useLive('campaign. sms. email. messenger.', reload, { everyMs: 2_000 })
  if (error) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting lines={6} />
  const { audience, waiting, sent, delivered, failed, replied, unsubscribed, opened, clicked, cost } = value
  return (
    <div class="stack">
      <Card title={t('{done} of {count} done', { done: count(audience - waiting), count: count(audience) })}>
        <Meter share={audience === 0 ? 0 : (audience - waiting) / audience} />
      </Card>
      <FiguresRow
        figures={[
          [t('Sent'), count(sent)],
          [t('Delivered'), count(delivered)],
          [t('Failed'), count(failed)],
          [t('Replied'), count(replied)],
          [t('Unsubscribed'), count(unsubscribed)],
          [
            t('Cost'),
            money(cost, currency),
            budget === null
              ? null
              : t('{spent} of {budget}', { spent: money(spent, currency), budget: money(budget, currency) }),
          ],
        ]}
      />
      <div class="cols side">
        <Variants stats={value} />
        <div class="stack">
          <Card title={t('Excluded')}>
            <Facts rows={leftOutRows(value.left_out)} />
          </Card>
          <Card title={t('Details')}>
            <Facts
              rows={[
                ['Opened', count(opened)],
                ['Clicked', count(clicked)],
                ...Object.entries(value.failures).map(([code, many]): [string, string] => [words(code), count(many)]),
              ]}
            />
          </Card>
        </div>
      </div>
    </div>
  )
}

const onlyVariant = 'A'

function Variants({ stats }: { stats: CampaignStats }) {
  const rows = stats.variants.length > 0 ? stats.variants : [{ ...stats, name: onlyVariant }]
  return (
    <Card title={t('Variants')}>
      {rows.map(({ name, sent, delivered, replied }) => (
        <div key={name}>
          <p>
            <strong>{name}</strong> · {t('Sent')} {count(sent)} · {t('Delivered')} {count(delivered)} · {t('Replied')}{' '}
            {count(replied)}
          </p>
          <Meter share={sent === 0 ? 0 : delivered / sent} />
        </div>
      ))}
    </Card>
  )
}
