// SPDX-License-Identifier: Apache-2.0
// Real-time metrics: the current state, and results of a time window.
import { idOf } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { AgentRow } from '../agents/store.ts'
import { type ContactRow, contactsBetween } from '../contacts.ts'
import { countAgents, isMember, liveOf, type Scene } from '../queues/live.ts'
import { readScene } from '../routing/surroundings.ts'
import { type Counted, holdSeconds, measure, occupancy, type Stretch, talkSeconds } from './measure.ts'
import { stretchesBetween } from './store.ts'

export const windows = ['today', '15m', '30m', '60m'] as const
export type Window = (typeof windows)[number]

function sinceOf(window: Window, nowMs: number): Date {
  if (window !== 'today') return new Date(nowMs - Number.parseInt(window, 10) * minuteMs)
  const midnight = new Date(nowMs)
  midnight.setUTCHours(0, 0, 0, 0)
  return midnight
}

export async function realtime(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  queue: string | null,
  nowMs: number,
) {
  const since = sinceOf(window, nowMs)
  const until = new Date(nowMs + 1)
  const scene = await readScene(queryable, tenant)
  const contacts = await queryable.query(contactsBetween, { ...tenant, since, until, queue, agent: null })
  const stretches = await queryable.query(stretchesBetween, { ...tenant, since, until, agent: null })
  const queues = scene.queues.filter(({ id }) => queue === null || id === queue)
  const agents = scene.agents.filter((agent) => queue === null || queues.some((one) => isMember(one, agent)))
  const span = { sinceMs: since.getTime(), untilMs: nowMs }
  return {
    generated_at: new Date(nowMs),
    window,
    totals: numbers(scene, queues, agents, contacts, stretches, span),
    queues: queues.map((one) => {
      const own = contacts.filter(({ queue_id }) => queue_id === one.id)
      const serving = scene.agents.filter((agent) => isMember(one, agent))
      return {
        queue_id: idOf('queue', one.id),
        name: one.name,
        ...numbers(scene, [one], serving, own, stretches, span),
      }
    }),
    agents: agents.map((agent) => ofAgent(agent, scene, contacts, stretches, span)),
  }
}

interface Span {
  sinceMs: number
  untilMs: number
}

function numbers(
  scene: Scene,
  queues: Scene['queues'],
  agents: readonly AgentRow[],
  contacts: readonly ContactRow[],
  stretches: readonly Stretch[],
  { sinceMs, untilMs }: Span,
) {
  const measures = measure(contacts, untilMs)
  const lives = queues.map((queue) => liveOf(queue, scene, untilMs, measures.aht_seconds))
  const counts = countAgents(agents)
  const ids = new Set(agents.map(({ agent_id }) => agent_id))
  const own = new Set(queues.map(({ id }) => id))
  const waits = lives.map(({ estimatedWait }) => estimatedWait).filter((wait) => wait !== null)
  const isAll = queues.length === scene.queues.length
  return {
    waiting: lives.reduce((sum, { waiting }) => sum + waiting.length, 0),
    longest_wait_seconds: Math.max(0, ...lives.map(({ longestWaitSeconds }) => longestWaitSeconds)),
    estimated_wait_seconds: waits.length === 0 ? null : Math.max(...waits),
    active_calls: scene.contacts.filter(
      ({ state, queue_id }) => state === 'connected' && (isAll || (queue_id !== null && own.has(queue_id))),
    ).length,
    agents_logged_in: counts.logged_in,
    agents_available: counts.available,
    agents_on_call: counts.on_call,
    agents_wrap_up: counts.wrap_up,
    agents_paused: counts.paused,
    ...measures,
    occupancy_percent: occupancy(
      stretches.filter(({ agent_id }) => ids.has(agent_id)),
      sinceMs,
      untilMs,
    ),
  }
}

function ofAgent(
  agent: AgentRow,
  scene: Scene,
  contacts: readonly ContactRow[],
  stretches: readonly Stretch[],
  { sinceMs, untilMs }: Span,
) {
  const taken = contacts.filter(({ agent_id, outcome }) => agent_id === agent.agent_id && outcome === 'answered')
  const present = scene.contacts.find(({ id }) => id === agent.contact_id)
  const spoken = (contact: Counted) => talkSeconds(contact, untilMs) + holdSeconds(contact)
  return {
    agent_id: agent.agent_id,
    name: agent.name,
    status: agent.status,
    since: agent.since,
    call_id: agent.call_id === null ? null : idOf('call', agent.call_id),
    queue_id: present?.queue_id ? idOf('queue', present.queue_id) : null,
    calls_handled: taken.length,
    talk_seconds: Math.round(taken.reduce((sum, contact) => sum + spoken(contact), 0)),
    occupancy_percent: occupancy(
      stretches.filter(({ agent_id }) => agent_id === agent.agent_id),
      sinceMs,
      untilMs,
    ),
  }
}
