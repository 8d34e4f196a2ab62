// SPDX-License-Identifier: Apache-2.0
// The noun: queue settings, the order of callers and the choice of agents. Pure.
import { type Static, Type } from 'typebox'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { hasSkills, relaxed, scoreOf } from '../agents/agent.ts'
import { AgentId, Destination, Language, RequiredSkill, type RequiredSkillOf, type SkillOf, Url } from '../schema.ts'

const strategies = ['longest_idle', 'round_robin', 'skills', 'least_calls', 'ring_all', 'priority'] as const
export type Strategy = (typeof strategies)[number]

/** Limit of agents that ring at once for one caller. */
const maxRinging = 20

const whole = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, rule: `must be ${minimum} to ${maximum}`, description }))

const prompt = (description: string) =>
  Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 500, rule: 'must have 1 to 500 characters' }), { description }),
  )

const overflowCauses = ['max_wait', 'full', 'no_agents', 'closed'] as const
export type OverflowCause = (typeof overflowCauses)[number]

export const queueStatus = OneOf(['open', 'closed', 'paused'], {
  description: '`closed` rejects callers; `paused` keeps the queue and offers no calls',
})

export const Sla = Type.Object(
  {
    target_percent: Type.Number({
      minimum: 1,
      maximum: 100,
      rule: 'must be 1 to 100',
      description: 'Target percentage of calls answered within the threshold',
    }),
    threshold_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      rule: 'must be 1 to 3600',
      description: 'Threshold in seconds of waiting',
    }),
  },
  { description: 'Service-level target; default 80 % within 20 seconds' },
)

const fields = {
  strategy: Type.Optional(OneOf(strategies, { description: 'Order in which agents are rung; default longest_idle' })),
  skills_required: Type.Optional(
    Type.Array(RequiredSkill, {
      maxItems: 20,
      rule: 'must be at most 20 skills',
      description: 'Skills that an agent needs to receive calls of the queue',
    }),
  ),
  skill_relax_seconds: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 3_600, rule: 'must be 1 to 3600' }), {
      description: 'Seconds of waiting after which the required level drops by one, repeatedly',
    }),
  ),
  agents: Type.Optional(
    Type.Array(AgentId('An agent'), {
      maxItems: 1_000,
      rule: 'must be at most 1000 agents',
      description: 'Agents of the queue, in addition to agents who select it at login',
    }),
  ),
  max_wait_seconds: whole(0, 7_200, 'Maximum wait in seconds, 0 for no limit; default 600'),
  max_size: whole(1, 10_000, 'Maximum number of waiting callers; default 200'),
  music_url: Type.Optional(Nullable(Url('URL of the hold music'))),
  announcements: Type.Optional(
    Nullable(
      Type.Object(
        {
          position: Type.Optional(
            Type.Boolean({ description: 'True announces the place in the queue; default false' }),
          ),
          estimated_wait: Type.Optional(
            Type.Boolean({
              description: 'True announces the estimated wait in minutes, once it is known; default false',
            }),
          ),
          every_seconds: whole(10, 600, 'Seconds between two announcements; default 30'),
          text: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 500,
              rule: 'must have 1 to 500 characters',
              description: 'Text spoken before place and wait',
            }),
          ),
          language: Type.Optional(Language),
        },
        { description: 'Announcements to waiting callers; default none' },
      ),
    ),
  ),
  overflow: Type.Optional(
    Nullable(
      Type.Object({
        on: Type.Array(OneOf(overflowCauses), {
          minItems: 1,
          maxItems: 4,
          rule: 'must name at least one cause',
          description:
            'Overflow causes: a wait longer than max_wait_seconds, max_size reached, no agent logged in, or out of hours',
        }),
        action: Destination,
      }),
      { description: 'Destination of callers that the queue does not accept or keep' },
    ),
  ),
  callback: Type.Optional(
    Nullable(
      Type.Object({
        enabled: Type.Boolean({ description: 'False disables callbacks' }),
        key: Type.Optional(
          Type.String({
            pattern: '^[0-9*#]$',
            rule: 'must be one of 0-9, * and #',
            description: 'Key that a waiting caller presses to be called back; required when `enabled`',
          }),
        ),
        max_attempts: whole(1, 10, 'Maximum number of callback attempts per caller; default 3'),
      }),
      { description: 'Callback: a caller who presses the key can hang up, keeps the position and is called back' },
    ),
  ),
  sla: Type.Optional(Sla),
  offer_timeout: whole(5, 120, 'Seconds for which an agent is rung; default 20'),
  wrap_up_seconds: whole(0, 3_600, 'Seconds of wrap-up after a call, without new calls; default 30'),
  aging_seconds: whole(1, 3_600, 'Seconds of waiting that raise the priority by one; default 60'),
  record: Type.Optional(Type.Boolean({ description: 'True records the calls of the queue; default false' })),
  recording_prompt: prompt('Prompt spoken when an agent answers a recorded call, such as a recording notice'),
  agent_prompt: prompt('Prompt spoken only to the answering agent, such as the purpose of the queue'),
  language: Type.Optional(Language),
  business_hours_id: Type.Optional(
    Nullable(Type.String({ maxLength: 40, description: 'Id of the business hours, `bh_…`; default always open' })),
  ),
  priority: whole(1, 10, 'Default priority of calls; default 5'),
}

const name = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Unique name',
})

export const QueueCreate = Type.Object({ name, ...fields })
export const QueueChange = Type.Object({
  name: Type.Optional(name),
  ...fields,
  status: Type.Optional(queueStatus),
})

/** Stored queue: all settings, with defaults. */
export interface QueueDocument {
  strategy: Strategy
  skills_required: RequiredSkillOf[]
  skill_relax_seconds: number | null
  agents: string[]
  max_wait_seconds: number
  max_size: number
  music_url: string | null
  announcements: NonNullable<Static<typeof QueueCreate>['announcements']> | null
  overflow: NonNullable<Static<typeof QueueCreate>['overflow']> | null
  callback: NonNullable<Static<typeof QueueCreate>['callback']> | null
  sla: { target_percent: number; threshold_seconds: number }
  offer_timeout: number
  wrap_up_seconds: number
  aging_seconds: number
  record: boolean
  recording_prompt: string | null
  agent_prompt: string | null
  language: string
  business_hours_id: string | null
  priority: number
}

export const queueDefaults: QueueDocument = {
  strategy: 'longest_idle',
  skills_required: [],
  skill_relax_seconds: null,
  agents: [],
  max_wait_seconds: 600,
  max_size: 200,
  music_url: null,
  announcements: null,
  overflow: null,
  callback: null,
  sla: { target_percent: 80, threshold_seconds: 20 },
  offer_timeout: 20,
  wrap_up_seconds: 30,
  aging_seconds: 60,
  record: false,
  recording_prompt: null,
  agent_prompt: null,
  language: 'en-US',
  business_hours_id: null,
  priority: 5,
}

/** Waiting caller, as far as the order needs it. */
export interface Waiting {
  readonly id: string
  readonly priority: number
  readonly enteredMs: number
  readonly agingSeconds: number
}

/** Priority raised by the wait so far. */
export function agedPriority({ priority, enteredMs, agingSeconds }: Waiting, nowMs: number): number {
  return priority + Math.floor(Math.max(0, nowMs - enteredMs) / 1_000 / agingSeconds)
}

/** Callers in order: highest priority first, then longest wait. */
export function inOrder<W extends Waiting>(waiting: readonly W[], nowMs: number): W[] {
  return [...waiting].sort(
    (a, b) => agedPriority(b, nowMs) - agedPriority(a, nowMs) || a.enteredMs - b.enteredMs || (a.id < b.id ? -1 : 1),
  )
}

/** Free agent, as far as the choice needs it. */
export interface Candidate {
  readonly agentId: string
  readonly skills: readonly SkillOf[]
  readonly queues: readonly string[]
  readonly idleSinceMs: number
  readonly callsTaken: number
}

interface Call {
  readonly skills: readonly RequiredSkillOf[]
  readonly waitedSeconds: number
  readonly refusedBy: readonly string[]
  /** Set when the call is for one agent only. */
  readonly wantedAgent: string | null
}

export interface ChoosingQueue {
  readonly id: string
  readonly document: Pick<QueueDocument, 'strategy' | 'skills_required' | 'skill_relax_seconds' | 'agents'>
  readonly lastAgent: string | null
}

/** Free agents who may take the call. */
export function eligible<C extends Candidate>(queue: ChoosingQueue, call: Call, free: readonly C[]): C[] {
  const { skills_required, skill_relax_seconds, agents } = queue.document
  const required = relaxed([...skills_required, ...call.skills], call.waitedSeconds, skill_relax_seconds)
  return free.filter(
    ({ agentId, skills, queues }) =>
      (call.wantedAgent === null
        ? agents.includes(agentId) || queues.includes(queue.id)
        : call.wantedAgent === agentId) &&
      !call.refusedBy.includes(agentId) &&
      hasSkills(skills, required),
  )
}

/** Agents to ring for a call: one, or all with `ring_all`; empty when none may take it. */
export function choose<C extends Candidate>(queue: ChoosingQueue, call: Call, free: readonly C[]): C[] {
  const able = eligible(queue, call, free)
  const byIdle = (a: C, b: C) => a.idleSinceMs - b.idleSinceMs || (a.agentId < b.agentId ? -1 : 1)
  const required = [...queue.document.skills_required, ...call.skills]
  const orders: Readonly<Record<Strategy, (a: C, b: C) => number>> = {
    longest_idle: byIdle,
    ring_all: byIdle,
    skills: (a, b) => scoreOf(b.skills, required) - scoreOf(a.skills, required) || byIdle(a, b),
    least_calls: (a, b) => a.callsTaken - b.callsTaken || byIdle(a, b),
    priority: (a, b) => placeOf(queue, a) - placeOf(queue, b) || byIdle(a, b),
    round_robin: (a, b) => turnOf(queue, a) - turnOf(queue, b) || (a.agentId < b.agentId ? -1 : 1),
  }
  const { strategy } = queue.document
  return able.sort(orders[strategy]).slice(0, strategy === 'ring_all' ? maxRinging : 1)
}

/** Index in the queue's list of agents; those who only logged in to it come last. */
function placeOf({ document }: ChoosingQueue, { agentId }: Candidate): number {
  const place = document.agents.indexOf(agentId)
  return place === -1 ? document.agents.length : place
}

/** Round-robin turn of an agent after the last one served. */
function turnOf({ lastAgent }: ChoosingQueue, { agentId }: Candidate): number {
  return lastAgent !== null && agentId <= lastAgent ? 1 : 0
}

/** Expected wait in seconds at a position; null while no agent is logged in. */
export function estimatedWait(
  place: number,
  agents: { working: number; available: number },
  handlingSeconds: number | null,
): number | null {
  if (agents.working === 0) return null
  if (place <= agents.available) return 0
  return Math.round(((place - agents.available) * (handlingSeconds ?? 180)) / agents.working)
}
