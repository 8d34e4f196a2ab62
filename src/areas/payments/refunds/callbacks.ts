// SPDX-License-Identifier: Apache-2.0
// Callbacks about refunds. A call is a reason to poll; where the answer is no better than the call, it is believed
// by the address, which nobody else knows, and by the id and the amount that it names.
import { timingSafeEqual } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Call } from '../records/callback-address.ts'
import { topics } from './addresses.ts'
import { refunderOf } from './refund-carrier.ts'
import { settleRefund } from './settle.ts'
import { findRefund } from './store.ts'
import { orderOf } from './submit.ts'

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
  // That it gave up waiting for itself says nothing of the money.
  if (about === 'timeout') await settleRefund(app, refund, { kind: 'unknown', reason: 'the provider gave up waiting' })
  else if (about === 'answer' || carrier.resultsAreFinal) await settleRefund(app, refund, heard.verdict)
  else await settleRefund(app, refund, await carrier.queryRefund(await orderOf(app, refund)))
  return { ResultCode: 0, ResultDesc: 'Accepted' }
}
