// SPDX-License-Identifier: Apache-2.0
// Account clock, locked while a transaction writes rows that depend on its time.
import { statement } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** Clock offset of the account, locked until the transaction ends, and whether the account is suspended. */
export const holdClock = statement.tenant<Tenant, { offset_ms: bigint; is_suspended: boolean }>(
  'billing.hold_clock',
  `select accounts.hold_clock($account::uuid, $environment::text) as offset_ms,
          accounts.is_suspended($account) as is_suspended`,
)
