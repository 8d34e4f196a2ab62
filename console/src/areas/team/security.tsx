// SPDX-License-Identifier: Apache-2.0
// A member's own second factor: begun, shown to work, and given up. Recovery codes are shown once.
import { useState } from 'preact/hooks'
import { currentSession, ofConsole, type Session } from '../../api.ts'
import { Card, Field, PageHead, Problem } from '../../kit/kit.tsx'
import { useConfirmed } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'

/** `onDone` is there where nothing else can be done before. */
export function Security({ session, onDone }: { session: Session; onDone?(): void }) {
  const { run, turn, error, confirming } = useConfirmed(session.member.email)
  const { value } = useLoad(`session ${turn}`, currentSession)
  const [begun, setBegun] = useState<{ secret: string; uri: string } | null>(null)
  const [code, setCode] = useState('')
  const [codes, setCodes] = useState<string[]>([])
  const isOn = (value ?? session).member.totp_enabled
  const begin = (): void =>
    run(async () => setBegun(await ofConsole<{ secret: string; uri: string }>('POST', 'totp', {})))
  const confirm = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      setCodes((await ofConsole<{ recovery_codes: string[] }>('POST', 'totp/confirm', { code })).recovery_codes)
      setBegun(null)
      setCode('')
    })
  }
  return (
    <div class="page narrow">
      <PageHead title={t('Second factor')} note={isOn ? t('is on') : t('is off')} />
      {error && <Problem error={error} />}
      {confirming}
      {codes.length > 0 && (
        <div class="callout good" role="status">
          <p>{t('Keep these codes somewhere safe. Each stands in for the authenticator once.')}</p>
          <ul class="mono">
            {codes.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          {onDone && (
            <button type="button" class="btn primary" onClick={onDone}>
              {t('Go on')}
            </button>
          )}
        </div>
      )}
      {onDone && codes.length === 0 && (
        <div class="callout warn">
          <p>{t('Your account requires a second factor. Turn it on to go on.')}</p>
        </div>
      )}
      {begun && (
        <Card title={t('Enter this in your authenticator')}>
          <p class="mono text" dir="ltr">
            {begun.secret}
          </p>
          <p>
            <a href={begun.uri}>{t('Open it in an authenticator on this device')}</a>
          </p>
          <form class="form in-line" onSubmit={confirm}>
            <Field label={t('Code it shows')} value={code} onInput={setCode} required autocomplete="one-time-code" />
            <button type="submit" class="btn primary">
              {t('Turn it on')}
            </button>
          </form>
        </Card>
      )}
      {!isOn && !begun && (
        <p>
          <button type="button" class="btn primary" onClick={begin}>
            {t('Begin')}
          </button>
        </p>
      )}
      {isOn && !session.member.totp_required && (
        <p>
          <button type="button" class="btn danger" onClick={() => run(() => ofConsole('DELETE', 'totp'))}>
            {t('Give it up')}
          </button>
        </p>
      )}
    </div>
  )
}
