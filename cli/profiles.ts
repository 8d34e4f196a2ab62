// SPDX-License-Identifier: Apache-2.0
// Profiles: the installations and keys that commands work with. They are kept in a file that only its owner can read; beside
// them the environment counts, and the credentials of a platform that was started here.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { env } from 'node:process'
import { UsageError } from './usage.ts'

export interface Profile {
  readonly baseUrl: string
  readonly apiKey: string
  readonly caFile?: string
}

interface Stored {
  readonly current: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

export function profilesFile(): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'pamoja', 'profiles.json')
}

export function readProfiles(): Stored {
  if (!existsSync(profilesFile())) return { current: null, profiles: {} }
  const { current = null, profiles = {} }: Partial<Stored> = JSON.parse(readFileSync(profilesFile(), 'utf8'))
  return { current, profiles }
}

function write(stored: Stored): void {
  const file = profilesFile()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
}

/** Keeps a profile and works with it from now on. */
export function keepProfile(name: string, profile: Profile): void {
  write({ current: name, profiles: { ...readProfiles().profiles, [name]: profile } })
}

export function chooseProfile(name: string): void {
  const { profiles } = readProfiles()
  if (!profiles[name]) throw new UsageError(`There is no profile ${name}: \`pamoja profiles\` lists yours.`)
  write({ current: name, profiles })
}

export function removeProfile(name: string): void {
  const { current, profiles } = readProfiles()
  if (!profiles[name]) throw new UsageError(`There is no profile ${name}: \`pamoja profiles\` lists yours.`)
  const { [name]: _, ...rest } = profiles
  write({ current: current === name ? null : current, profiles: rest })
}

export interface Chosen extends Profile {
  /** Where it comes from, for a person. */
  readonly from: string
}

/** Profile to work with: the one that is named, the environment, the current one, or that of a platform started here. */
export function profileOf(named: string | undefined): Chosen | null {
  const { current, profiles } = readProfiles()
  const wanted = named ?? env.PAMOJA_PROFILE
  if (wanted) {
    const profile = profiles[wanted]
    if (!profile) throw new UsageError(`There is no profile ${wanted}: \`pamoja login --profile ${wanted}\` makes it.`)
    return { ...profile, from: `profile ${wanted}` }
  }
  const here = startedHere()
  if (env.PAMOJA_API_KEY)
    return {
      baseUrl: env.PAMOJA_BASE_URL ?? here?.baseUrl ?? 'https://localhost:8443',
      apiKey: env.PAMOJA_API_KEY,
      ...caOf(env.PAMOJA_CA_FILE ?? here?.caFile),
      from: 'PAMOJA_API_KEY',
    }
  const profile = current === null ? undefined : profiles[current]
  if (profile) return { ...profile, from: `profile ${current}` }
  return here
}

/** Credentials that a platform wrote down when it started in this directory. */
export function startedHere(): Chosen | null {
  const file = join(resolve(env.PAMOJA_HOME ?? '.pamoja'), 'credentials.json')
  if (!existsSync(file)) return null
  const { base_url, api_key, ca_file }: Record<string, string | undefined> = JSON.parse(readFileSync(file, 'utf8'))
  if (!base_url || !api_key) return null
  return { baseUrl: base_url, apiKey: api_key, ...caOf(ca_file), from: file }
}

function caOf(caFile: string | null | undefined): { caFile?: string } {
  return caFile ? { caFile } : {}
}
