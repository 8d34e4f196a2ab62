// SPDX-License-Identifier: Apache-2.0
// A member's own ways to sign in: passkeys, the identity provider, and a second factor that is begun, shown to work, and given up. Recovery codes are
// shown once.
import { useState } from 'preact/hooks'
import { currentSession, ofConsole } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { confirm as asked } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field } from '../../kit/fields.tsx'
import { Card, PageHead, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { Passkeys } from './passkeys.tsx'
import { Provider } from './provider.tsx'

/** `onDone` is there where nothing else can be done before. */
export function Security({ session, onDone }: Pick<PageProps, 'session'> & { onDone?(): void }) {
  const { run, turn, error } = useDoing()
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
  const turnOff = async (): Promise<void> => {
    const answer = await asked({
      title: t('Turn off two-factor sign-in?'),
      consequences: [t('The password alone signs you in. Recovery codes stop working.')],
      action: t('Turn off two-factor sign-in'),
      keep: t('Keep it on'),
    })
    if (answer !== null) run(() => ofConsole('DELETE', 'totp'))
  }
  return (
    <div class="page narrow">
      <PageHead title={t('Two-factor sign-in')} note={isOn ? t('is on') : t('is off')} />
      {error && <Problem error={error} />}
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
              {t('Continue')}
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
            <Field
              label={t('Code from the app')}
              value={code}
              onInput={setCode}
              required
              autocomplete="one-time-code"
            />
            <button type="submit" class="btn primary">
              {t('Turn it on')}
            </button>
          </form>
        </Card>
      )}
      {!isOn && !begun && <p>{t('A code from an authenticator app is asked for after the password.')}</p>}
      {!isOn && !begun && (
        <p>
          <button type="button" class="btn primary" onClick={begin}>
            {t('Set up')}
          </button>
        </p>
      )}
      {isOn && !session.member.totp_required && (
        <p>
          <button type="button" class="btn danger" onClick={() => void turnOff()}>
            {t('Turn it off')}
          </button>
        </p>
      )}
      {!onDone && <Passkeys />}
      {!onDone && <Provider />}
    </div>
  )
}
