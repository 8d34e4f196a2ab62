// SPDX-License-Identifier: Apache-2.0
// Whoever waits for the next screen of a session: a network, while its application thinks. This node's own commits wake them
// at once, those of other nodes by a signal; what was not heard is looked for together, several times a second.
import type { App } from '../../platform/app.ts'
import { statement } from '../../platform/db.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import type { Session } from './session.ts'

const lookMs = 250
const maxWaiting = 50_000

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

type Waited = Pick<Session, 'id' | 'bucket' | 'account_id'>

interface Waiter {
  readonly session: Waited
  wake(): void
}

interface Wait {
  /** Fulfilled when somebody went on with the session, as far as this node knows, or the time is over. */
  readonly over: Promise<void>
  stop(): void
}

export const waitingOf = onePerApp((app) => new Waiting(app))

class Waiting {
  readonly #app: App
  readonly #waiters = new Map<string, Set<Waiter>>()
  #count = 0
  #timer: NodeJS.Timeout | null = null
  #isStopped = false

  constructor(app: App) {
    this.#app = app
  }

  until(session: Waited, ms: number): Wait {
    if (this.#isStopped || this.#count >= maxWaiting) return { over: Promise.resolve(), stop: () => undefined }
    let stop = (): void => undefined
    const over = new Promise<void>((resolve) => {
      const waiter: Waiter = { session, wake: () => stop() }
      const timer = setTimeout(() => stop(), ms)
      stop = () => {
        clearTimeout(timer)
        this.#leave(waiter)
        resolve()
      }
      this.#waiters.set(session.id, (this.#waiters.get(session.id) ?? new Set<Waiter>()).add(waiter))
      this.#count++
      this.#timer ??= setInterval(() => void this.#look(), lookMs).unref()
    })
    return { over, stop: () => stop() }
  }

  /** Gives whether anybody waited here. */
  wake(id: string): boolean {
    const waiters = [...(this.#waiters.get(id) ?? [])]
    for (const waiter of waiters) waiter.wake()
    return waiters.length > 0
  }

  /** Nobody is kept waiting by a node that stops. */
  stop(): void {
    this.#isStopped = true
    for (const id of [...this.#waiters.keys()]) this.wake(id)
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
      this.#app.log.warn(
        { error },
        'USSD sessions that requests wait for not read: the requests answer at their time limit; check the database if this repeats',
      )
    }
  }
}
