// SPDX-License-Identifier: Apache-2.0
// Every kind of provider that this program speaks to: a line each.
import type { ProviderKind } from '../providers/kind.ts'
import { acquirer } from './acquirer.ts'
import { airtel } from './airtel.ts'
import { bank } from './bank.ts'
import { daraja } from './daraja.ts'
import { ecocash } from './ecocash.ts'
import { momo } from './momo.ts'
import { mpesaOpen } from './mpesa-open.ts'
import { orangeMoney } from './orange-money.ts'
import { telebirr } from './telebirr.ts'
import { wave } from './wave.ts'

export const kinds: readonly ProviderKind[] = [
  daraja,
  momo,
  airtel,
  orangeMoney,
  wave,
  telebirr,
  mpesaOpen,
  ecocash,
  acquirer,
  bank,
]

export function kindOf(provider: string): ProviderKind | null {
  return kinds.find((kind) => kind.facts.provider === provider) ?? null
}
