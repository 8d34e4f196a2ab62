// SPDX-License-Identifier: Apache-2.0
// Payers whose payments and payouts are refused.
import { fraudGetBlacklistEntry, fraudListBlacklist, fraudRemoveFromBlacklist } from '#sdk/operations.ts'
import type { BlacklistEntry } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { Deed } from '../../kit/detail.tsx'
import { created, type ListOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { block } from './forms.ts'

export const blocked: ListOf = {
  title: 'Blocked payers',
  icon: 'ban',
  path: fraudListBlacklist.at(),
  keyField: 'blacklist_id',
  open: ['/blocked/', 'blacklist_id'],
  deeds: [{ name: 'Block a payer', icon: 'ban', isMain: true, scope: 'fraud:write', form: block }],
  columns: [
    created,
    { name: 'Value', field: 'value', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Kind', field: 'type', as: 'words', priority: 1, card: 'end' },
    { name: 'Reason', field: 'reason', priority: 2, card: 'sub' },
    { name: 'Until', field: 'expires_at', as: 'time', priority: 3 },
  ],
  filters: [{ name: 'type', label: 'Kind', among: ['phone', 'email', 'card', 'ip', 'country', 'customer_id'] }],
  none: {
    title: 'No blocked entries',
    advice: 'Blocked phones, cards and addresses are listed here.',
  },
}

export const BlockedPage = recordPage<BlacklistEntry>({
  in: ['/blocked', 'Blocked payers'],
  get: (id) => fraudGetBlacklistEntry(api, { blacklist_id: id }),
  at: (id) => fraudGetBlacklistEntry.at({ blacklist_id: id }),
  title: ({ value }) => value,
  note: ({ type }) => words(type),
  facts: [
    { name: 'Reason', field: 'reason' },
    { name: 'Applies to', field: 'applies_to', as: 'words' },
    { name: 'Until', field: 'expires_at', as: 'time' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: ({ blacklist_id, value }): Deed[] => [
    {
      name: 'Unblock',
      scope: 'fraud:write',
      asks: {
        title: t('Unblock {name}?', { name: value }),
        consequences: [t('Payments are taken again from now on.')],
        action: t('Unblock {name}', { name: value }),
        isDanger: false,
      },
      run: async () => {
        await fraudRemoveFromBlacklist(api, { blacklist_id })
        go('/blocked')
      },
    },
  ],
})
