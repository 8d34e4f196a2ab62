// SPDX-License-Identifier: Apache-2.0
// List of customers.
import { customersList, sandboxInventCustomers } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Ago, TwoLines } from '../../kit/kit.tsx'
import { type ListOf, type Row, textOf } from '../../kit/list-page.tsx'
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

export const customers: ListOf = {
  title: 'Customers',
  icon: 'users',
  path: customersList.at(),
  keyField: 'id',
  open: ['/customers/', 'id'],
  sorts: true,
  live: 'customer.',
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
      ...{ name: 'Last seen', field: 'last_seen_at', priority: 1, card: 'end' },
      show: (row) => <Ago at={textOf(row.last_seen_at) || null} />,
    },
    { name: 'Created', field: 'created_at', as: 'date', priority: 3 },
  ],
  filters: [
    { name: 'q', label: 'Search' },
    { name: 'tag', label: 'Tag' },
  ],
  none: {
    title: 'No customers',
    advice: 'Whoever writes, calls, dials or pays becomes a customer. You can also create one here.',
  },
}
