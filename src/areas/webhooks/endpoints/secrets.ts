// SPDX-License-Identifier: Apache-2.0
// The secrets that sign what customers receive: made here, sealed before they are stored, opened only to sign. While one
// is being replaced there are two; which of them signs is a matter of the account's own time.
import { randomBytes } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { findCallbackSecret, insertCallbackSecret } from '../store.ts'

const secretBytes = 32

/** Secrets as stored: sealed, the current one and its successor with the time of the change. */
export interface StoredSecrets {
  readonly secret: Buffer
  readonly next_secret: Buffer | null
  readonly activates_at: Date | null
}

/** Ready to sign with. */
export interface OpenSecrets {
  readonly secret: string
  readonly next: string | null
  readonly activatesAt: Date | null
}

export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}

/** Secrets that sign at a moment: one, and during an overlap the coming one too. */
export function inForce<S>(
  { secret, next, activatesAt }: { secret: S; next: S | null; activatesAt: Date | null },
  nowMs: number,
): { current: S; next: S | null } {
  if (next === null || activatesAt === null) return { current: secret, next: null }
  return activatesAt.getTime() <= nowMs ? { current: next, next: null } : { current: secret, next }
}

export function sealSecret(
  app: Pick<App, 'secrets'>,
  tenant: Tenant,
  endpoint: string,
  secret: string,
): Promise<Buffer> {
  return app.secrets.seal(tenant, placeOf(endpoint), secret)
}

export function openSecrets(
  app: Pick<App, 'secrets'>,
  tenant: Tenant,
  endpoint: string,
  stored: StoredSecrets,
): Promise<OpenSecrets> {
  return opened(app, tenant, placeOf(endpoint), stored)
}

export function sealCallbackSecret(app: Pick<App, 'secrets'>, tenant: Tenant, secret: string): Promise<Buffer> {
  return app.secrets.seal(tenant, callbackPlace(tenant), secret)
}

/** Secret that signs requests to callback_url, event_url and answer_url. It is made when first needed. */
export async function callbackSecret(app: Pick<App, 'db' | 'secrets'>, tenant: Tenant): Promise<OpenSecrets> {
  const known = await maybe(app.db.query(findCallbackSecret, tenant))
  if (known) return opened(app, tenant, callbackPlace(tenant), known)
  await app.db.query(insertCallbackSecret, { ...tenant, secret: await sealCallbackSecret(app, tenant, newSecret()) })
  return opened(app, tenant, callbackPlace(tenant), await one(app.db.query(findCallbackSecret, tenant)))
}

/** Custom headers often carry a key, so they are kept like one. */
export async function sealHeaders(
  app: Pick<App, 'secrets'>,
  tenant: Tenant,
  endpoint: string,
  headers: Readonly<Record<string, string>>,
): Promise<Buffer | null> {
  if (Object.keys(headers).length === 0) return null
  return app.secrets.seal(tenant, headersPlace(endpoint), JSON.stringify(headers))
}

export async function openHeaders(
  app: Pick<App, 'secrets'>,
  tenant: Tenant,
  endpoint: string,
  sealed: Buffer | null,
): Promise<Record<string, string>> {
  if (sealed === null) return {}
  return JSON.parse((await app.secrets.open(tenant, headersPlace(endpoint), sealed)).toString())
}

/** The place does not say which of the two columns, because the coming secret moves into that of the current one. */
function placeOf(endpoint: string): string {
  return `webhooks.endpoints.secret:${endpoint}`
}

function headersPlace(endpoint: string): string {
  return `webhooks.endpoints.headers:${endpoint}`
}

function callbackPlace({ environment }: Tenant): string {
  return `webhooks.callback_secrets.secret:${environment}`
}

async function opened(
  { secrets }: Pick<App, 'secrets'>,
  tenant: Tenant,
  place: string,
  { secret, next_secret, activates_at }: StoredSecrets,
): Promise<OpenSecrets> {
  const open = async (sealed: Buffer): Promise<string> => (await secrets.open(tenant, place, sealed)).toString()
  return {
    secret: await open(secret),
    next: next_secret && (await open(next_secret)),
    activatesAt: activates_at,
  }
}
