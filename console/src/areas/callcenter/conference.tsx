// SPDX-License-Identifier: Apache-2.0
// One conference: who is in it, muting, holding and removing them, calling somebody in, and ending it.
import {
  callcenterChangeParticipant,
  callcenterEndConference,
  callcenterGetConference,
  callcenterRemoveParticipant,
} from '#sdk/operations.ts'
import type { Conference } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { useDoing } from '../../kit/doing.ts'
import { Card, Pill, Problem } from '../../kit/kit.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { t } from '../../words.ts'
import { addToConference } from './forms.tsx'
import { useNames } from './names.ts'

const scope = 'callcenter:write'

export const ConferencePage = recordPage<Conference>({
  in: ['/wallboard', 'Wallboard'],
  get: (conference_id) => callcenterGetConference(api, { conference_id }),
  at: (conference_id) => callcenterGetConference.at({ conference_id }),
  title: ({ name }) => name,
  state: ({ status }) => status,
  live: 'conference.',
  facts: [
    { name: 'Created', field: 'created_at', as: 'time' },
    { name: 'Recordings', field: 'recording_id', as: 'id', to: '/recordings/' },
  ],
  deeds: ({ conference_id, status, name }) =>
    status === 'ended'
      ? []
      : [
          { name: 'Add a participant', icon: 'plus', scope, form: addToConference(conference_id) },
          {
            ...{ name: 'End it', icon: 'hangup', isDanger: true, scope },
            asks: {
              title: t('End {name}?', { name }),
              consequences: [t('The call ends for all participants.')],
              action: t('End it'),
              keep: t('Continue'),
            },
            run: () => callcenterEndConference(api, { conference_id }),
          },
        ],
  more: (conference, reload) => <People conference={conference} reload={reload} />,
})

type Participant = Conference['participants'][number]

function People({ conference, reload }: { conference: Conference; reload(): Promise<void> }) {
  const { run, error, isBusy } = useDoing()
  const { agents } = useNames()
  const { conference_id, participants } = conference
  const change = ({ participant_id }: Participant, body: { muted?: boolean; held?: boolean }): void =>
    run(async () => {
      await callcenterChangeParticipant(api, { conference_id, participant_id, body })
      await reload()
    })
  const remove = ({ participant_id }: Participant): void =>
    run(async () => {
      await callcenterRemoveParticipant(api, { conference_id, participant_id })
      await reload()
    })
  return (
    <Card title="Participants">
      {error && <Problem error={error} />}
      <ul class="story">
        {participants.map((one) => (
          <li key={one.participant_id}>
            <span class="strong" dir="auto">
              {agents[one.endpoint] ?? one.endpoint}
            </span>
            <Pill state={one.status} />
            {one.muted && <Pill state="muted" />}
            {may(scope) && (one.status === 'joined' || one.status === 'held') && (
              <span class="push row">
                <button
                  type="button"
                  class="btn small"
                  disabled={isBusy}
                  onClick={() => change(one, { muted: !one.muted })}
                >
                  {one.muted ? t('Unmute') : t('Mute')}
                </button>
                <button
                  type="button"
                  class="btn small"
                  disabled={isBusy}
                  onClick={() => change(one, { held: one.status !== 'held' })}
                >
                  {one.status === 'held' ? t('Take back') : t('Hold')}
                </button>
                <button type="button" class="btn small danger" disabled={isBusy} onClick={() => remove(one)}>
                  {t('Remove')}
                </button>
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}
