// SPDX-License-Identifier: Apache-2.0
// Routing decision as a pure function of the number's assignment, rules, business hours, queues and menus. Used by live
// calls and simulations.
import type { Person } from '../ivr/directory.ts'
import type { IvrDocument } from '../ivr/ivr.ts'
import { enter, type Heard, type WalkState, walk } from '../ivr/walk.ts'
import {
  type Candidate,
  type ChoosingQueue,
  eligible,
  type OverflowCause,
  type QueueDocument,
} from '../queues/queue.ts'
import { agentIdForm, type DestinationOf, type RequiredSkillOf } from '../schema.ts'
import { type HoursOf, isOpenAt } from './hours.ts'
import { type CallFacts, inRuleOrder, isMet, type Rule } from './rule.ts'

export interface KnownQueue {
  readonly id: string
  readonly uuid: string
  readonly status: 'open' | 'closed' | 'paused'
  readonly document: QueueDocument
  readonly lastAgent: string | null
  readonly waiting: number
  readonly available_agents: number
  readonly agents_logged_in: number
  readonly estimated_wait: number | null
}

/** Input of a decision. Ids are those of the API. */
export interface Surroundings {
  /** Assignment of the number; null for none or for the rules. */
  readonly assignment: DestinationOf | null
  readonly rules: readonly Rule[]
  readonly hours: ReadonlyMap<string, HoursOf>
  readonly queues: ReadonlyMap<string, KnownQueue>
  readonly ivrs: ReadonlyMap<string, IvrDocument>
  /** Agents whom menus find by name. */
  readonly people: readonly Person[]
  /** Agents logged in; free ones can be assigned calls. */
  readonly agents: readonly (Candidate & { readonly isFree: boolean })[]
}

/** Call without what rules look up in the surroundings. */
export type RoutedCall = Omit<CallFacts, 'hours' | 'queues'>

interface TraceStep {
  step: number
  kind: 'number' | 'rule' | 'business_hours' | 'ivr' | 'queue' | 'overflow' | 'agent'
  id: string | null
  result: 'matched' | 'skipped' | 'entered' | 'selected'
  reason: string
}

export interface Decision {
  /** Destination of the call; null refuses it. */
  destination: DestinationOf | null
  matchedRule: string | null
  hours: { id: string; open: boolean } | null
  estimatedWait: number | null
  eligible: { agentId: string; score: number; idleSinceMs: number }[]
  /** Data the call carries along. */
  priority: number | null
  skills: readonly RequiredSkillOf[]
  variables: Readonly<Record<string, string | number | boolean>>
  /** Position in an IVR, if the call goes to one. */
  walk: WalkState | null
  trace: TraceStep[]
  warnings: string[]
}

/** Limit of destinations that lead to another. */
const maxHops = 12

/** Routes an incoming call. `heard` simulates the caller's inputs, one per menu. */
export function decide(around: Surroundings, call: RoutedCall, heard: readonly Heard[] = []): Decision {
  const run = new Run(around, call, heard)
  const { assignment } = around
  if (assignment) {
    run.note('number', call.to, 'matched', `the number is assigned to ${assignment.type}`)
    run.settle(assignment, 0)
  } else {
    run.note('number', call.to, 'skipped', 'the number is assigned to nothing but the rules')
    run.byRules()
  }
  return run.decision
}

/** Resolves a destination of a live call, such as a menu choice, at this moment. */
export function settle(around: Surroundings, call: RoutedCall, destination: DestinationOf): Decision {
  const run = new Run(around, call, [])
  run.settle(destination, 0)
  return run.decision
}

class Run {
  readonly decision: Decision = {
    destination: null,
    matchedRule: null,
    hours: null,
    estimatedWait: null,
    eligible: [],
    priority: null,
    skills: [],
    variables: {},
    walk: null,
    trace: [],
    warnings: [],
  }
  readonly #around: Surroundings
  readonly #call: RoutedCall
  readonly #heard: Heard[]

  constructor(around: Surroundings, call: RoutedCall, heard: readonly Heard[]) {
    this.#around = around
    this.#call = call
    this.#heard = [...heard]
  }

  note(kind: TraceStep['kind'], id: string | null, result: TraceStep['result'], reason: string): void {
    this.decision.trace.push({ step: this.decision.trace.length + 1, kind, id, result, reason })
  }

  byRules(): void {
    const { rules, hours, queues } = this.#around
    let chosen: Rule | null = null
    for (const rule of inRuleOrder(rules)) {
      if (!rule.enabled) {
        this.note('rule', rule.id, 'skipped', 'it is not enabled')
        continue
      }
      const variables = { ...this.#call.variables, ...this.decision.variables }
      if (!isMet(rule, { ...this.#call, variables, hours, queues })) {
        this.note('rule', rule.id, 'skipped', 'its conditions are not met')
        continue
      }
      this.note(
        'rule',
        rule.id,
        'matched',
        rule.conditions.length === 0 ? 'it has no conditions' : 'its conditions are met',
      )
      chosen = rule
      this.#take(rule)
      if (rule.stop) break
    }
    if (!chosen) return
    this.decision.matchedRule = chosen.id
    this.settle(chosen.action, 0)
  }

  #take({ action }: Rule): void {
    const { decision } = this
    decision.priority = action.priority ?? decision.priority
    decision.skills = action.skills ?? decision.skills
    decision.variables = { ...decision.variables, ...action.set }
  }

  /** Follows destinations until the call stays at one. */
  settle(destination: DestinationOf, hops: number): void {
    if (hops > maxHops) {
      this.decision.warnings.push('the destinations lead in a circle')
      this.decision.destination = { type: 'hangup' }
      return
    }
    switch (destination.type) {
      case 'queue':
        return this.#queue(destination, hops)
      case 'ivr':
        return this.#ivr(destination, hops)
      case 'agent':
        return this.#agent(destination)
      default:
        this.decision.destination = destination
    }
  }

  #lost(what: string): void {
    this.decision.warnings.push(what)
    this.decision.destination = { type: 'hangup' }
  }

  #isOpen(id: string): boolean {
    const hours = this.#around.hours.get(id)
    if (!hours) {
      this.decision.warnings.push(`there are no business hours ${id}`)
      return true
    }
    const open = isOpenAt(hours, this.#call.at)
    this.decision.hours = { id, open }
    this.note('business_hours', id, open ? 'matched' : 'skipped', open ? 'open' : 'closed')
    return open
  }

  #ivr(destination: DestinationOf, hops: number): void {
    const id = destination.id ?? ''
    const ivr = this.#around.ivrs.get(id)
    if (!ivr) return this.#lost(`there is no IVR ${id}`)
    if (ivr.business_hours_id !== null && !this.#isOpen(ivr.business_hours_id)) {
      this.note('ivr', id, 'skipped', 'closed')
      const closed = ivr.closed ??
        this.#around.hours.get(ivr.business_hours_id)?.closed_action ?? { type: 'hangup' as const }
      return this.settle(closed, hops + 1)
    }
    this.note('ivr', id, 'entered', `menu ${ivr.entry}`)
    this.#walkOn(ivr, id, enter(ivr, this.decision.variables), hops)
  }

  #walkOn(ivr: IvrDocument, id: string, start: WalkState, hops: number): void {
    let state = start
    for (let next = this.#heard.shift(); next !== undefined; next = this.#heard.shift()) {
      const step = walk(ivr, state, next, this.#around.people)
      state = step.state
      if (step.kind === 'menu') {
        this.note('ivr', id, 'entered', `menu ${state.menu}`)
        continue
      }
      this.decision.variables = { ...this.decision.variables, ...state.variables }
      if (step.kind === 'webhook') {
        this.note('ivr', id, 'matched', 'a server is asked')
        this.decision.destination = { type: 'application', answer_url: step.url }
        return
      }
      this.note('ivr', id, 'matched', `leads to ${step.destination.type}`)
      return this.settle(step.destination, hops + 1)
    }
    this.decision.walk = state
    this.decision.destination = { type: 'ivr', id }
  }

  #queue(destination: DestinationOf, hops: number): void {
    const id = destination.id ?? ''
    const queue = this.#around.queues.get(id)
    if (!queue) return this.#lost(`there is no queue ${id}`)
    const cause = this.#refusal(queue)
    if (cause !== null) {
      const { overflow, business_hours_id } = queue.document
      this.note('queue', id, 'skipped', cause)
      if (overflow?.on.includes(cause)) {
        this.note('overflow', id, 'matched', cause)
        return this.settle(overflow.action, hops + 1)
      }
      const closed =
        cause === 'closed' && business_hours_id !== null
          ? this.#around.hours.get(business_hours_id)?.closed_action
          : null
      if (closed) return this.settle(closed, hops + 1)
      // A queue without agents keeps its callers, unless its settings say otherwise.
      if (cause !== 'no_agents') return this.#lost(`the queue ${id} takes nobody: ${cause}`)
    }
    this.decision.destination = { type: 'queue', id }
    this.decision.estimatedWait = queue.estimated_wait
    this.note('queue', id, 'selected', `${queue.waiting} wait`)
    this.#considerAgents({ id: queue.uuid, document: queue.document, lastAgent: queue.lastAgent }, null)
  }

  #refusal(queue: KnownQueue): OverflowCause | null {
    const { business_hours_id, max_size, overflow } = queue.document
    if (queue.status === 'closed') return 'closed'
    if (business_hours_id !== null && !this.#isOpen(business_hours_id)) return 'closed'
    if (queue.waiting >= max_size) return 'full'
    if (queue.agents_logged_in === 0 && overflow?.on.includes('no_agents')) return 'no_agents'
    return null
  }

  #considerAgents(queue: ChoosingQueue, wantedAgent: string | null): void {
    const call = { skills: this.decision.skills, waitedSeconds: 0, refusedBy: [], wantedAgent }
    const able = eligible(
      queue,
      call,
      this.#around.agents.filter(({ isFree }) => isFree),
    )
    const required = [...queue.document.skills_required, ...this.decision.skills]
    this.decision.eligible = able.map(({ agentId, skills, idleSinceMs }) => ({
      agentId,
      idleSinceMs,
      score: required.reduce((sum, { name }) => sum + (skills.find((skill) => skill.name === name)?.level ?? 0), 0),
    }))
    for (const { agentId } of able) this.note('agent', agentId, 'selected', 'is free and has the skills')
  }

  #agent(destination: DestinationOf): void {
    const id = destination.id ?? ''
    if (!agentIdForm.test(id)) return this.#lost(`there is no agent ${id}`)
    const agent = this.#around.agents.find(({ agentId }) => agentId === id)
    this.decision.destination = { type: 'agent', id }
    this.note(
      'agent',
      id,
      agent ? 'selected' : 'skipped',
      agent ? (agent.isFree ? 'is free' : 'is busy') : 'is not logged in',
    )
    if (!agent) this.decision.warnings.push(`the agent ${id} is not logged in`)
    else if (agent.isFree) this.decision.eligible = [{ agentId: id, score: 0, idleSinceMs: agent.idleSinceMs }]
  }
}
