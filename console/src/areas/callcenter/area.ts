// SPDX-License-Identifier: Apache-2.0
// What the call centre brings to the console.
import { type Area, list, page } from '../../area.tsx'

const scope = 'callcenter:read'

export const area: Area = {
  entries: [
    { group: 'Calls', order: 5, to: '/desk', name: 'Desk', icon: 'headset', scope: 'callcenter:agent', key: 'd' },
    { group: 'Calls', order: 10, to: '/wallboard', name: 'Wallboard', icon: 'gauge', scope },
    { group: 'Calls', order: 15, to: '/call-report', name: 'Call report', icon: 'chart', scope },
    { group: 'Calls', order: 20, to: '/queues', name: 'Queues', icon: 'layers', scope },
    { group: 'Calls', order: 22, to: '/agents', name: 'Agents', icon: 'users', scope },
    { group: 'Calls', order: 24, to: '/voice-menus', name: 'Voice menus', icon: 'tree', scope },
    { group: 'Calls', order: 26, to: '/routing-rules', name: 'Routing rules', icon: 'route', scope },
    { group: 'Calls', order: 28, to: '/hours', name: 'Business hours', icon: 'clock', scope },
  ],
  pages: {
    desk: page(() => import('./desk.tsx').then(({ DeskPage }) => DeskPage)),
    wallboard: page(() => import('./wallboard.tsx').then(({ Wallboard }) => Wallboard)),
    'call-report': page(() => import('./report.tsx').then(({ CallReport }) => CallReport)),
    queues: list(() => import('./lists.tsx').then(({ queues }) => queues)),
    'queues/*': page(() => import('./queue.tsx').then(({ QueuePage }) => QueuePage)),
    agents: list(() => import('./lists.tsx').then(({ agents }) => agents)),
    'agents/*': page(() => import('./agent.tsx').then(({ AgentPage }) => AgentPage)),
    'voice-menus': list(() => import('./lists.tsx').then(({ menus }) => menus)),
    'voice-menus/*': page(() => import('./menu.tsx').then(({ MenuPage }) => MenuPage)),
    'voice-prompts': list(() => import('./prompts.tsx').then(({ prompts }) => prompts)),
    'routing-rules': page(() => import('./rules.tsx').then(({ Rules }) => Rules)),
    'routing-rules/*': page(() => import('./rules.tsx').then(({ RulePage }) => RulePage)),
    hours: list(() => import('./lists.tsx').then(({ hours }) => hours)),
    'hours/*': page(() => import('./hours.tsx').then(({ HoursPage }) => HoursPage)),
    'conferences/*': page(() => import('./conference.tsx').then(({ ConferencePage }) => ConferencePage)),
  },
  everywhere: { kept: 'pamoja-desk', load: () => import('./call-bar.tsx').then(({ CallBar }) => CallBar) },
  records: { que: '/queues', ivr: '/voice-menus', rule: '/routing-rules', bh: '/hours', conf: '/conferences' },
}
