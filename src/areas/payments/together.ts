// SPDX-License-Identifier: Apache-2.0
// Payments that are asked for at the same moment are accepted in one transaction, whoever asks for them: those that come
// while it runs go into the next one. What goes wrong for one must not do so for the others, so that a transaction which
// fails, or has to wait for somebody, is given up, and each is accepted by itself.
import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { formatMicros } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import { recordAll } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { isUnavailable, type Tx } from '../../platform/db.ts'
import { Gatherer } from '../../platform/gather.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import { accept, acceptMany, type Wish } from './create.ts'
import { methodFor } from './payment-methods.ts'
import type { PaymentRow } from './store.ts'

/** So many are accepted by one transaction. */
const mostTogether = 64
/** How long all of them wait for what one of them needs and somebody else has, such as a count that all share. */
const lockTimeoutMs = 250

/** A wish, and what is stored with it in the same transaction, such as the answer to its request. */
interface Asking extends Wish {
  readonly occasion: Caller
  conclude(tx: Tx, payment: PaymentRow): Promise<void>
}

/** Not awaited by the others: what has to be waited for holds nobody up. */
interface Settled {
  readonly payment: Promise<PaymentRow>
}

const gathererOf = onePerApp((app) => {
  const run = (all: readonly Asking[]) => acceptAll(app, all)
  return new Gatherer<Asking, Settled>({ most: mostTogether, atOnce: 1, run })
})

/**
 * Accepts a payment together with others; `conclude` is run in the transaction that stores it. What only the request can send
 * is accepted by itself: it may have more to look up and to store.
 */
export async function acceptTogether(app: App, asking: Asking): Promise<PaymentRow> {
  if (!methodFor(asking.input).isQueued) return acceptAlone(app, asking)
  // What is done for it on behalf of all is still part of its own trace.
  const within = app.tracer ? AsyncLocalStorage.snapshot() : undefined
  return (await gathererOf(app).join(within ? { ...asking, within } : asking)).payment
}

async function acceptAll(app: App, all: readonly Asking[]): Promise<Settled[]> {
  try {
    const results = await app.db.acrossTx(
      async (tx) => {
        const accepted = await acceptMany(app, tx, all)
        const made = all.flatMap((asking, i) => {
          const payment = accepted[i]
          return payment === undefined || payment instanceof AppError ? [] : [{ asking, payment }]
        })
        await note(tx, made)
        for (const { asking, payment } of made) await asking.conclude(tx, payment)
        return accepted
      },
      { lockTimeoutMs },
    )
    return results.map((result) =>
      settled(result instanceof AppError ? Promise.reject(result) : Promise.resolve(result)),
    )
  } catch (error) {
    // Whether it was stored is not known: to do it once more could be to do it twice.
    if (isUnavailable(error)) throw error
    if (all.length > 1) app.log.warn({ error, payments: all.length }, 'payments are accepted one by one')
    return all.map((asking) => settled(acceptAlone(app, asking)))
  }
}

function acceptAlone(app: App, asking: Asking): Promise<PaymentRow> {
  return app.db.tx(asking.occasion.tenant, async (tx) => {
    const payment = await accept(app, tx, asking)
    await note(tx, [{ asking, payment }])
    await asking.conclude(tx, payment)
    return payment
  })
}

/** Writes down who asked for them. */
async function note(tx: Tx, made: readonly { asking: Asking; payment: PaymentRow }[]): Promise<void> {
  const changes = made.map(({ asking: { occasion }, payment: { id, status, amount, currency } }) => ({
    by: { ...occasion, id: newUuid(occasion.receivedMs) },
    action: 'payment.create',
    target: idOf('payment', id),
    after: { status, amount: formatMicros(amount), currency },
  }))
  await recordAll(tx, changes)
}

/** Whoever asked hears of a refusal; that nobody has begun to wait for it yet is no mistake. */
function settled(payment: Promise<PaymentRow>): Settled {
  payment.catch(() => undefined)
  return { payment }
}
