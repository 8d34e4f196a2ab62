// SPDX-License-Identifier: Apache-2.0
// Applies the account's fraud rules to a payout, before it is sent: a blocked one fails, and one that a person should
// look at waits. One that is asked for alone is judged while it is accepted; those of a batch a few at a time when their turn
// comes, so that no transaction counts ten thousand of them while others wait for it.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { encodeItems } from '../../../platform/commit/row-encoding.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Risk, riskOf, type Weighed, weighBatch } from '../fraud/assess.ts'
import type { Subject } from '../fraud/fields.ts'
import { refusalOf } from '../fraud/refusal.ts'
import { fraudEvents } from '../records/fraud-events.ts'
import type { Payout } from '../records/payout-events.ts'
import { recordOf } from './payout.ts'
import { block, occasionOf } from './settle.ts'
import { judgedColumns, lockMany, noteRisks } from './settle-batch-store.ts'
import type { PayoutRow } from './store.ts'

/** Wait for a lock that one payout of a batch needs, before the batch is given up. */
const lockTimeoutMs = 250

/** Judges a stored payout that was not sent; returns it afterwards. Lock order: the row, then the counters. */
export async function judge(app: App, tx: Tx, occasion: Occasion, payout: PayoutRow): Promise<PayoutRow> {
  const [judged] = await judgeSome(app, tx, occasion, [payout])
  if (!judged) throw new Error('a payout was judged while somebody else had it')
  return judged
}

/** Judges several locked payouts of one account. */
async function judgeSome(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payouts: readonly PayoutRow[],
): Promise<readonly PayoutRow[]> {
  if (payouts.length === 0) return []
  const { tenant, nowMs, receivedMs } = occasion
  const weighings = payouts.map((payout) => ({ occasion, subject: subjectOf(payout), mode: 'enforced' }) as const)
  const weighed = await weighBatch(app, tx, weighings)
  const found = new Map(weighed.map(({ assessment }) => [assessment.checkId, { assessment, risk: riskOf(assessment) }]))
  const rows = await tx.query(noteRisks, {
    ...tenant,
    items: encodeItems(judgedColumns, weighed.map(itemOf)),
    at: new Date(nowMs),
    realAt: new Date(receivedMs),
  })
  const after: PayoutRow[] = []
  for (const row of rows) {
    const { assessment, risk } = found.get(row.id) ?? {}
    if (assessment && assessment.failureReason !== null) after.push(await block(app, tx, row, assessment.failureReason))
    else after.push(row)
    if (risk?.decision === 'review') await tellReview(app, tx, occasion, row, risk)
  }
  return after
}

/** Facts that its risk is judged by. */
function subjectOf(payout: PayoutRow): Subject {
  const { id, amount, currency, method, provider, phone, bank, recipient, metadata } = payout
  return {
    id,
    direction: 'payout',
    micros: amount,
    currency: currencyOf(currency),
    method,
    provider,
    phone,
    customer: recipient,
    metadata,
    bank: bank && { code: bank.bank_code, accountNumber: bank.account_number },
  }
}

function itemOf({ assessment, check }: Weighed) {
  return {
    payout: check.id,
    found: JSON.stringify(riskOf(assessment)),
    reviewed: check.decision === 'review',
    check_currency: check.currency,
    check_amount: check.amount,
    check_score: check.score,
    check_decision: check.decision,
    check_inputs: check.inputs,
    check_matched: JSON.stringify(check.matched),
    check_payer: check.payer,
    check_watched: check.watched,
  }
}

/** Judges one of a batch, once; gives it as it is then. */
export async function judgeOfBatch(app: App, tenant: Tenant, id: string): Promise<PayoutRow> {
  return one(app.db.tx(tenant, (tx) => judgeLocked(app, tx, tenant, [id])))
}

/**
 * Judges several payouts of a batch. When the shared transaction fails or waits too long for a lock, each is judged
 * alone.
 */
export async function judgeBatch(app: App, tenant: Tenant, ids: readonly string[]): Promise<readonly PayoutRow[]> {
  try {
    return await app.db.tx(tenant, (tx) => judgeLocked(app, tx, tenant, ids), { lockTimeoutMs })
  } catch (error) {
    app.log.warn(
      { error, payouts: ids.length },
      'batch of payouts not judged at once because of an error: each is judged alone; nothing to do unless this repeats often',
    )
    const judged: PayoutRow[] = []
    for (const id of ids) judged.push(await judgeOfBatch(app, tenant, id))
    return judged
  }
}

async function judgeLocked(app: App, tx: Tx, tenant: Tenant, ids: readonly string[]): Promise<PayoutRow[]> {
  const locked = await tx.query(lockMany, { ...tenant, ids })
  const isOpen = ({ status, risk }: PayoutRow) => risk === null && (status === 'pending' || status === 'processing')
  const [first] = locked.filter(isOpen)
  if (!first) return locked
  const judged = await judgeSome(app, tx, occasionOf(app, first), locked.filter(isOpen))
  const after = new Map(judged.map((row) => [row.id, row]))
  return locked.map((row) => after.get(row.id) ?? row)
}

/** Refuses a payout that was blocked, once that is stored; gives back every other. */
export function passed<P extends Pick<Static<typeof Payout>, 'payout_id' | 'failure_reason' | 'risk'>>(payout: P): P {
  const { payout_id, failure_reason, risk } = payout
  const refusal = refusalOf({ payout_id }, failure_reason, risk)
  if (refusal) throw refusal
  return payout
}

async function tellReview(app: App, tx: Tx, occasion: Occasion, row: PayoutRow, risk: Risk): Promise<void> {
  const { risk_score, risk_level, flags, decision } = risk
  await app.outbox.emit(
    tx,
    fraudEvents.reviewRequired,
    occasion,
    idOf('payout', row.id),
    {
      livemode: row.environment === 'live',
      sequence: row.sequence,
      payment_id: null,
      payout_id: idOf('payout', row.id),
      risk: { risk_score, risk_level, flags, decision },
      payout: recordOf(row),
    },
    { callbackUrl: row.callback_url },
  )
}
