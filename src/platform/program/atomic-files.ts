// SPDX-License-Identifier: Apache-2.0
// Atomic writes of small files.
import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { errorCode } from '../../kernel/error-code.ts'

export async function readIfPresent(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Writes a file atomically; with 'keep' an existing file stays and the result is false. */
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

/** Fsync a directory, so that new names survive a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
