// SPDX-License-Identifier: Apache-2.0
// Payouts of one batch that were paid are settled together: they share a hold, a wallet and the count of their batch, for
// which they would only wait in turn. What is said of them while a transaction runs goes into the next one.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { payoutEvents } from '../events.ts'
import { noteFate } from '../fraud/assess.ts'
import type { OutgoingVerdict } from '../providers/provider.ts'
import { holdOf, stepOf, toldOf } from './payout.ts'
import { countInto, occasionOf, settle } from './settle.ts'
import type { PayoutRow } from './store.ts'
import { captureShares, completeMany, lockMany } from './together-store.ts'

/** So many are settled by one transaction. */
const mostTogether = 128

type Paid = OutgoingVerdict & { kind: 'paid' }

interface Said {
  payout: PayoutRow
  verdict: Paid
  resolve(after: PayoutRow): void
  reject(error: unknown): void
}

/** Of each batch that is being settled: what was said meanwhile. */
const waitingOf = onePerApp(() => new Map<string, Said[]>())

/** Applies what the provider says of a payout; gives it as it is then. */
export function settleOne(app: App, tenant: Tenant, payout: PayoutRow, verdict: OutgoingVerdict): Promise<PayoutRow> {
  const { id, batch_id: batch, amount } = payout
  const isSimple = verdict.kind === 'paid' && (verdict.micros === null || verdict.micros === amount)
  if (batch === null || !isSimple) return settle(app, tenant, id, verdict)
  return new Promise((resolve, reject) => {
    const waiting = waitingOf(app)
    const said = { payout, verdict, resolve, reject }
    const others = waiting.get(batch)
    if (others) return void others.push(said)
    waiting.set(batch, [said])
    void settleWaiting(app, tenant, batch, waiting)
  })
}

async function settleWaiting(app: App, tenant: Tenant, batch: string, waiting: Map<string, Said[]>): Promise<void> {
  for (;;) {
    const all = waiting.get(batch) ?? []
    const some = all.splice(0, mostTogether)
    if (some.length === 0) return void waiting.delete(batch)
    await settleSome(app, tenant, batch, some)
  }
}

/** One that cannot be settled with the others must not keep them from it: then each goes alone. */
async function settleSome(app: App, tenant: Tenant, batch: string, some: readonly Said[]): Promise<void> {
  const after = await app.db
    .tx(tenant, (tx) => complete(app, tx, tenant, batch, some))
    .catch((error) => {
      if (some.length > 1) app.log.warn({ error, payouts: some.length }, 'payouts are settled one by one')
      return null
    })
  for (const { payout, verdict, resolve, reject } of some) {
    const completed = after?.get(payout.id)
    if (completed) resolve(completed)
    else await settle(app, tenant, payout.id, verdict).then(resolve, reject)
  }
}

/** Completes those that are under way; gives them by their ids. */
async function complete(
  app: App,
  tx: Tx,
  tenant: Tenant,
  batch: string,
  some: readonly Said[],
): Promise<ReadonlyMap<string, PayoutRow>> {
  const receipts = new Map(some.map(({ payout, verdict }) => [payout.id, verdict.receipt ?? '']))
  const ids = [...receipts.keys()]
  const locked = await tx.query(lockMany, { ...tenant, ids })
  const [first] = locked
  if (!first) return new Map()
  const occasion = occasionOf(app, first)
  const { nowMs, receivedMs } = occasion
  const times = { at: new Date(nowMs), realAt: new Date(receivedMs) }
  const rows = await tx.query(completeMany, { ...tenant, ids, receipts: [...receipts.values()], ...times })
  if (rows.length === 0) return new Map()
  await app.outbox.emitAll(
    tx,
    rows.map((row) => {
      const about = { ...occasion, requestId: row.request_id }
      const options = { callbackUrl: row.callback_url }
      return app.outbox.prepare(payoutEvents.completed, about, idOf('payout', row.id), toldOf(row), options)
    }),
  )
  const paid = rows.map(({ id }) => id)
  await noteFate(tx, occasion, paid, 'completed')
  const parts = rows.flatMap((row) => [
    { capture: stepOf(row, 'settle'), micros: row.amount, credit: `float_out:${row.provider}` },
    ...(row.fee > 0n ? [{ capture: stepOf(row, 'fee'), micros: row.fee, credit: 'revenue:payout_fees' }] : []),
  ])
  const { sourceId, step } = holdOf({ id: batch, batch_id: batch })
  // Late: from here on whoever else needs the wallet waits.
  const { verdict } = await one(
    tx.query(captureShares, {
      ...tenant,
      source: sourceId,
      step,
      captures: parts.map(({ capture }) => capture),
      amounts: parts.map(({ micros }) => micros.toString()),
      credits: parts.map(({ credit }) => credit),
      transfers: parts.map(() => newUuid(receivedMs)),
    }),
  )
  if (verdict !== 'captured') throw new Error(`the hold of payouts that were paid is ${verdict}`)
  await countInto(app, tx, occasion, batch, { completed: rows.length })
  return new Map(rows.map((row) => [row.id, row]))
}
