// SPDX-License-Identifier: Apache-2.0
// Routes of routing rules and business hours, and simulation of a call.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { parseMoment } from '../../../kernel/time.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, Deleted, listQuery, Moment, Nullable, OneOf, Phone, pageQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { numberTarget } from '../../voice/area.ts'
import { requireDestination, requireHours, requireQueues } from '../checks.ts'
import { requireFewer } from '../limits.ts'
import { giveHours, type HoursKeeper, hoursKeepers } from '../queues/store.ts'
import { decide, type Surroundings } from '../routing/decide.ts'
import { HoursDocument, HoursSet, intervalProblem, isOpenAt, nextChange } from '../routing/hours.ts'
import { conditionProblem, RuleChange, RuleCreate, type RuleDocument } from '../routing/rule.ts'
import {
  deleteRule,
  findHours,
  findRule,
  type HoursRow,
  insertRule,
  keepHours,
  listHours,
  listRules,
  type RuleRow,
  saveRule,
} from '../routing/store.ts'
import { readSurroundings, routedCall } from '../routing/surroundings.ts'
import { assignmentOf } from '../routing/target.ts'
import { Destination, Language, plainDestination } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'

const RuleId = Type.Object({ rule_id: Type.String({ description: 'Id of the rule, rule_…' }) })
const HoursId = Type.Object({ business_hours_id: Type.String({ description: 'Id of the business hours, bh_…' }) })

const RuleRecord = Type.Object(
  {
    rule_id: Type.String({ description: 'Id of the rule, such as `rule_…`' }),
    ...RuleCreate.properties,
    enabled: Type.Boolean({ description: 'False disables the rule' }),
    match: OneOf(['all', 'any'], { description: 'Combination of the conditions: all or any must match' }),
    conditions: RuleCreate.properties.conditions,
    stop: Type.Boolean({ description: 'False continues with the next matching rule, whose action then applies' }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'RoutingRule' },
)

const HoursRecord = Type.Object(
  {
    business_hours_id: Type.String({ description: 'Id of the business hours, such as `bh_…`' }),
    name: Type.String({ description: 'Unique name' }),
    ...HoursDocument.properties,
    queue_ids: Type.Array(Type.String(), {
      description: 'Queues with these hours',
    }),
    open_now: Type.Boolean({ description: 'True if open at this moment' }),
    next_change_at: Nullable(At({ description: 'Time of the next opening or closing; null if not within two weeks' })),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'BusinessHours' },
)

function ruleRecord({ id, document, created_at, updated_at }: RuleRow) {
  return { rule_id: idOf('routingRule', id), ...document, created_at, updated_at }
}

async function checkRule(
  app: App,
  tenant: Tenant,
  { conditions = [], action }: Static<typeof RuleChange>,
): Promise<void> {
  for (const [i, condition] of conditions.entries()) {
    const problem = conditionProblem(condition)
    if (problem) throw invalid(`conditions[${i}]`, `is wrong: ${problem}`)
    if (condition.field === 'business_hours')
      await requireHours(app, tenant, `conditions[${i}].value`, String(condition.value))
  }
  if (action) await requireDestination(app, tenant, 'action', action)
}

function ruleUuid(id: string): string {
  const uuid = uuidOf('routingRule', id)
  if (uuid === null) throw noRule()
  return uuid
}

const noRule = () => new AppError('NOT_FOUND', 'there is no such rule; ids of rules begin with rule_')

const createRule = write({
  method: 'POST',
  path: '/v1/voice/routing/rules',
  operation: 'callcenter.createRule',
  summary: 'Create a routing rule',
  description:
    'Rules are evaluated by priority, lowest first, for calls to numbers that are assigned to the rules or unassigned.',
  scope: 'callcenter:write',
  body: RuleCreate,
  reply: { status: 201, schema: RuleRecord, location: ({ rule_id }) => `/v1/voice/routing/rules/${rule_id}` },
  errors: ['INVALID_PHONE', 'INVALID_URL', 'UNSUPPORTED_LANGUAGE', 'CONFLICT'],
  examples: [
    {
      name: 'Callers from Kenya hear a message',
      body: {
        name: 'Kenya',
        priority: 10,
        conditions: [{ field: 'from_country', op: 'eq', value: 'KE' }],
        action: { type: 'message', text: 'Karibu.', language: 'sw-KE' },
      },
    },
  ],
  prepare: (app, { body }, { tenant }) => checkRule(app, tenant, body),
  handle: async (_app, tx, { body }, { tenant, receivedMs, nowMs }) => {
    await holdSwitchboard(tx, tenant)
    const { enabled = true, match = 'all', conditions = [], stop = true, ...rest } = body
    const document: RuleDocument = { ...rest, enabled, match, conditions, stop }
    const row = { ...tenant, id: newUuid(receivedMs), priority: body.priority, at: new Date(nowMs) }
    const made = await one(tx.query(insertRule, { ...row, document: JSON.stringify(document) }))
    await requireFewer(tx, tenant, 'rules')
    return ruleRecord(made)
  },
})

const listOwnRules = list({
  path: '/v1/voice/routing/rules',
  operation: 'callcenter.listRules',
  summary: 'List routing rules in order of evaluation',
  scope: 'callcenter:read',
  query: Type.Object(pageQuery),
  row: RuleRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const rows = await app.db.query(listRules, tenant)
    return pageOfWhole({ limit: 50, ...query }, rows.map(ruleRecord), ({ rule_id }) => rule_id)
  },
})

const getRule = read({
  method: 'GET',
  path: '/v1/voice/routing/rules/:rule_id',
  operation: 'callcenter.getRule',
  summary: 'Get a routing rule',
  scope: 'callcenter:read',
  params: RuleId,
  reply: { status: 200, schema: RuleRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findRule, { ...tenant, id: ruleUuid(params.rule_id) }))
    if (!row) throw noRule()
    return ruleRecord(row)
  },
})

const changeRule = write({
  method: 'PATCH',
  path: '/v1/voice/routing/rules/:rule_id',
  operation: 'callcenter.changeRule',
  summary: 'Update a routing rule',
  scope: 'callcenter:write',
  params: RuleId,
  body: RuleChange,
  reply: { status: 200, schema: RuleRecord },
  errors: ['NOT_FOUND', 'INVALID_PHONE', 'INVALID_URL', 'UNSUPPORTED_LANGUAGE'],
  prepare: async (app, { params, body }, { tenant }) => {
    ruleUuid(params.rule_id)
    await checkRule(app, tenant, body)
  },
  handle: async (_app, tx, { params, body }, { tenant, nowMs }) => {
    const rule = { ...tenant, id: ruleUuid(params.rule_id) }
    const row = await maybe(tx.query(findRule, rule))
    if (!row) throw noRule()
    const document = { ...row.document, ...body }
    const saved = { ...rule, priority: document.priority, document: JSON.stringify(document), at: new Date(nowMs) }
    return ruleRecord(await one(tx.query(saveRule, saved)))
  },
})

const removeRule = write({
  method: 'DELETE',
  path: '/v1/voice/routing/rules/:rule_id',
  operation: 'callcenter.deleteRule',
  summary: 'Delete a routing rule',
  scope: 'callcenter:write',
  params: RuleId,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, { tenant }) => {
    if (!(await maybe(tx.query(deleteRule, { ...tenant, id: ruleUuid(params.rule_id) })))) throw noRule()
    return { id: params.rule_id, deleted: true as const }
  },
})

function hoursRecord(
  { id, name, document, created_at, updated_at }: HoursRow,
  keepers: readonly HoursKeeper[],
  { nowMs }: Caller,
) {
  const now = new Date(nowMs)
  const business_hours_id = idOf('businessHours', id)
  return {
    business_hours_id,
    name,
    ...document,
    queue_ids: keepers.filter(({ hours }) => hours === business_hours_id).map((queue) => idOf('queue', queue.id)),
    open_now: isOpenAt(document, now),
    next_change_at: nextChange(document, now),
    created_at,
    updated_at,
  }
}

const setHours = write({
  method: 'POST',
  path: '/v1/voice/routing/business-hours',
  operation: 'callcenter.setBusinessHours',
  summary: 'Set business hours',
  description: 'Existing hours of the same `name` are replaced, with status 200.',
  scope: 'callcenter:write',
  body: HoursSet,
  reply: {
    status: 201,
    schema: Type.Object(
      {
        ...HoursRecord.properties,
        existed: Type.Boolean({ description: 'True if existing hours of this name were replaced' }),
      },
      { title: 'BusinessHoursSet' },
    ),
    existed: ({ existed }) => existed,
    location: ({ business_hours_id }) => `/v1/voice/routing/business-hours/${business_hours_id}`,
  },
  errors: ['INVALID_PHONE', 'INVALID_URL', 'UNSUPPORTED_LANGUAGE', 'CONFLICT'],
  examples: [
    {
      name: 'Weekdays in Nairobi',
      body: {
        name: 'Office',
        timezone: 'Africa/Nairobi',
        weekly: { monday: [{ open: '08:00', close: '17:00' }], friday: [{ open: '08:00', close: '16:00' }] },
        holidays: [{ date: '2026-12-25', name: 'Christmas', every_year: true }],
      },
    },
  ],
  prepare: async (app, { body }, { tenant }) => {
    const problem = intervalProblem(body)
    if (problem) throw invalid('weekly', problem)
    await requireQueues(app, tenant, 'queue_ids', body.queue_ids ?? [])
    if (body.closed_action) await requireDestination(app, tenant, 'closed_action', body.closed_action)
  },
  handle: async (_app, tx, { body }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    await holdSwitchboard(tx, tenant)
    const { name, queue_ids, ...document } = body
    const at = new Date(nowMs)
    const row = { ...tenant, id: newUuid(receivedMs), name, at, document: JSON.stringify(document) }
    const kept = await one(tx.query(keepHours, row))
    if (kept.is_new) await requireFewer(tx, tenant, 'businessHours')
    if (queue_ids) {
      const queues = queue_ids.flatMap((id) => uuidOf('queue', id) ?? [])
      await tx.query(giveHours, { ...tenant, hours: idOf('businessHours', kept.id), queues, at })
    }
    return { ...hoursRecord(kept, await tx.query(hoursKeepers, tenant), caller), existed: !kept.is_new }
  },
})

const getHours = read({
  method: 'GET',
  path: '/v1/voice/routing/business-hours/:business_hours_id',
  operation: 'callcenter.getBusinessHours',
  summary: 'Get business hours',
  scope: 'callcenter:read',
  params: HoursId,
  reply: { status: 200, schema: HoursRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const uuid = uuidOf('businessHours', params.business_hours_id)
    const row = uuid === null ? null : await maybe(app.db.query(findHours, { ...caller.tenant, id: uuid }))
    if (!row) throw new AppError('NOT_FOUND', 'there are no such business hours; their ids begin with bh_')
    return hoursRecord(row, await app.db.query(hoursKeepers, caller.tenant), caller)
  },
})

const listOwnHours = list({
  path: '/v1/voice/routing/business-hours',
  operation: 'callcenter.listBusinessHours',
  summary: 'List business hours',
  scope: 'callcenter:read',
  query: Type.Object(listQuery),
  row: HoursRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, caller) => {
    const rows = await app.db.query(listHours, caller.tenant)
    const keepers = await app.db.query(hoursKeepers, caller.tenant)
    const shown = rows.map((row) => hoursRecord(row, keepers, caller))
    return pageOfWhole({ limit: 50, ...query }, shown, ({ business_hours_id }) => business_hours_id)
  },
})

const Simulated = Type.Object(
  {
    destination: Nullable(Destination, { description: 'Destination; null: no answer' }),
    matched_rule_id: Nullable(Type.String({ description: 'Id of the rule whose action applies; null if none' })),
    business_hours: Nullable(
      Type.Object({
        id: Type.String({ description: 'Id of the business hours, `bh_…`' }),
        open: Type.Boolean({ description: 'True if they are open at that time' }),
      }),
      { description: 'Hours that were evaluated last; null if none were' },
    ),
    estimated_wait_seconds: Nullable(
      Type.Integer({
        description: 'Estimated wait in its queue, in seconds; null without one, or while no agent is logged in',
      }),
    ),
    eligible_agents: Type.Array(
      Type.Object({
        agent_id: Type.String({ description: 'Your own id for the agent' }),
        score: Type.Number({ description: 'Sum of the agent’s levels in the required skills' }),
        idle_seconds: Type.Integer({ description: 'Seconds since the agent became free' }),
      }),
      { description: 'Free agents who are eligible for the call' },
    ),
    trace: Type.Array(
      Type.Object({
        step: Type.Integer({ description: 'Number of the step, from 1' }),
        kind: OneOf(['number', 'rule', 'business_hours', 'ivr', 'queue', 'overflow', 'agent'], {
          description: 'Kind of object that was evaluated',
        }),
        id: Nullable(Type.String({ description: 'Id of the object, or the number; for an overflow, of the queue' })),
        result: OneOf(['matched', 'skipped', 'entered', 'selected'], { description: 'Result of the step' }),
        reason: Type.String({ description: 'Reason in a few words' }),
      }),
      { description: 'Decision, step by step' },
    ),
    warnings: Type.Array(Type.String(), {
      description: 'Problems, such as a queue that does not exist',
    }),
  },
  { title: 'RoutingSimulation' },
)

const simulate = write({
  method: 'POST',
  path: '/v1/voice/routing/simulate',
  operation: 'callcenter.simulateRouting',
  summary: 'Simulate the routing of a call',
  description: 'Evaluates the routing without placing a call or changing anything. Live calls use the same evaluation.',
  scope: 'callcenter:write',
  body: Type.Object({
    to: Phone({ description: 'Called number' }),
    from: Phone({ description: 'Calling party' }),
    at: Type.Optional(Moment({ description: 'Time of the call; default now' })),
    language: Type.Optional(
      Type.Unsafe<string>({
        ...Language,
        description: 'Language of the caller; default: that of their customer record',
      }),
    ),
    digits: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9*#]{0,20}$', rule: 'must be keys 0-9, * and #' }), {
        maxItems: 50,
        description: 'Digits typed in menus, one entry per menu; empty for no input',
      }),
    ),
    speech: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50, description: 'Speech of the caller, menu by menu' }),
    ),
    customer: Type.Optional(
      Type.Object(
        {
          tags: Type.Optional(
            Type.Array(Type.String({ maxLength: 64 }), {
              maxItems: 50,
              description: 'Tags of the customer, for conditions on `customer.tag`',
            }),
          ),
          attributes: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), {
              description: 'Attributes of the customer, for conditions on `customer.attribute.<name>`',
            }),
          ),
        },
        { description: 'Caller data for the conditions of your rules; default: their customer record' },
      ),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Variables of the call, for conditions on `variable.<name>` and for prompts',
      }),
    ),
    assume: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({
          waiting: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of callers waiting in the queue' })),
          available_agents: Type.Optional(
            Type.Integer({ minimum: 0, description: 'Number of free agents of the queue' }),
          ),
        }),
        { description: 'Assumed state of queues, by id' },
      ),
    ),
  }),
  reply: { status: 200, schema: Simulated },
  errors: ['INVALID_PHONE', 'UNSUPPORTED_LANGUAGE'],
  examples: [{ name: 'A caller from Kenya', body: { to: '+254700000000', from: '+254711000020' } }],
  handle: async (app, tx, { body }, { tenant, nowMs }) => {
    const { to, from, language, variables = {}, customer, digits = [], speech = [] } = body
    const at = body.at === undefined ? new Date(nowMs) : (parseMoment(body.at) ?? new Date(nowMs))
    const assignment = assignmentOf(await numberTarget(app, tenant, to))
    const real = await readSurroundings(tx, tenant, assignment, nowMs)
    const given = {
      ...(language === undefined ? {} : { language }),
      ...(customer ? { customer: { tags: [], attributes: {}, ...customer } } : {}),
    }
    const knowing = { db: tx, profiles: app.profiles }
    const call = await routedCall(knowing, tenant, { to, from, direction: 'inbound', at, variables, ...given }, nowMs)
    const typed = digits.map((one) => ({ digits: one, speech: [] }))
    const said = speech.map((one) => ({ digits: '', speech: [one] }))
    const decided = decide(assumed(real, body.assume ?? {}), call, [...typed, ...said])
    return {
      destination: decided.destination && plainDestination(decided.destination),
      matched_rule_id: decided.matchedRule,
      business_hours: decided.hours,
      estimated_wait_seconds: decided.estimatedWait,
      eligible_agents: decided.eligible.map(({ agentId, score, idleSinceMs }) => ({
        agent_id: agentId,
        score,
        idle_seconds: Math.max(0, Math.round((nowMs - idleSinceMs) / 1_000)),
      })),
      trace: decided.trace,
      warnings: decided.warnings,
    }
  },
})

function assumed(
  around: Surroundings,
  assume: Readonly<Record<string, { waiting?: number; available_agents?: number }>>,
): Surroundings {
  const queues = new Map(around.queues)
  for (const [id, { waiting, available_agents }] of Object.entries(assume)) {
    const queue = queues.get(id)
    if (!queue) continue
    queues.set(id, {
      ...queue,
      waiting: waiting ?? queue.waiting,
      available_agents: available_agents ?? queue.available_agents,
      agents_logged_in: Math.max(queue.agents_logged_in, available_agents ?? 0),
    })
  }
  return { ...around, queues }
}

export const routingRoutes: readonly Route[] = [
  createRule,
  listOwnRules,
  getRule,
  changeRule,
  removeRule,
  setHours,
  listOwnHours,
  getHours,
  simulate,
]
