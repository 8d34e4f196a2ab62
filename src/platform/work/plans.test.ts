// SPDX-License-Identifier: Apache-2.0
// Query plans of the job table: it is mostly empty, and a plan cached then is used when it is long. The test counts the
// rows such plans read per job, however many others wait.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorkers } from '../../../test/workers.ts'
import { newUuid } from '../../kernel/ids.ts'
import { systemClock } from '../clock.ts'

const others = 5_000
const few = 20
/** The row before and after its claim, and dead versions: more than a few of each means another plan. */
const readsPerJob = 8

const node = newUuid(systemClock.nowMs())
const { db } = await startWorkers<object>()
const session = await db.connect()
after(() => session.end())

const keys = `(select array_agg(bucket order by id) from chosen), (select array_agg(id order by id) from chosen),
              (select array_agg(attempt order by id) from chosen)`
const calls: readonly { name: string; text: string }[] = [
  {
    name: 'claim',
    text: `select count(*) from work.claim('${node}', array(select generate_series(0, 255))::smallint[], array['few'],
                                           array[${few}], array[30])`,
  },
  {
    name: 'claim in turn',
    text: `select count(*) from work.claim_in_turn('${node}', array(select generate_series(0, 255))::smallint[], 'few@here',
                                                   ${few}, 30, '00000000-0000-0000-0000-000000000000', '{}')`,
  },
  { name: 'extend', text: `select work.extend('${node}', ${keys}, array_fill(30, array[${few}]))` },
  { name: 'hand back', text: `select work.hand_back('${node}', ${keys})` },
  {
    name: 'move',
    text: `select count(*) from work.move('${node}', array(
             select row(bucket, id, attempt, 'few', '{}', 0, true)::work.move_item from chosen))`,
  },
  {
    name: 'settle, to run again',
    text: `select count(*) from work.settle('${node}', array(
             select row(bucket, id, attempt, 60000, null)::work.settle_item from chosen))`,
  },
  {
    name: 'settle, done',
    text: `select count(*) from work.settle('${node}', array(
             select row(bucket, id, attempt, null, null)::work.settle_item from chosen))`,
  },
]

test('what was planned while the queue was empty reads no more than the jobs it is about when it is long', async () => {
  await session.query('create temporary table chosen (bucket smallint, id uuid, attempt int)')
  await add('gone', others)
  await session.query('delete from work.jobs where bucket >= 0')
  await session.query('vacuum (analyze) work.jobs')
  await choose('nobody')
  // More often than PostgreSQL needs to cache a generic plan.
  for (let n = 0; n < 10; n++) for (const { text } of calls) await session.query(text)

  await add('other', others)
  await add('few', few)
  await add('few@here', few)
  for (const { name, text } of calls) {
    await choose('few')
    const before = await read()
    await session.query(text)
    const rows = (await read()) - before
    assert.ok(rows <= few * readsPerJob, `${name} read ${rows} rows for ${few} jobs among ${others}`)
  }
  const { rows: left } = await session.query(`select lane, count(*)::int from work.jobs group by 1 order by 1`)
  assert.deepEqual(left, [
    { lane: 'few@here', count: few },
    { lane: 'other', count: others },
  ])
})

async function add(lane: string, count: number): Promise<void> {
  await session.query(
    `insert into work.jobs (bucket, id, lane, run_at, account_id, environment, attempt, payload)
     select n % 256, gen_random_uuid(), $1, now(), gen_random_uuid(), 'test', 0, '{}' from generate_series(1, $2::int) n`,
    [lane, count],
  )
}

async function choose(lane: string): Promise<void> {
  await session.query('truncate chosen')
  await session.query(`insert into chosen select bucket, id, attempt from work.jobs where lane = $1`, [lane])
  await session.query('analyze chosen')
}

/** Rows and index entries read so far, including this session's unreported ones. */
async function read(): Promise<number> {
  const { rows } = await session.query(
    `select sum(pg_stat_get_tuples_fetched(c) + pg_stat_get_tuples_returned(c)
                + pg_stat_get_xact_tuples_fetched(c) + pg_stat_get_xact_tuples_returned(c)) as read
       from (select 'work.jobs'::regclass::oid union all
             select indexrelid from pg_index where indrelid = 'work.jobs'::regclass) of_jobs(c)`,
  )
  return Number(rows[0].read)
}
