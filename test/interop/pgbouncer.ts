// SPDX-License-Identifier: Apache-2.0
// PgBouncer, the pooler that most operators put before PostgreSQL, as a process of its own in transaction mode, with a free
// port and a temporary directory. Debian has it in the package `pgbouncer`.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { chooseAccount, spawnOptions } from '../../src/platform/postgres/account.ts'
import { eventually } from '../eventually.ts'
import { freePort } from '../program.ts'

/** PAMOJA_TEST_PGBOUNCER names another build than Debian's. */
const program = process.env.PAMOJA_TEST_PGBOUNCER ?? '/usr/sbin/pgbouncer'

/** Why PgBouncer cannot be started; null when it is installed. */
export function pgbouncerMissing(): string | null {
  return existsSync(program) ? null : 'pgbouncer not found: install the package pgbouncer'
}

/** Whether it carries prepared statements in transaction mode, as 1.21 and later do; Debian 12 has 1.18. */
export function pgbouncerPrepares(): boolean {
  const [, major, minor] =
    /(\d+)\.(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

export interface Pgbouncer {
  /** Address of a database through the pooler. */
  through(databaseUrl: string): string
  stop(): Promise<void>
}

/** Starts a pooler before the server of a database. `more` are lines of its configuration. */
export async function startPgbouncer(databaseUrl: string, more: readonly string[] = []): Promise<Pgbouncer> {
  const { host, port: serverPort, user } = new pg.Client({ connectionString: databaseUrl })
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-pgbouncer-'))
  const account = await chooseAccount()
  await chmod(dir, 0o755)
  if (account.switched) await chown(dir, account.uid, account.gid)
  const port = await freePort()
  const log = join(dir, 'log')
  await writeFile(
    join(dir, 'pgbouncer.ini'),
    `[databases]
* = host=${host} port=${serverPort} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = ${user}
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
logfile = ${log}
${more.join('\n')}
`,
  )
  const child = spawn(program, [join(dir, 'pgbouncer.ini')], { ...spawnOptions(account), stdio: 'ignore' })
  child.on('error', () => undefined)
  const through = (url: string): string => {
    const { database } = new pg.Client({ connectionString: url })
    return `postgres://${user}@127.0.0.1:${port}/${database}`
  }
  await eventually(() => answers(child, `postgres://${user}@127.0.0.1:${port}/pgbouncer`, log), 'PgBouncer to answer')
  return {
    through,
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      // At once: clients of a test that failed may still be there.
      child.kill('SIGKILL')
      await gone
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Asks the pooler itself, which opens no connection to the server. */
async function answers({ exitCode }: ChildProcess, url: string, log: string): Promise<boolean> {
  if (exitCode !== null) throw new Error(`pgbouncer ended: ${readFileSync(log, 'utf8').slice(-1_000)}`)
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('show version')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
