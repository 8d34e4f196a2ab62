// SPDX-License-Identifier: Apache-2.0
// Fields of forms: label, hint, what is wrong with what was typed. A refusal keeps what was typed.
import { useId } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { ruleOf, sentenceOf } from '../refusals.ts'
import { t } from '../words.ts'
import { words } from './words.ts'

/** Field for a new password. */
export function NewPassword({ value, onInput }: { value: string; onInput(value: string): void }) {
  return (
    <Field
      label={t('Choose a password')}
      type="password"
      autocomplete="new-password"
      required
      value={value}
      onInput={onInput}
      hint={t('At least 10 characters')}
    />
  )
}

/** What a refusal says of one field; `fieldOfCode` has the field of codes that name none. */
export function problemOf(
  error: Error | null,
  field: string,
  fieldOfCode: Readonly<Record<string, string>> = {},
): string | undefined {
  if (!(error instanceof PamojaError)) return undefined
  const fields: unknown = error.error.fields
  const named = Array.isArray(fields) ? fields.find((one) => isWithin(String(Object(one).field), field)) : undefined
  if (named) return ruleOf(String(Object(named).code), String(Object(named).message))
  return !Array.isArray(fields) && fieldOfCode[error.code] === field ? sentenceOf(error) : undefined
}

/** Whether a refusal is about a field, or about a part of it: `skills[0].level` is of `skills`. */
function isWithin(refused: string, field: string): boolean {
  return refused === field || refused.startsWith(`${field}.`) || refused.startsWith(`${field}[`)
}

/** Each kind of input has attributes of its own, which the compiler tells apart by the type. */
const inputs = {
  text: { type: 'text' },
  email: { type: 'email' },
  password: { type: 'password' },
  date: { type: 'date' },
  moment: { type: 'datetime-local' },
  number: { type: 'text', inputMode: 'decimal' },
  phone: { type: 'tel' },
} as const

interface FieldProps {
  label: string
  value: string
  onInput(value: string): void
  type?: keyof typeof inputs
  hint?: string
  /** Why the server refused what is in it. */
  problem?: string | undefined
  name?: string
  autocomplete?: string
  required?: boolean
  placeholder?: string
  disabled?: boolean
}

export function Field({ label, value, onInput, hint, problem, type = 'text', ...rest }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{t(label)}</label>
      <input
        id={id}
        {...inputs[type]}
        value={value}
        aria-describedby={described || undefined}
        aria-invalid={problem ? 'true' : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
        dir={type === 'phone' ? 'ltr' : 'auto'}
        {...rest}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {t(hint)}
        </p>
      )}
      {problem && (
        <p class="hint bad" role="alert" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

export function Choice({
  label,
  value,
  among,
  names = {},
  onChange,
  isRequired = false,
  hint,
  problem,
}: {
  label: string
  value: string
  hint?: string
  /** Why the server refused it. */
  problem?: string | undefined
  among: readonly string[]
  /** Words of those that are no words themselves, such as ids. */
  names?: Readonly<Record<string, string>>
  /** Whether one of them is always chosen. */
  isRequired?: boolean
  onChange(value: string): void
}) {
  const id = useId()
  return (
    <div class="choice">
      <label for={id}>{t(label)}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint || problem ? `${id}-hint` : undefined}
        aria-invalid={problem ? 'true' : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {!isRequired && <option value="">{t('Any')}</option>}
        {among.map((one) => (
          <option key={one} value={one}>
            {names[one] ?? words(one)}
          </option>
        ))}
      </select>
      {(problem ?? hint) && (
        <p class={problem ? 'hint bad' : 'hint'} id={`${id}-hint`}>
          {problem ?? t(hint ?? '')}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps {
  label: string
  value: string
  onInput(value: string): void
  rows?: number
  required?: boolean
  maxLength?: number
  hint?: string
  problem?: string | undefined
}

/** Several lines of text. */
export function TextField({ label, value, onInput, hint, problem, rows = 4, ...rest }: TextFieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{t(label)}</label>
      <textarea
        id={id}
        rows={rows}
        dir="auto"
        value={value}
        aria-describedby={hint || problem ? `${id}-hint` : undefined}
        aria-invalid={problem ? 'true' : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...rest}
      />
      {(problem ?? hint) && (
        <p class={problem ? 'hint bad' : 'hint'} id={`${id}-hint`}>
          {problem ?? t(hint ?? '')}
        </p>
      )}
    </div>
  )
}

/** A file from the computer or the camera. */
export function FileField({
  label,
  onFile,
  hint,
  problem,
  required,
  accept,
}: {
  label: string
  onFile(file: File | undefined): void
  hint?: string
  problem?: string | undefined
  required?: boolean
  accept?: string
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{t(label)}</label>
      <input
        id={id}
        type="file"
        required={required}
        accept={accept}
        aria-describedby={hint || problem ? `${id}-hint` : undefined}
        onChange={(event) => onFile(event.currentTarget.files?.[0])}
      />
      {(problem ?? hint) && (
        <p class={problem ? 'hint bad' : 'hint'} id={`${id}-hint`}>
          {problem ?? t(hint ?? '')}
        </p>
      )}
    </div>
  )
}

/** On or off. */
export function Switch({ label, isOn, onChange }: { label: string; isOn: boolean; onChange(isOn: boolean): void }) {
  return (
    <label class="switch">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      {t(label)}
    </label>
  )
}
