// SPDX-License-Identifier: Apache-2.0
// API keys of the environment: made, shown once, and revoked. Who signed in a while ago gives their password again first.
import { useState } from 'preact/hooks'
import { ApiError, currentEnvironment, post, remove } from '../../api.ts'
import { Card, Field, PageHead, Pill, Problem } from '../../kit/kit.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import type { ApiKey } from '../../records.ts'
import { t } from '../../words.ts'
import { PasswordForm } from './sign-in.tsx'

export function Keys({ email }: { email: string }) {
  const [name, setName] = useState('')
  const [made, setMade] = useState<string | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [waiting, setWaiting] = useState<(() => void) | null>(null)
  const [turn, setTurn] = useState(0)

  const attempt = (what: () => Promise<void>): void => {
    setError(null)
    what().then(
      () => setTurn((before) => before + 1),
      (refused: Error) => {
        if (refused instanceof ApiError && refused.wantsPassword) setWaiting(() => () => attempt(what))
        else setError(refused)
      },
    )
  }
  const make = (event: Event): void => {
    event.preventDefault()
    attempt(async () => {
      const { key } = await post<{ key: string }>('/v1/api-keys', { name })
      setMade(key)
      setName('')
    })
  }
  const goOn = (): void => {
    setWaiting(null)
    waiting?.()
  }
  return (
    <div class="page">
      <PageHead title="Keys" note={t('of the {environment} environment', { environment: currentEnvironment() })} />
      {error && <Problem error={error} />}
      {waiting && (
        <Card title="Your password, once more">
          <PasswordForm email={email} action={t('Go on')} onSignedIn={goOn} />
        </Card>
      )}
      {made && (
        <div class="callout good" role="status">
          <p>{t('This key is shown once. Copy it now.')}</p>
          <p class="mono">{made}</p>
          <button type="button" class="btn" onClick={() => void navigator.clipboard.writeText(made)}>
            {t('Copy')}
          </button>
        </div>
      )}
      <Card title="Make a key">
        <form class="form in-line" onSubmit={make}>
          <Field label="Name" value={name} onInput={setName} required hint="Where it is used, such as Shop backend" />
          <button type="submit" class="btn primary">
            {t('Make it')}
          </button>
        </form>
      </Card>
      <Records<ApiKey>
        key={turn}
        label="Keys"
        path="/v1/api-keys"
        query={{ environment: currentEnvironment() }}
        keyOf={({ id }) => id}
        empty={none('No keys', 'A program needs one to use the API.')}
        columns={[
          { name: 'Name', show: (key) => key.name },
          { name: 'Key', show: ({ prefix, last4 }) => <span class="mono">{`${prefix}…${last4}`}</span> },
          { name: 'May', show: ({ scopes }) => scopes.join(', ') },
          { name: 'State', show: ({ status }) => <Pill state={status} /> },
          { name: 'Last used', show: ({ last_used_at }) => moment(last_used_at) },
          {
            name: 'Revoke',
            show: (key) =>
              key.status !== 'revoked' && (
                <Revoke name={key.name} onSure={() => attempt(() => remove(`/v1/api-keys/${key.id}`))} />
              ),
          },
        ]}
      />
    </div>
  )
}

/** Asks first and names the key: it cannot be undone. */
function Revoke({ name, onSure }: { name: string; onSure(): void }) {
  const [isAsking, setIsAsking] = useState(false)
  if (!isAsking)
    return (
      <button
        type="button"
        class="btn small"
        aria-label={t('Revoke {name}', { name })}
        onClick={() => setIsAsking(true)}
      >
        {t('Revoke')}
      </button>
    )
  return (
    <span class="row">
      <button type="button" class="btn small danger" onClick={onSure}>
        {t('Revoke {name} for good', { name })}
      </button>
      <button type="button" class="btn small" onClick={() => setIsAsking(false)}>
        {t('Keep it')}
      </button>
    </span>
  )
}
