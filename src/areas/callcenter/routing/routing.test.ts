// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type IvrDocument, type IvrMenu, ivrDocument, ivrProblem } from '../ivr/ivr.ts'
import { type Heard, walk } from '../ivr/walk.ts'
import { queueDefaults } from '../queues/queue.ts'
import type { DestinationOf } from '../schema.ts'
import { decide, type KnownQueue, type RoutedCall, type Surroundings, settle } from './decide.ts'
import { type HoursOf, isOpenAt, nextChange } from './hours.ts'
import { type ConditionOf, meets, type Rule } from './rule.ts'

const nairobi: HoursOf = {
  timezone: 'Africa/Nairobi',
  weekly: {
    monday: [
      { open: '08:00', close: '12:00' },
      { open: '13:00', close: '17:00' },
    ],
    friday: [{ open: '20:00', close: '26:00' }],
  },
  holidays: [
    { date: '2026-03-02', intervals: [{ open: '10:00', close: '11:00' }] },
    { date: '2025-12-25', every_year: true },
  ],
}

const openings: readonly [string, boolean][] = [
  ['2026-03-09T04:59:00Z', false],
  ['2026-03-09T05:00:00Z', true],
  ['2026-03-09T09:00:00Z', false],
  ['2026-03-09T13:59:59Z', true],
  ['2026-03-09T14:00:00Z', false],
  // A holiday with its own hours.
  ['2026-03-02T05:30:00Z', false],
  ['2026-03-02T07:30:00Z', true],
  // Friday passes midnight by two hours.
  ['2026-03-06T22:59:00Z', true],
  ['2026-03-06T23:00:00Z', false],
  // Every year on the same day; a Friday in 2026.
  ['2026-12-25T18:00:00Z', false],
]

for (const [at, isOpen] of openings)
  test(`hours are ${isOpen ? 'open' : 'closed'} at ${at}`, () => {
    assert.equal(isOpenAt(nairobi, new Date(at)), isOpen)
  })

test('the next change is when open and closed differ, and not earlier', () => {
  const start = Date.parse('2026-03-01T00:00:00Z')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 * 1_440 }), (minutes) => {
      const at = new Date(start + minutes * 60_000)
      const next = nextChange(nairobi, at)
      assert.ok(next)
      assert.notEqual(isOpenAt(nairobi, next), isOpenAt(nairobi, at))
      assert.equal(isOpenAt(nairobi, new Date(next.getTime() - 60_000)), isOpenAt(nairobi, at))
    }),
    { numRuns: 60 },
  )
})

const call: RoutedCall = {
  to: '+254700000000',
  from: '+254711000021',
  direction: 'inbound',
  language: 'sw-KE',
  at: new Date('2026-03-09T05:30:00Z'),
  timezone: 'UTC',
  customer: { tags: ['gold', 'new'], attributes: { tier: 3 } },
  variables: { order: '77' },
  lastCallAt: new Date('2026-03-09T03:30:00Z'),
}
const que = 'que_01jb2c3d4e5f6g7h8j9kamnpqr'
const facts = {
  ...call,
  hours: new Map([['bh_1', nairobi]]),
  queues: new Map([[que, { waiting: 4, available_agents: 0, estimated_wait: null }]]),
}

const conditions: readonly [ConditionOf['field'], ConditionOf['op'], ConditionOf['value'], boolean][] = [
  ['to', 'eq', '+254700000000', true],
  ['to', 'ne', '+254700000000', false],
  ['from', 'prefix', '+254711', true],
  ['from_prefix', 'eq', '+25471', true],
  ['from_country', 'in', ['UG', 'KE'], true],
  ['from_country', 'not_in', ['UG', 'KE'], false],
  ['language', 'eq', 'sw-ke', true],
  ['direction', 'eq', 'outbound', false],
  ['weekday', 'eq', 'monday', true],
  ['time_of_day', 'gte', '05:30', true],
  ['time_of_day', 'lt', '05:30', false],
  ['business_hours', 'open', 'bh_1', true],
  ['business_hours', 'closed', 'bh_1', false],
  ['business_hours', 'open', 'bh_none', false],
  [`queue.${que}.waiting`, 'gt', 3, true],
  [`queue.${que}.waiting`, 'lte', 3, false],
  [`queue.${que}.estimated_wait`, 'gt', 0, false],
  [`queue.${que}.estimated_wait`, 'exists', false, true],
  ['customer.tag', 'eq', 'gold', true],
  ['customer.tag', 'ne', 'gold', false],
  ['customer.attribute.tier', 'gte', 3, true],
  ['variable.order', 'eq', '77', true],
  ['variable.none', 'exists', undefined, false],
  ['returning_within_hours', 'lte', 3, true],
  ['returning_within_hours', 'lte', 1, false],
]

for (const [field, op, value, expected] of conditions)
  test(`${field} ${op} ${String(value)} is ${expected}`, () => {
    assert.equal(meets({ field, op, ...(value === undefined ? {} : { value }) }, facts), expected)
  })

// --- a simulation and a live call go the same way ---

const queueIds = ['que_a', 'que_b']
const ivrIds = ['ivr_a', 'ivr_b']

const destination: fc.Arbitrary<DestinationOf> = fc.oneof(
  fc.constantFrom(...queueIds).map((id) => ({ type: 'queue' as const, id })),
  fc.constantFrom(...ivrIds).map((id) => ({ type: 'ivr' as const, id })),
  fc.constant({ type: 'agent' as const, id: 'amina' }),
  fc.constant({ type: 'hangup' as const }),
  fc.constant({ type: 'phone' as const, number: '+254711000001' }),
)

const knownQueue = (id: string): fc.Arbitrary<[string, KnownQueue]> =>
  fc
    .record({
      status: fc.constantFrom('open' as const, 'closed' as const, 'paused' as const),
      waiting: fc.integer({ min: 0, max: 3 }),
      agents_logged_in: fc.integer({ min: 0, max: 2 }),
      overflow: fc.option(
        fc.record({
          on: fc.uniqueArray(fc.constantFrom('full' as const, 'no_agents' as const, 'closed' as const), {
            minLength: 1,
          }),
          action: destination,
        }),
      ),
    })
    .map(({ overflow, ...rest }) => [
      id,
      {
        ...rest,
        id,
        uuid: id,
        lastAgent: null,
        available_agents: rest.agents_logged_in,
        estimated_wait: 0,
        document: { ...queueDefaults, max_size: 2, overflow },
      },
    ])

const menuAction = fc.oneof(
  destination,
  fc.constant({ menu: 'main' }),
  fc.constant({ menu: 'second' }),
  fc.constant({ repeat: true as const }),
  fc.constant({ back: true as const }),
)

const ivr: fc.Arbitrary<IvrDocument> = fc
  .record({ one: menuAction, two: menuAction, late: menuAction, retries: fc.integer({ min: 0, max: 2 }) })
  .map(({ one, two, late, retries }) => ({
    name: 'x',
    language: 'en-US',
    entry: 'main',
    variables: {},
    business_hours_id: null,
    closed: null,
    status: 'active',
    menus: {
      main: {
        options: { '1': { action: { menu: 'second' } }, '2': { action: one } },
        on_timeout: { retries, action: late },
      },
      second: { options: { '1': { action: two } }, on_invalid: { retries, action: late } },
    },
  }))

const rule: fc.Arbitrary<Omit<Rule, 'id'>> = fc.record({
  name: fc.constant('x'),
  priority: fc.integer({ min: 0, max: 3 }),
  enabled: fc.boolean(),
  match: fc.constantFrom('all' as const, 'any' as const),
  stop: fc.boolean(),
  createdMs: fc.integer({ min: 0, max: 3 }),
  conditions: fc.array(
    fc.constantFrom<ConditionOf>(
      { field: 'from_country', op: 'eq', value: 'KE' },
      { field: 'weekday', op: 'in', value: ['sunday'] },
      { field: 'variable.order', op: 'exists' },
    ),
    { maxLength: 2 },
  ),
  action: destination,
})

/** A live call: decided on arrival, then menu by menu. */
function live(around: Surroundings, heard: readonly Heard[]): DestinationOf | null {
  let decided = decide(around, call)
  for (const one of heard) {
    const id = decided.destination?.type === 'ivr' ? (decided.destination.id ?? '') : null
    const document = id === null ? null : around.ivrs.get(id)
    if (!document || !decided.walk) return decided.destination
    const step = walk(document, decided.walk, one)
    if (step.kind === 'menu') decided = { ...decided, walk: step.state }
    else if (step.kind === 'webhook') return { type: 'application', answer_url: step.url }
    else decided = settle(around, call, step.destination)
  }
  return decided.destination
}

test('a simulation says where a live call goes, whatever the rules, queues and menus are', () => {
  fc.assert(
    fc.property(
      fc.record({
        assignment: fc.option(destination),
        rules: fc.array(rule, { maxLength: 5 }),
        queues: fc.tuple(...queueIds.map(knownQueue)),
        ivrs: fc.tuple(ivr, ivr),
        heard: fc.array(fc.constantFrom('1', '2', '', '7'), { maxLength: 8 }),
      }),
      ({ assignment, rules, queues, ivrs, heard }) => {
        const around: Surroundings = {
          assignment,
          rules: rules.map((one, i) => ({ ...one, id: `rule_${i}` })),
          hours: new Map(),
          queues: new Map(queues),
          ivrs: new Map(ivrs.map((one, i) => [ivrIds[i] ?? '', one])),
          people: [],
          agents: [],
        }
        const typed = heard.map((digits) => ({ digits, speech: [] }))
        const simulated = decide(around, call, typed).destination
        assert.deepEqual(plain(simulated), plain(live(around, typed)))
      },
    ),
    { numRuns: 2_000 },
  )
})

function plain(given: DestinationOf | null): object | null {
  return given && { type: given.type, id: given.id, number: given.number }
}

const good = {
  name: 'x',
  entry: 'main',
  menus: { main: { options: { '1': { action: { type: 'hangup' as const } } } } },
}
const wrong: readonly [string, object][] = [
  ['entry', { ...good, entry: 'none' }],
  ['menus.main', { ...good, menus: { main: { options: { '1': { action: { menu: 'none' } } } } } }],
  ['menus.lost', { ...good, menus: { ...good.menus, lost: good.menus.main } }],
  ['menus.main', { ...good, menus: { main: {} } }],
  ['menus.main', { ...good, menus: { main: { options: { '1': { action: {} } } } } }],
  ['menus.main', { ...good, menus: { main: { options: { '1': { action: { menu: 'main', repeat: true } } } } } }],
  ['menus.main', { ...good, menus: { main: { options: { '1': { action: { type: 'phone' } } } } } }],
  ...['(a+)+', `${'\\d*'.repeat(25)}x`, '(1|1)(1|1)x'].map((pattern): [string, object] => [
    'menus.main',
    { ...good, menus: { main: { collect: { variable: 'a', pattern, next: { type: 'hangup' } } } } },
  ]),
  ['menus.m10', { ...good, entry: 'm0', menus: chain(12) }],
]

function chain(length: number): Record<string, IvrMenu> {
  return Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `m${i}`,
      { options: { '1': { action: i + 1 < length ? { menu: `m${i + 1}` } : { type: 'hangup' as const } } } },
    ]),
  )
}

for (const [field, document] of wrong)
  test(`menus are refused at ${field}: ${JSON.stringify(document).slice(0, 90)}`, () => {
    assert.equal(ivrProblem({ ...ivrDocument(good), ...document })?.field, field)
  })

test('menus that are whole are taken', () => {
  assert.equal(ivrProblem(ivrDocument(good)), null)
  assert.equal(ivrProblem({ ...ivrDocument(good), ...{ entry: 'm0', menus: chain(10) } }), null)
})
