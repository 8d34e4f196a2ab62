// SPDX-License-Identifier: Apache-2.0
// Somebody who was invited chooses a password. The secret of the invitation is behind the # of the address, which no server sees.
import { useState } from 'preact/hooks'
import { join, type Session } from '../../api.ts'
import { Field, Mark, Problem } from '../../kit/kit.tsx'
import { t } from '../../words.ts'

export function Join({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [invitation] = useState(() => window.location.hash.slice(1))
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const submit = (event: Event): void => {
    event.preventDefault()
    join(invitation, password).then((session) => {
      history.replaceState(null, '', '/console')
      onSignedIn(session)
    }, setError)
  }
  return (
    <main class="sign-in">
      <div class="card">
        <p class="brand">
          <Mark />
          Pamoja
        </p>
        <h1>{t('Welcome')}</h1>
        {error && <Problem error={error} />}
        <form class="form" onSubmit={submit}>
          <Field
            label={t('Choose a password')}
            type="password"
            autocomplete="new-password"
            required
            value={password}
            onInput={setPassword}
            hint={t('At least ten characters')}
          />
          <button type="submit" class="btn primary">
            {t('Begin')}
          </button>
        </form>
      </div>
    </main>
  )
}
