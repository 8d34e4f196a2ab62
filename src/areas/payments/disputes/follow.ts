// SPDX-License-Identifier: Apache-2.0
// Asking the acquirer what became of disputes. A notice is a reason to ask, and what it answers is believed; notices get
// lost, so that it is asked again and again while a dispute is open.
import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { type AttemptRow, findAttempt, marketOf } from '../records/store.ts'
import { applyDispute } from './settle.ts'
import { countDisputePoll, findDispute } from './store.ts'

const daySeconds = 86_400
/** Issuers take up to some months. */
const maxPolls = 400

const Payload = Type.Object({ dispute: Type.String() })

export const disputeJob: Job<App, typeof Payload> = {
  lane: 'payments.dispute',
  role: 'carriers',
  payload: Payload,
  concurrency: 8,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a dispute belongs to an account')
    const dispute = await maybe(app.db.query(findDispute, { ...tenant, id: payload.dispute }))
    const attempt = dispute && (await maybe(app.db.query(findAttempt, { ...tenant, id: dispute.attempt_id })))
    if (!attempt || dispute.status !== 'open' || dispute.polls >= maxPolls) return { kind: 'done' }
    await followDisputes(app, tenant, attempt)
    await app.db.query(countDisputePoll, { ...tenant, id: dispute.id })
    return { kind: 'again', afterMs: waitMs(app, tenant) }
  },
}

/** Whether the acquirer said how the disputes of an attempt stand; what it said is done then. */
export async function followDisputes(app: App, tenant: Tenant, attempt: AttemptRow): Promise<boolean> {
  const carrier = gatewayOf(app).carrier('card', attempt, tenant.environment)
  const found = await carrier?.disputes(attempt.id, marketOf(attempt).currency)
  if (found?.kind !== 'found') return false
  for (const told of found.disputes)
    await app.db.tx(tenant, async (tx) => {
      const dispute = await applyDispute(app, tx, tenant, attempt, told)
      if (!dispute) return
      const delayMs = waitMs(app, tenant)
      await app.work.add(tx, app.work.prepare(disputeJob, tenant, { dispute: dispute.id }, { delayMs }))
    })
  return true
}

function waitMs(app: App, { environment }: Tenant): number {
  return daySeconds * 1_000 * gatewayOf(app).timeScale(environment)
}
