// SPDX-License-Identifier: Apache-2.0
// Requests that wait for their verification to be decided, or to depend on a registry or review.
import { statement } from '../../../platform/db.ts'
import { type Waited, waits } from '../../../platform/nodes/waiting.ts'

const restingAmong = statement.everywhere<{ [K in keyof Waited]: Waited[K] }, { id: string }>(
  'identity.resting_among',
  `select id from identity.verifications
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and environment in ('test', 'live')
      and id = any($ids::uuid[]) and stage not in ('queued', 'processing')`,
)

export const verdictWaits = waits({
  name: 'identity',
  most: 500,
  lookMs: 1_000,
  looksFirst: true,
  isTold: true,
  happened: (db, waited) => db.query(restingAmong, { ...waited }),
})
