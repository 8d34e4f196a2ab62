// SPDX-License-Identifier: Apache-2.0
// Conditions of a rule, parsed once and compiled into closures. They have no regular expressions and no loops, so a
// rule cannot take long. Errors name the path of the faulty part.
import { AppError } from '../../../kernel/errors.ts'
import { parseAmount } from '../../../kernel/money.ts'
import { type BlacklistType, blacklistTypes } from './blacklist.ts'
import { type Facts, type FieldType, type FieldValue, fieldNames, fieldType } from './fields.ts'
import { countedStatuses, type Metric, metrics, type Velocity, velocityName, windowSeconds } from './velocity.ts'

export const maxConditions = 20
/** Groups within groups; the conditions of the rule itself are none. */
const maxDepth = 3
/** Limit of conditions in all groups of a rule together. */
const maxConditionsOfRule = 100
const maxChoices = 1_000
const maxTextLength = 500
const maxCountedBy = 5

export type Match = 'all' | 'any'

/** Facts, totals and lists that a rule is evaluated with. */
export interface Situation {
  readonly facts: Facts
  /** Totals by the name of the velocity; none where there is nothing to count by. */
  readonly totals: ReadonlyMap<string, bigint>
  listed(type: BlacklistType, value: string): boolean
}

type Test = (situation: Situation) => boolean

export interface Compiled {
  readonly test: Test
  readonly velocities: readonly Velocity[]
  /** Fields to look up, and in which lists. */
  readonly lists: readonly { field: string; type: BlacklistType }[]
}

type Plain = Readonly<Record<string, unknown>>
type Ordered = number | bigint

/** Result of walking through the groups of a rule. */
interface Reading {
  velocities: Velocity[]
  lists: { field: string; type: BlacklistType }[]
  count: number
}

/** Compiles the conditions of a rule; throws VALIDATION_ERROR with the path of the first wrong one. */
export function compile(match: Match, conditions: unknown): Compiled {
  const reading: Reading = { velocities: [], lists: [], count: 0 }
  const test = group(match, conditions, 'conditions', 1, reading)
  return { test, velocities: reading.velocities, lists: reading.lists }
}

function group(match: Match, conditions: unknown, path: string, depth: number, reading: Reading): Test {
  if (!Array.isArray(conditions) || conditions.length < 1 || conditions.length > maxConditions)
    throw wrong(path, `must be a list of 1 to ${maxConditions} conditions`)
  const tests = conditions.map((condition, i) => member(condition, `${path}[${i}]`, depth, reading))
  return match === 'all'
    ? (situation) => tests.every((test) => test(situation))
    : (situation) => tests.some((test) => test(situation))
}

function member(given: unknown, path: string, depth: number, reading: Reading): Test {
  if (!isPlain(given)) throw wrong(path, 'must be an object: a condition, or a group of them')
  if ('conditions' in given) {
    only(given, ['match', 'conditions'], path)
    if (depth > maxDepth) throw wrong(path, `groups may be nested ${maxDepth} deep`)
    const { match = 'all' } = given
    if (match !== 'all' && match !== 'any') throw wrong(`${path}.match`, 'must be one of all, any')
    return group(match, given.conditions, `${path}.conditions`, depth + 1, reading)
  }
  if (++reading.count > maxConditionsOfRule)
    throw wrong(path, `a rule may have ${maxConditionsOfRule} conditions in all its groups`)
  return 'velocity' in given ? velocityTest(given, path, reading) : fieldTest(given, path, reading)
}

const ordering = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'between', 'in', 'not_in'] as const
const texts = ['eq', 'ne', 'in', 'not_in', 'contains', 'starts_with', 'ends_with'] as const

const operatorsOf: Readonly<Record<FieldType, readonly string[]>> = {
  text: [...texts, 'exists', 'in_list'],
  number: [...ordering, 'exists'],
  money: [...ordering, 'exists'],
  boolean: ['eq', 'ne', 'exists'],
  any: [...new Set([...ordering, ...texts]), 'exists', 'in_list'],
}

function fieldTest(given: Plain, path: string, reading: Reading): Test {
  only(given, ['field', 'operator', 'value'], path)
  const { field, operator, value } = given
  const type = typeof field === 'string' ? fieldType(field) : null
  if (typeof field !== 'string' || type === null)
    throw wrong(`${path}.field`, `must be one of ${fieldNames.join(', ')}`)
  if (typeof operator !== 'string' || !operatorsOf[type].includes(operator))
    throw wrong(`${path}.operator`, `must be, for ${field}, one of ${operatorsOf[type].join(', ')}`)
  const at = `${path}.value`
  if (operator === 'exists') {
    if (typeof value !== 'boolean') throw wrong(at, 'must be true or false')
    return ({ facts }) => facts.has(field) === value
  }
  if (operator === 'in_list') {
    const list = blacklistTypes.find((one) => one === value)
    if (!list) throw wrong(at, `must be one of ${blacklistTypes.join(', ')}`)
    reading.lists.push({ field, type: list })
    return (situation) => {
      const fact = situation.facts.get(field)
      return typeof fact === 'string' && situation.listed(list, fact)
    }
  }
  const test = valueTest(type, operator, value, at)
  return ({ facts }) => {
    const fact = facts.get(field)
    return fact !== undefined && test(fact)
  }
}

function valueTest(type: FieldType, operator: string, value: unknown, path: string): (fact: FieldValue) => boolean {
  // A metadata value is compared as the type of the other side.
  const kind = type === 'any' ? kindOf(Array.isArray(value) ? value[0] : value) : type
  if (type === 'any' && !operatorsOf[kind].includes(operator)) throw wrong(path, `cannot be used with ${operator}`)
  if (kind === 'boolean') {
    if (typeof value !== 'boolean') throw wrong(path, 'must be true or false')
    return (fact) => (fact === value) === (operator === 'eq') && typeof fact === 'boolean'
  }
  if (kind === 'text') {
    const test = textTest(operator, operandsOf(operator, value, path, textOf))
    return (fact) => typeof fact === 'string' && test(fact)
  }
  const test = orderTest(operator, operandsOf<Ordered>(operator, value, path, kind === 'money' ? moneyOf : numberOf))
  return (fact) => (typeof fact === 'number' || typeof fact === 'bigint') && test(fact)
}

function kindOf(value: unknown): FieldType {
  return typeof value === 'boolean' ? 'boolean' : typeof value === 'number' ? 'number' : 'text'
}

/** Operands of a comparison: one value, two for `between`, a list for `in` and `not_in`. */
function operandsOf<T extends Ordered | string>(
  operator: string,
  value: unknown,
  path: string,
  read: (one: unknown, at: string) => T,
): T[] {
  if (operator === 'between') {
    if (!Array.isArray(value) || value.length !== 2) throw wrong(path, 'must be a list of the lowest and the highest')
  } else if (operator === 'in' || operator === 'not_in') {
    if (!Array.isArray(value) || value.length < 1 || value.length > maxChoices)
      throw wrong(path, `must be a list of 1 to ${maxChoices} values`)
  } else return [read(value, path)]
  const operands = value.map((one: unknown, i) => read(one, `${path}[${i}]`))
  const [low, high] = operands
  if (operator === 'between' && low !== undefined && high !== undefined && low > high)
    throw wrong(path, 'must have the lowest first')
  return operands
}

function orderTest(operator: string, operands: readonly Ordered[]): (fact: Ordered) => boolean {
  const [first = 0, second = 0] = operands
  switch (operator) {
    case 'eq':
      return (fact) => fact === first
    case 'ne':
      return (fact) => fact !== first
    case 'gt':
      return (fact) => fact > first
    case 'gte':
      return (fact) => fact >= first
    case 'lt':
      return (fact) => fact < first
    case 'lte':
      return (fact) => fact <= first
    case 'between':
      return (fact) => fact >= first && fact <= second
    default:
      return chosen(operator, operands)
  }
}

function textTest(operator: string, operands: readonly string[]): (fact: string) => boolean {
  const [first = ''] = operands
  switch (operator) {
    case 'eq':
      return (fact) => fact === first
    case 'ne':
      return (fact) => fact !== first
    case 'contains':
      return (fact) => fact.includes(first)
    case 'starts_with':
      return (fact) => fact.startsWith(first)
    case 'ends_with':
      return (fact) => fact.endsWith(first)
    default:
      return chosen(operator, operands)
  }
}

function chosen<T>(operator: string, operands: readonly T[]): (fact: T) => boolean {
  const choices = new Set(operands)
  return operator === 'in' ? (fact) => choices.has(fact) : (fact) => !choices.has(fact)
}

function velocityTest(given: Plain, path: string, reading: Reading): Test {
  only(given, ['velocity', 'operator', 'value'], path)
  const velocity = velocityOf(given.velocity, `${path}.velocity`)
  const { operator, value } = given
  if (typeof operator !== 'string' || !ordering.some((one) => one === operator))
    throw wrong(`${path}.operator`, `must be, for a velocity, one of ${ordering.join(', ')}`)
  const read = velocity.metric === 'sum' ? moneyOf : countOf
  const test = orderTest(operator, operandsOf(operator, value, `${path}.value`, read))
  const name = velocityName(velocity)
  reading.velocities.push(velocity)
  return ({ totals }) => {
    const total = totals.get(name)
    return total !== undefined && test(total)
  }
}

const sums = ['amount', 'amount_usd'] as const

function velocityOf(given: unknown, path: string): Velocity {
  if (!isPlain(given)) throw wrong(path, 'must be an object with metric, by and window')
  only(given, ['metric', 'of', 'by', 'window', 'status'], path)
  const metric = metrics.find((one) => one === given.metric)
  if (!metric) throw wrong(`${path}.metric`, `must be one of ${metrics.join(', ')}`)
  const seconds = typeof given.window === 'string' ? windowSeconds(given.window) : null
  if (seconds === null) throw wrong(`${path}.window`, 'must be 30s to 90d, such as 10m, 24h or 7d')
  return {
    metric,
    of: countedOf(metric, given.of, `${path}.of`),
    by: listOf(given.by, `${path}.by`, maxCountedBy, isGrouping, 'fields that hold a text'),
    windowSeconds: seconds,
    statuses:
      given.status === undefined
        ? null
        : listOf(given.status, `${path}.status`, countedStatuses.length, isStatus, countedStatuses.join(', ')),
  }
}

function countedOf(metric: Metric, of: unknown, path: string): string | null {
  if (metric === 'count') {
    if (of !== undefined) throw wrong(path, 'does not go with count')
    return null
  }
  const known = typeof of === 'string' && (metric === 'sum' ? sums.some((one) => one === of) : isGrouping(of))
  if (!known) throw wrong(path, metric === 'sum' ? `must be one of ${sums.join(', ')}` : 'must be a field with a text')
  return of
}

const isGrouping = (field: string): boolean => ['text', 'any'].includes(fieldType(field) ?? '')
const isStatus = (text: string): boolean => countedStatuses.some((one) => one === text)

function listOf(given: unknown, path: string, most: number, isGood: (one: string) => boolean, what: string): string[] {
  const problem = wrong(path, `must be a list of 1 to ${most} different of: ${what}`)
  if (!Array.isArray(given) || given.length < 1 || given.length > most || new Set(given).size < given.length)
    throw problem
  return given.map((one: unknown) => {
    if (typeof one !== 'string' || !isGood(one)) throw problem
    return one
  })
}

function textOf(value: unknown, path: string): string {
  if (typeof value !== 'string' || value.length < 1 || value.length > maxTextLength)
    throw wrong(path, `must be a text of 1 to ${maxTextLength} characters`)
  return value.toLowerCase()
}

function numberOf(value: unknown, path: string): number {
  if (typeof value !== 'number') throw wrong(path, 'must be a number')
  return value
}

function moneyOf(value: unknown, path: string): bigint {
  const micros = typeof value === 'number' || typeof value === 'string' ? parseAmount(value, 6) : null
  if (typeof micros !== 'bigint') throw wrong(path, 'must be an amount in major units, such as 100 or 0.5')
  return micros
}

function countOf(value: unknown, path: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw wrong(path, 'must be a whole number of 0 or more')
  return BigInt(value)
}

function only(given: Plain, names: readonly string[], path: string): void {
  const strange = Object.keys(given).find((name) => !names.includes(name))
  if (strange !== undefined)
    throw wrong(`${path}.${strange.slice(0, 40)}`, `is not known here; there are ${names.join(', ')}`)
}

function wrong(field: string, message: string): AppError {
  const problem = { field, code: 'VALIDATION_ERROR' as const, message }
  return new AppError('VALIDATION_ERROR', `${field} ${message}`, { fields: [problem] })
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
