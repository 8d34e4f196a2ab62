// SPDX-License-Identifier: Apache-2.0
// API keys of the environment: made, shown once, rotated and revoked.
import { useState } from 'preact/hooks'
import { apiKeysList, apiKeysRevoke, apiKeysRotate } from '#sdk/operations.ts'
import { api, currentEnvironment } from '../../api.ts'
import { Deeds } from '../../kit/detail.tsx'
import { NewKey, PageHead } from '../../kit/kit.tsx'
import { type ListOf, ListRecords, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { changeKey, newKey, scopesText } from './forms.ts'

export function Keys() {
  const [made, setMade] = useState<string | null>(null)
  const [turn, setTurn] = useState(0)
  const where = currentEnvironment() === 'test' ? t('Test') : t('Live')
  return (
    <div class="page">
      <PageHead title="Keys" note={where}>
        <Deeds
          deeds={[{ name: 'Create API key', icon: 'plus', isMain: true, scope: 'keys:write', form: newKey() }]}
          onDone={() => setTurn((before) => before + 1)}
        />
      </PageHead>
      {made && <NewKey secret={made} />}
      <ListRecords list={keysOf(setMade)} turn={turn} />
    </div>
  )
}

function keysOf(show: (secret: string) => void): ListOf {
  return {
    title: 'Keys',
    icon: 'key',
    path: apiKeysList.at(),
    query: { environment: currentEnvironment() },
    keyField: 'id',
    columns: [
      { name: 'Name', field: 'name', priority: 1, card: 'title' },
      {
        name: 'Key',
        field: 'prefix',
        as: 'mono',
        priority: 2,
        card: 'sub',
        text: (prefix, { last4 }) => `${textOf(prefix)}…${textOf(last4)}`,
      },
      { name: 'May', field: 'scopes', priority: 4, grows: true, text: scopesText },
      { name: 'Last used', field: 'last_used_at', as: 'time', priority: 3, card: 'end' },
      { name: 'Expires', field: 'expires_at', as: 'time', priority: 5 },
      { name: 'State', field: 'status', as: 'state', priority: 1, card: 'state' },
    ],
    none: { title: 'No keys', advice: 'Programs use keys to call the API.' },
    open: ['/keys/', 'id'],
    actions: [
      { name: 'Change', scope: 'keys:write', shows: ({ status }) => status !== 'revoked', form: changeKey },
      {
        name: 'Rotate',
        scope: 'keys:write',
        shows: ({ status }) => status !== 'revoked',
        asks: ({ name }) => ({
          title: t('Rotate {name}?', { name: textOf(name) }),
          consequences: [t('A new key is shown once.'), t('The old key stays valid for another day.')],
          action: t('Rotate {name}', { name: textOf(name) }),
          isDanger: false,
        }),
        run: async ({ id }) => show((await apiKeysRotate(api, { id: textOf(id) })).key),
      },
      {
        name: 'Revoke',
        isDanger: true,
        scope: 'keys:write',
        shows: ({ status }) => status !== 'revoked',
        asks: ({ name }) => ({
          title: t('Revoke {name}?', { name: textOf(name) }),
          consequences: [t('Programs that use it are refused at once.'), t('It cannot be restored.')],
          action: t('Revoke {name} for good', { name: textOf(name) }),
          keep: t('Keep it'),
        }),
        run: ({ id }) => apiKeysRevoke(api, { id: textOf(id) }),
      },
    ],
  }
}
