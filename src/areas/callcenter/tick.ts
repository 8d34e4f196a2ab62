// SPDX-License-Identifier: Apache-2.0
// Job for the next distribution round of a switchboard: it survives the node and comes sooner when the sandbox clock is
// moved.
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
