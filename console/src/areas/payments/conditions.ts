// SPDX-License-Identifier: Apache-2.0
// Conditions of a fraud rule as one line to read: `amount > 5000 and (phone_country = KE or count(phone, 1h) > 5)`. Fields keep the
// names of the API, in which rules are written.
import { t } from '../../words.ts'

const signs: Readonly<Record<string, string>> = { eq: '=', ne: '≠', gt: '>', gte: '≥', lt: '<', lte: '≤', between: '=' }

export function conditionsText(conditions: unknown, match: unknown): string {
  if (!Array.isArray(conditions)) return ''
  return conditions.map(conditionText).join(` ${match === 'any' ? t('or') : t('and')} `)
}

function conditionText(given: unknown): string {
  const { conditions, match, velocity, field, operator, value } = Object(given)
  if (conditions !== undefined) return `(${conditionsText(conditions, match)})`
  const name = velocity === undefined ? field : velocityText(velocity)
  const [least, most] = operator === 'between' && Array.isArray(value) ? value : []
  const what = most === undefined ? [value].flat().join(', ') : `${least}–${most}`
  return `${name} ${signs[operator] ?? String(operator).replaceAll('_', ' ')} ${what}`
}

function velocityText(velocity: unknown): string {
  const { metric, by, window } = Object(velocity)
  return `${metric}(${[by, window].flat().join(', ')})`
}
