// SPDX-License-Identifier: Apache-2.0
// Routes of the wallet.
import { type Static, Type } from 'typebox'
import { currencyOf } from '../../ledger/currencies.ts'
import { list, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { checkCallback } from '../../platform/outbound/callback-url.ts'
import { Amount, At, Nullable, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import { accepting, isAnsweredAtOnce, passed } from '../payments/area.ts'
import { Recharge, RechargeSet, rechargesOf, setRecharge } from './auto-recharge.ts'
import { RechargeFacts } from './events.ts'
import { acceptTopup, sendTopup, Topup, TopupCreate } from './topup.ts'
import { listTransactions, TransactionQuery, WalletTransaction } from './transactions.ts'
import { allFigures, currentWallet, figuresOf, isLow, rechargeFacts, walletId } from './wallet.ts'

const figures = {
  currency: Type.String({ description: 'Currency of this wallet' }),
  balance: Amount({ description: 'Balance in major units, including held amounts' }),
  available: Amount({ description: 'Amount that can be spent: balance less held amounts, plus the credit limit' }),
  held: Amount({ description: 'Amount reserved for operations whose outcome is pending' }),
  pending: Amount({ description: 'Amount collected, but not yet settled by the provider' }),
}

const Balance = Type.Object(
  {
    wallet_id: Type.String({ description: 'Id of the wallet, such as `wal_…`' }),
    ...figures,
    credit_limit: Amount({ description: 'Maximum amount by which the balance may be negative' }),
    balances: Type.Array(Type.Object(figures), { description: 'Balances of all currencies' }),
    low_balance: Type.Boolean({ description: 'True below the account’s low_balance_threshold' }),
    auto_recharge: Nullable(RechargeFacts, {
      description: 'Automatic top-up; null if it was never set',
    }),
    updated_at: At({ description: 'Time of the last change of the balance' }),
  },
  { title: 'WalletBalance' },
)

const balance = read({
  method: 'GET',
  path: '/v1/wallet/balance',
  operation: 'wallet.balance',
  summary: 'Get wallet balances',
  scope: 'wallet:read',
  query: Type.Object({
    currency: Type.Optional(
      Type.String({ maxLength: 3, description: 'Currency of the wallet; default: the account’s' }),
    ),
  }),
  reply: { status: 200, schema: Balance },
  examples: [{ name: 'The balance' }],
  handle: (app, { query }, caller) => readBalance(app, query.currency, caller),
})

const topup = write({
  ...accepting,
  errors: [...accepting.errors, 'PAYMENT_BLOCKED'],
  method: 'POST',
  path: '/v1/wallet/topup',
  operation: 'wallet.topup',
  summary: 'Top up the wallet',
  description:
    'Creates a payment without a fee, requested on the phone and checked by your fraud rules and blacklists. The money can be spent at once; live money can be paid out some days later. Sent as payment.completed and wallet.topup_completed, and listed with your payments.',
  scope: 'wallet:write',
  body: TopupCreate,
  reply: {
    status: 201,
    schema: Topup,
    location: ({ payment_id }: Static<typeof Topup>) => `/v1/payments/${payment_id}`,
  },
  examples: [{ name: 'From a phone', body: { amount: 5000, phone: '+254700000001' } }],
  prepare: (app, { body }, caller) => checkCallback(app, caller.tenant, body.callback_url),
  handle: (app, tx, { query, body }, caller) => acceptTopup(app, tx, body, caller, query.wait !== 0),
  follow: async (app, { query, body }, caller, reply) =>
    isAnsweredAtOnce(query.wait, reply) ? passed(reply) : sendTopup(app, caller, reply.payment_id, body),
})

const transactions = list({
  path: '/v1/wallet/transactions',
  operation: 'wallet.transactions',
  summary: 'List wallet transactions',
  description:
    'With `type`, a page may have fewer rows than requested, even none, and still be followed by another: continue while `next_cursor` is set. `include=holds` adds current and past holds, as rows of the type `hold`; `type=hold` lists holds only.',
  scope: 'wallet:read',
  query: TransactionQuery,
  row: WalletTransaction,
  errors: ['INVALID_DATE_RANGE'],
  examples: [
    { name: 'Top-ups', query: { type: 'topup' } },
    { name: 'Transactions and holds', query: { include: 'holds' } },
  ],
  handle: (app, { query }, caller) => listTransactions(app, query, caller),
})

const setAutoRecharge = write({
  method: 'POST',
  path: '/v1/wallet/auto-recharge',
  operation: 'wallet.setAutoRecharge',
  summary: 'Set up or disable automatic top-up',
  description:
    'When the available amount falls below the threshold, a top-up is requested on the phone or charged to the saved card: one at a time, at most `max_per_day`. Three consecutive failures pause it (wallet.auto_recharge_failed); setting it again resumes it.',
  scope: 'wallet:write',
  limit: 'payments',
  body: RechargeSet,
  reply: { status: 200, schema: Recharge },
  errors: [
    'INVALID_PHONE',
    'INVALID_CARD',
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_METHOD',
    'UNSUPPORTED_PROVIDER',
    'AMOUNT_TOO_LOW',
    'AMOUNT_TOO_HIGH',
  ],
  examples: [{ name: 'From a phone', body: { enabled: true, threshold: 50, amount: 5000, phone: '+254700000001' } }],
  handle: (app, tx, { body }, caller) => setRecharge(app, tx, body, caller),
})

const autoRecharges = list({
  path: '/v1/wallet/auto-recharge',
  operation: 'wallet.autoRecharges',
  summary: 'List automatic top-ups',
  scope: 'wallet:read',
  query: Type.Object(wholeListQuery),
  row: Recharge,
  examples: [{ name: 'All' }],
  handle: async (app, { query }, { tenant }) =>
    pageOfWhole(query, await rechargesOf(app.db, tenant), ({ currency }) => currency),
})

async function readBalance(app: App, asked: string | undefined, caller: Caller): Promise<Static<typeof Balance>> {
  const { tenant, principal, nowMs } = caller
  const currency = currencyOf(asked ?? principal.facts.currency)
  const current = await currentWallet(app.db, tenant, currency, nowMs)
  const { wallet, pending, threshold, recharge } = current
  return {
    wallet_id: walletId(tenant, currency),
    currency,
    ...figuresOf(wallet, pending),
    credit_limit: wallet.overdraftMicros,
    balances: allFigures(current, nowMs),
    low_balance: isLow(wallet, threshold),
    auto_recharge: recharge && rechargeFacts(recharge),
    updated_at: wallet.updatedAt,
  }
}

export const walletRoutes: readonly Route[] = [balance, topup, transactions, setAutoRecharge, autoRecharges]
