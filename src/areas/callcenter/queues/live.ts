// SPDX-License-Identifier: Apache-2.0
// Live state of a queue: waiting callers in order, its agents, expected waits. Pure.
import { isPaused } from '../agents/agent.ts'
import type { AgentRow } from '../agents/store.ts'
import type { ContactRow } from '../contacts.ts'
import { type Candidate, estimatedWait, inOrder, type Waiting } from './queue.ts'
import type { QueueRow } from './store.ts'

/** Fields of a contact that say whether and where it waits. */
type Present = Pick<ContactRow, 'id' | 'queue_id' | 'state' | 'priority' | 'entered_at'>

/** Everything in progress at a switchboard. */
export interface Scene<C extends Present = ContactRow> {
  readonly agents: readonly AgentRow[]
  readonly contacts: readonly C[]
  readonly queues: readonly QueueRow[]
}

export interface WaitingContact<C extends Present = ContactRow> extends Waiting {
  readonly contact: C
}

export function isMember(
  queue: Pick<QueueRow, 'id' | 'document'>,
  agent: Pick<AgentRow, 'agent_id' | 'queues'>,
): boolean {
  return queue.document.agents.includes(agent.agent_id) || agent.queues.includes(queue.id)
}

/** Agents of a queue. */
export function membersOf<A extends Pick<AgentRow, 'agent_id' | 'queues'>>(
  queue: Pick<QueueRow, 'id' | 'document'>,
  agents: readonly A[],
): A[] {
  const named = new Set(queue.document.agents)
  return agents.filter((agent) => named.has(agent.agent_id) || agent.queues.includes(queue.id))
}

export function candidateOf(agent: AgentRow): Candidate & { row: AgentRow } {
  return {
    row: agent,
    agentId: agent.agent_id,
    skills: agent.skills,
    queues: agent.queues,
    idleSinceMs: agent.idle_since.getTime(),
    callsTaken: agent.calls_taken,
  }
}

/** Callers of a queue without an agent, in order; those with a ringing agent first. */
export function waitingIn<C extends Present>(
  queue: QueueRow,
  contacts: readonly C[],
  nowMs: number,
): WaitingContact<C>[] {
  const here = contacts
    .filter(({ queue_id, state }) => queue_id === queue.id && (state === 'waiting' || state === 'offered'))
    .map((contact) => ({
      contact,
      id: contact.id,
      priority: contact.priority,
      enteredMs: contact.entered_at.getTime(),
      agingSeconds: queue.document.aging_seconds,
    }))
  return inOrder(here, nowMs)
}

interface AgentCounts {
  logged_in: number
  available: number
  on_call: number
  wrap_up: number
  paused: number
}

export function countAgents(agents: readonly Pick<AgentRow, 'status'>[]): AgentCounts {
  const count = (test: (status: AgentRow['status']) => boolean) => agents.filter(({ status }) => test(status)).length
  return {
    logged_in: count((status) => status !== 'offline'),
    available: count((status) => status === 'available'),
    on_call: count((status) => status === 'on_call' || status === 'ringing'),
    wrap_up: count((status) => status === 'wrap_up'),
    paused: count(isPaused),
  }
}

export interface QueueLive<C extends Present = ContactRow> {
  readonly waiting: readonly WaitingContact<C>[]
  readonly longestWaitSeconds: number
  readonly agents: AgentCounts
  /** Expected wait in seconds of a new caller. */
  readonly estimatedWait: number | null
}

export function liveOf<C extends Present>(
  queue: QueueRow,
  scene: Scene<C>,
  nowMs: number,
  handlingSeconds: number | null,
): QueueLive<C> {
  const waiting = waitingIn(queue, scene.contacts, nowMs)
  const agents = countAgents(membersOf(queue, scene.agents))
  const longest = Math.max(0, ...waiting.map(({ enteredMs }) => nowMs - enteredMs))
  const working = agents.logged_in - agents.paused
  return {
    waiting,
    longestWaitSeconds: Math.round(longest / 1_000),
    agents,
    estimatedWait: estimatedWait(waiting.length + 1, { working, available: agents.available }, handlingSeconds),
  }
}
