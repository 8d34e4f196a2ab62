// SPDX-License-Identifier: Apache-2.0
// Retention of one-time codes: rows older than 30 days are deleted.
import { buckets } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { purgeOtps } from './store.ts'

const keepDays = 30

export const otpChore: Chore = {
  name: 'identity.purge_otps',
  run: async (app) => {
    await app.db.query(purgeOtps, { buckets, before: new Date(app.clock.nowMs() - keepDays * dayMs), most: 10_000 })
  },
}
