// SPDX-License-Identifier: Apache-2.0
// Waiting for events of other requests or nodes: for a payment to finish, for the next USSD screen. Events on this node
// wake waiters at once, those of other nodes by a wake; missed ones are found by a shared poll. Every wait has a
// timeout, and their number per node is limited.
import type { App } from '../app.ts'
import type { Database } from '../db.ts'
import { onePerApp } from '../program/one-per-app.ts'
import type { Tenant } from '../tenant.ts'
import { type Wakes, wakesOf } from './wakes.ts'

/** Ids waited for, with their tenants. */
export interface Waited {
  readonly buckets: readonly number[]
  readonly accounts: readonly string[]
  readonly ids: readonly string[]
}

interface Kind {
  /** Name in wakes and logs. */
  readonly name: string
  /** Limit of waits per node; further ones end at once. */
  readonly most: number
  /** Poll interval for missed events. */
  readonly lookMs: number
  /** Polls once at the start, since the event may have happened just before. */
  readonly looksFirst?: boolean
  /** Tells other nodes what is waited for, so that they wake this one. Without it they always send wakes. */
  readonly isTold?: boolean
  /** Ids among the waited ones that have happened. */
  happened(db: Database, waited: Waited): Promise<readonly { id: string }[]>
}

interface Wait {
  /** Resolves when it happened, as far as this node knows, or on timeout; with 'stopped' when the node stops first. */
  readonly over: Promise<Over>
  stop(): void
}

type Over = 'news' | 'stopped'

interface Waiter {
  readonly whose: Whose
  /** Grace period when the node stops. */
  readonly graceMs: number
  stop(over: Over): void
}

/** Resource of a tenant. */
type Whose = Pick<Tenant, 'bucket' | 'account'> & { readonly id: string }

/** Kind of wait, declared by an area. */
export interface Waits {
  of(app: App): Waiting
}

export function waits(kind: Kind): Waits {
  return { of: onePerApp((app) => new Waiting(app, wakesOf(app), kind)) }
}

type Surroundings = Pick<App, 'db' | 'nodeId'> & { readonly log: Pick<App['log'], 'warn'> }

export class Waiting {
  readonly #app: Surroundings
  readonly #wakes: Wakes
  readonly #kind: Kind
  readonly #waiters = new Map<string, Set<Waiter>>()
  /** Waits of other nodes → until when. */
  readonly #elsewhere = new Map<string, number>()
  #count = 0
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  /** Time of the stop, by the process clock. */
  #stoppedMs: number | null = null

  constructor(app: Surroundings, wakes: Wakes, kind: Kind) {
    this.#app = app
    this.#wakes = wakes
    this.#kind = kind
    wakes.on(kind.name, (text) => this.#heard(text))
  }

  /** Number of waits. */
  get count(): number {
    return this.#count
  }

  /** Waits for an event. `graceMs`: grace period when the node stops; none by default. */
  until(whose: Whose, ms: number, graceMs = 0): Wait {
    const leftMs = this.#stoppedMs === null ? ms : this.#stoppedMs + graceMs - performance.now()
    if (leftMs <= 0) return { over: Promise.resolve('stopped'), stop: () => undefined }
    if (this.#count >= this.#kind.most) return { over: Promise.resolve('news'), stop: () => undefined }
    let stop = (_: Over): void => undefined
    const over = new Promise<Over>((resolve) => {
      const waiter: Waiter = { whose, graceMs, stop: (how) => stop(how) }
      const timer = setTimeout(() => stop(leftMs < ms ? 'stopped' : 'news'), Math.min(ms, leftMs))
      stop = (how) => {
        clearTimeout(timer)
        this.#leave(waiter)
        resolve(how)
      }
      this.#enter(waiter)
    })
    if (this.#kind.isTold) this.#wakes.ring(this.#kind.name, `wanted ${this.#app.nodeId} ${whose.id} ${ms}`)
    if (this.#kind.looksFirst) void this.#look()
    return { over, stop: () => stop('news') }
  }

  /** Wakes the waiters for an id, here and on other nodes known to wait. */
  happened(id: string): void {
    this.wake(id)
    if (this.#elsewhere.delete(id)) this.#wakes.ring(this.#kind.name, `happened ${this.#app.nodeId} ${id}`)
  }

  /** Wakes waiters here; returns whether there were any. */
  wake(id: string): boolean {
    const waiters = [...(this.#waiters.get(id) ?? [])]
    for (const waiter of waiters) waiter.stop('news')
    return waiters.length > 0
  }

  /** Ends all waits, after their grace periods. */
  stop(): void {
    this.#stoppedMs = performance.now()
    for (const waiter of [...this.#waiters.values()].flatMap((waiters) => [...waiters]))
      if (waiter.graceMs === 0) waiter.stop('stopped')
      else setTimeout(() => waiter.stop('stopped'), waiter.graceMs).unref()
  }

  #enter(waiter: Waiter): void {
    const { id } = waiter.whose
    this.#waiters.set(id, (this.#waiters.get(id) ?? new Set<Waiter>()).add(waiter))
    this.#count++
    this.#timer ??= setInterval(() => void this.#look(), this.#kind.lookMs).unref()
  }

  #leave(waiter: Waiter): void {
    const { id } = waiter.whose
    const waiters = this.#waiters.get(id)
    if (!waiters?.delete(waiter)) return
    if (waiters.size === 0) this.#waiters.delete(id)
    this.#count--
    if (this.#count > 0 || !this.#timer) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #heard(text: string): void {
    const [verb, node, id = '', ms] = text.split(' ')
    if (node === this.#app.nodeId) return
    if (verb === 'happened') this.wake(id)
    else this.#remember(id, performance.now() + Number(ms))
  }

  #remember(id: string, untilMs: number): void {
    const nowMs = performance.now()
    if (this.#elsewhere.size >= this.#kind.most)
      for (const [known, until] of this.#elsewhere) if (until < nowMs) this.#elsewhere.delete(known)
    const [oldest] = this.#elsewhere.size >= this.#kind.most ? this.#elsewhere.keys() : []
    if (oldest !== undefined) this.#elsewhere.delete(oldest)
    this.#elsewhere.set(id, untilMs)
  }

  /** Polls once at a time; waits added meanwhile are seen by the next. */
  #look(): Promise<void> {
    this.#looking ??= this.#find().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #find(): Promise<void> {
    const { db, log } = this.#app
    const waited = [...this.#waiters.values()].flatMap((waiters) => [...waiters].map(({ whose }) => whose))
    if (waited.length === 0) return
    const buckets = [...new Set(waited.map(({ bucket }) => bucket))]
    const accounts = [...new Set(waited.map(({ account }) => account))]
    try {
      const found = await this.#kind.happened(db, { buckets, accounts, ids: [...this.#waiters.keys()] })
      for (const { id } of found) this.wake(id)
    } catch (error) {
      log.warn(
        { error, waits: this.#kind.name },
        'poll for waiting requests failed: tried again; check the database if this repeats',
      )
    }
  }
}
