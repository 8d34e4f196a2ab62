// SPDX-License-Identifier: Apache-2.0
// Small files that must be whole or not there at all, whatever happens while they are written.
import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { errorCode } from '../kernel/error-code.ts'

export async function readIfPresent(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Puts a whole file in its place at once; with 'keep', one that is already there stays and the answer is false. */
export async function placeFile(
  file: string,
  text: string,
  mode: number,
  existing: 'keep' | 'replace',
): Promise<boolean> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (existing === 'replace') await rename(temporary, file)
    else await link(temporary, file)
    return true
  } catch (error) {
    if (existing === 'keep' && errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

/** A power cut does not take away the names that were given in a directory before this. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
