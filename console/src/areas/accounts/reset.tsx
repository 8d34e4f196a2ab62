// SPDX-License-Identifier: Apache-2.0
// Another password for who forgot theirs: a link by mail is asked for, and taken up. Its secret is behind the # of the address,
// which no server sees.
import { useState } from 'preact/hooks'
import { ofConsole } from '../../api.ts'
import { Field, Mark, Problem } from '../../kit/kit.tsx'
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
    <main class="sign-in">
      <div class="card">
        <p class="brand">
          <Mark />
          Pamoja
        </p>
        <h1>{t('Another password')}</h1>
        {error && <Problem error={error} />}
        {isDone ? (
          <p role="status">
            {isAsking
              ? t('If somebody has this address, a link is on its way to it. It works for an hour.')
              : t('It is changed. Sign in with it.')}
          </p>
        ) : (
          <form class="form" onSubmit={submit}>
            {isAsking ? (
              <Field
                key="address"
                label={t('E-mail address')}
                type="email"
                autocomplete="username"
                required
                value={typed}
                onInput={setTyped}
              />
            ) : (
              <Field
                key="password"
                label={t('Choose a password')}
                type="password"
                autocomplete="new-password"
                required
                value={typed}
                onInput={setTyped}
                hint={t('At least ten characters')}
              />
            )}
            <button type="submit" class="btn primary">
              {isAsking ? t('Send the link') : t('Change it')}
            </button>
          </form>
        )}
        <p>
          <a href="/console">{t('Sign in')}</a>
        </p>
      </div>
    </main>
  )
}
