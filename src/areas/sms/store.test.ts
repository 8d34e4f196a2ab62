// SPDX-License-Identifier: Apache-2.0
// Rows that a page of messages reads, beside many accounts, after more calls than PostgreSQL needs to keep a plan.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld, tenantOf } from '../../../test/world.ts'
import { firstUuidAt } from '../../kernel/ids.ts'
import { one, statement } from '../../platform/db.ts'
import { listMessages, type MessageFilter } from './store.ts'

const accounts = 40
const ofEach = 500
const limit = 50

const world = await startWorld()
after(() => world.stop())

const rowsRead = statement.home<Record<never, never>, { read: number }>(
  'test.rows_of_messages_read',
  `select coalesce(sum(pg_stat_get_xact_tuples_fetched(inhrelid) + pg_stat_get_xact_tuples_returned(inhrelid)), 0)::int as read
     from pg_inherits where inhparent = 'sms.messages'::regclass`,
)

const all: MessageFilter = {
  from: '00000000-0000-0000-0000-000000000000',
  to: firstUuidAt(Date.parse('2100-01-01')),
  since: null,
  until: null,
  status: null,
  recipient: null,
  sender: null,
  direction: null,
  batch: null,
  scheduled: null,
  errorCode: null,
  reference: null,
  now: new Date(),
  country: null,
  text: null,
  metadata: null,
}

test('a page of messages reads as many rows as it shows, however long the list is', async () => {
  const ada = await world.account({ balance: 10 })
  await ada.client.post('/v1/sms/send', { to: '+254711000001', from: 'ACME', message: 'Habari' })
  const tenant = tenantOf(ada)
  const session = await world.app.db.connect()
  await session.query(
    `insert into sms.messages
     select r.* from (select * from sms.messages limit 1) m
      cross join generate_series(1, $1::int) n
      cross join lateral jsonb_populate_record(null::sms.messages, to_jsonb(m) || jsonb_build_object(
        'id', platform.uuid_at(now() - n * interval '1 second'),
        'account_id', case when n % $2::int = 0 then m.account_id else md5((n % $2)::text)::uuid end,
        'bucket', case when n % $2 = 0 then m.bucket else n % $2 end)) r`,
    [accounts * ofEach, accounts],
  )
  await session.query('analyze sms.messages')
  await session.end()
  for (const descending of [true, false])
    await world.app.db.tx(tenant, async (tx) => {
      const window = { limit, descending, after: null }
      for (let n = 0; n < 10; n++) await listMessages(tx, tenant, window, all)
      const before = await one(tx.query(rowsRead, {}))
      const rows = await listMessages(tx, tenant, window, all)
      const { read } = await one(tx.query(rowsRead, {}))
      assert.equal(rows.length, limit + 1)
      assert.ok(read - before.read <= 2 * limit, `${read - before.read} rows were read for ${limit}, of ${ofEach}`)
    })
})
