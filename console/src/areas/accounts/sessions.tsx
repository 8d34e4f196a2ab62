// SPDX-License-Identifier: Apache-2.0
// Sessions of a member, and how to end the others.
import { useState } from 'preact/hooks'
import { ofConsole } from '../../api.ts'
import { PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { ago } from '../../kit/words.ts'
import { t } from '../../words.ts'

interface MemberSession {
  id: string
  signed_in_at: string
  seen_at: string
  ip: string
  user_agent: string
  is_current: boolean
}

/** Browsers by what they call themselves, the more exact first. */
const browsers: readonly (readonly [sign: RegExp, name: string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly (readonly [sign: RegExp, name: string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** `Firefox, Linux`: what a person knows a browser by. */
function browserOf(agent: string): string {
  const among = (list: typeof browsers): string | undefined => list.find(([sign]) => sign.test(agent))?.[1]
  const [browser, system] = [among(browsers), among(systems)]
  return browser && system
    ? t('{browser} on {system}', { browser, system })
    : (browser ?? system ?? t('Unknown browser'))
}

export function Sessions() {
  const { value, error, reload } = useLoad('sessions', () => ofConsole<{ data: MemberSession[] }>('GET', 'sessions'))
  const [refused, setRefused] = useState<Error | null>(null)
  const end = (id: string): void => {
    ofConsole('DELETE', `sessions/${encodeURIComponent(id)}`).then(reload, setRefused)
  }
  return (
    <div class="page">
      <PageHead title="Sessions" note="your sessions" />
      {(error ?? refused) && <Problem error={error ?? refused ?? new Error()} retry={reload} />}
      {!value && !error && <Waiting />}
      {value && (
        <ul class="lines">
          {value.data.map((session) => (
            <li key={session.id}>
              <div>
                <p class="strong" title={session.user_agent}>
                  {session.is_current
                    ? t('This browser, {name}', { name: browserOf(session.user_agent) })
                    : browserOf(session.user_agent)}
                </p>
                <p class="soft">
                  {session.ip},{' '}
                  {t('signed in {since}, last used {seen}', {
                    since: ago(session.signed_in_at),
                    seen: ago(session.seen_at),
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
