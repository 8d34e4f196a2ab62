// SPDX-License-Identifier: Apache-2.0
// When a switchboard is looked at again: a job, so that the look is not lost with a node, and comes sooner when the account's
// clock is moved.
import { Type } from 'typebox'
import type { App } from '../../platform/app.ts'
import type { Tx } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'

export const tick = { lane: 'callcenter.tick', payload: Type.Object({}) }

export async function tickLater(app: App, tx: Tx, tenant: Tenant, delayMs: number): Promise<void> {
  const job = app.work.prepare(tick, tenant, {}, { delayMs: Math.max(0, delayMs) })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}
