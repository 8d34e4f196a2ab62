// SPDX-License-Identifier: Apache-2.0
// Lines of outgoing money, matched with payouts and refunds: by the provider's receipt, or by payee, amount and time. A
// payout with an unknown outcome is settled by its line, as by a callback, and so is a completed one whose money came
// back. A failed payout is never taken for paid by a guess: its line is left to an operator.
import type { App } from '../../../platform/app.ts'
import { type AcrossTx, maybe, one, statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import { settle, wasTakenBack as wasPayoutTakenBack } from '../payouts/settle.ts'
import { findPayout } from '../payouts/store.ts'
import { settleRefund, wasTakenBack as wasRefundTakenBack } from '../refunds/settle.ts'
import { findRefund } from '../refunds/store.ts'
import { type Account, type LineRow, noteSettled, ours } from './store.ts'

const unmatched = `${ours} and l.provider = $provider and l.country = $country and (l.class is null or l.class = 'theirs_only')`
const common = 'p.environment = l.environment and p.provider = l.provider and p.currency = l.currency'

/** Match of a line. It settles its subject only while the ledger does not know the outcome. */
const found = (object: 'payout' | 'refund') => `matched_by = 'receipt', object = '${object}', payment_bucket = p.bucket,
          payment_account = p.account_id, payment_id = p.id, is_settled = true,
          class = case when p.amount = l.amount then 'matched' else 'amount_differs' end`

/** Money that came back for what the provider took back has the receipt of that, too. */
const matchPayouts = statement.everywhere<Account, object>(
  'payments.match_payout_receipts',
  `update payments.statement_lines l set ${found('payout')}
     from payments.payouts p
    where ${unmatched} and ${common} and p.provider_reference = l.receipt
      and (l.kind = 'other' or (l.kind = 'collection' and p.status = 'reversed'))`,
)

const matchRefunds = statement.everywhere<Account, object>(
  'payments.match_refund_receipts',
  `update payments.statement_lines l set ${found('refund')}
     from payments.refunds p
    where ${unmatched} and ${common} and p.provider_reference = l.receipt
      and (l.kind = 'other' or (l.kind = 'collection' and p.status = 'failed'))`,
)

/**
 * Money that came back without a report. The outgoing line must be on a statement as well, since some statements have
 * no minus before paid amounts.
 */
const matchTakenBack = (object: 'payout' | 'refund') =>
  statement.everywhere<Account, object>(
    `payments.match_taken_back_${object}s`,
    `update payments.statement_lines l
        set class = 'matched', matched_by = 'receipt', object = '${object}', payment_bucket = p.bucket,
            payment_account = p.account_id, payment_id = p.id, is_settled = false
       from payments.${object}s p
      where ${unmatched} and l.kind = 'collection' and ${common} and p.provider_reference = l.receipt and p.amount = l.amount
        and p.status = 'completed'
        and exists (select from payments.statement_lines paid
                     where paid.bucket = l.bucket and paid.account_id = l.account_id and paid.environment = l.environment
                       and paid.provider = l.provider and paid.country = l.country and paid.receipt = l.receipt
                       and paid.kind = 'other' and paid.payment_id = p.id)`,
  )
const matchPayoutsTakenBack = matchTakenBack('payout')
const matchRefundsTakenBack = matchTakenBack('refund')

/** Matches lines by payee: the only payout or refund of that amount to that number at that time, and its only line. */
const matchPayees = statement.everywhere<Account, object>(
  'payments.match_payees',
  `with outgoing as (
     select 'payout' as object, o.bucket, o.account_id, o.environment, o.id, o.provider, o.currency, o.amount, o.phone,
            o.created_at, o.completed_at
       from payments.payouts o
      where o.provider_reference is null and o.status in ('processing', 'completed') and o.state <> 'planned'
     union all
     select 'refund', r.bucket, r.account_id, r.environment, r.id, r.provider, r.currency, r.amount, s.phone, r.created_at,
            r.completed_at
       from payments.refunds r
       join payments.payments s
         on s.bucket = r.bucket and s.account_id = r.account_id and s.environment = r.environment and s.id = r.payment_id
      where r.provider_reference is null and r.status in ('processing', 'completed') and r.state <> 'planned'
   ), pairs as (
     select l.id, p.object, p.bucket as payment_bucket, p.account_id as payment_account, p.id as payment_id,
            count(*) over (partition by l.id) as objects, count(*) over (partition by p.id) as lines
       from payments.statement_lines l
       join outgoing p
         on ${common} and p.amount = l.amount and right(p.phone, 3) = right(l.phone, 3) and p.phone like l.phone
        and l.occurred_at >= p.created_at - interval '10 minutes'
        and l.occurred_at <= coalesce(p.completed_at, l.occurred_at) + interval '10 minutes'
      where ${unmatched} and l.kind = 'other'
        and not exists (select from payments.statement_lines other where other.payment_id = p.id)
   )
   update payments.statement_lines l
      set class = 'matched', matched_by = 'payer', object = c.object, payment_bucket = c.payment_bucket,
          payment_account = c.payment_account, payment_id = c.payment_id, is_settled = false
     from pairs c
    where ${ours} and l.id = c.id and c.objects = 1 and c.lines = 1`,
)

/** Finds the payouts and refunds of lines. */
export async function matchOutgoing(tx: AcrossTx, account: Account): Promise<void> {
  await tx.query(matchPayouts, account)
  await tx.query(matchRefunds, account)
  await tx.query(matchPayees, account)
  await tx.query(matchPayoutsTakenBack, account)
  await tx.query(matchRefundsTakenBack, account)
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
