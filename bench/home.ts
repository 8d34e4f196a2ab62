// SPDX-License-Identifier: Apache-2.0
// Home directories of the installations that benchmarks start. Their databases are copies of one that is made once: to make
// and migrate one takes longer than most short benchmarks.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const program = fileURLToPath(new URL('../program/main.js', import.meta.url))

let prepared: Promise<string> | null = null

/** Directory for an installation, with a database that has its tables and no accounts yet. */
export async function newHome(): Promise<string> {
  prepared ??= prepare()
  const home = await emptyHome()
  // With its owner: started by root, PostgreSQL runs as another user. Node's own `cp` would make them root's.
  await run('cp', ['-a', join(await prepared, 'postgres'), home])
  return home
}

async function prepare(): Promise<string> {
  const home = await emptyHome()
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const { PATH = '', HOME = '' } = process.env
  await run(process.execPath, [program, 'migrate'], { env: { PATH, HOME, PAMOJA_HOME: home } })
  return home
}

async function emptyHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'pamoja-bench-'))
  // The database may run as another user, who must be able to come in.
  await chmod(home, 0o755)
  return home
}
