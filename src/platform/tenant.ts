// SPDX-License-Identifier: Apache-2.0
// Whose row it is. Every tenant table leads with these three, and every tenant query names them.

export type Environment = 'test' | 'live'

export interface Tenant {
  readonly bucket: number
  /** The account's UUID. */
  readonly account: string
  readonly environment: Environment
}

/**
 * The tenant of a row. Frozen because it never changes; and Node 20 copies a frozen object into another far faster: with a
 * plain one, `{ ...tenant, id }` takes a microsecond for each field that follows.
 */
export function tenantOf(row: { bucket: number; account_id: string; environment: Environment }): Tenant {
  return Object.freeze({ bucket: row.bucket, account: row.account_id, environment: row.environment })
}

/** One thing of a tenant, by its UUID. */
export type One = Tenant & { readonly id: string }

/** In a statement: the rows of the tenant that it is given. */
export const mine = 'bucket = $bucket and account_id = $account and environment = $environment'

/** Columns that an item of a group commit begins with: `{ ...tenantColumns, id: 'uuid' }`, filled by `...tenant`. */
export const tenantColumns = { bucket: 'smallint', account: 'uuid', environment: 'text' } as const
