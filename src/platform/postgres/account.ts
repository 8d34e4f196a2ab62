// SPDX-License-Identifier: Apache-2.0
// Operating system user of the embedded server.
import { spawn } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { unlessMissing } from './directories.ts'
import { PostgresStartError, tailBytes } from './failures.ts'

/** User PostgreSQL runs as. It refuses root, so root switches to another user. */
export interface Account {
  name: string
  uid: number
  gid: number
  switched: boolean
}

/** `ownOnly`: require a dedicated account, because a shared one can read the data. */
export async function chooseAccount(ownOnly = false): Promise<Account> {
  const uid = process.getuid?.() ?? -1
  if (uid !== 0) return { name: `user id ${uid}`, uid, gid: process.getgid?.() ?? -1, switched: false }
  const entries = (await fs.readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const own = entries.find(([name]) => name === 'pamoja')
  const entry = own ?? (ownOnly ? undefined : entries.find(([name]) => name === 'nobody'))
  if (!entry)
    throw new PostgresStartError(
      'PostgreSQL does not run as root, and shares no account in production: add one with "useradd --system pamoja", start as another user, or set DATABASE_URL.',
    )
  return { name: String(entry[0]), uid: Number(entry[2]), gid: Number(entry[3]), switched: true }
}

/** The child gets none of our environment, which holds secrets, and an English locale, whose messages we match. */
export function spawnOptions(account: Account) {
  const env: Record<string, string> = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
  return { cwd: '/', env, ...(account.switched ? { uid: account.uid, gid: account.gid } : {}) }
}

export function run(account: Account, file: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...spawnOptions(account), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-tailBytes)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', reject).once('close', (code) => resolve({ code, output }))
  })
}

/** Checks as that user whether a directory, or the nearest existing parent, can be entered. */
export async function canEnter(account: Account, directory: string): Promise<boolean> {
  const existing = await unlessMissing(fs.stat(directory))
  if (!existing) return canEnter(account, path.dirname(directory))
  return (await run(account, '/bin/sh', ['-c', 'test -x "$1"', 'sh', directory])).code === 0
}

export async function makeReachable(account: Account, directory: string): Promise<void> {
  const first = await fs.mkdir(directory, { recursive: true, mode: 0o755 })
  if (first === undefined || !account.switched) return
  // Root's strict umask must not lock the server out of these directories.
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) await fs.chmod(made, 0o755)
}
