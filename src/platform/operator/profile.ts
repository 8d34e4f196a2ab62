// SPDX-License-Identifier: Apache-2.0
// Profile of the person who has a phone number: the area that knows people tells it to those that talk to them.
import { withheldNumber } from '../../kernel/phone.ts'
import type { Queryable } from '../db.ts'
import type { Tenant } from '../tenant.ts'

export interface Profile {
  readonly name: string | null
  readonly email: string | null
  /** Language of BCP 47, such as `sw` or `sw-KE`. */
  readonly language: string | null
  readonly tags: readonly string[]
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Profile by a phone number in E.164; null where nobody is known by it. */
export type FindProfile = (queryable: Queryable, tenant: Tenant, phone: string) => Promise<Profile | null>

interface Knowing {
  readonly db: Queryable
  readonly profiles: readonly FindProfile[]
}

export async function profileOf({ db, profiles }: Knowing, tenant: Tenant, phone: string): Promise<Profile | null> {
  if (phone === withheldNumber) return null
  for (const find of profiles) {
    const found = await find(db, tenant, phone)
    if (found) return found
  }
  return null
}
