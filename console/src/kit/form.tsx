// SPDX-License-Identifier: Apache-2.0
// Form that creates a resource, described by its fields; closed until opened. A refusal keeps what was typed and stands at the
// field that it is about.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Operation } from '#sdk/client.ts'
import { api } from '../api.ts'
import { t } from '../words.ts'
import { Choice, Field, FileField, problemOf, TextField } from './fields.tsx'
import { type Kind, valuesOf } from './filled.ts'
import { Problem } from './kit.tsx'
import { RowsField } from './rows-field.tsx'

export interface FieldOf {
  /** Name in the body; `recipient.name` is `name` of `recipient`. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** What is chosen among; the first is what the API takes unless another is given. */
  readonly among?: readonly string[]
  readonly isRequired?: boolean
  readonly isSecret?: boolean
  /** Whether it has several lines. */
  readonly isLong?: boolean
  /** What is sent for what is typed; the text itself unless given. */
  readonly as?: Kind
  /** Columns that each row of a file has to have; with `as: 'rows'`. */
  readonly columns?: readonly string[]
  /** What is sent for what is typed, where none of the kinds says it. */
  readonly value?: (text: string) => unknown
  /** Whether its object is sent whole when one of its fields changes; `payment_method.phone` is of `payment_method`. */
  readonly isWhole?: boolean
  /** Control of its own, which gives what is typed as a text. */
  readonly show?: (control: Control) => ComponentChildren
  /** Whether it stands below `More settings`, which is closed until opened. */
  readonly isMore?: boolean
}

/** What a control of a form is given. */
export interface Control {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly problem: string | undefined
  readonly required?: boolean
  /** What is typed into the other fields. */
  readonly typed?: Filled
  onInput(value: string): void
}

/** Fields that were filled in, and no others. */
export type Filled = Readonly<Record<string, string | undefined>>

/** Files that were chosen, by the name of their field. */
export type Files = Readonly<Record<string, File | undefined>>

export interface FormOf {
  readonly title: string
  readonly fields: readonly FieldOf[]
  /** Word of the button. */
  readonly action?: string
  /** What the fields begin with. */
  readonly initial?: Filled
  /** What becomes of what is typed, shown below the fields. */
  preview?(filled: Filled): ComponentChildren
  /** Gives a secret that is shown once, if there is one. */
  make(filled: Filled, files: Files): Promise<string | null>
}

/** Form that sends what is typed to an operation, as its body; what is given beside it is sent as well. */
export function formOf<Input extends object, Reply>(
  of: Operation<Input, Reply>,
  {
    given = {},
    fixed = {},
    sends = 'body',
    done,
    ...form
  }: Omit<FormOf, 'make'> & {
    /** Parts of the path. */
    given?: Readonly<Record<string, string>>
    /** What is sent and not asked for. */
    fixed?: object
    sends?: 'body' | 'query'
    /** What comes of the answer: a secret that is shown once, if there is one. */
    done?(reply: Reply): unknown
  },
): FormOf {
  const initial = of.method === 'PATCH' ? form.initial : undefined
  return {
    ...form,
    async make(filled) {
      const values = valuesOf(form.fields, filled, initial)
      // The API checks what is typed, field by field.
      const sent = JSON.stringify([{ ...given, [sends]: { ...fixed, ...values } }])
      // Before `done` is asked for: an argument of an optional call is not evaluated where there is nothing to call.
      const reply = await of(api, ...JSON.parse(sent))
      const shown = done?.(reply)
      return typeof shown === 'string' ? shown : null
    },
  }
}

/** Fields and button of a form, and why it was refused. */
export function FormFields({
  form,
  onMade,
  initial = form.initial ?? {},
  class: look = 'form in-line',
}: {
  form: FormOf
  onMade(secret: string | null): void
  initial?: Filled
  class?: string
}) {
  const [typed, setTyped] = useState<Filled>(initial)
  const [files, setFiles] = useState<Files>({})
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const set = (name: string) => (value: string) => setTyped((before) => ({ ...before, [name]: value || undefined }))
  const submit = (event: Event): void => {
    event.preventDefault()
    setError(null)
    setIsBusy(true)
    Promise.resolve(typed)
      .then((filled) => form.make(filled, files))
      .then((secret) => {
        setTyped(initial)
        onMade(secret)
      }, setError)
      .finally(() => setIsBusy(false))
  }
  const problems = new Map(form.fields.map(({ name }) => [name, problemOf(error, name)]))
  const isNamed = [...problems.values()].some((problem) => problem !== undefined)
  const more = form.fields.filter(({ isMore }) => isMore)
  const shown = (field: FieldOf) => (
    <FormField
      key={field.name}
      field={field}
      value={typed[field.name]}
      typed={typed}
      problem={problems.get(field.name)}
      onInput={set(field.name)}
      onFile={(file) => setFiles((before) => ({ ...before, [field.name]: file }))}
    />
  )
  return (
    <form class={look} onSubmit={submit}>
      {error && !isNamed && <Problem error={error} />}
      {form.fields.filter(({ isMore }) => !isMore).map(shown)}
      {more.length > 0 && (
        <details class="more" open={more.some(({ name }) => problems.get(name) !== undefined)}>
          <summary>{t('More settings')}</summary>
          <div class="form in-line">{more.map(shown)}</div>
        </details>
      )}
      {form.preview?.(typed)}
      <button type="submit" class="btn primary" disabled={isBusy}>
        {t(form.action ?? 'Create')}
      </button>
    </form>
  )
}

function FormField({
  field: { name, label, hint, among, isRequired = false, isSecret = false, isLong = false, as, columns, show },
  value,
  typed,
  problem,
  onInput,
  onFile,
}: {
  field: FieldOf
  value: string | undefined
  typed: Filled
  problem: string | undefined
  onInput(value: string): void
  onFile(file: File | undefined): void
}) {
  const told = { ...(hint === undefined ? {} : { hint }), problem }
  if (show) return <>{show({ label, value: value ?? '', typed, required: isRequired, onInput, ...told })}</>
  if (as === 'file') return <FileField label={label} onFile={onFile} required={isRequired} {...told} />
  if (as === 'rows')
    return <RowsField label={label} columns={columns ?? []} value={value ?? ''} onInput={onInput} {...told} />
  if (as === 'flag')
    return <Choice label={label} value={value ?? 'no'} among={['no', 'yes']} isRequired onChange={onInput} {...told} />
  if (among)
    return (
      <Choice label={label} value={value ?? among[0] ?? ''} among={among} isRequired onChange={onInput} {...told} />
    )
  if (isLong || as === 'json')
    return <TextField label={label} value={value ?? ''} onInput={onInput} required={isRequired} {...told} />
  return (
    <Field
      label={label}
      name={name}
      value={value ?? ''}
      onInput={onInput}
      required={isRequired}
      type={isSecret ? 'password' : as === 'moment' || as === 'date' ? as : 'text'}
      autocomplete={isSecret ? 'new-password' : 'off'}
      {...told}
    />
  )
}
