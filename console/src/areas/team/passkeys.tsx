// SPDX-License-Identifier: Apache-2.0
// Passkeys of a member: what there is, making another, and removing one.
import { useState } from 'preact/hooks'
import { ofConsole } from '../../api.ts'
import { confirm, removing } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field } from '../../kit/fields.tsx'
import { Card, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { ago } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { canUsePasskeys, makePasskey, waysToSignIn } from '../accounts/passkeys.ts'

interface Passkey {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly last_used_at: string | null
}

export function Passkeys() {
  const { run, turn, error } = useDoing()
  const [name, setName] = useState('')
  const ways = useLoad('ways', waysToSignIn)
  const own = useLoad(`passkeys ${turn}`, () => ofConsole<{ data: Passkey[] }>('GET', 'passkeys'), { keeps: true })
  const add = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      await makePasskey(name)
      setName('')
    })
  }
  const remove = async ({ id, name: called }: Passkey): Promise<void> => {
    const answer = await confirm(removing(called, t('It can no longer be used to sign in.')))
    if (answer !== null) run(() => ofConsole('DELETE', `passkeys/${id}`))
  }
  return (
    <Card title={t('Passkeys')}>
      <p class="soft">
        {t('A passkey signs you in with your fingerprint, face or device PIN, instead of password and code.')}
      </p>
      {error && <Problem error={error} />}
      {own.value && own.value.data.length > 0 && (
        <ul class="lines">
          {own.value.data.map((passkey) => (
            <li key={passkey.id}>
              <div>
                <p class="strong" dir="auto">
                  {passkey.name}
                </p>
                <p class="soft">
                  {passkey.last_used_at === null
                    ? t('added {time}, not used yet', { time: ago(passkey.created_at) })
                    : t('last used {time}', { time: ago(passkey.last_used_at) })}
                </p>
              </div>
              <button
                type="button"
                class="btn small danger"
                aria-label={t('Remove {name}', { name: passkey.name })}
                onClick={() => void remove(passkey)}
              >
                {t('Remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {ways.value && !canUsePasskeys(ways.value) && <p>{t('This browser cannot use passkeys at this address.')}</p>}
      {ways.value && canUsePasskeys(ways.value) && (
        <form class="form in-line" onSubmit={add}>
          <Field label={t('Name of this device')} value={name} onInput={setName} required />
          <button type="submit" class="btn primary">
            {t('Add a passkey')}
          </button>
        </form>
      )}
    </Card>
  )
}
