// SPDX-License-Identifier: Apache-2.0
// Metrics of contacts and agent time, by the definitions of the documentation. Pure, so that a day can be checked by
// hand.
import type { AgentStatus } from '../agents/agent.ts'
import type { ContactRow, CountedBefore } from '../contacts.ts'

/** Fields of a contact that metrics use. */
export type Counted = Pick<
  ContactRow,
  | 'outcome'
  | 'state'
  | 'entered_at'
  | 'answered_at'
  | 'ended_at'
  | 'wrapped_at'
  | 'hold_ms'
  | 'is_short'
  | 'in_threshold'
  | 'is_transferred'
  | 'queue_id'
  | 'direction'
  | 'cost'
  | 'call_counted'
  | 'queue_counted'
  | 'is_continued'
>

/** Unit that counts once: a call, a call in a queue, or a contact, as an agent has it. */
export type Scope = 'call' | 'queue' | 'contact'
const scopes: readonly Scope[] = ['call', 'queue', 'contact']
const none = (): Record<Scope, number> => ({ call: 0, queue: 0, contact: 0 })

/** Interval of an agent's time. */
export interface Stretch {
  agent_id: string
  status: AgentStatus
  began_at: Date
  ended_at: Date | null
}

export interface Measures {
  offered: number
  answered: number
  abandoned: number
  short_abandoned: number
  overflowed: number
  transferred: number
  service_level_percent: number | null
  asa_seconds: number | null
  aht_seconds: number | null
  abandon_rate_percent: number | null
}

export interface MoreMeasures extends Measures {
  talk_seconds: number
  hold_seconds: number
  wrap_up_seconds: number
  max_wait_seconds: number
  wait_p50: number | null
  wait_p90: number | null
  first_call_resolution_percent: number | null
  cost: bigint
}

type Waited = Pick<Counted, 'entered_at' | 'answered_at' | 'ended_at'>

export function waitMs({ entered_at, answered_at, ended_at }: Waited, nowMs: number): number {
  const until = (answered_at ?? ended_at)?.getTime() ?? nowMs
  return Math.max(0, until - entered_at.getTime())
}

/** Talk time, without hold. */
function talkMs({ answered_at, ended_at, hold_ms }: Counted, nowMs: number): number {
  if (answered_at === null) return 0
  const until = ended_at?.getTime() ?? nowMs
  return Math.max(0, until - answered_at.getTime() - Number(hold_ms))
}

function wrapMs({ ended_at, wrapped_at, state }: Counted, nowMs: number): number {
  if (ended_at === null) return 0
  const until = wrapped_at?.getTime() ?? (state === 'wrap_up' ? nowMs : ended_at.getTime())
  return Math.max(0, until - ended_at.getTime())
}

function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : rounded((part / whole) * 100)
}

/**
 * Percentage of calls that something happened to. A call that was counted in an earlier row is among them, though not among the
 * counted ones.
 */
function shareOf(happened: number, counted: number): number | null {
  return percent(happened, Math.max(happened, counted))
}

/** Percentage of calls after which the caller did not call again. */
function resolvedOf(again: number, counted: number): number | null {
  const calls = Math.max(again, counted)
  return percent(calls - again, calls)
}

/** Rounded to two decimals. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

/** Percentile by the nearest-rank method. */
function percentile(values: readonly number[], of: number): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil((of / 100) * sorted.length) - 1)]
  return value === undefined ? null : rounded(value)
}

/** Time of agents in statuses that count, in milliseconds. */
export interface AgentTime {
  busyMs: number
  freeMs: number
}

/** Adds a stretch to the time of its agent, cut to the window. */
export function addStretch(time: AgentTime, { status, began_at, ended_at }: Stretch, sinceMs: number, untilMs: number) {
  const ms = Math.min(ended_at?.getTime() ?? untilMs, untilMs) - Math.max(began_at.getTime(), sinceMs)
  if (ms <= 0) return
  if (status === 'on_call' || status === 'wrap_up') time.busyMs += ms
  else if (status === 'available') time.freeMs += ms
}

/** Share of an agent's time on calls and wrap-up, of that plus available time. */
export function occupancyOf({ busyMs, freeMs }: AgentTime): number | null {
  return percent(busyMs, busyMs + freeMs)
}

export function occupancy(stretches: readonly Stretch[], sinceMs: number, untilMs: number): number | null {
  const time = { busyMs: 0, freeMs: 0 }
  for (const stretch of stretches) addStretch(time, stretch, sinceMs, untilMs)
  return occupancyOf(time)
}

/** Adds a contact to the counts of those scopes in which no earlier contact was counted so. */
function count(counts: Record<Scope, number>, contact: Counted, as: 'offered' | 'answered'): void {
  const isNew = (before: CountedBefore) => before === 'no' || (before === 'offered' && as === 'answered')
  counts.contact++
  if (isNew(contact.call_counted)) counts.call++
  if (isNew(contact.queue_counted)) counts.queue++
}

/** Sums of contacts. Times are whole milliseconds, so that sums are exact in any order. */
export class Tally {
  readonly #offered = none()
  readonly #answered = none()
  #served = 0
  #inTime = 0
  #abandoned = 0
  #short = 0
  #overflowed = 0
  #transferred = 0
  #servedWaitMs = 0
  #talkMs = 0
  #holdMs = 0
  #wrapMs = 0

  add(contact: Counted, nowMs: number): void {
    const { outcome, queue_id, is_short, in_threshold, is_transferred, hold_ms } = contact
    if (contact.is_continued) return
    count(this.#offered, contact, 'offered')
    if (is_transferred) this.#transferred++
    if (outcome === 'abandoned') this.#abandoned++
    if (outcome === 'abandoned' && is_short) this.#short++
    if (outcome === 'overflowed') this.#overflowed++
    if (outcome !== 'answered') return
    count(this.#answered, contact, 'answered')
    this.#talkMs += talkMs(contact, nowMs)
    this.#holdMs += Number(hold_ms)
    this.#wrapMs += wrapMs(contact, nowMs)
    // The service level covers queues only: outbound calls do not wait.
    if (queue_id === null) return
    this.#served++
    this.#servedWaitMs += waitMs(contact, nowMs)
    if (in_threshold) this.#inTime++
  }

  addAll(other: Tally): void {
    for (const scope of scopes) {
      this.#offered[scope] += other.#offered[scope]
      this.#answered[scope] += other.#answered[scope]
    }
    this.#served += other.#served
    this.#inTime += other.#inTime
    this.#abandoned += other.#abandoned
    this.#short += other.#short
    this.#overflowed += other.#overflowed
    this.#transferred += other.#transferred
    this.#servedWaitMs += other.#servedWaitMs
    this.#talkMs += other.#talkMs
    this.#holdMs += other.#holdMs
    this.#wrapMs += other.#wrapMs
  }

  answered(scope: Scope): number {
    return this.#answered[scope]
  }

  get seconds(): { talk: number; hold: number; wrapUp: number } {
    return { talk: this.#talkMs / 1_000, hold: this.#holdMs / 1_000, wrapUp: this.#wrapMs / 1_000 }
  }

  measures(scope: Scope): Measures {
    const handled = this.#answered.contact
    const handledMs = this.#talkMs + this.#holdMs + this.#wrapMs
    return {
      offered: this.#offered[scope],
      answered: this.#answered[scope],
      abandoned: this.#abandoned,
      short_abandoned: this.#short,
      overflowed: this.#overflowed,
      transferred: this.#transferred,
      service_level_percent: percent(this.#inTime, this.#served + this.#abandoned - this.#short),
      asa_seconds: this.#served === 0 ? null : rounded(this.#servedWaitMs / 1_000 / this.#served),
      aht_seconds: handled === 0 ? null : rounded(handledMs / 1_000 / handled),
      abandon_rate_percent: shareOf(this.#abandoned, this.#offered[scope]),
    }
  }
}

/** Sums of contacts with what only reports tell: percentiles of the waits, repeated calls, cost. */
export class ReportTally extends Tally {
  #cost = 0n
  readonly #inbound = none()
  #again = 0
  readonly #waits: number[] = []

  override add(contact: Counted, nowMs: number): void {
    super.add(contact, nowMs)
    this.#cost += contact.cost
    if (contact.is_continued) return
    if (contact.queue_id !== null) this.#waits.push(waitMs(contact, nowMs) / 1_000)
    if (contact.outcome === 'answered' && contact.direction === 'inbound') count(this.#inbound, contact, 'answered')
  }

  /** An answered caller called again within a day: the first call was not resolved. */
  calledAgain(): void {
    this.#again++
  }

  /** Waits in queues, in seconds. */
  get waits(): readonly number[] {
    return this.#waits
  }

  more(scope: Scope): MoreMeasures {
    const { talk, hold, wrapUp } = this.seconds
    return {
      ...this.measures(scope),
      talk_seconds: Math.round(talk),
      hold_seconds: Math.round(hold),
      wrap_up_seconds: Math.round(wrapUp),
      max_wait_seconds: Math.round(this.#waits.reduce((most, wait) => Math.max(most, wait), 0)),
      wait_p50: percentile(this.#waits, 50),
      wait_p90: percentile(this.#waits, 90),
      first_call_resolution_percent: resolvedOf(this.#again, this.#inbound[scope]),
      cost: this.#cost,
    }
  }
}
