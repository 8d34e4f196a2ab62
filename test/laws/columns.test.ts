// SPDX-License-Identifier: Apache-2.0
// What a column of a much-written table may hold is the rule of its type, not a CHECK of the table, which PostgreSQL would
// read and plan anew for every statement. Here each of them refuses what it must not hold.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createMigratedDatabase } from '../database.ts'

const database = await createMigratedDatabase()
after(() => database.drop())

const refusals: readonly [table: string, column: string, values: readonly string[]][] = [
  ['ledger.wallets', 'environment', ['', 'sandbox']],
  ['ledger.wallets', 'held', ['-1']],
  ['ledger.wallets', 'overdraft', ['-1']],
  ['ledger.transfers', 'amount', ['0', '-1']],
  ['ledger.holds', 'amount', ['0', '-1']],
  ['ledger.holds', 'captured', ['-1']],
  ['ledger.holds', 'released', ['-1']],
  ['webhooks.deliveries', 'status', ['sent']],
  ['webhooks.health', 'state', ['dead']],
  ['sms.messages', 'direction', ['sideways']],
  ['sms.messages', 'status', ['expired']],
  ['sms.messages', 'encoding', ['utf8']],
  ['sms.messages', 'type', ['marketing']],
  ['payments.payments', 'purpose', ['gift']],
  ['payments.payments', 'method', ['cash']],
  ['payments.payments', 'status', ['paid']],
  ['payments.payments', 'dispute_status', ['drawn']],
  ['payments.payments', 'amount', ['0', '-1']],
  ['payments.payments', 'fee', ['-1']],
  ['payments.attempts', 'state', ['done']],
  ['payments.risk_checks', 'direction', ['refund']],
  ['payments.risk_checks', 'decision', ['maybe']],
]

for (const [table, column, values] of refusals)
  test(`${table}.${column} refuses ${values.map((value) => `"${value}"`).join(' and ')}`, async () => {
    const [type] = await database.sql<{ name: string }>(
      `select format_type(a.atttypid, a.atttypmod) as name
         from pg_attribute a where a.attrelid = $1::regclass and a.attname = $2`,
      [table, column],
    )
    for (const value of values)
      await assert.rejects(database.sql(`select $1::text::${type?.name}`, [value]), { code: '23514' })
  })

test('the partitions of a table have the types of its columns', async () => {
  const differing = await database.sql<{ partition: string; column: string }>(
    `select i.inhrelid::regclass::text as partition, p.attname as column
       from pg_inherits i
       join pg_attribute p on p.attrelid = i.inhparent and p.attnum > 0 and not p.attisdropped
       join pg_attribute c on c.attrelid = i.inhrelid and c.attname = p.attname
       join pg_class r on r.oid = i.inhparent and r.relkind = 'p'
      where c.atttypid <> p.atttypid`,
  )
  assert.deepEqual(differing, [])
})
