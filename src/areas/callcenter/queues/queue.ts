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
  description: '`closed` takes nobody, `paused` keeps who waits and gives no calls to agents',
})

export const Sla = Type.Object(
  {
    target_percent: Type.Number({
      minimum: 1,
      maximum: 100,
      rule: 'must be 1 to 100',
      description: 'Share of callers that should be answered in time',
    }),
    threshold_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      rule: 'must be 1 to 3600',
      description: 'Within how many seconds of waiting that is',
    }),
  },
  { description: 'What the service level is measured by: 80 % within 20 seconds unless told' },
)

const fields = {
  strategy: Type.Optional(OneOf(strategies, { description: 'Who is called first; longest_idle unless told' })),
  skills_required: Type.Optional(
    Type.Array(RequiredSkill, {
      maxItems: 20,
      rule: 'must be at most 20 skills',
      description: 'Only agents with all of these are given its calls',
    }),
  ),
  skill_relax_seconds: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 3_600, rule: 'must be 1 to 3600' }), {
      description: 'After each of these stretches of waiting one level less is asked for',
    }),
  ),
  agents: Type.Optional(
    Type.Array(AgentId('An agent'), {
      maxItems: 1_000,
      rule: 'must be at most 1000 agents',
      description: 'Agents of the queue, besides those who log in to it',
    }),
  ),
  max_wait_seconds: whole(0, 7_200, 'Seconds that a caller waits at most, 0 for ever; 600 unless told'),
  max_size: whole(1, 10_000, 'How many callers may wait; 200 unless told'),
  music_url: Type.Optional(Nullable(Url('Played while a caller waits'))),
  announcements: Type.Optional(
    Nullable(
      Type.Object(
        {
          position: Type.Optional(
            Type.Boolean({ description: 'Say which place in the queue they have; false unless told' }),
          ),
          estimated_wait: Type.Optional(
            Type.Boolean({
              description: 'Say how many minutes it will take, once that can be told; false unless told',
            }),
          ),
          every_seconds: whole(10, 600, 'Seconds between two announcements; 30 unless told'),
          text: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 500,
              rule: 'must have 1 to 500 characters',
              description: 'Said first, before place and wait',
            }),
          ),
          language: Type.Optional(Language),
        },
        { description: 'What waiting callers are told; nothing unless given' },
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
            'A wait longer than max_wait_seconds, as many callers as max_size, nobody logged in, or out of hours',
        }),
        action: Destination,
      }),
      { description: 'Where callers go that the queue does not take or keep' },
    ),
  ),
  callback: Type.Optional(
    Nullable(
      Type.Object({
        enabled: Type.Boolean({ description: 'False: nobody is called back' }),
        key: Type.Optional(
          Type.String({
            pattern: '^[0-9*#]$',
            rule: 'must be one of 0-9, * and #',
            description: 'What a waiting caller presses to be called back; needed when `enabled`',
          }),
        ),
        max_attempts: whole(1, 10, 'How often a caller is called back who does not answer; 3 unless told'),
      }),
      { description: 'A caller who presses the key hangs up, keeps the place and is called back' },
    ),
  ),
  sla: Type.Optional(Sla),
  offer_timeout: whole(5, 120, 'Seconds that an agent is rung; 20 unless told'),
  wrap_up_seconds: whole(0, 3_600, 'Seconds after a call in which an agent gets none; 30 unless told'),
  aging_seconds: whole(1, 3_600, 'Seconds of waiting that raise the priority by one; 60 unless told'),
  record: Type.Optional(Type.Boolean({ description: 'Record the calls of the queue; false unless told' })),
  recording_prompt: prompt('Said when an agent answers a call that is recorded, such as that it is'),
  agent_prompt: prompt('Said to the agent alone who answers, such as what the queue is for'),
  language: Type.Optional(Language),
  business_hours_id: Type.Optional(
    Nullable(Type.String({ maxLength: 40, description: 'When it is open, `bh_…`; always unless told' })),
  ),
  priority: whole(1, 10, 'Priority of a call that has none of its own; 5 unless told'),
}

const name = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Different from your other queues',
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
