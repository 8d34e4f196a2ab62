// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import { serversIn } from '../../config/setting.ts'
import { Database, maybe, statement } from '../db.ts'
import { Servers } from './servers.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const nobody = '127.0.0.1:1'

/** The test's database by an address that names another server first. */
function afterNobody(): string {
  const { host, port, user, database: name } = new pg.Client({ connectionString: database.url })
  return `postgres://${user}@${nobody},${encodeURIComponent(host)}:${port}/${name}`
}

const given = [
  ['postgres://u:p@one/db', ['postgres://u:p@one/db']],
  ['postgres://u:p@one:1,two:2/db', ['postgres://u:p@one:1/db', 'postgres://u:p@two:2/db']],
  ['postgres://one,two/db?sslmode=require', ['postgres://one/db?sslmode=require', 'postgres://two/db?sslmode=require']],
  ['postgres://one,two/db?target_session_attrs=read-write', ['postgres://one/db', 'postgres://two/db']],
  ['postgres://one,two/db?target_session_attrs=primary&a=b', ['postgres://one/db?a=b', 'postgres://two/db?a=b']],
  ['postgres://one,two/db?a=b&target_session_attrs=any', ['postgres://one/db?a=b', 'postgres://two/db?a=b']],
  ['postgres://u@/db?host=/run/postgresql', ['postgres://u@/db?host=/run/postgresql']],
  ['postgres://u@%2Frun%2Fone,%2Frun%2Ftwo/db', ['postgres://u@%2Frun%2Fone/db', 'postgres://u@%2Frun%2Ftwo/db']],
] as const

test('an address may name several servers', () => {
  for (const [url, servers] of given) assert.deepEqual(serversIn(url), servers, url)
})

test('the server that takes writes is found, whichever place it has', async () => {
  const servers = new Servers(afterNobody(), 'test')
  assert.match(servers.url, new RegExp(nobody))
  await servers.find()
  assert.doesNotMatch(servers.url, new RegExp(nobody))
})

const anything = statement.home<Record<never, never>, { found: number }>('test.anything', 'select 1 as found')

test('a pool whose server is gone goes on with another after its first failure', async () => {
  const options = { poolSize: 2, statementTimeoutMs: 5_000, applicationName: 'test' }
  const db = new Database({ ...options, url: afterNobody() }, () => undefined)
  try {
    await assert.rejects(db.query(anything, {}), /ECONNREFUSED/)
    for (;;) {
      const row = await maybe(db.query(anything, {})).catch(() => null)
      if (row) return assert.equal(row.found, 1)
      await new Promise((resolve) => setImmediate(resolve))
    }
  } finally {
    await db.close()
  }
})
