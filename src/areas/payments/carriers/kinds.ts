// SPDX-License-Identifier: Apache-2.0
// Every kind of provider that this program speaks to: a line each.
import type { ProviderKind } from '../providers/kind.ts'
import { acquirer } from './acquirer.ts'
import { airtel } from './airtel.ts'
import { bank } from './bank.ts'
import { daraja } from './daraja.ts'
import { momo } from './momo.ts'

export const kinds: readonly ProviderKind[] = [daraja, momo, airtel, acquirer, bank]

export function kindOf(provider: string): ProviderKind | null {
  return kinds.find((kind) => kind.provider === provider) ?? null
}
