// SPDX-License-Identifier: Apache-2.0
// Start errors: why the program could not start, in one sentence that an operator can act on.
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { StartError } from '../kernel/start-error.ts'
import { MigrationError } from '../platform/db/schema-files.ts'
import { isUnavailable } from '../platform/db.ts'
import { UnknownRootKeyError } from '../platform/secrets.ts'

export function adviceFor(thrown: unknown, config: Config): string {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  // PostgreSQL ends when it cannot write its log, and whoever spoke to it hears only that.
  if (error instanceof MigrationError && isDiskFull(config)) return fullDisk(config)
  if (error instanceof StartError) return error.message
  if (error instanceof UnknownRootKeyError) return otherKey(error, config)
  const { code, port, path, syscall, hostname } = detailsOf(error)
  if (syscall === 'listen' || hostname === config.PAMOJA_HOST) return listening(code, port, config)
  if (syscall === 'connect' || syscall === 'getaddrinfo') return unreachable(error, config)
  if (code === 'EROFS')
    return `${path} lies on a file system that is read-only: choose a directory on another with PAMOJA_HOME.`
  if (code === 'EACCES' || code === 'EPERM')
    return `This user may not write ${path}: change its owner, or choose another directory with PAMOJA_HOME.`
  if (code === 'ENOSPC' || code === 'EDQUOT' || isDiskFull(config)) return fullDisk(config)
  if (code === 'EEXIST') return `${path} is a file: choose a directory with PAMOJA_HOME.`
  if (code === 'ENOTDIR') return `${path} lies below something that is a file: choose a directory with PAMOJA_HOME.`
  return database(error, code, config) ?? error.stack ?? error.message
}

const leastFreeBytes = 8 * 1024 * 1024

/** Whether the embedded database has no room for the next piece of its log. */
function isDiskFull({ DATABASE_URL: url, PAMOJA_HOME: home }: Config): boolean {
  if (url !== null || !existsSync(home)) return false
  const { bavail, bsize } = statfsSync(home)
  return bavail * bsize < leastFreeBytes
}

function fullDisk({ PAMOJA_HOME: home }: Config): string {
  return `The disk that holds ${home} is full: free some space and start again, or choose a directory on another with PAMOJA_HOME.`
}

function otherKey({ keyId }: UnknownRootKeyError, { PAMOJA_HOME: home, PAMOJA_SECRET_KEY: given }: Config): string {
  const place = given === null ? `in ${join(home, 'secret-key')}` : 'in PAMOJA_SECRET_KEY'
  return `The secrets in this database are sealed under another key (its id is ${keyId}) than those ${place}: give that one too.`
}

function listening(code: string, port: string, config: Config): string {
  const { PAMOJA_HOST: host, PAMOJA_HOME: home } = config
  const here = code === 'EADDRINUSE' ? startedAt(home, port) : null
  const isSure = existsSync(join(home, 'postgres', '18', 'data', 'postmaster.pid'))
  if (here !== null && isSure)
    return `Pamoja runs in this directory already, at ${here}: use that, or stop it first, with Ctrl-C where it was started.`
  if (here !== null && config.DATABASE_URL !== null)
    return `Port ${port} is in use, most likely by the Pamoja that was started here before, at ${here}: use that, or stop it first.`
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use by another program: stop that, or choose another with PAMOJA_PORT, such as \`PAMOJA_PORT=9443 npm start\`.`
  if (code === 'EACCES') return `This user may not listen on port ${port}: choose a port above 1023 with PAMOJA_PORT.`
  return `This machine has no address ${host} to listen on (${code}): correct PAMOJA_HOST.`
}

/** Address of the platform that was last started in this directory, if it had this port. */
function startedAt(home: string, port: string): string | null {
  try {
    const { base_url: url } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'))
    return typeof url === 'string' && new URL(url).port === port ? url : null
  } catch {
    return null
  }
}

function database(error: Error, code: string, config: Config): string | null {
  const place = databaseOf(config)
  if (code === '28P01' || code === '28000') return `${place} refused the user or the password: correct them.`
  if (code === '3D000') return `${place} does not exist: create it first.`
  if (code === '42501') return `${place} gives its user too few rights (${error.message}): grant them.`
  if (code === '25006') return `${place} is read-only: name the one that is written, or a user who may write.`
  if (/does not support SSL/.test(error.message)) return `${place} has no TLS: remove sslmode from the address.`
  return isUnavailable(error) ? unreachable(error, config) : null
}

function unreachable(error: Error, config: Config): string {
  // An attempt at several addresses fails without words of its own.
  const reason = error.message || detailsOf(error).code
  return `${databaseOf(config)} cannot be reached (${reason}): check that it runs and that the address is right.`
}

function databaseOf({ DATABASE_URL: url }: Config): string {
  return url === null ? 'The embedded database' : `The database at ${addressOf(url)} (DATABASE_URL)`
}

/** Address of a connection string, without user and password. */
function addressOf(url: string): string {
  const [, place = '', database = ''] = /^[a-z]+:\/\/(?:[^/]*@)?([^/?]*)\/?([^?]*)/.exec(url) ?? []
  const socket = /[?&]host=([^&]*)/.exec(url)?.[1]
  return `${place || decodeURIComponent(socket ?? 'localhost')}/${database}`
}

interface Details {
  code: string
  port: string
  path: string
  syscall: string
  hostname: string
}

function detailsOf(error: Error): Details {
  const text = (name: string): string => {
    const value: unknown = Reflect.get(error, name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  return {
    code: text('code'),
    port: text('port'),
    path: text('path'),
    syscall: text('syscall'),
    hostname: text('hostname'),
  }
}
