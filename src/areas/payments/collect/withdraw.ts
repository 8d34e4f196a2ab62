// SPDX-License-Identifier: Apache-2.0
// Withdrawal of a payment at the provider, where it can be told: at once, and by a job in case the node dies in between.
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { methodOf } from '../methods/payment-methods.ts'
import { attemptOfPayment, findPayment, type PaymentRow, restartPolls } from '../records/store.ts'
import { settle } from './settle.ts'
import { watchJob } from './submit.ts'

/** Schedules the withdrawal at the provider, in the transaction that ends the payment. */
export async function watchWithdrawal(app: App, tx: Tx, tenant: Tenant, payment: PaymentRow): Promise<void> {
  const method = methodOf(payment)
  const attempt = await one(tx.query(attemptOfPayment, { ...tenant, payment: payment.id }))
  if (!method.withdraw || attempt.state === 'final') return
  await tx.query(restartPolls, { ...tenant, payment: payment.id, at: new Date(app.clock.nowMs()) })
  const delayMs = method.polls[0] * 1_000 * gatewayOf(app).timeScale(tenant.environment)
  await app.work.add(tx, app.work.prepare(watchJob, tenant, { attempt: attempt.id, inline: true }, { delayMs }))
}

/** Tries the withdrawal once; on failure the job retries it. */
export async function withdrawNow(app: App, tenant: Tenant, paymentId: string): Promise<void> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id: paymentId }))
  const attempt = await one(app.db.query(attemptOfPayment, { ...tenant, payment: paymentId }))
  const { withdraw } = methodOf(payment)
  if (!withdraw || attempt.state === 'final') return
  await settle(app, tenant, attempt, await withdraw(app, tenant, attempt))
}
