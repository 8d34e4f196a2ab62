// SPDX-License-Identifier: Apache-2.0
// The door of the wallet area.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { rechargeChore } from './auto-recharge.ts'
import { walletEvents } from './events.ts'
import { lowBalanceChore } from './low-balance.ts'
import { walletRoutes } from './routes.ts'
import { topup } from './topup.ts'

export const wallet: Area = {
  name: 'wallet',
  tools: { named: ['wallet.balance', 'wallet.transactions'] },
  chapters: {
    wallet: { title: 'Wallet', about: 'Balances, transactions and top-ups.' },
  },
  uses: ['payments'],
  scopes: [scopeArea('wallet', { limit: 'payments' })],
  routes: walletRoutes,
  events: Object.values(walletEvents),
  chores: [lowBalanceChore, rechargeChore(topup)],
}
