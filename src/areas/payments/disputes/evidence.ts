// SPDX-License-Identifier: Apache-2.0
// Evidence of a dispute on its way to the acquirer, which hands it to the payer's bank. The acquirer takes it once; when its answer
// got lost, the same request is answered again.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { findAttempt } from '../records/store.ts'
import { noSuchDispute } from './dispute.ts'
import { findDispute } from './store.ts'

interface Evidence {
  statement: string
  product_description?: string
  delivered_on?: string
  shipping_carrier?: string
  tracking_number?: string
}

/** Gives the dispute and the time by the account's clock once the acquirer has the evidence. */
export async function handOver(
  app: App,
  tenant: Tenant,
  id: string,
  evidence: Evidence,
): Promise<{ id: string; at: Date }> {
  const dispute = await maybe(app.db.query(findDispute, { ...tenant, id }))
  const attempt = dispute && (await maybe(app.db.query(findAttempt, { ...tenant, id: dispute.attempt_id })))
  if (!attempt) throw noSuchDispute()
  const { status, evidence_sent_at } = dispute
  if (status !== 'open') throw new AppError('INVALID_STATE', `the dispute is ${status}`, { extra: { status } })
  if (evidence_sent_at) throw new AppError('INVALID_STATE', 'evidence was sent already', { extra: { status } })
  const carrier = gatewayOf(app).carrier('card', attempt, tenant.environment)
  const outcome = await carrier?.sendEvidence(id, dispute.provider_id, {
    statement: evidence.statement,
    productDescription: evidence.product_description,
    deliveredOn: evidence.delivered_on,
    shippingCarrier: evidence.shipping_carrier,
    trackingNumber: evidence.tracking_number,
  })
  if (outcome?.kind === 'refused')
    throw new AppError('INVALID_STATE', 'the acquirer refuses further evidence of this dispute', {
      extra: { status },
    })
  if (outcome?.kind !== 'taken')
    throw new AppError('PROVIDER_UNAVAILABLE', 'the acquirer did not confirm the evidence; repeat the request', {
      retryAfterSeconds: 5,
    })
  return { id, at: new Date(app.clock.nowMs() + Number(attempt.clock_offset_ms)) }
}
