// SPDX-License-Identifier: Apache-2.0
// Invitation page: which account invites whom; a new member chooses a password, or accepts through the identity provider. The
// invitation's secret is in the fragment (#) of the address, which browsers send to no server.
import { useState } from 'preact/hooks'
import { join, ofConsole, type Session } from '../../api.ts'
import { NewPassword } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Problem, SignInFrame } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { throughProvider, waysToSignIn } from '../accounts/passkeys.ts'

interface Invited {
  readonly email: string
  readonly account: string
}

export function Join({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [invitation] = useState(() => window.location.hash.slice(1))
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const invited = useLoad(invitation, () => ofConsole<Invited>('POST', 'invite', { invitation }))
  const provider = useLoad('ways', waysToSignIn).value?.oidc ?? null
  const problem = error ?? invited.error
  const submit = (event: Event): void => {
    event.preventDefault()
    join(invitation, password).then((session) => {
      history.replaceState(null, '', '/console')
      onSignedIn(session)
    }, setError)
  }
  return (
    <SignInFrame title={t('Welcome')}>
      {problem && <Problem error={problem} />}
      {invited.value && <p dir="auto">{t('{account} invites you to their account: {email}', { ...invited.value })}</p>}
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
