// SPDX-License-Identifier: Apache-2.0
// The number that an account calls from where it names none.
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { listNumbers } from './store.ts'

/** A test key may show any number; this one is nobody's. */
const sandboxNumber = '+254709000000'

/** Null: a live account without a number of its own. */
export async function firstNumberOf(app: App, tenant: Tenant): Promise<string | null> {
  const { bucket, account, environment } = tenant
  const row = await maybe(app.db.query(listNumbers, { bucket, account, environment, after: '', limit: 1 }))
  return row?.number ?? (environment === 'test' ? sandboxNumber : null)
}
