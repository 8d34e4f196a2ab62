// SPDX-License-Identifier: Apache-2.0
// Conditions of a fraud rule, a row each: what is looked at, or how often something happened, and what it is compared with. What
// has no row of its own, such as a group, is told and kept.
import { useState } from 'preact/hooks'
import { Choice, Field } from '../../kit/fields.tsx'
import { listOf } from '../../kit/filled.ts'
import type { Control } from '../../kit/form.tsx'
import { Lines } from '../../kit/lines.tsx'
import { t } from '../../words.ts'
import { conditionsText } from './conditions.ts'

type Condition = Readonly<Record<string, unknown>>

const comparing = ['gt', 'gte', 'lt', 'lte', 'between', 'eq', 'ne', 'in', 'not_in', 'exists']
const telling = ['eq', 'ne', 'in', 'not_in', 'contains', 'starts_with', 'ends_with', 'exists', 'in_list']
const numbers = [
  'amount',
  'amount_usd',
  'customer_age_days',
  'hour_of_day',
  'day_of_week',
  'failed_last_24h',
  'risk_score',
]
const texts = [
  ...['currency', 'method', 'provider', 'phone', 'phone_country', 'phone_prefix', 'email', 'email_domain'],
  ...['customer_name', 'ip_address', 'ip_country', 'device_id', 'card_brand', 'card_bin', 'card_country', 'bank_code'],
]
const flag = 'is_first_payment'
const often = 'velocity'

const fields: Readonly<Record<string, string>> = {
  [often]: t('Number of recent payments'),
  amount: t('Amount'),
  amount_usd: t('Amount in dollars'),
  customer_age_days: t('Days since the first payment'),
  hour_of_day: t('Hour of the day, UTC'),
  day_of_week: t('Day of the week, 1 is Monday'),
  failed_last_24h: t('Failed in the last 24 hours'),
  risk_score: t('Risk score'),
  [flag]: t('First payment of the customer'),
  currency: t('Currency'),
  method: t('Method'),
  provider: t('Provider'),
  phone: t('Phone'),
  phone_country: t('Country of the phone'),
  phone_prefix: t('Beginning of the phone'),
  email: t('Email'),
  email_domain: t('Domain of the email'),
  customer_name: t('Name of the customer'),
  ip_address: t('IP address'),
  ip_country: t('Country of the payer'),
  device_id: t('Device'),
  card_brand: t('Brand of the card'),
  card_bin: t('First digits of the card'),
  card_country: t('Country of the card'),
  bank_code: t('Bank code'),
}

const operators: Readonly<Record<string, string>> = {
  gt: t('is more than'),
  gte: t('is at least'),
  lt: t('is less than'),
  lte: t('is at most'),
  between: t('is between'),
  eq: t('is'),
  ne: t('is not'),
  in: t('is one of'),
  not_in: t('is none of'),
  contains: t('contains'),
  starts_with: t('begins with'),
  ends_with: t('ends with'),
  exists: t('is known'),
  in_list: t('is blocked as'),
}

const windows: Readonly<Record<string, string>> = {
  '10m': t('10 minutes'),
  '1h': t('1 hour'),
  '24h': t('24 hours'),
  '7d': t('7 days'),
  '30d': t('30 days'),
}
const counted: Readonly<Record<string, string>> = {
  phone: t('of the same phone'),
  email: t('of the same email'),
  card_fingerprint: t('of the same card'),
  ip_address: t('from the same IP address'),
  device_id: t('from the same device'),
}
const lists = [
  ...['phone', 'email', 'email_domain', 'card', 'card_bin', 'ip', 'ip_range', 'device_id', 'bank_account'],
  ...['customer_id', 'country'],
]

const begun: Condition = { field: 'amount', operator: 'gt', value: 50_000 }
const begunOften: Condition = { velocity: { metric: 'count', by: ['phone'], window: '1h' }, operator: 'gt', value: 5 }

interface Velocity {
  readonly by: string
  readonly window: string
}

/** What a row can show of how often something happened; null where there is more to it. */
function velocityOf({ velocity }: Condition): Velocity | null {
  const { metric, by, window, of, status, ...more }: Record<string, unknown> = Object(velocity)
  const [first, ...others] = Array.isArray(by) ? by.map(String) : []
  const isSimple = metric === 'count' && of === undefined && status === undefined && Object.keys(more).length === 0
  if (!isSimple || first === undefined || others.length > 0 || counted[first] === undefined) return null
  return { by: first, window: String(window) }
}

const isRow = (one: Condition): boolean =>
  one.velocity === undefined ? fields[String(one.field)] !== undefined : velocityOf(one) !== null

/** What is typed, as the rule takes it: numbers of what is counted, lists of what is one of several. */
function typed(field: string, operator: string, text: string): unknown {
  const plain = (one: string): unknown => (texts.includes(field) || Number.isNaN(Number(one)) ? one : Number(one))
  if (operator === 'exists' || field === flag) return text === 'yes'
  return ['in', 'not_in', 'between'].includes(operator) ? listOf(text).map(plain) : plain(text.trim())
}

const shown = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : [value ?? ''].flat().join(', ')

/** The value of a comparison that another one takes over, where it can. */
function valueFor(field: string, operator: string, before: unknown): unknown {
  if (operator === 'exists' || field === flag) return true
  if (operator === 'in_list') return lists.includes(field) ? field : lists[0]
  return typed(field, operator, typeof before === 'boolean' ? '' : shown(before))
}

const operatorsOf = (field: string): readonly string[] => {
  if (field === often) return comparing.filter((one) => one !== 'exists')
  return field === flag ? ['eq', 'ne'] : numbers.includes(field) ? comparing : telling
}

export const conditionsField = (control: Control) => <Conditions {...control} />

function Conditions({ label, value, problem, onInput }: Control) {
  const rows: readonly Condition[] = value === '' ? [] : JSON.parse(value)
  const keep = (next: readonly Condition[]): void => onInput(next.length === 0 ? '' : JSON.stringify(next))
  return (
    <fieldset class="field conditions">
      <legend>{t(label)}</legend>
      <Lines rows={rows} add="Add a condition" begun={begun} problem={problem} onChange={keep}>
        {(row, change) =>
          isRow(row) ? <ConditionRow row={row} onChange={change} /> : <p class="mono">{conditionsText([row], 'all')}</p>
        }
      </Lines>
    </fieldset>
  )
}

function ConditionRow({ row, onChange }: { row: Condition; onChange(row: Condition): void }) {
  const velocity = velocityOf(row)
  const field = velocity ? often : String(row.field)
  const operator = String(row.operator)
  const isYesOrNo = operator === 'exists' || field === flag
  const choose = (next: string): void => {
    if (next === often) return onChange(begunOften)
    const fits = operatorsOf(next)
    const op = fits.includes(operator) ? operator : (fits[0] ?? 'eq')
    onChange({ field: next, operator: op, value: valueFor(next, op, row.value) })
  }
  const count = (part: Partial<Velocity>): void => {
    const { by, window } = { by: 'phone', window: '1h', ...velocity, ...part }
    onChange({ ...row, velocity: { metric: 'count', by: [by], window } })
  }
  return (
    <>
      <Choice label="Field" value={field} among={Object.keys(fields)} names={fields} isRequired onChange={choose} />
      {velocity && (
        <>
          <Choice
            label="Which"
            value={velocity.by}
            among={Object.keys(counted)}
            names={counted}
            isRequired
            onChange={(by) => count({ by })}
          />
          <Choice
            label="Within"
            value={velocity.window}
            among={[...new Set([...Object.keys(windows), velocity.window])]}
            names={windows}
            isRequired
            onChange={(window) => count({ window })}
          />
        </>
      )}
      <Choice
        label="Comparison"
        value={operator}
        among={operatorsOf(field)}
        names={operators}
        isRequired
        onChange={(next) => onChange({ ...row, operator: next, value: valueFor(field, next, row.value) })}
      />
      {isYesOrNo || operator === 'in_list' ? (
        <Choice
          label="Compared with"
          value={shown(row.value)}
          among={isYesOrNo ? ['yes', 'no'] : lists}
          isRequired
          onChange={(text) => onChange({ ...row, value: isYesOrNo ? text === 'yes' : text })}
        />
      ) : (
        <Compared
          key={`${field} ${operator}`}
          value={shown(row.value)}
          isList={['in', 'not_in', 'between'].includes(operator)}
          onInput={(text) => onChange({ ...row, value: typed(field, operator, text) })}
        />
      )}
    </>
  )
}

/** Keeps what is typed, such as a comma or a point at its end, which the value does not hold. */
function Compared({ value, isList, onInput }: { value: string; isList: boolean; onInput(text: string): void }) {
  const [text, setText] = useState(value)
  return (
    <Field
      label="Compared with"
      value={text}
      required
      placeholder={isList ? t('Several with commas') : ''}
      onInput={(next) => {
        setText(next)
        onInput(next)
      }}
    />
  )
}
