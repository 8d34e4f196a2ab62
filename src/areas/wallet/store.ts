// SPDX-License-Identifier: Apache-2.0
// All SQL of the wallet area: thresholds, and what was told of them. The money is read through the ledger.
import { statement } from '../../platform/db.ts'

type Owned = { bucket: number; account: string; environment: string; currency: string }

export interface Threshold {
  account_id: string
  currency: string
  /** Decimal text of major units. */
  threshold: string
}

const thresholds = `select account_id, accounts.currency_of(account_id) as currency, value #>> '{}' as threshold
     from accounts.with_setting('low_balance_threshold') where value <> 'null'`

export const allThresholds = statement<Record<never, never>, Threshold>('wallet.thresholds', thresholds)

export const thresholdOfAccount = statement<{ account: string }, Threshold>(
  'wallet.threshold_of',
  `${thresholds} and account_id = $account`,
)

/** The account's sandbox clock, as the distance from the real one. */
export const clockOffset = statement<{ account: string; environment: string }, { offset_ms: bigint }>(
  'wallet.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as offset_ms',
)

/** Wallets that an account was told are low. */
export const toldLow = statement<
  { buckets: number[]; accounts: string[] },
  { account_id: string; environment: string; currency: string }
>(
  'wallet.told_low',
  `select account_id, environment, currency from wallet.told
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and low`,
)

/** None when it was told already. */
export const noteLow = statement<Owned, { sequence: number }>(
  'wallet.note_low',
  `insert into wallet.told as t (bucket, account_id, environment, currency, low, sequence)
   values ($bucket, $account, $environment, $currency, true, 1)
   on conflict (bucket, account_id, environment, currency) do update set low = true, sequence = t.sequence + 1
     where not t.low
   returning sequence`,
)

export const noteRisen = statement<Owned, object>(
  'wallet.note_risen',
  `update wallet.told set low = false
    where bucket = $bucket and account_id = $account and environment = $environment and currency = $currency and low`,
)

/** A wallet that is still low after a top-up stays told. */
export const noteTopup = statement<Owned & { low: boolean }, { sequence: number }>(
  'wallet.note_topup',
  `insert into wallet.told as t (bucket, account_id, environment, currency, low, sequence)
   values ($bucket, $account, $environment, $currency, false, 1)
   on conflict (bucket, account_id, environment, currency) do update
     set low = t.low and $low::boolean, sequence = t.sequence + 1
   returning sequence`,
)
