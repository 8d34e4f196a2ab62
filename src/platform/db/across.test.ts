// SPDX-License-Identifier: Apache-2.0
// Transactions over several cells, on two databases with a road to each, on which everything ends at a chosen word: for the
// databases that is a node that was killed there.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { createMigratedDatabase } from '../../../test/database.ts'
import { eventually } from '../../../test/eventually.ts'
import { openWatchedRoad } from '../../../test/watched-road.ts'
import { AppError } from '../../kernel/errors.ts'
import { Database, statement } from '../db.ts'
import { settleDecisions } from './across.ts'

const home = await createMigratedDatabase()
const east = await createMigratedDatabase()
after(async () => {
  await east.drop()
  await home.drop()
})
const [server] = await home.sql<{ most: string }>(`select current_setting('max_prepared_transactions') as most`)
const skip = server?.most === '0' ? 'the server keeps no prepared transactions' : false

const createThings = `create schema trial; create table trial.things (bucket smallint, name text);
  create function trial.note(b smallint, n text) returns void language sql as 'insert into trial.things values (b, n)'`
await Promise.all([home, east].map((database) => database.sql(createThings)))

const note = statement.tenant<{ bucket: number; name: string }, object>(
  'trial.note',
  'select trial.note($bucket::smallint, $name::text)',
)
const list = statement.everywhere<object, { bucket: number; name: string }>(
  'trial.list',
  'select bucket, name from trial.things where bucket >= 0 order by 1, 2',
)
const listed = statement.everywhere<{ buckets: readonly number[] }, { bucket: number; name: string }>(
  'trial.listed',
  'select bucket, name from trial.things where bucket = any($buckets::smallint[]) order by 1, 2 limit 1',
)
const look = statement.tenant<{ bucket: number }, { name: string }>(
  'trial.look',
  'select name from trial.things where bucket = $bucket order by 1',
)
const here = statement.home<object, { name: string }>('trial.here', 'select current_database() as name')

const [atHome, inEast] = [2, 3]
const places = new Map([[inEast, 'east']])

test('a statement and a transaction run in the cell of their bucket, and what is kept at home is read at home', async (t) => {
  const db = open(t, home.url, east.url)
  await db.tx({ bucket: inEast }, async (tx) => {
    await tx.query(note, { bucket: inEast, name: 'routed' })
    assert.deepEqual(await tx.query(here, {}), [{ name: nameOf(home.url) }])
  })
  await db.query(note, { bucket: atHome, name: 'routed' })
  assert.deepEqual(await named('routed'), { home: 1, east: 1 })
  assert.deepEqual(await db.query(look, { bucket: inEast }), [{ name: 'routed' }])
  assert.deepEqual(await db.query(list, {}), [
    { bucket: atHome, name: 'routed' },
    { bucket: inEast, name: 'routed' },
  ])
})

test('a bucket of a cell that is not there is refused, and the others are served', async (t) => {
  const db = open(t, home.url, 'postgres://nobody@127.0.0.1:1/none')
  await assert.rejects(db.query(look, { bucket: inEast }))
  assert.ok(Array.isArray(await db.query(look, { bucket: atHome })))
  db.place([], places)
  await assert.rejects(db.query(look, { bucket: inEast }), AppError)
  await assert.rejects(
    db.acrossTx((tx) => tx.query(look, { bucket: inEast })),
    AppError,
  )
})

test('what is about every cell is refused while one with buckets is not opened, and is not done in part', async (t) => {
  const db = open(t, home.url, east.url)
  db.place(['east'], places, () => false)
  assert.deepEqual(db.unopened, ['east'])
  await assert.rejects(db.query(list, {}), AppError)
  await assert.rejects(
    db.acrossTx((tx) => tx.query(list, {})),
    AppError,
  )
  const { rows, failure } = await db.queryReached(list, {})
  assert.ok(rows.every(({ bucket }) => bucket === atHome))
  assert.ok(failure instanceof AppError)
  assert.throws(() => db.requireEvery(), /the database of east/)
  assert.deepEqual(
    db.separate([atHome, inEast, atHome], (bucket) => bucket),
    [[atHome, atHome], [inEast]],
  )
  assert.throws(() => db.apart([atHome, inEast], (bucket) => bucket), AppError)
  assert.deepEqual(await db.query(listed, { buckets: [atHome] }), rows.slice(0, 1))
  await assert.rejects(db.query(listed, { buckets: [atHome, inEast] }), AppError)
})

test('what names its buckets is asked where they live', async (t) => {
  const db = open(t, home.url, 'postgres://nobody@127.0.0.1:1/none')
  assert.ok(Array.isArray(await db.query(listed, { buckets: [atHome] })))
  await assert.rejects(db.query(listed, { buckets: [atHome, inEast] }))
})

test('a transaction that changes two cells changes both or none', { skip }, async (t) => {
  const db = open(t, home.url, east.url)
  await changeBoth(db, 'both')
  assert.deepEqual(await named('both'), { home: 1, east: 1 })
  const failing = db.acrossTx(async (tx) => {
    await tx.query(note, { bucket: atHome, name: 'none' })
    await tx.query(note, { bucket: inEast, name: 'none' })
    throw new Error('changed its mind')
  })
  await assert.rejects(failing, /changed its mind/)
  assert.deepEqual(await named('none'), { home: 0, east: 0 })
  assert.equal(await prepared(), 0)
})

test('a transaction that changes one cell alone needs no decision', async (t) => {
  const db = open(t, home.url, east.url)
  const before = await home.sql('select 1 from platform.decisions')
  await db.acrossTx(async (tx) => {
    await tx.query(look, { bucket: atHome })
    await tx.query(note, { bucket: inEast, name: 'alone' })
  })
  assert.deepEqual(await named('alone'), { home: 0, east: 1 })
  assert.equal((await home.sql('select 1 from platform.decisions')).length, before.length)
})

/** Where a node is killed: on which road, at which words, before they arrive or after they were obeyed; and what stands then. */
const kills = [
  { road: 'east', words: 'prepare transaction', when: 'before', stands: 0 },
  { road: 'east', words: 'prepare transaction', when: 'after', stands: 0 },
  { road: 'home', words: 'insert into platform.decisions', when: 'before', stands: 0 },
  { road: 'home', words: 'insert into platform.decisions', when: 'after', stands: 0 },
  { road: 'home', words: 'commit\0', when: 'before', stands: 0 },
  { road: 'home', words: 'commit\0', when: 'after', stands: 1 },
  { road: 'east', words: 'commit prepared', when: 'before', stands: 1 },
  { road: 'east', words: 'commit prepared', when: 'after', stands: 1 },
] as const

for (const [i, { road, words, when, stands }] of kills.entries())
  test(`a node killed ${when} "${words.replace('\0', '')}" leaves ${stands ? 'all' : 'nothing'} of its transaction, once another has looked`, {
    skip,
  }, async (t) => {
    const roads = { home: await openWatchedRoad(home.url), east: await openWatchedRoad(east.url) }
    const killed = open(t, roads.home.url, roads.east.url)
    const other = open(t, home.url, east.url)
    roads[road].on(words, when, () => {
      for (const each of Object.values(roads)) each.close()
    })
    const name = `killed ${i}`
    const answered = await changeBoth(killed, name).then(
      () => true,
      () => false,
    )
    await eventually(async () => (await openTransactions()) === 0, 'the databases to notice that the node is gone')
    const [cell] = other.cells.slice(1)
    assert.ok(cell)
    await settleDecisions(other.home, cell, 0)
    assert.deepEqual(await named(name), { home: stands, east: stands })
    assert.equal(await prepared(), 0)
    assert.ok(!answered || stands === 1, 'what was confirmed is there')
  })

test('a transaction that another node took for abandoned is not committed any more', { skip }, async (t) => {
  const roads = { home: await openWatchedRoad(home.url), east: await openWatchedRoad(east.url) }
  t.after(() => Object.values(roads).map((road) => road.close()))
  const slow = open(t, roads.home.url, roads.east.url)
  const other = open(t, home.url, east.url)
  const [cell] = other.cells.slice(1)
  assert.ok(cell)
  roads.home.on('insert into platform.decisions', 'hold', async () => {
    assert.equal(await settleDecisions(other.home, cell, 0), 1)
    roads.home.go()
  })
  await assert.rejects(changeBoth(slow, 'late'), AppError)
  assert.deepEqual(await named('late'), { home: 0, east: 0 })
  assert.equal(await prepared(), 0)
})

test('transactions that end prepared ones do not disturb each other', { skip }, async (t) => {
  const db = open(t, home.url, east.url)
  const [cell] = db.cells.slice(1)
  assert.ok(cell)
  const looking = setInterval(() => void settleDecisions(db.home, cell, 0).catch(() => undefined), 1)
  const names = Array.from({ length: 40 }, (_, i) => `busy ${i}`)
  const done = await Promise.all(
    names.map((name) =>
      changeBoth(db, name).then(
        () => true,
        () => false,
      ),
    ),
  )
  clearInterval(looking)
  await eventually(async () => (await settleDecisions(db.home, cell, 0)) === 0, 'nothing to be prepared')
  for (const [i, name] of names.entries()) {
    const { home: there, east: too } = await named(name)
    assert.equal(there, too, name)
    assert.equal(there === 1, done[i], name)
  }
})

type Ends = { after(run: () => Promise<unknown>): void }

function open(t: Ends, url: string, eastUrl: string): Database {
  const options = { url, poolSize: 4, statementTimeoutMs: 0, applicationName: 'trial' }
  const db = new Database({ ...options, cells: [{ name: 'east', url: eastUrl }] }, () => undefined)
  db.place(['east'], places)
  t.after(() => db.close())
  return db
}

function changeBoth(db: Database, name: string): Promise<void> {
  return db.acrossTx(async (tx) => {
    await tx.query(note, { bucket: atHome, name })
    await tx.query(note, { bucket: inEast, name })
  })
}

async function named(name: string): Promise<{ home: number; east: number }> {
  const count = 'select count(*)::int as n from trial.things where name = $1'
  const [there, too] = await Promise.all([home, east].map((each) => each.sql<{ n: number }>(count, [name])))
  return { home: there?.[0]?.n ?? -1, east: too?.[0]?.n ?? -1 }
}

async function prepared(): Promise<number> {
  return (await east.sql('select 1 from pg_prepared_xacts where database = current_database()')).length
}

/** Transactions of nodes that the two servers still know. */
async function openTransactions(): Promise<number> {
  const ask = `select 1 from pg_stat_activity
    where datname = current_database() and application_name = 'trial' and xact_start is not null`
  return (await home.sql(ask)).length + (await east.sql(ask)).length
}

function nameOf(url: string): string {
  return new pg.Client({ connectionString: url }).database ?? ''
}
