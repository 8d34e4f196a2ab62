// SPDX-License-Identifier: Apache-2.0
// One dispute: what a payer wants back through the acquirer, and what is set aside for it.
import { disputesGet, sandboxCloseDispute } from '#sdk/operations.ts'
import { api, currentEnvironment } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { Story } from '../../kit/story.tsx'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'
import { saveEvidence } from './evidence.ts'

export function DisputePage({ id }: PageProps) {
  const own = { dispute_id: id }
  const dispute = useLoad(id, () => disputesGet(api, own))
  useLive('payment.dispute', dispute.reload, { about: id })
  return (
    <Opened record={dispute}>
      {(value) => (
        <Detail
          in={['/disputes', 'Disputes']}
          id={id}
          title={money(value.amount, value.currency)}
          state={value.status}
          deeds={[
            ...(currentEnvironment() === 'test' && value.closed_at === null ? closing(id) : []),
            { name: 'Download evidence', icon: 'download', isMain: true, run: () => saveEvidence(value) },
          ]}
          onDone={dispute.reload}
          path={disputesGet.at(own)}
          raw={value}
        >
          {value.status === 'open' && (
            <div class="callout note">
              <p>{t('Send the evidence to your acquirer, with proof of delivery. The payer’s bank decides.')}</p>
            </div>
          )}
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Payment'), <RecordLink id={value.payment_id} />],
                [t('Reason'), value.reason && words(value.reason)],
                [t('Reserved'), money(value.amount_held, value.currency)],
                [t('Reference of the provider'), value.provider_reference],
                [t('Created'), <Ago at={value.created_at} />],
                [t('Closed'), <Ago at={value.closed_at} />],
              ]}
            />
          </Card>
          <Story id={value.payment_id} />
        </Detail>
      )}
    </Opened>
  )
}

/** In test, the payer's bank decides when somebody says so. */
function closing(dispute_id: string): Deed[] {
  return [
    {
      ...{ name: 'Close as lost', isDanger: true, scope: 'sandbox:write' },
      run: () => sandboxCloseDispute(api, { dispute_id, body: { outcome: 'lost' } }),
    },
    {
      ...{ name: 'Close as won', scope: 'sandbox:write' },
      run: () => sandboxCloseDispute(api, { dispute_id, body: { outcome: 'won' } }),
    },
  ]
}
