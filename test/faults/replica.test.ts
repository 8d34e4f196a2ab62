// SPDX-License-Identifier: Apache-2.0
// A node with a standby that streams from its database: reports come from the standby and may be late, what is decided on never
// is, and nobody notices when the standby is gone.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { type EmbeddedPostgres, startPostgres } from '../../src/platform/postgres.ts'
import { send } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const settings = { shared_buffers: '16MB', max_connections: '60', max_wal_size: '128MB', fsync: 'off' }

let dir: string
let primary: EmbeddedPostgres
let standby: EmbeddedPostgres
let world: World
let account: Account

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pamoja-replica-'))
  // Started by root, PostgreSQL runs as another user, who has to reach its data in here.
  await chmod(dir, 0o755)
  primary = await startPostgres({ dir: join(dir, 'primary'), settings })
  standby = await startStandby()
  world = await startWorld({ DATABASE_URL: primary.url, PAMOJA_DATABASE_REPLICA_URL: standby.url })
  account = await world.account({ balance: 1_000 })
})
after(async () => {
  await world?.stop()
  await standby?.stop()
  await primary?.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Copies the data of the running primary and has the copy follow it. */
async function startStandby(): Promise<EmbeddedPostgres> {
  return onSql(primary.url, async (sql) => {
    const [{ data = '', socket = '' } = {}] = await sql(
      `select current_setting('data_directory') as data, current_setting('unix_socket_directories') as socket`,
    )
    const home = data.replace(join(dir, 'primary'), join(dir, 'standby'))
    assert.notEqual(home, data, 'the data are where the test wanted them')
    await sql(`select pg_backup_start('copy', true)`)
    await mkdir(dirname(home), { recursive: true })
    // As it is, with its owner: root starts the server as another user.
    await promisify(execFile)('cp', ['-a', data, home])
    await rm(join(home, 'postmaster.pid'))
    const [{ labelfile = '' } = {}] = await sql('select labelfile from pg_backup_stop(false)')
    const { uid, gid } = await stat(data)
    for (const [name, text] of [
      ['backup_label', labelfile],
      ['standby.signal', ''],
    ] as const) {
      await writeFile(join(home, name), text)
      await chown(join(home, name), uid, gid)
    }
    const host = socket.replaceAll('"', '')
    return startPostgres({
      dir: join(dir, 'standby'),
      settings: { ...settings, primary_conninfo: `host=${host} port=5432 user=pamoja`, hot_standby_feedback: 'on' },
    })
  })
}

type Sql = (text: string) => Promise<Record<string, string>[]>

async function onSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(async (text) => (await client.query(text)).rows)
  } finally {
    await client.end()
  }
}

async function lateReads(): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    get(`${world.node.adminUrl}/metrics`, (response) => {
      let all = ''
      response.on('data', (chunk: Buffer) => {
        all += chunk
      })
      response.on('end', () => resolve(all))
    }).on('error', reject)
  })
  return Number(/^pamoja_db_replica_reads_total (\d+)$/m.exec(text)?.[1])
}

/** Texts in the report. */
const sent = async (): Promise<number> => {
  const { status, body, text } = await account.client.get('/v1/sms/analytics')
  assert.equal(status, 200, text)
  return body.messages
}

test('reports are read from the standby, and what is decided on from the database', async () => {
  await send(account, '+254711000001')
  await eventually(async () => (await sent()) === 1, 'the text in the analytics')
  assert.ok((await lateReads()) > 0, 'the standby has answered')

  await onSql(standby.url, async (sql) => {
    await sql('select pg_wal_replay_pause()')
    await eventually(
      async () => (await sql('select pg_get_wal_replay_pause_state() as state'))[0]?.state === 'paused',
      'the standby to pause',
    )
    const before = await lateReads()
    const id = await send(account, '+254711000001')
    assert.equal((await account.client.get(`/v1/sms/${id}`)).status, 200, 'it is there at once')
    assert.equal(await sent(), 1, 'the report is late')
    assert.ok((await lateReads()) > before)
    await sql('select pg_wal_replay_resume()')
  })
  await eventually(async () => (await sent()) === 2, 'the report to catch up')
})

test('without its standby a node asks the database', async () => {
  await standby.stop()
  await send(account, '+254711000001')
  await eventually(async () => (await sent()) === 3, 'the third text in the analytics')
  assert.equal((await world.stranger.get('/readyz')).status, 200)
})
