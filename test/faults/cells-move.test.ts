// SPDX-License-Identifier: Apache-2.0
// A bucket moves between databases while it is written to, and the command is killed at every step: nothing that was
// acknowledged is lost, nothing is there twice, and other buckets do not notice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { newUuid } from '../../src/kernel/ids.ts'
import { type CellServer, fill, heldIn, startCells, tablesWith, Writer } from '../cells.ts'
import { eventually } from '../eventually.ts'
import { endAll } from '../program.ts'

const moving = 7
const staying = 8
const oldRows = 12_000

let server: CellServer

before(async () => {
  server = await startCells(['east'])
  await server.run('add', 'east')
  await fill(server, 'home', moving, oldRows)
  await fill(server, 'home', staying, oldRows)
})

after(async () => {
  await endAll()
  await server.stop()
})

async function requireAll(cell: string, bucket: number, written: readonly string[]): Promise<void> {
  const { events, balance, jobs } = await heldIn(server, cell, bucket)
  assert.deepEqual(events, [...written].sort(), `bucket ${bucket} in ${cell}`)
  assert.equal(balance, written.length)
  assert.deepEqual(jobs, written.slice(-1))
  const [old] = await server.sql<{ rows: number }>(
    cell,
    `select count(*)::int as rows from events.events where bucket = $1 and resource_id = 'old'`,
    [bucket],
  )
  assert.equal(old?.rows, oldRows)
}

/** Last words of each step, at which the command is killed. */
const steps = [
  'Copying bucket',
  'Copied',
  'Following',
  'Holding writes',
  'Waiting for the last changes',
  'Admitting the bucket',
  'Telling every node',
  'Deleting the old rows',
  'Deleted',
]
/** All of them in a full run; three otherwise, others in each. */
const isFull = process.env.PAMOJA_TEST_FULL === 'true'
const first = Number(process.env.PAMOJA_TEST_SEED ?? 0) % 3
const killedAt = isFull ? steps : steps.filter((_, i) => i % 3 === first)

test('a bucket moves under load, the command being killed at every step: nothing is lost, nothing is doubled', async (t) => {
  const acknowledged: string[] = []
  let cell = 'home'
  const other = new Writer(server, staying)
  for (const step of killedAt) {
    const to = cell === 'home' ? 'east' : 'home'
    const writer = new Writer(server, moving)
    const killed = server.command('move', String(moving), to)
    await killed.prints(step)
    await killed.stop('SIGKILL')
    const { stdout } = await server.run('move', String(moving), to)
    await writer.stop()
    acknowledged.push(...writer.acknowledged)
    t.diagnostic(
      `killed at "${step}": ${writer.acknowledged.length} transactions, longest pause ${Math.round(writer.longestGapMs)} ms, ${writer.refusals} refused; ${stdout.trim()}`,
    )
    await requireAll(to, moving, acknowledged)
    assert.deepEqual(await tablesWith(server, cell, moving), [], `rows left in ${cell}`)
    await server.sql(to, 'delete from work.jobs where bucket = $1', [moving])
    cell = to
  }
  await other.stop()
  await requireAll('home', staying, other.acknowledged)
  assert.equal(other.refusals, 0)
  assert.deepEqual(await leftOver(), [], 'slots, publications and subscriptions of moves')
})

test('a move that is not interrupted holds writes for a moment', async (t) => {
  const [place] = await server.sql<{ cell: string }>('home', 'select cell from platform.buckets where bucket = $1', [
    moving,
  ])
  const to = place?.cell === 'east' ? 'home' : 'east'
  const from = place?.cell ?? 'home'
  // A job that a node is running, and whose lease it cannot extend while the bucket is held.
  const running = newUuid(Date.now())
  await server.sql(
    from,
    `insert into work.jobs (bucket, id, lane, run_at, attempt, owner, payload)
     values ($1, $2, 'trial', now() + interval '1 second', 1, gen_random_uuid(), '{}')`,
    [moving, running],
  )
  const before = await heldIn(server, from, moving)
  const writers = [new Writer(server, staying + 1), new Writer(server, moving)]
  const { stdout, stderr } = await server.run('move', String(moving), to)
  for (const writer of writers) await writer.stop()
  const [beside, moved] = writers
  assert.match(stdout, /^Bucket 7 lives in (east|home)\. Its writes were held for \d+ ms: \d+ for [^\n]+\.\n$/)
  t.diagnostic(
    `${stdout.trim()} longest pause of a writer: ${Math.round(moved?.longestGapMs ?? 0)} ms; of one beside it: ${Math.round(beside?.longestGapMs ?? 0)} ms`,
  )
  assert.match(stderr, /^Copying bucket 7/m)
  const after = await heldIn(server, to, moving)
  assert.deepEqual(after.events, [...before.events, ...(moved?.acknowledged ?? [])].sort())
  const [lease] = await server.sql<{ run_at: Date }>(to, 'select run_at from work.jobs where id = $1', [running])
  const [flip] = await server.sql<{ moved_at: Date }>(
    'home',
    'select moved_at from platform.buckets where bucket = $1',
    [moving],
  )
  assert.ok(lease && flip && lease.run_at > flip.moved_at, 'it is nobody else’s yet where the bucket lives now')
  await server.sql(to, 'delete from work.jobs where id = $1', [running])
})

test('a move is taken back before writes are held', async () => {
  const killed = server.command('move', '9', 'east')
  await fill(server, 'home', 10, 10)
  await killed.prints('Copying bucket')
  await killed.stop('SIGKILL')
  const [begun] = await server.sql<{ step: string }>('home', 'select step from platform.bucket_moves where bucket = 9')
  assert.ok(begun === undefined || ['copy', 'follow'].includes(begun.step))
  const { stdout } = await server.run('move', '9', 'home')
  assert.match(stdout, /it lives in home, as before|lives in home already/)
  assert.deepEqual(await tablesWith(server, 'east', 9), [])
  assert.deepEqual(await leftOver(), [])
})

test('a cell is drained, and then taken out', async () => {
  await server.run('move', '20', 'east')
  await server.run('move', '21', 'east')
  assert.match((await server.run('list')).stdout, /^east +open +(7,)?20-21 /m)
  assert.match((await server.run('drain', 'east')).stdout, /^east holds no bucket any more/)
  assert.match((await server.run('list')).stdout, /^home +open +0-255 .*\neast +draining +none /m)
  const refused = await server.command('move', '20', 'east').ended
  assert.match(refused.sentence, /^east is being drained: `npm start -- cells add east` opens it again\.$/)
  assert.match((await server.run('drain', 'east')).stdout, /^east is no cell any more: take it out of PAMOJA_CELLS/)
  assert.deepEqual(await server.sql('home', 'select from pg_replication_slots'), [])
  assert.match((await server.run('add', 'east')).stdout, /^east is a cell of this installation now/)
})

const late = 30
const leaves = `select platform.admit_buckets(array_remove(buckets, ${late}::smallint)) from platform.this_cell`

test('a move that goes on admits its bucket while it waits, and passes numbers that were drawn meanwhile', async (t) => {
  const [home, long, east] = await connections(t, ['home', 'home', 'east'])
  assert.ok(home && long && east)
  const killed = server.command('move', `${late}`, 'east')
  await killed.prints('Copying bucket')
  // It is kept at its next step until a transaction has begun that writes for long.
  await home.query('begin; lock table platform.bucket_moves in share mode')
  await eventually(async () => (await server.sql('home', waits)).length > 0, 'the command to come to its next step')
  await long.query('begin')
  await addEvent(long, staying)
  await home.query('rollback')
  await killed.prints('Holding writes')
  await killed.stop('SIGKILL')
  // As if it had been killed a moment later.
  await home.query(leaves)
  await assert.rejects(addEvent(home, late), { code: '23514', constraint: 'own_bucket' })

  const again = server.command('move', `${late}`, 'east')
  await again.prints('Holding writes')
  await east.query('begin; lock table events.events in access exclusive mode')
  await addEvent(home, late)
  await home.query(`select pg_logical_emit_message(false, 'test', repeat('x', 9000000))`)
  await long.query('commit')
  await eventually(async () => (await server.sql('home', follows)).length > 0, 'the command to wait for the copy')
  await home.query(`select setval('ledger.price_revisions', 500000)`)
  await east.query('rollback')
  const { code, sentence } = await again.ended
  assert.equal(code, 0, sentence)
  const { rows } = await east.query('select from events.events where bucket = $1', [late])
  assert.equal(rows.length, 1)
  const [numbers] = await server.sql<{ last: number }>(
    'east',
    'select last_value::int as last from ledger.price_revisions',
  )
  assert.ok(numbers && numbers.last >= 500_000, `${numbers?.last}`)
})

test('a cell that is added again does not admit what a move lets it refuse at that moment', async (t) => {
  const [east] = await connections(t, ['east'])
  assert.ok(east)
  await east.query('select pg_advisory_lock(7266564)')
  await east.query(`begin; ${leaves}`)
  const adding = server.command('add', 'east')
  await eventually(async () => (await server.sql('east', waits)).length > 0, 'the command to wait')
  await east.query('commit')
  await east.query('select pg_advisory_unlock(7266564)')
  assert.equal((await adding.ended).code, 0)
  await assert.rejects(addEvent(east, late), { code: '23514', constraint: 'own_bucket' })
})

/** Sessions of a command in this database that wait for a lock, or for a copy. */
const sessions = `select from pg_stat_activity where datname = current_database() and application_name = 'pamoja-cells'`
const waits = `${sessions} and wait_event_type = 'Lock'`
const follows = `${sessions} and query like 'select confirmed_flush_lsn%'`

async function connections(t: { after(run: () => Promise<unknown>): void }, cells: readonly string[]) {
  return Promise.all(
    cells.map(async (cell) => {
      const client = new pg.Client({ connectionString: server.url(cell) })
      await client.connect()
      t.after(() => client.end())
      return client
    }),
  )
}

function addEvent(client: pg.Client, bucket: number): Promise<unknown> {
  return client.query(
    `insert into events.events (bucket, account_id, environment, id, type, resource_id, body)
     values ($1, gen_random_uuid(), 'live', platform.uuid_at(now()), 'trial', 'late', '{}')`,
    [bucket],
  )
}

/** What moves need while they run, and none may leave behind. */
async function leftOver(): Promise<object[]> {
  const publications = `select pubname as left from pg_publication where pubname <> 'pamoja_home'`
  const found = await Promise.all([
    server.sql('home', `select slot_name as left from pg_replication_slots where slot_name !~ '_home_east$'`),
    server.sql('home', `select subname as left from pg_subscription where subname <> 'pamoja_home'`),
    server.sql('home', publications),
    server.sql('east', publications),
    server.sql('home', 'select bucket as left from platform.bucket_moves'),
  ])
  return found.flat()
}
