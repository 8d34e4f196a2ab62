// SPDX-License-Identifier: Apache-2.0
// Sandbox clock offset of an account.
import type { App } from '../../platform/app.ts'
import { one, statement } from '../../platform/db.ts'

const clockOffset = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'voice.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

/** Sandbox clock offset of an account in milliseconds. */
export async function clockOffsetOf(app: App, account: string, environment: string): Promise<number> {
  return Number((await one(app.db.query(clockOffset, { account, environment }))).ms)
}
