// SPDX-License-Identifier: Apache-2.0
// What a draft would do, beside what is typed: who is reached, what it costs by network, what stands against it, and samples.

import { walletBalance } from '#sdk/operations.ts'
import type { Campaign, CampaignPreview } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { Meter } from '../../kit/chart.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, Facts, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { type Loaded, useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { count, money, words } from '../../kit/words.ts'
import { t } from '../../words.ts'

const reasons: Readonly<Record<string, string>> = {
  no_consent: 'Without consent',
  no_address: 'Without an address',
  blocked: 'Blocked',
  duplicate: 'Named twice',
}

export function leftOutRows(leftOut: Readonly<Record<string, number>>): [string, string][] {
  return Object.entries(leftOut).map(([reason, many]): [string, string] => [t(reasons[reason] ?? reason), count(many)])
}

/** Who is left of an audience, and why others are not. */
export function Funnel({ preview: { value, error, reload } }: { preview: Loaded<CampaignPreview | null> }) {
  if (error) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting lines={2} />
  const { audience, recipients, left_out, whole } = value
  const why = leftOutRows(left_out)
    .map(([reason, many]) => `${reason} ${many}`)
    .join(' · ')
  const rows: readonly (readonly [name: string, many: number, note: string])[] = [
    [t('Audience'), audience, whole ? '' : t('the first ones only')],
    [t('Reachable'), recipients, why],
  ]
  return (
    <ul class="funnel">
      {rows.map(([name, many, note]) => (
        <li key={name}>
          <p>
            <strong class="number">{count(many)}</strong> {name} <span class="soft small">{note}</span>
          </p>
          <Meter share={audience === 0 ? 0 : many / audience} />
        </li>
      ))}
    </ul>
  )
}

type Check = readonly [isGood: boolean, words: string]

/** What stands against a draft, and what does not. */
function checksOf({ budget, channel, content, variants }: Campaign, preview: CampaignPreview): Check[] {
  const { left_out, blocked, unfilled, cost } = preview
  const unasked = left_out.no_consent ?? 0
  const texts = channel.includes('sms')
    ? [content, ...variants.map((one) => one.content)].flatMap(({ sms }) => sms?.text ?? [])
    : []
  const isStoppable = texts.every((text) => /{{\s*optout\s*}}|\bSTOP\b/.test(text))
  const against = Object.entries(blocked)
  return [
    [
      true,
      unasked === 0
        ? t('All recipients have agreed')
        : t('{count} who have not agreed are left out', { count: count(unasked) }),
    ],
    ...(texts.length === 0 || against.length > 0
      ? []
      : [[true, t('The sender may be used in every country')] satisfies Check]),
    ...against.map(
      ([code, many]): Check => [
        false,
        t('{count} cannot be sent: {reason}', { count: count(many), reason: words(code) }),
      ],
    ),
    ...Object.entries(unfilled).map(
      ([name, many]): Check => [false, t('{count} have no {name}', { count: count(many), name: `{{${name}}}` })],
    ),
    ...(texts.length === 0
      ? []
      : [
          [
            isStoppable,
            isStoppable ? t('The text says how to unsubscribe') : t('The text does not say how to unsubscribe'),
          ] satisfies Check,
        ]),
    ...(budget !== null && cost > budget
      ? [[false, t('The budget is too low for all recipients')] satisfies Check]
      : []),
  ]
}

/** Checks of a draft before it goes. */
export function Checks({ campaign, preview }: { campaign: Campaign; preview: CampaignPreview | null }) {
  if (!preview) return null
  const all = checksOf(campaign, preview)
  const isNobody = preview.recipients === 0
  // Of nobody nothing good can be said.
  const told: readonly Check[] = isNobody ? [[false, t('No recipients')], ...all.filter(([isGood]) => !isGood)] : all
  return (
    <Card title="Before it goes">
      <ul class="checks">
        {told.map(([isGood, said]) => (
          <li key={said} class={isGood ? 'good' : 'warn'}>
            <Icon name={isGood ? 'good' : 'warn'} />
            <span>{said}</span>
          </li>
        ))}
        {preview.four_eyes && (
          <li>
            <Icon name="users" />
            <span>
              {campaign.four_eyes ? t('Waits for a second person to approve it') : t('A second person approves it')}
            </span>
          </li>
        )}
      </ul>
    </Card>
  )
}

export function Price({ preview, rate }: { preview: CampaignPreview | null; rate: string }) {
  const wallet = useLoad('wallet', async () => (may('wallet:read') ? walletBalance(api) : null))
  if (!preview)
    return (
      <Card title="Price">
        <Waiting lines={3} />
      </Card>
    )
  const { cost, currency, prices, parts, recipients } = preview
  const available = wallet.value?.currency === currency ? wallet.value.available : null
  const minutes = Number(rate) > 0 ? Math.ceil(recipients / Number(rate)) : null
  return (
    <Card title="Price">
      <p class="sum">{money(cost, currency)}</p>
      <Facts
        rows={[
          ...prices.map(({ channel, network, messages, cost }): [string, string] => [
            network ?? (channel === 'sms' ? t('Other networks') : words(channel)),
            `${count(messages)} · ${money(cost, currency)}`,
          ]),
          [t('SMS segments'), count(parts)],
          ...(minutes === null
            ? []
            : [[t('Takes'), t('{count} minutes', { count: count(minutes) })] satisfies [string, string]]),
          ...(available === null ? [] : [[t('Wallet'), money(available, currency)] satisfies [string, string]]),
        ]}
      />
      {available !== null && recipients > 0 && (
        <p>
          {available < cost ? (
            <Pill state="warning" tone="warn" word={t('The wallet balance is too low for all recipients.')} />
          ) : (
            <Pill state="available" tone="good" word={t('Enough in the wallet')} />
          )}
        </p>
      )}
    </Card>
  )
}

export function Samples({ preview }: { preview: CampaignPreview | null }) {
  const messages = preview?.messages ?? []
  return (
    <Card title="Messages" action={<span class="soft small push">{t('Samples')}</span>}>
      {messages.length === 0 ? (
        <p class="soft">{t('No recipients')}</p>
      ) : (
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
      )}
    </Card>
  )
}
