// SPDX-License-Identifier: Apache-2.0
// Providers as operators enter them: an account with the provider, whose secrets are sealed.
import { Type } from 'typebox'
import type { App } from '../../platform/app.ts'
import { statement } from '../../platform/db.ts'
import type { Owner } from '../../platform/secrets.ts'
import type { Environment } from '../../platform/tenant.ts'
import type { DarajaSettings } from './carriers/daraja.ts'

export interface EnteredRow {
  environment: Environment
  provider: string
  settings: { base_url: string; shortcode: string }
  secret: Buffer
  sealed_bucket: number
  sealed_account: string
  enabled: boolean
  created_at: Date
  updated_at: Date
}

const text = (maxLength: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[\\x21-\\x7e]+$',
    rule: `must have 1 to ${maxLength} visible ASCII characters`,
    description,
  })

/** What the provider gives a merchant. */
export const openSettings = {
  base_url: Type.String({
    pattern: '^https?://[^\\s?#]+$',
    maxLength: 300,
    rule: 'must be a URL such as https://api.safaricom.co.ke',
    description: 'Where the provider is asked',
  }),
  shortcode: Type.String({
    pattern: '^\\d{4,10}$',
    rule: 'must have 4 to 10 digits',
    description: 'The paybill number',
  }),
}

export const secretSettings = {
  passkey: Type.String({ ...text(200, 'Of the online checkout'), sensitive: true }),
  consumer_key: Type.String({ ...text(200, 'Of the app'), sensitive: true }),
  consumer_secret: Type.String({ ...text(200, 'Of the app'), sensitive: true }),
}

export interface SecretSettings {
  passkey: string
  consumer_key: string
  consumer_secret: string
}

export const enteredColumns = `environment, provider, settings, secret, sealed_bucket, sealed_account, enabled, created_at,
  updated_at`

export const selectEntered = statement<Record<never, never>, EnteredRow>(
  'payments.list_providers',
  `select ${enteredColumns} from payments.providers order by environment, provider`,
)

type Named = Pick<EnteredRow, 'environment' | 'provider'>

export function sealProvider(app: App, owner: Owner, named: Named, secret: SecretSettings): Promise<Buffer> {
  return app.secrets.seal(owner, placeOf(named), JSON.stringify(secret))
}

export async function openSecret(app: App, row: EnteredRow): Promise<SecretSettings> {
  const owner = { bucket: row.sealed_bucket, account: row.sealed_account }
  return JSON.parse((await app.secrets.open(owner, placeOf(row), row.secret)).toString())
}

/** As its carrier needs it. */
export async function darajaSettings(app: App, row: EnteredRow): Promise<DarajaSettings> {
  const secret = await openSecret(app, row)
  return {
    baseUrl: row.settings.base_url.replace(/\/+$/, ''),
    shortcode: row.settings.shortcode,
    passkey: secret.passkey,
    consumerKey: secret.consumer_key,
    consumerSecret: secret.consumer_secret,
  }
}

function placeOf({ environment, provider }: Named): string {
  return `payments.providers.secret:${environment}:${provider}`
}
