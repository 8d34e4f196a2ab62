// SPDX-License-Identifier: Apache-2.0
// Sign-in page: e-mail address and password, a passkey or the identity provider, and the reason of a refusal.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { enter, ofConsole, type Session, signIn, wants } from '../../api.ts'
import { Field } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { SignInFrame } from '../../kit/kit.tsx'
import { sentenceOf } from '../../refusals.ts'
import { t } from '../../words.ts'
import { canUsePasskeys, signInWithPasskey, type Ways, waysToSignIn } from './passkeys.ts'

/** What the identity provider's way left in the address: a code is wanted, or it was refused. */
const leftBehind = window.location.hash

export function SignIn({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [email, setEmail] = useState('')
  useEffect(() => history.replaceState(null, '', window.location.pathname), [])
  if (leftBehind === '#code') return <CodeOnly onSignedIn={onSignedIn} />
  return (
    <SignInFrame title={t('Sign in')}>
      {leftBehind === '#refused' && (
        <div class="callout bad" role="alert">
          <p>{t('The sign-in is unknown here, or its address is not verified. Sign in another way.')}</p>
        </div>
      )}
      <PasswordForm email={email} onSignedIn={onSignedIn} action={t('Sign in')}>
        <Field
          label={t('Email address')}
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onInput={setEmail}
        />
      </PasswordForm>
      <p>
        <a href="/console/reset">{t('Forgot the password?')}</a>
      </p>
      <p class="hint">{t('The first start prints address and password, and writes them to credentials.json.')}</p>
    </SignInFrame>
  )
}

/** The code of the authenticator, after the identity provider said who it is. */
function CodeOnly({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    enter(ofConsole<Session>('POST', 'oidc/code', { totp: code })).then(onSignedIn, (error: Error) =>
      setProblem(wordsOf(error)),
    )
  }
  return (
    <SignInFrame title={t('Sign in')}>
      <form class="form" onSubmit={submit}>
        {problem && (
          <div class="callout bad" role="alert">
            <p>{problem}</p>
          </div>
        )}
        <Field
          label={t('Code from the authenticator')}
          autocomplete="one-time-code"
          required
          value={code}
          onInput={setCode}
          hint={t('Or a recovery code')}
        />
        <button type="submit" class="btn primary">
          {t('Sign in')}
        </button>
      </form>
    </SignInFrame>
  )
}

/** Buttons of the ways beside the password that there are here. */
function OtherWays({ onSignedIn, onProblem }: { onSignedIn(session: Session): void; onProblem(words: string): void }) {
  const [ways, setWays] = useState<Ways | null>(null)
  useEffect(() => void waysToSignIn().then(setWays, () => undefined), [])
  const hasPasskeys = ways !== null && canUsePasskeys(ways)
  if (!ways || (!hasPasskeys && ways.oidc === null)) return null
  const byPasskey = (): void => {
    onProblem('')
    signInWithPasskey().then(onSignedIn, (error: Error) =>
      onProblem(error instanceof PamojaError ? wordsOf(error) : t('No passkey was used.')),
    )
  }
  return (
    <div class="other-ways">
      <p class="soft">{t('or')}</p>
      {hasPasskeys && (
        <button type="button" class="btn" onClick={byPasskey}>
          <Icon name="key" />
          {t('Sign in with a passkey')}
        </button>
      )}
      {ways.oidc !== null && (
        <a class="btn" href="/console/api/oidc">
          <Icon name="shield" />
          {t('Sign in with {name}', { name: ways.oidc })}
        </a>
      )}
    </div>
  )
}

interface PasswordFormProps {
  email: string
  action: string
  onSignedIn(session: Session): void
  children?: ComponentChildren
}

/** Password form of the sign-in page; also shown before keys are changed. */
export function PasswordForm({ email, action, onSignedIn, children }: PasswordFormProps) {
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState('')
  const [code, setCode] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const submit = (event: Event): void => {
    event.preventDefault()
    setIsBusy(true)
    signIn(email, password, code ?? undefined)
      .then(onSignedIn, (error: Error) => {
        if (wants(error, 'totp')) setCode((before) => before ?? '')
        setProblem(wordsOf(error))
      })
      .finally(() => setIsBusy(false))
  }
  return (
    <form class="form" onSubmit={submit}>
      {problem && (
        <div class="callout bad" role="alert">
          <p>{problem}</p>
        </div>
      )}
      {children}
      <Field
        label={t('Password')}
        type="password"
        name="password"
        autocomplete="current-password"
        required
        value={password}
        onInput={setPassword}
      />
      {code !== null && (
        <Field
          label={t('Code from the authenticator')}
          autocomplete="one-time-code"
          required
          value={code}
          onInput={setCode}
          hint={t('Or a recovery code')}
        />
      )}
      <button type="submit" class="btn primary" disabled={isBusy}>
        {action}
      </button>
      <OtherWays onSignedIn={onSignedIn} onProblem={setProblem} />
    </form>
  )
}

function wordsOf(error: Error): string {
  if (error instanceof PamojaError && error.retryAfterSeconds !== null)
    return t('Signing in failed too often. Try again in {seconds} seconds.', { seconds: error.retryAfterSeconds })
  return sentenceOf(error)
}
