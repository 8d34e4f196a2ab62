// SPDX-License-Identifier: Apache-2.0
// Real-time metrics of an account: the current state and the results of a time window, kept from changes. Contacts and stretches
// that no window but today cuts any more are summed up and forgotten, so that a reading costs what happened in the last
// hour. Pure.
import { idOf } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { AgentRow } from '../agents/store.ts'
import type { ContactRow } from '../contacts.ts'
import { countAgents, liveOf, membersOf, type Scene } from '../queues/live.ts'
import type { QueueRow } from '../queues/store.ts'
import { type AgentTime, addStretch, type Counted, type Measures, occupancyOf, type Stretch, Tally } from './measure.ts'

export const windows = ['today', '15m', '30m', '60m'] as const
export type Window = (typeof windows)[number]

/** Contact as the board keeps it. */
export type BoardContact = Counted &
  Pick<ContactRow, 'id' | 'agent_id' | 'priority'> & {
    /** Choices in menus, of a contact under way. */
    about: string | null
  }
export type BoardStretch = Stretch & { id: string }
export type Realtime = ReturnType<Board['read']>

/** The longest window that moves, and a minute for clocks of nodes that differ. */
const longestWindowMs = 60 * minuteMs
const settleAfterMs = longestWindowMs + minuteMs

function midnightBefore(nowMs: number): number {
  return new Date(nowMs).setUTCHours(0, 0, 0, 0)
}

function sinceOf(window: Window, nowMs: number): number {
  return window === 'today' ? midnightBefore(nowMs) : nowMs - Number.parseInt(window, 10) * minuteMs
}

/** Start of what a board has to know at a moment. */
export function boardSince(nowMs: number): Date {
  return new Date(Math.min(midnightBefore(nowMs), nowMs - settleAfterMs))
}

/** Contacts of one queue and agent that were summed up. */
interface Cell {
  queue: string | null
  agent: string | null
  tally: Tally
}

export class Board {
  readonly #agents = new Map<string, AgentRow>()
  #inOrder: readonly AgentRow[] | null = null
  readonly #contacts = new Map<string, BoardContact>()
  readonly #stretches = new Map<string, BoardStretch>()
  #queues: readonly QueueRow[] = []
  /** Midnight before the contacts and stretches that are summed up. */
  #dayMs = 0
  /** Start of the contacts and stretches that are not. */
  #settledMs = 0
  readonly #cells = new Map<string, Cell>()
  readonly #times = new Map<string, AgentTime>()

  putAgents(rows: readonly AgentRow[]): void {
    for (const row of rows) {
      if (row.status === 'offline') this.#agents.delete(row.agent_id)
      else this.#agents.set(row.agent_id, row)
    }
    if (rows.length > 0) this.#inOrder = null
  }

  putContacts(rows: readonly BoardContact[]): void {
    for (const row of rows) this.#contacts.set(row.id, row)
  }

  putStretches(rows: readonly BoardStretch[]): void {
    for (const row of rows) this.#stretches.set(row.id, row)
  }

  putQueues(rows: readonly QueueRow[]): void {
    this.#queues = rows
  }

  /** Whether the board still knows the windows of a moment: a clock that was set back may ask for what is summed up. */
  knows(nowMs: number): boolean {
    return nowMs - longestWindowMs >= this.#settledMs
  }

  /** Sums up what only today's window contains, at most once a minute. */
  settle(nowMs: number): void {
    const beforeMs = nowMs - settleAfterMs
    const dayMs = midnightBefore(nowMs)
    if (dayMs !== this.#dayMs) {
      this.#cells.clear()
      this.#times.clear()
    } else if (beforeMs < this.#settledMs + minuteMs) return
    this.#dayMs = dayMs
    this.#settledMs = beforeMs
    for (const contact of this.#contacts.values())
      if (contact.state === 'ended' && contact.entered_at.getTime() < beforeMs) this.#sumContact(contact, nowMs)
    for (const stretch of this.#stretches.values())
      if (stretch.ended_at !== null && stretch.ended_at.getTime() < beforeMs) this.#sumStretch(stretch, nowMs)
  }

  #sumContact(contact: BoardContact, nowMs: number): void {
    this.#contacts.delete(contact.id)
    if (contact.entered_at.getTime() < this.#dayMs) return
    const { queue_id: queue, agent_id: agent } = contact
    const cell = obtain(this.#cells, `${queue} ${agent}`, () => ({ queue, agent, tally: new Tally() }))
    cell.tally.add(contact, nowMs)
  }

  #sumStretch(stretch: BoardStretch, nowMs: number): void {
    this.#stretches.delete(stretch.id)
    addStretch(obtain(this.#times, stretch.agent_id, noTime), stretch, this.#dayMs, nowMs)
  }

  read(window: Window, queue: string | null, nowMs: number) {
    this.#inOrder ??= [...this.#agents.values()].sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1))
    const contacts = [...this.#contacts.values()]
    const scene = {
      agents: this.#inOrder,
      contacts: contacts.filter(({ state }) => state !== 'ended'),
      queues: this.#queues,
    }
    const sums = this.#sums(contacts, window, queue, nowMs)
    const times = this.#timesIn(window, nowMs)
    const queues = scene.queues.filter(({ id }) => queue === null || id === queue)
    const members = new Map(queues.map((one) => [one.id, membersOf(one, scene.agents)]))
    const agents = queue === null ? scene.agents : (members.get(queue) ?? [])
    const present = new Map(scene.contacts.map((contact) => [contact.id, contact]))
    const reading = { scene, times, nowMs }
    return {
      generated_at: new Date(nowMs),
      window,
      totals: numbers(reading, queues, agents, sums.all.measures(queue === null ? 'call' : 'queue')),
      queues: queues.map((one) => ({
        queue_id: idOf('queue', one.id),
        name: one.name,
        sla: one.document.sla,
        ...numbers(
          reading,
          [one],
          members.get(one.id) ?? [],
          (sums.queues.get(one.id) ?? new Tally()).measures('queue'),
        ),
      })),
      agents: agents.map((agent) =>
        ofAgent(
          agent,
          present.get(agent.contact_id ?? '') ?? null,
          sums.agents.get(agent.agent_id) ?? new Tally(),
          times.get(agent.agent_id) ?? noTime(),
        ),
      ),
    }
  }

  /** Sums of the contacts of a window: all, by queue and by agent. */
  #sums(contacts: readonly BoardContact[], window: Window, queue: string | null, nowMs: number) {
    const sinceMs = sinceOf(window, nowMs)
    const sums = { all: new Tally(), queues: new Map<string, Tally>(), agents: new Map<string, Tally>() }
    const talliesOf = (queueId: string | null, agentId: string | null) => {
      const tallies = [sums.all]
      if (queueId !== null) tallies.push(obtain(sums.queues, queueId, newTally))
      if (agentId !== null) tallies.push(obtain(sums.agents, agentId, newTally))
      return tallies
    }
    if (window === 'today')
      for (const cell of this.#cells.values())
        if (queue === null || cell.queue === queue)
          for (const tally of talliesOf(cell.queue, cell.agent)) tally.addAll(cell.tally)
    for (const contact of contacts) {
      const enteredMs = contact.entered_at.getTime()
      if (enteredMs < sinceMs || enteredMs > nowMs || (queue !== null && contact.queue_id !== queue)) continue
      for (const tally of talliesOf(contact.queue_id, contact.agent_id)) tally.add(contact, nowMs)
    }
    return sums
  }

  #timesIn(window: Window, nowMs: number): Map<string, AgentTime> {
    const sinceMs = sinceOf(window, nowMs)
    const times = new Map<string, AgentTime>()
    if (window === 'today') for (const [agent, time] of this.#times) times.set(agent, { ...time })
    for (const stretch of this.#stretches.values())
      addStretch(obtain(times, stretch.agent_id, noTime), stretch, sinceMs, nowMs)
    return times
  }
}

const newTally = () => new Tally()
const noTime = (): AgentTime => ({ busyMs: 0, freeMs: 0 })

function obtain<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

interface Reading {
  scene: Scene<BoardContact>
  times: ReadonlyMap<string, AgentTime>
  nowMs: number
}

function numbers(
  { scene, times, nowMs }: Reading,
  queues: readonly QueueRow[],
  agents: readonly AgentRow[],
  measures: Measures,
) {
  const lives = queues.map((queue) => liveOf(queue, scene, nowMs, measures.aht_seconds))
  const counts = countAgents(agents)
  const own = new Set(queues.map(({ id }) => id))
  const waits = lives.map(({ estimatedWait }) => estimatedWait).filter((wait) => wait !== null)
  const isAll = queues.length === scene.queues.length
  const time = noTime()
  for (const { agent_id } of agents) {
    time.busyMs += times.get(agent_id)?.busyMs ?? 0
    time.freeMs += times.get(agent_id)?.freeMs ?? 0
  }
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
    occupancy_percent: occupancyOf(time),
  }
}

function ofAgent(agent: AgentRow, contact: BoardContact | null, tally: Tally, time: AgentTime) {
  const queue = contact?.queue_id ?? null
  const { talk, hold } = tally.seconds
  return {
    agent_id: agent.agent_id,
    name: agent.name,
    status: agent.status,
    reason: agent.reason,
    since: agent.since,
    call_id: agent.call_id === null ? null : idOf('call', agent.call_id),
    queue_id: queue === null ? null : idOf('queue', queue),
    about: contact?.about ?? null,
    calls_handled: tally.answered('contact'),
    talk_seconds: Math.round(talk + hold),
    occupancy_percent: occupancyOf(time),
  }
}
