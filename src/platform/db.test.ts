// SPDX-License-Identifier: Apache-2.0
// Connection pool when no connection is free.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase } from '../../test/database.ts'
import { Database, isUnavailable, statement } from './db.ts'

const database = await createTestDatabase()
after(() => database.drop())

const look = statement.home<object, { one: number }>('test.look', 'select 1 as one')

test('a connection is waited for as long as was said, and then the database is unreachable', async (t) => {
  const [hasty, patient] = [pool(50), pool(60_000)]
  t.after(() => Promise.all([hasty.close(), patient.close()]))
  await Promise.all([openAtLast(hasty), openAtLast(patient)])
  let waiting: Promise<object[]> = Promise.resolve([])
  await patient.acrossTx(async () => {
    waiting = patient.query(look, {})
    await hasty.acrossTx(() => assert.rejects(hasty.query(look, {}), isUnavailable))
  })
  assert.deepEqual(await waiting, [{ one: 1 }])
})

test('what is looked up beside a transaction does not wait for the transactions, though they have every connection', async (t) => {
  const db = pool(1_000)
  t.after(() => db.close())
  await openAtLast(db)
  const looked = await db.acrossTx(() => Promise.all(Array.from({ length: 5 }, () => db.queryBeside(look, {}))))
  assert.deepEqual(looked.flat(), Array(5).fill({ one: 1 }))
})

test('a database whose host is gone without a word is out of reach, and is used again when it is back', async (t) => {
  const road = await openRoad(database.url)
  t.after(() => road.close())
  const db = new Database(
    { url: road.url, poolSize: 3, statementTimeoutMs: 1_000, applicationName: 'test' },
    () => undefined,
  )
  t.after(() => db.close())
  await Promise.all([openAtLast(db), db.acrossTx((tx) => tx.query(look, {}))])
  const begun = db.acrossTx(async (tx) => {
    road.stand()
    await Promise.all([
      assert.rejects(db.query(look, {}), isUnavailable),
      assert.rejects(
        db.acrossTx(() => Promise.resolve()),
        isUnavailable,
      ),
      tx.query(look, {}),
    ])
  })
  await assert.rejects(begun, isUnavailable)
  road.go()
  assert.deepEqual(await db.query(look, {}), [{ one: 1 }])
})

test('rows that are copied in are given up when the host is gone before they are asked for, or before it has said thanks', async (t) => {
  await database.sql('create table copied (line text)')
  const given = ['copy copied', 'a line'].map(async (last) => {
    const road = await openRoad(database.url)
    t.after(() => road.close())
    const db = new Database(
      { url: road.url, poolSize: 1, statementTimeoutMs: 1_000, applicationName: 'test' },
      () => undefined,
    )
    t.after(() => db.close())
    await openAtLast(db)
    road.standAt(last)
    await assert.rejects(db.copyIn('copied', ['line'], ['a line\n']), isUnavailable)
    road.go()
    await db.copyIn('copied', ['line'], ['another\n'])
  })
  await Promise.all(given)
  assert.deepEqual(await database.sql('select line from copied'), [{ line: 'another' }, { line: 'another' }])
})

test('a list of texts arrives as it was given: with quotes, empty ones and null', async () => {
  const lists = statement.home<{ list: readonly string[] }, { list: string }>(
    'test.list',
    'select array_to_json($list::text[])::text as list',
  )
  const db = database.connect()
  for (const list of ['["plain","","NULL"]', '["a \\"quote\\"","a \\\\"]', '["one",null]', '[null]', '[]'])
    assert.deepEqual(await db.query(lists, { list: JSON.parse(list) }), [{ list }])
})

test('a transaction may allow itself more time for its statements', async () => {
  const db = database.connect()
  const limited = statement.home<object, { limit: string }>(
    'test.limit',
    `select current_setting('statement_timeout') as limit`,
  )
  await db.acrossTx(async (tx) => assert.deepEqual(await tx.query(limited, {}), [{ limit: '10min' }]), {
    statementTimeoutMs: 600_000,
  })
})

/** Proxy to the server on which all traffic can stall silently. */
async function openRoad(url: string) {
  const { host, port, user, password = '', database: name } = new pg.Client({ connectionString: url })
  const sockets = new Set<Socket>()
  let isStanding = false
  let last: string | null = null
  const server = createServer((near) => {
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => {
        if (last !== null && bytes.includes(last)) isStanding = true
        if (!isStanding) to.write(bytes)
      })
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the road has no port')
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${address.port}/${name}?sslmode=disable`,
    stand: () => {
      isStanding = true
    },
    /** Stall from these words on, which are not delivered. */
    standAt: (words: string) => {
      last = words
    },
    go: () => {
      isStanding = false
      last = null
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** One connection, so that the second caller waits. */
function pool(waitMs: number): Database {
  return new Database(
    { url: database.url, poolSize: 1, waitMs, statementTimeoutMs: 0, applicationName: 'test' },
    () => undefined,
  )
}

/** On a slow machine opening a connection may take longer than the timeout. */
async function openAtLast(db: Database): Promise<void> {
  for (;;) {
    const found = await db.query(look, {}).catch(() => null)
    if (found) return
  }
}

test('a transaction of a tenant runs what is kept with it, reads what is kept at home, and refuses the rest', async () => {
  const db = database.connect()
  const own = statement.tenant<{ bucket: number }, { bucket: number }>('test.own', 'select $bucket::int as bucket')
  const items = statement.tenant<{ buckets: readonly number[] }, object>('test.items', 'select 1 as one')
  const lock = statement.home<object, object>('test.lock', 'select 1 as one from (values (1)) v(n) for update')
  await db.tx({ bucket: 7 }, async (tx) => {
    assert.deepEqual(await tx.query(own, { bucket: 7 }), [{ bucket: 7 }])
    assert.equal((await tx.query(items, { buckets: [7, 7] })).length, 1)
    assert.equal((await tx.query(look, {})).length, 1)
    await assert.rejects(tx.query(own, { bucket: 8 }), /buckets 8, and this is a transaction of 7/)
    await assert.rejects(tx.query(items, { buckets: [7, 8] }), /buckets 7,8/)
    await assert.rejects(tx.query(lock, {}), /test\.lock runs home/)
  })
  await db.homeTx(async (tx) => {
    assert.equal((await tx.query(look, {})).length, 1)
    await assert.rejects(tx.query(own, { bucket: 7 }), /this is a transaction of home/)
  })
  const everywhere = statement.everywhere<object, object>('test.everywhere', 'select 1 as one')
  await db.acrossTx(async (tx) => {
    for (const bucket of [7, 8]) assert.deepEqual(await tx.query(own, { bucket }), [{ bucket }])
    assert.equal((await tx.query(everywhere, {})).length, 1)
  })
})
