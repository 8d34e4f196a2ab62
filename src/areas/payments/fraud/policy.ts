// SPDX-License-Identifier: Apache-2.0
// Rules of an account, compiled once and cached. Every decision returns their version, so that a cached policy is never
// used after a change on any node.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Compiled, compile } from './condition.ts'
import type { Rule } from './decide.ts'
import type { Direction } from './fields.ts'
import { alwaysCounted } from './score.ts'
import { type RuleRow, readPolicy, rulesInForce, usualAmounts } from './store.ts'
import { type Velocity, velocityName } from './velocity.ts'

const maxRemembered = 2_000
/** Usual amount of an account: how long it is cached, over how many of the latest payments, and from how many on. */
const usualForMs = 10 * 60_000
const latestAmounts = 1_000
const fewestAmounts = 20

export interface Policy {
  readonly version: number
  /** Rules in the order in which they are applied. */
  readonly rules: readonly Rule[]
  readonly velocities: Readonly<Record<Direction, readonly Velocity[]>>
  readonly lists: Compiled['lists']
  readonly hasEntries: boolean
}

interface Remembered {
  policy: Policy
  usual: ReadonlyMap<string, bigint>
  usualUntilMs: number
}

const knownTo = onePerApp(() => new Map<string, Remembered>())

/** The rules as this node knows them; `isOld` when they are known to have changed. */
export async function policyOf(
  app: App,
  queryable: Queryable,
  tenant: Tenant,
  isOld = false,
): Promise<{ policy: Policy; usual: ReadonlyMap<string, bigint> }> {
  const known = knownTo(app)
  const key = `${tenant.account} ${tenant.environment}`
  const before = known.get(key)
  const isFresh = before !== undefined && !isOld
  if (isFresh && before.usualUntilMs > performance.now()) return before
  const now: Remembered = {
    policy: isFresh ? before.policy : await load(app, queryable, tenant),
    usual: await usualOf(queryable, tenant),
    usualUntilMs: performance.now() + usualForMs,
  }
  known.delete(key)
  known.set(key, now)
  const [oldest] = known.keys()
  if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest)
  return now
}

/** Key of a usual amount. */
export function usualKey(direction: Direction, currency: string): string {
  return `${direction} ${currency}`
}

/** Every velocity that rules and the score ask for, each once. */
export function velocitiesOf(rules: readonly Rule[], direction: Direction): Velocity[] {
  const asked = rules.filter(({ appliesTo }) => appliesTo.includes(direction))
  const all = [...alwaysCounted, ...asked.flatMap(({ compiled }) => compiled.velocities)]
  return [...new Map(all.map((velocity) => [velocityName(velocity), velocity])).values()]
}

export function ruleOf(row: RuleRow): Rule {
  const { id, name, action, applies_to: appliesTo, score, dry_run: dryRun } = row
  return { id, name, action, appliesTo, score, dryRun, compiled: compile(row.match, row.conditions) }
}

async function load(app: App, queryable: Queryable, tenant: Tenant): Promise<Policy> {
  // The version first: rules that change in between are then loaded again.
  const { version = 0, entries = 0 } = (await maybe(queryable.query(readPolicy, { ...tenant }))) ?? {}
  const rules = version === 0 ? [] : (await queryable.query(rulesInForce, { ...tenant })).flatMap(understood)
  return {
    version,
    rules,
    velocities: { payment: velocitiesOf(rules, 'payment'), payout: velocitiesOf(rules, 'payout') },
    lists: rules.flatMap(({ compiled }) => compiled.lists),
    hasEntries: entries > 0,
  }

  /** A rule that an earlier version understood and this one does not must not stop every payment. */
  function understood(row: RuleRow): Rule[] {
    try {
      return [ruleOf(row)]
    } catch (error) {
      app.log.error(
        { error, rule: idOf('fraudRule', row.id) },
        'stored fraud rule not understood: it is not applied; save the rule again',
      )
      return []
    }
  }
}

async function usualOf(queryable: Queryable, tenant: Tenant): Promise<ReadonlyMap<string, bigint>> {
  const rows = await queryable.query(usualAmounts, { ...tenant, most: latestAmounts, least: fewestAmounts })
  return new Map(rows.map(({ direction, currency, amount }) => [usualKey(direction, currency), amount]))
}
