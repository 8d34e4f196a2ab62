// SPDX-License-Identifier: Apache-2.0
// Chores of capture sessions: those that nobody finished in time end, and old ones are deleted.
import { buckets } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { endSession } from './session.ts'
import { dueSessions, purgeSessions } from './store.ts'

const most = 500
const maxPurged = 10_000
const keepDays = 365

const expire: Chore = {
  name: 'identity.expire_sessions',
  run: async (app) => {
    for (const row of await app.db.query(dueSessions, { buckets, now: new Date(app.clock.nowMs()), most })) {
      const occasion = occasionNow(app.clock, tenantOf(row), row.offset_ms)
      await app.db.tx(occasion.tenant, (tx) => endSession(app, tx, occasion, row.id, 'expired'))
    }
  },
}

const purge: Chore = {
  name: 'identity.purge_sessions',
  run: async (app) => {
    const before = new Date(app.clock.nowMs() - keepDays * dayMs)
    await app.db.query(purgeSessions, { buckets, before, most: maxPurged })
  },
}

export const sessionChores: readonly Chore[] = [expire, purge]
