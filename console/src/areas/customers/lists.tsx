// SPDX-License-Identifier: Apache-2.0
// Lists of customers, and of the files that brought them.
import type { ComponentChildren } from 'preact'
import {
  customersExport,
  customersList,
  customersListImports,
  sandboxInventCustomers,
  segmentsList,
} from '#sdk/operations.ts'
import type { CustomerConsent } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Ago, TwoLines } from '../../kit/kit.tsx'
import { type ListOf, type Row, textOf } from '../../kit/list-page.tsx'
import { nothing } from '../../kit/table.tsx'
import { t } from '../../words.ts'
import { createForm } from './forms.ts'

/** Members of a field that is a list. */
const membersOf = (row: Row, field: string): string[] => {
  const value: unknown = row[field]
  return Array.isArray(value) ? value.map(String) : []
}

/** Tags, or the first few of them and how many more there are. */
export function Tags({ tags, most = tags.length }: { tags: readonly string[]; most?: number }) {
  return (
    <span class="tags">
      {tags.slice(0, most).map((tag) => (
        <span key={tag} class="tag" dir="auto">
          {tag}
        </span>
      ))}
      {tags.length > most && <span class="soft small">+{tags.length - most}</span>}
    </span>
  )
}

const channels: readonly (readonly [channel: string, name: string, icon: IconName])[] = [
  ['sms', 'Texts', 'message'],
  ['messenger', 'Chats', 'chat'],
  ['email', 'Emails', 'mail'],
]

/** One answer of a channel for advertising: no wins over yes, and yes over what was never asked. */
export function answerOf(consents: readonly CustomerConsent[], channel: string): 'granted' | 'withdrawn' | null {
  const own = consents.filter((one) => one.channel === channel && one.purpose === 'marketing')
  if (own.some(({ state }) => state === 'withdrawn')) return 'withdrawn'
  return own.length > 0 ? 'granted' : null
}

const answers = {
  granted: ['Agreed', 'good', 'check'],
  withdrawn: ['Withdrawn', 'bad', 'x'],
} as const

/** What somebody agreed to, channel by channel; nothing where they were never asked. */
function agreed(consents: readonly CustomerConsent[]): ComponentChildren {
  const told = channels.flatMap(([channel, name, icon]) => {
    const answer = answerOf(consents, channel)
    return answer === null ? [] : [{ name, icon, answer: answers[answer] }]
  })
  if (told.length === 0) return nothing
  return (
    <span class="tags">
      {told.map(({ name, icon, answer: [word, tone, sign] }) => (
        <span key={name} class={`pill ${tone}`} title={`${t(name)}: ${t(word)}`}>
          <Icon name={icon} />
          <Icon name={sign} />
          <span class="hidden">{`${t(name)}: ${t(word)}`}</span>
        </span>
      ))}
    </span>
  )
}

/** Segments by their ids, newest first. */
async function segmentNames(): Promise<Record<string, string>> {
  const { data } = await segmentsList(api, { query: { limit: 100 } })
  return Object.fromEntries(data.map(({ id, name }) => [id, name]))
}

const consentsOf = (row: Row): readonly CustomerConsent[] => (Array.isArray(row.consents) ? row.consents : [])

export const imports: ListOf = {
  title: 'Imports',
  icon: 'into',
  path: customersListImports.at(),
  keyField: 'import_id',
  open: ['/customers/imports/', 'import_id'],
  sorts: true,
  live: 'customer.import_finished',
  links: [{ to: '/customers/import', name: 'Import a file', scope: 'customers:write', icon: 'into' }],
  columns: [
    { name: 'File', field: 'file_name', priority: 1, card: 'title', grows: true },
    { name: 'State', field: 'state', as: 'state', priority: 1, card: 'state' },
    { name: 'New', field: 'created', as: 'count', priority: 2 },
    { name: 'Changed', field: 'updated', as: 'count', priority: 3 },
    { name: 'Not imported', field: 'failed', as: 'count', priority: 2 },
    { name: 'Created', field: 'created_at', as: 'time', priority: 1, card: 'end' },
  ],
  none: {
    ...{ title: 'No imports', advice: 'Import customers from a file, with a preview first.' },
    ...{ to: '/customers/import', action: 'Import a file' },
  },
}

export const customers: ListOf = {
  title: 'Customers',
  icon: 'users',
  path: customersList.at(),
  exportPath: customersExport.at(),
  keyField: 'id',
  open: ['/customers/', 'id'],
  sorts: true,
  live: 'customer.',
  links: [{ to: '/customers/import', name: 'Import', scope: 'customers:write', icon: 'into' }],
  deeds: [
    {
      ...{ name: 'Invent customers', scope: 'sandbox:write' },
      run: () => sandboxInventCustomers(api, { body: { count: 1_000 } }),
    },
    { name: 'New customer', icon: 'plus', isMain: true, scope: 'customers:write', form: createForm },
  ],
  columns: [
    {
      ...{ name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
      show: (row) => {
        const [first = t('Unknown'), ...others] = [
          ...[textOf(row.name), ...membersOf(row, 'phones'), ...membersOf(row, 'emails')].filter((one) => one !== ''),
        ]
        return <TwoLines first={first} second={others[0] ?? null} />
      },
    },
    {
      ...{ name: 'Email', field: 'emails', priority: 3, card: 'sub' },
      show: (row) => membersOf(row, 'emails')[0] ?? null,
    },
    { name: 'Tags', field: 'tags', priority: 2, show: (row) => <Tags tags={membersOf(row, 'tags')} most={1} /> },
    {
      ...{ name: 'Agreed to', field: 'consents', priority: 2, card: 'state' },
      show: (row) => agreed(consentsOf(row)),
    },
    {
      ...{ name: 'Last seen', field: 'last_seen_at', priority: 1, card: 'end' },
      show: (row) => <Ago at={textOf(row.last_seen_at) || null} />,
    },
    { name: 'Created', field: 'created_at', as: 'date', priority: 3 },
  ],
  filters: [
    { name: 'q', label: 'Search' },
    { name: 'tag', label: 'Tag' },
    { name: 'segment', label: 'Segment', records: segmentNames },
  ],
  none: {
    title: 'No customers',
    advice:
      'Customers are created automatically from messages, calls, USSD sessions and payments. You can also create one here.',
  },
}
