// SPDX-License-Identifier: Apache-2.0
// `npm start -- cells`, as an operator meets it first: what is missing is said in a sentence, and nothing is changed.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type CellServer, startCells } from './cells.ts'
import { eventually } from './eventually.ts'
import { type Ended, endAll, newHome, run } from './program.ts'

let server: CellServer
/** A server with PostgreSQL's own settings. */
let ordinary: CellServer
let home: Awaited<ReturnType<typeof newHome>>

before(async () => {
  server = await startCells(['east', 'west'], { log_statement: 'all' })
  ordinary = await startCells(['east'], { wal_level: 'replica', max_prepared_transactions: '0' })
  home = await newHome()
})

after(async () => {
  await endAll()
  await server.stop()
  await ordinary.stop()
  await home.remove()
})

function cells(words: readonly string[], others: string, url = server.url('home')): Promise<Ended> {
  return run(['cells', ...words], { PAMOJA_HOME: home.path, DATABASE_URL: url, PAMOJA_CELLS: others })
}

/** What it is asked, the cells it knows, and the sentence of its refusal. */
async function refuses(words: readonly string[], others: string, sentence: RegExp, url?: string): Promise<void> {
  const { code, sentence: said, stdout } = await cells(words, others, url)
  assert.match(said, sentence)
  assert.notEqual(code, 0)
  assert.equal(stdout, '')
}

test('what cannot be added is refused in a sentence', async () => {
  const east = `east=${server.url('east')}`
  await refuses(['add', 'north'], east, /^PAMOJA_CELLS names no cell north: add north=postgres:/)
  await refuses(['add', 'east'], `east=${server.url('home')}`, /leads to the home database/)
  await refuses(['add', 'east'], `east=${server.url('nowhere')}`, /^The cell east cannot be reached: .*nowhere/)
  await refuses(
    ['add', 'east'],
    `east=${ordinary.url('east')}`,
    /^The server of east has max_prepared_transactions = 0,/,
  )
  await refuses(['add', 'east'], east, /^The server of home has wal_level = replica,/, ordinary.url('home'))
  await refuses(['move', '256', 'east'], east, /^"256" is no bucket/)
  await refuses(['move', '7', 'east'], east, /^east is no cell of this installation yet: `npm start -- cells add east`/)
  await refuses(['drain', 'east'], east, /^east is no cell that can be drained/)
  await refuses(['list'], 'home=postgres://db/x', /PAMOJA_CELLS must be such as east=postgres:/)
})

test('a database that holds data of tenants is refused', async () => {
  const row = `insert into platform.data_keys (bucket, account_id, id, root_key, wrapped) values (1, gen_random_uuid(), 1, '', '')`
  await server.sql('west', row)
  await refuses(['add', 'west'], `west=${server.url('west')}`, /^The database of west holds accounts or their data/)
  await server.sql('west', 'delete from platform.data_keys')
})

test('a cell is added, listed, and has what belongs to no tenant, as it changes', async () => {
  const country = `insert into sms.country_rules (country, updated_at) values ($1, now())`
  await server.sql('home', country, ['KE'])
  const others = `east=${server.url('east')} west=${server.url('west')}`
  assert.match((await cells(['add', 'east'], others)).stdout, /^east is a cell of this installation now\./)
  // A restore that was killed left its note: once it is a cell in use, none may be filled into it.
  await server.sql('east', 'insert into platform.decisions (id, commits) values (gen_random_uuid(), false)')
  assert.match((await cells(['add', 'east'], others)).stdout, /^east is open\.$/m)
  assert.deepEqual(await server.sql('east', 'select from platform.decisions where not commits'), [])
  const { stdout } = await cells(['list'], others)
  assert.match(stdout, /^home +open +0-255 +\d+ MB$/m)
  assert.match(stdout, /^east +open +none +\d+ MB +\d+ kB$/m)
  assert.match(stdout, /^west is in PAMOJA_CELLS only/m)
  await server.sql('home', country, ['UG'])
  await eventually(async () => {
    const here = await server.sql('east', 'select country from sms.country_rules order by 1')
    return JSON.stringify(here) === '[{"country":"KE"},{"country":"UG"}]'
  }, 'both countries in the copy')
})

test('the address from which a cell copies is in no log', async () => {
  const log = await server.log()
  assert.match(log, /create publication pamoja_home/)
  assert.doesNotMatch(log, /create subscription/)
})

test('a cell from which a bucket is still moving is not taken out', async () => {
  const others = `east=${server.url('east')}`
  await server.sql(
    'home',
    `insert into platform.bucket_moves (bucket, from_cell, to_cell, step) values (7, 'east', 'home', 'drop')`,
  )
  assert.match((await cells(['drain', 'east'], others)).stdout, /^east holds no bucket any more/)
  await refuses(['drain', 'east'], others, /^Bucket 7 is still on its way from east to home: finish that first/)
  await server.sql('home', 'delete from platform.bucket_moves')
  assert.match((await cells(['add', 'east'], others)).stdout, /^east is open\.$/m)
})

test('a migration ends what a node that died has left prepared, and does not wait for its locks', async () => {
  const [decided, abandoned] = [randomUUID(), randomUUID()]
  await server.sql('home', 'insert into platform.decisions (id, commits) values ($1, true)', [decided])
  // The table is locked again by the migration, which gives it what it lacks.
  await server.sql('east', 'alter table platform.data_keys drop constraint own_bucket')
  for (const [bucket, id] of [
    [1, decided],
    [2, abandoned],
  ])
    await server.sql(
      'east',
      `begin; insert into platform.data_keys (bucket, account_id, id, root_key, wrapped) values (${bucket}, gen_random_uuid(), 1, '', '');
       prepare transaction 'pamoja:${id}:east'`,
    )
  const { code, sentence } = await run(['migrate'], {
    ...{ PAMOJA_HOME: home.path, DATABASE_URL: server.url('home') },
    PAMOJA_CELLS: `east=${server.url('east')}`,
  })
  assert.equal(code, 0, sentence)
  assert.deepEqual(await server.sql('east', 'select bucket::int from platform.data_keys'), [{ bucket: 1 }])
  await server.sql('east', 'set session_replication_role = replica; delete from platform.data_keys')
})

test('a command about every database is refused while one of them cannot be reached', async () => {
  for (const words of [['migrate'], ['ledger', 'verify'], ['keys', 'rotate'], ['identity', 'verify-audit']]) {
    const { code, sentence } = await run(words, {
      PAMOJA_HOME: home.path,
      DATABASE_URL: server.url('home'),
      PAMOJA_CELLS: `east=${server.url('nowhere')}`,
    })
    assert.match(sentence, /^The database east of PAMOJA_CELLS cannot be reached/, words.join(' '))
    assert.notEqual(code, 0)
  }
})

test('an address that leads to another cell than its name says is refused', async () => {
  await refuses(
    ['add', 'west'],
    `west=${server.url('east')}`,
    /^The address of west in PAMOJA_CELLS leads to the cell east/,
  )
  await refuses(['list'], '', /^DATABASE_URL leads to the cell east, not to home/, server.url('east'))
})
