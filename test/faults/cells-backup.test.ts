// SPDX-License-Identifier: Apache-2.0
// A backup of an installation with three databases, taken while they are written to and amounts go from one to the other: restored
// into empty ones, each amount is there once, and each database refuses the buckets of the others. A backup or restore that
// fails, or is killed, leaves what was there before.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { backup, restore } from '../../src/platform/backup/backup.ts'
import { beginTogether, sessionsOf } from '../../src/platform/backup/moment.ts'
import { settleDecisions } from '../../src/platform/db/across.ts'
import { Database } from '../../src/platform/db.ts'
import { Cells } from '../../src/platform/moves/cells.ts'
import { addCell } from '../../src/platform/moves/members.ts'
import { type CellServer, fill, startCells } from '../cells.ts'
import { eventually } from '../eventually.ts'
import { type Ended, endAll, Program } from '../program.ts'
import { joinCells } from '../two-cells.ts'
import { openWatchedRoad } from '../watched-road.ts'

const account = '00000000-0000-7000-8000-000000000001'
const [even, odd] = [8, 7]
const currencies = ['KES', 'UGX', 'TZS', 'RWF']
const folder = join(tmpdir(), `pamoja-cells-backup-${randomUUID()}`)
const file = `${folder}.backup`

let server: CellServer
let db: Database

before(async () => {
  server = await startCells(['east', 'west', 'home2', 'east2', 'west2', 'spare'])
  const database = (name: string): Parameters<typeof joinCells>[0] => ({
    url: server.url(name),
    sql: (text, values) => server.sql(name, text, values),
  })
  await joinCells(database('home'), database('east'))
  const cells = new Cells(new Map(['home', 'west'].map((name) => [name, server.url(name)])))
  await addCell(cells, 'west', () => undefined)
  await cells.close()
  await fill(server, 'home', even, 500)
  await fill(server, 'east', odd, 700)
  for (const [cell, bucket] of [['home', even] as const, ['east', odd] as const])
    await server.sql(
      cell,
      `insert into ledger.wallets (bucket, account_id, environment, currency, balance) select $1, $2, 'live', c, 1000000 from unnest($3::text[]) c`,
      [bucket, account, currencies],
    )
  db = open('home', { east: server.url('east'), west: server.url('west') })
})

after(async () => {
  await endAll()
  await db.close()
  await server.stop()
  for (const name of await files()) await rm(join(tmpdir(), name), { force: true })
})

function open(home: string, cells: Readonly<Record<string, string>>): Database {
  const others = Object.entries(cells).map(([name, url]) => ({ name, url }))
  const options = { url: server.url(home), poolSize: 2, statementTimeoutMs: 0, applicationName: 'test' }
  const made = new Database({ ...options, cells: others }, () => undefined)
  made.place(Object.keys(cells), new Map())
  return made
}

function command(args: string[], home: string, cells: Readonly<Record<string, string>>): Program {
  const PAMOJA_CELLS = Object.entries(cells)
    .map(([name, database]) => `${name}=${server.url(database)}`)
    .join(' ')
  return new Program({ args, environment: { PAMOJA_HOME: folder, DATABASE_URL: server.url(home), PAMOJA_CELLS } })
}

function run(args: string[], home: string, cells: Readonly<Record<string, string>>): Promise<Ended> {
  return command(args, home, cells).ended
}

/** What lies where the backup is written. */
async function files(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith(basename(file))).sort()
}

/** Takes one amount after the other from one database to the other, as nodes do: prepared there, decided at home. */
async function transfer(currency: string, isOver: () => boolean): Promise<number> {
  const [home, east] = ['home', 'east'].map((name) => new pg.Client({ connectionString: server.url(name) }))
  assert.ok(home && east)
  await Promise.all([home.connect(), east.connect()])
  let done = 0
  for (; !isOver(); done++) {
    const id = randomUUID()
    await east.query(`begin; ${add(1, currency)}; prepare transaction 'pamoja:${id}:east'`)
    await home.query(decided(id, currency))
    await east.query(`commit prepared 'pamoja:${id}:east'`)
  }
  await Promise.all([home.end(), east.end()])
  return done
}

function add(amount: number, currency: string): string {
  return `update ledger.wallets set balance = balance + ${amount} where account_id = '${account}' and currency = '${currency}'`
}

function decided(id: string, currency: string): string {
  return `begin; ${add(-1, currency)}; insert into platform.decisions (id, commits) values ('${id}', true); commit`
}

async function balanceIn(cell: string): Promise<number> {
  const [row] = await server.sql<{ balance: number }>(
    cell,
    'select sum(balance)::int as balance from ledger.wallets where account_id = $1',
    [account],
  )
  return row?.balance ?? 0
}

const cells = { east: 'east', west: 'west' }

test('all databases are backed up of one moment', async (t) => {
  let isOver = false
  const transfers = Promise.all(currencies.map((currency) => transfer(currency, () => isOver)))
  await eventually(async () => (await balanceIn('east')) > 4_000_000, 'a transfer')
  const { stdout, code, sentence } = await run(['backup', file], 'home', cells)
  isOver = true
  assert.equal(code, 0, sentence)
  assert.match(
    stdout,
    /^Backed up .* to .*\.backup \(.*\) and .*\.backup\.east\.[0-9a-f]{8} \(.*\) and .*\.west\.[0-9a-f]{8} \(/,
  )
  t.diagnostic(`${(await transfers).reduce((sum, done) => sum + done)} transfers, some of them after the backup`)
})

test('a backup that is killed, or fails, leaves the one before it as it is', async () => {
  const kept = await files()
  assert.equal(kept.length, 3)
  const gate = new pg.Client({ connectionString: server.url('east') })
  await gate.connect()
  const waiting = `from pg_locks join pg_database d on d.oid = database where not granted and datname = current_database()`
  try {
    await gate.query('begin; lock table work.jobs in access exclusive mode')
    const killed = command(['backup', file], 'home', cells)
    await eventually(async () => (await gate.query(`select ${waiting}`)).rowCount === 1, 'the backup to wait')
    await assert.rejects(backup(db, file), /Another backup is being written to .*There is no backup\.$/)
    await killed.stop('SIGKILL')
    assert.deepEqual(
      (await files()).filter((name) => !name.endsWith('.part')),
      kept,
    )
    // A session that waits for a lock does not notice that its client is gone.
    await gate.query(`select pg_terminate_backend(pid) ${waiting}`)
    await eventually(async () => (await gate.query(`select ${waiting}`)).rowCount === 0, 'its session to end')
    const failing = assert.rejects(backup(db, file), /terminat/)
    await eventually(
      async () => (await gate.query(`select pg_terminate_backend(pid) ${waiting}`)).rowCount === 1,
      'another to wait',
    )
    await failing
  } finally {
    await gate.end()
  }
  assert.deepEqual(
    (await files()).filter((name) => !name.endsWith('.part')),
    kept,
  )
})

test('a restore of several databases fills all of them or none', async (t) => {
  const into = (home: string, others: Readonly<Record<string, string>>, reason: RegExp): Promise<void> => {
    const target = open(home, others)
    t.after(() => target.close())
    return assert.rejects(restore(target, file), reason)
  }
  const [east, west] = [server.url('east2'), server.url('west2')]
  const ofWest = (await files()).find((name) => /\.west\.[0-9a-f]{8}$/.test(name))
  assert.ok(ofWest)
  const path = join(tmpdir(), ofWest)
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(0, -100))
  await into('home2', { east, west }, /\.west\.[0-9a-f]{8} is .*damaged.* Nothing was restored\.$/)
  await writeFile(path, bytes)
  await into('home2', { east: server.url('home2'), west }, /leads to the home database/)
  const row = `insert into platform.data_keys (bucket, account_id, id, root_key, wrapped) values (1, gen_random_uuid(), 1, '', '')`
  await server.sql('west2', row)
  await into('home2', { east, west }, /The database of west already holds accounts or their data/)
  await server.sql('west2', 'delete from platform.data_keys')
  for (const name of ['home2', 'east2']) assert.deepEqual(await server.sql(name, 'select from ledger.wallets'), [])

  const road = await openWatchedRoad(server.url('home2'))
  road.on('Q\0\0\0\x0bcommit\0', 'before', () => road.close())
  const cut = new Database(
    {
      ...{ url: road.url, poolSize: 1, statementTimeoutMs: 0, applicationName: 'test' },
      cells: [
        { name: 'east', url: east },
        { name: 'west', url: west },
      ],
    },
    () => undefined,
  )
  t.after(() => cut.close())
  await assert.rejects(restore(cut, file))
  assert.deepEqual(await server.sql('home2', 'select from ledger.wallets'), [], 'home is committed last')
  assert.ok((await balanceIn('east2')) > 0, 'the others are filled: the same command fills them again')

  const restored = await run(['restore', file], 'home2', { east: 'east2', west: 'west2' })
  assert.equal(restored.code, 0, restored.sentence)
  assert.match(restored.stdout, /^Restored [\s\S]*\neast is open\.\nwest is open\.\n$/)
  const [here, there] = [await balanceIn('home2'), await balanceIn('east2')]
  t.diagnostic(`${there - 4_000_000} transfers are in the backup`)
  assert.ok(there > 4_000_000, 'those before the backup are in it')
  assert.equal(here + there, 8_000_000, 'an amount is in both or in neither')
  for (const [cell, bucket, foreign, rows] of [
    ['home2', even, odd, 500] as const,
    ['east2', odd, even, 700] as const,
  ]) {
    const [found] = await server.sql<{ rows: number }>(
      cell,
      'select count(*)::int as rows from events.events where bucket = $1',
      [bucket],
    )
    assert.equal(found?.rows, rows)
    await assert.rejects(fill(server, cell, foreign, 1), { code: '23514', constraint: 'own_bucket' })
  }
  const { stdout: list } = await run(['cells', 'list'], 'home2', { east: 'east2', west: 'west2' })
  assert.match(list, /^home +open +0,2,4.*\neast +open +1,3,5.* \d+ kB\nwest +open +none .* \d+ kB$/m)
})

test('a backup takes the place of the one before it, and of what those that were killed have left', async () => {
  const before = await files()
  await backup(db, file)
  const now = await files()
  assert.equal(now.length, 3)
  assert.deepEqual(
    now.filter((name) => before.includes(name)),
    [basename(file)],
  )
})

test('what was decided when a node died is ended by another while a backup waits for it', async () => {
  const [id, undecided] = [randomUUID(), randomUUID()]
  await server.sql('east', `begin; ${add(1, 'UGX')}; prepare transaction 'pamoja:${undecided}:east'`)
  await server.sql('east', `begin; ${add(1, 'KES')}; prepare transaction 'pamoja:${id}:east'`)
  await server.sql('home', decided(id, 'KES'))
  const sessions = await sessionsOf(db.cells)
  try {
    const begun = beginTogether(sessions)
    const held = `select from pg_locks where relation = 'platform.decisions'::regclass and mode = 'ShareLock' and granted`
    await eventually(async () => (await server.sql('home', held)).length > 0, 'the backup to wait for it')
    const [east] = db.cells.filter(({ name }) => name === 'east')
    assert.ok(east)
    const settled = settleDecisions(db.home, east, 0)
    await begun
    assert.equal(await settled, 2)
  } finally {
    for (const { client } of sessions) await client.end()
  }
  assert.equal((await balanceIn('home')) + (await balanceIn('east')), 8_000_000)
})

test('what a cell has of home is in the backup of home, also if it was written while the backup began', async () => {
  const road = await openWatchedRoad(server.url('east'))
  const watched = open('home', { east: road.url })
  road.on('begin isolation level', 'hold', async () => {
    await server.sql('home', `insert into sms.country_rules (country, updated_at) values ('TZ', now())`)
    await fill(server, 'east', odd, 1)
    road.go()
  })
  const sessions = await sessionsOf(watched.cells)
  try {
    await beginTogether(sessions)
    const [home, east] = sessions
    const rows = await east?.client.query('select from events.events where bucket = $1', [odd])
    assert.equal(rows?.rowCount, 701)
    const named = await home?.client.query(`select from sms.country_rules where country = 'TZ'`)
    assert.equal(named?.rowCount, 1)
  } finally {
    for (const { client } of sessions) await client.end()
    await watched.close()
    road.close()
  }
})

test('a backup of several databases is not restored in part, nor made while a bucket moves', async () => {
  const lacking = await run(['restore', file], 'spare', {})
  assert.match(lacking.sentence, /add east to PAMOJA_CELLS, with an empty one\. Nothing was restored\.$/)
  const ofEast = (await files()).find((name) => /\.east\.[0-9a-f]{8}$/.test(name))
  const part = await run(['restore', join(tmpdir(), ofEast ?? '')], 'spare', {})
  assert.match(part.sentence, /is the part of east: name the file of home\. Nothing was restored\.$/)
  assert.deepEqual(await server.sql('spare', 'select from ledger.wallets'), [])
  await server.sql('home', `insert into platform.bucket_moves (bucket, from_cell, to_cell) values (9, 'east', 'home')`)
  const moving = await run(['backup', file], 'home', cells)
  assert.match(moving.sentence, /^Bucket 9 is being moved: finish that first .* There is no backup\.$/)
})
