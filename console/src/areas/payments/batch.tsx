// SPDX-License-Identifier: Apache-2.0
// Many payouts that were asked for at once: how far they are, which rows were refused and why.
import { payoutsCancelBulk, payoutsGetBulk } from '#sdk/operations.ts'
import type { PayoutBatchRecord } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { Deed } from '../../kit/detail.tsx'
import { Card, FiguresRow } from '../../kit/kit.tsx'
import { ListRecords } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count, money } from '../../kit/words.ts'
import { sentenceOf } from '../../refusals.ts'
import { t } from '../../words.ts'
import { payouts } from './lists.tsx'

export const BatchPage = recordPage<PayoutBatchRecord>({
  in: ['/payouts', 'Payouts'],
  get: (id) => payoutsGetBulk(api, { batch_id: id, query: { limit: 100 } }),
  at: (id) => payoutsGetBulk.at({ batch_id: id }),
  live: 'payout.',
  title: ({ description, reference, total_count }) =>
    description ?? reference ?? t('{count} payouts', { count: count(total_count) }),
  note: ({ total_amount, currency }) => money(total_amount, currency),
  state: ({ status }) => status,
  facts: [
    { name: 'Reference', field: 'reference' },
    { name: 'Fee', field: 'total_fee', as: 'money' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: ({ batch_id, status, total_count }): Deed[] =>
    status === 'processing'
      ? [
          {
            name: 'Cancel',
            isDanger: true,
            scope: 'payouts:write',
            asks: {
              title: t('Cancel the remaining {count} payouts?', { count: count(total_count) }),
              consequences: [
                t('Payouts already sent to the provider are still paid.'),
                t('The money goes back to the wallet.'),
              ],
              action: t('Cancel remaining'),
              keep: t('Leave it'),
            },
            run: () => payoutsCancelBulk(api, { batch_id }),
          },
        ]
      : [],
  more: (batch) => (
    <>
      <FiguresRow
        figures={[
          [t('Rows'), count(batch.total_count)],
          [t('Accepted'), count(batch.accepted_count)],
          [t('Completed'), count(batch.completed_count)],
          [t('Failed'), count(batch.failed_count)],
        ]}
      />
      <Card title={t('Payouts')}>
        <ListRecords list={{ ...payouts, query: { batch_id: batch.batch_id, order: 'asc' }, sorts: false }} />
      </Card>
      <Refused batch={batch} />
    </>
  ),
})

/** Rows that did not become payouts, and why. */
function Refused({ batch: { payouts: rows } }: { batch: PayoutBatchRecord }) {
  const refused = rows.filter(({ payout_id }) => payout_id === null)
  if (refused.length === 0) return null
  return (
    <Card title={t('Refused')}>
      <ul class="story">
        {refused.map(({ index, error }) => (
          <li key={index}>
            <span class="strong">{t('Row {row}', { row: count(index + 1) })}</span>
            <span>{error ? sentenceOf(new Error(error.message)) : '–'}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
