// SPDX-License-Identifier: Apache-2.0
// Effect of a dispute on the payment, the wallet and the ledger, with its event, in one transaction. The payment is
// locked and a second report changes nothing, so the acquirer may report twice, late and in any order.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { type Currency, least } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { capture, hold, lockAvailable, post, release } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { CardDispute } from '../providers/acquirer.ts'
import { owedAccount } from '../records/debts.ts'
import { noteTakenTwice } from '../records/discrepancies.ts'
import { paymentEvents } from '../records/events.ts'
import { toldOf } from '../records/payment.ts'
import { type AttemptRow, lockPayment, noteDispute, type PaymentRow } from '../records/store.ts'
import { payerHasBack, refundsOf } from '../refunds/refund.ts'
import { disputeOf } from './dispute.ts'
import {
  claimedByOthers,
  closeDispute,
  type DisputeRow,
  findProvidersDispute,
  insertDispute,
  statusOfDisputes,
} from './store.ts'

/** Hold of a dispute, until it is captured or released. */
const holdStep = 'dispute:hold'

/** Applies what the acquirer says of a dispute; gives the dispute if it was not known before. */
export async function applyDispute(
  app: App,
  tx: Tx,
  tenant: Tenant,
  attempt: AttemptRow,
  told: CardDispute,
): Promise<DisputeRow | null> {
  const payment = await one(tx.query(lockPayment, { ...tenant, id: attempt.payment_id }))
  const before = await maybe(tx.query(findProvidersDispute, { ...tenant, payment: payment.id, providerId: told.id }))
  // A dispute of a payment that was never paid is for an operator to resolve.
  if (!before && payment.status !== 'completed') {
    app.log.error(
      { payment: idOf('payment', payment.id) },
      'dispute ignored: the acquirer reports one that does not fit its payment; compare with the acquirer and settle by hand',
    )
    return null
  }
  const occasion = occasionNow(app.clock, tenant, attempt.clock_offset_ms, payment.request_id)
  const dispute = before ?? (await opened(app, tx, occasion, payment, attempt, told))
  if (told.status !== 'open' && dispute.status === 'open')
    await closed(app, tx, occasion, payment, dispute, told.status)
  return before ? null : dispute
}

/**
 * Opens a dispute. The issuer has taken the money already, so it is opened whatever the wallet holds: the available
 * amount is set aside, including the overdraft that the operator grants, and no more, so that a dispute never lends an
 * account money beyond that; the rest is claimed when the dispute is lost. Amounts that refunds give back, also pending
 * ones, or that another dispute of the payment wants or took, are not set aside again.
 */
async function opened(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  attempt: AttemptRow,
  { id: providerId, micros: amount, reason }: CardDispute,
): Promise<DisputeRow> {
  const { tenant, receivedMs, nowMs } = occasion
  const currency = currencyOf(payment.currency)
  const id = newUuid(receivedMs)
  const claimed = await one(tx.query(claimedByOthers, { ...tenant, payment: payment.id, id }))
  const left = leftOf(payment, claimed.open + claimed.lost)
  const held = least(least(amount, left), await lockAvailable(tx, tenant, currency))
  const dispute = await one(
    tx.query(insertDispute, {
      ...tenant,
      id,
      payment: payment.id,
      attempt: attempt.id,
      provider: payment.provider,
      providerId,
      amount,
      held,
      currency,
      reason,
      at: new Date(nowMs),
    }),
  )
  if (held > 0n) requireDone(id, await hold(tx, tenant, { sourceId: id, step: holdStep }, held, currency), 'held')
  await tell(app, tx, occasion, dispute, 'disputed')
  return dispute
}

async function closed(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  dispute: DisputeRow,
  status: 'won' | 'lost',
): Promise<void> {
  const { tenant, nowMs } = occasion
  const owed = status === 'lost' ? await paid(app, tx, occasion, payment, dispute) : await kept(tx, tenant, dispute)
  const at = new Date(nowMs)
  const after = await one(tx.query(closeDispute, { ...tenant, id: dispute.id, status, owed, at }))
  await tell(app, tx, occasion, after, 'disputeClosed')
  if (status === 'lost') await payerHasBack(app, tx, occasion, payment, after)
}

async function kept(tx: Tx, tenant: Tenant, { id, held }: DisputeRow): Promise<bigint> {
  if (held > 0n) requireDone(id, await release(tx, tenant, { sourceId: id, step: holdStep }), 'released')
  return 0n
}

/**
 * Takes the money of a lost dispute from the wallet, as far as it is there; returns the debt. What the acquirer takes
 * beyond the rest of the payment, after refunds and other lost disputes, is not the account's to pay: an operator
 * resolves it.
 */
async function paid(
  app: App,
  tx: Tx,
  { tenant, receivedMs }: Occasion,
  payment: PaymentRow,
  dispute: DisputeRow,
): Promise<bigint> {
  const { id, held } = dispute
  const { lost } = await one(tx.query(claimedByOthers, { ...tenant, payment: payment.id, id }))
  const amount = least(dispute.amount, leftOf(payment, lost))
  if (amount < dispute.amount) await noteTakenTwice(app, tx, payment, dispute, lost + dispute.amount)
  const currency: Currency = currencyOf(dispute.currency)
  const float = 'float:acquirer'
  const step = { sourceId: id, step: holdStep }
  const taken = least(held, amount)
  if (taken > 0n)
    requireDone(id, await capture(tx, tenant, step, 'dispute:capture', taken, float, receivedMs), 'captured')
  if (taken < held) requireDone(id, await release(tx, tenant, step), 'released')
  const rest = amount - taken
  if (rest === 0n) return 0n
  const there = least(rest, await lockAvailable(tx, tenant, currency))
  const legs = [
    { debit: 'wallet', credit: float, micros: there, currency },
    { debit: owedAccount, credit: float, micros: rest - there, currency },
  ].filter(({ micros }) => micros > 0n)
  requireDone(id, await post(tx, tenant, { sourceId: id, step: 'dispute:rest' }, legs, receivedMs), 'posted')
  return rest - there
}

async function tell(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: DisputeRow,
  moment: 'disputed' | 'disputeClosed',
): Promise<void> {
  const { tenant, nowMs } = occasion
  const { status } = await one(tx.query(statusOfDisputes, { ...tenant, payment: row.payment_id }))
  const payment = await one(tx.query(noteDispute, { ...tenant, id: row.payment_id, status, at: new Date(nowMs) }))
  const told = toldOf(payment, await refundsOf(tx, payment))
  const dispute = disputeOf(row)
  const payload = { ...told, dispute_id: dispute.dispute_id, dispute_status: dispute.status, dispute }
  const { callback_url: callbackUrl } = payment
  await app.outbox.emit(tx, paymentEvents[moment], occasion, told.payment_id, payload, { callbackUrl })
}

function requireDone(id: string, verdict: string, expected: string): void {
  if (verdict !== expected) throw new Error(`the ledger says ${verdict} of ${idOf('dispute', id)}, not ${expected}`)
}

/** Amount of a payment that refunds, those under way included, and other disputes have left. */
function leftOf({ amount, refunded }: PaymentRow, claimed: bigint): bigint {
  const left = amount - refunded - claimed
  return left > 0n ? left : 0n
}
