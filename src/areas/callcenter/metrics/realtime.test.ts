// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentRow } from '../agents/store.ts'
import { queueDefaults } from '../queues/queue.ts'
import type { QueueRow } from '../queues/store.ts'
import { occupancy, Tally } from './measure.ts'
import { Board, type BoardContact, type BoardStretch, windows } from './realtime.ts'

const minute = 60_000
const midnight = Date.parse('2026-03-09T00:00:00Z')
const at = (ms: number) => new Date(ms)

/** Numbers that are the same in every run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

interface Day {
  agents: AgentRow[]
  queues: QueueRow[]
  contacts: BoardContact[]
  stretches: BoardStretch[]
}

/** A day of an account up to a moment: contacts and stretches spread over it, the last of them under way. */
function dayOf(sizes: { agents: number; queues: number; contacts: number; stretches: number }, nowMs: number): Day {
  const random = numbersFrom(7)
  const uuid = (i: number) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`
  const queues = Array.from({ length: sizes.queues }, (_, i): QueueRow => {
    const named = Array.from({ length: sizes.agents }, (_, a) => `agent${a}`).filter((_, a) => a % sizes.queues === i)
    const document = { ...queueDefaults, agents: named }
    const none = { last_agent: null, breached_at: null, created_at: at(0), updated_at: at(0) }
    return { id: uuid(i), name: `queue${i}`, status: 'open', document, ...none }
  })
  const startMs = midnight - 2 * 60 * minute
  const moment = (i: number, of: number) => startMs + Math.floor((i / of) * (nowMs - startMs)) + random(1_000)
  const agents = Array.from({ length: sizes.agents }, (_, i) => agentRow(`agent${i}`, uuid(1_000_000 + i)))
  const contacts = Array.from({ length: sizes.contacts }, (_, i): BoardContact => {
    const enteredMs = moment(i, sizes.contacts)
    const answeredMs = enteredMs + random(90_000)
    const endedMs = answeredMs + random(10 * minute)
    const wrappedMs = endedMs + random(minute)
    const isAnswered = random(10) > 2 && answeredMs <= nowMs
    const isOver = (isAnswered ? wrappedMs : answeredMs) <= nowMs
    const state = isOver ? 'ended' : isAnswered ? (endedMs <= nowMs ? 'wrap_up' : 'connected') : 'waiting'
    return {
      id: uuid(1_000_000 + i),
      queue_id: random(5) === 0 ? null : uuid(random(sizes.queues)),
      agent_id: isAnswered ? `agent${random(sizes.agents)}` : null,
      direction: random(4) === 0 ? 'outbound' : 'inbound',
      state,
      outcome: isAnswered ? 'answered' : isOver ? (random(2) === 0 ? 'abandoned' : 'overflowed') : null,
      priority: 5,
      entered_at: at(enteredMs),
      answered_at: isAnswered ? at(answeredMs) : null,
      ended_at: isAnswered ? (endedMs <= nowMs ? at(endedMs) : null) : isOver ? at(answeredMs) : null,
      wrapped_at: isAnswered && isOver ? at(wrappedMs) : null,
      hold_ms: BigInt(random(20_000)),
      is_short: random(5) === 0,
      in_threshold: random(2) === 0,
      is_transferred: random(8) === 0,
      cost: 0n,
      call_counted: 'no',
      queue_counted: 'no',
      is_continued: false,
      about: null,
    }
  })
  const stretches = Array.from({ length: sizes.stretches }, (_, i): BoardStretch => {
    const beganMs = moment(i, sizes.stretches)
    const endedMs = beganMs + random(20 * minute)
    const status = (['available', 'on_call', 'wrap_up'] as const)[random(3)] ?? 'available'
    const agent_id = `agent${random(sizes.agents)}`
    return { id: uuid(i), agent_id, status, began_at: at(beganMs), ended_at: endedMs <= nowMs ? at(endedMs) : null }
  })
  return { agents, queues, contacts, stretches }
}

function agentRow(agent_id: string, contact_id: string): AgentRow {
  return {
    bucket: 0,
    account_id: '',
    environment: 'test',
    agent_id,
    name: null,
    email: null,
    skills: [],
    queues: [],
    endpoint: { type: 'webrtc' },
    languages: [],
    max_calls: 1,
    external_ref: null,
    status: 'available',
    reason: null,
    since: at(0),
    until: null,
    next_status: null,
    next_reason: null,
    session_id: null,
    logged_in_at: null,
    call_id: null,
    leg_id: null,
    contact_id,
    desk_id: null,
    desk_lost_at: null,
    idle_since: at(0),
    calls_taken: 0,
    missed_offers: 0,
    offer_after: null,
    created_at: at(0),
  }
}

/** Figures of a window straight from all rows of the day. */
function plainly({ agents, queues, contacts, stretches }: Day, sinceMs: number, queue: string | null, nowMs: number) {
  const inWindow = contacts.filter(
    ({ entered_at, queue_id }) =>
      entered_at.getTime() >= sinceMs && entered_at.getTime() <= nowMs && (queue === null || queue_id === queue),
  )
  const measure = (some: readonly BoardContact[]) => {
    const tally = new Tally()
    for (const one of some) tally.add(one, nowMs)
    return tally
  }
  const serving = agents.filter(
    ({ agent_id }) =>
      queue === null || queues.some(({ id, document }) => id === queue && document.agents.includes(agent_id)),
  )
  return {
    totals: measure(inWindow).measures('call'),
    queues: queues
      .filter(({ id }) => queue === null || id === queue)
      .map(({ id }) => measure(inWindow.filter(({ queue_id }) => queue_id === id)).measures('queue').offered),
    agents: serving
      .map(({ agent_id }) => {
        const own = measure(inWindow.filter((one) => one.agent_id === agent_id))
        const times = stretches.filter((one) => one.agent_id === agent_id)
        return [
          agent_id,
          own.answered('contact'),
          Math.round(own.seconds.talk + own.seconds.hold),
          occupancy(times, sinceMs, nowMs),
        ]
      })
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  }
}

function boardOf({ agents, queues, contacts, stretches }: Day): Board {
  const board = new Board()
  board.putAgents(agents)
  board.putQueues(queues)
  board.putContacts(contacts)
  board.putStretches(stretches)
  return board
}

function shown(board: Board, window: (typeof windows)[number], queue: string | null, nowMs: number) {
  const { totals, queues, agents } = board.read(window, queue, nowMs)
  const names = new Tally().measures('call')
  return {
    totals: Object.fromEntries(Object.entries(totals).filter(([name]) => name in names)),
    queues: queues.map(({ offered }) => offered),
    agents: agents.map((one) => [one.agent_id, one.calls_handled, one.talk_seconds, one.occupancy_percent]),
  }
}

test('a board tells of every window what all rows of the day tell, before and after it sums up', () => {
  for (const hour of [0.4, 1.5, 11]) {
    const nowMs = midnight + hour * 60 * minute
    const day = dayOf({ agents: 12, queues: 3, contacts: 600, stretches: 900 }, nowMs)
    const board = boardOf(day)
    for (const step of [0, 1, 2, 30]) {
      const thenMs = nowMs + step * minute
      board.settle(thenMs)
      for (const window of windows)
        for (const queue of [null, day.queues[1]?.id ?? null]) {
          const sinceMs = window === 'today' ? midnight : thenMs - Number.parseInt(window, 10) * minute
          const name = `${window} of ${queue} at ${new Date(thenMs).toISOString()}`
          assert.deepEqual(shown(board, window, queue, thenMs), plainly(day, sinceMs, queue, thenMs), name)
        }
    }
  }
})

test('a new day begins with nothing, and a clock that is set back asks for another board', () => {
  const nowMs = midnight + 11 * 60 * minute
  const board = boardOf(dayOf({ agents: 5, queues: 2, contacts: 200, stretches: 200 }, nowMs))
  board.settle(nowMs)
  assert.ok(board.read('today', null, nowMs).totals.offered > 100)
  board.settle(nowMs + 24 * 60 * minute)
  assert.equal(board.read('today', null, nowMs + 24 * 60 * minute).totals.offered, 0)
  assert.equal(board.knows(nowMs), false)
})

test('a change replaces the contact that it changes', () => {
  const nowMs = midnight + 11 * 60 * minute
  const day = dayOf({ agents: 5, queues: 2, contacts: 200, stretches: 0 }, nowMs)
  const board = boardOf(day)
  board.settle(nowMs)
  const last = day.contacts.at(-1)
  assert.ok(last)
  board.putContacts([{ ...last, outcome: null, state: 'waiting' }])
  const before = board.read('today', null, nowMs).totals
  board.putContacts([{ ...last, state: 'ended', outcome: 'overflowed', ended_at: at(nowMs) }])
  const { totals } = board.read('today', null, nowMs)
  assert.deepEqual([totals.offered, totals.overflowed], [before.offered, before.overflowed + 1])
})

test('a reading of 1,000 agents looks at what the last hour brought, once', () => {
  const nowMs = midnight + 10 * 60 * minute
  const day = dayOf({ agents: 1_000, queues: 20, contacts: 10_000, stretches: 30_000 }, nowMs)
  let looks = 0
  const counted = <T extends BoardContact | BoardStretch>(row: T): T =>
    new Proxy(row, {
      get(target, name, receiver) {
        looks++
        return Reflect.get(target, name, receiver)
      },
    })
  const board = boardOf({
    ...day,
    contacts: day.contacts.map(counted),
    stretches: day.stretches.map(counted),
  })
  board.settle(nowMs)
  looks = 0
  board.read('today', null, nowMs)
  // 40,000 rows, a twelfth of which is of the last hour; each is looked at a few times for its fields, however many agents there are.
  assert.ok(looks < 200_000, `${looks} fields were read`)
})
