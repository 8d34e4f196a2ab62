// SPDX-License-Identifier: Apache-2.0
// Decision of fraud rules: a pure function of the rules and the facts. A blacklist blocks; otherwise the
// first rule that allows ends it; otherwise every rule is asked, and the strictest answer counts, of the score too: block
// before 3-D Secure before review. Within one action the first by priority, then by age, is the one that is named.
import type { Compiled, Situation } from './condition.ts'
import type { Direction } from './fields.ts'
import { blockFrom, type Components, type Level, levelOf, reviewFrom, type Scored } from './score.ts'

export const actions = ['allow', 'require_3ds', 'review', 'block'] as const
export type Action = (typeof actions)[number]

/** A rule, ready to be asked. */
export interface Rule {
  readonly id: string
  readonly name: string
  readonly action: Action
  readonly appliesTo: readonly Direction[]
  readonly score: number
  readonly dryRun: boolean
  readonly compiled: Compiled
}

interface Matched {
  readonly id: string
  readonly name: string
  readonly action: Action
  readonly dryRun: boolean
}

export interface Decision {
  readonly decision: Action
  readonly score: number
  readonly level: Level
  readonly components: Components
  readonly matched: readonly Matched[]
  /** The rule that decided it; null where a blacklist or the score did. */
  readonly ruleId: string | null
}

export interface Case extends Situation {
  readonly direction: Direction
  /** Whether the payer can be asked to prove who it is: one who brings a card. A saved one is charged without the payer. */
  readonly canProve: boolean
  readonly scored: Scored
  readonly isBlacklisted: boolean
}

/** `rules` are ordered by priority, then age. */
export function decide(rules: readonly Rule[], held: Case): Decision {
  const matches = ({ appliesTo, compiled }: Rule): boolean => appliesTo.includes(held.direction) && compiled.test(held)
  const allowing = rules.find((rule) => rule.action === 'allow' && !rule.dryRun && matches(rule))
  const isAllowed = allowing !== undefined && !held.isBlacklisted
  const matched = isAllowed
    ? rules.filter((rule) => rule === allowing || (rule.dryRun && matches(rule)))
    : rules.filter(matches)
  const inForce = matched.filter((rule) => !rule.dryRun)
  const { score, components } = withRules(held.scored, inForce)
  const first = (action: Action): Rule | undefined => inForce.find((rule) => rule.action === action)
  const result = { score, level: levelOf(score), components, matched: matched.map(shownRule) }
  const decided = (decision: Action, rule?: Rule): Decision => ({ ...result, decision, ruleId: rule?.id ?? null })
  if (held.isBlacklisted) return decided('block')
  if (allowing) return decided('allow', allowing)
  const blocking = first('block')
  if (blocking || score >= blockFrom) return decided('block', blocking)
  const challenging = first('require_3ds')
  // Where 3-D Secure is impossible, the payment goes to review.
  if (challenging) return decided(held.canProve ? 'require_3ds' : 'review', challenging)
  const reviewing = first('review')
  if (reviewing || score >= reviewFrom) return decided('review', reviewing)
  return decided('allow')
}

/** Adds what the rules say, within 0 and 100; the components still add up to the score. */
function withRules({ score, components }: Scored, rules: readonly Rule[]): Pick<Decision, 'score' | 'components'> {
  const wanted = rules.reduce((sum, rule) => sum + rule.score, score)
  const after = Math.max(0, Math.min(100, wanted))
  return { score: after, components: { ...components, rules: after - score } }
}

function shownRule({ id, name, action, dryRun }: Rule): Matched {
  return { id, name, action, dryRun }
}
