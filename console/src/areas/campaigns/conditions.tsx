// SPDX-License-Identifier: Apache-2.0
// Conditions of a segment, a row each, all or any of which a customer has to meet. What has no rows, such as groups in groups, is
// written as JSON on the page of the segment.
import { useState } from 'preact/hooks'
import { Choice, Field } from '../../kit/fields.tsx'
import { listOf } from '../../kit/filled.ts'
import { Lines } from '../../kit/lines.tsx'
import { t } from '../../words.ts'

export type Tree = Readonly<Record<string, unknown>>

interface Condition {
  readonly field: string
  readonly op: string
  readonly value: unknown
}

export interface Conditions {
  readonly join: 'and' | 'or'
  readonly rows: readonly Condition[]
}

const attribute = 'attributes.'
const texts = ['eq', 'in', 'exists']
const moments = ['within_days', 'gt', 'lt', 'exists']
const ofAttributes = ['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'within_days', 'exists']

/** What is looked at: its words and how it is compared. */
const fields: Readonly<Record<string, readonly [name: string, ops: readonly string[]]>> = {
  tags: [t('Tag'), texts],
  [attribute]: [t('Attribute'), ofAttributes],
  name: [t('Name'), texts],
  language: [t('Language'), texts],
  country: [t('Country'), texts],
  timezone: [t('Time zone'), texts],
  'consent.sms': [t('Agreed to texts'), ['eq']],
  'consent.messenger': [t('Agreed to chats'), ['eq']],
  'consent.email': [t('Agreed to email'), ['eq']],
  'consent.voice': [t('Agreed to calls'), ['eq']],
  last_seen_at: [t('Last seen'), moments],
  first_seen_at: [t('First seen'), moments],
  created_at: [t('Created'), ['within_days', 'gt', 'lt']],
  paid: [t('Has paid'), ['within_days', 'exists']],
  paid_total: [t('Paid in all'), ['gt', 'gte', 'lt', 'lte']],
  sent: [t('Was sent a text'), ['within_days', 'exists']],
}
const names = Object.fromEntries(Object.entries(fields).map(([field, [name]]) => [field, name]))

const operators: Readonly<Record<string, string>> = {
  eq: t('is'),
  in: t('is one of'),
  exists: t('is known'),
  gt: t('is more than'),
  gte: t('is at least'),
  lt: t('is less than'),
  lte: t('is at most'),
  within_days: t('in the last days'),
}
const ofTimes = { ...operators, gt: t('is after'), lt: t('is before') }
const answers = { granted: t('Agreed'), withdrawn: t('Declined'), unknown: t('Never asked') }
const yesOrNo = { true: t('Yes'), false: t('No') }

const isCondition = (one: unknown): one is Condition =>
  typeof Object(one).field === 'string' && typeof Object(one).op === 'string'

/** Name under which a field is chosen. */
const kindOf = (field: string): string => (field.startsWith(attribute) ? attribute : field)

const fits = ({ field, op }: Condition): boolean => (fields[kindOf(field)]?.[1] ?? []).includes(op)

/** Conditions that a filter consists of; null where it is more than a list of them. */
export function conditionsOf(tree: Tree): Conditions | null {
  if (isCondition(tree)) return fits(tree) ? { join: 'and', rows: [tree] } : null
  const join = Array.isArray(tree.and) ? 'and' : 'or'
  const list: unknown = tree[join]
  return Array.isArray(list) && list.every(isCondition) && list.every(fits) ? { join, rows: list } : null
}

export function treeWith({ join, rows }: Conditions): Tree {
  const [first, ...others] = rows
  return first && others.length === 0 ? { ...first } : { [join]: rows }
}

const isTime = (field: string): boolean => field.endsWith('_at')

/** What is typed as a condition takes it. */
function typed({ field, op }: Omit<Condition, 'value'>, text: string): unknown {
  const plain = (one: string): unknown =>
    field.startsWith(attribute) && /^-?\d+(\.\d+)?$/.test(one) ? Number(one) : one
  if (op === 'exists') return text !== 'false'
  if (op === 'in') return listOf(text).map(plain)
  if (op === 'within_days' || field === 'paid_total') return Number(text) || 0
  return plain(text)
}

const shown = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value ?? ''))

/** Value with which a row begins, or goes on after its field or comparison was changed. */
function valueFor(row: Omit<Condition, 'value'>, before: unknown): unknown {
  if (row.op === 'exists') return true
  if (row.field.startsWith('consent.')) return Object.hasOwn(answers, shown(before)) ? before : 'granted'
  if (row.op === 'within_days') return Number(before) || 30
  return typed(row, typeof before === 'boolean' ? '' : shown(before))
}

export function ConditionRows({ value, onChange }: { value: Conditions; onChange(value: Conditions): void }) {
  const { join, rows } = value
  return (
    <fieldset class="field conditions">
      <legend class="hidden">{t('Conditions')}</legend>
      <Lines<Condition>
        rows={rows}
        least={1}
        add="Add a condition"
        begun={{ field: 'tags', op: 'exists', value: true }}
        beside={
          rows.length > 1 && (
            <Choice
              label="Customers who meet"
              value={join}
              among={['and', 'or']}
              names={{ and: t('all of these'), or: t('any of these') }}
              isRequired
              onChange={(next) => onChange({ join: next === 'or' ? 'or' : 'and', rows })}
            />
          )
        }
        onChange={(next) => onChange({ join, rows: next })}
      >
        {(row, change) => <ConditionRow row={row} onChange={change} />}
      </Lines>
    </fieldset>
  )
}

function ConditionRow({ row, onChange }: { row: Condition; onChange(row: Condition): void }) {
  const { field, op, value } = row
  const kind = kindOf(field)
  const ops = fields[kind]?.[1] ?? []
  const change = (next: Omit<Condition, 'value'>): void => onChange({ ...next, value: valueFor(next, value) })
  const choose = (next: string): void => {
    const own = fields[next]?.[1] ?? []
    change({ field: next === attribute ? `${attribute}name` : next, op: own.includes(op) ? op : (own[0] ?? 'eq') })
  }
  return (
    <>
      <Choice label="Field" value={kind} among={Object.keys(fields)} names={names} isRequired onChange={choose} />
      {kind === attribute && (
        <Field
          label="Name of the attribute"
          value={field.slice(attribute.length)}
          onInput={(name) => onChange({ ...row, field: `${attribute}${name}` })}
        />
      )}
      <Choice
        label="Comparison"
        value={op}
        among={ops}
        names={isTime(field) ? ofTimes : operators}
        isRequired
        onChange={(next) => change({ field, op: next })}
      />
      <Compared key={`${kind} ${op}`} row={row} onChange={onChange} />
    </>
  )
}

function Compared({ row, onChange }: { row: Condition; onChange(row: Condition): void }) {
  const { field, op, value } = row
  // As it was typed: a comma at the end of a list is the beginning of another value.
  const [text, setText] = useState(shown(value))
  const among = op === 'exists' ? yesOrNo : field.startsWith('consent.') ? answers : null
  const set = (next: string): void => onChange({ ...row, value: typed(row, next) })
  if (among)
    return (
      <Choice
        label="Compared with"
        value={shown(value)}
        among={Object.keys(among)}
        names={{ ...among }}
        isRequired
        onChange={set}
      />
    )
  const isNumber = op === 'within_days' || field === 'paid_total'
  const type = isTime(field) && op !== 'within_days' ? 'date' : isNumber ? 'number' : 'text'
  const input = (next: string): void => {
    setText(next)
    set(next)
  }
  return <Field label="Compared with" type={type} value={text} onInput={input} />
}
