// SPDX-License-Identifier: Apache-2.0
// The jobs of one lane that this node has in memory: those that run, and those that wait for a place, account by account in
// turn. A lane `area.verb@place` is served by some nodes only, and shared out between accounts: none of them can fill it.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { nilUuid } from '../../kernel/ids.ts'
import { mayHold, Turns } from '../../kernel/turns.ts'
import type { Trace } from '../tracing.ts'

/** Born-leased jobs a lane may have waiting; beyond it rows are left to whichever node has room. */
const maxLocalBacklog = 2_000
/** How many jobs a shared lane may have in memory, for each that may run. */
const capacityFactor = 2

/** A job row, as far as running it needs it. */
export interface Row {
  bucket: number
  id: string
  lane: string
  account_id: string | null
  environment: 'test' | 'live' | null
  key: string | null
  attempt: number
  failures: number
  payload: unknown
  trace?: Trace | null
}

/** What a lane must know of its jobs. */
interface Runnable {
  readonly lane: string
  readonly payload: TSchema
  readonly concurrency: number
}

export function laneName(lane: string, place: string | null): string {
  return place === null ? lane : `${lane}@${place}`
}

export class Lane<Job extends Runnable> {
  readonly name: string
  readonly job: Job
  readonly check: Validator<TSchema>
  /** What follows the @ in its name: only such lanes are shared out. */
  readonly place: string | null
  running = 0
  /** More was due than was taken: from now on accounts are asked one by one, after the last that was. */
  isCrowded = false
  lastAccount = nilUuid
  readonly #waiting = new Turns<Row>()
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(job: Job, place: string | null) {
    this.name = laneName(job.lane, place)
    this.job = job
    this.check = Compile(job.payload)
    this.place = place
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** How many more rows it can take from the table; `most` is for lanes that are not shared. */
  room(most: number): number {
    return this.place === null ? most - this.#total : this.#free()
  }

  /** Whether a job that is made here may be begun here. */
  admits(account: string | null): boolean {
    if (this.place === null) return this.waiting < maxLocalBacklog
    return mayHold(this.#held.get(account ?? '') ?? 0, 1, this.#free())
  }

  /** Accounts that have their part of a shared lane, and get no more of it for now. */
  passedOver(): string[] {
    if (this.place === null) return []
    const free = this.#free()
    return [...this.#held].flatMap(([account, held]) => (mayHold(held, 1, free) ? [] : [account]))
  }

  add(row: Row): void {
    const account = row.account_id ?? ''
    this.#waiting.add(account, row)
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1)
    this.#total++
  }

  /** The next one to run, if there is a place for it. */
  take(): Row | undefined {
    if (this.running >= this.job.concurrency) return undefined
    const row = this.#waiting.take()
    if (row) this.running++
    return row
  }

  /** A row that was taken has been run. */
  end(row: Row): void {
    this.running--
    this.#forget(row)
  }

  /** Gives away what waits. */
  empty(): Row[] {
    const rows = this.#waiting.takeAll()
    for (const row of rows) this.#forget(row)
    return rows
  }

  #forget({ account_id }: Row): void {
    const account = account_id ?? ''
    const held = (this.#held.get(account) ?? 0) - 1
    if (held > 0) this.#held.set(account, held)
    else this.#held.delete(account)
    this.#total--
  }

  #free(): number {
    return this.job.concurrency * capacityFactor - this.#total
  }
}
