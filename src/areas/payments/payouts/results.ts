// SPDX-License-Identifier: Apache-2.0
// Callbacks about payouts. Good or bad news, a call is only a reason to poll: what
// is believed is the answer. Some providers give that by a call too, to an address that is for nothing but answers.
import { timingSafeEqual } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import type { Call } from '../records/callback-address.ts'
import { noteCallback } from '../records/provider-trace.ts'
import { takeSent } from './handover.ts'
import { settleOne } from './settle-batch.ts'
import { findPayout, noteRefusal } from './store.ts'
import { ask, topics } from './submit.ts'

export async function takeResult(app: App, call: Call): Promise<object | null> {
  const { tenant, id, token, topic, body } = call
  const payout = takeSent(app, tenant, id) ?? (await maybe(app.db.query(findPayout, { ...tenant, id })))
  const about = topics[topic]
  // No provider knows a payout that was never sent.
  if (!payout || !about || payout.state === 'planned' || !timingSafeEqual(payout.token, token)) return null
  const provider = gatewayOf(app).speaksTo(payout, tenant.environment)
  const heard = provider?.outgoing?.readPayout(about, body, call)
  // A caller that knows the token but not the provider's id is not the provider.
  if (!provider?.outgoing || !heard || (heard.id !== null && heard.id !== id)) return null
  const { verdict } = heard
  const clockOffsetMs = Number(payout.clock_offset_ms)
  noteCallback(app, tenant, { resource: idOf('payout', id), provider: payout.provider, clockOffsetMs }, body, true)
  if (about === 'result') {
    if (verdict.kind === 'refused') await app.db.query(noteRefusal, { ...tenant, id, reason: verdict.reason })
    await settleOne(app, tenant, payout, await ask(app, tenant, payout, provider.outgoing))
  } else await settleOne(app, tenant, payout, verdict)
  return provider.method === 'mobile_money' ? provider.thanks : {}
}
