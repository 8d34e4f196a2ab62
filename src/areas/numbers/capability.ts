// SPDX-License-Identifier: Apache-2.0
// Capabilities of numbers.
import { isE164 } from '../../kernel/phone.ts'
import { type Queryable, statement } from '../../platform/db.ts'
import type { Environment, Tenant } from '../../platform/tenant.ts'

export const capabilities = ['voice', 'sms', 'ussd', 'messenger'] as const

export type Capability = (typeof capabilities)[number]

const findCapabilities = statement.home<
  { environment: Environment; account: string; numbers: readonly string[] },
  { number: string; capability: Capability }
>(
  'numbers.capabilities_of',
  `select number, capability from numbers.owned
    where environment = $environment and number = any($numbers::text[]) and account_id = $account`,
)

/** Capabilities of several numbers of an account. */
export async function capabilitiesOf(
  queryable: Queryable,
  { environment, account }: Tenant,
  numbers: readonly string[],
): Promise<(number: string) => Capability[]> {
  const rows = await queryable.query(findCapabilities, { environment, account, numbers })
  const owned = new Map<string, Capability[]>()
  for (const { number, capability } of rows) owned.set(number, [...(owned.get(number) ?? []), capability])
  return (number) => capableOf(environment, number, owned.get(number) ?? [])
}

/** Capabilities of a number. A test key may use every telephone number for calls and texts, whether assigned or not. */
export function capableOf(environment: Environment, number: string, owned: readonly Capability[]): Capability[] {
  const isAnyPhone = environment === 'test' && isE164(number)
  return capabilities.filter((one) => owned.includes(one) || (isAnyPhone && (one === 'voice' || one === 'sms')))
}
