// SPDX-License-Identifier: Apache-2.0
// Requests that the account's programs made, and who changed what.
import { auditLogList, logsList } from '#sdk/operations.ts'
import { type ListOf, type Row, textOf, valueAt } from '../../kit/list-page.tsx'
import { shortId } from '../../kit/words.ts'

export const requests: ListOf = {
  title: 'Requests',
  icon: 'list',
  path: logsList.at(),
  keyField: 'request_id',
  open: ['/requests/', 'request_id'],
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    { name: 'Time', field: 'at', as: 'time', isDay: true, priority: 1 },
    { name: 'Method', field: 'method', as: 'mono', priority: 1, card: 'end' },
    { name: 'Path', field: 'path', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Status', field: 'status', as: 'mono', priority: 1, card: 'state', text: statusText },
    { name: 'Actor', field: 'key_name', priority: 3, card: 'sub', text: makerText },
    { name: 'Duration', field: 'duration_ms', priority: 2, text: (value) => `${Math.round(Number(value))} ms` },
  ],
  filters: [
    { name: 'method', label: 'Method', among: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
    {
      name: 'status',
      label: 'Status',
      among: ['200', '201', '400', '401', '402', '403', '404', '409', '422', '429', '500'],
    },
    { name: 'operation', label: 'Operation' },
  ],
  none: {
    title: 'No requests',
    advice: 'API requests with keys of this environment are listed here.',
    to: '/keys',
    action: 'Keys',
  },
}

/** Name of the key; of a request in the console, that of the member. */
function makerText(keyName: unknown, row: Row): string {
  return textOf(keyName ?? valueAt(row, 'member.name') ?? shortId(textOf(row.key_id ?? valueAt(row, 'member.id'))))
}

export function statusText(status: unknown, { error_code }: Row): string {
  return [status, error_code].filter(Boolean).map(textOf).join(' ')
}

export const audit: ListOf = {
  title: 'Audit log',
  note: 'changes by member and key',
  icon: 'book',
  path: auditLogList.at(),
  keyField: 'id',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    { name: 'Time', field: 'at', as: 'time', isDay: true, priority: 1 },
    { name: 'Actor', field: 'actor.name', orField: 'actor.id', priority: 1, card: 'title' },
    { name: 'Action', field: 'action', as: 'mono', priority: 1, card: 'sub', grows: true },
    { name: 'Object', field: 'target', as: 'id', priority: 2 },
    { name: 'After', field: 'after', as: 'json', priority: 4 },
    { name: 'From', field: 'ip', as: 'mono', priority: 4 },
  ],
  filters: [
    { name: 'action', label: 'Action' },
    { name: 'target', label: 'Object' },
  ],
}
