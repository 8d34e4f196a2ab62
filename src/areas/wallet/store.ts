// SPDX-License-Identifier: Apache-2.0
// All SQL of the wallet area: thresholds, what was told of them, and wallets that fill themselves. The money is read
// through the ledger.
import { firstBy } from '../../platform/db/merging.ts'
import { statement } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'

/** The wallet of an account in one currency. */
type OfWallet = Tenant & { currency: string }

export interface Threshold {
  account_id: string
  currency: string
  /** Decimal text of major units. */
  threshold: string
}

const thresholds = `select account_id, accounts.currency_of(account_id) as currency, value #>> '{}' as threshold
     from accounts.with_setting('low_balance_threshold') where value <> 'null'`

/** Page by page, in the order of the accounts. */
export const nextThresholds = statement.home<{ after: string; most: number }, Threshold>(
  'wallet.thresholds',
  `${thresholds} and account_id > $after order by account_id limit $most`,
)

export const thresholdOfAccount = statement.home<{ account: string }, Threshold>(
  'wallet.threshold_of',
  `${thresholds} and account_id = $account`,
)

/** The account's sandbox clock, as the distance from the real one. */
export const clockOffset = statement.home<{ account: string; environment: string }, { offset_ms: bigint }>(
  'wallet.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as offset_ms',
)

/** Wallets that an account was told are low. */
export const toldLow = statement.everywhere<
  { buckets: readonly number[]; accounts: string[] },
  { account_id: string; environment: string; currency: string }
>(
  'wallet.told_low',
  `select account_id, environment, currency from wallet.told
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and low`,
)

/** Notes a low balance; no row when it was reported already. */
export const noteLow = statement.tenant<OfWallet, { sequence: number }>(
  'wallet.note_low',
  `insert into wallet.told as t (bucket, account_id, environment, currency, low, sequence)
   values ($bucket, $account, $environment, $currency, true, 1)
   on conflict (bucket, account_id, environment, currency) do update set low = true, sequence = t.sequence + 1
     where not t.low
   returning sequence`,
)

export const noteRisen = statement.tenant<OfWallet, object>(
  'wallet.note_risen',
  `update wallet.told set low = false
    where ${mine} and currency = $currency and low`,
)

/** A wallet that is still low after a top-up stays told. */
export const noteTopup = statement.tenant<OfWallet & { low: boolean }, { sequence: number }>(
  'wallet.note_topup',
  `insert into wallet.told as t (bucket, account_id, environment, currency, low, sequence)
   values ($bucket, $account, $environment, $currency, false, 1)
   on conflict (bucket, account_id, environment, currency) do update
     set low = t.low and $low::boolean, sequence = t.sequence + 1
   returning sequence`,
)

export interface RechargeRow {
  currency: string
  enabled: boolean
  paused: boolean
  threshold: bigint
  amount: bigint
  /** Phone or card: one of the two is set. */
  phone: string | null
  card_token: string | null
  provider: string | null
  max_per_day: number
  daily_limit: bigint | null
  failures: number
  last_recharge_at: Date | null
  created_at: Date
  updated_at: Date
}

const rechargeColumns = `currency, enabled, paused, threshold, amount, phone, card_token, provider, max_per_day,
  daily_limit, failures,
  last_recharge_at, created_at, updated_at`

export const findRecharge = statement.tenant<OfWallet, RechargeRow>(
  'wallet.find_recharge',
  `select ${rechargeColumns} from wallet.auto_recharges where ${mine} and currency = $currency`,
)

/** Recharge settings, locked until the transaction ends. */
export const lockRecharge = statement.tenant<OfWallet, RechargeRow>(
  'wallet.lock_recharge',
  `select ${rechargeColumns} from wallet.auto_recharges where ${mine} and currency = $currency for update`,
)

/** Automatic top-ups of an account: at most one per currency. */
export const listRecharges = statement.tenant<Omit<OfWallet, 'currency'>, RechargeRow>(
  'wallet.list_recharges',
  `select ${rechargeColumns} from wallet.auto_recharges where ${mine} order by currency`,
)

export const saveRecharge = statement.tenant<
  OfWallet & {
    threshold: bigint
    amount: bigint
    phone: string | null
    cardToken: string | null
    provider: string | null
    maxPerDay: number
    dailyLimit: bigint | null
    at: Date
  },
  RechargeRow
>(
  'wallet.save_recharge',
  `insert into wallet.auto_recharges (bucket, account_id, environment, currency, enabled, threshold, amount, phone, card_token,
     provider, max_per_day, daily_limit, created_at, updated_at)
   values ($bucket, $account, $environment, $currency, true, $threshold, $amount, $phone, $cardToken, $provider, $maxPerDay, $dailyLimit,
     $at, $at)
   on conflict (bucket, account_id, environment, currency) do update
     set enabled = true, threshold = excluded.threshold, amount = excluded.amount, phone = excluded.phone, card_token = excluded.card_token,
         provider = excluded.provider, max_per_day = excluded.max_per_day, daily_limit = excluded.daily_limit,
         failures = 0, failed = '{}', paused = false, updated_at = excluded.updated_at
   returning ${rechargeColumns}`,
)

export const stopRecharge = statement.tenant<OfWallet & { at: Date }, RechargeRow>(
  'wallet.stop_recharge',
  `update wallet.auto_recharges set enabled = false, updated_at = $at where ${mine} and currency = $currency
   returning ${rechargeColumns}`,
)

export interface ReadyRecharge {
  account_id: string
  environment: 'test' | 'live'
  currency: string
  threshold: bigint
}

/** Recharges of all accounts that may begin now, apart from the daily limit; page by page. */
export const nextReadyRecharges = statement.everywhere<
  { buckets: readonly number[]; account: string; environment: string; currency: string; most: number },
  ReadyRecharge
>(
  'wallet.ready_recharges',
  `select account_id, environment, currency, threshold from wallet.auto_recharges
    where bucket = any($buckets::smallint[]) and enabled and not paused and payment_id is null
      and not accounts.is_suspended(account_id)
      and (account_id, environment, currency) > ($account::uuid, $environment::text, $currency::text)
    order by account_id, environment, currency limit $most`,
  {
    merge: firstBy(
      ({ account_id, environment, currency }) => `${account_id} ${environment} ${currency}`,
      ({ most }) => most,
    ),
  },
)

/** Begins an automatic top-up, locked until its payment is named; no row while one runs or after the day's limit. */
export const beginRecharge = statement.tenant<OfWallet & { at: Date; day: string }, RechargeRow>(
  'wallet.begin_recharge',
  `update wallet.auto_recharges
      set last_recharge_at = $at, day = $day::date,
          day_count = case when day = $day::date then day_count else 0 end + 1,
          day_amount = case when day = $day::date then day_amount else 0 end + amount
    where ${mine} and currency = $currency and enabled and not paused and payment_id is null
      and (day is distinct from $day::date
           or (day_count < max_per_day and (daily_limit is null or day_amount + amount <= daily_limit)))
   returning ${rechargeColumns}`,
)

export const nameRecharge = statement.tenant<OfWallet & { payment: string }, object>(
  'wallet.name_recharge',
  `update wallet.auto_recharges set payment_id = $payment, asked_of = coalesce(phone, card_token::text)
    where ${mine} and currency = $currency`,
)

/** Records an automatic top-up whose payment could not be requested. */
export const failRecharge = statement.tenant<OfWallet & { most: number }, RechargeRow>(
  'wallet.fail_recharge',
  `update wallet.auto_recharges
      set failures = failures + 1, failed = array_append(failed, null), paused = failures + 1 >= $most::int
    where ${mine} and currency = $currency
   returning ${rechargeColumns}`,
)

/** The phone or the card that was asked has been replaced meanwhile: its failure says nothing of the new one. */
const isReplaced = `(asked_of is not null and asked_of <> coalesce(phone, card_token::text))`

export const endRecharge = statement.tenant<OfWallet & { payment: string; paid: boolean; most: number }, RechargeRow>(
  'wallet.end_recharge',
  `update wallet.auto_recharges
      set payment_id = null,
          failures = case when $paid::boolean then 0 when ${isReplaced} then failures else failures + 1 end,
          failed = case when $paid then '{}' when ${isReplaced} then failed else array_append(failed, $payment::uuid) end,
          paused = not $paid and (paused or (not ${isReplaced} and failures + 1 >= $most::int))
    where ${mine} and currency = $currency and payment_id = $payment
   returning ${rechargeColumns}`,
)

/** A failed top-up was paid after all: only failures since then count, fewer than pause it. */
export const rechargePaidLate = statement.tenant<OfWallet & { payment: string }, object>(
  'wallet.recharge_paid_late',
  `update wallet.auto_recharges
      set failures = cardinality(failed) - array_position(failed, $payment::uuid), paused = false,
          failed = failed[array_position(failed, $payment) + 1:]
    where ${mine} and currency = $currency and $payment = any(failed)`,
)
