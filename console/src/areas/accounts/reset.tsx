// SPDX-License-Identifier: Apache-2.0
// Password reset: the page asks for a link by mail, and sets a new password by that link. The link's secret is in the
// fragment (#) of the address, which browsers send to no server.
import { useState } from 'preact/hooks'
import { ofConsole } from '../../api.ts'
import { Field, NewPassword } from '../../kit/fields.tsx'
import { Problem, SignInFrame } from '../../kit/kit.tsx'
import { t } from '../../words.ts'

export function Reset() {
  const [secret] = useState(() => window.location.hash.slice(1))
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isDone, setIsDone] = useState(false)
  const isAsking = secret === ''
  const submit = (event: Event): void => {
    event.preventDefault()
    setError(null)
    const body = isAsking ? { email: typed } : { reset: secret, password: typed }
    ofConsole('POST', 'reset', body).then(() => {
      history.replaceState(null, '', '/console/reset')
      setIsDone(true)
    }, setError)
  }
  return (
    <SignInFrame title={t('Another password')}>
      {error && <Problem error={error} />}
      {isDone ? (
        <p role="status">
          {isAsking
            ? t('If a member has this address, a link was sent to it. The link is valid for an hour.')
            : t('The password is changed. Sign in with it.')}
        </p>
      ) : (
        <form class="form" onSubmit={submit}>
          {isAsking ? (
            <Field
              key="address"
              label={t('Email address')}
              type="email"
              autocomplete="username"
              required
              value={typed}
              onInput={setTyped}
            />
          ) : (
            <NewPassword key="password" value={typed} onInput={setTyped} />
          )}
          <button type="submit" class="btn primary">
            {isAsking ? t('Send the link') : t('Edit')}
          </button>
        </form>
      )}
      <p>
        <a href="/console">{t('Sign in')}</a>
      </p>
    </SignInFrame>
  )
}
