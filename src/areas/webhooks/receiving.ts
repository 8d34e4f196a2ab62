// SPDX-License-Identifier: Apache-2.0
// The other side of a signature: which secrets what an address receives may be signed with, and whether one of them fits.
// For the sandbox, which plays the customer's server.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { maybe } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { callbackSecret, type OpenSecrets, openSecrets } from './endpoints/secrets.ts'
import { findCallbackSecret, secretsOfUrl } from './store.ts'

/** Secrets of the webhooks with a URL, ignoring its query, and the one of callbacks. */
export async function secretsFor(app: App, tenant: Tenant, url: string): Promise<string[]> {
  const rows = await app.db.query(secretsOfUrl, { ...tenant, url })
  const known = await Promise.all(rows.map((row) => openSecrets(app, tenant, row.id, row)))
  if (await maybe(app.db.query(findCallbackSecret, tenant))) known.push(await callbackSecret(app, tenant))
  return known.flatMap(({ secret, next }: OpenSecrets) => (next === null ? [secret] : [secret, next]))
}

/** Whether a signature of a body was made with one of the secrets; null when there is none to hold it against. */
export function isSignedBy(secrets: readonly string[], signature: string, body: Buffer): boolean | null {
  if (secrets.length === 0) return null
  const given = Buffer.from(signature)
  return secrets.some((secret) => {
    const made = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'))
    return made.length === given.length && timingSafeEqual(made, given)
  })
}
