// SPDX-License-Identifier: Apache-2.0
// One USSD session: its screens as the phone showed them, and its timeline.
import { ussdGetSession, ussdTimeline } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

export function UssdSessionPage({ id }: PageProps) {
  const own = { session_id: id }
  const session = useLoad(id, () => ussdGetSession(api, own))
  useLive('ussd.', session.reload, { about: id })
  return (
    <Opened record={session}>
      {(value) => (
        <Detail
          in={['/ussd', 'USSD sessions']}
          id={id}
          title={`${value.shortcode} ${value.phone}`}
          state={value.status}
          path={ussdGetSession.at(own)}
          raw={value}
        >
          <Card title={t('Screens')}>
            <ol class="screens">
              {value.history.map(({ step, input, output, at }) => (
                <li key={step}>
                  {input !== null && <p class="typed mono">{input}</p>}
                  <p class="text" dir="auto">
                    {output}
                  </p>
                  <small class="soft">
                    <Ago at={at} />
                  </small>
                </li>
              ))}
            </ol>
          </Card>
          <Timeline path={ussdTimeline.at(own)} live="ussd." about={id} />
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Phone'), value.phone],
                [t('Code'), value.shortcode],
                [t('Created'), <Ago at={value.created_at} />],
                [t('Last activity'), <Ago at={value.last_activity} />],
                [t('Reason'), value.reason && [words(value.reason), value.reason_detail].filter(Boolean).join(': ')],
                [t('Network'), value.network],
                [t('Cost'), money(value.cost, value.currency)],
              ]}
            />
          </Card>
        </Detail>
      )}
    </Opened>
  )
}
