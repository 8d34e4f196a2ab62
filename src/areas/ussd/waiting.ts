// SPDX-License-Identifier: Apache-2.0
// Whoever waits for the next screen of a session: a network, while its application thinks. This node's own commits wake them
// at once, those of other nodes by a signal; what was not heard is looked for together, several times a second.
import type { App } from '../../platform/app.ts'
import { statement } from '../../platform/db.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import type { Session } from './session.ts'

const lookMs = 250
const maxWaiting = 50_000
/** Time that a node which stops leaves applications: as long as one may take to answer. */
const graceMs = 5_000

/** Sessions among these in which it is no longer the turn of the application. */
const movedAmong = statement.everywhere<
  { buckets: readonly number[]; accounts: readonly string[]; ids: readonly string[] },
  { id: string }
>(
  'ussd.moved_among',
  `select id from ussd.sessions
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and environment in ('test', 'live')
      and id = any($ids::uuid[]) and awaiting <> 'app'`,
)

type Waited = Pick<Session, 'id' | 'bucket' | 'account_id' | 'gateway'>

interface Waiter {
  readonly session: Waited
  wake(over: Over): void
}

interface Wait {
  /** Fulfilled when somebody went on with the session, as far as this node knows, or the time is over; or when this node stops. */
  readonly over: Promise<Over>
  stop(): void
}

type Over = 'news' | 'stopped'

export const waitingOf = onePerApp((app) => new Waiting(app))

class Waiting {
  readonly #app: App
  readonly #waiters = new Map<string, Set<Waiter>>()
  #count = 0
  #timer: NodeJS.Timeout | null = null
  /** When nobody is kept waiting any more, by the clock of the process. */
  #lastMs = Number.POSITIVE_INFINITY

  constructor(app: App) {
    this.#app = app
  }

  until(session: Waited, ms: number): Wait {
    if (performance.now() >= this.#lastMs) return { over: Promise.resolve('stopped'), stop: () => undefined }
    if (this.#count >= maxWaiting) return { over: Promise.resolve('news'), stop: () => undefined }
    let stop = (_: Over): void => undefined
    const over = new Promise<Over>((resolve) => {
      const waiter: Waiter = { session, wake: (how) => stop(how) }
      const timer = setTimeout(() => stop('news'), ms)
      stop = (how) => {
        clearTimeout(timer)
        this.#leave(waiter)
        resolve(how)
      }
      this.#waiters.set(session.id, (this.#waiters.get(session.id) ?? new Set<Waiter>()).add(waiter))
      this.#count++
      this.#timer ??= setInterval(() => void this.#look(), lookMs).unref()
    })
    return { over, stop: () => stop('news') }
  }

  /** Gives whether anybody waited here. */
  wake(id: string, over: Over = 'news'): boolean {
    const waiters = [...(this.#waiters.get(id) ?? [])]
    for (const waiter of waiters) waiter.wake(over)
    return waiters.length > 0
  }

  /** Nobody is kept waiting for long by a node that stops; at once those at its own network, which ends with it. */
  stop(ownGateway: string): void {
    this.#lastMs = performance.now() + graceMs
    for (const [id, waiters] of [...this.#waiters])
      if ([...waiters].some(({ session }) => session.gateway === ownGateway)) this.wake(id)
    setTimeout(() => {
      for (const id of [...this.#waiters.keys()]) this.wake(id, 'stopped')
    }, graceMs).unref()
  }

  #leave(waiter: Waiter): void {
    const { id } = waiter.session
    const waiters = this.#waiters.get(id)
    if (!waiters?.delete(waiter)) return
    if (waiters.size === 0) this.#waiters.delete(id)
    this.#count--
    if (this.#count > 0 || !this.#timer) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  async #look(): Promise<void> {
    const waited = [...this.#waiters.values()].flatMap((waiters) => [...waiters].map(({ session }) => session))
    const buckets = [...new Set(waited.map(({ bucket }) => bucket))]
    const accounts = [...new Set(waited.map(({ account_id }) => account_id))]
    try {
      const moved = await this.#app.db.query(movedAmong, { buckets, accounts, ids: [...this.#waiters.keys()] })
      for (const { id } of moved) this.wake(id)
    } catch (error) {
      this.#app.log.warn({ error }, 'sessions that are waited for could not be looked at')
    }
  }
}
