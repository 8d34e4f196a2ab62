// SPDX-License-Identifier: Apache-2.0
// What the account's rules do to a payout, before anybody is asked to pay: a blocked one fails, and one that somebody should
// look at waits. One that is asked for alone is judged while it is accepted; those of a batch one by one when their turn
// comes, so that no transaction counts ten thousand of them while others wait for it.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { fraudEvents, type Payout } from '../events.ts'
import { assess, type Risk, riskOf } from '../fraud/assess.ts'
import { refusalOf } from '../fraud/enforce.ts'
import { currencyOf } from '../input.ts'
import { recordOf } from './payout.ts'
import { block, occasionOf } from './settle.ts'
import { lockPayout, noteRisk, type PayoutRow } from './store.ts'

/** Judges a payout that is stored and was not sent; gives it as it is then. The row comes first, then what is counted. */
export async function judge(app: App, tx: Tx, occasion: Occasion, payout: PayoutRow): Promise<PayoutRow> {
  const { tenant, nowMs, receivedMs } = occasion
  const { id, amount, currency, method, provider, phone, bank, recipient, metadata } = payout
  const assessment = await assess(app, tx, occasion, {
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
  })
  const risk = riskOf(assessment)
  const inReview = risk.decision === 'review'
  const times = { at: new Date(nowMs), realAt: new Date(receivedMs) }
  const after = await one(tx.query(noteRisk, { ...tenant, id, risk: JSON.stringify(risk), inReview, ...times }))
  if (assessment.failureReason !== null) return block(app, tx, after, assessment.failureReason)
  if (inReview) await tellReview(app, tx, occasion, after, risk)
  return after
}

/** Judges one of a batch, once; gives it as it is then. */
export function judgeOfBatch(app: App, tenant: Tenant, id: string): Promise<PayoutRow> {
  return app.db.tx(async (tx) => {
    const payout = await one(tx.query(lockPayout, { ...tenant, id }))
    const isOver = payout.status !== 'pending' && payout.status !== 'processing'
    return isOver || payout.risk !== null ? payout : judge(app, tx, occasionOf(app, payout), payout)
  })
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
