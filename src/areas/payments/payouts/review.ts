// SPDX-License-Identifier: Apache-2.0
// Payouts under review: their money is held, and nothing happens until a person releases or rejects them here, or
// withdraws them like any other pending payout.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { type Caller, makerOf } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { Payout } from '../records/payout-events.ts'
import { watchFrom } from './create.ts'
import { noSuchPayout, payoutUuid, recordOf } from './payout.ts'
import { notInReview, reject } from './settle.ts'
import { endReview, findPayout, type PayoutRow } from './store.ts'

const common = {
  method: 'POST',
  scope: 'payouts:approve',
  limit: 'payments',
  params: Type.Object({ payout_id: Type.String({ description: 'Id of the payout, such as `po_…`' }) }),
  reply: { status: 200, schema: Payout },
  errors: ['FORBIDDEN', 'NOT_FOUND', 'INVALID_STATE'],
} as const

const approveRoute = write({
  ...common,
  path: '/v1/payouts/:payout_id/approve',
  operation: 'payouts.approve',
  summary: 'Approve a payout',
  description:
    'The payout is sent at once, or at its scheduled time, without another check of your rules. Its creator cannot approve it: use another key with the scope `payouts:approve`.',
  handle: async (app, tx, { params }, caller): Promise<Static<typeof Payout>> => {
    const payout = recordOf(await approve(app, tx, caller, payoutUuid(params.payout_id)))
    await record(tx, caller, 'payout.approve', payout.payout_id, { after: { status: payout.status } })
    return payout
  },
})

const rejectRoute = write({
  ...common,
  path: '/v1/payouts/:payout_id/reject',
  operation: 'payouts.reject',
  summary: 'Reject a payout',
  description: 'The payout is cancelled, and its hold is released to the wallet.',
  handle: async (app, tx, { params }, caller): Promise<Static<typeof Payout>> => {
    const payout = recordOf(await reject(app, tx, caller.tenant, payoutUuid(params.payout_id)))
    await record(tx, caller, 'payout.reject', payout.payout_id, { after: { status: payout.status } })
    return payout
  },
})

/** Lets a payout go that waited for a person other than the one who made it. */
async function approve(app: App, tx: Tx, caller: Caller, id: string): Promise<PayoutRow> {
  const { tenant, nowMs, receivedMs } = caller
  const found = await maybe(tx.query(findPayout, { ...tenant, id }))
  if (!found) throw noSuchPayout()
  // A payout from before names the key also where a member made it.
  const makers = [makerOf(caller), `key:${caller.principal.keyId}`]
  if (found.in_review && makers.includes(found.made_by ?? ''))
    throw new AppError('FORBIDDEN', 'the creator of a payout cannot approve it; use another key or member')
  const times = { at: new Date(nowMs), realAt: new Date(receivedMs) }
  const payout = await maybe(tx.query(endReview, { ...tenant, id, ...times }))
  if (!payout) throw notInReview((await maybe(tx.query(findPayout, { ...tenant, id }))) ?? found)
  await watchFrom(app, tx, tenant, payout, false, nowMs)
  return payout
}

export const payoutReviewRoutes: readonly Route[] = [approveRoute, rejectRoute]
