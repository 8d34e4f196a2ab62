// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../../../test/properties.ts'
import { compile } from './condition.ts'
import { type Action, actions, type Case, decide, type Rule } from './decide.ts'
import type { FieldValue, RiskHint } from './fields.ts'
import { alwaysCounted, blockFrom, levelOf, reviewFrom, scoreOf } from './score.ts'
import { velocityName } from './velocity.ts'

const always = [{ field: 'amount', operator: 'gt', value: 0 }]
const never = [{ field: 'amount', operator: 'lt', value: 0.5 }]

function rule(id: string, action: Action, change: Partial<Rule> & { conditions?: unknown } = {}): Rule {
  const { conditions = always, ...rest } = change
  const compiled = compile('all', conditions)
  return { id, name: id, action, appliesTo: ['payment'], score: 0, dryRun: false, compiled, ...rest }
}

function held(score: number, change: Partial<Case> = {}): Case {
  const components = { velocity: score, amount: 0, identity: 0, card: 0, geo: 0, history: 0, rules: 0 }
  return {
    facts: new Map<string, FieldValue>([['amount', 1_000_000n]]),
    totals: new Map(),
    listed: () => false,
    direction: 'payment',
    canProve: false,
    scored: { score, components, flags: [] },
    isBlacklisted: false,
    ...change,
  }
}

const rows: readonly [name: string, rules: Rule[], held: Case, decision: Action, ruleId: string | null][] = [
  ['nothing is allowed', [], held(0), 'allow', null],
  ['a score below 60 is allowed', [], held(59), 'allow', null],
  ['a score of 60 is reviewed', [], held(60), 'review', null],
  ['a score of 79 is reviewed', [], held(79), 'review', null],
  ['a score of 80 is blocked', [], held(80), 'block', null],
  ['a rule blocks', [rule('b', 'block')], held(0), 'block', 'b'],
  ['a rule that does not match does nothing', [rule('b', 'block', { conditions: never })], held(0), 'allow', null],
  ['a rule reviews', [rule('r', 'review')], held(0), 'review', 'r'],
  ['block comes before review', [rule('r', 'review'), rule('b', 'block')], held(0), 'block', 'b'],
  ['allow comes before block', [rule('b', 'block'), rule('a', 'allow')], held(99), 'allow', 'a'],
  ['a blacklist comes before allow', [rule('a', 'allow')], held(0, { isBlacklisted: true }), 'block', null],
  ['3-D Secure of a card', [rule('s', 'require_3ds')], held(0, { canProve: true }), 'require_3ds', 's'],
  ['3-D Secure of a payer who cannot be asked is a review', [rule('s', 'require_3ds')], held(0), 'review', 's'],
  ['3-D Secure before review', [rule('r', 'review'), rule('s', 'require_3ds')], held(0, { canProve: true }), 'require_3ds', 's'],
  ['block before 3-D Secure', [rule('s', 'require_3ds'), rule('b', 'block')], held(0, { canProve: true }), 'block', 'b'],
  ['a review does not soften a score', [rule('r', 'review')], held(80), 'block', null],
  ['the first of its action is named', [rule('b1', 'block'), rule('b2', 'block')], held(0), 'block', 'b1'],
  ['a trial does nothing', [rule('b', 'block', { dryRun: true, score: 90 })], held(0), 'allow', null],
  ['a trial allows nothing', [rule('a', 'allow', { dryRun: true })], held(80), 'block', null],
  ['points add up to a review', [rule('x', 'allow', { conditions: never }), rule('r', 'review', { score: 80 })], held(0), 'block', null],
  ['points take away', [rule('a', 'allow', { score: -50 })], held(90), 'allow', 'a'],
  ['a rule for payouts leaves payments alone', [rule('b', 'block', { appliesTo: ['payout'] })], held(0), 'allow', null],
  ['a rule for payouts', [rule('b', 'block', { appliesTo: ['payout'] })], held(0, { direction: 'payout' }), 'block', 'b'],
] // biome-ignore format: a table reads better dense

for (const [name, rules, situation, decision, ruleId] of rows)
  test(name, () => {
    const decided = decide(rules, situation)
    assert.deepEqual([decided.decision, decided.ruleId], [decision, ruleId])
  })

test('what matched is told, trials too, and an allow rule ends it', () => {
  const rules = [rule('t', 'block', { dryRun: true }), rule('a', 'allow'), rule('r', 'review'), rule('b', 'block')]
  assert.deepEqual(
    decide(rules, held(0)).matched.map(({ id, dryRun }) => [id, dryRun]),
    [
      ['t', true],
      ['a', false],
    ],
  )
  const blacklisted = decide(rules, held(0, { isBlacklisted: true }))
  assert.deepEqual([blacklisted.decision, blacklisted.matched.length], ['block', 4])
})

const anyRule = fc
  .record({
    action: fc.constantFrom(...actions),
    score: fc.integer({ min: -100, max: 100 }),
    dryRun: fc.boolean(),
    matches: fc.boolean(),
    appliesTo: fc.constantFrom<Rule['appliesTo']>(['payment'], ['payout'], ['payment', 'payout']),
  })
  .map(({ matches, action, ...rest }) => rule(action, action, { ...rest, conditions: matches ? always : never }))
const anyCase = fc
  .tuple(fc.integer({ min: 0, max: 100 }), fc.boolean(), fc.boolean())
  .map(([score, isBlacklisted, canProve]) => held(score, { isBlacklisted, canProve }))

test('the same rules decide the same, and the components always add up to the score', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 8 }), anyCase, (rules, situation) => {
      const decided = decide(rules, situation)
      assert.deepEqual(decide(rules, situation), decided)
      assert.equal(
        Object.values(decided.components).reduce((a, b) => a + b),
        decided.score,
      )
      assert.ok(decided.score >= 0 && decided.score <= 100)
      assert.equal(decided.level, levelOf(decided.score))
      if (situation.isBlacklisted) assert.equal(decided.decision, 'block')
      if (decided.decision === 'require_3ds') assert.ok(situation.canProve)
    }),
    { numRuns: runs(2_000) },
  )
})

test('a rule that does not match, is on trial or is about payouts changes nothing, wherever it stands', () => {
  const idle = anyRule.chain((made) =>
    fc.constantFrom<Rule>(
      { ...made, dryRun: true, id: 'new' },
      { ...made, appliesTo: ['payout'], id: 'new' },
      rule('new', made.action, { score: made.score, conditions: never }),
    ),
  )
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 8 }), idle, fc.nat(8), anyCase, (rules, added, at, situation) => {
      const before = decide(rules, situation)
      const after = decide(rules.toSpliced(at, 0, added), situation)
      assert.deepEqual({ ...after, matched: after.matched.filter(({ id }) => id !== 'new') }, before)
    }),
    { numRuns: runs(2_000) },
  )
})

test('levels begin at 30, 60 and 80', () => {
  const found = [0, 29, 30, 59, 60, 79, 80, 100].map(levelOf)
  assert.deepEqual(found, ['low', 'low', 'medium', 'medium', 'high', 'high', 'very_high', 'very_high'])
  assert.deepEqual([reviewFrom, blockFrom], [60, 80])
})

const totals = (counts: Readonly<Record<string, number>>): Map<string, bigint> =>
  new Map(
    alwaysCounted.flatMap((velocity) => {
      const { by, windowSeconds, statuses } = velocity
      const count = counts[`${by[0]} ${windowSeconds / 3_600}h${statuses ? ` ${statuses[0]}` : ''}`]
      return count === undefined ? [] : [[velocityName(velocity), BigInt(count)] as const]
    }),
  )

const scores: readonly [
  name: string,
  facts: Readonly<Record<string, FieldValue>>,
  counts: Readonly<Record<string, number>>,
  score: number,
  flags: string[],
  hint?: RiskHint,
][] = [
  ['nothing is known', {}, {}, 0, []],
  ['a first payment', { is_first_payment: true }, {}, 5, ['new_customer']],
  ['a throw-away address', { email_domain: 'mailinator.com' }, {}, 10, ['disposable_email']],
  ['three within an hour', {}, { 'phone 1h': 3 }, 0, []],
  ['four within an hour', {}, { 'phone 1h': 4 }, 10, ['velocity_phone_1h']],
  ['twelve within an hour', {}, { 'phone 1h': 12, 'phone 24h': 12 }, 35, ['velocity_phone_1h', 'velocity_phone_24h']],
  ['a busy device', {}, { 'device_id 1h': 10 }, 25, ['velocity_device_1h']],
  ['a busy address', {}, { 'ip_address 1h': 60 }, 15, ['velocity_ip_1h']],
  ['a busy card', {}, { 'card_fingerprint 1h': 8 }, 30, ['velocity_card_1h']],
  ['another country', { ip_country: 'ru', phone_country: 'ke' }, {}, 10, ['ip_country_differs']],
  ['a card from elsewhere', { card_country: 'ru', phone_country: 'ke' }, {}, 15, ['card_country_differs']],
  ['most of them failed', {}, { 'phone 24h': 7, 'phone 24h failed': 3 }, 15, ['failed_often_24h']],
  ['few of them failed', {}, { 'phone 24h': 7, 'phone 24h failed': 2 }, 0, []],
  ['a little above the usual', { amount: 101n }, {}, 5, []],
  ['twice the usual', { amount: 201n }, {}, 10, ['amount_unusual']],
  ['five times the usual', { amount: 501n }, {}, 15, ['amount_unusual']],
  ['a test card of high risk', { is_first_payment: true }, {}, 65, ['new_customer', 'test_card'], 'high'],
  ['a test card of very high risk', {}, {}, 90, ['test_card'], 'very_high'],
]

for (const [name, facts, counts, score, flags, hint = null] of scores)
  test(`the score: ${name}`, () => {
    const scored = scoreOf({
      direction: 'payment',
      facts: new Map(Object.entries(facts)),
      totals: totals(counts),
      usualMicros: 100n,
      hint,
    })
    assert.deepEqual([scored.score, scored.flags], [score, flags])
  })

test('a phone that is asked again and again and fails is not blocked by the score alone', () => {
  for (const direction of ['payment', 'payout'] as const) {
    const { score } = scoreOf({
      direction,
      facts: new Map<string, FieldValue>([['is_first_payment', true]]),
      totals: totals({ 'phone 1h': 1_000, 'phone 24h': 1_000, 'phone 24h failed': 1_000 }),
      usualMicros: null,
      hint: null,
    })
    assert.ok(score < reviewFrom, `${direction} ${score}`)
  }
})

test('a new recipient weighs more than a new customer', () => {
  const scored = scoreOf({
    direction: 'payout',
    facts: new Map<string, FieldValue>([['is_first_payment', true]]),
    totals: new Map(),
    usualMicros: null,
    hint: null,
  })
  assert.deepEqual([scored.score, scored.flags], [9, ['new_recipient']])
})
