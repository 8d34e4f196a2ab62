// SPDX-License-Identifier: Apache-2.0
// Parts that every page is made of: heads, cards, pills, facts, fields, and what stands where nothing is yet.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { sentenceOf } from '../api.ts'
import { t } from '../words.ts'
import { words } from './words.ts'

export function Mark() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="12.5" cy="16" r="5.5" />
      <circle cx="19.5" cy="16" r="5.5" />
    </svg>
  )
}

/** Frame of the pages before somebody is signed in. */
export function SignInFrame({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <main class="sign-in">
      <div class="card">
        <p class="brand">
          <Mark />
          Pamoja
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}

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
      hint={t('At least ten characters')}
    />
  )
}

export function PageHead({ title, note, children }: { title: string; note?: string; children?: ComponentChildren }) {
  return (
    <header class="page-head">
      <h1>{t(title)}</h1>
      {note && <span class="soft">{t(note)}</span>}
      <div class="push">{children}</div>
    </header>
  )
}

export function Card({
  title,
  action,
  children,
}: {
  title: string
  action?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{t(title)}</h2>
        {action}
      </header>
      {children}
    </section>
  )
}

/** Secret of a new key, which is shown once. */
export function NewKey({ secret }: { secret: string }) {
  return (
    <div class="callout good" role="status">
      <p>{t('This key is shown once. Copy it now.')}</p>
      <p class="mono">{secret}</p>
      <button type="button" class="btn" onClick={() => void navigator.clipboard.writeText(secret)}>
        {t('Copy')}
      </button>
    </div>
  )
}

/** Table of figures: a name and its figures in each row. */
export function Figures({
  names: [first = '', ...names],
  rows,
}: {
  names: readonly string[]
  rows: readonly { name: ComponentChildren; key: string; figures: readonly string[] }[]
}) {
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">{t(first)}</th>
          {names.map((name) => (
            <th key={name} scope="col" class="number">
              {t(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, key, figures }) => (
          <tr key={key}>
            <td>{name}</td>
            {figures.map((figure, i) => (
              <td key={i} class="number">
                {figure}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const tones: Readonly<Record<string, string>> = {
  ...{ delivered: 'good', completed: 'good', active: 'good', received: 'in', sent: 'note', processing: 'note' },
  ...{ failed: 'bad', revoked: 'bad', expired: 'bad', cancelled: 'idle', reversed: 'warn', requires_action: 'warn' },
  ...{ disabled: 'warn', expiring: 'warn', waiting: 'warn', invited: 'warn', pending: 'note', suspended: 'bad' },
  ...{
    approved: 'good',
    refused: 'bad',
    rejected: 'bad',
    over: 'idle',
    answered: 'good',
    ringing: 'warn',
    paid: 'good',
  },
  ...{ verified: 'good', up: 'good', down: 'bad', degraded: 'warn', bounced: 'bad', read: 'good', open: 'warn' },
}
const signs: Readonly<Record<string, string>> = { good: '✓', bad: '✕', warn: '!', in: '↙', note: '→', idle: '·' }

/** A state: its sign, its word and its colour. */
export function Pill({ state }: { state: string }) {
  const tone = tones[state] ?? 'idle'
  return (
    <span class={`pill ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {words(state)}
    </span>
  )
}

export function Facts({ rows }: { rows: readonly [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{t(name)}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="callout bad" role="alert">
      <p>{sentenceOf(error)}</p>
      {error instanceof PamojaError && error.requestId && <p class="mono soft">{error.requestId}</p>}
      {retry && (
        <button type="button" class="btn" onClick={retry}>
          {t('Try again')}
        </button>
      )}
    </div>
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
  const named = Array.isArray(fields) ? fields.find((one) => Object(one).field === field) : undefined
  if (named) return sentenceOf(new Error(String(Object(named).message)))
  return !Array.isArray(fields) && fieldOfCode[error.code] === field ? sentenceOf(error) : undefined
}

export function Nothing({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="nothing">
      <p class="strong">{t(title)}</p>
      {children && <p class="soft">{typeof children === 'string' ? t(children) : children}</p>}
    </div>
  )
}

export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="hidden">{t('Loading')}</span>
    </div>
  )
}

/** Each kind of input has attributes of its own, which the compiler tells apart by the type. */
const inputs = { text: { type: 'text' }, email: { type: 'email' }, password: { type: 'password' } } as const

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
  onChange,
  isRequired = false,
}: {
  label: string
  value: string
  among: readonly string[]
  /** Whether one of them is always chosen. */
  isRequired?: boolean
  onChange(value: string): void
}) {
  const id = useId()
  return (
    <div class="choice">
      <label for={id}>{t(label)}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {!isRequired && <option value="">{t('Any')}</option>}
        {among.map((one) => (
          <option key={one} value={one}>
            {words(one)}
          </option>
        ))}
      </select>
    </div>
  )
}
