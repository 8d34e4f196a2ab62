// SPDX-License-Identifier: Apache-2.0
// One short code: what answers it.
import { ussdDeleteShortcode, ussdGetShortcode } from '#sdk/operations.ts'
import type { UssdShortcode } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { beginSession, changeShortCode } from './forms.ts'

export const ShortCodePage = recordPage<UssdShortcode>({
  in: ['/short-codes', 'Short codes'],
  get: (code) => ussdGetShortcode(api, { code }),
  at: (code) => ussdGetShortcode.at({ code }),
  title: ({ shortcode }) => shortcode,
  note: ({ mode }) => words(mode),
  facts: [
    { name: 'Menu', field: 'menu_id', as: 'id', to: '/menus/' },
    { name: 'Address', field: 'url' },
    { name: 'Fallback URL', field: 'fallback_url' },
    { name: 'Error message', field: 'error_message' },
    { name: 'Timeout, seconds', field: 'timeout', as: 'count' },
    { name: 'Network’s timeout, seconds', field: 'network_limit', as: 'count' },
  ],
  deeds: (code) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'ussd:write',
      asks: removing(code.shortcode, t('Subscribers who dial it get an error.')),
      run: async () => {
        await ussdDeleteShortcode(api, { code: code.shortcode })
        go('/short-codes')
      },
    },
    { name: 'Start a session', icon: 'send', scope: 'ussd:write', form: beginSession(code.shortcode) },
    { name: 'Change', icon: 'pencil', isMain: true, scope: 'ussd:write', form: changeShortCode(code) },
  ],
})
