// SPDX-License-Identifier: Apache-2.0
// Backtest of a rule against stored checks, which hold everything that was known then. A velocity that was not counted
// at the time is unknown, so a condition on it is false; the reply says how often.
import { Type } from 'typebox'
import { idOf, nilUuid } from '../../../kernel/ids.ts'
import { type Route, read } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { dayRangeQuery } from '../../../platform/schema/fields.ts'
import { shownBounds } from '../../../platform/schema/lists.ts'
import { type BlacklistType, placesOf } from './blacklist.ts'
import type { Action, Rule } from './decide.ts'
import { readFacts } from './fields.ts'
import { ruleOf } from './policy.ts'
import { knownRule, RuleParam } from './rules.ts'
import { type CheckRow, checksBetween } from './store.ts'
import { velocityName } from './velocity.ts'

const pageSize = 2_000
const maxChecks = 100_000
const maxSamples = 20

const count = (description: string) => Type.Integer({ description })

const Backtest = Type.Object(
  {
    rule_id: Type.String({ description: 'Id of the rule, such as `frl_…`' }),
    checked: count('Number of checks evaluated, oldest first'),
    matched: count('Number of checks that it matches'),
    changed: count('Matching checks whose decision the rule would change'),
    unknown_velocity: count('Checks without data for a velocity of the rule'),
    decisions: Type.Object(
      {
        allow: count('Matching checks that were allowed'),
        review: count('Matching checks marked for review'),
        require_3ds: count('Matching checks challenged with 3-D Secure'),
        block: count('Matching checks that were blocked'),
      },
      { description: 'Original decisions on the matching checks' },
    ),
    samples: Type.Array(Type.String(), { description: 'Ids of the first checks that it matches' }),
    complete: Type.Boolean({ description: `False when there are more than ${maxChecks}` }),
  },
  { title: 'FraudBacktest' },
)

const backtest = read({
  method: 'POST',
  path: '/v1/payments/fraud/rules/:rule_id/backtest',
  operation: 'fraud.backtestRule',
  summary: 'Backtest a fraud rule',
  scope: 'fraud:read',
  params: RuleParam,
  body: Type.Object(dayRangeQuery),
  reply: { status: 200, schema: Backtest },
  errors: ['NOT_FOUND', 'INVALID_DATE_RANGE'],
  examples: [{ name: 'Since January', body: { start_date: '2026-01-01' } }],
  handle: (app, { params, body }, caller) => heldAgainst(app, caller, params.rule_id, body),
})

const strictness: Readonly<Record<Action, number>> = { allow: 0, review: 1, require_3ds: 2, block: 3 }

async function heldAgainst(app: App, caller: Caller, id: string, range: { start_date?: string; end_date?: string }) {
  const rule = ruleOf(await knownRule(app.db, caller, id))
  const bounds = shownBounds(range, caller)
  const names = rule.compiled.velocities.map(velocityName)
  const decisions = { allow: 0, review: 0, require_3ds: 0, block: 0 }
  const samples: string[] = []
  let [checked, matched, changed, unknown_velocity] = [0, 0, 0, 0]
  let after = nilUuid
  let isLast = false
  while (!isLast && checked < maxChecks) {
    const rows = await app.db.query(checksBetween, {
      ...caller.tenant,
      ...bounds,
      after,
      directions: rule.appliesTo,
      limit: pageSize,
    })
    for (const row of rows) {
      if (names.some((name) => row.inputs.totals[name] === undefined)) unknown_velocity++
      if (!matches(rule, row)) continue
      matched++
      decisions[row.decision]++
      const { action } = rule
      if (action === 'allow' ? row.decision !== 'allow' : strictness[action] > strictness[row.decision]) changed++
      if (samples.length < maxSamples) samples.push(idOf('riskCheck', row.id))
    }
    checked += rows.length
    after = rows.at(-1)?.id ?? after
    isLast = rows.length < pageSize
  }
  const rule_id = idOf('fraudRule', rule.id)
  return { rule_id, checked, matched, changed, unknown_velocity, decisions, samples, complete: isLast }
}

function matches(rule: Rule, { inputs }: CheckRow): boolean {
  const entries = new Set(inputs.listed)
  return rule.compiled.test({
    facts: readFacts(inputs.facts),
    totals: new Map(Object.entries(inputs.totals).map(([name, total]) => [name, BigInt(total)])),
    listed: (type: BlacklistType, value: string) =>
      placesOf(type, value).some((place) => entries.has(`${place.type} ${place.value}`)),
  })
}

export const backtestRoutes: readonly Route[] = [backtest]
