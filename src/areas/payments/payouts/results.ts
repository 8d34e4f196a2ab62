// SPDX-License-Identifier: Apache-2.0
// What providers say of payouts when they call. Whether it is good or bad news, it is a reason to ask and nothing else: what
// is believed is the answer. Some providers give that by a call too, to an address that is for nothing but answers.
import { timingSafeEqual } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import type { Call } from '../records/callback-address.ts'
import { noteCallback } from '../records/provider-trace.ts'
import { recallSent } from './handover.ts'
import { settleOne } from './settle-batch.ts'
import { findPayout, noteRefusal } from './store.ts'
import { ask, topics } from './submit.ts'

export async function takeResult(app: App, call: Call): Promise<object | null> {
  const { tenant, id, token, topic, body } = call
  const payout = recallSent(app, tenant, id) ?? (await maybe(app.db.query(findPayout, { ...tenant, id })))
  const about = topics[topic]
  // Of a payout that was never sent nobody can tell anything.
  if (!payout || !about || payout.state === 'planned' || !timingSafeEqual(payout.token, token)) return null
  const provider = gatewayOf(app).speaksTo(payout, tenant.environment)
  const heard = provider?.outgoing?.readPayout(about, body, call)
  // Whoever knows the token and not what was agreed on is not the provider.
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
