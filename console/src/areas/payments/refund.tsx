// SPDX-License-Identifier: Apache-2.0
// One refund: how much goes back, of which payment, and how far it is.
import { refundsGet } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { Story } from '../../kit/story.tsx'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'

export function RefundPage({ id }: PageProps) {
  const own = { refund_id: id }
  const refund = useLoad(id, () => refundsGet(api, own))
  useLive('refund payment.', refund.reload, { about: id })
  return (
    <Opened record={refund}>
      {(value) => (
        <Detail
          in={['/refunds', 'Refunds']}
          id={id}
          title={money(value.amount, value.currency)}
          state={value.status}
          path={refundsGet.at(own)}
          raw={value}
        >
          {value.failure_message && (
            <div class="callout bad">
              <p>{value.failure_message}</p>
            </div>
          )}
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Payment'), <RecordLink id={value.payment_id} />],
                [t('Reason'), value.reason && words(value.reason)],
                [t('Reference'), value.reference],
                [t('Created'), <Ago at={value.created_at} />],
                [t('Completed'), <Ago at={value.completed_at} />],
              ]}
            />
          </Card>
          <Story id={value.payment_id} />
        </Detail>
      )}
    </Opened>
  )
}
