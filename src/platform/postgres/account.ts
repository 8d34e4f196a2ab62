// SPDX-License-Identifier: Apache-2.0
// The user that the embedded server runs as, what is run as that user, and where it may go.
import { spawn } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { unlessMissing } from './directories.ts'
import { PostgresStartError, tailBytes } from './failures.ts'

/** The user PostgreSQL runs as. It refuses to run as root, so root switches to another user. */
export interface Account {
  name: string
  uid: number
  gid: number
  switched: boolean
}

/** `ownOnly`: an account that nothing else runs as, because whoever shares it can read the data. */
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

/** The child knows nothing of our environment, which holds secrets, and speaks English, which we match. */
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

/** Asks the system itself, as that user, whether a directory, or the nearest one that exists above it, can be entered. */
export async function canEnter(account: Account, directory: string): Promise<boolean> {
  const existing = await unlessMissing(fs.stat(directory))
  if (!existing) return canEnter(account, path.dirname(directory))
  return (await run(account, '/bin/sh', ['-c', 'test -x "$1"', 'sh', directory])).code === 0
}

export async function makeReachable(account: Account, directory: string): Promise<void> {
  const first = await fs.mkdir(directory, { recursive: true, mode: 0o755 })
  if (first === undefined || !account.switched) return
  // A strict umask of root must not lock the server out of what was made here.
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) await fs.chmod(made, 0o755)
}
