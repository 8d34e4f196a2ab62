// SPDX-License-Identifier: Apache-2.0
// Sessions of a member, and how to end the others.
import { useState } from 'preact/hooks'
import { ofConsole } from '../../api.ts'
import { PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment } from '../../kit/words.ts'
import { t } from '../../words.ts'

interface MemberSession {
  id: string
  signed_in_at: string
  seen_at: string
  ip: string
  user_agent: string
  is_current: boolean
}

export function Sessions() {
  const { value, error, reload } = useLoad('sessions', () => ofConsole<{ data: MemberSession[] }>('GET', 'sessions'))
  const [refused, setRefused] = useState<Error | null>(null)
  const end = (id: string): void => {
    ofConsole('DELETE', `sessions/${encodeURIComponent(id)}`).then(reload, setRefused)
  }
  return (
    <div class="page">
      <PageHead title="Sessions" note="where you are signed in" />
      {(error ?? refused) && <Problem error={error ?? refused ?? new Error()} retry={reload} />}
      {!value && !error && <Waiting />}
      {value && (
        <ul class="lines">
          {value.data.map((session) => (
            <li key={session.id}>
              <div>
                <p class="strong">
                  {session.is_current ? t('This browser') : session.user_agent || t('Unknown browser')}
                </p>
                <p class="soft">
                  {session.ip},{' '}
                  {t('signed in {since}, last used {seen}', {
                    since: moment(session.signed_in_at),
                    seen: moment(session.seen_at),
                  })}
                </p>
              </div>
              {!session.is_current && (
                <button type="button" class="btn small" onClick={() => end(session.id)}>
                  {t('End it')}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
