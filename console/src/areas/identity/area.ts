// SPDX-License-Identifier: Apache-2.0
// What identity checks bring to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    {
      ...{
        group: 'Verification',
        order: 10,
        to: '/identity',
        name: 'Identity checks',
        icon: 'face',
        scope: 'identity:read',
      },
      badge: { count: 'identity_to_review', words: '{count} to review', tone: 'warn', rows: '?stage=awaiting_review' },
    },
    {
      group: 'Verification',
      order: 20,
      to: '/identity-sessions',
      name: 'Verification links',
      icon: 'link',
      scope: 'identity:read',
    },
    {
      group: 'Verification',
      order: 40,
      to: '/blocked-people',
      name: 'Blocked people',
      icon: 'ban',
      scope: 'identity:read',
    },
    {
      group: 'Verification',
      order: 50,
      to: '/identity-policy',
      name: 'Identity policy',
      icon: 'gear',
      scope: 'identity:read',
    },
    { group: 'Verification', order: 60, to: '/documents', name: 'Documents', icon: 'file', scope: 'identity:read' },
  ],
  pages: {
    identity: list(() => import('./lists.ts').then(({ checks }) => checks)),
    'identity/*': page(() => import('./check.tsx').then(({ CheckPage }) => CheckPage)),
    'identity-sessions': list(() => import('./sessions.tsx').then(({ sessions }) => sessions)),
    'identity-sessions/*': page(() => import('./sessions.tsx').then(({ SessionPage }) => SessionPage)),
    'blocked-people': list(() => import('./blocked.tsx').then(({ people }) => people)),
    'blocked-people/*': page(() => import('./blocked.tsx').then(({ BlockedPersonPage }) => BlockedPersonPage)),
    'identity-policy': page(() => import('./policy.tsx').then(({ PolicyPage }) => PolicyPage)),
    documents: list(() => import('./lists.ts').then(({ documents }) => documents)),
  },
  records: { idb: '/blocked-people', ids: '/identity-sessions', ver: '/identity' },
}
