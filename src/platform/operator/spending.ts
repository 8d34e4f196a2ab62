// SPDX-License-Identifier: Apache-2.0
// Spending of accounts by country. The ledger has the amounts; the country is known only to some areas.
import type { Currency } from '../../kernel/money.ts'
import type { Queryable } from '../db.ts'
import type { Tenant } from '../tenant.ts'

export interface CountrySpend {
  /** YYYY-MM-DD, UTC. */
  day: string
  /** ISO 3166; null where it is not known. */
  country: string | null
  currency: Currency
  /** Net of refunds. */
  micros: bigint
  count: number
}

/** Spending of an account in an area over days, both included. */
export type SpendByCountry = (
  queryable: Queryable,
  tenant: Tenant,
  days: { from: string; to: string },
) => Promise<CountrySpend[]>

/** Areas that know destination countries, by name. */
export function spendersOf(
  areas: readonly { readonly name: string; readonly spendByCountry?: SpendByCountry }[],
): ReadonlyMap<string, SpendByCountry> {
  const spenders = new Map<string, SpendByCountry>()
  for (const { name, spendByCountry } of areas) if (spendByCountry) spenders.set(name, spendByCountry)
  return spenders
}
