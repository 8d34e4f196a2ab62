// SPDX-License-Identifier: Apache-2.0
// Many texts that were sent at once: how far they are, and stopping what has not gone.
import { smsCancelBatch, smsGetBatch } from '#sdk/operations.ts'
import type { SmsBatch } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Card, FiguresRow } from '../../kit/kit.tsx'
import { ListRecords } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count, money } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { messages } from './lists.ts'

export const SmsBatchPage = recordPage<SmsBatch>({
  in: ['/messages', 'Messages'],
  get: (id) => smsGetBatch(api, { id, query: { messages: false } }),
  at: (id) => smsGetBatch.at({ id }),
  live: 'sms.',
  title: ({ total }) => t('{count} texts', { count: count(total) }),
  note: ({ cost, currency }) => money(cost, currency),
  state: ({ status }) => status,
  facts: [
    { name: 'Accepted', field: 'accepted', as: 'count' },
    { name: 'Refused', field: 'rejected', as: 'count' },
    { name: 'Parts', field: 'segments', as: 'count' },
    { name: 'Created', field: 'timestamp', as: 'time' },
  ],
  deeds: ({ batch_id, status, counts }) =>
    status === 'queued'
      ? [
          {
            name: 'Stop',
            icon: 'stop',
            isDanger: true,
            scope: 'sms:write',
            asks: {
              title: t('Stop the unsent messages?'),
              consequences: [
                t('{count} were already sent.', { count: count(counts.sent + counts.delivered + counts.failed) }),
                t('The cost of the rest is refunded to the wallet.'),
              ],
              action: t('Stop {count} texts', { count: count(counts.queued) }),
              keep: t('Keep sending'),
            },
            run: () => smsCancelBatch(api, { id: batch_id }),
          },
        ]
      : [],
  more: ({ batch_id, counts }) => (
    <>
      <FiguresRow
        figures={[
          [t('Queued'), count(counts.queued)],
          [t('Sent'), count(counts.sent)],
          [t('Delivered'), count(counts.delivered)],
          [t('Failed'), count(counts.failed)],
        ]}
      />
      <Card title="Messages">
        <ListRecords list={{ ...messages, query: { batch_id } }} />
      </Card>
    </>
  ),
})
