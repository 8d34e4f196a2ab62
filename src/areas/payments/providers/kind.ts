// SPDX-License-Identifier: Apache-2.0
// Kind of provider: the settings that an operator enters for an account with it, and how its carrier is opened.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { type TString, Type } from 'typebox'
import Format from 'typebox/format'
import type { Clock } from '../../../platform/clock.ts'
import type { Exchange } from '../../../platform/outbound/provider-http.ts'
import type { Outbound } from '../../../platform/outbound.ts'
import type { Acquirer } from './acquirer.ts'
import type { Bank } from './bank.ts'
import type { MobileFacts, ProviderFacts } from './facts.ts'
import type { MobileMoney } from './provider.ts'

/** Carriers, by the method that they serve. */
export type Carrier = MobileMoney | Acquirer | Bank

export interface Surroundings {
  clock: Clock
  /** The door through which a provider is asked. */
  http: Outbound
  /** Told of requests for tokens, which are in no timeline. */
  signsIn?(exchange: Exchange): void
  /** No request is waited for longer than this; each kind of request has a time of its own below it. */
  patienceMs?: number
}

export interface ProviderKind {
  readonly method: Carrier['method']
  readonly facts: ProviderFacts | MobileFacts
  /** Settings that may be read again. */
  readonly open: Readonly<Record<string, TString>>
  /** Settings that are sealed. */
  readonly secret: Readonly<Record<string, TString>>
  /** Further settings for payouts: all of these are entered, or none. */
  readonly outgoing: {
    readonly open: Readonly<Record<string, TString>>
    readonly secret: Readonly<Record<string, TString>>
  }
  /** Settings that identify the provider account. Another account knows nothing of earlier requests. */
  readonly identity: readonly string[]
  /** A method, so that each kind may say which settings it has. */
  connect(settings: Readonly<Record<string, string>>, surroundings: Surroundings): Carrier
}

const maxTextLength = 200
const maxKeyLength = 8_000

Format.Set('rsa-public-key', isRsaPublicKey)
Format.Set('rsa-private-key', isRsaPrivateKey)

export const baseUrl: TString = Type.String({
  pattern: '^https?://[^\\s?#]+$',
  maxLength: 300,
  rule: 'must be a URL such as https://api.safaricom.co.ke',
  description: 'Base URL of the provider’s API',
})

export function openText(pattern: string, rule: string, description: string): TString {
  return Type.String({ pattern, rule, description })
}

export function secretText(description: string): TString {
  return Type.String({
    minLength: 1,
    maxLength: maxTextLength,
    pattern: '^[\\x21-\\x7e]+$',
    rule: `must have 1 to ${maxTextLength} visible ASCII characters`,
    description,
    sensitive: true,
  })
}

/** An RSA public key or a certificate that has one, as PEM. */
export function publicKeyText(description: string): TString {
  return Type.String({
    maxLength: maxKeyLength,
    format: 'rsa-public-key',
    rule: 'must be an RSA public key or a certificate with one, as PEM',
    description,
  })
}

/** An RSA private key, as PEM. */
export function privateKeyText(description: string): TString {
  return Type.String({
    maxLength: maxKeyLength,
    format: 'rsa-private-key',
    rule: 'must be an RSA private key, as PEM',
    description,
    sensitive: true,
  })
}

function isRsaPrivateKey(text: string): boolean {
  try {
    return /^-----BEGIN (RSA )?PRIVATE KEY-----/.test(text) && createPrivateKey(text).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

function isRsaPublicKey(text: string): boolean {
  try {
    return /^-----BEGIN (CERTIFICATE|PUBLIC KEY)-----/.test(text) && createPublicKey(text).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
