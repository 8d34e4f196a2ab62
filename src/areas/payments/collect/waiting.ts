// SPDX-License-Identifier: Apache-2.0
// Requests that wait for a payment to be over. This node's own commits wake them at once; for those of other nodes all
// that is waited for is looked at together, once a second, however many wait.
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { open, type PaymentRow } from '../records/store.ts'

const pollMs = 1_000
/** So many requests wait on one node; beyond, a request is answered at once. */
const maxWaiting = 1_000

const overAmong = statement.everywhere<
  { buckets: readonly number[]; accounts: readonly string[]; ids: readonly string[]; open: readonly string[] },
  { id: string }
>(
  'payments.over_among',
  `select id from payments.payments
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and environment in ('test', 'live')
      and id = any($ids::uuid[]) and status <> all($open::text[])`,
)

export const waitingOf = onePerApp((app) => new Waiting(app))

interface Waiter {
  tenant: Tenant
  wake(): void
}

class Waiting {
  readonly #app: App
  /** Payment -> who waits for it. */
  readonly #waiters = new Map<string, Set<Waiter>>()
  #count = 0
  #isStopped = false
  #timer: NodeJS.Timeout | null = null

  constructor(app: App) {
    this.#app = app
  }

  /** How many requests wait. */
  get count(): number {
    return this.#count
  }

  /** Fulfilled when the payment is over, as far as this node knows, or the time is. */
  until(tenant: Tenant, payment: string, ms: number): Promise<void> {
    if (this.#isStopped || this.#count >= maxWaiting) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter: Waiter = { tenant, wake: () => this.#leave(payment, waiter, timer, resolve) }
      const timer = setTimeout(waiter.wake, ms)
      this.#waiters.set(payment, (this.#waiters.get(payment) ?? new Set<Waiter>()).add(waiter))
      this.#count++
      this.#timer ??= setInterval(() => void this.#look(), pollMs).unref()
    })
  }

  /** A payment that this node has seen to its end. */
  over({ id, status }: Pick<PaymentRow, 'id' | 'status'>): void {
    if (!open.includes(status)) this.#wake(id)
  }

  /** Answers all waiting requests at once: the node stops. */
  stop(): void {
    this.#isStopped = true
    for (const id of [...this.#waiters.keys()]) this.#wake(id)
  }

  #wake(id: string): void {
    for (const waiter of [...(this.#waiters.get(id) ?? [])]) waiter.wake()
  }

  #leave(payment: string, waiter: Waiter, timer: NodeJS.Timeout, resolve: () => void): void {
    const waiters = this.#waiters.get(payment)
    if (!waiters?.delete(waiter)) return
    clearTimeout(timer)
    if (waiters.size === 0) this.#waiters.delete(payment)
    this.#count--
    if (this.#count === 0 && this.#timer) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    resolve()
  }

  async #look(): Promise<void> {
    const waited = [...this.#waiters.values()].flatMap((waiters) => [...waiters].map(({ tenant }) => tenant))
    const buckets = [...new Set(waited.map(({ bucket }) => bucket))]
    const accounts = [...new Set(waited.map(({ account }) => account))]
    const ids = [...this.#waiters.keys()]
    try {
      const found = await this.#app.db.query(overAmong, { buckets, accounts, ids, open })
      for (const { id } of found) this.#wake(id)
    } catch (error) {
      this.#app.log.warn(
        { error },
        'payments that requests wait for not read: the requests answer at their time limit; check the database if this repeats',
      )
    }
  }
}
