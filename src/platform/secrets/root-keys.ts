// SPDX-License-Identifier: Apache-2.0
// Root keys of the installation, from the setting or a file: the first is active, the others only decrypt.
import { createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { placeFile, readIfPresent, syncDirectory } from '../program/atomic-files.ts'
import { keyBytes, rootKeyIdBytes } from './sealing.ts'

export interface RootKey {
  /** Short hash that identifies the key without revealing it. */
  readonly id: string
  readonly key: KeyObject
}

export interface RootKeys {
  /** Encrypts and decrypts. */
  readonly active: RootKey
  /** Keys that only decrypt, until everything is re-wrapped. */
  readonly others: readonly RootKey[]
}

export interface RootKeyOptions {
  /** PAMOJA_SECRET_KEY: 32 bytes as base64 or hex, or several separated by commas, the first one active. */
  value: string | null
  /** File with the same content, when the value is absent. */
  file: string
  /** Whether a missing file may be created. Not in production, where losing it unnoticed loses every secret. */
  allowCreate: boolean
}

/** Loads the root keys. Throws one sentence for the operator when there is no usable one. */
export async function loadRootKeys({ value, file, allowCreate }: RootKeyOptions): Promise<RootKeys> {
  if (value !== null) return parseRootKeys(value, 'PAMOJA_SECRET_KEY')
  const text = (await readIfPresent(file)) ?? (allowCreate ? await createRootKeyFile(file) : null)
  if (text !== null) {
    const { mode } = await stat(file)
    if ((mode & 0o077) !== 0)
      process.emitWarning(`${file} holds the key of every secret and can be read by others: run "chmod 600 ${file}".`)
    return parseRootKeys(text, file)
  }
  throw new Error(
    `PAMOJA_SECRET_KEY is not set and there is no ${file}: make a key once with "openssl rand -base64 32", set it, and keep a copy, because without it nothing that was encrypted can be read again.`,
  )
}

function parseRootKeys(text: string, source: string): RootKeys {
  const [active, ...others] = text.split(',').map((entry, index) => parseRootKey(entry.trim(), index + 1, source))
  if (!active) throw new Error(`${source} is empty`)
  return { active, others }
}

function parseRootKey(text: string, position: number, source: string): RootKey {
  const encoding = /^[0-9a-f]{64}$/i.test(text) ? 'hex' : /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? 'base64' : null
  if (!encoding) throw new Error(`${source}: key ${position} is not 32 bytes written as base64 or hex.`)
  const bytes = Buffer.from(text, encoding)
  const id = createHash('sha256')
    .update('pamoja root key')
    .update(bytes)
    .digest('hex')
    .slice(0, 2 * rootKeyIdBytes)
  return { id, key: createSecretKey(bytes) }
}

/** Creates the file atomically; two processes at once both use the first one's. */
async function createRootKeyFile(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true })
  await placeFile(file, `${randomBytes(keyBytes).toString('base64')}\n`, 0o600, 'keep')
  // Fsync: a power failure must not lose a key already used.
  await syncDirectory(dirname(file))
  return readFile(file, 'utf8')
}
