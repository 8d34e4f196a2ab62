// SPDX-License-Identifier: Apache-2.0
// Forms of the call centre: queues, agents, rules, hours, menus, conferences.
import {
  callcenterAddParticipant,
  callcenterChangeAgent,
  callcenterChangeIvr,
  callcenterChangeQueue,
  callcenterChangeRule,
  callcenterCreateConference,
  callcenterCreateIvr,
  callcenterCreateQueue,
  callcenterCreateRule,
  callcenterLogin,
  callcenterSetAgentStatus,
  callcenterSetBusinessHours,
} from '#sdk/operations.ts'
import type { BusinessHours, Ivr, Queue, RoutingRule } from '#sdk/schemas.ts'
import { listOf } from '../../kit/filled.ts'
import { type FieldOf, type Filled, type FormOf, formOf } from '../../kit/form.tsx'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { destinationIn, OneOfHours, SeveralAgents, SeveralQueues, Where } from './choose.tsx'
import { Conditions, conditionsIn } from './conditions.tsx'
import { chosenStates } from './states.tsx'

/** `billing 4, swahili` -> skills; `level` names the field of the number. */
const skillsIn = (level: 'level' | 'min_level') => (text: string) =>
  listOf(text).map((one) => {
    const [, name = one, number] = /^(.*?)\s+([1-5])$/.exec(one) ?? []
    return { name, [level]: number === undefined ? 1 : Number(number) }
  })

export const skillsText = (
  skills: readonly { name: string; level?: number; min_level?: number | undefined }[] = [],
): string => skills.map(({ name, level, min_level }) => [name, level ?? min_level].filter(Boolean).join(' ')).join(', ')

const skillHint = 'A word and a level from 1 to 5: billing 4, swahili 5'
const language = { name: 'language', label: 'Language', hint: 'Such as en-KE or sw-KE' } as const

const opening: FieldOf = {
  ...{ name: 'business_hours_id', label: 'Business hours' },
  show: (control) => <OneOfHours {...control} />,
}

const queueFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true },
  {
    ...{ name: 'strategy', label: 'Distribution' },
    among: ['longest_idle', 'round_robin', 'skills', 'least_calls', 'ring_all', 'priority'],
  },
  { name: 'agents', label: 'Agents', as: 'list', show: SeveralAgents },
  { name: 'skills_required', label: 'Skills', hint: skillHint, value: skillsIn('min_level') },
  { name: 'sla', label: 'Service level: percent within seconds', hint: 'Such as 80 within 20', value: promiseIn },
  { name: 'max_wait_seconds', label: 'Maximum wait, seconds', as: 'number', hint: '0 for no limit' },
  {
    ...{ name: 'overflow', label: 'Overflow: too long, full or closed', value: overflowIn },
    show: (control) => <Where {...control} />,
  },
  { name: 'record', label: 'Record it', as: 'flag' },
  {
    ...{ name: 'recording_prompt', label: 'Recording notice, played to both parties', isLong: true, isMore: true },
    hint: 'Example: This call is recorded.',
  },
  {
    ...{ name: 'agent_prompt', label: 'Announcement to the answering agent', isLong: true, isMore: true },
    hint: 'Example: A call for sales.',
  },
  { ...language, isMore: true },
  { name: 'max_size', label: 'Maximum waiting callers', as: 'number', isMore: true },
  { name: 'offer_timeout', label: 'Ring time, seconds', as: 'number', isMore: true },
  { name: 'wrap_up_seconds', label: 'Wrap-up time, seconds', as: 'number', isMore: true },
  { name: 'skill_relax_seconds', label: 'Relax skills after, seconds', as: 'number', isMore: true },
  { name: 'aging_seconds', label: 'Raise priority after, seconds', as: 'number', isMore: true },
  { name: 'priority', label: 'Priority, 1 to 10', as: 'number', isMore: true },
  { ...opening, isMore: true },
  { name: 'music_url', label: 'URL of the hold music', isMore: true },
  {
    name: 'announcements',
    label: 'Announcement while waiting',
    isMore: true,
    value: (text) => ({ position: true, text }),
  },
  {
    ...{ name: 'callback', label: 'Key for a callback', hint: 'One of 0-9, * and #', isMore: true },
    value: (key) => ({ enabled: true, key }),
  },
]

function promiseIn(text: string): object {
  const [target_percent = 80, threshold_seconds = 20] = (text.match(/\d+/g) ?? []).map(Number)
  return { target_percent, threshold_seconds }
}

function overflowIn(text: string): object {
  return { on: ['max_wait', 'full', 'no_agents', 'closed'], action: destinationIn(text) }
}

export const makeQueue: FormOf = formOf(callcenterCreateQueue, {
  title: 'Create queue',
  fields: queueFields,
  initial: { strategy: 'longest_idle', sla: '80 within 20' },
  done: ({ queue_id }) => go(`/queues/${queue_id}`),
})

const textOrNone = (value: unknown): string | undefined => textOf(value ?? '') || undefined

export const changeQueue = (queue: Queue): FormOf =>
  formOf(callcenterChangeQueue, {
    title: 'Edit queue',
    action: 'Save',
    given: { queue_id: queue.queue_id },
    fields: [...queueFields, { name: 'status', label: 'State', among: ['open', 'paused', 'closed'] }],
    initial: {
      ...Object.fromEntries(queueFields.map(({ name }) => [name, textOrNone(Object(queue)[name])])),
      agents: queue.agents?.join(',') || undefined,
      skills_required: skillsText(queue.skills_required) || undefined,
      sla: queue.sla ? `${queue.sla.target_percent} within ${queue.sla.threshold_seconds}` : undefined,
      overflow: queue.overflow ? JSON.stringify(queue.overflow.action) : undefined,
      record: queue.record ? 'yes' : 'no',
      announcements: queue.announcements?.text,
      callback: queue.callback?.key,
      status: queue.status,
    },
  })

const agentFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name' },
  { name: 'skills', label: 'Skills', hint: skillHint, value: skillsIn('level') },
  { name: 'queues', label: 'Queues', as: 'list', show: SeveralQueues },
  { name: 'languages', label: 'Languages', as: 'list', hint: 'Such as en-KE or sw-KE' },
  {
    ...{ name: 'endpoint', label: 'Phone', hint: 'Empty: the desk in the browser' },
    value: (number) => (number.startsWith('sip') ? { type: 'sip', uri: number } : { type: 'phone', number }),
  },
]

/** An agent with a telephone, who has no desk and is signed in by somebody else. */
export const signAgentIn: FormOf = formOf(callcenterLogin, {
  title: 'Sign in an agent with a phone',
  action: 'Sign in',
  fields: [{ name: 'agent_id', label: 'Id', isRequired: true, hint: 'Your own, such as amina' }, ...agentFields],
})

export const changeAgent = (agent: Row): FormOf => {
  const { type, number, uri } = Object(agent.endpoint)
  return formOf(callcenterChangeAgent, {
    title: 'Edit agent',
    action: 'Save',
    given: { agent_id: textOf(agent.agent_id) },
    fields: agentFields,
    initial: {
      name: textOrNone(agent.name),
      skills: skillsText(Array.isArray(agent.skills) ? agent.skills : []) || undefined,
      queues: Array.isArray(agent.queues) ? agent.queues.join(',') || undefined : undefined,
      languages: textOrNone(agent.languages),
      endpoint: type === 'webrtc' ? undefined : textOrNone(number ?? uri),
    },
  })
}

export const setAgentState = (agent: Row): FormOf =>
  formOf(callcenterSetAgentStatus, {
    title: 'Change the state',
    action: 'Save',
    fixed: { agent_id: textOf(agent.agent_id) },
    fields: [
      { name: 'status', label: 'State', among: chosenStates },
      { name: 'reason', label: 'Reason' },
    ],
    initial: { status: 'available' },
  })

const ruleFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true },
  { name: 'priority', label: 'Order, lowest first', as: 'number', isRequired: true },
  {
    ...{ name: 'conditions', label: 'Conditions', value: conditionsIn },
    show: (control) => <Conditions {...control} />,
  },
  { name: 'match', label: 'Conditions to match', among: ['all', 'any'] },
  { name: 'action', label: 'Destination', value: destinationIn, show: (control) => <Where {...control} /> },
  { name: 'enabled', label: 'Enabled', as: 'flag' },
]

export const makeRule: FormOf = formOf(callcenterCreateRule, {
  title: 'Create rule',
  fields: ruleFields,
  initial: { priority: '10', match: 'all', enabled: 'yes' },
})

export const changeRule = ({ rule_id, name, priority, conditions, match, action, enabled }: RoutingRule): FormOf =>
  formOf(callcenterChangeRule, {
    title: 'Edit rule',
    action: 'Save',
    given: { rule_id },
    fields: ruleFields,
    initial: {
      ...{ name, priority: String(priority), match, enabled: enabled ? 'yes' : 'no' },
      conditions: conditions?.length ? JSON.stringify(conditions) : undefined,
      action: JSON.stringify(action),
    },
  })

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
type Weekday = (typeof weekdays)[number]
const weekdayNames: Readonly<Record<Weekday, string>> = {
  ...{ monday: 'Monday', tuesday: 'Tuesday', wednesday: 'Wednesday', thursday: 'Thursday' },
  ...{ friday: 'Friday', saturday: 'Saturday', sunday: 'Sunday' },
}
export const days = weekdays.map((day) => [day, weekdayNames[day]] as const)

/** `08:00-12:30, 14:00-17:00` -> intervals. */
function intervalsIn(text: string): { open: string; close: string }[] {
  return listOf(text).map((one) => {
    const [open = '', close = ''] = one.split(/[-–]/).map((time) => time.trim())
    return { open, close }
  })
}

export const intervalsText = (intervals: readonly { open: string; close: string }[] = []): string =>
  intervals.map(({ open, close }) => `${open}-${close}`).join(', ')

/** Year of holidays of every year, which has a 29 February; only their day counts. */
const everyYear = '2000'
const intervalForm = /^\d\d:\d\d[-–]\d\d:\d\d,?$/

/** `2026-03-20 Eid`, `12-25 Christmas` of every year, `12-24 08:00-12:00 Christmas Eve`, each on a line -> holidays. */
function holidaysIn(text: string): object[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [day = '', ...rest] = line.split(/\s+/)
      const isEveryYear = /^\d\d-\d\d$/.test(day)
      const open = rest.findIndex((word) => !intervalForm.test(word))
      const name = open === -1 ? '' : rest.slice(open).join(' ')
      const hours = rest.slice(0, open === -1 ? rest.length : open)
      return {
        date: isEveryYear ? `${everyYear}-${day}` : day,
        ...(isEveryYear ? { every_year: true } : {}),
        ...(hours.length > 0 ? { intervals: intervalsIn(hours.join(',')) } : {}),
        ...(name === '' ? {} : { name }),
      }
    })
}

const holidaysText = (holidays: BusinessHours['holidays'] = []): string =>
  holidays
    .map(({ date, every_year, intervals = [], name = '' }) =>
      [every_year ? date.slice(5) : date, intervalsText(intervals), name].filter(Boolean).join(' '),
    )
    .join('\n')

const hoursFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true },
  { name: 'timezone', label: 'Time zone', isRequired: true, hint: 'Such as Africa/Nairobi' },
  ...days.map(
    ([day, label], i): FieldOf => ({
      ...{ name: `weekly.${day}`, label, value: intervalsIn },
      ...(i === 0 ? { hint: 'Such as 08:00-12:30, 14:00-17:00; empty is closed' } : {}),
    }),
  ),
  {
    ...{ name: 'holidays', label: 'Holidays, one on a line', isLong: true, value: holidaysIn },
    hint: '12-25 Christmas; 12-24 08:00-12:00 Christmas Eve; with a year, such as 2027-03-10, once',
  },
  { name: 'queue_ids', label: 'Queues', as: 'list', show: SeveralQueues },
  {
    ...{ name: 'closed_action', label: 'Destination outside business hours', value: destinationIn },
    show: (control) => <Where {...control} />,
  },
]

const setHours = (title: string, initial: Filled, known?: { name: string }): FormOf =>
  formOf(callcenterSetBusinessHours, {
    ...{ title, action: 'Save', initial },
    // Hours are known by their name, and what is emptied is sent as nothing.
    fields: known ? hoursFields.filter(({ name }) => name !== 'name') : hoursFields,
    fixed: known ? { ...known, weekly: {}, queue_ids: [] } : { weekly: {} },
    done: ({ business_hours_id }) => go(`/hours/${business_hours_id}`),
  })

const office = Object.fromEntries(weekdays.slice(0, 5).map((day) => [`weekly.${day}`, '08:00-17:00']))
export const makeHours = (): FormOf => setHours('Set business hours', { ...office })

export const changeHours = ({ name, timezone, weekly, holidays, queue_ids, closed_action }: BusinessHours): FormOf =>
  setHours(
    'Edit hours',
    {
      timezone,
      ...Object.fromEntries(weekdays.map((day) => [`weekly.${day}`, intervalsText(weekly[day]) || undefined])),
      holidays: holidaysText(holidays) || undefined,
      queue_ids: queue_ids.join(',') || undefined,
      closed_action: closed_action ? JSON.stringify(closed_action) : undefined,
    },
    { name },
  )

export const makeMenu: FormOf = {
  title: 'Create voice menu',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { ...language, isRequired: true },
    { name: 'prompt', label: 'Prompt', isLong: true, isRequired: true },
    { name: 'action', label: 'Key 1 leads to', show: (control) => <Where {...control} /> },
  ],
  initial: { language: 'en-KE' },
  async make({ name = '', language: spoken, prompt = '', action = '' }) {
    const first = { label: name, action: destinationIn(action) ?? { repeat: true } }
    const body = {
      name,
      language: spoken,
      entry: 'main',
      menus: { main: { prompt: { text: prompt }, options: { 1: first } } },
    }
    return formOf(callcenterCreateIvr, {
      ...{ title: t('Create voice menu'), fields: [], fixed: body },
      done: ({ ivr_id }) => go(`/voice-menus/${ivr_id}`),
    }).make({}, {})
  },
}

/** `shop=Duka`, `vip=true`, each on a line -> variables; what is a number or yes and no is one. */
function variablesIn(text: string): Record<string, string | number | boolean> {
  const lines = text.split('\n').filter((line) => line.includes('='))
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split('=')
      const value = rest.join('=').trim()
      const isNumber = value !== '' && String(Number(value)) === value
      return [name.trim(), isNumber ? Number(value) : /^(true|false)$/.test(value) ? value === 'true' : value]
    }),
  )
}

export const changeMenu = ({ ivr_id, name, language: spoken, business_hours_id, closed, variables }: Ivr): FormOf =>
  formOf(callcenterChangeIvr, {
    ...{ title: 'Edit voice menu', action: 'Save', given: { ivr_id } },
    fields: [
      { name: 'name', label: 'Name', isRequired: true },
      { ...language, isRequired: true },
      opening,
      {
        ...{ name: 'closed', label: 'Destination outside business hours', value: destinationIn },
        show: (control) => <Where {...control} />,
      },
      { name: 'variables', label: 'Variables, one on a line', isLong: true, hint: 'shop=Duka', value: variablesIn },
    ],
    initial: {
      ...{ name, language: spoken, business_hours_id: business_hours_id ?? undefined },
      closed: closed ? JSON.stringify(closed) : undefined,
      variables:
        Object.entries(variables)
          .map(([one, value]) => `${one}=${value}`)
          .join('\n') || undefined,
    },
  })

export const startConference: FormOf = formOf(callcenterCreateConference, {
  title: 'Start a conference',
  action: 'Call them',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { name: 'participants', label: 'Numbers and agents', as: 'list', isRequired: true, hint: '+254711000041, amina' },
    { name: 'from', label: 'From', hint: 'One of your numbers' },
    { name: 'record', label: 'Record it', as: 'flag' },
  ],
  done: ({ conference_id }) => go(`/conferences/${conference_id}`),
})

export const addToConference = (conference_id: string): FormOf =>
  formOf(callcenterAddParticipant, {
    title: 'Add a participant',
    action: 'Call',
    given: { conference_id },
    fields: [{ name: 'endpoint', label: 'Number or agent', isRequired: true }],
  })
