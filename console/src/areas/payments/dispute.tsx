// SPDX-License-Identifier: Apache-2.0
// One dispute: what a payer wants back through the acquirer, the evidence against it, and what is set aside for it.
import { disputesGet, disputesSendEvidence, sandboxCloseDispute } from '#sdk/operations.ts'
import type { Dispute } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { FormFields, formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { Story } from '../../kit/story.tsx'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'
import { evidenceOf, saveEvidence } from './evidence.ts'

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
            { name: 'Download evidence', icon: 'download', run: () => saveEvidence(value) },
          ]}
          onDone={dispute.reload}
          path={disputesGet.at(own)}
          raw={value}
        >
          {value.status === 'open' && value.evidence_sent_at === null && may('payments:write') && (
            <Evidence dispute={value} onSent={dispute.reload} />
          )}
          {value.status === 'open' && value.evidence_sent_at && (
            <div class="callout note">
              <p>{t('The acquirer has your evidence. The payer’s bank decides.')}</p>
            </div>
          )}
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Payment'), <RecordLink id={value.payment_id} />],
                [t('Reason'), value.reason && words(value.reason)],
                [t('Reserved'), money(value.amount_held, value.currency)],
                [t('Owed'), value.amount_owed > 0 && money(value.amount_owed, value.currency)],
                [t('Reference of the provider'), value.provider_reference],
                [t('Created'), <Ago at={value.created_at} />],
                [t('Evidence sent'), <Ago at={value.evidence_sent_at} />],
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

/** The form begins with what is known; the acquirer takes it once. */
function Evidence({ dispute, onSent }: { dispute: Dispute; onSent(): unknown }) {
  const { dispute_id } = dispute
  const known = useLoad(`evidence ${dispute_id}`, () => evidenceOf(dispute))
  const form = formOf(disputesSendEvidence, {
    title: 'Answer the dispute',
    action: 'Send the evidence',
    given: { dispute_id },
    fields: [
      {
        name: 'statement',
        label: 'Statement',
        isLong: true,
        isRequired: true,
        hint: 'Order, delivery and agreement, in your words. Prefilled from the payment.',
      },
      { name: 'product_description', label: 'Product sold' },
      { name: 'delivered_on', label: 'Delivered on', as: 'date' },
      { name: 'shipping_carrier', label: 'Delivered by' },
      { name: 'tracking_number', label: 'Tracking number' },
    ],
    initial: { statement: known.value ?? undefined },
  })
  return (
    <Card title={t(form.title)}>
      <p class="soft">{t('Evidence can be sent once. The payer’s bank decides.')}</p>
      {known.value === null && !known.error ? (
        <Waiting />
      ) : (
        <FormFields form={form} onMade={() => void onSent()} class="form in-line even evidence" />
      )}
    </Card>
  )
}

/** In test, the payer's bank decides when somebody says so. */
function closing(dispute_id: string): Deed[] {
  return [
    {
      ...{ name: 'Close as lost', isDanger: true, scope: 'sandbox:write' },
      asks: {
        title: t('Close the dispute as lost?'),
        consequences: [t('The payer keeps the money. This cannot be undone.')],
        action: t('Close as lost'),
        keep: t('Keep it open'),
      },
      run: () => sandboxCloseDispute(api, { dispute_id, body: { outcome: 'lost' } }),
    },
    {
      ...{ name: 'Close as won', scope: 'sandbox:write' },
      run: () => sandboxCloseDispute(api, { dispute_id, body: { outcome: 'won' } }),
    },
  ]
}
