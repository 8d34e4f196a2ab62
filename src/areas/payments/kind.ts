// SPDX-License-Identifier: Apache-2.0
// What a kind of provider brings: the settings that an operator enters for an account with it, and how one is spoken to.
import { type TString, Type } from 'typebox'
import type { Clock } from '../../platform/clock.ts'
import type { MobileMoney } from './provider.ts'

export interface Surroundings {
  clock: Clock
  /** No request is waited for longer than this; each kind of request has a time of its own below it. */
  patienceMs?: number
}

export interface ProviderKind {
  /** As customers name it. */
  readonly provider: string
  /** Settings that may be read again. */
  readonly open: Readonly<Record<string, TString>>
  /** Settings that are sealed. */
  readonly secret: Readonly<Record<string, TString>>
  /** Those of them that it does without, and then does less. */
  readonly optional?: readonly string[]
  /** A method, so that each kind may say which settings it has. */
  connect(settings: Readonly<Record<string, string>>, surroundings: Surroundings): MobileMoney
}

const maxTextLength = 200

export const baseUrl: TString = Type.String({
  pattern: '^https?://[^\\s?#]+$',
  maxLength: 300,
  rule: 'must be a URL such as https://api.safaricom.co.ke',
  description: 'Where the provider is asked',
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
