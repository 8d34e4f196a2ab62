// SPDX-License-Identifier: Apache-2.0
// Requests of networks that wait for a session's next screen. The node that stores the screen signals the one that has
// the dialog (network/gateways.ts).
import { statement } from '../../platform/db.ts'
import { type Waited, waits } from '../../platform/nodes/waiting.ts'

/** Sessions among these that no longer wait for the application. */
const movedAmong = statement.everywhere<{ [K in keyof Waited]: Waited[K] }, { id: string }>(
  'ussd.moved_among',
  `select id from ussd.sessions
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and environment in ('test', 'live')
      and id = any($ids::uuid[]) and awaiting <> 'app'`,
)

export const screenWaits = waits({
  name: 'ussd-screens',
  most: 50_000,
  lookMs: 250,
  happened: (db, waited) => db.query(movedAmong, { ...waited }),
})
