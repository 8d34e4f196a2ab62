// SPDX-License-Identifier: Apache-2.0
// What the wallet brings to the console.
import { type Area, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Money', order: 60, to: '/wallet', name: 'Wallet and ledger', icon: 'wallet', scope: 'wallet:read' },
  ],
  pages: { wallet: page(() => import('./wallet.tsx').then(({ WalletPage }) => WalletPage)) },
}
