// SPDX-License-Identifier: Apache-2.0
// Whose row it is. Every tenant table leads with these three, and every tenant query names them.

export type Environment = 'test' | 'live'

export interface Tenant {
  readonly bucket: number
  /** The account's UUID. */
  readonly account: string
  readonly environment: Environment
}

/** One thing of a tenant, by its UUID. */
export type One = Tenant & { readonly id: string }

/** In a statement: the rows of the tenant that it is given. */
export const mine = 'bucket = $bucket and account_id = $account and environment = $environment'
