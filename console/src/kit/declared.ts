// SPDX-License-Identifier: Apache-2.0
// Forms from what the API declares: the fields of an operation's body as openapi.json has them, and the body from what was typed.
import { currentLanguage, t } from '../words.ts'
import type { FieldOf, Filled } from './form.tsx'
import { words } from './words.ts'

export interface DeclaredField {
  readonly name: string
  readonly as: 'text' | 'choice' | 'flag' | 'number' | 'list' | 'json'
  readonly among?: readonly string[]
  /** What the reference says of it, in English. */
  readonly hint?: string
  readonly isRequired?: boolean
  /** Whether it is written, and never shown. */
  readonly isSecret?: boolean
  readonly isLong?: boolean
  /** Payment providers that need it, and those that pay out by it. */
  readonly needs?: readonly string[]
  readonly pays?: readonly string[]
}

const flags = ['no', 'yes']

/** Field of a form; the hint is the reference's own, which is English. */
export function fieldFor(field: DeclaredField, { isMore = false, isChange = false } = {}): FieldOf {
  const { name, as, among, hint, isRequired = false, isSecret = false, isLong = false } = field
  const said =
    isSecret && isChange ? t('Empty: unchanged') : currentLanguage() === 'en' ? hint?.replaceAll('`', '') : undefined
  return {
    name,
    label: words(name),
    ...(said === undefined ? {} : { hint: said }),
    ...(as === 'flag' ? { among: flags } : among ? { among } : {}),
    isRequired: isRequired && !isChange,
    isSecret: isSecret && !isLong,
    isLong: isLong || as === 'json',
    isMore,
  }
}

/** Body of the request: what was typed, as each field wants it. Nothing is sent of what was left alone. */
export function bodyOf(fields: readonly DeclaredField[], filled: Filled, before: Filled = {}): Record<string, unknown> {
  const typed = fields.filter(({ name }) => filled[name] !== before[name])
  return Object.fromEntries(typed.map(({ name, as }) => [name, typedAs(filled[name], as)]))
}

function typedAs(text: string | undefined, as: DeclaredField['as']): unknown {
  if (as === 'flag') return text === 'yes'
  if (as === 'list') return (text ?? '').split(/[\s,]+/).filter(Boolean)
  if (text === undefined) return null
  if (as === 'number') return Number(text)
  return as === 'json' ? JSON.parse(text) : text
}

/** What a record has, as its form shows it. */
export function filledBy(fields: readonly DeclaredField[], record: object): Filled {
  const values = new Map<string, unknown>(Object.entries(record))
  return Object.fromEntries(fields.map(({ name, as }) => [name, textOf(values.get(name), as)]))
}

function textOf(value: unknown, as: DeclaredField['as']): string | undefined {
  if (value === undefined || value === null) return undefined
  if (as === 'flag') return value === true ? 'yes' : 'no'
  if (as === 'list' && Array.isArray(value)) return value.join(', ') || undefined
  return as === 'json' ? JSON.stringify(value, null, 2) : String(value)
}
