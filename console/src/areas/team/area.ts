// SPDX-License-Identifier: Apache-2.0
// What the team brings to the console.
import { type Area, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'People', order: 10, to: '/team', name: 'Team', icon: 'users', scope: 'team:read' },
    { group: 'People', order: 30, to: '/security', name: 'Two-factor sign-in', icon: 'shield' },
  ],
  pages: {
    team: page(() => import('./team.tsx').then(({ Team }) => Team)),
    security: page(() => import('./security.tsx').then(({ Security }) => Security)),
  },
}
