// SPDX-License-Identifier: Apache-2.0
// The directories and files that settings name: made, opened or read before anything depends on them, or refused in one
// sentence. Directories are made one level at a time: where a file system takes none, such as /proc, Node's recursive mkdir
// goes round in circles for ever.
import { X509Certificate } from 'node:crypto'
import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { SettingName } from '../config.ts'
import { errorCode } from '../kernel/error-code.ts'
import { StartError } from '../kernel/start-error.ts'

/**
 * Mode of directories: only their owner lists them. When root starts the program, the embedded database's own user must
 * pass through.
 */
const directoryMode = process.getuid?.() === 0 ? 0o711 : 0o700

/** Makes a directory, and those above it, unless it is there. */
export async function makeDirectory(directory: string, setting: SettingName): Promise<void> {
  const found = await stat(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null
    throw unusable(directory, setting, error)
  })
  if (found?.isDirectory()) return
  if (found) throw new StartError(`${directory} is a file: choose a directory with ${setting}.`)
  if (dirname(directory) !== directory) await makeDirectory(dirname(directory), setting)
  await mkdir(directory, directoryMode).catch(async (error: unknown) => {
    // Another process may have made it in the meantime; a link that leads nowhere is there, too, and is no directory.
    const isMade = errorCode(error) === 'EEXIST' && (await stat(directory).catch(() => null))?.isDirectory()
    if (!isMade) throw unusable(directory, setting, error)
  })
}

function unusable(directory: string, setting: SettingName, error: unknown): unknown {
  const remedy = `choose another directory with ${setting}`
  switch (errorCode(error)) {
    case 'ENOENT':
      return new StartError(`${directory} cannot be made, because that file system takes no directories: ${remedy}.`)
    case 'EEXIST':
      return new StartError(`${directory} is a link that leads nowhere: ${remedy}.`)
    case 'ELOOP':
      return new StartError(`${directory} is a link that leads to itself: ${remedy}.`)
    case 'ENAMETOOLONG':
      return new StartError(`The name ${directory.slice(0, 60)}… is too long for a directory: ${remedy}.`)
    default:
      return error
  }
}

/** Finds out whether the log can be written before anything is to be written there. */
export async function requireLogFile(file: string | null): Promise<void> {
  if (file === null) return
  try {
    await makeDirectory(dirname(resolve(file)), 'PAMOJA_LOG_FILE')
    // Paths of requests have phone numbers in them.
    await (await open(file, 'a', 0o600)).close()
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `PAMOJA_LOG_FILE names ${file}, which cannot be written (${errorCode(error)}): choose another file.`,
    )
  }
}

/** The certificates in a file that a setting names. */
export async function certificatesIn(file: string | null, setting: SettingName): Promise<string | null> {
  if (file === null) return null
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${errorCode(error)})`
    throw new StartError(`${setting} names ${file}, which ${reason}.`)
  })
  try {
    new X509Certificate(text)
  } catch {
    throw new StartError(`${setting} names ${file}, which holds no certificate (PEM).`)
  }
  return text
}
