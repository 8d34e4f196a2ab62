// SPDX-License-Identifier: Apache-2.0
// Boards of real-time metrics, one per account that somebody reads: each is loaded once and then reads what changed, on any
// node. All who ask while it reads share the next reading.
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { agentsAtWork } from '../agents/store.ts'
import { listQueues } from '../queues/store.ts'
import { Board, boardSince, type Realtime, type Window } from './realtime.ts'
import {
  changedAgents,
  changedContacts,
  changedStretches,
  contactsSince,
  lastChanges,
  stretchesSince,
} from './store.ts'

/** Boards that nobody has read for this long are forgotten. */
const keptMs = 10 * 60_000
const maxBoards = 1_000
/** Changes read at a time. */
const pageSize = 2_000

interface Shown {
  readonly metrics: Realtime
  /** The metrics as JSON, written once for all readers. */
  text: string | null
}

/** Metrics of a board that are not older than `maxAgeMs`. */
interface Asked {
  window: Window
  queue: string | null
  nowMs: number
  maxAgeMs?: number
}

class LiveBoard {
  readonly #app: App
  readonly #tenant: Tenant
  #board: Board | null = null
  #marks = { agents: 0n, contacts: 0n, stretches: 0n }
  #reading: Promise<void> | null = null
  #next: Promise<void> | null = null
  #nextMs = 0
  /** Account time of the last reading. */
  #readMs = Number.NEGATIVE_INFINITY
  readonly #shown = new Map<string, Shown>()
  usedMs = 0

  constructor(app: App, tenant: Tenant) {
    this.#app = app
    this.#tenant = tenant
  }

  async shown({ window, queue, nowMs, maxAgeMs = 0 }: Asked): Promise<Shown> {
    const ageMs = nowMs - this.#readMs
    const isFresh = this.#board !== null && ageMs >= 0 && ageMs < maxAgeMs
    if (!isFresh) await (maxAgeMs > 0 && this.#reading ? this.#reading : this.#refresh(nowMs))
    const key = `${window} ${queue}`
    const known = this.#shown.get(key)
    if (known) return known
    const board = this.#board ?? new Board()
    const made = { metrics: board.read(window, queue, this.#readMs), text: null }
    this.#shown.set(key, made)
    return made
  }

  /** Reads what was committed before this call: a reading that is under way may have missed it. */
  #refresh(nowMs: number): Promise<void> {
    this.#nextMs = Math.max(this.#nextMs, nowMs)
    if (!this.#reading) return this.#begin()
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = null
        return this.#begin()
      })
    return this.#next
  }

  #begin(): Promise<void> {
    const nowMs = this.#nextMs
    this.#nextMs = 0
    this.#reading = this.#read(nowMs).finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(nowMs: number): Promise<void> {
    const known = this.#board?.knows(nowMs) ? this.#board : null
    const board = known ?? (await this.#load(nowMs))
    board.putQueues(await this.#app.db.query(listQueues, this.#tenant))
    await this.#readChanges(board)
    board.settle(nowMs)
    this.#board = board
    this.#readMs = nowMs
    this.#shown.clear()
  }

  async #load(nowMs: number): Promise<Board> {
    const { db } = this.#app
    const since = boardSince(nowMs)
    const board = new Board()
    this.#marks = await one(db.query(lastChanges, this.#tenant))
    board.putAgents(await db.query(agentsAtWork, this.#tenant))
    board.putContacts(await db.query(contactsSince, { ...this.#tenant, since }))
    board.putStretches(await db.query(stretchesSince, { ...this.#tenant, since }))
    return board
  }

  async #readChanges(board: Board): Promise<void> {
    const { db } = this.#app
    const page = (after: bigint) => ({ ...this.#tenant, after, limit: pageSize })
    const marks = this.#marks
    for (let isMore = true; isMore; ) {
      const agents = await db.query(changedAgents, page(marks.agents))
      const contacts = await db.query(changedContacts, page(marks.contacts))
      const stretches = await db.query(changedStretches, page(marks.stretches))
      board.putAgents(agents)
      board.putContacts(contacts)
      board.putStretches(stretches)
      marks.agents = agents.at(-1)?.changed ?? marks.agents
      marks.contacts = contacts.at(-1)?.changed ?? marks.contacts
      marks.stretches = stretches.at(-1)?.changed ?? marks.stretches
      isMore = [agents, contacts, stretches].some(({ length }) => length === pageSize)
    }
  }
}

const boards = onePerApp(() => new Map<string, LiveBoard>())

function boardOf(app: App, tenant: Tenant): LiveBoard {
  const all = boards(app)
  const nowMs = app.clock.nowMs()
  for (const [key, { usedMs }] of all) if (nowMs - usedMs > keptMs || all.size >= maxBoards) all.delete(key)
  const key = `${tenant.account} ${tenant.environment}`
  const board = all.get(key) ?? new LiveBoard(app, tenant)
  board.usedMs = nowMs
  // The board used last is the last to be forgotten.
  all.delete(key)
  all.set(key, board)
  return board
}

/** Real-time metrics of an account. */
export async function realtime(app: App, tenant: Tenant, asked: Asked): Promise<Realtime> {
  return (await boardOf(app, tenant).shown(asked)).metrics
}

/** Real-time metrics of an account as JSON. */
export async function realtimeText(app: App, tenant: Tenant, asked: Asked): Promise<string> {
  const shown = await boardOf(app, tenant).shown(asked)
  shown.text ??= JSON.stringify(shown.metrics)
  return shown.text
}
