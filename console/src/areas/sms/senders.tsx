// SPDX-License-Identifier: Apache-2.0
// One sender: what it was asked for, and what was decided.
import { smsDeleteSenderId, smsGetSenderId } from '#sdk/operations.ts'
import type { SmsSenderId } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { t } from '../../words.ts'

export const SenderPage = recordPage<SmsSenderId>({
  in: ['/senders', 'Senders'],
  get: (id) => smsGetSenderId(api, { id }),
  at: (id) => smsGetSenderId.at({ id }),
  title: ({ sender }) => sender,
  state: ({ status }) => status,
  facts: [
    { name: 'Countries', field: 'countries', as: 'country' },
    { name: 'Purpose', field: 'purpose' },
    { name: 'Sample message', field: 'sample' },
    { name: 'Reason', field: 'reason' },
    { name: 'Created', field: 'created_at', as: 'time' },
    { name: 'Decided', field: 'decided_at', as: 'time' },
  ],
  deeds: ({ id, sender }) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'sms:write',
      asks: removing(sender, t('Texts from this sender are refused from now on.')),
      run: () => smsDeleteSenderId(api, { id }),
      leadsTo: '/senders',
    },
  ],
})
