// SPDX-License-Identifier: Apache-2.0
// Loads the input of a routing decision.
import { idOf } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import { maybe, type Queryable } from '../../../platform/db.ts'
import { profileOf } from '../../../platform/operator/profile.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { agentsAtWork } from '../agents/store.ts'
import { lastContactOf, underWay } from '../contacts.ts'
import { agentsFor } from '../ivr/people.ts'
import { listIvrs } from '../ivr/store.ts'
import { candidateOf, liveOf, type Scene } from '../queues/live.ts'
import { listQueues } from '../queues/store.ts'
import type { DestinationOf } from '../schema.ts'
import type { KnownQueue, RoutedCall, Surroundings } from './decide.ts'
import type { Rule } from './rule.ts'
import { listHours, listRules } from './store.ts'

export async function readScene(queryable: Queryable, tenant: Tenant): Promise<Scene> {
  const agents = await queryable.query(agentsAtWork, tenant)
  const contacts = await queryable.query(underWay, tenant)
  return { agents, contacts, queues: await queryable.query(listQueues, tenant) }
}

export async function readSurroundings(
  queryable: Queryable,
  tenant: Tenant,
  assignment: DestinationOf | null,
  nowMs: number,
): Promise<Surroundings> {
  const scene = await readScene(queryable, tenant)
  const rules = await queryable.query(listRules, tenant)
  const hours = await queryable.query(listHours, tenant)
  const ivrs = (await queryable.query(listIvrs, tenant)).filter(({ document }) => document.status === 'active')
  const queues = scene.queues.map((queue): [string, KnownQueue] => {
    const { waiting, agents, estimatedWait } = liveOf(queue, scene, nowMs, null)
    const id = idOf('queue', queue.id)
    const now = { waiting: waiting.length, available_agents: agents.available, agents_logged_in: agents.logged_in }
    const known = { id, uuid: queue.id, status: queue.status, document: queue.document, lastAgent: queue.last_agent }
    return [id, { ...known, ...now, estimated_wait: estimatedWait }]
  })
  return {
    assignment,
    rules: rules.map(
      ({ id, document, created_at }): Rule => ({
        ...document,
        id: idOf('routingRule', id),
        createdMs: created_at.getTime(),
      }),
    ),
    hours: new Map(hours.map(({ id, document }) => [idOf('businessHours', id), document])),
    queues: new Map(queues),
    ivrs: new Map(ivrs.map(({ id, document }) => [idOf('ivr', id), document])),
    people: await agentsFor(
      queryable,
      tenant,
      ivrs.map(({ document }) => document),
    ),
    agents: scene.agents.map((agent) => ({ ...candidateOf(agent), isFree: agent.status === 'available' })),
  }
}

/** Facts of a caller: their profile, the last call, and data given with this one, which comes before the profile. */
export async function routedCall(
  knowing: Parameters<typeof profileOf>[0],
  tenant: Tenant,
  call: Pick<RoutedCall, 'to' | 'from' | 'direction'> & Partial<RoutedCall>,
  nowMs: number,
): Promise<RoutedCall> {
  const last =
    call.from === withheldNumber ? null : await maybe(knowing.db.query(lastContactOf, { ...tenant, phone: call.from }))
  const profile = await profileOf(knowing, tenant, call.from)
  return {
    language: profile?.language ?? null,
    at: new Date(nowMs),
    timezone: 'UTC',
    customer: { tags: profile?.tags ?? [], attributes: profile?.attributes ?? {} },
    variables: {},
    lastCallAt: last?.entered_at ?? null,
    ...call,
  }
}
