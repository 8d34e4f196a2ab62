// SPDX-License-Identifier: Apache-2.0
// All SQL of decisions. One statement counts a subject and reads everything that the decision needs; what is counted when is
// in the SQL functions.
import { gone } from '../../../platform/db/merging.ts'
import { statement } from '../../../platform/db.ts'
import type { ShownBounds } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { BlacklistType } from './blacklist.ts'
import type { Match } from './condition.ts'
import type { Action } from './decide.ts'
import type { Direction } from './fields.ts'

/** Makes the version of an account's rules grow, and keeps everybody else who changes them waiting. */
export const touchPolicy = statement.tenant<
  Tenant & { rules: number; entries: number },
  { version: number; rules: number; entries: number }
>(
  'payments.touch_fraud_policy',
  `insert into payments.fraud_policies as p (bucket, account_id, environment, version, rules, entries)
   values ($bucket, $account, $environment, 1, greatest(0, $rules::int), greatest(0, $entries::int))
   on conflict (bucket, account_id, environment)
     do update set version = p.version + 1, rules = p.rules + $rules::int, entries = p.entries + $entries::int
   returning version, rules, entries`,
)

/** Fraud policy of an account; no row, which counts as version 0, when it has never set anything. */
export const readPolicy = statement.tenant<Tenant, { version: number; entries: number }>(
  'payments.read_fraud_policy',
  `select version, entries from payments.fraud_policies where ${mine}`,
)

export interface RuleRow {
  id: string
  name: string
  description: string | null
  action: Action
  match: Match
  conditions: unknown
  applies_to: Direction[]
  score: number
  priority: number
  enabled: boolean
  dry_run: boolean
  created_at: Date
  updated_at: Date
}

const ruleColumns = `id, name, description, action, match, conditions, applies_to, score, priority, enabled, dry_run, created_at,
  updated_at`

export const rulesInForce = statement.tenant<Tenant, RuleRow>(
  'payments.fraud_rules_in_force',
  `select ${ruleColumns} from payments.fraud_rules where ${mine} and enabled order by priority, id`,
)

type RuleParameters = One & {
  name: string
  description: string | null
  action: string
  match: string
  conditions: string
  appliesTo: readonly string[]
  score: number
  priority: number
  enabled: boolean
  dryRun: boolean
  at: Date
}

export const insertRule = statement.tenant<RuleParameters, RuleRow>(
  'payments.insert_fraud_rule',
  `insert into payments.fraud_rules (bucket, account_id, environment, ${ruleColumns})
   values ($bucket, $account, $environment, $id, $name, $description, $action, $match, $conditions::jsonb, $appliesTo::text[],
     $score, $priority, $enabled, $dryRun, $at, $at)
   returning ${ruleColumns}`,
)

export const updateRule = statement.tenant<RuleParameters, RuleRow>(
  'payments.update_fraud_rule',
  `update payments.fraud_rules
      set name = $name, description = $description, action = $action, match = $match, conditions = $conditions::jsonb,
          applies_to = $appliesTo::text[], score = $score, priority = $priority, enabled = $enabled, dry_run = $dryRun,
          updated_at = $at
    where ${mine} and id = $id
   returning ${ruleColumns}`,
)

export const findRule = statement.tenant<One, RuleRow>(
  'payments.find_fraud_rule',
  `select ${ruleColumns} from payments.fraud_rules where ${mine} and id = $id`,
)

export const lockRule = statement.tenant<One, RuleRow>(
  'payments.lock_fraud_rule',
  `select ${ruleColumns} from payments.fraud_rules where ${mine} and id = $id for update`,
)

export const deleteRule = statement.tenant<One, { id: string }>(
  'payments.delete_fraud_rule',
  `delete from payments.fraud_rules where ${mine} and id = $id returning id`,
)

export const listRules = statement.tenant<
  Tenant & { after: string | null; descending: boolean; limit: number },
  RuleRow
>(
  'payments.list_fraud_rules',
  `select ${ruleColumns} from payments.fraud_rules
    where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Matches of rules since a moment, among the latest checks. Checks in advance do not count. */
export const countHits = statement.tenant<
  Tenant & { rules: readonly string[]; from: string; since: Date; most: number },
  { rule: string; hits: number }
>(
  'payments.count_fraud_hits',
  `select m.rule, count(*)::int as hits
     from (select matched from payments.risk_checks
            where ${mine} and id >= $from::uuid and created_at > $since and matched <> '{}' and enforced
            order by id desc limit $most::int) c,
          unnest(c.matched) as m(rule)
    where m.rule = any($rules::uuid[])
    group by m.rule`,
)

export interface Looked {
  version: number
  first_at: Date | null
  /** Tallies in the order asked for: count, total, items, whether the own item is among them. */
  totals: [string, string, number, boolean][] | null
  hits: { id: string; type: BlacklistType; value: string; shown: string; applies_to: string[] }[] | null
}

/** Blacklist entry of a candidate, by one index lookup: a plain join may scan all entries of the account instead. */
export const entryAt = `select * from payments.blacklist e
  where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.type = c.type and e.value = c.value
  limit 1`

/** A payments.look_item, in its order. */
export const lookColumns = {
  bucket: 'smallint',
  account: 'uuid',
  environment: 'text',
  payer: 'uuid',
  at: 'timestamptz',
  real_at: 'timestamptz',
} as const

/** A payments.look_tally, in its order. */
export const tallyColumns = {
  n: 'int',
  tally: 'uuid',
  step: 'int',
  start: 'bigint',
  since: 'bigint',
  item: 'uuid',
  amount: 'bigint',
  keep: 'int',
  counts: 'boolean',
} as const

/** A payments.look_place, in its order. */
export const placeColumns = { n: 'int', type: 'text', value: 'text' } as const

/** Counts what is to be counted now and reads the rest, of each one row. */
export const look = statement.tenant<
  { buckets: readonly number[]; items: Buffer; tallies: Buffer; places: Buffer },
  Looked
>(
  'payments.look_for_fraud',
  `select version, first_at, totals, hits
     from payments.look_for_fraud($items::payments.look_item[], $tallies::payments.look_tally[],
            $places::payments.look_place[])`,
)

/** Takes back what was counted in this transaction. */
export const uncount = statement.tenant<{ buckets: readonly number[]; items: Buffer; tallies: Buffer }, object>(
  'payments.uncount',
  'select payments.uncount($items::payments.look_item[], $tallies::payments.look_tally[])',
)

/** 95th percentile of the latest amounts, where there are enough. */
export const usualAmounts = statement.tenant<
  Tenant & { most: number; least: number },
  { direction: Direction; currency: string; amount: bigint }
>(
  'payments.usual_amounts',
  `select direction, currency, percentile_disc(0.95) within group (order by amount) as amount
     from (select direction, currency, amount, enforced, decision from payments.risk_checks
            where ${mine} order by id desc limit $most::int) latest
    where enforced and decision <> 'block'
    group by direction, currency having count(*) >= $least::int`,
)

export interface CheckRow {
  id: string
  direction: Direction
  decision: Action
  inputs: Inputs
}

/** Inputs of a decision, so that it can be made again. */
interface Inputs {
  facts: Record<string, string | number | boolean>
  totals: Record<string, string>
  /** `type value` of every entry of a list that was found. */
  listed: string[]
}

export const insertCheck = statement.tenant<
  One & {
    direction: string
    enforced: boolean
    currency: string
    amount: bigint
    score: number
    decision: string
    inputs: string
    matched: readonly string[]
    payer: string | null
    watched: string
    at: Date
  },
  object
>(
  'payments.insert_risk_check',
  `insert into payments.risk_checks (bucket, account_id, environment, id, direction, enforced, currency, amount, score,
     decision, inputs, matched, payer, watched, created_at)
   values ($bucket, $account, $environment, $id, $direction, $enforced, $currency, $amount, $score, $decision,
     $inputs::jsonb, $matched::uuid[], $payer, $watched::jsonb, $at)`,
)

export const findCheck = statement.tenant<One, CheckRow>(
  'payments.find_risk_check',
  `select id, direction, decision, inputs from payments.risk_checks where ${mine} and id = $id`,
)

/** Checks of a time, a page of them, oldest first. */
export const checksBetween = statement.tenant<
  Tenant & ShownBounds & { after: string; directions: readonly string[]; limit: number },
  CheckRow
>(
  'payments.risk_checks_between',
  `select id, direction, decision, inputs from payments.risk_checks
    where ${mine} and id >= $from::uuid and id < $to::uuid and id > $after::uuid and direction = any($directions::text[])
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
    order by id limit $limit::int`,
)

/** Counts what became of payments or payouts, as their checks say it should be. */
export const countFates = statement.tenant<
  Tenant & { ids: readonly string[]; status: string; at: Date; realAt: Date },
  object
>(
  'payments.count_fates',
  `select payments.count_fates(array(
     select row($bucket::smallint, $account::uuid, $environment::text, i.id, $status::text, $at::timestamptz,
                $realAt::timestamptz)::payments.fate
       from unnest($ids::uuid[]) as i(id)))`,
)

/** Forgets what no window reaches any more, a part at a time. */
export const forgetVelocity = statement.everywhere<
  { buckets: readonly number[]; before: Date; most: number },
  { gone: number }
>(
  'payments.forget_velocity',
  `with old as (
     select bucket, account_id, environment, tally, step, start, item from payments.velocity
      where bucket = any($buckets::smallint[]) and expires_at < $before limit $most::int
   ), gone as (
     delete from payments.velocity v using old
      where v.bucket = old.bucket and v.account_id = old.account_id and v.environment = old.environment
        and v.tally = old.tally and v.step = old.step and v.start = old.start and v.item = old.item
     returning 1
   )
   select count(*)::int as gone from gone`,
  gone,
)
