// SPDX-License-Identifier: Apache-2.0
// Events of wallets: money that came in, and money that is running out.

import { Type } from 'typebox'
import { moneyFields, moneyHead } from '../../ledger/money-events.ts'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Nullable, OneOf } from '../../platform/schema/fields.ts'

const available = Amount({ description: 'Amount that can be spent: balance less held amounts, plus the credit limit' })

/** Automatic top-up of a wallet, in short. */
export const RechargeFacts = Type.Object({
  enabled: Type.Boolean({ description: 'True if automatic top-up is enabled' }),
  threshold: Amount({ description: 'Available amount below which the wallet is topped up' }),
  amount: Amount({ description: 'Amount of each top-up, in major units' }),
  status: OneOf(['active', 'paused', 'disabled'], { description: 'Status; `paused` after three consecutive failures' }),
  consecutive_failures: Type.Integer({ description: 'Failures since the last success' }),
})

const Wallet = Type.Object(
  {
    wallet_id: Type.String({ description: 'Id of the wallet, such as `wal_…`' }),
    currency: Type.String({ description: 'Currency of all amounts, ISO 4217' }),
    balance: Amount({ description: 'Balance in major units, including held amounts' }),
    available,
    held: Amount({ description: 'Amount reserved for operations in progress' }),
    pending: Amount({ description: 'Sum of pending top-ups' }),
    low_balance: Type.Boolean({ description: 'True below the account’s low_balance_threshold' }),
    auto_recharge: Nullable(RechargeFacts, {
      description: 'Automatic top-up; null if it was never set',
    }),
    updated_at: At({ description: 'Time of the last change of the balance' }),
  },
  { title: 'Wallet', description: 'Current state of the wallet' },
)

const flatWallet = {
  ...moneyFields,
  currency: Type.String({ description: 'Currency of the wallet, ISO 4217' }),
  available,
  threshold: Nullable(Amount(), { description: 'Threshold of `available`' }),
}

const LowBalance = Type.Object({ ...flatWallet, wallet: Wallet }, { title: 'WalletLowEvent' })

const TopupCompleted = Type.Object(
  {
    ...flatWallet,
    amount: Amount({ description: 'Amount of the top-up' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    wallet: Wallet,
  },
  { title: 'WalletTopupEvent' },
)

const RechargeFailed = Type.Object(
  {
    ...flatWallet,
    failure_reason: Type.String({ description: 'Code of the failure, such as `CARD_DECLINED`' }),
    payment_id: Nullable(Type.String({ description: 'Id of the failed payment; null if there was none' })),
    wallet: Wallet,
  },
  { title: 'WalletRechargeFailedEvent' },
)

const place = { livemode: false, sequence: 7, currency: 'KES', threshold: 1_000_000_000n }
const payment_id = 'pay_01jb2c3d4e5f6g7h8j9kamnpqr'
const recharge = { enabled: true, threshold: 1_000_000_000n, amount: 5_000_000_000n } as const
const low = {
  wallet_id: 'wal_01jb2c3d4e5f6g7h8j9kamnpqr',
  currency: 'KES',
  balance: 1_400_250_000n,
  available: 900_250_000n,
  held: 500_000_000n,
  pending: 0n,
  low_balance: true,
  auto_recharge: { ...recharge, status: 'active', consecutive_failures: 0 },
  updated_at: new Date('2026-03-01T09:15:30Z'),
} as const
const filled = { ...low, balance: 6_400_250_000n, available: 5_900_250_000n, low_balance: false } as const
const paused = { ...low, auto_recharge: { ...recharge, status: 'paused', consecutive_failures: 3 } } as const

export const walletEvents = {
  lowBalance: eventType({
    name: 'wallet.low_balance',
    summary: 'The balance of a wallet is below its threshold',
    head: moneyHead,
    payload: LowBalance,
    sample: { ...place, available: low.available, wallet: low },
  }),
  topupCompleted: eventType({
    name: 'wallet.topup_completed',
    summary: 'A wallet was topped up',
    head: moneyHead,
    payload: TopupCompleted,
    sample: { ...place, available: filled.available, amount: recharge.amount, payment_id, wallet: filled },
  }),
  autoRechargeFailed: eventType({
    name: 'wallet.auto_recharge_failed',
    summary: 'Automatic top-up failed three times in a row and is paused',
    head: moneyHead,
    payload: RechargeFailed,
    sample: { ...place, available: low.available, failure_reason: 'CARD_DECLINED', payment_id, wallet: paused },
  }),
}
