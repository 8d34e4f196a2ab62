// SPDX-License-Identifier: Apache-2.0
// The identity provider of the installation, which a member connects with, so as to sign in through it.
import { useState } from 'preact/hooks'
import { useDoing } from '../../kit/doing.ts'
import { Card, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { throughProvider, waysToSignIn } from '../accounts/passkeys.ts'

export function Provider() {
  const { run, error } = useDoing()
  const [isNew] = useState(() => window.location.hash === '#connected')
  const name = useLoad('ways', waysToSignIn).value?.oidc ?? null
  if (name === null) return null
  return (
    <Card title={name}>
      {error && <Problem error={error} />}
      {isNew && (
        <div class="callout good" role="status">
          <p>{t('Connected. You can sign in with {name} from now on.', { name })}</p>
        </div>
      )}
      <p class="soft">{t('Connect it to sign in there instead of with a password.')}</p>
      <p>
        <button type="button" class="btn" onClick={() => run(() => throughProvider({}))}>
          {t('Connect {name}', { name })}
        </button>
      </p>
    </Card>
  )
}
