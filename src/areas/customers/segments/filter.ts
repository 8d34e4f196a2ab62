// SPDX-License-Identifier: Apache-2.0
// Filter of a segment: a tree of conditions over what is known of a customer. It is checked here; `customers.condition` makes SQL of it.
import { AppError } from '../../../kernel/errors.ts'
import { parseDay, parseMoment } from '../../../kernel/time.ts'

const maxConditions = 20
const maxDepth = 6
const maxValues = 100
const maxDays = 3_660

/** Filter that follows every rule. */
export type Filter =
  | { readonly and: readonly Filter[] }
  | { readonly or: readonly Filter[] }
  | { readonly not: Filter }
  | { readonly field: string; readonly op: string; readonly value: unknown }

const texts = ['eq', 'in', 'exists']
const moments = ['lt', 'lte', 'gt', 'gte', 'within_days', 'exists']

/** Operators of each field. Attributes have all of them. */
const fields: Readonly<Record<string, readonly string[]>> = {
  ...{ name: texts, language: texts, country: texts, timezone: texts, tags: texts },
  ...{ first_seen_at: moments, last_seen_at: moments, created_at: ['lt', 'lte', 'gt', 'gte', 'within_days'] },
  ...{ 'consent.sms': ['eq'], 'consent.messenger': ['eq'], 'consent.email': ['eq'], 'consent.voice': ['eq'] },
  ...{ paid: ['within_days', 'exists'], sent: ['within_days', 'exists'], paid_total: ['lt', 'lte', 'gt', 'gte'] },
}

const attribute = /^attributes\.[A-Za-z][A-Za-z0-9_.-]{0,39}$/
const ofAttributes = ['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'within_days', 'exists']

/** Fields that conditions may name, for the documentation. */
export const filterFields = [...Object.keys(fields), 'attributes.<name>']

/** Checks a filter. Throws SEGMENT_INVALID, which names the place. */
export function checkedFilter(given: unknown): Filter {
  let count = 0
  const walk = (node: unknown, path: string, depth: number): Filter => {
    if (!isObject(node)) throw wrong(path, 'must be an object with and, or, not, or with field, op and value')
    if (depth > maxDepth) throw wrong(path, `must not be nested deeper than ${maxDepth}`)
    const list = (name: 'and' | 'or'): readonly Filter[] => {
      const members: unknown = node[name]
      if (!Array.isArray(members) || members.length === 0)
        throw wrong(`${path}.${name}`, 'must be a list of conditions')
      return members.map((member, i) => walk(member, `${path}.${name}[${i}]`, depth + 1))
    }
    if ('and' in node) return { and: list('and') }
    if ('or' in node) return { or: list('or') }
    if ('not' in node) return { not: walk(node.not, `${path}.not`, depth + 1) }
    if (++count > maxConditions) throw wrong(path, `is one of more than ${maxConditions} conditions`)
    return condition(node, path)
  }
  return walk(given, 'filter', 1)
}

function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function condition(node: Readonly<Record<string, unknown>>, path: string): Filter {
  const { field, op, value = true } = node
  if (typeof field !== 'string' || !(Object.hasOwn(fields, field) || attribute.test(field)))
    throw wrong(`${path}.field`, `must be one of ${filterFields.join(', ')}`)
  const ops = fields[field] ?? ofAttributes
  if (typeof op !== 'string' || !ops.includes(op)) throw wrong(`${path}.op`, `must be one of ${ops.join(', ')}`)
  const problem = problemOf(field, op, value)
  if (problem !== null) throw wrong(`${path}.value`, problem)
  return { field, op, value }
}

/** Why a value does not suit its field and operator; null when it does. */
function problemOf(field: string, op: string, value: unknown): string | null {
  const isAttribute = field.startsWith('attributes.')
  if (op === 'exists') return typeof value === 'boolean' ? null : 'must be true or false'
  if (op === 'within_days')
    return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxDays
      ? null
      : `must be a number of days from 1 to ${maxDays}`
  if (field.startsWith('consent.'))
    return ['granted', 'withdrawn', 'unknown'].includes(String(value)) ? null : 'must be granted, withdrawn or unknown'
  if (op === 'in')
    return Array.isArray(value) && value.length > 0 && value.length <= maxValues && value.every(isPlain(isAttribute))
      ? null
      : `must be a list of 1 to ${maxValues} values`
  if (op === 'eq') return isPlain(isAttribute)(value) ? null : 'must be text, or a number or boolean of an attribute'
  if (field === 'paid_total') return isAmount(value) ? null : 'must be an amount'
  return (isAttribute && isAmount(value)) || isTime(value)
    ? null
    : `must be ${isAttribute ? 'a number, ' : ''}a day or an RFC 3339 time`
}

function isPlain(isAttribute: boolean): (value: unknown) => boolean {
  return (value) =>
    (typeof value === 'string' && value.length <= 500 && !value.includes('\0')) ||
    (isAttribute && (typeof value === 'boolean' || isAmount(value)))
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value)
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && (parseDay(value) !== null || parseMoment(value) !== null)
}

function wrong(path: string, rule: string): AppError {
  return new AppError('SEGMENT_INVALID', `${path} ${rule}`, { extra: { path } })
}
