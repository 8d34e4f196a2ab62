// SPDX-License-Identifier: Apache-2.0
// Keys for doors. Another provider's programs check callbacks with the secret that they also send, so such a key is kept
// sealed beside its hash, and opened only to sign.
import { randomBytes } from 'node:crypto'
import { newUuid } from '../../kernel/ids.ts'
import { newKey } from '../../platform/auth.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** Key for a door before it is stored. */
export interface DoorKey {
  readonly id: string
  readonly key: string
  readonly door: string
  readonly sealed: Buffer
}

/** What a program of the door is given, in its own words. */
export interface DoorAccess {
  readonly account_sid: string
  readonly auth_token: string
  readonly base_url: string
}

/** Makes a key for a door. Sealing may need a connection of its own, so it comes before the transaction. */
export async function newDoorKey(secrets: Secrets, tenant: Tenant, door: string, nowMs: number): Promise<DoorKey> {
  const id = newUuid(nowMs)
  const key = newKey(tenant.environment, randomBytes)
  return { id, key, door, sealed: await secrets.seal(tenant, placeOf(id), key) }
}

export async function openDoorKey(secrets: Secrets, tenant: Tenant, id: string, sealed: Buffer): Promise<string> {
  return (await secrets.open(tenant, placeOf(id), sealed)).toString()
}

export function accessOf({ door, key }: DoorKey, account: string, publicUrl: string): DoorAccess {
  return {
    account_sid: `AC${account.replaceAll('-', '')}`,
    auth_token: key,
    base_url: `${publicUrl}/compat/${door}`,
  }
}

function placeOf(id: string): string {
  return `accounts.api_keys.sealed_key:${id}`
}
