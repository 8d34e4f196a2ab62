// SPDX-License-Identifier: Apache-2.0
// Tells once of each key that is old enough to be replaced. Keys live by the real clock in both environments: a sandbox
// clock that runs through a year of subscriptions makes no key older.
import { idOf } from '../../kernel/ids.ts'
import { hourMs } from '../../kernel/time.ts'
import type { App } from '../../platform/app.ts'
import type { Tx } from '../../platform/db.ts'
import { tellOwners } from '../../platform/events/owner-notices.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { keyEvents } from './events.ts'
import { rotationDueAt, rotationDueMs } from './key.ts'
import { takeDueForRotation } from './store.ts'

const perRound = 100
/** Rounds of a chore; what is left waits for the next. */
const maxRounds = 100

export const reminderChore: Chore = {
  name: 'keys to be replaced',
  everyMs: hourMs,
  run: async (app) => {
    for (let round = 0; round < maxRounds; round++)
      if ((await app.db.acrossTx((tx) => remind(app, tx))) < perRound) return
  },
}

/** Reminds owners of old keys; returns the number of keys. */
async function remind(app: App, tx: Tx): Promise<number> {
  const nowMs = app.clock.nowMs()
  const before = new Date(nowMs - rotationDueMs)
  const rows = await tx.query(takeDueForRotation, { at: new Date(nowMs), before, limit: perRound })
  for (const row of rows) {
    const { id, name, prefix, last4, created_at } = row
    const occasion = { tenant: tenantOf(row), receivedMs: nowMs, nowMs, requestId: null }
    const key_id = idOf('apiKey', id)
    const told = { key_id, name, prefix, last4, rotation_due_at: rotationDueAt(created_at) }
    await app.outbox.emit(tx, keyEvents.rotationDue, occasion, key_id, told)
    await tellOwners(app, tx, occasion.tenant, {
      subject: 'An API key should be replaced',
      text: [
        `The key “${name}” (${prefix}…${last4}) was made on ${created_at.toISOString().slice(0, 10)}.`,
        'Rotate it under /v1/account/api-keys or in the console; the old one goes on working for a while.',
      ],
      key: `rotate ${key_id}`,
    })
  }
  return rows.length
}
