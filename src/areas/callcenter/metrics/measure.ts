// SPDX-License-Identifier: Apache-2.0
// What contacts and agents' times add up to, by the definitions of the documentation. Pure, so that a day can be checked by hand.
import type { AgentStatus } from '../agents/agent.ts'
import type { ContactRow } from '../calls/contacts.ts'

/** What counts of a contact. */
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
  | 'from_number'
  | 'cost'
>

/** A stretch of an agent's time. */
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
  occupancy_percent: number | null
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

/** Seconds spoken, without those on hold. */
export function talkSeconds(contact: Counted, nowMs: number): number {
  if (contact.answered_at === null) return 0
  const until = contact.ended_at?.getTime() ?? nowMs
  return Math.max(0, (until - contact.answered_at.getTime()) / 1_000 - holdSeconds(contact))
}

export function wrapSeconds({ ended_at, wrapped_at, state }: Counted, nowMs: number): number {
  if (ended_at === null) return 0
  const until = wrapped_at?.getTime() ?? (state === 'wrap_up' ? nowMs : ended_at.getTime())
  return Math.max(0, (until - ended_at.getTime()) / 1_000)
}

export function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : rounded((part / whole) * 100)
}

/** Two digits after the point. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : rounded(values.reduce((sum, value) => sum + value, 0) / values.length)
}

/** The smallest value that so many of a hundred do not exceed. */
export function percentile(values: readonly number[], of: number): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil((of / 100) * sorted.length) - 1)]
  return value === undefined ? null : rounded(value)
}

/** Time on calls and after them, of that and the time spent free. */
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

export function measure(contacts: readonly Counted[], nowMs: number): Omit<Measures, 'occupancy_percent'> {
  const answered = contacts.filter(({ outcome }) => outcome === 'answered')
  const abandoned = contacts.filter(({ outcome }) => outcome === 'abandoned')
  const short = abandoned.filter(({ is_short }) => is_short).length
  // The service level is about queues: a call that an agent made waited in none.
  const served = answered.filter(({ queue_id }) => queue_id !== null)
  const inTime = served.filter(({ in_threshold }) => in_threshold).length
  const handled = answered.map((one) => talkSeconds(one, nowMs) + holdSeconds(one) + wrapSeconds(one, nowMs))
  return {
    offered: contacts.length,
    answered: answered.length,
    abandoned: abandoned.length,
    short_abandoned: short,
    overflowed: contacts.filter(({ outcome }) => outcome === 'overflowed').length,
    transferred: contacts.filter(({ is_transferred }) => is_transferred).length,
    service_level_percent: percent(inTime, served.length + abandoned.length - short),
    asa_seconds: mean(served.map((one) => waitSeconds(one, nowMs))),
    aht_seconds: mean(handled),
    abandon_rate_percent: percent(abandoned.length, contacts.length),
  }
}

/** The same with what reports add. `again` tells whether a caller called again within a day. */
export function measureMore(
  contacts: readonly Counted[],
  nowMs: number,
  again: (contact: Counted) => boolean,
): Omit<MoreMeasures, 'occupancy_percent'> {
  const answered = contacts.filter(({ outcome }) => outcome === 'answered')
  const queued = contacts.filter(({ queue_id }) => queue_id !== null)
  const waits = queued.map((one) => waitSeconds(one, nowMs))
  const sum = (values: readonly number[]) => Math.round(values.reduce((all, value) => all + value, 0))
  const inbound = answered.filter(({ direction }) => direction === 'inbound')
  return {
    ...measure(contacts, nowMs),
    talk_seconds: sum(answered.map((one) => talkSeconds(one, nowMs))),
    hold_seconds: sum(answered.map(holdSeconds)),
    wrap_up_seconds: sum(answered.map((one) => wrapSeconds(one, nowMs))),
    max_wait_seconds: Math.round(Math.max(0, ...waits)),
    wait_p50: percentile(waits, 50),
    wait_p90: percentile(waits, 90),
    first_call_resolution_percent: percent(inbound.filter((one) => !again(one)).length, inbound.length),
    cost: contacts.reduce((all, { cost }) => all + cost, 0n),
  }
}
