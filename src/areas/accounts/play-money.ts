// SPDX-License-Identifier: Apache-2.0
// Play money that an account's test wallet begins with, so that the first request with its key works. It is ordinary
// money of the test environment; the live one has none.
import type { Currency } from '../../kernel/money.ts'
import { post } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import type { Tx } from '../../platform/db.ts'
import type { AccountRow } from './store.ts'

/** Amount in the account's own currency, whichever it is: 100,000. */
export const playMoneyMicros = 100_000_000_000n

/** Posted once, however often it is asked for: the account itself is the source. */
export async function givePlayMoney(
  app: Pick<App, 'clock'>,
  tx: Tx,
  { id, bucket }: Pick<AccountRow, 'id' | 'bucket'>,
  currency: Currency,
  micros = playMoneyMicros,
): Promise<void> {
  if (micros === 0n) return
  await post(
    tx,
    { bucket, account: id, environment: 'test' },
    { sourceId: id, step: 'play-money' },
    [{ debit: 'operator:credit', credit: 'wallet', micros, currency }],
    app.clock.nowMs(),
    { description: 'Play money for the sandbox' },
  )
}
