// SPDX-License-Identifier: Apache-2.0
// Callbacks about refunds. A call is a reason to poll; where the poll says no more than the call, the call counts
// because of its secret address and the id and amount that it names.
import { timingSafeEqual } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { traced } from '../../../platform/outbound/provider-http.ts'
import type { Call } from '../records/callback-address.ts'
import { noteCallback } from '../records/provider-trace.ts'
import { topics } from './addresses.ts'
import { refunderOf } from './refund-carrier.ts'
import { settleRefund } from './settle.ts'
import { findRefund } from './store.ts'
import { orderOf, refundTrace } from './submit.ts'

export async function takeRefund(app: App, call: Call): Promise<object | null> {
  const { tenant, id, token, topic, body } = call
  const about = topics[topic]
  const refund = await maybe(app.db.query(findRefund, { ...tenant, id }))
  if (!refund || !about || !timingSafeEqual(refund.token, token)) return null
  const carrier = refunderOf(app, refund, tenant.environment)
  const heard = carrier?.readRefund(about, body, call) ?? null
  const isTheirs = heard?.id === null || heard?.id === (refund.provider_id ?? heard?.id)
  // A caller that knows the token but not the provider's id is not the provider.
  if (!carrier || !heard || !isTheirs) return null
  const resource = idOf('payment', refund.payment_id)
  const called = { resource, provider: refund.provider, clockOffsetMs: Number(refund.clock_offset_ms) }
  noteCallback(app, tenant, called, body, true)
  // A timeout inside the provider says nothing of the money.
  if (about === 'timeout') await settleRefund(app, refund, { kind: 'unknown', reason: 'the provider gave up waiting' })
  else if (about === 'answer' || carrier.resultsAreFinal) await settleRefund(app, refund, heard.verdict)
  else {
    const order = await orderOf(app, refund)
    await settleRefund(app, refund, await traced(refundTrace(app, refund), () => carrier.queryRefund(order)))
  }
  return { ResultCode: 0, ResultDesc: 'Accepted' }
}
