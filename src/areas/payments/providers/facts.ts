// SPDX-License-Identifier: Apache-2.0
// Facts about a provider beside its protocol: its name and picture, where it is, how its payers confirm, and what
// the columns of its statements are called. Each provider has one file of it; lists, pictures and presets follow from those.
import type { Currency } from '../../../kernel/money.ts'

export interface ProviderFacts {
  /** Name in the API: `mpesa`. */
  readonly provider: string
  /** Name for people. */
  readonly name: string
  /** Picture: the lines of its name on a tile of its own colour. */
  readonly tile: Tile
  /** The names of its statements' columns; where it uses several, whichever is there. */
  readonly statement?: Readonly<Partial<Record<StatementField, readonly string[]>>>
}

export type Tile = readonly [lines: readonly string[], ground: string, ink: string]

type StatementField =
  | 'receipt'
  | 'time'
  | 'amount'
  | 'paid_in'
  | 'withdrawn'
  | 'fee'
  | 'balance'
  | 'phone'
  | 'payee'
  | 'status'
  | 'type'
  | 'details'

export interface MobileFacts extends ProviderFacts {
  /** Other names that customers may give it. */
  readonly alsoCalled?: readonly string[]
  /** On the phone, where a payer may be asked at any time, or on a page that the payer has to be sent to. */
  readonly confirmsOn: 'phone' | 'page'
  /** Time for the payer. A page that outlived its payment would be paid late. */
  readonly expirySeconds: number
  readonly wholeUnitsOnly: boolean
  readonly places: readonly Place[]
}

type Place = readonly [
  country: string,
  currency: Currency,
  /** Whose subscribers have accounts with it; null where any may, so that the provider has to be named. */
  network: string | null,
  /** USSD code to see what waits for approval; null where there is none. */
  ussdCode: string | null,
]

export function isMobile(facts: ProviderFacts | MobileFacts): facts is MobileFacts {
  return 'confirmsOn' in facts
}
