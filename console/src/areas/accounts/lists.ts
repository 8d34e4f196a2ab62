// SPDX-License-Identifier: Apache-2.0
// Requests that the account's programs made, and who changed what.
import { auditLogList, logsList } from '#sdk/operations.ts'
import { type ListOf, textOf } from '../../kit/list-page.tsx'

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
    { name: 'Key', field: 'key_id', as: 'id', priority: 3, card: 'sub' },
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

function statusText(status: unknown, { error_code }: Readonly<Record<string, unknown>>): string {
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
