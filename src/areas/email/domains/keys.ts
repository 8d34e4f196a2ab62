// SPDX-License-Identifier: Apache-2.0
// DKIM keys: RSA, which everybody verifies, and Ed25519. Private keys are sealed at rest and cached in memory, since
// every message needs them.
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { SigningKey } from '../../../protocols/dkim/sign.ts'
import { dkimRecord } from '../../../protocols/dkim/verify.ts'

const generate = promisify(generateKeyPair)

export interface KeyPairs {
  readonly rsa: KeyObject
  readonly ed25519: KeyObject
}

export interface PublicKeys {
  readonly rsa: string
  readonly ed25519: string
}

/** Generated in the thread pool: an RSA key takes some hundred milliseconds. */
export async function newKeys(): Promise<KeyPairs> {
  const [rsa, ed25519] = await Promise.all([generate('rsa', { modulusLength: 2048 }), generate('ed25519', {})])
  return { rsa: rsa.privateKey, ed25519: ed25519.privateKey }
}

/** Values of the TXT records. */
export function publicKeysOf({ rsa, ed25519 }: KeyPairs): PublicKeys {
  return { rsa: dkimRecord(rsa), ed25519: dkimRecord(ed25519) }
}

function placeOf(id: string): string {
  return `email.domains.private_keys:${id}`
}

export async function sealKeys(app: App, tenant: Tenant, id: string, { rsa, ed25519 }: KeyPairs): Promise<Buffer> {
  const text = [rsa, ed25519].map((key) => key.export({ format: 'pem', type: 'pkcs8' })).join('\n')
  return app.secrets.seal(tenant, placeOf(id), text)
}

export async function openKeys(app: App, tenant: Tenant, id: string, sealed: Buffer): Promise<KeyPairs> {
  const text = (await app.secrets.open(tenant, placeOf(id), sealed)).toString()
  const [rsa = '', ed25519 = ''] = text.split(/(?<=-----END PRIVATE KEY-----)\n+/)
  return { rsa: createPrivateKey(rsa), ed25519: createPrivateKey(ed25519) }
}

/** Selector of the Ed25519 key beside that of the RSA key. */
export function edwardsSelector(selector: string): string {
  return `${selector}e`
}

export function signingKeys(
  { rsa, ed25519 }: KeyPairs,
  domain: string,
  selector: string,
  hasEdwards: boolean,
): SigningKey[] {
  const keys: SigningKey[] = [{ domain, selector, algorithm: 'rsa-sha256', privateKey: rsa }]
  if (hasEdwards)
    keys.push({ domain, selector: edwardsSelector(selector), algorithm: 'ed25519-sha256', privateKey: ed25519 })
  return keys
}
