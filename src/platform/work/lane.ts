// SPDX-License-Identifier: Apache-2.0
// Lane: jobs of one queue in this node's memory, running or queued, round robin over accounts. A lane `area.verb@place`
// is served by some nodes only and shared between accounts: no account can fill it.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { nilUuid } from '../../kernel/ids.ts'
import { mayHold, Turns } from '../../kernel/turns.ts'

/** Limit of born-leased jobs queued here; further rows are left to nodes with capacity. */
const maxLocalBacklog = 2_000
/** Jobs in memory per job that may run, in a shared lane. */
const capacityFactor = 2

/** Job row, as far as running needs it. */
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
}

/** Job declaration, as far as a lane needs it. */
interface Runnable {
  readonly lane: string
  readonly payload: TSchema
  readonly concurrency: number
}

/** How jobs of a lane are claimed in a cell. */
interface Claims {
  /** Whether more jobs were due than claimed: then they are claimed account by account, after the last one served. */
  isCrowded: boolean
  lastAccount: string
}

export function laneName(lane: string, place: string | null): string {
  return place === null ? lane : `${lane}@${place}`
}

export class Lane<Job extends Runnable> {
  readonly name: string
  readonly job: Job
  #check: Validator<TSchema> | null = null
  /** Part after the @ of its name; only such lanes are shared between accounts. */
  readonly place: string | null
  running = 0
  readonly #claims = new Map<string, Claims>()
  readonly #waiting = new Turns<Row>()
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(job: Job, place: string | null) {
    this.name = laneName(job.lane, place)
    this.job = job
    this.place = place
  }

  /** Compiled for its first job: compiling those of all lanes was a thirtieth of a start. */
  get check(): Validator<TSchema> {
    this.#check ??= Compile(this.job.payload)
    return this.#check
  }

  /** How its jobs in a cell are claimed. */
  claimsIn(cell: string): Claims {
    let claims = this.#claims.get(cell)
    if (!claims) {
      claims = { isCrowded: false, lastAccount: nilUuid }
      this.#claims.set(cell, claims)
    }
    return claims
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Rows it can still claim; `most` is for lanes that are not shared. */
  room(most: number): number {
    return this.place === null ? most - this.#total : this.#free()
  }

  /** Whether a job created here may start here. */
  admits(account: string | null): boolean {
    if (this.place === null) return this.waiting < maxLocalBacklog
    return mayHold(this.#held.get(account ?? '') ?? 0, 1, this.#free())
  }

  /** Accounts that have used up their share of the lane. */
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

  /** Next job to run, if there is a free slot. */
  take(): Row | undefined {
    if (this.running >= this.job.concurrency) return undefined
    const row = this.#waiting.take()
    if (row) this.running++
    return row
  }

  /** A taken row has been run. */
  end(row: Row): void {
    this.running--
    this.#forget(row)
  }

  /** Removes and return queued jobs. */
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
