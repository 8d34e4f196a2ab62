// SPDX-License-Identifier: Apache-2.0
// Live state of a queue: waiting callers in order, its agents, expected waits. Pure.
import { isPaused } from '../agents/agent.ts'
import type { AgentRow } from '../agents/store.ts'
import type { ContactRow } from '../contacts.ts'
import { type Candidate, estimatedWait, inOrder, type Waiting } from './queue.ts'
import type { QueueRow } from './store.ts'

/** Everything in progress at a switchboard. */
export interface Scene {
  readonly agents: readonly AgentRow[]
  readonly contacts: readonly ContactRow[]
  readonly queues: readonly QueueRow[]
}

export interface WaitingContact extends Waiting {
  readonly contact: ContactRow
}

export function isMember(
  queue: Pick<QueueRow, 'id' | 'document'>,
  agent: Pick<AgentRow, 'agent_id' | 'queues'>,
): boolean {
  return queue.document.agents.includes(agent.agent_id) || agent.queues.includes(queue.id)
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
export function waitingIn(queue: QueueRow, contacts: readonly ContactRow[], nowMs: number): WaitingContact[] {
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

export interface QueueLive {
  readonly waiting: readonly WaitingContact[]
  readonly longestWaitSeconds: number
  readonly agents: AgentCounts
  /** Expected wait in seconds of a new caller. */
  readonly estimatedWait: number | null
}

export function liveOf(queue: QueueRow, scene: Scene, nowMs: number, handlingSeconds: number | null): QueueLive {
  const waiting = waitingIn(queue, scene.contacts, nowMs)
  const agents = countAgents(scene.agents.filter((agent) => isMember(queue, agent)))
  const longest = Math.max(0, ...waiting.map(({ enteredMs }) => nowMs - enteredMs))
  const working = agents.logged_in - agents.paused
  return {
    waiting,
    longestWaitSeconds: Math.round(longest / 1_000),
    agents,
    estimatedWait: estimatedWait(waiting.length + 1, { working, available: agents.available }, handlingSeconds),
  }
}
