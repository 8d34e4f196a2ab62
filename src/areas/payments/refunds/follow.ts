// SPDX-License-Identifier: Apache-2.0
// Polling of a payment's refunds at the acquirer, also of completed ones: a card may be closed by the time the money
// comes back to it, and then the acquirer has it again.
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isAnswered } from '../providers/provider.ts'
import type { AttemptRow } from '../records/store.ts'
import { refunderOf } from './refund-carrier.ts'
import { settleRefund } from './settle.ts'
import { newestRefunds } from './store.ts'
import { orderOf } from './submit.ts'

/** A payment has hardly more. */
const maxRefunds = 100

/** Whether the acquirer said how the refunds of an attempt stand; what it said is done then. */
export async function followRefunds(app: App, tenant: Tenant, attempt: AttemptRow): Promise<boolean> {
  const refunds = await app.db.query(newestRefunds, { ...tenant, payment: attempt.payment_id, limit: maxRefunds })
  for (const refund of refunds) {
    // Not sent yet, or known to have failed.
    if (refund.state === 'planned' || refund.status === 'failed') continue
    const told = await refunderOf(app, refund, tenant.environment)?.queryRefund(await orderOf(app, refund))
    if (!told || !isAnswered(told)) return false
    const isTakenBack = refund.status === 'completed' && told.kind === 'refused'
    await settleRefund(app, refund, isTakenBack ? { kind: 'reversed' } : told)
  }
  return true
}
