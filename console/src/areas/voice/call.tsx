// SPDX-License-Identifier: Apache-2.0
// One call: how long it lasted, its timeline, its quality, and hanging up while it goes on.
import { voiceGetCall, voiceHangup, voiceStopPlaying, voiceTimeline } from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { money, numberText, shortId, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'
import { sayIn } from './forms.ts'
import { lasting } from './lists.ts'

export function CallPage({ id }: PageProps) {
  const own = { call_id: id }
  const call = useLoad(id, () => voiceGetCall(api, own))
  useLive('call.', call.reload, { about: id })
  return (
    <Opened record={call}>
      {(value) => {
        const other = numberText(value.direction === 'inbound' ? value.from : value.to)
        return (
          <Detail
            in={['/calls', 'Calls']}
            id={id}
            title={value.direction === 'inbound' ? t('From {name}', { name: other }) : t('To {name}', { name: other })}
            note={lasting(value.duration)}
            state={value.status}
            deeds={
              value.ended_at === null && may('voice:write')
                ? [
                    { name: 'Speak', icon: 'speaker', form: sayIn(id) },
                    { name: 'Stop speaking', icon: 'stop', run: () => voiceStopPlaying(api, own) },
                    {
                      name: 'Hang up',
                      icon: 'hangup',
                      isDanger: true,
                      asks: {
                        title: t('Hang up on {name}?', { name: other }),
                        consequences: [t('The call ends at once.')],
                        action: t('Hang up'),
                        keep: t('Keep the call'),
                      },
                      run: () => voiceHangup(api, own),
                    },
                  ]
                : []
            }
            onDone={call.reload}
            path={voiceGetCall.at(own)}
            raw={value}
          >
            <Timeline path={voiceTimeline.at(own)} live="call." about={id} />
            <Card title={t('Details')}>
              <Facts
                rows={[
                  [t('From'), numberText(value.from)],
                  [t('To'), value.to],
                  [t('Started'), <Ago at={value.started_at} />],
                  [t('Answered'), <Ago at={value.answered_at} />],
                  [t('Ended'), <Ago at={value.ended_at} />],
                  [t('Hangup cause'), value.hangup_cause && words(value.hangup_cause)],
                  [t('Cost'), money(value.cost, value.currency)],
                  [t('Audio quality, 1 to 5'), value.quality ? value.quality.mos.toFixed(1) : null],
                  [
                    t('Recordings'),
                    value.recording_ids.length > 0
                      ? value.recording_ids.map((one) => (
                          <Link key={one} to={`/recordings/${one}`} class="mono">
                            {shortId(one)}
                          </Link>
                        ))
                      : null,
                  ],
                ]}
              />
            </Card>
          </Detail>
        )
      }}
    </Opened>
  )
}
