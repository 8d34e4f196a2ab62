// SPDX-License-Identifier: Apache-2.0
// `reset`: back to the first start. It removes the embedded database, customers' files and the memory of simulators;
// the next start makes a new demo account. The certificate authority stays, so that clients that trust it still do.
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Config, ConfigError, isProduction } from '../config.ts'

/** Files of PAMOJA_HOME that belong to the accounts. */
const tried = ['postgres', 'files', 'spool', 'simulators', 'credentials.json', 'secret-key']

/** Runs the reset; returns a sentence about what was done. */
export async function reset(config: Config): Promise<string> {
  const home = resolve(config.PAMOJA_HOME)
  if (isProduction(config)) throw new ConfigError('reset is for development: it does nothing with NODE_ENV=production.')
  if (config.DATABASE_URL !== null)
    throw new ConfigError(
      'reset deletes the embedded database only; DATABASE_URL is another database, which you have to empty yourself.',
    )
  const running = await databaseIn(home)
  if (running !== null)
    throw new ConfigError(
      `The database in ${home} is running (process ${running}): stop the platform first, with Ctrl-C, or kill ${running} if it was left behind.`,
    )
  const there = tried.filter((name) => existsSync(join(home, name)))
  for (const name of there) await rm(join(home, name), { recursive: true, force: true })
  return there.length === 0
    ? `There is nothing in ${home} to take away.`
    : `Took ${there.join(', ')} out of ${home}: the next start makes a new demo account, with new keys.`
}

/** The process that works on the embedded database; null when there is none. */
async function databaseIn(home: string): Promise<number | null> {
  const lock = await readFile(join(home, 'postgres/18/data/postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number(lock.split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 0) return null
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    // A process of another user is alive too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? pid : null
  }
}
