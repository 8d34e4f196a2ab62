// SPDX-License-Identifier: Apache-2.0
// Conditions of a routing rule, a row each: what is looked at, how it is compared, and with what.
import type { RoutingRule } from '#sdk/schemas.ts'
import { Choice, Field } from '../../kit/fields.tsx'
import { listOf } from '../../kit/filled.ts'
import type { Control } from '../../kit/form.tsx'
import { Lines } from '../../kit/lines.tsx'
import { textOf } from '../../kit/list-page.tsx'
import { words } from '../../kit/words.ts'
import { t } from '../../words.ts'

type Condition = NonNullable<RoutingRule['conditions']>[number]

const fields = {
  from_country: t('Country of the caller'),
  from: t('Number of the caller'),
  from_prefix: t('Beginning of the number'),
  to: t('Called number'),
  language: t('Language'),
  weekday: t('Weekday'),
  time_of_day: t('Time of day'),
  business_hours: t('Business hours'),
  'customer.tag': t('Tag of the customer'),
  returning_within_hours: t('Called before, hours ago'),
}

const operators: Readonly<Record<Condition['op'], string>> = {
  eq: t('is'),
  ne: t('is not'),
  in: t('is one of'),
  not_in: t('is none of'),
  prefix: t('begins with'),
  gt: t('is more than'),
  gte: t('is at least'),
  lt: t('is less than'),
  lte: t('is at most'),
  exists: t('is known'),
  open: t('is open'),
  closed: t('is closed'),
}

/** Comparisons that need nothing to compare with. */
const isAlone = (op: string): boolean => op === 'exists'

const isOperator = (op: string): op is Condition['op'] => Object.hasOwn(operators, op)

/** What is typed as the API takes it: a list where one of several is meant, a number where it is one. */
export function conditionsIn(text: string): Condition[] {
  const rows: Condition[] = JSON.parse(text)
  return rows.map(({ field, op, value }) => {
    const typed = textOf(value)
    if (isAlone(op)) return { field, op }
    if (op === 'in' || op === 'not_in') return { field, op, value: listOf(typed) }
    return { field, op, value: /^\d+(\.\d+)?$/.test(typed) ? Number(typed) : typed }
  })
}

/** Conditions in words, such as `Country of the caller is KE`. */
export function conditionWords({ conditions = [], match }: Pick<RoutingRule, 'conditions' | 'match'>): string {
  const named: Readonly<Record<string, string>> = fields
  const told = conditions.map(({ field, op, value }) =>
    [named[field] ?? field, operators[op], textOf(value ?? '')].filter(Boolean).join(' '),
  )
  return told.join(match === 'any' ? ` ${t('or')} ` : ` ${t('and')} `) || t('Every call')
}

export function Conditions({ label, value, problem, onInput }: Control) {
  const rows: Condition[] = value === '' ? [] : JSON.parse(value)
  const keep = (next: readonly Condition[]): void => onInput(next.length === 0 ? '' : JSON.stringify(next))
  return (
    <fieldset class="field conditions">
      <legend>{t(label)}</legend>
      {rows.length === 0 && <p class="hint">{t('Every call')}</p>}
      <Lines<Condition>
        rows={rows}
        add="Add a condition"
        begun={{ field: 'from_country', op: 'eq', value: '' }}
        problem={problem}
        onChange={keep}
      >
        {(row, change) => (
          <>
            <Choice
              label="Field"
              value={row.field}
              among={[...new Set([...Object.keys(fields), row.field])]}
              names={{ ...fields, ...(row.field in fields ? {} : { [row.field]: words(row.field) }) }}
              isRequired
              onChange={(field) => change({ ...row, field })}
            />
            <Choice
              label="Comparison"
              value={row.op}
              among={Object.keys(operators)}
              names={operators}
              isRequired
              onChange={(op) => isOperator(op) && change({ ...row, op })}
            />
            {!isAlone(row.op) && (
              <Field
                label="Compared with"
                value={textOf(row.value ?? '')}
                onInput={(value) => change({ ...row, value })}
              />
            )}
          </>
        )}
      </Lines>
    </fieldset>
  )
}
