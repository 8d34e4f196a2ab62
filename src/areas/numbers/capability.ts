// SPDX-License-Identifier: Apache-2.0
// What numbers are capable of.
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

/** What each of some numbers of an account is capable of. */
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

/** With a test key every telephone number can be called and written to, without being given to anybody. */
export function capableOf(environment: Environment, number: string, owned: readonly Capability[]): Capability[] {
  const isAnyPhone = environment === 'test' && isE164(number)
  return capabilities.filter((one) => owned.includes(one) || (isAnyPhone && (one === 'voice' || one === 'sms')))
}
