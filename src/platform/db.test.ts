// SPDX-License-Identifier: Apache-2.0
// The pool as requests meet it when there is no connection left for them.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestDatabase } from '../../test/database.ts'
import { Database, isUnavailable, statement } from './db.ts'

const database = await createTestDatabase()
after(() => database.drop())

const look = statement<object, { one: number }>('test.look', 'select 1 as one')

test('a connection is waited for as long as was said, and then the database is out of reach', async (t) => {
  const [hasty, patient] = [pool(50), pool(60_000)]
  t.after(() => Promise.all([hasty.close(), patient.close()]))
  await Promise.all([openAtLast(hasty), openAtLast(patient)])
  let waiting: Promise<object[]> = Promise.resolve([])
  await patient.tx(async () => {
    waiting = patient.query(look, {})
    await hasty.tx(() => assert.rejects(hasty.query(look, {}), isUnavailable))
  })
  assert.deepEqual(await waiting, [{ one: 1 }])
})

/** With one connection, so that whoever comes second waits for a turn. */
function pool(waitMs: number): Database {
  return new Database(
    { url: database.url, poolSize: 1, waitMs, statementTimeoutMs: 0, applicationName: 'test' },
    () => undefined,
  )
}

/** On a slow machine a connection may take longer to open than it is waited for. */
async function openAtLast(db: Database): Promise<void> {
  for (;;) {
    const found = await db.query(look, {}).catch(() => null)
    if (found) return
  }
}
