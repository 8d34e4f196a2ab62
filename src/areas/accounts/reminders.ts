// SPDX-License-Identifier: Apache-2.0
// Tells once of each key that is old enough to be replaced. In live and by the real clock this is a chore; whoever moves the
// clock of a test account past the day is told in the same transaction.
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Tx } from '../../platform/db.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import { keyEvents } from './events.ts'
import { rotationDueAt, rotationDueMs } from './key.ts'
import { takeDueForRotation } from './store.ts'

const perRound = 100
/** Rounds of a chore; what is left waits for the next. */
const maxRounds = 100
const everyMs = 3_600_000

interface Wanted {
  /** Null: of all accounts. */
  account: string | null
  environment: 'test' | null
  /** How far the account's clock is ahead. */
  offsetMs: number
}

/** Gives how many keys were told of. */
export async function remindOfRotation(app: App, tx: Tx, { account, environment, offsetMs }: Wanted): Promise<number> {
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + offsetMs
  const rows = await tx.query(takeDueForRotation, {
    account,
    environment,
    at: new Date(receivedMs),
    before: new Date(nowMs - rotationDueMs),
    limit: perRound,
  })
  for (const row of rows) {
    const tenant = { bucket: row.bucket, account: row.account_id, environment: row.environment }
    const key_id = idOf('apiKey', row.id)
    const { name, prefix, last4 } = row
    await app.outbox.emit(tx, keyEvents.rotationDue, { tenant, receivedMs, nowMs, requestId: null }, key_id, {
      key_id,
      name,
      prefix,
      last4,
      rotation_due_at: rotationDueAt(row.created_at),
    })
  }
  return rows.length
}

export const reminderChore: Chore = {
  name: 'keys to be replaced',
  everyMs,
  run: async (app) => {
    const all = { account: null, environment: null, offsetMs: 0 }
    for (let round = 0; round < maxRounds; round++)
      if ((await app.db.tx((tx) => remindOfRotation(app, tx, all))) < perRound) return
  },
}
