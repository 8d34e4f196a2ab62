// SPDX-License-Identifier: Apache-2.0
// Lists of the call centre: queues, agents, voice menus, business hours.
import {
  callcenterListAgents,
  callcenterListBusinessHours,
  callcenterListIvrs,
  callcenterListQueues,
  callcenterLogout,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { type ListOf, type Row, state, textOf, valueAt } from '../../kit/list-page.tsx'
import { percent } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { changeAgent, makeHours, makeMenu, makeQueue, setAgentState, signAgentIn, skillsText } from './forms.tsx'
import { useNames } from './names.ts'
import { AgentState, clockOf, Since } from './states.tsx'

const scope = 'callcenter:write'

export const share = (value: unknown): string =>
  value === null || value === undefined ? '–' : percent(Number(value) / 100)

export const queues: ListOf = {
  title: 'Queues',
  icon: 'layers',
  deeds: [{ name: 'Create queue', icon: 'plus', isMain: true, scope, form: makeQueue }],
  path: callcenterListQueues.at(),
  keyField: 'queue_id',
  open: ['/queues/', 'queue_id'],
  live: 'queue. call.',
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Waiting', field: 'live.waiting', as: 'count', priority: 1, card: 'end' },
    {
      ...{ name: 'Longest wait', field: 'live.longest_wait_seconds', priority: 2 },
      text: (seconds) => clockOf(Number(seconds)),
    },
    {
      ...{ name: 'Free', field: 'live.agents.available', priority: 1, card: 'sub' },
      text: (free, row) =>
        t('{count} of {limit}', { count: textOf(free), limit: textOf(valueAt(row, 'live.agents.logged_in')) }),
    },
    { name: 'Within target today', field: 'live.service_level_percent', priority: 3, text: share },
    state,
  ],
  none: { title: 'No queues', advice: 'Callers wait in a queue until an agent is free. Make the first one.' },
}

function QueueNames({ ids }: { ids: readonly string[] }) {
  const names = useNames().queues
  return <span class="cut">{ids.map((id) => names[id] ?? id).join(', ') || '–'}</span>
}

const idsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
const isThere = ({ status }: Row): boolean => status !== 'offline'

export const agents: ListOf = {
  title: 'Agents',
  icon: 'users',
  deeds: [{ name: 'Sign in an agent with a phone', icon: 'plus', scope, form: signAgentIn }],
  links: [{ to: '/team', name: 'Invite an agent', scope: 'team:write' }],
  path: callcenterListAgents.at(),
  keyField: 'agent_id',
  open: ['/agents/', 'agent_id'],
  live: 'agent.',
  columns: [
    { name: 'Name', field: 'name', orField: 'agent_id', priority: 1, card: 'title', grows: true },
    {
      ...{ name: 'State', field: 'status', priority: 1, card: 'state' },
      show: ({ status, reason }) => <AgentState status={textOf(status)} reason={textOf(reason) || null} />,
    },
    { name: 'Applies to', field: 'since', priority: 2, card: 'end', show: ({ since }) => <Since at={textOf(since)} /> },
    {
      ...{ name: 'Queues', field: 'queues', priority: 2, card: 'sub' },
      show: ({ queues: ids }) => <QueueNames ids={idsIn(ids)} />,
    },
    {
      ...{ name: 'Skills', field: 'skills', priority: 3 },
      text: (skills) => skillsText(Array.isArray(skills) ? skills : []) || '–',
    },
    {
      ...{ name: 'Reached at', field: 'endpoint', priority: 4 },
      text: (endpoint) => textOf(Object(endpoint).number ?? Object(endpoint).uri ?? t('Desk')),
    },
  ],
  actions: [
    { name: 'Change', scope, form: changeAgent },
    { name: 'State', scope, shows: isThere, form: setAgentState },
    {
      ...{ name: 'Sign out', scope, shows: isThere, isDanger: true },
      asks: ({ name, agent_id }) => ({
        title: t('Sign out {name}?', { name: textOf(name ?? agent_id) }),
        consequences: [t('A call in progress ends for the agent.'), t('No further calls are offered.')],
        action: t('Sign out'),
        keep: t('Keep signed in'),
      }),
      run: ({ agent_id }) => callcenterLogout(api, { body: { agent_id: textOf(agent_id), force: true } }),
    },
  ],
  none: {
    title: 'No agents',
    advice: 'Invite a member with the role agent, who is listed after opening the desk once.',
  },
}

export const menus: ListOf = {
  title: 'Voice menus',
  icon: 'tree',
  deeds: [{ name: 'Create voice menu', icon: 'plus', isMain: true, scope, form: makeMenu }],
  links: [{ to: '/voice-prompts', name: 'Uploaded prompts' }],
  path: callcenterListIvrs.at(),
  keyField: 'ivr_id',
  open: ['/voice-menus/', 'ivr_id'],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Steps', field: 'menus', priority: 1, card: 'end', text: (all) => String(Object.keys(Object(all)).length) },
    { name: 'Language', field: 'language', as: 'mono', priority: 2, card: 'sub' },
    { name: 'Version', field: 'version', as: 'count', priority: 3 },
    { name: 'Updated', field: 'updated_at', as: 'time', priority: 3 },
    state,
  ],
  none: { title: 'No voice menus', advice: 'A voice menu offers callers choices by key or speech.' },
}

export const hours: ListOf = {
  title: 'Business hours',
  icon: 'clock',
  deeds: [{ name: 'Set business hours', icon: 'plus', isMain: true, scope, form: makeHours() }],
  path: callcenterListBusinessHours.at(),
  keyField: 'business_hours_id',
  open: ['/hours/', 'business_hours_id'],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Time zone', field: 'timezone', priority: 2, card: 'sub' },
    { name: 'Open now', field: 'open_now', as: 'flag', priority: 1, card: 'state' },
    { name: 'Until', field: 'next_change_at', as: 'time', priority: 2, card: 'end' },
    { name: 'Queues', field: 'queue_ids', priority: 3, show: ({ queue_ids }) => <QueueNames ids={idsIn(queue_ids)} /> },
  ],
  none: { title: 'No business hours', advice: 'Opening hours of queues and menus, with holidays.' },
}
