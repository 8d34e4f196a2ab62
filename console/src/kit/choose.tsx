// SPDX-License-Identifier: Apache-2.0
// Controls that spare people ids and notations: one of the records that there are by its name, several of them, and rows and pairs
// that are filled in like a small table.
import { useId, useState } from 'preact/hooks'
import { currentEnvironment } from '../api.ts'
import { t } from '../words.ts'
import { Choice, Field, TextField } from './fields.tsx'
import { listOf } from './filled.ts'
import type { Control } from './form.tsx'
import { Lines } from './lines.tsx'
import { useLoad } from './load.ts'

/** What is chosen among: what is sent -> its name. */
export type Named = Readonly<Record<string, string>>

export interface Known {
  readonly key: string
  load(): Promise<Named>
}

/** How many are offered as a list; of more, the one that is meant is typed, with suggestions. */
const maxOffered = 100

function useKnown({ key, load }: Known): Named | null {
  const { value, error } = useLoad(`${key} ${currentEnvironment()}`, load)
  return value ?? (error ? {} : null)
}

/** One of what there is, by its name; `isOpen` lets another be typed. */
export const oneOf =
  (known: Known, { isOpen = false } = {}) =>
  (control: Control) => <OneOf known={known} isOpen={isOpen} {...control} />

export function OneOf({ known, isOpen = false, ...control }: Control & { known: Known; isOpen?: boolean }) {
  const id = useId()
  const { label, hint, value, problem, required = false, onInput } = control
  const read = useKnown(known)
  const named = read ?? {}
  const all = Object.entries(named)
  const isTyped = isOpen || (read !== null && all.length === 0) || all.length >= maxOffered
  const note = problem ?? (hint && t(hint))
  return (
    <div class="field">
      <label for={id}>{t(label)}</label>
      {isTyped ? (
        <input
          id={id}
          required={required}
          list={`${id}-known`}
          value={value}
          autocomplete="off"
          dir="auto"
          aria-describedby={note ? `${id}-hint` : undefined}
          aria-invalid={problem ? 'true' : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <select
          id={id}
          required={required}
          value={value}
          aria-describedby={note ? `${id}-hint` : undefined}
          aria-invalid={problem ? 'true' : undefined}
          onChange={(event) => onInput(event.currentTarget.value)}
        >
          <option value="">{required ? t('Choose one') : '–'}</option>
          {value !== '' && named[value] === undefined && <option value={value}>{value}</option>}
          {all.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
      )}
      {isTyped && (
        <datalist id={`${id}-known`}>
          {all.map(([one, name]) => (
            <option key={one} value={one}>
              {name === one ? null : name}
            </option>
          ))}
        </datalist>
      )}
      {note && (
        <p class={problem ? 'hint bad' : 'hint'} role={problem ? 'alert' : undefined} id={`${id}-hint`}>
          {note}
        </p>
      )}
    </div>
  )
}

/** Several of a kind, as boxes to tick; gives what is sent, separated by commas. */
export function Several({ label, hint, value, problem, onInput, among }: Control & { among: Named }) {
  const id = useId()
  const chosen = listOf(value)
  const toggle = (one: string): void =>
    onInput((chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]).join(','))
  const missing = chosen.filter((one) => among[one] === undefined).map((one) => [one, one] as const)
  return (
    <fieldset class="field several" aria-describedby={problem ? `${id}-problem` : undefined}>
      <legend>{t(label)}</legend>
      <div class="ticks">
        {[...Object.entries(among), ...missing].map(([one, name]) => (
          <label class="check" key={one}>
            <input type="checkbox" checked={chosen.includes(one)} onChange={() => toggle(one)} />
            <span dir="auto">{name}</span>
          </label>
        ))}
      </div>
      {Object.keys(among).length === 0 && <p class="hint">{t('There are none yet.')}</p>}
      {hint && <p class="hint">{t(hint)}</p>}
      {problem && (
        <p class="hint bad" role="alert" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </fieldset>
  )
}

export const severalAmong = (among: Named) => (control: Control) => <Several {...control} among={among} />

export const severalOf = (known: Known) => (control: Control) => <SeveralOf known={known} {...control} />

function SeveralOf({ known, ...control }: Control & { known: Known }) {
  return <Several {...control} among={useKnown(known) ?? {}} />
}

export interface Column {
  readonly name: string
  readonly label: string
  readonly among?: readonly string[]
  readonly isLong?: boolean
}

type Cells = Readonly<Record<string, string>>

/** Rows that are filled in; gives them as JSON, without what was left empty. */
export const rowsWith = (columns: readonly Column[], add: string) => (control: Control) => (
  <Rows columns={columns} add={add} {...control} />
)

function Rows({ columns, add, ...control }: Control & { columns: readonly Column[]; add: string }) {
  const { label, hint, value, problem, onInput } = control
  const [rows, setRows] = useState<readonly Cells[]>(() => (value === '' ? [] : JSON.parse(value)))
  const keep = (next: readonly Cells[]): void => {
    setRows(next)
    const filled = next.map((row) => Object.fromEntries(Object.entries(row).filter(([, text]) => text !== '')))
    onInput(filled.length === 0 ? '' : JSON.stringify(filled))
  }
  const begun = Object.fromEntries(columns.map(({ name, among }) => [name, among?.[0] ?? '']))
  return (
    <fieldset class="field conditions">
      <legend>{t(label)}</legend>
      <Lines rows={rows} add={add} begun={begun} hint={hint} problem={problem} onChange={keep}>
        {(row, change) =>
          columns.map(({ name, label: title, among, isLong }) => {
            const given = {
              label: title,
              value: row[name] ?? '',
              onInput: (text: string) => change({ ...row, [name]: text }),
            }
            if (among) return <Choice key={name} {...given} among={among} isRequired onChange={given.onInput} />
            return isLong ? <TextField key={name} {...given} rows={2} /> : <Field key={name} {...given} />
          })
        }
      </Lines>
    </fieldset>
  )
}

/** What a text stands for: what was there, where it was left alone; a list or an object, where it is one. */
function readAs(before: unknown, text: string): unknown {
  if (before !== undefined && JSON.stringify(before) === text) return before
  if (!/^[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Names and what stands for them, as JSON of an object; `names` are asked for in any case. */
export function Pairs({ names = [], ...control }: Control & { names?: readonly string[] }) {
  const { label, hint, value, problem, onInput } = control
  const given: Readonly<Record<string, unknown>> = value === '' ? {} : JSON.parse(value)
  const [more, setMore] = useState<readonly (readonly [string, string])[]>(() =>
    Object.entries(given).map(([name, what]) => [name, typeof what === 'string' ? what : JSON.stringify(what)]),
  )
  const asked = names.filter((name) => more.every(([known]) => known !== name)).map((name) => [name, ''] as const)
  const pairs = [...more, ...asked]
  const keep = (next: readonly (readonly [string, string])[]): void => {
    setMore(next)
    const filled = next.filter(([name, what]) => name !== '' && what !== '')
    const values = filled.map(([name, what]) => [name, readAs(given[name], what)])
    onInput(values.length === 0 ? '' : JSON.stringify(Object.fromEntries(values)))
  }
  const set = (at: number, pair: readonly [string, string]): void =>
    keep(pairs.map((one, i) => (i === at ? pair : one)))
  return (
    <fieldset class="field conditions">
      <legend>{t(label)}</legend>
      {pairs.map(([name, what], i) =>
        names.includes(name) ? (
          <Field key={name} label={name} value={what} onInput={(text) => set(i, [name, text])} />
        ) : (
          <div class="form in-line" key={i}>
            <Field label="Name" value={name} onInput={(text) => set(i, [text, what])} />
            <Field label="Value" value={what} onInput={(text) => set(i, [name, text])} />
            <button type="button" class="btn small" onClick={() => keep(pairs.filter((_, at) => at !== i))}>
              {t('Remove')}
            </button>
          </div>
        ),
      )}
      {hint && <p class="hint">{t(hint)}</p>}
      {problem && (
        <p class="hint bad" role="alert">
          {problem}
        </p>
      )}
      <div>
        <button type="button" class="btn small" onClick={() => setMore([...pairs, ['', '']])}>
          {t('Add a value')}
        </button>
      </div>
    </fieldset>
  )
}
