// SPDX-License-Identifier: Apache-2.0
// Emails that were sent to many at once, with a pause and a stop; and one address that gets no email.
import {
  emailCancelBulk,
  emailDeleteSuppression,
  emailGetBulk,
  emailGetSuppression,
  emailListBulkMessages,
  emailPauseBulk,
  emailResumeBulk,
} from '#sdk/operations.ts'
import type { EmailBulk, EmailSuppression } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { Deed } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Card, FiguresRow } from '../../kit/kit.tsx'
import { ListRecords } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count, words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { emails } from './lists.ts'

export const EmailBulkPage = recordPage<EmailBulk>({
  in: ['/emails', 'Emails'],
  get: (id) => emailGetBulk(api, { bulk_id: id }),
  at: (id) => emailGetBulk.at({ bulk_id: id }),
  live: 'email.',
  title: ({ total }) => t('{count} emails', { count: count(total) }),
  state: ({ status }) => status,
  facts: [
    { name: 'Accepted', field: 'accepted', as: 'count' },
    { name: 'Refused', field: 'rejected', as: 'count' },
    { name: 'Suppressed', field: 'suppressed', as: 'count' },
  ],
  deeds: ({ bulk_id, status, counts }): Deed[] => {
    if (status === 'completed' || status === 'cancelled') return []
    const scope = 'email:write'
    return [
      {
        name: 'Stop',
        icon: 'stop',
        isDanger: true,
        scope,
        asks: {
          title: t('Stop the unsent messages?'),
          consequences: [t('{count} were already sent.', { count: count(counts.sent + counts.delivered) })],
          action: t('Stop'),
          keep: t('Keep sending'),
        },
        run: () => emailCancelBulk(api, { bulk_id }),
      },
      status === 'paused'
        ? { name: 'Resume', icon: 'play', scope, run: () => emailResumeBulk(api, { bulk_id }) }
        : { name: 'Pause', icon: 'pause', scope, run: () => emailPauseBulk(api, { bulk_id }) },
    ]
  },
  more: ({ bulk_id, counts }) => (
    <>
      <FiguresRow
        figures={[
          [t('Queued'), count(counts.queued)],
          [t('Delivered'), count(counts.delivered)],
          [t('Opened'), count(counts.opened)],
          [t('Clicked'), count(counts.clicked)],
          [t('Bounced'), count(counts.bounced)],
        ]}
      />
      <Card title="Emails">
        <ListRecords list={{ ...emails, path: emailListBulkMessages.at({ bulk_id }) }} />
      </Card>
    </>
  ),
})

export const SuppressionPage = recordPage<EmailSuppression>({
  in: ['/suppressions', 'Suppressions'],
  get: (email) => emailGetSuppression(api, { email }),
  at: (email) => emailGetSuppression.at({ email }),
  title: ({ email }) => email,
  note: ({ reason }) => words(reason),
  facts: [
    { name: 'Applies to', field: 'applies_to', as: 'words' },
    { name: 'Email', field: 'message_id', as: 'id' },
    { name: 'Reason', field: 'detail' },
    { name: 'Until', field: 'expires_at', as: 'time' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: ({ email }) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'email:write',
      asks: removing(email, t('Emails are sent to this address again.')),
      run: async () => {
        await emailDeleteSuppression(api, { email, query: { confirm: true } })
        go('/suppressions')
      },
    },
  ],
})
