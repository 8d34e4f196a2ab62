// SPDX-License-Identifier: Apache-2.0
// Request log while the database is unavailable.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestDatabase } from '../../../test/database.ts'
import { bucketOf, newUuid } from '../../kernel/ids.ts'
import { systemClock } from '../clock.ts'
import { Database, type Statement, type Value } from '../db.ts'
import { createLog } from '../telemetry/log.ts'
import { RequestLog } from './request-log.ts'

const database = await createTestDatabase(['platform'])
after(() => database.drop())

/** Refuses the first write. */
class Back extends Database {
  lines = 0
  maxAtOnce = 0
  #atOnce = 0
  #isBack = false

  override async copyIn(_table: string, _columns: readonly string[], rows: readonly string[]): Promise<void> {
    this.maxAtOnce = Math.max(this.maxAtOnce, ++this.#atOnce)
    await database.sql('select 1')
    this.#atOnce--
    if (this.#isBack) this.lines += rows.length
    else {
      this.#isBack = true
      throw new Error('it was away')
    }
  }
}

const account = newUuid(systemClock.nowMs())
const tenant = { bucket: bucketOf(account), account, environment: 'test' } as const
const line = {
  id: account,
  key_id: account,
  operation: 'notes.create',
  method: 'POST',
  path: '/v1/notes',
  status: 201,
  error_code: null,
  duration_us: 1,
  ip: '::1',
  warning: null,
  request_body: null,
  response_body: null,
}

test('all who waited for a write that failed have the next lines written once, over one connection', async (t) => {
  const db = new Back(
    { url: database.url, poolSize: 10, statementTimeoutMs: 30_000, applicationName: 'test' },
    () => undefined,
  )
  t.after(() => db.close())
  const log = new RequestLog(db, systemClock, createLog({ level: 'silent', pretty: false, file: '/dev/null' }))
  for (let i = 0; i < 2_500; i++) log.add(tenant, line)
  await Promise.all([log.flush(), log.flush(), log.flush(), log.flush()])
  assert.deepEqual([db.lines, db.maxAtOnce, log.dropped], [2_000, 1, 500])
})

/** Accepts lines, but refuses counts at first. */
class Uncounted extends Database {
  lines = 0
  counted = 0
  isCounting = false

  override async copyIn(_table: string, _columns: readonly string[], rows: readonly string[]): Promise<void> {
    this.lines += rows.length
  }

  override async query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    if (!this.isCounting) throw new Error('it is locked')
    this.counted++
    return super.query(statement, parameters)
  }
}

test('a line that was written is not among those that were dropped, though its usage could not be counted at once', async (t) => {
  const db = new Uncounted(
    { url: database.url, poolSize: 1, statementTimeoutMs: 30_000, applicationName: 'test' },
    () => undefined,
  )
  t.after(() => db.close())
  const log = new RequestLog(db, systemClock, createLog({ level: 'silent', pretty: false, file: '/dev/null' }))
  for (let i = 0; i < 3; i++) log.add(tenant, line)
  await log.flush()
  assert.deepEqual([db.lines, log.dropped], [3, 0])
  db.isCounting = true
  await log.stop()
  assert.deepEqual([db.lines, db.counted], [3, 1], 'it is counted without another line')
  const [usage] = await database.sql<{ requests: number }>(
    `select sum(requests)::int as requests from platform.usage where account_id = '${account}' and operation = 'notes.create'`,
  )
  assert.equal(usage?.requests, 2_503)
})
