// SPDX-License-Identifier: Apache-2.0
// One key: what it may do, from where, until when, and when it was last used.
import { apiKeysGet } from '#sdk/operations.ts'
import type { ApiKey } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { recordPage } from '../../kit/record-page.tsx'
import { changeKey, scopesText } from './forms.ts'

export const KeyPage = recordPage<ApiKey>({
  in: ['/keys', 'Keys'],
  get: (id) => apiKeysGet(api, { id }),
  at: (id) => apiKeysGet.at({ id }),
  title: ({ name }) => name,
  note: ({ prefix, last4 }) => `${prefix}…${last4}`,
  state: ({ status }) => status,
  facts: [
    { name: 'May', field: 'scopes', text: scopesText },
    { name: 'Allowed IP addresses', field: 'allowed_ips' },
    { name: 'Expires', field: 'expires_at', as: 'time' },
    { name: 'Rotation due', field: 'rotation_due_at', as: 'time' },
    { name: 'Last used', field: 'last_used_at', as: 'time' },
    { name: 'Last used from', field: 'last_used_ip', as: 'mono' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: (key) =>
    key.status === 'revoked'
      ? []
      : [{ name: 'Change', icon: 'pencil', isMain: true, scope: 'keys:write', form: changeKey({ ...key }) }],
})
