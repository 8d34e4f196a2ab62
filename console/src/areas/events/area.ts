// SPDX-License-Identifier: Apache-2.0
// What events bring to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [{ group: 'Build', order: 20, to: '/events', name: 'Events', icon: 'bolt', scope: 'events:read' }],
  pages: {
    events: list(() => import('./events.tsx').then(({ events }) => events)),
    'events/*': page(() => import('./events.tsx').then(({ EventPage }) => EventPage)),
  },
  records: { evt: '/events' },
}
