// SPDX-License-Identifier: Apache-2.0
// Effect of a verdict on a payout: its state, the hold, the ledger and its event, in one transaction. A second verdict
// changes nothing, so verdicts may come twice, late and in any order. Time alone fails nothing.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { post, postedLegs, releaseSome, reverse } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { noteFate } from '../fraud/assess.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { failureMessages, isAsAsked, type OutgoingVerdict } from '../providers/provider.ts'
import { payoutEvents } from '../records/payout-events.ts'
import { type BatchRow, cancelOfBatch, countInBatch } from './batch-store.ts'
import { batchOf, holdOf, noSuchPayout, stepOf, toldOf } from './payout.ts'
import {
  captureShare,
  clearOverdue,
  lockPayout,
  markDoubtful,
  movePayout,
  moveState,
  noteMissing,
  type PayoutRow,
  type PayoutStatus,
} from './store.ts'

/** A provider that says twice, so far apart, that it has never heard of a payout has not got it. */
export const missedMs = 60_000
const otherMoney =
  'provider paid other money than it was asked to: compare with the provider and settle the payout by hand'
/** Payouts per withdrawing statement, which must not take too long. */
const maxAtOnce = 1_000

/** Applies what the provider says of a payout; gives it as it is then. */
export function settle(app: App, tenant: Tenant, id: string, verdict: OutgoingVerdict): Promise<PayoutRow> {
  return app.db.tx(tenant, (tx) => settleIn(app, tx, tenant, id, verdict))
}

async function settleIn(app: App, tx: Tx, tenant: Tenant, id: string, verdict: OutgoingVerdict): Promise<PayoutRow> {
  const payout = await one(tx.query(lockPayout, { ...tenant, id }))
  const at = new Date(app.clock.nowMs())
  const stateIs = async (to: 'accepted' | 'unknown', from: readonly PayoutRow['state'][]): Promise<PayoutRow> =>
    (await maybe(tx.query(moveState, { ...tenant, id, from, to, tries: 0, at }))) ?? payout
  switch (verdict.kind) {
    case 'accepted':
    case 'pending':
      return stateIs('accepted', ['sending', 'unknown'])
    case 'unknown':
    case 'asked':
      return stateIs('unknown', ['sending'])
    case 'missing': {
      await stateIs('unknown', ['sending'])
      const waitMs = missedMs * gatewayOf(app).timeScale(tenant.environment)
      await tx.query(noteMissing, { ...tenant, id, before: new Date(at.getTime() - waitMs), at })
      return payout
    }
    case 'unavailable':
      // Only its sender can know that it was not taken.
      return payout.state === 'sending' ? failed(app, tx, payout, 'PROVIDER_UNAVAILABLE', true) : payout
    case 'refused':
      return refused(app, tx, payout, verdict.reason)
    case 'reversed':
      return payout.status === 'completed' ? reversed(app, tx, payout) : failed(app, tx, payout, 'REVERSED_BY_PROVIDER')
    case 'unreadable':
    case 'paid':
      // After other money was told, a bare success confirms nothing.
      if (verdict.kind === 'paid' && payout.told_other && verdict.micros === null) return payout
      if (verdict.kind === 'paid' && isAsAsked(payout, verdict)) return paid(app, tx, payout, verdict.receipt)
      // A provider that paid something has it: it is not sent again, whatever is said of it later.
      return doubtful(app, tx, await stateIs('accepted', ['sending', 'unknown']), otherMoney, true)
  }
}

/**
 * Applies what an operator found out. A payout that failed or was taken back, and was paid after all, is taken from the
 * wallet, if it covers it; a completed one that was never paid is given back. A finding that confirms the books takes it off the list.
 */
export async function decide(
  app: App,
  tx: Tx,
  tenant: Tenant,
  id: string,
  verdict: Extract<OutgoingVerdict, { kind: 'paid' | 'refused' }>,
): Promise<PayoutRow> {
  const payout = await one(tx.query(lockPayout, { ...tenant, id }))
  if (payout.status === 'processing') {
    await tx.query(clearOverdue, { ...tenant, id })
    return settleIn(app, tx, tenant, id, verdict)
  }
  const isGivenBack = payout.status === 'failed' || payout.status === 'reversed'
  if (isGivenBack && verdict.kind === 'paid') return paidAfterAll(app, tx, payout, verdict.receipt)
  if (payout.status === 'completed' && verdict.kind === 'refused') return reversed(app, tx, payout)
  return one(tx.query(clearOverdue, { ...tenant, id }))
}

/** Withdraws a payout that waits for its time or for a person. */
export async function cancel(app: App, tx: Tx, tenant: Tenant, id: string): Promise<PayoutRow> {
  const payout = await maybe(tx.query(lockPayout, { ...tenant, id }))
  if (!payout) throw noSuchPayout()
  return withdrawn(app, tx, payout)
}

/** Rejects a payout that waits for review. */
export async function reject(app: App, tx: Tx, tenant: Tenant, id: string): Promise<PayoutRow> {
  const payout = await maybe(tx.query(lockPayout, { ...tenant, id }))
  if (!payout) throw noSuchPayout()
  if (!payout.in_review) throw notInReview(payout)
  return withdrawn(app, tx, payout)
}

export function notInReview({ status }: PayoutRow): AppError {
  return new AppError('INVALID_STATE', 'the payout does not wait for a decision', { extra: { status } })
}

/** Blocks a payout that was not sent. Money is held for it only when it is one of a batch. */
export async function block(
  app: App,
  tx: Tx,
  payout: PayoutRow,
  reason: 'BLOCKED_BY_RULE' | 'BLACKLISTED',
): Promise<PayoutRow> {
  const after = await moved(app, tx, payout, { from: ['pending', 'processing'], to: 'failed', reason })
  if (after === payout || after.batch_id === null) return after
  await giveBack(tx, occasionOf(app, after).tenant, after, after.amount + after.fee)
  await countOver(app, tx, after, { failed: 1 })
  return after
}

async function withdrawn(app: App, tx: Tx, payout: PayoutRow): Promise<PayoutRow> {
  const after = await moved(app, tx, payout, { from: ['pending'], to: 'cancelled' })
  if (after === payout)
    throw new AppError('INVALID_STATE', `the payout is ${payout.status}; only one that is pending can be withdrawn`, {
      extra: { status: payout.status },
    })
  await giveBack(tx, occasionOf(app, after).tenant, after, after.amount + after.fee)
  await countOver(app, tx, after, { cancelled: 1 })
  return after
}

/** Withdraws all of a batch that are pending; gives how many. */
export async function cancelMany(app: App, tx: Tx, occasion: Occasion, batch: string): Promise<number> {
  const { tenant, nowMs, receivedMs } = occasion
  const times = { at: new Date(nowMs), realAt: new Date(receivedMs) }
  let [cancelled, held, isMore] = [0, 0n, true]
  while (isMore) {
    const some = await one(tx.query(cancelOfBatch, { ...tenant, id: batch, ...times, limit: maxAtOnce }))
    cancelled += some.ids.length
    held += some.held
    isMore = some.ids.length === maxAtOnce
    await noteFate(tx, occasion, some.ids, 'cancelled')
  }
  if (cancelled === 0) return 0
  await giveBack(tx, tenant, { id: batch, batch_id: batch }, held)
  await countInto(app, tx, occasion, batch, { cancelled })
  return cancelled
}

/** Starts a payout whose time has come. */
export async function begin(app: App, tenant: Tenant, id: string): Promise<PayoutRow> {
  return app.db.tx(tenant, async (tx) => {
    const payout = await one(tx.query(lockPayout, { ...tenant, id }))
    return payout.in_review ? payout : moved(app, tx, payout, { from: ['pending'], to: 'processing' })
  })
}

async function paid(app: App, tx: Tx, payout: PayoutRow, receipt: string | null): Promise<PayoutRow> {
  const after = await moved(app, tx, payout, { from: ['processing'], to: 'completed', providerReference: receipt })
  if (after === payout)
    return payout.status === 'completed'
      ? payout
      : doubtful(
          app,
          tx,
          payout,
          'provider paid a payout that it had reported as failed or taken back: compare with the provider and settle it by hand',
        )
  const { tenant, receivedMs } = occasionOf(app, after)
  const { provider, amount, fee } = after
  const { sourceId, step } = holdOf(after)
  // In one statement, and late in the transaction: from here on the wallet is locked.
  const { settled, charged } = await one(
    tx.query(captureShare, {
      ...tenant,
      source: sourceId,
      step,
      settle: stepOf(after, 'settle'),
      amount,
      float: `float_out:${provider}`,
      fee: stepOf(after, 'fee'),
      feeAmount: fee,
      settleId: newUuid(receivedMs),
      feeId: newUuid(receivedMs),
    }),
  )
  if (settled !== 'captured' || charged !== 'captured')
    throw new Error(`the hold of a payout that was paid is ${settled}, ${charged}`)
  await countOver(app, tx, after, { completed: 1 })
  return after
}

/** Charges a payout that was paid after it had failed: its hold is gone, so the wallet pays now or nothing changes. */
async function paidAfterAll(app: App, tx: Tx, payout: PayoutRow, receipt: string | null): Promise<PayoutRow> {
  const isLate = payout.status === 'reversed'
  const move = { from: ['failed', 'reversed'], to: 'completed', providerReference: receipt } as const
  const after = await moved(app, tx, payout, move)
  const { tenant, receivedMs } = occasionOf(app, after)
  const { sourceId } = holdOf(after)
  const currency = currencyOf(after.currency)
  const parts = [
    { step: stepOf(after, 'settle', isLate), credit: `float_out:${after.provider}`, micros: after.amount },
    { step: stepOf(after, 'fee', isLate), credit: 'revenue:payout_fees', micros: after.fee },
  ]
  for (const { step, credit, micros } of parts.filter((part) => part.micros > 0n)) {
    const legs = [{ debit: 'wallet', credit, micros, currency }]
    const posted = await post(tx, tenant, { sourceId, step }, legs, receivedMs)
    if (posted === 'replayed')
      throw new AppError(
        'INVALID_STATE',
        'the payout was paid after all once before, and taken back since: correct the wallet by hand',
        {
          extra: { status: payout.status },
        },
      )
    if (posted !== 'posted')
      throw new AppError('INSUFFICIENT_WALLET_BALANCE', 'the account’s wallet does not have what was paid')
  }
  await countOver(app, tx, after, { completed: 1, failed: -1 })
  return after
}

/**
 * Fails a payout that the provider refused. The reason of an earlier callback counts: the answer to a poll has none. One that it
 * told to have paid in other money stays on the operator's list, and its money held.
 */
async function refused(app: App, tx: Tx, payout: PayoutRow, reason: string): Promise<PayoutRow> {
  if (payout.told_other) return payout
  if (payout.status === 'completed')
    return doubtful(
      app,
      tx,
      payout,
      'provider reports a completed payout as failed: compare with the provider and settle by hand',
    )
  return failed(app, tx, payout, reason === 'PROVIDER_ERROR' ? (payout.refusal ?? reason) : reason)
}

async function failed(app: App, tx: Tx, payout: PayoutRow, reason: string, isUnasked = false): Promise<PayoutRow> {
  const after = await moved(app, tx, payout, { from: ['processing'], to: 'failed', reason, isUnasked })
  if (after === payout) return payout
  await giveBack(tx, occasionOf(app, after).tenant, after, after.amount + after.fee)
  await countOver(app, tx, after, { failed: 1 })
  return after
}

async function reversed(app: App, tx: Tx, payout: PayoutRow): Promise<PayoutRow> {
  const after = await moved(app, tx, payout, { from: ['completed'], to: 'reversed', reason: 'REVERSED_BY_PROVIDER' })
  if (after === payout) return payout
  const { tenant, receivedMs } = occasionOf(app, after)
  const { sourceId } = holdOf(after)
  const isLate = await wasTakenBack(tx, after)
  await reverse(tx, tenant, { sourceId, step: stepOf(after, 'settle', isLate) }, receivedMs)
  if (after.fee > 0n) await reverse(tx, tenant, { sourceId, step: stepOf(after, 'fee', isLate) }, receivedMs)
  await countOver(app, tx, after, { completed: -1, failed: 1 })
  return after
}

/** Whether a payout was taken back before, and paid again since. */
export async function wasTakenBack(db: Queryable, payout: PayoutRow): Promise<boolean> {
  const late = { sourceId: holdOf(payout).sourceId, step: stepOf(payout, 'settle', true) }
  return (await postedLegs(db, tenantOf(payout), late)).length > 0
}

/** Marks it as doubtful: an operator has to settle it, and no money moves until then. */
async function doubtful(app: App, tx: Tx, payout: PayoutRow, why: string, toldOther = false): Promise<PayoutRow> {
  const { tenant, nowMs } = occasionOf(app, payout)
  const marked = await tx.query(markDoubtful, { ...tenant, id: payout.id, toldOther, at: new Date(nowMs) })
  const isNews = marked.length > 0
  if (isNews) app.log.error({ payout: idOf('payout', payout.id), provider: payout.provider }, why)
  return payout
}

async function giveBack(tx: Tx, tenant: Tenant, held: Parameters<typeof holdOf>[0], micros: bigint): Promise<void> {
  const verdict = await releaseSome(tx, tenant, holdOf(held), micros)
  if (verdict !== 'released') throw new Error(`the hold of a payout that was not paid is ${verdict}`)
}

interface Counts {
  completed?: number
  failed?: number
  cancelled?: number
}

async function countOver(app: App, tx: Tx, payout: PayoutRow, counts: Counts): Promise<void> {
  if (payout.batch_id !== null) await countInto(app, tx, occasionOf(app, payout), payout.batch_id, counts)
}

/** Counts an ended payout in its batch; the last one ends the batch and emits its event. */
export async function countInto(
  app: App,
  tx: Tx,
  occasion: Occasion,
  id: string,
  { completed = 0, failed = 0, cancelled = 0 }: Counts,
): Promise<void> {
  const counts = { completed, failed, cancelled, at: new Date(occasion.nowMs) }
  const batch = await one(tx.query(countInBatch, { ...occasion.tenant, id, ...counts }))
  if (batch.open_count === 0 && completed + failed + cancelled !== 0) await tellBatchOver(app, tx, occasion, batch)
}

export async function tellBatchOver(app: App, tx: Tx, occasion: Occasion, batch: BatchRow): Promise<void> {
  const { status, sequence } = batch
  if (status === 'processing') throw new Error('a batch of which nothing is open is not over')
  const record = batchOf(batch)
  await app.outbox.emit(
    tx,
    payoutEvents.batchCompleted,
    { ...occasion, requestId: batch.request_id },
    record.batch_id,
    {
      livemode: occasion.tenant.environment === 'live',
      sequence,
      batch_id: record.batch_id,
      status,
      counts: {
        total: batch.total_count,
        accepted: batch.accepted_count,
        completed: batch.completed_count,
        failed: batch.failed_count,
        cancelled: batch.cancelled_count,
      },
      batch: record,
    },
    { callbackUrl: batch.callback_url },
  )
}

interface Move {
  from: readonly PayoutStatus[]
  to: PayoutStatus
  reason?: string
  providerReference?: string | null
  isUnasked?: boolean
}

/** Events by status; other statuses have none. */
const eventOf = {
  completed: payoutEvents.completed,
  failed: payoutEvents.failed,
  reversed: payoutEvents.reversed,
  pending: null,
  processing: null,
  cancelled: null,
} as const

/** Payout after a transition; the same object when the transition is not allowed. */
async function moved(
  app: App,
  tx: Tx,
  payout: PayoutRow,
  { from, to, reason, providerReference = null, isUnasked = false }: Move,
): Promise<PayoutRow> {
  const occasion = occasionOf(app, payout)
  const event = eventOf[to]
  const after = await maybe(
    tx.query(movePayout, {
      ...occasion.tenant,
      id: payout.id,
      from,
      to,
      reason: reason === undefined || reason in failureMessages ? (reason ?? null) : 'PROVIDER_ERROR',
      providerReference,
      isUnasked,
      told: event ? 1 : 0,
      at: new Date(occasion.nowMs),
      realAt: new Date(occasion.receivedMs),
    }),
  )
  if (!after) return payout
  const callbackUrl = after.callback_url
  if (event) await app.outbox.emit(tx, event, occasion, idOf('payout', after.id), toldOf(after), { callbackUrl })
  // Blocked payouts do not count as failed.
  if (to !== 'processing' && reason !== 'BLOCKED_BY_RULE' && reason !== 'BLACKLISTED')
    await noteFate(tx, occasion, [after.id], to)
  return after
}

export function occasionOf(app: App, payout: PayoutRow): Occasion {
  return occasionNow(app.clock, tenantOf(payout), payout.clock_offset_ms, payout.request_id)
}
