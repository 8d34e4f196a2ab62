// SPDX-License-Identifier: Apache-2.0
// Addresses of the sandbox that catch what is sent to them: all of them, and the requests of one.
import {
  sandboxCreateHook,
  sandboxDeleteHook,
  sandboxGetHook,
  sandboxListHookRequests,
  sandboxListHooks,
} from '#sdk/operations.ts'
import type { SandboxHook } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { CopyText } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Card } from '../../kit/kit.tsx'
import { created, type ListOf, ListRecords } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count } from '../../kit/words.ts'
import { t } from '../../words.ts'

export const hooks: ListOf = {
  title: 'Catching addresses',
  note: 'of the sandbox',
  icon: 'hook',
  path: sandboxListHooks.at(),
  keyField: 'id',
  open: ['/hooks/', 'id'],
  deeds: [
    {
      ...{ name: 'New catching address', icon: 'plus', isMain: true, scope: 'sandbox:write' },
      run: () => sandboxCreateHook(api),
    },
  ],
  columns: [
    created,
    { name: 'Address', field: 'url', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Caught', field: 'caught', as: 'count', priority: 1, card: 'end' },
  ],
  none: {
    title: 'No catching addresses',
    advice: 'Catching addresses record requests, so that you can inspect webhooks.',
  },
}

const requestsOf = (id: string): ListOf => ({
  title: 'Caught requests',
  icon: 'into',
  path: sandboxListHookRequests.at({ id }),
  keyField: 'id',
  columns: [
    { name: 'Time', field: 'received_at', as: 'time', isDay: true, priority: 1 },
    { name: 'Method', field: 'method', as: 'mono', priority: 2, card: 'end' },
    { name: 'Body', field: 'body', as: 'mono', priority: 1, card: 'title', grows: true },
  ],
  none: { title: 'No requests yet', advice: 'Send a request to the address above.' },
})

export const HookPage = recordPage<SandboxHook>({
  in: ['/hooks', 'Catching addresses'],
  get: (id) => sandboxGetHook(api, { id }),
  at: (id) => sandboxGetHook.at({ id }),
  title: ({ caught }) => t('{count} caught', { count: count(caught) }),
  facts: [
    { name: 'Address', field: 'url', as: 'mono' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: ({ id, url }) => [
    {
      ...{ name: 'Remove', isDanger: true, scope: 'sandbox:write', leadsTo: '/hooks' },
      asks: removing(t('the address'), url, t('Its recorded requests are deleted too.')),
      run: () => sandboxDeleteHook(api, { id }),
    },
  ],
  more: ({ id, url }) => (
    <Card title={t('Caught requests')} action={<CopyText text={url} />}>
      <ListRecords list={requestsOf(id)} />
    </Card>
  ),
})
