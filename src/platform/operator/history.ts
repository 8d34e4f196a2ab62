// SPDX-License-Identifier: Apache-2.0
// The past of a customer, channel by channel: each area says which of its rows are about a phone number or a mail address, so
// that whoever speaks with the customer sees what happened before.
import { idOf, type Kind } from '../../kernel/ids.ts'
import { type Database, statement } from '../db.ts'
import type { Tenant } from '../tenant.ts'

/** How a customer is known: by phone number, and by mail address where somebody told it. */
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
  /** The name under which it is shown: `sms`, `payments`. */
  readonly name: string
  newest(db: Database, tenant: Tenant, customer: KnownAs, limit: number): Promise<PastThing[]>
}

/** Where an area has its rows about a customer; `by` is indexed with the three columns of the tenant. */
interface Rows {
  readonly name: string
  /** The prefix of the ids; null where the column `id` is shown as it is. */
  readonly prefix: Kind | null
  readonly from: string
  readonly id: string
  /** Orders the rows by time, as uuids do. */
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
