// SPDX-License-Identifier: Apache-2.0
// What USSD brings to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'USSD', order: 50, to: '/ussd', name: 'USSD sessions', icon: 'hash', scope: 'ussd:read' },
    { group: 'USSD', order: 51, to: '/menus', name: 'USSD menus', icon: 'tree', scope: 'ussd:read' },
    { group: 'USSD', order: 52, to: '/short-codes', name: 'Short codes', icon: 'keypad', scope: 'ussd:read' },
    { group: 'USSD', order: 53, to: '/ussd-figures', name: 'USSD statistics', icon: 'chart', scope: 'ussd:read' },
  ],
  pages: {
    ussd: list(() => import('./lists.ts').then(({ sessions }) => sessions)),
    'ussd/*': page(() => import('./session.tsx').then(({ UssdSessionPage }) => UssdSessionPage)),
    menus: list(() => import('./lists.ts').then(({ menus }) => menus)),
    'menus/*': page(() => import('./menu.tsx').then(({ MenuPage }) => MenuPage)),
    'short-codes': list(() => import('./lists.ts').then(({ shortCodes }) => shortCodes)),
    'short-codes/*': page(() => import('./short-code.tsx').then(({ ShortCodePage }) => ShortCodePage)),
    'ussd-figures': page(() => import('./figures.tsx').then(({ UssdFigures }) => UssdFigures)),
  },
  records: { uss: '/ussd', usn: '/menus' },
}
