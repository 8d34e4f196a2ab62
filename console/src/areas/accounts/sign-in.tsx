// SPDX-License-Identifier: Apache-2.0
// Sign-in page: e-mail address and password, and the reason of a refusal.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { type Session, sentenceOf, signIn, wants } from '../../api.ts'
import { Field, SignInFrame } from '../../kit/kit.tsx'
import { t } from '../../words.ts'

export function SignIn({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [email, setEmail] = useState('')
  return (
    <SignInFrame title={t('Sign in')}>
      <PasswordForm email={email} onSignedIn={onSignedIn} action={t('Sign in')}>
        <Field
          label={t('E-mail address')}
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
          label={t('Code of the authenticator')}
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
    </form>
  )
}

function wordsOf(error: Error): string {
  if (error instanceof PamojaError && error.retryAfterSeconds !== null)
    return t('Signing in failed too often. Try again in {seconds} seconds.', { seconds: error.retryAfterSeconds })
  return sentenceOf(error)
}
