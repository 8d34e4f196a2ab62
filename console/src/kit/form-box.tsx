// SPDX-License-Identifier: Apache-2.0
// Form over the page: filled in, sent, closed; a secret that comes of it is shown until it is closed.
import { useState } from 'preact/hooks'
import { t } from '../words.ts'
import { Dialog, say } from './dialogs.tsx'
import { FormFields, type FormOf } from './form.tsx'
import { NewKey } from './kit.tsx'

export function FormBox({ form, onClose, onMade }: { form: FormOf; onClose(): void; onMade(): void }) {
  const [secret, setSecret] = useState<string | null>(null)
  const made = (shown: string | null): void => {
    onMade()
    setSecret(shown)
    if (shown !== null) return
    say(t('Done: {name}', { name: t(form.title) }))
    onClose()
  }
  return (
    <Dialog label={t(form.title)} onClose={onClose} class="form-box">
      <header>
        <h2>{t(form.title)}</h2>
        <button type="button" class="btn quiet small push" onClick={onClose}>
          {t('Close')}
        </button>
      </header>
      {secret ? <NewKey secret={secret} /> : <FormFields form={form} onMade={made} class="form" />}
    </Dialog>
  )
}
