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
} from '#sdk/operations.ts'
import type { Campaign, CampaignStats } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Meter } from '../../kit/chart.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { Card, Facts, FiguresRow, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { count, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'
import { changeForm } from './forms.ts'

export function CampaignPage({ id }: PageProps) {
  const campaign = useLoad(id, () => campaignsGet(api, { id }))
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
          deeds={deedsOf(value)}
          onDone={campaign.reload}
          path={campaignsGet.at({ id })}
          raw={value}
        >
          {value.state === 'draft' ? <Preview campaign={value} /> : <Result campaign={value} />}
        </Detail>
      )}
    </Opened>
  )
}

function deedsOf(campaign: Campaign): Deed[] {
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
    ...(state === 'draft'
      ? [{ name: 'Start', icon: 'send' as const, isMain: true, scope, run: () => campaignsStart(api, { id }) }]
      : []),
  ]
}

const reasons: Readonly<Record<string, string>> = {
  no_consent: 'Without consent',
  no_address: 'Without an address',
  blocked: 'Blocked',
}

function leftOutRows(leftOut: Readonly<Record<string, number>>): [string, string][] {
  return Object.entries(leftOut).map(([reason, many]): [string, string] => [reasons[reason] ?? reason, count(many)])
}

function Preview({ campaign }: { campaign: Campaign }) {
  const { id, updated_at } = campaign
  const { value, error, reload } = useLoad(`${id} ${updated_at}`, () => campaignsPreview(api, { id }))
  if (error) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting lines={6} />
  const { recipients, audience, cost, currency, parts, left_out, messages } = value
  return (
    <div class="stack">
      <FiguresRow
        figures={[
          [t('Recipients'), count(recipients), t('of {count} customers', { count: count(audience) })],
          [t('Price'), money(cost, currency), parts > 0 ? t('{count} parts', { count: count(parts) }) : null],
        ]}
      />
      <div class="cols side">
        <Card title={t('Messages')}>
          <ul class="story">
            {messages.map(({ customer_id, to, text, variant }) => (
              <li key={customer_id}>
                <div class="told">
                  <p class="soft small">
                    <RecordLink id={customer_id} /> · <bdi dir="ltr">{to}</bdi> · {variant}
                  </p>
                  <p class="text" dir="auto">
                    {text}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </Card>
        <Card title={t('Excluded')}>
          <Facts rows={leftOutRows(left_out)} />
        </Card>
      </div>
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
