// SPDX-License-Identifier: Apache-2.0
// Settlement of paid payouts of one batch together: they share a hold, a wallet and the counts of their batch, for
// which they would only wait in turn. Verdicts that come while a transaction runs go into the next one.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { Gatherer } from '../../../platform/concurrency/gather.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { noteFate } from '../fraud/assess.ts'
import { isAsAsked, type OutgoingVerdict } from '../providers/provider.ts'
import { payoutEvents } from '../records/payout-events.ts'
import { holdOf, stepOf, toldOf } from './payout.ts'
import { countInto, occasionOf, settle } from './settle.ts'
import { captureShares, completeMany, lockMany } from './settle-batch-store.ts'
import type { PayoutRow } from './store.ts'

/** Payouts per transaction. */
const maxBatch = 128
/** Transactions at once. */
const batchesAtOnce = 16

type Paid = OutgoingVerdict & { kind: 'paid' }

interface Said {
  readonly tenant: Tenant
  readonly batch: string
  readonly payout: PayoutRow
  readonly verdict: Paid
}

/** Result of one payout; the others do not await it, so one that cannot be settled fails alone. */
interface Settled {
  readonly after: Promise<PayoutRow>
}

/** One transaction at a time per batch; verdicts that come meanwhile go into the next one. */
const gathererOf = onePerApp((app) => {
  const run = (some: readonly Said[]) => settleSome(app, some)
  return new Gatherer<Said, Settled>({ most: maxBatch, atOnce: batchesAtOnce, run })
})

/** Applies what the provider says of a payout; gives it as it is then. */
export async function settleOne(
  app: App,
  tenant: Tenant,
  payout: PayoutRow,
  verdict: OutgoingVerdict,
): Promise<PayoutRow> {
  const { id, batch_id: batch } = payout
  const isSimple = verdict.kind === 'paid' && isAsAsked(payout, verdict)
  if (batch === null || !isSimple) return settle(app, tenant, id, verdict)
  return (await gathererOf(app).join({ tenant, batch, payout, verdict }, batch)).after
}

/** Settles several verdicts in one transaction; when it fails, each is settled alone. */
async function settleSome(app: App, some: readonly Said[]): Promise<Settled[]> {
  const after = await app.db
    .tx(some[0]?.tenant ?? { bucket: -1 }, (tx) => complete(app, tx, some))
    .catch((error) => {
      if (some.length > 1)
        app.log.warn(
          { error, payouts: some.length },
          'batch of payouts not settled at once because of an error: each is settled alone; nothing to do unless this repeats often',
        )
      return null
    })
  const settled: Settled[] = []
  for (const { tenant, payout, verdict } of some) {
    const completed = after?.get(payout.id)
    const result = completed ? Promise.resolve(completed) : settle(app, tenant, payout.id, verdict)
    // The caller gets the rejection; the next batch does not begin before this one is over.
    await result.catch(() => undefined)
    settled.push({ after: result })
  }
  return settled
}

/** Completes those that are under way; gives them by their ids. */
async function complete(app: App, tx: Tx, some: readonly Said[]): Promise<ReadonlyMap<string, PayoutRow>> {
  const [said] = some
  if (!said) return new Map()
  const { tenant, batch } = said
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
  // Late in the transaction: from here on the wallet is locked.
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
