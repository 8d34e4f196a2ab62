// SPDX-License-Identifier: Apache-2.0
// A backup of an installation with two databases, taken while both are written to and amounts go from one to the other: restored
// into two empty ones, each amount is there once, and each database refuses the buckets of the other.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { type CellServer, fill, startCells } from '../cells.ts'
import { type Ended, endAll, Program } from '../program.ts'
import { joinCells } from '../two-cells.ts'

const account = '00000000-0000-7000-8000-000000000001'
const [even, odd] = [8, 7]
const currencies = ['KES', 'UGX', 'TZS', 'RWF']
const folder = join(tmpdir(), `pamoja-cells-backup-${randomUUID()}`)
const file = `${folder}.backup`

let server: CellServer

before(async () => {
  server = await startCells(['east', 'home2', 'east2', 'west'])
  const database = (name: string): Parameters<typeof joinCells>[0] => ({
    url: server.url(name),
    sql: (text, values) => server.sql(name, text, values),
  })
  await joinCells(database('home'), database('east'))
  await fill(server, 'home', even, 500)
  await fill(server, 'east', odd, 700)
  for (const [cell, bucket] of [['home', even] as const, ['east', odd] as const])
    await server.sql(
      cell,
      `insert into ledger.wallets (bucket, account_id, environment, currency, balance) select $1, $2, 'live', c, 1000000 from unnest($3::text[]) c`,
      [bucket, account, currencies],
    )
})

after(async () => {
  await endAll()
  await server.stop()
  for (const name of [file, `${file}.east`]) await rm(name, { force: true })
})

function program(args: string[], home: string, cells: string): Promise<Ended> {
  const environment = { PAMOJA_HOME: folder, DATABASE_URL: server.url(home), PAMOJA_CELLS: cells }
  return new Program({ args, environment }).ended
}

/** Takes one amount after the other from one database to the other, as nodes do: prepared there, decided at home. */
async function transfer(currency: string, isOver: () => boolean): Promise<number> {
  const [home, east] = ['home', 'east'].map((name) => new pg.Client({ connectionString: server.url(name) }))
  assert.ok(home && east)
  await Promise.all([home.connect(), east.connect()])
  const add = (amount: number): string =>
    `update ledger.wallets set balance = balance + ${amount} where account_id = '${account}' and currency = '${currency}'`
  let done = 0
  for (; !isOver(); done++) {
    const id = randomUUID()
    await east.query(`begin; ${add(1)}; prepare transaction 'pamoja:${id}:east'`)
    await home.query(`begin; ${add(-1)}; insert into platform.decisions (id, commits) values ('${id}', true); commit`)
    await east.query(`commit prepared 'pamoja:${id}:east'`)
  }
  await Promise.all([home.end(), east.end()])
  return done
}

async function balanceIn(cell: string): Promise<number> {
  const [row] = await server.sql<{ balance: number }>(
    cell,
    'select sum(balance)::int as balance from ledger.wallets where account_id = $1',
    [account],
  )
  return row?.balance ?? 0
}

test('both databases are backed up of one moment, and restored', async (t) => {
  let isOver = false
  const transfers = Promise.all(currencies.map((currency) => transfer(currency, () => isOver)))
  const { stdout, code, sentence } = await program(['backup', file], 'home', `east=${server.url('east')}`)
  isOver = true
  assert.equal(code, 0, sentence)
  assert.match(stdout, /^Backed up .* to .*\.backup \(.*\) and .*\.backup\.east \(/)
  const all = (await transfers).reduce((sum, done) => sum + done)
  const restored = await program(['restore', file], 'home2', `east=${server.url('east2')}`)
  assert.equal(restored.code, 0, restored.sentence)
  assert.match(restored.stdout, /^Restored [\s\S]*\neast is open\.\n$/)
  const [here, there] = [await balanceIn('home2'), await balanceIn('east2')]
  t.diagnostic(`${there - 4_000_000} of ${all} transfers are in the backup`)
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
  const { stdout: list } = await program(['cells', 'list'], 'home2', `east=${server.url('east2')}`)
  assert.match(list, /^home +open +0,2,4.*\neast +open +1,3,5.* \d+ kB$/m)
})

test('a backup of several databases is not restored in part, nor made while a bucket moves', async () => {
  const lacking = await program(['restore', file], 'west', '')
  assert.match(lacking.sentence, /add east to PAMOJA_CELLS, with an empty one\. Nothing was restored\.$/)
  const part = await program(['restore', `${file}.east`], 'west', '')
  assert.match(part.sentence, /is the part of east: name the file of home\. Nothing was restored\.$/)
  assert.deepEqual(await server.sql('west', 'select from ledger.wallets'), [])
  await server.sql('home', `insert into platform.bucket_moves (bucket, from_cell, to_cell) values (9, 'east', 'home')`)
  const moving = await program(['backup', file], 'home', `east=${server.url('east')}`)
  assert.match(moving.sentence, /^Bucket 9 is being moved: finish that first .* There is no backup\.$/)
})
