// SPDX-License-Identifier: Apache-2.0
// Atomic creation of the embedded server's directories.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from '../../kernel/error-code.ts'

const building = new Set<string>()

/** Builds a directory under a temporary name and rename it: nobody sees half of it, and a second one is discarded. */
export async function buildOnce(target: string, build: (temporary: string) => Promise<void>): Promise<void> {
  const exists = await hasEntries(target)
  await removeLeftovers(target, exists)
  if (exists) return
  const temporary = `${target}.tmp.${process.pid}.${randomBytes(4).toString('hex')}`
  building.add(temporary)
  try {
    await build(temporary)
    await fs.rename(temporary, target)
    // Fsync: a power failure could undo the rename, and the next start would take the database for a leftover.
    const parent = await fs.open(path.dirname(target))
    await parent.sync().finally(() => parent.close())
  } catch (error) {
    if (!(await hasEntries(target))) throw error
  } finally {
    await fs.rm(temporary, { recursive: true, force: true })
    building.delete(temporary)
  }
}

/** Removes leftovers of killed builds. Unless the target exists, a live process's build is left alone. */
async function removeLeftovers(target: string, all: boolean): Promise<void> {
  const prefix = `${path.basename(target)}.tmp`
  for (const name of await fs.readdir(path.dirname(target))) {
    const leftover = path.join(path.dirname(target), name)
    if (!name.startsWith(prefix) || building.has(leftover)) continue
    const builder = Number(name.slice(prefix.length).split('.')[1])
    if (!all && builder > 0 && builder !== process.pid && signalTo(builder, 0)) continue
    // A leftover still in use by a killed build's initdb is removed at the next start.
    await fs.rm(leftover, { recursive: true, force: true }).catch(() => {})
  }
}

/** Whether a directory has entries; true also for an unreadable one: what cannot be seen must not be replaced. */
export async function hasEntries(directory: string): Promise<boolean> {
  try {
    return (await fs.readdir(directory)).length > 0
  } catch (error) {
    return !hasCode(error, 'ENOENT')
  }
}

export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Sends a signal; false if there is no such process. Signal 0 only checks. */
export function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}
