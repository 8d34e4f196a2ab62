// SPDX-License-Identifier: Apache-2.0
// What webhooks bring to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    {
      ...{ group: 'Build', order: 10, to: '/webhooks', name: 'Webhooks', icon: 'hook', scope: 'webhooks:read' },
      badge: { count: 'webhooks_failing', words: '{count} failing', tone: 'bad' },
    },
    { group: 'Build', order: 15, to: '/hooks', name: 'Catching addresses', icon: 'into', scope: 'sandbox:write' },
  ],
  pages: {
    hooks: list(() => import('./hooks.tsx').then((all) => all.hooks)),
    'hooks/*': page(() => import('./hooks.tsx').then(({ HookPage }) => HookPage)),
    webhooks: page(() => import('./webhooks.tsx').then(({ Webhooks }) => Webhooks)),
    'webhooks/*': page(() => import('./deliveries.tsx').then(({ Deliveries }) => Deliveries)),
    'webhooks/*/*': page(() => import('./delivery.tsx').then(({ DeliveryPage }) => DeliveryPage)),
  },
  records: { wh: '/webhooks', hook: '/hooks' },
}
