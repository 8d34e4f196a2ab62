// SPDX-License-Identifier: Apache-2.0
// Waiting for what happens elsewhere: a request that waits for a payment to be over, a network that waits for the next screen.
// What happens on this node wakes them at once, and what happens on another one by a wake; what was not heard is looked for
// together, however many wait. Every wait has an end, and so many wait on a node and no more.
import type { App } from './app.ts'
import type { Database } from './db.ts'
import { type Wakes, wakesOf } from './nodes/wakes.ts'
import { onePerApp } from './one-per-app.ts'
import type { Tenant } from './tenant.ts'

/** What may be waited for: of which tenants, in any order, and which of them. */
export interface Waited {
  readonly buckets: readonly number[]
  readonly accounts: readonly string[]
  readonly ids: readonly string[]
}

interface Kind {
  /** How wakes and the log call it. */
  readonly name: string
  /** So many wait on one node; beyond, a wait is over at once. */
  readonly most: number
  /** How often what was not heard is looked for. */
  readonly lookMs: number
  /** What is waited for may have happened just before: it is looked for once at the beginning. */
  readonly looksFirst?: boolean
  /** Other nodes are told what is waited for here, so that they wake this one. Without it they do so by themselves. */
  readonly isTold?: boolean
  /** Those among what is waited for that have happened. */
  happened(db: Database, waited: Waited): Promise<readonly { id: string }[]>
}

interface Wait {
  /** Fulfilled when it has happened, as far as this node knows, or the time is over; with 'stopped' when the node stops first. */
  readonly over: Promise<Over>
  stop(): void
}

type Over = 'news' | 'stopped'

interface Waiter {
  readonly whose: Whose
  /** Time that it is left when the node stops. */
  readonly graceMs: number
  stop(over: Over): void
}

/** Something of a tenant. */
type Whose = Pick<Tenant, 'bucket' | 'account'> & { readonly id: string }

/** A kind of wait, which an area declares. */
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
  /** What other nodes wait for -> until when. */
  readonly #elsewhere = new Map<string, number>()
  #count = 0
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  /** When the node was stopped, by the clock of the process. */
  #stoppedMs: number | null = null

  constructor(app: Surroundings, wakes: Wakes, kind: Kind) {
    this.#app = app
    this.#wakes = wakes
    this.#kind = kind
    wakes.on(kind.name, (text) => this.#heard(text))
  }

  /** How many wait. */
  get count(): number {
    return this.#count
  }

  /** `graceMs`: time that this wait is left when the node stops; none unless given. */
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

  /** It has happened: whoever waits is woken, here and where it is known that somebody does. */
  happened(id: string): void {
    this.wake(id)
    if (this.#elsewhere.delete(id)) this.#wakes.ring(this.#kind.name, `happened ${this.#app.nodeId} ${id}`)
  }

  /** Wakes those who wait here; gives whether anybody did. */
  wake(id: string): boolean {
    const waiters = [...(this.#waiters.get(id) ?? [])]
    for (const waiter of waiters) waiter.stop('news')
    return waiters.length > 0
  }

  /** Nobody is kept waiting by a node that stops, beyond the time that was left to them for that. */
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

  /** One look at a time. Who comes while one is under way is seen by the next. */
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
      log.warn({ error, waits: this.#kind.name }, 'what is waited for could not be looked at')
    }
  }
}
