// SPDX-License-Identifier: Apache-2.0
// Credentials that the platform wrote down when it started here, as commands that speak to it read them.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { env } from 'node:process'
import type { Config } from '../config.ts'
import type { Credentials } from './welcome.ts'

export async function writtenCredentials({ PAMOJA_HOME }: Config): Promise<Partial<Credentials> | null> {
  try {
    return JSON.parse(await readFile(join(resolve(PAMOJA_HOME), 'credentials.json'), 'utf8'))
  } catch {
    return null
  }
}

/** Certificates to trust: those of PAMOJA_CA_FILE, else those that the platform wrote down. */
export async function trustedBy(known: Partial<Credentials> | null): Promise<string | null> {
  const file = env.PAMOJA_CA_FILE ?? known?.ca_file
  return file ? readFile(file, 'utf8').catch(() => null) : null
}
