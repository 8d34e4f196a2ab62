// SPDX-License-Identifier: Apache-2.0
// Receipts and texts for the customers that are bound to this node as receivers: each account has a line, which takes what is
// due from the database and offers it. What is not acknowledged is offered again, here or at the next bind.
import type { App } from '../../../platform/app.ts'
import { isUnavailable } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { SmscSession } from '../../../protocols/smpp/session.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import { claimDeliveries, type Delivery, finishDelivery, releaseDelivery } from './deliveries.ts'
import { isWanted, receiptPdu, stateOf, textPdus } from './receipt.ts'
import { type Customer, messageIdOf } from './submit.ts'

const maxClaimed = 100
/** Pause between looks, for what other nodes stored; what this node stores is looked for at once. */
const pollMs = 1_000
/** A look rests this many times as long as it took, so that an account with much under way does not busy the database. */
const restFactor = 5
const leastRestMs = 20
/** Pause before something is offered again that the customer could not take. */
const laterSeconds = 10

/** Answers after which a delivery is not offered again: the customer's program does not want it. */
const final: ReadonlySet<number> = new Set([
  commandStatus.ESME_ROK,
  commandStatus.ESME_RX_P_APPN,
  commandStatus.ESME_RX_R_APPN,
])

export interface Bound extends Customer {
  readonly session: SmscSession
  /** Whether its credential is as it was when it bound. */
  isStillGood(): Promise<boolean>
  /** UUIDs of texts whose submit is not answered yet: their receipts come after the answer. */
  readonly submitting: ReadonlySet<string>
}

export const offers = onePerApp((app) => new Offers(app))

class Offers {
  readonly #app: App
  readonly #lines = new Map<string, Line>()

  constructor(app: App) {
    this.#app = app
    app.outbox.onCommitted(({ account, environment }) => this.#lines.get(`${environment} ${account}`)?.ring())
  }

  add(bound: Bound): void {
    const { account, environment } = bound.tenant
    const name = `${environment} ${account}`
    const known = this.#lines.get(name)
    if (known) return known.add(bound)
    const line = new Line(this.#app, bound.tenant)
    this.#lines.set(name, line)
    line.add(bound)
    void line.run().finally(() => this.#lines.delete(name))
  }

  remove(bound: Bound): void {
    this.#lines.get(`${bound.tenant.environment} ${bound.tenant.account}`)?.remove(bound)
  }
}

/** Sessions of one account. It runs until the last of them has ended. */
class Line {
  readonly #app: App
  readonly #tenant: Tenant
  readonly #sessions = new Set<Bound>()
  #references = 0
  #isRung = false
  #wake: (() => void) | null = null

  constructor(app: App, tenant: Tenant) {
    this.#app = app
    this.#tenant = tenant
  }

  add(bound: Bound): void {
    this.#sessions.add(bound)
    this.ring()
  }

  remove(bound: Bound): void {
    this.#sessions.delete(bound)
    this.ring()
  }

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  async run(): Promise<void> {
    while (this.#sessions.size > 0) {
      const startMs = performance.now()
      const isMore = await this.#look().catch((error: unknown) => {
        if (!isUnavailable(error))
          this.#app.log.error(
            { error },
            'receipts for SMPP customers not read: they are tried again; check the database',
          )
        return false
      })
      const restMs = Math.max(leastRestMs, restFactor * (performance.now() - startMs))
      if (!isMore) await this.#wait(restMs)
    }
  }

  /** Offers what is due; whether there may be more. */
  async #look(): Promise<boolean> {
    for (const bound of this.#sessions) if (!(await bound.isStillGood())) void bound.session.unbind()
    const receivers = [...this.#sessions].filter(({ session }) => session.receives)
    const free = receivers.reduce((sum, { session, credential }) => sum + credential.window - session.pending, 0)
    const limit = Math.min(maxClaimed, free)
    if (limit <= 0) return false
    const credentials = receivers.map(({ credential }) => credential.id)
    const except = [...this.#sessions].flatMap(({ submitting }) => [...submitting])
    const due = await claimDeliveries(this.#app.db, this.#tenant, { credentials, except, limit })
    for (const delivery of due) void this.#offer(delivery)
    return due.length === limit
  }

  async #offer(delivery: Delivery): Promise<void> {
    const { db, log } = this.#app
    try {
      const status = await this.#delivered(delivery)
      if (status !== null && final.has(status)) await finishDelivery(db, this.#tenant, delivery)
      else await releaseDelivery(db, this.#tenant, delivery, status === null ? 0 : laterSeconds)
    } catch (error) {
      // Held for a while by its row, then offered again.
      if (!isUnavailable(error)) log.error({ error }, 'delivery to an SMPP customer not settled: it is offered again')
    }
    this.ring()
  }

  /** Status of the answer, the first that is not 0 of several; null when there was none. */
  async #delivered(delivery: Delivery): Promise<number | null> {
    const isText = delivery.part === 0
    const state = delivery.outcome ?? stateOf(delivery)
    if (!isText && !isWanted(delivery, state)) return commandStatus.ESME_ROK
    const receiver = this.#receiverFor(delivery)
    if (!receiver) return null
    const { session } = receiver
    if (isText && delivery.body === null) return commandStatus.ESME_ROK
    const id = messageIdOf(delivery.id, delivery.part)
    this.#references = (this.#references + 1) % 256
    const pdus = isText
      ? textPdus(delivery, this.#references)
      : [receiptPdu(delivery, state, id, session.peer.interfaceVersion)]
    const statuses = await Promise.all(pdus.map((pdu) => session.deliver(pdu).catch(() => null)))
    return statuses.find((status) => status !== 0) ?? (statuses.includes(null) ? null : 0)
  }

  /** Receivers take turns: the one with the least before it is next. */
  #receiverFor({ credential_id }: Delivery): Bound | undefined {
    const fit = [...this.#sessions].filter(
      ({ session, credential }) => session.receives && (credential_id === null || credential.id === credential_id),
    )
    const [first] = fit.sort((a, b) => a.session.pending - b.session.pending)
    if (!first) return undefined
    // As the youngest, it is the last among those that are equal.
    this.#sessions.delete(first)
    this.#sessions.add(first)
    return first
  }

  async #wait(restMs: number): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, restMs))
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#wake = null
    this.#isRung = false
  }
}
