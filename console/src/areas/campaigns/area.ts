// SPDX-License-Identifier: Apache-2.0
// What segments and campaigns bring to the console: lists, and a page of each.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: '', order: 22, to: '/campaigns', name: 'Campaigns', icon: 'megaphone', scope: 'campaigns:read' },
    { group: '', order: 23, to: '/segments', name: 'Segments', icon: 'filter', scope: 'customers:read' },
  ],
  pages: {
    campaigns: list(() => import('./lists.ts').then(({ campaigns }) => campaigns)),
    'campaigns/*': page(() => import('./campaign.tsx').then(({ CampaignPage }) => CampaignPage)),
    segments: list(() => import('./lists.ts').then(({ segments }) => segments)),
    'segments/*': page(() => import('./segment.tsx').then(({ SegmentPage }) => SegmentPage)),
  },
  records: { cmp: '/campaigns', seg: '/segments' },
}
