// SPDX-License-Identifier: Apache-2.0
// The noun: a routing rule and whether a call meets its conditions. Pure.
import { type Static, Type } from 'typebox'
import { placeOf } from '../../../kernel/phone.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import { Destination, RequiredSkill } from '../schema.ts'
import { type HoursOf, isOpenAt, wallTime } from './hours.ts'

const operators = ['eq', 'ne', 'in', 'not_in', 'prefix', 'gt', 'gte', 'lt', 'lte', 'exists', 'open', 'closed'] as const

const plainFields = [
  'to',
  'from',
  'from_country',
  'from_prefix',
  'language',
  'direction',
  'business_hours',
  'time_of_day',
  'weekday',
  'customer.tag',
  'returning_within_hours',
]
const fieldForm = new RegExp(
  `^(${plainFields.map((field) => field.replace('.', '\\.')).join('|')}|queue\\.que_[0-9a-z]{26}\\.(waiting|available_agents|estimated_wait)|customer\\.attribute\\.[\\w-]{1,64}|variable\\.[\\w-]{1,64})$`,
)

const Condition = Type.Object({
  field: Type.String({
    pattern: fieldForm.source,
    maxLength: 120,
    rule: 'must be a field that calls have, such as from_country, weekday or queue.<id>.waiting',
    description:
      'Field to compare, such as `to`, `time_of_day` or `variable.<name>`; `language`, `customer.tag` and `customer.attribute.<name>` are those of the caller’s customer record',
  }),
  op: OneOf(operators, { description: 'Comparison operator' }),
  value: Type.Optional(
    Type.Union(
      [
        Type.String({ maxLength: 200 }),
        Type.Number(),
        Type.Boolean(),
        Type.Array(Type.Union([Type.String({ maxLength: 200 }), Type.Number()]), { maxItems: 200 }),
      ],
      {
        rule: 'must be a text, a number, true, false, or a list',
        description: 'Value to compare with; a list for `in`',
      },
    ),
  ),
})

export type ConditionOf = Static<typeof Condition>

const variables = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()]),
  { description: 'Variables set on the call' },
)

const name = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Label',
})
const priority = Type.Integer({
  minimum: -1_000_000,
  maximum: 1_000_000,
  rule: 'must be a whole number; lower ones come first',
  description: 'Order of evaluation',
})
const match = OneOf(['all', 'any'], {
  description: 'Combination of the conditions: all or any must match; default all',
})
const conditions = Type.Array(Condition, {
  maxItems: 20,
  rule: 'must be at most 20 conditions',
  description: 'Conditions; without any, the rule matches every call',
})
const action = Type.Object(
  {
    ...Destination.properties,
    priority: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        rule: 'must be 1 to 10',
        description: 'Priority in the queue; default: that of the queue',
      }),
    ),
    skills: Type.Optional(
      Type.Array(RequiredSkill, {
        maxItems: 20,
        description: 'Skills required in addition to the skills of the queue',
      }),
    ),
    set: Type.Optional(variables),
  },
  { description: 'Destination of the call, with its priority, skills and variables' },
)

export const RuleCreate = Type.Object({
  name,
  priority,
  enabled: Type.Optional(Type.Boolean({ description: 'False disables the rule; default true' })),
  match: Type.Optional(match),
  conditions: Type.Optional(conditions),
  action,
  stop: Type.Optional(
    Type.Boolean({ description: 'False continues with the next matching rule, whose action then applies' }),
  ),
})

export const RuleChange = Type.Object({
  name: Type.Optional(name),
  priority: Type.Optional(priority),
  enabled: Type.Optional(Type.Boolean({ description: 'False disables the rule' })),
  match: Type.Optional(match),
  conditions: Type.Optional(conditions),
  action: Type.Optional(action),
  stop: Type.Optional(
    Type.Boolean({ description: 'False continues with the next matching rule, whose action then applies' }),
  ),
})

export interface RuleDocument {
  name: string
  priority: number
  enabled: boolean
  match: 'all' | 'any'
  conditions: ConditionOf[]
  action: Static<typeof action>
  stop: boolean
}

export interface Rule extends RuleDocument {
  readonly id: string
  readonly createdMs: number
}

/** Facts of a call that rules can test. */
export interface CallFacts {
  to: string
  from: string
  direction: 'inbound' | 'outbound'
  language: string | null
  at: Date
  /** Time zone for conditions on time of day and weekday. */
  timezone: string
  customer: { tags: readonly string[]; attributes: Readonly<Record<string, unknown>> }
  variables: Readonly<Record<string, unknown>>
  hours: ReadonlyMap<string, HoursOf>
  queues: ReadonlyMap<string, { waiting: number; available_agents: number; estimated_wait: number | null }>
  /** Time of the caller's last call. */
  lastCallAt: Date | null
}

/** Why a well-formed condition is invalid; null when valid. */
export function conditionProblem({ field, op, value }: ConditionOf): string | null {
  if (field === 'business_hours')
    return (op === 'open' || op === 'closed') && typeof value === 'string'
      ? null
      : 'business_hours takes open or closed, and the id of business hours as value'
  if (op === 'open' || op === 'closed') return `${op} is for business_hours only`
  if (op === 'exists') return null
  if (value === undefined) return `${op} needs a value`
  if ((op === 'in' || op === 'not_in') !== Array.isArray(value))
    return `${op} ${Array.isArray(value) ? 'takes no' : 'needs a'} list`
  return null
}

/** Value of a field of the call: text, number, list or undefined. */
function fieldOf(field: string, facts: CallFacts): unknown {
  const [head = '', second = '', ...rest] = field.split('.')
  if (head === 'queue') {
    const queue = facts.queues.get(second)
    const what = rest[0]
    if (!queue) return null
    return what === 'waiting'
      ? queue.waiting
      : what === 'available_agents'
        ? queue.available_agents
        : queue.estimated_wait
  }
  if (head === 'variable') return facts.variables[second] ?? null
  if (head === 'customer')
    return second === 'tag' ? facts.customer.tags : (facts.customer.attributes[rest.join('.')] ?? null)
  switch (field) {
    case 'to':
      return facts.to
    case 'from':
    case 'from_prefix':
      return facts.from
    case 'from_country':
      return placeOf(facts.from).country
    case 'language':
      return facts.language
    case 'direction':
      return facts.direction
    case 'weekday':
      return wallTime(facts.at, facts.timezone).weekday
    case 'time_of_day':
      return clockOf(wallTime(facts.at, facts.timezone).minute)
    case 'returning_within_hours':
      return facts.lastCallAt === null ? null : (facts.at.getTime() - facts.lastCallAt.getTime()) / 3_600_000
    default:
      return null
  }
}

function clockOf(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}

export function meets(condition: ConditionOf, facts: CallFacts): boolean {
  const { field, op, value } = condition
  if (field === 'business_hours') {
    const hours = facts.hours.get(String(value))
    return hours !== undefined && isOpenAt(hours, facts.at) === (op === 'open')
  }
  const has = fieldOf(field, facts)
  // Called within this many hours: eq and lte mean the same.
  if (field === 'returning_within_hours' && (op === 'eq' || op === 'lte'))
    return typeof has === 'number' && has <= Number(value)
  if (field === 'from_prefix' && op === 'eq') return String(has).startsWith(String(value))
  if (Array.isArray(has)) return compareAny(has, op, value)
  return compare(has, op, value, field === 'language' ? isSameLanguage : isSameText)
}

const isSameText = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** A language without a region is that of every region: `sw` is the same as `sw-KE`. */
function isSameLanguage(one: string, other: string): boolean {
  const [tongue = '', region] = one.split('-')
  const [otherTongue = '', otherRegion] = other.split('-')
  return region === undefined || otherRegion === undefined ? isSameText(tongue, otherTongue) : isSameText(one, other)
}

/** A list matches when one element does; a negated operator requires that none does. */
function compareAny(has: readonly unknown[], op: ConditionOf['op'], value: ConditionOf['value']): boolean {
  if (op === 'exists') return has.length > 0 === (value !== false)
  if (op === 'ne' || op === 'not_in') return has.every((one) => compare(one, op, value))
  return has.some((one) => compare(one, op, value))
}

function compare(has: unknown, op: ConditionOf['op'], value: ConditionOf['value'], isSame = isSameText): boolean {
  const isThere = has !== null && has !== undefined
  const same = (one: unknown) => isThere && isSame(String(has), String(one))
  switch (op) {
    case 'exists':
      return isThere === (value !== false)
    case 'eq':
      return same(value)
    case 'ne':
      return !same(value)
    case 'in':
      return Array.isArray(value) && value.some(same)
    case 'not_in':
      return Array.isArray(value) && !value.some(same)
    case 'prefix':
      return isThere && String(has).startsWith(String(value))
    case 'gt':
      return isThere && orderOf(has, value) > 0
    case 'gte':
      return isThere && orderOf(has, value) >= 0
    case 'lt':
      return isThere && orderOf(has, value) < 0
    case 'lte':
      return isThere && orderOf(has, value) <= 0
    default:
      return false
  }
}

/**
 * Comparison: numbers by value, the rest (times such as 08:30) as text; NaN, which no operator matches, when there is
 * no order.
 */
function orderOf(has: unknown, value: unknown): number {
  if (typeof has === 'number' || typeof value === 'number') return Number(has) - Number(value)
  return String(has) < String(value) ? -1 : String(has) > String(value) ? 1 : 0
}

/** Whether a call meets a rule; one without conditions always does. */
export function isMet({ match, conditions }: RuleDocument, facts: CallFacts): boolean {
  if (conditions.length === 0) return true
  return match === 'any' ? conditions.some((one) => meets(one, facts)) : conditions.every((one) => meets(one, facts))
}

/** Rules in order of evaluation. */
export function inRuleOrder(rules: readonly Rule[]): Rule[] {
  return [...rules].sort((a, b) => a.priority - b.priority || a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1))
}
