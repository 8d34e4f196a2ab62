// SPDX-License-Identifier: Apache-2.0
// The clock of an account, held while something is written that depends on it.
import { statement } from '../../platform/db.ts'

/** Offset of the account's clock, which cannot be moved before this transaction ends; and whether the account is suspended. */
export const holdClock = statement.home<
  { account: string; environment: string },
  { offset_ms: bigint; is_suspended: boolean }
>(
  'billing.hold_clock',
  `select accounts.hold_clock($account::uuid, $environment::text) as offset_ms,
          accounts.is_suspended($account) as is_suspended`,
)
