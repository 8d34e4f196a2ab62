// SPDX-License-Identifier: Apache-2.0
// Customer history per channel: each area names its rows about a phone number or email address, for whoever talks to
// the customer.
import { idOf, type Kind } from '../../kernel/ids.ts'
import { type Database, statement } from '../db.ts'
import type { Tenant } from '../tenant.ts'

/** Identifiers of a customer: phone number, and email address where known. */
export interface KnownAs {
  readonly phone: string
  readonly email: string | null
}

interface PastThing {
  readonly id: string
  readonly status: string
  readonly created_at: Date
}

export interface History {
  /** Channel name: `sms`, `payments`. */
  readonly name: string
  newest(db: Database, tenant: Tenant, customer: KnownAs, limit: number): Promise<PastThing[]>
}

/** Rows of an area about a customer; `by` is indexed together with the three tenant columns. */
interface Rows {
  readonly name: string
  /** Id prefix; null shows the column `id` unchanged. */
  readonly prefix: Kind | null
  readonly from: string
  readonly id: string
  /** Column that orders rows by time, like UUIDv7. */
  readonly order: string
  readonly status: string
  readonly createdAt: string
  readonly by: string
  readonly knownBy: 'phone' | 'email'
}

export function history({ name, prefix, from, id, order, status, createdAt, by, knownBy }: Rows): History {
  const newest = statement.tenant<Tenant & { who: string; limit: number }, PastThing>(
    `history.${name}`,
    `select ${id} as id, ${status}::text as status, ${createdAt} as created_at from ${from}
      where t.bucket = $bucket and t.account_id = $account and t.environment = $environment and ${by} = $who
      order by ${order} desc limit $limit::int`,
  )
  return {
    name,
    async newest(db, { bucket, account, environment }, customer, limit) {
      const who = customer[knownBy]
      if (who === null) return []
      const rows = await db.query(newest, { bucket, account, environment, who, limit })
      return prefix === null ? rows : rows.map((row) => ({ ...row, id: idOf(prefix, row.id) }))
    },
  }
}
