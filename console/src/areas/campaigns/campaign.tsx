// SPDX-License-Identifier: Apache-2.0
// One campaign: before the start what would be sent, at which price and to whom not; then how far it is and what became of it.

import { useRef } from 'preact/hooks'
import {
  campaignsCancel,
  campaignsGet,
  campaignsPause,
  campaignsPreview,
  campaignsResume,
  campaignsStart,
} from '#sdk/operations.ts'
import type { Campaign, CampaignPreview } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'
import { Editor, type Save } from './editor.tsx'
import { changeForm, renameForm, trialForm } from './forms.ts'
import { Result } from './result.tsx'

export function CampaignPage({ id }: PageProps) {
  const campaign = useLoad(id, () => campaignsGet(api, { id }))
  const { state, updated_at } = campaign.value ?? {}
  const preview = useLoad(
    `${id} ${state === 'draft' ? updated_at : ''}`,
    async () => (state === 'draft' ? campaignsPreview(api, { id }) : null),
    { keeps: true },
  )
  const save = useRef<Save | null>(null)
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
          deeds={deedsOf(value, preview.value, async () => (await save.current?.()) ?? value, campaign.reload)}
          onDone={campaign.reload}
          path={campaignsGet.at({ id })}
          raw={value}
        >
          {value.state === 'draft' ? (
            <Editor campaign={value} preview={preview} save={save} onSaved={(saved) => campaign.patch(() => saved)} />
          ) : (
            <Result campaign={value} />
          )}
        </Detail>
      )}
    </Opened>
  )
}

function deedsOf(campaign: Campaign, preview: CampaignPreview | null, save: Save, reload: () => Promise<void>): Deed[] {
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
    ...(state === 'draft'
      ? [
          { name: 'Rename', icon: 'pencil' as const, scope: 'campaigns:write', form: renameForm(campaign) },
          { name: 'Send me one', icon: 'mobile' as const, scope, form: trialForm(campaign, save) },
        ]
      : []),
    ...(isOn || isHeld
      ? [{ name: 'Change', icon: 'pencil' as const, scope: 'campaigns:write', form: changeForm(campaign) }]
      : []),
    ...(isOn ? [{ name: 'Pause', icon: 'pause' as const, scope, run: () => campaignsPause(api, { id }) }] : []),
    ...(isHeld
      ? [{ name: 'Resume', icon: 'play' as const, isMain: true, scope, run: () => campaignsResume(api, { id }) }]
      : []),
    ...(state === 'draft' && preview && preview.recipients > 0 ? [starting(campaign, preview, save, reload)] : []),
  ]
}

const manyOf = ({ recipients, whole }: CampaignPreview): string =>
  whole ? count(recipients) : t('at least {count}', { count: count(recipients) })

/** Saves the draft, says to how many and for how much it goes, and starts just what was said, or nothing. */
function starting(campaign: Campaign, preview: CampaignPreview, save: Save, reload: () => Promise<void>): Deed {
  const { id, four_eyes } = campaign
  const isAsking = preview.four_eyes && four_eyes === null
  const to = { count: manyOf(preview) }
  const name = isAsking
    ? t('Ask for approval')
    : four_eyes
      ? t('Approve and send to {count}', to)
      : t('Send to {count}', to)
  let version = ''
  return {
    ...{ name, icon: isAsking ? 'users' : 'send', isMain: true, scope: 'campaigns:start' },
    async asks() {
      const { name, updated_at } = await save()
      version = updated_at
      const saved = await campaignsPreview(api, { id })
      const price = money(saved.cost, saved.currency)
      return {
        title: t('Send {name} to {count} customers?', { name, count: manyOf(saved) }),
        consequences: [
          t('It costs {price}, charged as messages are sent.', { price }),
          isAsking ? t('Nothing is sent before a second person approves it.') : t('Sent messages cannot be recalled.'),
        ],
        action: isAsking ? t('Ask for approval') : t('Send for {amount}', { amount: price }),
        ...{ keep: t('Not now'), isDanger: false },
      }
    },
    run: () =>
      campaignsStart(api, { id, body: { unchanged_since: version } }).catch(async (refusal) => {
        await reload()
        throw refusal
      }),
  }
}
