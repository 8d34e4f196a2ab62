// SPDX-License-Identifier: Apache-2.0
// Metrics of contacts and agent time, by the definitions of the documentation. Pure, so that a day can be checked by
// hand.
import type { AgentStatus } from '../agents/agent.ts'
import type { ContactRow } from '../contacts.ts'

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
>

/** Interval of an agent's time. */
export interface Stretch {
  agent_id: string
  status: AgentStatus
  began_at: Date
  ended_at: Date | null
}

interface Measures {
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

export function waitSeconds({ entered_at, answered_at, ended_at }: Counted, nowMs: number): number {
  const until = (answered_at ?? ended_at)?.getTime() ?? nowMs
  return Math.max(0, (until - entered_at.getTime()) / 1_000)
}

export function holdSeconds({ hold_ms }: Counted): number {
  return Number(hold_ms) / 1_000
}

/** Talk time in seconds, without hold. */
export function talkSeconds(contact: Counted, nowMs: number): number {
  if (contact.answered_at === null) return 0
  const until = contact.ended_at?.getTime() ?? nowMs
  return Math.max(0, (until - contact.answered_at.getTime()) / 1_000 - holdSeconds(contact))
}

function wrapSeconds({ ended_at, wrapped_at, state }: Counted, nowMs: number): number {
  if (ended_at === null) return 0
  const until = wrapped_at?.getTime() ?? (state === 'wrap_up' ? nowMs : ended_at.getTime())
  return Math.max(0, (until - ended_at.getTime()) / 1_000)
}

function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : rounded((part / whole) * 100)
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

/** Occupancy: time on calls and wrap-up, as a share of that plus available time. */
export function occupancy(stretches: readonly Stretch[], sinceMs: number, untilMs: number): number | null {
  let busy = 0
  let free = 0
  for (const { status, began_at, ended_at } of stretches) {
    const ms = Math.min(ended_at?.getTime() ?? untilMs, untilMs) - Math.max(began_at.getTime(), sinceMs)
    if (ms <= 0) continue
    if (status === 'on_call' || status === 'wrap_up') busy += ms
    else if (status === 'available') free += ms
  }
  return percent(busy, busy + free)
}

/** Running totals of contacts; keeps numbers only. */
export class Tally {
  private offered = 0
  private answered = 0
  private served = 0
  private inTime = 0
  private abandoned = 0
  private short = 0
  private overflowed = 0
  private transferred = 0
  private servedWait = 0
  private talk = 0
  private hold = 0
  private wrap = 0
  private cost = 0n
  private inbound = 0
  private again = 0
  private readonly waits: number[] = []

  add(contact: Counted, nowMs: number): void {
    const { outcome, queue_id, is_short, in_threshold, is_transferred, direction, cost } = contact
    this.offered++
    this.cost += cost
    if (is_transferred) this.transferred++
    if (outcome === 'abandoned') this.abandoned++
    if (outcome === 'abandoned' && is_short) this.short++
    if (outcome === 'overflowed') this.overflowed++
    const wait = waitSeconds(contact, nowMs)
    if (queue_id !== null) this.waits.push(wait)
    if (outcome !== 'answered') return
    this.answered++
    this.talk += talkSeconds(contact, nowMs)
    this.hold += holdSeconds(contact)
    this.wrap += wrapSeconds(contact, nowMs)
    if (direction === 'inbound') this.inbound++
    // The service level covers queues only: outbound calls do not wait.
    if (queue_id === null) return
    this.served++
    this.servedWait += wait
    if (in_threshold) this.inTime++
  }

  /** An answered caller called again within a day: the first call was not resolved. */
  calledAgain(): void {
    this.again++
  }

  get measures(): Measures {
    const handled = this.talk + this.hold + this.wrap
    return {
      offered: this.offered,
      answered: this.answered,
      abandoned: this.abandoned,
      short_abandoned: this.short,
      overflowed: this.overflowed,
      transferred: this.transferred,
      service_level_percent: percent(this.inTime, this.served + this.abandoned - this.short),
      asa_seconds: this.served === 0 ? null : rounded(this.servedWait / this.served),
      aht_seconds: this.answered === 0 ? null : rounded(handled / this.answered),
      abandon_rate_percent: percent(this.abandoned, this.offered),
    }
  }

  get more(): MoreMeasures {
    return {
      ...this.measures,
      talk_seconds: Math.round(this.talk),
      hold_seconds: Math.round(this.hold),
      wrap_up_seconds: Math.round(this.wrap),
      max_wait_seconds: Math.round(this.waits.reduce((most, wait) => Math.max(most, wait), 0)),
      wait_p50: percentile(this.waits, 50),
      wait_p90: percentile(this.waits, 90),
      first_call_resolution_percent: percent(this.inbound - this.again, this.inbound),
      cost: this.cost,
    }
  }
}

export function measure(contacts: readonly Counted[], nowMs: number): Measures {
  const tally = new Tally()
  for (const contact of contacts) tally.add(contact, nowMs)
  return tally.measures
}
