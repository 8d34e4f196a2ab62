// SPDX-License-Identifier: Apache-2.0
// Embedded PostgreSQL server: creates its data directory, starts or adopts it, and stops it. The server is a detached
// process that survives our crash; the next start adopts it. Several processes may share one server and stop() stops it
// for all, so the caller decides: the one that started it, or its last user, stops it.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { hasCode } from '../kernel/error-code.ts'
import { type Account, canEnter, chooseAccount, makeReachable, run, spawnOptions } from './postgres/account.ts'
import { type Binaries, findBinaries, systemHome } from './postgres/binaries.ts'
import { buildOnce, hasEntries, signalTo, unlessMissing } from './postgres/directories.ts'
import { explain, PostgresStartError, tailBytes } from './postgres/failures.ts'

export interface PostgresOptions {
  /** Contains one directory per PostgreSQL major version: `<dir>/18/data`, with log and socket beside it. */
  dir: string
  /** Server settings that replace or extend ours. */
  settings?: Record<string, string>
  /** Whether a dedicated account is required when started by root. */
  ownAccount?: boolean
  /** Whether only the starting user may connect; otherwise everybody who may enter the socket's directory. */
  guarded?: boolean
}

export interface EmbeddedPostgres {
  /** Connection string for `pg`, over the unix socket, to the database `pamoja`. */
  url: string
  pid: number
  /** Whether the server was already running. */
  adopted: boolean
  version: string
  logFile: string
  /** Resolves when the server is stopped, also if it was before. */
  stop(): Promise<void>
}

type Progress = (sentence: string) => void

export async function startPostgres(
  options: PostgresOptions,
  progress: Progress = () => {},
): Promise<EmbeddedPostgres> {
  const dir = path.resolve(options.dir)
  try {
    const account = await chooseAccount(options.ownAccount)
    const binaries = await findBinaries(account, dir, progress)
    const home = await chooseHome(account, dir, binaries.major, progress)
    const data = path.join(home, 'data')
    return await withLaunchLock(home, async () => {
      await buildOnce(data, (temporary) => {
        progress(`Creating the database in ${data}.`)
        return initialise(account, binaries.native, temporary)
      })
      await checkData(account, binaries.major, data)
      const server: Server = {
        account,
        binaries,
        // The real path: a running server is recognised by the path on its command line.
        data: await fs.realpath(data),
        logFile: path.join(home, 'postgres.log'),
        socketDirectory: await chooseSocketDirectory(account, home),
        settings: { ...(options.guarded ? await guard(home) : {}), ...options.settings },
      }
      return await adoptOrLaunch(server, progress)
    })
  } catch (error) {
    throw error instanceof PostgresStartError ? error : explain(String(error), dir, error)
  }
}

const databaseName = 'pamoja'
const cannotConnectNow = '57P03' // What a server says while it starts, recovers or stops.
const socketPort = 5432 // Only names the socket file: there is no TCP listener.
const readyDeadlineMs = 60_000
const ordinaryStartMs = 5_000 // A server that says "not yet" for longer is replaying its log,
const recoveryDeadlineMs = 600_000 // which may take long, and which it is allowed to finish.
const stopDeadlineMs = 30_000 // For each of the two signals.
const connectTimeoutMs = 5_000
const pollMs = 50
const logLimitBytes = 10 * 1024 * 1024
const socketPathLimitBytes = 103 // 107 on Linux, 103 on macOS.

const initdbFlags = [
  ...['--username', databaseName, '--auth', 'trust', '--encoding', 'UTF8'],
  // The builtin provider sorts the same on every machine, so that no system upgrade can corrupt an index.
  ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C', '--no-instructions'],
  // A new WAL file is zero-filled while commits wait: 26 ms for the usual 16 MB, 2 ms for 1 MB.
  ...['--wal-segsize', '1'],
]

function serverSettings(server: Server): Record<string, string> {
  return {
    listen_addresses: '',
    port: String(socketPort),
    // The setting is a list: quotes keep a comma or space inside one path.
    unix_socket_directories: `"${server.socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '4GB',
    wal_compression: 'pglz', // The build has neither lz4 nor zstd.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_line_prefix: '%m [%p] ',
    // One syncfs instead of one fsync per file: a restart after a crash takes half a second instead of several.
    ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
    ...server.settings,
  }
}

interface Server {
  account: Account
  binaries: Binaries
  data: string
  logFile: string
  socketDirectory: string
  settings: Record<string, string>
}

/** Directory of this major version. Root uses another if the server's user cannot reach the wanted one. */
async function chooseHome(account: Account, dir: string, major: string, progress: Progress): Promise<string> {
  const wanted = path.join(dir, major)
  const relocated = path.join(systemHome, 'data', shortHash(dir), major)
  let home = wanted
  if (account.switched) {
    // Existing data is never abandoned for an empty database elsewhere, whatever its permissions.
    const here = await hasEntries(path.join(wanted, 'data'))
    const there = !here && (await hasEntries(path.join(relocated, 'data')))
    if (there || (!here && !(await canEnter(account, wanted)))) {
      home = relocated
      progress(`Keeping the database in ${home}, because ${account.name} cannot reach ${dir}.`)
    }
  }
  await makeReachable(account, home)
  if (account.switched && !(await canEnter(account, home))) {
    const sentence = `${account.name}, who runs PostgreSQL, cannot reach ${home}: allow others to enter the directories above it (chmod o+x).`
    throw new PostgresStartError(sentence)
  }
  await refuseOlderVersion(path.dirname(home), major)
  return home
}

/** An upgrade must not start with an empty database beside the old one. */
async function refuseOlderVersion(parent: string, major: string): Promise<void> {
  if (await hasEntries(path.join(parent, major, 'data'))) return
  for (const name of await fs.readdir(parent)) {
    if (name === major || !/^\d+$/.test(name) || !(await hasEntries(path.join(parent, name, 'data')))) continue
    throw new PostgresStartError(
      `${path.join(parent, name)} holds a database of PostgreSQL ${name}, but this is PostgreSQL ${major}: move its contents over with a backup, or move it away to start empty.`,
    )
  }
}

/** Peer authentication: only the user of this process may connect. */
async function guard(home: string): Promise<Record<string, string>> {
  const files = { hba_file: path.join(home, 'pg_hba.conf'), ident_file: path.join(home, 'pg_ident.conf') }
  const user = os.userInfo().username.replaceAll('"', '""')
  await fs.writeFile(files.hba_file, `local all ${databaseName} peer map=${databaseName}\n`, { mode: 0o644 })
  await fs.writeFile(files.ident_file, `${databaseName} "${user}" ${databaseName}\n`, { mode: 0o644 })
  return files
}

/** Lock for one process at a time that creates or launches; the kernel frees an abstract socket however its holder dies. */
async function withLaunchLock<T>(home: string, work: () => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return work()
  const lock = net.createServer((socket) => socket.destroy())
  const begunMs = performance.now()
  while (!lock.listening) {
    try {
      lock.listen({ path: `\0pamoja-postgres-${shortHash(home)}`, exclusive: true })
      await once(lock, 'listening')
    } catch (error) {
      // After the deadline continue without it: PostgreSQL's own lock file still admits one server only.
      if (!hasCode(error, 'EADDRINUSE') || performance.now() - begunMs > readyDeadlineMs) break
      await pause(pollMs)
    }
  }
  try {
    return await work()
  } finally {
    if (lock.listening) lock.close()
  }
}

async function initialise(account: Account, native: string, data: string): Promise<void> {
  await fs.mkdir(data, { mode: 0o700 })
  if (account.switched) await fs.chown(data, account.uid, account.gid)
  const { code, output } = await run(account, path.join(native, 'bin/initdb'), ['--pgdata', data, ...initdbFlags])
  if (code !== 0) throw explain(output, path.dirname(data))
}

async function checkData(account: Account, major: string, data: string): Promise<void> {
  const { uid } = await fs.stat(data)
  if (uid !== account.uid) {
    const sentence = `${data} belongs to user id ${uid}, but PostgreSQL would run as ${account.name}: run "chown -R ${account.uid} ${data}", or start as its owner.`
    throw new PostgresStartError(sentence)
  }
  const version = (await unlessMissing(fs.readFile(path.join(data, 'PG_VERSION'), 'utf8')))?.trim() ?? ''
  if (version === major) return
  if (/^\d+(\.\d+)?$/.test(version)) throw explain(`initialized by PostgreSQL version ${version}, not ${major}`, data)
  throw explain('PG_VERSION is missing or unreadable: not a valid data directory', data)
}

/**
 * Beside the data if the path is short enough. The directory's mode is the access control, so it must be ours alone.
 */
async function chooseSocketDirectory(account: Account, home: string): Promise<string> {
  const fits = (candidate: string) => Buffer.byteLength(`${candidate}/.s.PGSQL.${socketPort}`) <= socketPathLimitBytes
  const name = `pamoja-${shortHash(home)}`
  const runtime = account.switched && (await unlessMissing(fs.stat('/run'))) ? '/run' : os.tmpdir()
  const candidates = [path.join(home, 'socket'), path.join(runtime, name)]
  const directory = candidates.find(fits) ?? path.join('/tmp', name)
  await fs.mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
  if (account.switched && (await fs.lstat(directory)).uid === 0) await fs.lchown(directory, account.uid, account.gid)
  const found = await fs.lstat(directory)
  if (found.isDirectory() && found.uid === account.uid && (found.mode & 0o077) === 0) return directory
  const sentence = `${directory} must be a directory that belongs to ${account.name} alone (mode 0700), because it guards the database socket: remove it and start again.`
  throw new PostgresStartError(sentence)
}

/** Polls until a server of this data directory answers; launches one whenever none is alive. */
async function adoptOrLaunch(server: Server, progress: Progress): Promise<EmbeddedPostgres> {
  const begunMs = performance.now()
  let deadlineMs = readyDeadlineMs
  let launched: Launched | undefined
  let unanswered: unknown
  for (;;) {
    const postmaster = await findPostmaster(server.data)
    if (postmaster?.alive) {
      const answer = await ask(postmaster.socketDirectory)
      if ('version' in answer)
        return running(server, postmaster, postmaster.pid !== launched?.child.pid, answer.version)
      unanswered = answer.error
      const recovering = hasCode(unanswered, cannotConnectNow) && performance.now() - begunMs > ordinaryStartMs
      if (recovering && deadlineMs !== recoveryDeadlineMs) {
        progress('Waiting for PostgreSQL to recover its data.')
        deadlineMs = recoveryDeadlineMs
      }
    } else if (!launched) {
      progress('Starting the database.')
      launched = await launch(server, postmaster?.pid)
    }
    await Promise.race([pause(pollMs), ...(launched ? [launched.exited] : [])])
    const late = performance.now() - begunMs > deadlineMs
    if (launched && (launched.child.exitCode !== null || launched.child.signalCode !== null)) {
      const output = await tail(server.logFile, launched.logOffset)
      if (late || !lostRace(output, launched.child.pid)) throw explain(output, server.data)
      launched = undefined
      await pause(pollMs)
    } else if (late) {
      const pid = postmaster?.pid ?? launched?.child.pid
      const sentence = `PostgreSQL (process ${pid}) has not answered for ${deadlineMs / 1000} seconds: read ${server.logFile}.`
      throw new PostgresStartError(sentence, await tail(server.logFile, 0), { cause: unanswered })
    }
  }
}

interface Postmaster {
  pid: number
  socketDirectory: string
  alive: boolean
}

/** Content of postmaster.pid: process id, data directory, start time, port and socket directory, one a line. */
async function findPostmaster(data: string): Promise<Postmaster | undefined> {
  const lines = (await unlessMissing(fs.readFile(path.join(data, 'postmaster.pid'), 'utf8')))?.split('\n') ?? []
  const pid = Number(lines[0])
  if (!(pid > 0)) return undefined
  return { pid, socketDirectory: lines[4] ?? '', alive: await isPostmaster(pid, data) }
}

/**
 * The command line tells a server from another process with its id, which is common after a container restart, and from
 * a zombie. Unlike the working directory, root may read it without extra capabilities.
 */
async function isPostmaster(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') return signalTo(pid, 0)
  try {
    return (await fs.readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(data)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false
    throw error
  }
}

/** Connects over the socket and create our database if missing. Every failure means: not yet. */
async function ask(socketDirectory: string): Promise<{ version: string } | { error: unknown }> {
  // A server without an open socket yet names none, and the driver would try TCP.
  if (!path.isAbsolute(socketDirectory)) return { error: new Error('the server has no socket yet') }
  const client = new pg.Client({
    host: socketDirectory,
    port: socketPort,
    user: databaseName,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: connectTimeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: string; created: boolean }>(
      `select current_setting('server_version') as version,
              exists (select from pg_database where datname = '${databaseName}') as created`,
    )
    // Fails if another process creates it at the same moment; the next attempt finds it.
    if (!rows[0]?.created) await client.query(`create database ${databaseName}`)
    await client.end()
    return { version: rows[0]?.version ?? '' }
  } catch (error) {
    client.end().catch(() => {})
    return { error }
  }
}

interface Launched {
  child: ChildProcess
  exited: Promise<void>
  logOffset: number
}

async function launch(server: Server, stalePid: number | undefined): Promise<Launched> {
  const size = (await unlessMissing(fs.stat(server.logFile)))?.size ?? 0
  if (size > logLimitBytes) await fs.rename(server.logFile, `${server.logFile}.1`)
  const log = await fs.open(server.logFile, 'a', 0o600)
  const logOffset = (await log.stat()).size
  const settings = Object.entries(serverSettings(server)).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const options = spawnOptions(server.account)
  // PostgreSQL takes a stale lock file for a live one if its process id belongs to another process. This tells it
  // otherwise; its check for shared memory in use still guards against survivors of a killed server.
  if (stalePid !== undefined) options.env.PG_GRANDPARENT_PID = String(stalePid)
  const child = spawn(path.join(server.binaries.native, 'bin/postgres'), ['-D', server.data, ...settings], {
    ...options,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.unref()
  await once(child, 'spawn').finally(() => log.close())
  return { child, exited, logOffset }
}

/** Another launch was first, or children of a killed server are still exiting: retry. */
function lostRace(output: string, pid: number | undefined): boolean {
  const lost =
    /lock file ".*" (already exists|is empty)|could not remove old lock file|pre-existing shared memory block/
  return output.split('\n').some((line) => line.includes(`[${pid}]`) && lost.test(line))
}

function running(server: Server, postmaster: Postmaster, adopted: boolean, version: string): EmbeddedPostgres {
  const { pid, socketDirectory } = postmaster
  const url = `postgres://${databaseName}@/${databaseName}?host=${encodeURIComponent(socketDirectory)}&port=${socketPort}&sslmode=disable`
  return { url, pid, adopted, version, logFile: server.logFile, stop: () => stop(server, pid) }
}

async function stop(server: Server, pid: number): Promise<void> {
  // SIGINT ends sessions and writes a checkpoint; SIGQUIT leaves that to recovery. Neither loses commits.
  for (const signal of ['SIGINT', 'SIGQUIT'] satisfies NodeJS.Signals[]) {
    const postmaster = await findPostmaster(server.data)
    if (postmaster?.pid === pid && postmaster.alive) signalTo(pid, signal)
    const begunMs = performance.now()
    while (performance.now() - begunMs < stopDeadlineMs) {
      if (!(await isPostmaster(pid, server.data))) return
      await pause(pollMs)
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) did not stop; see ${server.logFile}`)
}

async function tail(file: string, offset: number): Promise<string> {
  const handle = await fs.open(file)
  try {
    const { size } = await handle.stat()
    const start = Math.max(offset, size - tailBytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(tailBytes), 0, tailBytes, start)
    return buffer.subarray(0, bytesRead).toString()
  } finally {
    await handle.close()
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
