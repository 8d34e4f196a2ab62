// SPDX-License-Identifier: Apache-2.0
// Form that creates a resource, described by its fields; closed until opened. A refusal keeps what was typed.
import { useState } from 'preact/hooks'
import { t } from '../words.ts'
import { Choice, Field } from './kit.tsx'

interface FieldOf {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** What is chosen among; the first is what the API takes unless another is given. */
  readonly among?: readonly string[]
  readonly isRequired?: boolean
  readonly isSecret?: boolean
}

/** Fields that were filled in, and no others. */
type Filled = Readonly<Record<string, string | undefined>>

export interface FormOf {
  readonly title: string
  readonly fields: readonly FieldOf[]
  /** Gives a secret that is shown once, if there is one. */
  make(filled: Filled): Promise<string | null>
}

interface MakingProps {
  form: FormOf
  /** Does it, after the password where that is wanted. */
  run(what: () => Promise<unknown>): void
}

export function Making({ form, run }: MakingProps) {
  const [typed, setTyped] = useState<Filled>({})
  const [secret, setSecret] = useState<string | null>(null)
  const set = (name: string) => (value: string) => setTyped((before) => ({ ...before, [name]: value || undefined }))
  const submit = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      setSecret(await form.make(typed))
      setTyped({})
    })
  }
  return (
    <details class="card making">
      <summary>{t(form.title)}</summary>
      {secret && (
        <div class="callout good" role="status">
          <p>{t('This key is shown once. Copy it now.')}</p>
          <p class="mono">{secret}</p>
        </div>
      )}
      <form class="form in-line" onSubmit={submit}>
        {form.fields.map(({ name, label, hint, among, isRequired = false, isSecret = false }) =>
          among ? (
            <Choice
              key={name}
              label={label}
              value={typed[name] ?? among[0] ?? ''}
              among={among}
              isRequired
              onChange={set(name)}
            />
          ) : (
            <Field
              key={name}
              label={label}
              value={typed[name] ?? ''}
              onInput={set(name)}
              required={isRequired}
              type={isSecret ? 'password' : 'text'}
              autocomplete={isSecret ? 'new-password' : 'off'}
              {...(hint === undefined ? {} : { hint })}
            />
          ),
        )}
        <button type="submit" class="btn primary">
          {t('Make it')}
        </button>
      </form>
    </details>
  )
}
