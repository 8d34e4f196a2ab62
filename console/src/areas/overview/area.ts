// SPDX-License-Identifier: Apache-2.0
// The first page, and the phones of the sandbox.
import { type Area, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: '', order: 10, to: '/', name: 'Overview', icon: 'home', key: 'o', scope: 'account:read' },
    { group: '', order: 30, to: '/phones', name: 'Phones', icon: 'mobile', scope: 'sandbox:write' },
  ],
  pages: {
    '': page(() => import('./overview.tsx').then(({ Overview }) => Overview)),
    phones: page(() => import('../../phone/phone.tsx').then(({ Phones }) => Phones)),
  },
}
