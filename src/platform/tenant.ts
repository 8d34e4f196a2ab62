// SPDX-License-Identifier: Apache-2.0
// Whose row it is. Every tenant table leads with these three, and every tenant query names them.

export type Environment = 'test' | 'live'

export interface Tenant {
  readonly bucket: number
  /** The account's UUID. */
  readonly account: string
  readonly environment: Environment
}
