// SPDX-License-Identifier: Apache-2.0
// Sealed object of an event: `sealed` of its type names an object of the payload that is stored encrypted, in its own place
// in the body, and wiped a day later (areas/events). Whoever is told of the event gets it opened, or empty once it is wiped.
import type { App } from '../app.ts'
import type { SealedObject } from '../events.ts'
import type { Tenant } from '../tenant.ts'

/** A JSON text holds no unescaped quote, so this is found where it is a member and nowhere else. */
const stored = /"(\w+)":\{"sealed":"([A-Za-z0-9+/]+=*)"\}/

/** Encrypts an object of a payload; null for an empty one, which is stored as it is. */
export async function sealedObject(
  { secrets }: Pick<App, 'secrets'>,
  tenant: Tenant,
  resource: string,
  name: string,
  value: object,
): Promise<SealedObject | null> {
  if (Object.keys(value).length === 0) return null
  const sealed = await secrets.seal(tenant, placeOf(resource), JSON.stringify(value))
  return { [name]: { sealed: sealed.toString('base64') } }
}

interface StoredBody {
  readonly type: string
  readonly resource_id: string
  readonly body: string
}

/** Body of an event as it is told. A sample that was sent by hand is not sealed. */
export async function toldBody(
  { secrets, catalogue }: Pick<App, 'secrets' | 'catalogue'>,
  tenant: Tenant,
  { type, resource_id: resource, body }: StoredBody,
): Promise<string> {
  const name = catalogue.find(type)?.sealed
  const [whole, member, sealed] = (name !== undefined && stored.exec(body)) || []
  if (whole === undefined || sealed === undefined || member !== name || body.endsWith(',"test":true}')) return body
  const text = (await secrets.open(tenant, placeOf(resource), Buffer.from(sealed, 'base64'))).toString()
  return body.replace(whole, () => `"${name}":${text}`)
}

function placeOf(resource: string): string {
  return `events.sealed:${resource}`
}
