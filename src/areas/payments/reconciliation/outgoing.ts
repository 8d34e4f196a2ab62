// SPDX-License-Identifier: Apache-2.0
// Lines of outgoing money, matched with payouts and refunds: by the provider's receipt, or by payee, amount and time. A
// payout with an unknown outcome is settled by its line, as by a callback, and so is a completed one whose money came
// back. A failed payout is never taken for paid by a guess: its line is left to an operator.
import type { App } from '../../../platform/app.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import { settle, wasTakenBack as wasPayoutTakenBack } from '../payouts/settle.ts'
import { findPayout } from '../payouts/store.ts'
import { settleRefund, wasTakenBack as wasRefundTakenBack } from '../refunds/settle.ts'
import { findRefund } from '../refunds/store.ts'
import { candidates } from './objects.ts'
import { type Here, type LineRow, looseLines, matchPayees, noteSettled } from './store.ts'

const common = 'p.environment = l.environment and p.provider = l.provider and p.currency = l.currency'

/**
 * Lines whose receipt a payout or refund has. Money that came back for what the provider took back has it, too. A match settles its
 * subject only while the ledger does not know the outcome.
 */
const matchReceipts = statement.tenant<Here, object>(
  'payments.match_outgoing_receipts',
  `update payments.statement_lines l
      set matched_by = 'receipt', object = p.object, payment_bucket = p.bucket, payment_account = p.account_id, payment_id = p.id,
          is_settled = true, class = case when p.amount = l.amount then 'matched' else 'amount_differs' end
     from ${candidates}
    where ${looseLines} and p.object in ('payout', 'refund') and ${common} and p.provider_reference = l.receipt
      and (l.kind = 'other'
           or (l.kind = 'collection' and p.status = case p.object when 'payout' then 'reversed' else 'failed' end))`,
)

/**
 * Money that came back without a report. The outgoing line must be on a statement as well, since some statements have
 * no minus before paid amounts.
 */
const matchTakenBack = statement.tenant<Here, object>(
  'payments.match_taken_back',
  `update payments.statement_lines l
      set class = 'matched', matched_by = 'receipt', object = p.object, payment_bucket = p.bucket,
          payment_account = p.account_id, payment_id = p.id, is_settled = false
     from ${candidates}
    where ${looseLines} and l.kind = 'collection' and p.object in ('payout', 'refund') and ${common}
      and p.provider_reference = l.receipt and p.amount = l.amount and p.status = 'completed'
      and exists (select from payments.statement_lines paid
                   where paid.bucket = l.bucket and paid.account_id = l.account_id and paid.environment = l.environment
                     and paid.provider = l.provider and paid.country = l.country and paid.receipt = l.receipt
                     and paid.kind = 'other' and paid.payment_id = p.id)`,
)

/** Finds the payouts and refunds of lines. */
export async function matchOutgoing(tx: Tx, here: Here): Promise<void> {
  await tx.query(matchReceipts, here)
  await tx.query(matchPayees, here)
  await tx.query(matchTakenBack, here)
}

type Named = One & { receipt: string }

/** One that was completed without a receipt has it now. */
const nameReceipt = {
  payout: statement.tenant<Named, { id: string }>(
    'payments.name_payout_receipt',
    `update payments.payouts set provider_reference = $receipt
      where ${mine} and id = $id and status = 'completed' and provider_reference is null returning id`,
  ),
  refund: statement.tenant<Named, { id: string }>(
    'payments.name_refund_receipt',
    `update payments.refunds set provider_reference = $receipt
      where ${mine} and id = $id and status = 'completed' and provider_reference is null returning id`,
  ),
}

/** Settles the payout or refund that a line says was paid, or taken back. */
export async function settleOutgoing(app: App, house: Tenant, line: LineRow): Promise<void> {
  const { payment_bucket: bucket, payment_account: account, payment_id: id, object, receipt, amount } = line
  if (bucket === null || account === null || id === null || object === 'payment')
    throw new Error(`line ${line.id} has nothing to settle`)
  const tenant: Tenant = { bucket, account, environment: line.environment }
  if (line.kind === 'collection') {
    const keeps = await (object === 'payout' ? payoutTakenBack : refundTakenBack)(app, tenant, id)
    return void (await app.db.query(noteSettled, { ...house, id: line.id, ...classOf(keeps) }))
  }
  const verdict = { kind: 'paid', receipt, micros: amount } as const
  const isNamed = (await app.db.query(nameReceipt[object], { ...tenant, id, receipt })).length > 0
  const keeps = isNamed || (await (object === 'payout' ? payoutPaid : refundPaid)(app, tenant, id, verdict))
  await app.db.query(noteSettled, { ...house, id: line.id, ...classOf(keeps) })
}

function classOf(keeps: boolean): { class: 'matched' | 'theirs_only'; keeps: boolean } {
  return { class: keeps ? 'matched' : 'theirs_only', keeps }
}

/** Whether the line takes the payout back. Of one that was taken back before and paid again only a person can tell. */
async function payoutTakenBack(app: App, tenant: Tenant, id: string): Promise<boolean> {
  const payout = await one(app.db.query(findPayout, { ...tenant, id }))
  if (payout.status === 'completed' && (await wasPayoutTakenBack(app.db, payout))) return false
  return (await settle(app, tenant, id, { kind: 'reversed' })).status === 'reversed'
}

async function refundTakenBack(app: App, tenant: Tenant, id: string): Promise<boolean> {
  const refund = await maybe(app.db.query(findRefund, { ...tenant, id }))
  if (!refund || (refund.status === 'completed' && (await wasRefundTakenBack(app.db, refund)))) return false
  await settleRefund(app, refund, { kind: 'reversed' })
  return (await maybe(app.db.query(findRefund, { ...tenant, id })))?.status === 'failed'
}

type Paid = { kind: 'paid'; receipt: string; micros: bigint }

/** Whether the line settles the payout; another receipt may have settled it before. */
async function payoutPaid(app: App, tenant: Tenant, id: string, verdict: Paid): Promise<boolean> {
  const after = await settle(app, tenant, id, verdict)
  return after.status === 'completed' && after.provider_reference === verdict.receipt
}

async function refundPaid(app: App, tenant: Tenant, id: string, verdict: Paid): Promise<boolean> {
  const refund = await maybe(app.db.query(findRefund, { ...tenant, id }))
  if (!refund) return false
  await settleRefund(app, refund, verdict)
  const after = await maybe(app.db.query(findRefund, { ...tenant, id }))
  return after?.status === 'completed' && after.provider_reference === verdict.receipt
}
