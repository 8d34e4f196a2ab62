// SPDX-License-Identifier: Apache-2.0
// API keys of the environment: made, shown once, and revoked. Who signed in a while ago gives their password again first.
import { useState } from 'preact/hooks'
import { apiKeysCreate, apiKeysList, apiKeysRevoke } from '#sdk/operations.ts'
import type { ApiKey } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import { Card, Field, NewKey, PageHead, Pill, Problem } from '../../kit/kit.tsx'
import { useConfirmed } from '../../kit/list-page.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import { t } from '../../words.ts'

export function Keys({ email }: { email: string }) {
  const [name, setName] = useState('')
  const [made, setMade] = useState<string | null>(null)
  const { run, turn, error, confirming } = useConfirmed(email)
  const make = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const { key } = await apiKeysCreate(api, { body: { name } })
      setMade(key)
      setName('')
    })
  }
  return (
    <div class="page">
      <PageHead title="Keys" note={t('of the {environment} environment', { environment: currentEnvironment() })} />
      {error && <Problem error={error} />}
      {confirming}
      {made && <NewKey secret={made} />}
      {may('keys:write') && (
        <Card title="Make a key">
          <form class="form in-line" onSubmit={make}>
            <Field label="Name" value={name} onInput={setName} required hint="Where it is used, such as Shop backend" />
            <button type="submit" class="btn primary">
              {t('Make it')}
            </button>
          </form>
        </Card>
      )}
      <Records<ApiKey>
        key={turn}
        label="Keys"
        path={apiKeysList.at()}
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
              key.status !== 'revoked' &&
              may('keys:write') && (
                <Revoke name={key.name} onSure={() => run(() => apiKeysRevoke(api, { id: key.id }))} />
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
