// SPDX-License-Identifier: Apache-2.0
// History of a customer per channel: each area names its rows about phone numbers, email addresses and customers, for whoever talks
// to the customer and for their timeline.
import { idOf, type Kind } from '../../kernel/ids.ts'
import { type Database, statement, type Tx } from '../db.ts'
import type { Tenant } from '../tenant.ts'

/** Identifiers of a customer: phone numbers, email addresses in lower case, and their id as a UUID. */
export interface KnownAs {
  readonly phones: readonly string[]
  readonly emails: readonly string[]
  readonly customers: readonly string[]
}

interface PastThing {
  readonly id: string
  /** UUID by which things are ordered in time. */
  readonly place: string
  readonly status: string
  readonly created_at: Date
  readonly direction: 'inbound' | 'outbound' | null
  readonly title: string | null
  /** Whole text of a message; null for what has none. */
  readonly text: string | null
  /** Kind and id of a message's file, if it has one. */
  readonly media_type: string | null
  readonly media_id: string | null
  /** Member or key that wrote it, where the row knows. */
  readonly author: string | null
  readonly amount: bigint | null
  readonly currency: string | null
  /** Path of the API at which it is read; null where it is read with its customer only. */
  readonly path: string | null
}

export type NamedThing = Pick<PastThing, 'id' | 'status' | 'title' | 'amount' | 'currency' | 'created_at'>

export interface History {
  /** Channel name: `sms`, `payments`. */
  readonly name: string
  /** Kind of its rows in search results: `message`. */
  readonly kind: string
  /** Scope by which the account reads them. */
  readonly scope: string
  /** Newest rows about a customer, before a place if one is given. */
  newest(db: Database, tenant: Tenant, customer: KnownAs, limit: number, before?: string | null): Promise<PastThing[]>
  /** Newest rows with these words in their name, of areas whose rows have names. */
  named?(db: Database, tenant: Tenant, words: string, limit: number): Promise<readonly NamedThing[]>
}

/** Column that names a customer. It is indexed with the tenant columns, and with `order` where one customer may have many rows. */
interface By {
  readonly column: string
  readonly knownBy: keyof KnownAs
  /** Further condition of the rows, such as that of a partial index. */
  readonly where?: string
  /** SQL of the direction; null where there is none. */
  readonly direction?: string
  /** Id prefix; null shows the column `id` unchanged. */
  readonly prefix: Kind | null
}

/** Rows of an area about a customer. */
interface Rows {
  readonly name: string
  readonly kind: string
  readonly scope: string
  readonly from: string
  readonly id: string
  /** Column that orders rows by time, a UUIDv7. */
  readonly order: string
  readonly status: string
  readonly createdAt: string
  /** SQL of what a reader knows it by. */
  readonly title?: string
  /** SQL of the whole text of a message. */
  readonly text?: string
  /** SQL of the kind and the id of its file. */
  readonly mediaType?: string
  readonly mediaId?: string
  /** SQL of who wrote it. */
  readonly author?: string
  readonly amount?: string
  readonly currency?: string
  readonly path?: (id: string) => string
  readonly by: readonly By[]
}

interface Row extends Omit<PastThing, 'path'> {
  readonly way: number
}

export function history({ name, kind, scope, by, path, ...rows }: Rows): History {
  const newest = statement.tenant<Tenant & KnownAs & { before: string | null; limit: number }, Row>(
    `history.${name}`,
    `select * from (${by.map((one, way) => `(${newestBy(rows, one, way)})`).join(' union all ')}) found
      where cardinality($phones::text[]) + cardinality($emails::text[]) + cardinality($customers::uuid[]) > 0
      order by place desc limit $limit::int`,
  )
  return {
    ...{ name, kind, scope },
    async newest(db, { bucket, account, environment }, { phones, emails, customers }, limit, before = null) {
      const found = await db.query(newest, {
        ...{ bucket, account, environment, phones, emails, customers, before, limit },
      })
      return found.map(({ way, ...row }) => {
        const prefix = by[way]?.prefix ?? null
        const id = prefix === null ? row.id : idOf(prefix, row.id)
        return { ...row, id, path: path ? path(id) : null }
      })
    },
  }
}

/** Newest rows for each identifier by itself, so that each is read in the order of an index. */
function newestBy(rows: Omit<Rows, 'name' | 'kind' | 'scope' | 'by' | 'path'>, by: By, way: number): string {
  const { from, id, order, status, createdAt, title = 'null', text = 'null', amount = 'null', currency = 'null' } = rows
  const type = by.knownBy === 'customers' ? 'uuid' : 'text'
  return `select x.* from unnest($${by.knownBy}::${type}[]) w(who) cross join lateral (
     select ${id}::text as id, ${order} as place, ${status}::text as status, ${createdAt} as created_at,
            (${by.direction ?? 'null'})::text as direction, left((${title})::text, 200) as title,
            (${text})::text as text, (${rows.mediaType ?? 'null'})::text as media_type, (${rows.mediaId ?? 'null'})::text as media_id,
            (${rows.author ?? 'null'})::text as author,
            (${amount})::bigint as amount, (${currency})::text as currency, ${way} as way
       from ${from}
      where t.bucket = $bucket and t.account_id = $account and t.environment = $environment and ${by.column} = w.who
        ${by.where ? `and ${by.where}` : ''} and ($before::uuid is null or ${order} < $before)
      order by ${order} desc limit $limit::int) x`
}

/** Two customers that become one, by UUID. */
interface Merge {
  readonly from: string
  readonly into: string
  readonly at: Date
}

/** Moves what an area has of a customer to another, in the transaction that merges them. */
export type MergeCustomers = (tx: Tx, tenant: Tenant, merge: Merge) => Promise<void>
