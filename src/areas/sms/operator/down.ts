// SPDX-License-Identifier: Apache-2.0
// Count of carriers that are enabled and not connected.
import { one, statement } from '../../../platform/db.ts'
import type { WaitingCount } from '../../../platform/operator/waiting.ts'

const countDown = statement.home<Record<never, never>, { count: number }>(
  'sms.count_binds_down',
  'select count(*)::int as count from sms.binds where enabled and not is_up',
)

export const carriersDown: WaitingCount = {
  ...{ name: 'carriers_down', description: 'Carriers that are enabled and not connected', scope: 'operator' },
  count: async (db) => (await one(db.query(countDown, {}))).count,
}
