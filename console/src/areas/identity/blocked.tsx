// SPDX-License-Identifier: Apache-2.0
// People whose checks are refused.
import { identityGetBlock, identityListBlocklist, identityUnblock } from '#sdk/operations.ts'
import type { IdentityBlocklistEntry } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { created, type ListOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { blockPerson } from './forms.ts'

export const people: ListOf = {
  title: 'Blocked people',
  icon: 'ban',
  path: identityListBlocklist.at(),
  keyField: 'id',
  open: ['/blocked-people/', 'id'],
  deeds: [{ name: 'Block a person', icon: 'ban', isMain: true, scope: 'identity:write', form: blockPerson }],
  columns: [
    created,
    { name: 'Last characters', field: 'hint', as: 'mono', priority: 1, card: 'title' },
    { name: 'Kind', field: 'kind', as: 'words', priority: 1, card: 'end' },
    { name: 'Reason', field: 'reason', priority: 2, card: 'sub', grows: true },
  ],
  none: {
    title: 'No blocked entries',
    advice: 'Blocked documents, phones and devices are listed here.',
  },
}

export const BlockedPersonPage = recordPage<IdentityBlocklistEntry>({
  in: ['/blocked-people', 'Blocked people'],
  get: (id) => identityGetBlock(api, { id }),
  at: (id) => identityGetBlock.at({ id }),
  title: ({ kind, hint }) => `${words(kind)} …${hint}`,
  facts: [
    { name: 'Reason', field: 'reason' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: ({ id, hint }) => [
    {
      name: 'Unblock',
      isDanger: true,
      scope: 'identity:write',
      asks: removing(`…${hint}`, t('Checks with it are accepted from now on.')),
      run: () => identityUnblock(api, { id }),
      leadsTo: '/blocked-people',
    },
  ],
})
