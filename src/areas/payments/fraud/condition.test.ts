// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../../../test/properties.ts'
import { AppError } from '../../../kernel/errors.ts'
import { compile, type Situation } from './condition.ts'
import { type FieldValue, fieldNames } from './fields.ts'
import { stepOf, velocityName, windowSeconds } from './velocity.ts'

const facts: Readonly<Record<string, FieldValue>> = {
  amount: 1_500_500_000n,
  currency: 'kes',
  phone: '+254700000001',
  email: 'asha@example.com',
  customer_name: 'asha',
  hour_of_day: 23,
  is_first_payment: true,
  risk_score: 12,
  'metadata.order': 'a-77',
  'metadata.items': 3,
  'metadata.gift': false,
}

const perHour = { metric: 'count', by: ['phone'], window: '1h' } as const
const hourly = velocityName({ metric: 'count', of: null, by: ['phone'], windowSeconds: 3_600, statuses: null })
const summed = velocityName({ metric: 'sum', of: 'amount', by: ['phone'], windowSeconds: 3_600, statuses: null })

function situation(): Situation {
  return {
    facts: new Map(Object.entries(facts)),
    totals: new Map([
      [hourly, 4n],
      [summed, 6_000_000_000n],
    ]),
    listed: (type, value) => type === 'email' && value === 'asha@example.com',
  }
}

const held: readonly [field: string, operator: string, value: unknown, expected: boolean][] = [
  ['amount', 'eq', 1500.5, true],
  ['amount', 'eq', '1500.50', true],
  ['amount', 'ne', 1500.5, false],
  ['amount', 'gt', 1500.5, false],
  ['amount', 'gt', 1500.499999, true],
  ['amount', 'gte', 1500.5, true],
  ['amount', 'lt', 1500.5, false],
  ['amount', 'lte', 1500.5, true],
  ['amount', 'between', [1, 1500.5], true],
  ['amount', 'between', [1501, 2000], false],
  ['amount', 'in', [1, 1500.5], true],
  ['amount', 'not_in', [1, 2], true],
  ['currency', 'eq', 'KES', true],
  ['currency', 'in', ['UGX', 'KES'], true],
  ['currency', 'not_in', ['UGX', 'KES'], false],
  ['phone', 'starts_with', '+25470', true],
  ['email', 'ends_with', '@EXAMPLE.com', true],
  ['email', 'contains', 'sha@', true],
  ['email', 'contains', '.*', false],
  ['email', 'in_list', 'email', true],
  ['email', 'in_list', 'phone', false],
  ['customer_name', 'eq', 'Asha', true],
  ['hour_of_day', 'gte', 22, true],
  ['is_first_payment', 'eq', true, true],
  ['is_first_payment', 'ne', true, false],
  ['risk_score', 'lt', 12.5, true],
  ['metadata.order', 'eq', 'A-77', true],
  ['metadata.order', 'gt', 5, false],
  ['metadata.items', 'gte', 3, true],
  ['metadata.items', 'eq', '3', false],
  ['metadata.gift', 'eq', false, true],
  ['metadata.gift', 'ne', true, true],
  ['phone', 'exists', true, true],
  ['device_id', 'exists', true, false],
  ['device_id', 'exists', false, true],
]

for (const [field, operator, value, expected] of held)
  test(`${field} ${operator} ${JSON.stringify(value)} is ${expected}`, () => {
    assert.equal(compile('all', [{ field, operator, value }]).test(situation()), expected)
  })

test('a comparison with a field that is missing is false, whichever way it is put', () => {
  for (const [operator, value] of [
    ['eq', 'x'],
    ['ne', 'x'],
    ['in', ['x']],
    ['not_in', ['x']],
    ['contains', 'x'],
    ['in_list', 'device_id'],
  ])
    assert.equal(compile('all', [{ field: 'device_id', operator, value }]).test(situation()), false, String(operator))
  for (const operator of ['eq', 'ne', 'lt', 'gte'])
    assert.equal(compile('all', [{ field: 'amount_usd', operator, value: 1 }]).test(situation()), false, operator)
  const byDevice = { velocity: { metric: 'count', by: ['device_id'], window: '1h' }, operator: 'lt', value: 5 }
  assert.equal(compile('all', [byDevice]).test(situation()), false)
})

test('velocities are compared as whole numbers, sums as money', () => {
  const matches = (velocity: object, operator: string, value: unknown) =>
    compile('all', [{ velocity, operator, value }]).test(situation())
  assert.equal(matches(perHour, 'gt', 3), true)
  assert.equal(matches(perHour, 'gt', 4), false)
  assert.equal(matches(perHour, 'between', [4, 9]), true)
  assert.equal(matches({ metric: 'sum', of: 'amount', by: ['phone'], window: '1h' }, 'gte', 6_000), true)
  assert.equal(matches({ metric: 'sum', of: 'amount', by: ['phone'], window: '60m' }, 'gt', 6_000), false)
})

test('groups nest three deep and mean what they say', () => {
  const yes = { field: 'currency', operator: 'eq', value: 'KES' }
  const no = { field: 'currency', operator: 'eq', value: 'UGX' }
  const rows: [match: 'all' | 'any', conditions: unknown[], expected: boolean][] = [
    ['all', [yes, no], false],
    ['any', [yes, no], true],
    ['all', [yes, { match: 'any', conditions: [no, yes] }], true],
    ['all', [yes, { conditions: [no, yes] }], false],
    ['any', [no, { match: 'all', conditions: [yes, { match: 'any', conditions: [no, yes] }] }], true],
    ['all', [{ conditions: [{ conditions: [{ match: 'any', conditions: [no, yes] }] }] }], true],
  ]
  for (const [match, conditions, expected] of rows)
    assert.equal(compile(match, conditions).test(situation()), expected, JSON.stringify(conditions))
})

const good = { field: 'amount', operator: 'gt', value: 1 }
const velocity = (change: object) => [{ velocity: { ...perHour, ...change }, operator: 'gt', value: 1 }]
const wrong: readonly [conditions: unknown, path: string][] = [
  [[], 'conditions'],
  ['x', 'conditions'],
  [Array(21).fill(good), 'conditions'],
  [[good, 'x'], 'conditions[1]'],
  [[good, null], 'conditions[1]'],
  [[{ ...good, field: 'colour' }], 'conditions[0].field'],
  [[{ ...good, field: 'metadata.' }], 'conditions[0].field'],
  [[{ ...good, field: 'toString' }], 'conditions[0].field'],
  [[{ ...good, operator: 'matches' }], 'conditions[0].operator'],
  [[{ ...good, operator: 'contains' }], 'conditions[0].operator'],
  [[{ field: 'phone', operator: 'gt', value: 'x' }], 'conditions[0].operator'],
  [[{ ...good, value: -1 }], 'conditions[0].value'],
  [[{ ...good, value: 'much' }], 'conditions[0].value'],
  [[{ field: 'amount', operator: 'gt' }], 'conditions[0].value'],
  [[{ ...good, operator: 'between', value: [2, 1] }], 'conditions[0].value'],
  [[{ ...good, operator: 'between', value: [1] }], 'conditions[0].value'],
  [[{ ...good, operator: 'in', value: [] }], 'conditions[0].value'],
  [[{ ...good, operator: 'in', value: [1, 'x'] }], 'conditions[0].value[1]'],
  [[{ field: 'phone', operator: 'in', value: Array(1_001).fill('x') }], 'conditions[0].value'],
  [[{ field: 'phone', operator: 'eq', value: 7 }], 'conditions[0].value'],
  [[{ field: 'phone', operator: 'eq', value: 'x'.repeat(501) }], 'conditions[0].value'],
  [[{ field: 'hour_of_day', operator: 'eq', value: '7' }], 'conditions[0].value'],
  [[{ field: 'is_first_payment', operator: 'eq', value: 1 }], 'conditions[0].value'],
  [[{ field: 'metadata.a', operator: 'contains', value: 7 }], 'conditions[0].value'],
  [[{ field: 'phone', operator: 'exists', value: 'yes' }], 'conditions[0].value'],
  [[{ field: 'phone', operator: 'in_list', value: 'friends' }], 'conditions[0].value'],
  [[{ ...good, note: 1 }], 'conditions[0].note'],
  [[{ match: 'some', conditions: [good] }], 'conditions[0].match'],
  [[{ match: 'any', conditions: [] }], 'conditions[0].conditions'],
  [
    [{ conditions: [{ conditions: [{ conditions: [{ conditions: [good] }] }] }] }],
    'conditions[0].conditions[0].conditions[0].conditions[0]',
  ],
  [
    [{ conditions: [{ conditions: [{ conditions: [{ conditions: [good] }] }] }] }],
    'conditions[0].conditions[0].conditions[0].conditions[0]',
  ],
  [Array(6).fill({ conditions: Array(20).fill(good) }), 'conditions[5].conditions[0]'],
  [[{ velocity: 'x', operator: 'gt', value: 1 }], 'conditions[0].velocity'],
  [velocity({ metric: 'mean' }), 'conditions[0].velocity.metric'],
  [velocity({ of: 'amount' }), 'conditions[0].velocity.of'],
  [velocity({ metric: 'sum' }), 'conditions[0].velocity.of'],
  [velocity({ metric: 'sum', of: 'phone' }), 'conditions[0].velocity.of'],
  [velocity({ metric: 'distinct', of: 'amount' }), 'conditions[0].velocity.of'],
  [velocity({ by: [] }), 'conditions[0].velocity.by'],
  [velocity({ by: ['amount'] }), 'conditions[0].velocity.by'],
  [velocity({ by: ['phone', 'phone'] }), 'conditions[0].velocity.by'],
  [velocity({ window: '29s' }), 'conditions[0].velocity.window'],
  [velocity({ window: '91d' }), 'conditions[0].velocity.window'],
  [velocity({ window: 'an hour' }), 'conditions[0].velocity.window'],
  [velocity({ status: [] }), 'conditions[0].velocity.status'],
  [velocity({ status: ['pending'] }), 'conditions[0].velocity.status'],
  [velocity({ per: 1 }), 'conditions[0].velocity.per'],
  [[{ velocity: perHour, operator: 'contains', value: 1 }], 'conditions[0].operator'],
  [[{ velocity: perHour, operator: 'gt', value: 1.5 }], 'conditions[0].value'],
  [[{ conditions: [good, { ...good, operator: 'like' }] }], 'conditions[0].conditions[1].operator'],
]

for (const [conditions, path] of wrong)
  test(`what is wrong is named: ${path} in ${JSON.stringify(conditions).slice(0, 90)}`, () => {
    assert.throws(
      () => compile('all', conditions),
      (error) => {
        assert.ok(error instanceof AppError && error.code === 'VALIDATION_ERROR')
        assert.equal(error.extras.fields?.[0]?.field, path)
        return true
      },
    )
  })

test('anything at all is either a rule or refused by name', () => {
  const scalar = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null))
  const operators = ['eq', 'ne', 'gt', 'between', 'in', 'contains', 'exists', 'in_list', 'like']
  const condition = fc.record(
    {
      field: fc.oneof(fc.constantFrom(...fieldNames, 'metadata.a'), fc.string()),
      operator: fc.oneof(fc.constantFrom(...operators), fc.string()),
      value: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.constantFrom('all', 'any'), fc.array(fc.oneof(condition, fc.jsonValue())), (match, conditions) => {
      try {
        const compiled = compile(match === 'all' ? 'all' : 'any', conditions)
        assert.equal(compiled.test(situation()), compiled.test(situation()))
      } catch (error) {
        assert.ok(error instanceof AppError && error.extras.fields?.[0]?.field.startsWith('conditions'), String(error))
      }
    }),
    { numRuns: runs(2_000) },
  )
})

test('windows are 30 seconds to 90 days, in steps of at most a sixth', () => {
  const rows: [text: string, seconds: number | null, step: number][] = [
    ['30s', 30, 5],
    ['1m', 60, 5],
    ['90s', 90, 15],
    ['10m', 600, 60],
    ['1h', 3_600, 300],
    ['24h', 86_400, 3_600],
    ['7d', 604_800, 86_400],
    ['90d', 7_776_000, 86_400],
    ['29s', null, 0],
    ['7776001s', null, 0],
    ['0d', null, 0],
    ['1w', null, 0],
    ['', null, 0],
  ]
  for (const [text, seconds, step] of rows) {
    assert.equal(windowSeconds(text), seconds, text)
    if (seconds !== null) assert.equal(stepOf(seconds), step, text)
  }
  fc.assert(fc.property(fc.integer({ min: 30, max: 7_776_000 }), (seconds) => stepOf(seconds) * 6 <= seconds))
})
