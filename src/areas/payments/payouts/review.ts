// SPDX-License-Identifier: Apache-2.0
// Payouts that wait for a person: they are accepted with `inReview`, their money is held, and nothing looks after them until
// they are let go here or withdrawn like any other that is pending.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { watchFrom } from './create.ts'
import { noSuchPayout } from './payout.ts'
import { endReview, findPayout, type PayoutRow } from './store.ts'

/** Lets a payout go that waited for a person. */
export async function approve(app: App, tx: Tx, { tenant, nowMs }: Occasion, id: string): Promise<PayoutRow> {
  const payout = await maybe(tx.query(endReview, { ...tenant, id }))
  if (payout) {
    await watchFrom(app, tx, tenant, payout, false, nowMs)
    return payout
  }
  const found = await maybe(tx.query(findPayout, { ...tenant, id }))
  if (!found) throw noSuchPayout()
  throw new AppError('INVALID_STATE', 'the payout does not wait for anybody', { extra: { status: found.status } })
}
