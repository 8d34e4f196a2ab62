// SPDX-License-Identifier: Apache-2.0
// Invitation page: a new member chooses a password, or accepts through the identity provider. The invitation's secret is in the fragment (#) of the address, which
// browsers send to no server.
import { useState } from 'preact/hooks'
import { join, type Session } from '../../api.ts'
import { NewPassword } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Problem, SignInFrame } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { throughProvider, waysToSignIn } from '../accounts/passkeys.ts'

export function Join({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [invitation] = useState(() => window.location.hash.slice(1))
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const provider = useLoad('ways', waysToSignIn).value?.oidc ?? null
  const submit = (event: Event): void => {
    event.preventDefault()
    join(invitation, password).then((session) => {
      history.replaceState(null, '', '/console')
      onSignedIn(session)
    }, setError)
  }
  return (
    <SignInFrame title={t('Welcome')}>
      {error && <Problem error={error} />}
      <form class="form" onSubmit={submit}>
        <NewPassword value={password} onInput={setPassword} />
        <button type="submit" class="btn primary">
          {t('Begin')}
        </button>
      </form>
      {provider !== null && (
        <div class="other-ways">
          <p class="soft">{t('or')}</p>
          <button type="button" class="btn" onClick={() => void throughProvider({ invitation }).catch(setError)}>
            <Icon name="shield" />
            {t('Begin with {name}', { name: provider })}
          </button>
        </div>
      )}
    </SignInFrame>
  )
}
