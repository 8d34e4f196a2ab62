// SPDX-License-Identifier: Apache-2.0
// Providers as operators enter them: an account with the provider, whose secrets are sealed.
import { createHash } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import type { Owner } from '../../../platform/secrets.ts'
import type { Environment } from '../../../platform/tenant.ts'
import type { ProviderKind } from '../providers/kind.ts'

export interface EnteredRow {
  environment: Environment
  provider: string
  country: string
  settings: Settings
  secret: Buffer
  sealed_bucket: number
  sealed_account: string
  enabled: boolean
  created_at: Date
  updated_at: Date
}

export type Settings = Readonly<Record<string, string>>

export const enteredColumns = `environment, provider, country, settings, secret, sealed_bucket, sealed_account, enabled, created_at,
  updated_at`

export const selectEntered = statement.home<Record<never, never>, EnteredRow>(
  'payments.list_providers',
  `select ${enteredColumns} from payments.providers order by environment, provider, country`,
)

type Named = Pick<EnteredRow, 'environment' | 'provider' | 'country'>

export function sealProvider(app: App, owner: Owner, named: Named, secret: Settings): Promise<Buffer> {
  return app.secrets.seal(owner, placeOf(named), JSON.stringify(secret))
}

export async function openSecret(app: App, row: EnteredRow): Promise<Settings> {
  const owner = { bucket: row.sealed_bucket, account: row.sealed_account }
  return JSON.parse((await app.secrets.open(owner, placeOf(row), row.secret)).toString())
}

/** Settings of a provider account, decrypted for its carrier. */
export async function settingsOf(app: App, row: EnteredRow): Promise<Settings> {
  const { base_url = '', ...settings } = row.settings
  return { ...settings, ...(await openSecret(app, row)), base_url: base_url.replace(/\/+$/, '') }
}

/** Whose account it is, in a word that gives nothing away: some of what says so is secret. */
export function identityOf({ identity }: ProviderKind, settings: Settings): string {
  const known = identity.map((name) => settings[name] ?? null)
  return createHash('sha256').update(JSON.stringify(known)).digest('hex').slice(0, 32)
}

function placeOf({ environment, provider, country }: Named): string {
  return `payments.providers.secret:${environment}:${provider}:${country}`
}
