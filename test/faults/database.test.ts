// SPDX-License-Identifier: Apache-2.0
// A database that restarts, stays away for a while, or runs out of disk: customers hear 503, and then all is well.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import type { Reply } from '../client.ts'
import { eventually } from '../eventually.ts'
import { examine } from './examine.ts'
import { closeGate } from './gate.ts'
import { chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'
import { Load } from './load.ts'

const seed = chooseSeed()
const random = randomFrom(seed)
let installation: Installation
const cleanUp: (() => Promise<void> | void)[] = []
after(async () => {
  for (const step of cleanUp.reverse()) await step()
})

before(async () => {
  installation = await startInstallation({ nodes: 1, environment: { PAMOJA_JOB_LEASE_SECONDS: '2' } })
  cleanUp.push(() => installation.stop())
})

test('a job whose connection is cut is run again, and that is not held against it', async (t) => {
  const account = await installation.account()
  const client = installation.client(0, account.key)
  const gate = await closeGate(installation)
  t.after(() => gate.open())
  const { body } = await client.post('/v1/notes', { text: 'Wait' })
  await eventually(async () => (await gate.waiting()) === 1, 'the job to run')
  await gate.cut()
  const job = await eventually(async () => {
    const [row] = await installation.sql<{ attempt: number; failures: number; last_error: string | null }>(
      'select attempt, failures, last_error from work.jobs',
    )
    return row && row.attempt > 1 && row
  }, 'the job to be run again')
  assert.deepEqual([job.failures, job.last_error], [0, null])
  await gate.open()
  await eventually(
    async () => (await client.get(`/v1/notes/${body.note_id}`)).body.status === 'published',
    'the note to be published',
  )
})

test('a request whose connection is cut in the middle of its transaction is answered 503, and the node lives on', async () => {
  const account = await installation.account()
  const client = installation.client(0, account.key)
  const holder = new pg.Client({ connectionString: installation.databaseUrl })
  await holder.connect()
  await holder.query('begin')
  await holder.query('lock table accounts.api_keys in exclusive mode')
  const renaming = client.patch(`/v1/api-keys/${account.keyId}`, { name: 'Late' })
  const cut = `select pg_terminate_backend(pid) from pg_locks where relation = 'accounts.api_keys'::regclass and not granted`
  await eventually(async () => (await holder.query(cut)).rows.length > 0, 'the request to wait')
  assertAway(await renaming)
  await holder.end()
  assert.equal((await client.patch(`/v1/api-keys/${account.keyId}`, { name: 'Late' })).status, 200)
  assert.deepEqual(installation.crashes, [])
})

test('a request that the database gives up is answered 503 and says why, and nothing of it is stored', async () => {
  const account = await installation.account()
  const client = installation.client(0, account.key)
  const path = `/v1/api-keys/${account.keyId}`
  for (const [state, said] of [
    ['40001', /changed the same at the same time/],
    ['40P01', /waited for each other/],
    ['55P03', /held what it needs/],
    ['57014', /took too long/],
  ] as const) {
    await installation.sql(`create function give_up() returns trigger language plpgsql as
      $$ begin raise exception 'given up' using errcode = '${state}'; end $$`)
    await installation.sql('create trigger give_up after update on accounts.api_keys execute function give_up()')
    const { status, body, headers } = await client.patch(path, { name: state })
    assert.deepEqual([status, body.error.code, headers['retry-after']], [503, 'SERVICE_UNAVAILABLE', '1'])
    assert.match(body.error.details, said)
    await installation.sql('drop function give_up() cascade')
    assert.notEqual((await client.get(path)).body.name, state)
  }
})

test('a database that goes away and comes back is survived with 503 and recovery', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const accounts = [await installation.account(), await installation.account()] as const
  const load = new Load({ installation, accounts, random })
  load.start()
  await eventually(async () => load.acknowledged > 100, 'the load to run')
  const { noteId } = load.writes.find((write) => write.noteId !== null) ?? {}
  const client = installation.client(0, accounts[0].key)

  await installation.stopPostgres()
  assertAway(await client.get(`/v1/notes/${noteId}`))
  assertAway(await client.post('/v1/notes', { text: 'Anybody there?' }))
  assertAway(await client.post('/v1/notes', { text: 'Anybody there?' }, { headers: { 'idempotency-key': 'knock' } }))
  assertAway(await client.post('/v1/api-keys', { name: 'Server' }))
  assertAway(await client.post('/v1/api-keys', { name: 'Server' }, { headers: { 'idempotency-key': 'knock' } }))
  assert.equal((await client.get('/healthz')).status, 200, 'the node itself is well')
  const ready = await client.get('/readyz')
  assert.deepEqual([ready.status, ready.body.status, ready.body.checks.database], [503, 'unavailable', 'unreachable'])
  await eventually(async () => load.count('503') > 200, 'many customers to be told')

  await installation.startPostgres()
  await recovered(load)
  await eventually(async () => (await client.get('/readyz')).body.status === 'ok', 'the node to be ready')
  await assertAllWell(installation, load)
})

test('a full disk is survived with 503, and everything goes on when there is room again', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const disk = smallDisk()
  if (disk.problem !== null) return t.skip(disk.problem)
  const crowded = await startInstallation({
    nodes: 1,
    postgresDir: disk.path,
    postgresSettings: { max_wal_size: '64MB', min_wal_size: '32MB' },
  })
  cleanUp.push(() => crowded.stop())
  const load = new Load({
    installation: crowded,
    accounts: [await crowded.account(), await crowded.account()],
    random,
    textLength: 1_500,
  })
  load.start()
  await eventually(async () => load.acknowledged > 100, 'the load to run')

  disk.fill()
  await eventually(async () => load.count('503') > 200, 'writes to be refused for lack of room')
  // With no room for its log either, PostgreSQL gives up altogether.
  const manyLogFiles = `select pg_logical_emit_message(false, 'much', repeat('x', 1000000)) from generate_series(1, 100)`
  await assert.rejects(() => crowded.sql(manyLogFiles))
  await eventually(async () => load.count('503') > 400, 'customers to be told all the same')

  disk.empty()
  // Whoever supervises PostgreSQL starts it again, if it did not come back by itself.
  await eventually(
    () =>
      crowded.startPostgres().then(
        () => true,
        () => false,
      ),
    'PostgreSQL to run',
  )
  await recovered(load)
  await assertAllWell(crowded, load)
  t.diagnostic(`answers ${JSON.stringify([...load.answers])}`)
})

function assertAway({ status, body, headers }: Reply): void {
  assert.deepEqual([status, body.error.code], [503, 'SERVICE_UNAVAILABLE'])
  assert.ok(Number(headers['retry-after']) >= 1)
}

async function recovered(load: Load): Promise<void> {
  const before = load.acknowledged
  await eventually(async () => load.acknowledged > before + 100, 'writes to be acknowledged again', 60_000)
}

async function assertAllWell(installation: Installation, load: Load): Promise<void> {
  const findings = await examine(installation, load)
  assert.deepEqual(load.unexpected, [])
  assert.deepEqual(installation.crashes, [])
  assert.deepEqual(
    [findings.unanswered, findings.lost, findings.unpublished, findings.miscounted, findings.stuck],
    [[], [], [], [], []],
  )
  assert.deepEqual(findings.ledger.problems, [])
}

/** A disk in memory that is small enough to be filled. Mounting it takes root, and not everywhere is root allowed. */
function smallDisk(): { problem: string } | { problem: null; path: string; fill(): void; empty(): void } {
  const path = mkdtempSync(join(tmpdir(), 'pamoja-disk-'))
  const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=192m,mode=755', 'tmpfs', path], {
    encoding: 'utf8',
  })
  if (mounted.status !== 0) {
    rmdirSync(path)
    return { problem: `no small disk can be mounted here: ${mounted.error?.message ?? mounted.stderr.trim()}` }
  }
  cleanUp.push(() => {
    spawnSync('/bin/umount', ['-l', path])
    rmdirSync(path)
  })
  const ballast = join(path, 'ballast')
  return {
    problem: null,
    path,
    fill() {
      const file = openSync(ballast, 'w')
      const block = Buffer.alloc(64 * 1024)
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    empty: () => rmSync(ballast),
  }
}
