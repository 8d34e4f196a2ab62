// SPDX-License-Identifier: Apache-2.0
// What is typed into a form as the API takes it: numbers, lists, moments of the account's own time, rows of a file.
import { t } from '../words.ts'
import { csvRows } from './csv.ts'
import { momentAt } from './words.ts'

export type Kind = 'number' | 'flag' | 'list' | 'json' | 'moment' | 'date' | 'rows' | 'file'

interface Typed {
  readonly name: string
  readonly label: string
  readonly as?: Kind
  readonly value?: (text: string) => unknown
  readonly isWhole?: boolean
}

type Filled = Readonly<Record<string, string | undefined>>

/** Values of the fields that are filled in; where a record is changed, of those that differ, null where one was emptied. */
export function valuesOf(fields: readonly Typed[], filled: Filled, before?: Filled): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    const text = filled[field.name]
    const isWanted = before ? isChanged(field, fields, filled, before) : text !== undefined
    if (!isWanted || (text === undefined && before?.[field.name] === undefined)) continue
    put(values, field.name.split('.'), text === undefined ? null : sentOf(field, text))
  }
  return values
}

/** Whether a field differs, or another of the same object where that is sent whole. */
function isChanged(field: Typed, fields: readonly Typed[], filled: Filled, before: Filled): boolean {
  const [object] = field.name.split('.')
  const together = field.isWhole
    ? fields.filter(({ name, isWhole }) => isWhole && name.split('.')[0] === object)
    : [field]
  return together.some(({ name }) => filled[name] !== before[name])
}

function put(into: Record<string, unknown>, [first = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    into[first] = value
    return
  }
  const inner: Record<string, unknown> = Object(into[first] ?? {})
  into[first] = inner
  put(inner, rest, value)
}

function sentOf({ as, label, value }: Typed, text: string): unknown {
  if (value) return value(text)
  if (as === 'number') return Number(text)
  if (as === 'flag') return text === 'yes'
  if (as === 'list') return listOf(text)
  if (as === 'json') return jsonOf(text, label)
  if (as === 'moment') return momentAt(text)
  if (as === 'rows') return csvRows(text)
  return text
}

/** Parts between commas or on lines. */
export function listOf(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter(Boolean)
}

function jsonOf(text: string, label: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(t('{name} is not JSON', { name: t(label) }))
  }
}
