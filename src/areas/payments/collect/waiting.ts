// SPDX-License-Identifier: Apache-2.0
// Requests that wait for a payment to be over.
import { statement } from '../../../platform/db.ts'
import { type Waited, waits } from '../../../platform/nodes/waiting.ts'
import { open } from '../records/store.ts'

const overAmong = statement.everywhere<
  { [K in keyof Waited]: Waited[K] } & { open: readonly string[] },
  { id: string }
>(
  'payments.over_among',
  `select id from payments.payments
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and environment in ('test', 'live')
      and id = any($ids::uuid[]) and status <> all($open::text[])`,
)

export const paymentWaits = waits({
  name: 'payments',
  most: 1_000,
  lookMs: 1_000,
  looksFirst: true,
  isTold: true,
  happened: (db, waited) => db.query(overAmong, { ...waited, open }),
})
