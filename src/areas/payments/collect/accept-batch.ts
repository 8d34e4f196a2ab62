// SPDX-License-Identifier: Apache-2.0
// Batches of payments: those requested while a transaction runs are accepted together in the next one. One payment must not
// make the others fail: if the shared transaction fails or waits 250 ms for a lock, it is rolled back and each is accepted
// alone.
import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { recordAll } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { Gatherer } from '../../../platform/concurrency/gather.ts'
import { isUnavailable, type Tx } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { methodFor } from '../methods/payment-methods.ts'
import type { PaymentRow } from '../records/store.ts'
import { accept, acceptMany } from './create.ts'
import type { PaymentRequest } from './draft.ts'

/** Payments accepted by one transaction. */
const maxBatch = 64
/** Wait for a lock that one of them needs, such as that of a shared counter, before the batch is given up. */
const lockTimeoutMs = 250
/** Batches at once: one for each cell. */
const cellsAtOnce = 64

/** Wrapped, so that the batch does not wait for a payment that is accepted alone. */
interface Settled {
  readonly payment: Promise<PaymentRow>
}

const gathererOf = onePerApp((app) => {
  const run = (all: readonly PaymentRequest<Caller>[]) => acceptAll(app, all)
  return new Gatherer<PaymentRequest<Caller>, Settled>({ most: maxBatch, atOnce: cellsAtOnce, run })
})

/**
 * Accepts a payment together with others; `conclude` is run in the transaction that stores it. What only the request can send
 * is accepted by itself: it may have more to look up and to store.
 */
export async function acceptInBatch(app: App, request: PaymentRequest<Caller>): Promise<PaymentRow> {
  if (!methodFor(request.input).isQueued) return acceptAlone(app, request)
  // Work done for it by the batch is still part of its own trace.
  const within = app.tracer ? AsyncLocalStorage.snapshot() : undefined
  const cell = app.db.cellOf(request.occasion.tenant.bucket).name
  return (await gathererOf(app).join(within ? { ...request, within } : request, cell)).payment
}

async function acceptAll(app: App, all: readonly PaymentRequest<Caller>[]): Promise<Settled[]> {
  try {
    const results = await app.db.acrossTx(
      async (tx) => {
        const accepted = await acceptMany(app, tx, all)
        const made = all.flatMap((request, i) => {
          const payment = accepted[i]
          return payment === undefined || payment instanceof AppError ? [] : [{ request, payment }]
        })
        await note(tx, made)
        for (const { request, payment } of made) await request.conclude?.(tx, payment)
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
    if (all.length > 1)
      app.log.warn(
        { error, payments: all.length },
        'batch of payments rolled back by an error or a lock wait of 250 ms: each is accepted alone; nothing to do unless this repeats often',
      )
    return all.map((request) => settled(acceptAlone(app, request)))
  }
}

function acceptAlone(app: App, request: PaymentRequest<Caller>): Promise<PaymentRow> {
  return app.db.tx(request.occasion.tenant, async (tx) => {
    const payment = await accept(app, tx, request)
    await note(tx, [{ request, payment }])
    await request.conclude?.(tx, payment)
    return payment
  })
}

/** Writes down who asked for them. */
async function note(tx: Tx, made: readonly { request: PaymentRequest<Caller>; payment: PaymentRow }[]): Promise<void> {
  const changes = made.map(({ request: { occasion }, payment: { id, status, amount, currency } }) => ({
    by: { ...occasion, id: newUuid(occasion.receivedMs) },
    action: 'payment.create',
    target: idOf('payment', id),
    after: { status, amount: formatMicros(amount), currency },
  }))
  await recordAll(tx, changes)
}

/** Marks a rejection as handled: its request hears of it, although it does not await it yet. */
function settled(payment: Promise<PaymentRow>): Settled {
  payment.catch(() => undefined)
  return { payment }
}
