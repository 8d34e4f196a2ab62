// SPDX-License-Identifier: Apache-2.0
// Routes of rules: each is understood before it is stored, and in force for every payment that is accepted afterwards.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { compile, maxConditions } from './condition.ts'
import { actions } from './decide.ts'
import { ruleOf, velocitiesOf } from './policy.ts'
import { alwaysCounted } from './score.ts'
import {
  countHits,
  deleteRule,
  findRule,
  insertRule,
  listRules,
  lockRule,
  type RuleRow,
  rulesInForce,
  touchPolicy,
  updateRule,
} from './store.ts'

const maxRules = 1_000
/** Distinct velocities of an account's rules: each costs every payment a row. */
const maxVelocities = 50
/** Hits are counted over so many of the latest checks that matched anything. */
const maxHitChecks = 100_000
const defaultPriority = 100

export const RuleParam = Type.Object({ rule_id: Type.String({ description: 'Id of the rule, such as `frl_…`' }) })

export const directions = ['payment', 'payout'] as const

export const AppliesTo = Type.Array(OneOf(directions), {
  minItems: 1,
  maxItems: directions.length,
  uniqueItems: true,
  rule: `must be a list of ${directions.join(', ')}`,
  description:
    'Direction of the money: incoming (`payment`), outgoing (`payout`) or both; default `payment` for a rule, both for a blacklist entry',
})

const Condition = Type.Unsafe<unknown>({
  type: 'object',
  additionalProperties: true,
  description:
    '`{field, operator, value}`, `{velocity: {metric, of, by, window, status}, operator, value}`, or a group `{match, conditions}`',
})

const conditions = Type.Array(Condition, {
  minItems: 1,
  maxItems: maxConditions,
  rule: `must be a list of 1 to ${maxConditions} conditions`,
  description: 'Conditions of the rule, combined as in `match`',
})
const match = OneOf(['all', 'any'], {
  description: 'Combination of the conditions: all or any must match; default `all`',
})
const description = Type.String({
  maxLength: 500,
  rule: 'must have at most 500 characters',
  description: 'Internal note',
})
const name = Type.String({
  minLength: 1,
  maxLength: 100,
  rule: 'must have 1 to 100 characters',
  description: 'Name of the rule, shown in risk checks',
})

const optional = {
  match: Type.Optional(match),
  applies_to: Type.Optional(AppliesTo),
  score: Type.Optional(
    Type.Integer({
      minimum: -100,
      maximum: 100,
      rule: 'must be -100 to 100',
      description: 'Points added to the risk score on a match',
    }),
  ),
  priority: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      rule: 'must be 0 to 10000',
      description: 'Order of preference, lowest first; default 100',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False disables the rule; default true' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'True records matches without acting on them' })),
  description: Type.Optional(description),
}

const action = OneOf(actions, { description: 'Action on a matching payment' })
const RuleCreate = Type.Object({ name, action, conditions, ...optional })
const RuleChange = Type.Object({
  name: Type.Optional(name),
  action: Type.Optional(action),
  conditions: Type.Optional(conditions),
  ...optional,
  description: Type.Optional(Nullable(description, { description: 'Internal note; `null` removes it' })),
})

const RuleRecord = Type.Object(
  {
    rule_id: Type.String({ description: 'Id of the rule, such as `frl_…`' }),
    name: Type.String({ description: 'Name of the rule, shown in risk checks' }),
    description: Nullable(Type.String({ description: 'Your note; null if none was given' })),
    action: OneOf(actions, { description: 'Action on a matching payment' }),
    match,
    conditions: Type.Array(Condition, { description: 'Conditions of the rule' }),
    applies_to: Type.Array(OneOf(directions), { description: 'Scope of the rule: payments, payouts or both' }),
    score: Type.Integer({ description: 'Added to the risk score when it matches' }),
    priority: Type.Integer({ description: 'Order of evaluation, lowest first' }),
    enabled: Type.Boolean({ description: 'False if the rule is disabled' }),
    dry_run: Type.Boolean({ description: 'True records matches without acting on them' }),
    hits_24h: Type.Integer({ description: 'Number of matches in the last 24 hours' }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'FraudRule' },
)

const base = '/v1/payments/fraud/rules'

const createRule = write({
  method: 'POST',
  path: base,
  operation: 'fraud.createRule',
  summary: 'Create a fraud rule',
  description:
    'Rules are evaluated in the order allow, block, require_3ds, review; within an action by priority, then age.',
  scope: 'fraud:write',
  limit: 'payments',
  body: RuleCreate,
  reply: { status: 201, schema: RuleRecord, location: ({ rule_id }) => `${base}/${rule_id}` },
  errors: ['VALIDATION_ERROR'],
  examples: [
    {
      name: 'Too many payments from one phone',
      body: {
        name: 'Too many payments from one phone',
        action: 'review',
        conditions: [{ velocity: { metric: 'count', by: ['phone'], window: '1h' }, operator: 'gt', value: 5 }],
      },
    },
    {
      name: 'Large amounts at night, as a dry run',
      body: {
        name: 'Large at night',
        action: 'block',
        dry_run: true,
        conditions: [
          { field: 'amount', operator: 'gte', value: 50000 },
          { field: 'currency', operator: 'eq', value: 'KES' },
          { field: 'hour_of_day', operator: 'between', value: [22, 23] },
        ],
      },
    },
  ],
  handle: async (_app, tx, { body }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    const { velocities } = compile(body.match ?? 'all', body.conditions)
    const { rules } = await one(tx.query(touchPolicy, { ...tenant, rules: 1, entries: 0 }))
    if (rules > maxRules) throw new AppError('VALIDATION_ERROR', `an account has at most ${maxRules} rules`)
    const id = newUuid(receivedMs)
    const row = await one(
      tx.query(insertRule, {
        ...tenant,
        id,
        name: body.name,
        description: body.description ?? null,
        action: body.action,
        match: body.match ?? 'all',
        conditions: JSON.stringify(body.conditions),
        appliesTo: body.applies_to ?? ['payment'],
        score: body.score ?? 0,
        priority: body.priority ?? defaultPriority,
        enabled: body.enabled ?? true,
        dryRun: body.dry_run ?? false,
        at: new Date(nowMs),
      }),
    )
    if (velocities.length > 0) await requireFewVelocities(tx, caller)
    return recorded(tx, caller, 'fraud.create_rule', row)
  },
})

const listAll = list({
  path: base,
  operation: 'fraud.listRules',
  summary: 'List fraud rules',
  scope: 'fraud:read',
  query: Type.Object(listQuery),
  row: RuleRecord,
  examples: [{ name: 'All of them' }],
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const rows = await app.db.query(listRules, { ...caller.tenant, ...window })
    const hits = await hitsOf(app.db, caller, rows)
    return pageOf(window, rows, (row) => recordOf(row, hits.get(row.id) ?? 0))
  },
})

const getRule = read({
  method: 'GET',
  path: `${base}/:rule_id`,
  operation: 'fraud.getRule',
  summary: 'Get a fraud rule',
  scope: 'fraud:read',
  params: RuleParam,
  reply: { status: 200, schema: RuleRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const row = await knownRule(app.db, caller, params.rule_id)
    return recordOf(row, (await hitsOf(app.db, caller, [row])).get(row.id) ?? 0)
  },
})

const changeRule = write({
  method: 'PATCH',
  path: `${base}/:rule_id`,
  operation: 'fraud.changeRule',
  summary: 'Update a fraud rule',
  scope: 'fraud:write',
  limit: 'payments',
  params: RuleParam,
  body: RuleChange,
  reply: { status: 200, schema: RuleRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  examples: [{ name: 'Dry run only', body: { dry_run: true } }],
  handle: async (_app, tx, { params, body }, caller) => {
    const { tenant, nowMs } = caller
    const id = ruleUuid(params.rule_id)
    // Changes of rules wait for each other here, as when one is added.
    await tx.query(touchPolicy, { ...tenant, rules: 0, entries: 0 })
    const before = await maybe(tx.query(lockRule, { ...tenant, id }))
    if (!before) throw noSuchRule()
    const match = body.match ?? before.match
    const conditions = body.conditions ?? before.conditions
    const { velocities } = compile(match, conditions)
    const row = await one(
      tx.query(updateRule, {
        ...tenant,
        id,
        name: body.name ?? before.name,
        description: body.description === undefined ? before.description : body.description,
        action: body.action ?? before.action,
        match,
        conditions: JSON.stringify(conditions),
        appliesTo: body.applies_to ?? before.applies_to,
        score: body.score ?? before.score,
        priority: body.priority ?? before.priority,
        enabled: body.enabled ?? before.enabled,
        dryRun: body.dry_run ?? before.dry_run,
        at: new Date(nowMs),
      }),
    )
    if (velocities.length > 0) await requireFewVelocities(tx, caller)
    return recorded(tx, caller, 'fraud.change_rule', row)
  },
})

const removeRule = write({
  method: 'DELETE',
  path: `${base}/:rule_id`,
  operation: 'fraud.removeRule',
  summary: 'Delete a fraud rule',
  scope: 'fraud:write',
  limit: 'payments',
  params: RuleParam,
  reply: {
    status: 200,
    schema: Type.Object(
      {
        rule_id: Type.String({ description: 'Id of the deleted rule' }),
        deleted: Type.Literal(true, { description: 'Always true' }),
      },
      { title: 'FraudRuleDeleted' },
    ),
  },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const id = ruleUuid(params.rule_id)
    // Changes of rules wait for each other here, before any rule is locked.
    await tx.query(touchPolicy, { ...caller.tenant, rules: 0, entries: 0 })
    const gone = await maybe(tx.query(deleteRule, { ...caller.tenant, id }))
    if (!gone) throw noSuchRule()
    await tx.query(touchPolicy, { ...caller.tenant, rules: -1, entries: 0 })
    const rule_id = idOf('fraudRule', id)
    await record(tx, caller, 'fraud.remove_rule', rule_id, { after: {} })
    return { rule_id, deleted: true as const }
  },
})

/** Limits the velocities of an account: every payment reads and writes a row for each. */
async function requireFewVelocities(tx: Tx, { tenant }: Caller): Promise<void> {
  const rules = (await tx.query(rulesInForce, { ...tenant })).map(ruleOf)
  for (const direction of directions)
    if (velocitiesOf(rules, direction).length - alwaysCounted.length > maxVelocities)
      throw new AppError(
        'VALIDATION_ERROR',
        `the rules of an account count at most ${maxVelocities} different velocities`,
      )
}

async function hitsOf(
  queryable: Queryable,
  { tenant, receivedMs, nowMs }: Caller,
  rows: readonly RuleRow[],
): Promise<ReadonlyMap<string, number>> {
  if (rows.length === 0) return new Map()
  const hits = await queryable.query(countHits, {
    ...tenant,
    rules: rows.map(({ id }) => id),
    from: firstUuidAt(receivedMs - dayMs),
    since: new Date(nowMs - dayMs),
    most: maxHitChecks,
  })
  return new Map(hits.map(({ rule, hits }) => [rule, hits]))
}

/** Notes a change, and shows the rule as it is now. */
async function recorded(tx: Tx, caller: Caller, action: string, row: RuleRow): Promise<Static<typeof RuleRecord>> {
  const shown = recordOf(row, (await hitsOf(tx, caller, [row])).get(row.id) ?? 0)
  const { rule_id, name, enabled, dry_run, priority, score } = shown
  await record(tx, caller, action, rule_id, {
    after: { name, action: shown.action, enabled, dry_run, priority, score },
  })
  return shown
}

function recordOf(row: RuleRow, hits: number): Static<typeof RuleRecord> {
  return {
    rule_id: idOf('fraudRule', row.id),
    name: row.name,
    description: row.description,
    action: row.action,
    match: row.match,
    conditions: Array.isArray(row.conditions) ? row.conditions : [],
    applies_to: row.applies_to,
    score: row.score,
    priority: row.priority,
    enabled: row.enabled,
    dry_run: row.dry_run,
    hits_24h: hits,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export async function knownRule(queryable: Queryable, { tenant }: Caller, id: string): Promise<RuleRow> {
  const row = await maybe(queryable.query(findRule, { ...tenant, id: ruleUuid(id) }))
  if (!row) throw noSuchRule()
  return row
}

function ruleUuid(id: string): string {
  const uuid = uuidOf('fraudRule', id)
  if (uuid === null) throw noSuchRule()
  return uuid
}

function noSuchRule(): AppError {
  return new AppError('NOT_FOUND', 'there is no such rule; the ids of rules begin with frl_')
}

export const ruleRoutes: readonly Route[] = [createRule, listAll, getRule, changeRule, removeRule]
