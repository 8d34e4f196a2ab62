// SPDX-License-Identifier: Apache-2.0
// Retention: velocity rows that no window reaches any more are deleted. Checks go with their partitions, after 400 days.
import { buckets } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { forgetVelocity } from './store.ts'

const rowsAtOnce = 10_000
/** Batches of rows per run; the next run continues. */
const maxParts = 100

export const velocityChore: Chore = { name: 'velocity', run: (app) => forgetOld(app, app.clock.nowMs()) }

export async function forgetOld({ db }: App, nowMs: number): Promise<void> {
  for (let part = 0; part < maxParts; part++) {
    const { gone } = await one(db.query(forgetVelocity, { buckets, before: new Date(nowMs), most: rowsAtOnce }))
    if (gone < rowsAtOnce) return
  }
}
