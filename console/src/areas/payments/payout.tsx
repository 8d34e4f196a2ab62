// SPDX-License-Identifier: Apache-2.0
// One payout: how far it is, its timeline, where the money goes, and approving or rejecting it.
import { payoutsApprove, payoutsCancel, payoutsGet, payoutsReject, payoutsTimeline } from '#sdk/operations.ts'
import type { Payout } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'
import { byWhat } from './lists.tsx'

export function PayoutPage({ id }: PageProps) {
  const own = { payout_id: id }
  const payout = useLoad(id, () => payoutsGet(api, own))
  useLive('payout.', payout.reload, { about: id })
  return (
    <Opened record={payout}>
      {(value) => (
        <Detail
          in={['/payouts', 'Payouts']}
          id={id}
          title={money(value.amount, value.currency)}
          state={value.in_review ? 'in_review' : value.status}
          deeds={deedsOf(value)}
          onDone={payout.reload}
          path={payoutsGet.at(own)}
          raw={value}
        >
          {value.failure_message && (
            <div class="callout bad">
              <p>{value.failure_message}</p>
            </div>
          )}
          {value.in_review && (
            <div class="callout warn">
              <p>
                {t('Awaits approval by a member other than its creator.')}{' '}
                {value.risk?.flags.map((flag) => words(flag)).join(', ')}
              </p>
            </div>
          )}
          <Timeline path={payoutsTimeline.at(own)} kind="payout" live="payout." about={id} />
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('To'), value.recipient.name ?? value.recipient.phone],
                [t('Phone'), value.recipient.phone],
                [t('Provider'), byWhat(value.method, value.provider)],
                [t('Fee'), money(value.fee, value.currency)],
                [t('Reference'), value.reference],
                [t('Description'), value.description],
                [t('Bulk payout'), value.batch_id && <RecordLink id={value.batch_id} />],
                [t('Created'), <Ago at={value.created_at} />],
                [t('Completed'), <Ago at={value.completed_at} />],
              ]}
            />
          </Card>
        </Detail>
      )}
    </Opened>
  )
}

function deedsOf({ payout_id, in_review, status, amount, currency, recipient }: Payout): Deed[] {
  const sum = money(amount, currency)
  const whom = recipient.name ?? recipient.phone ?? t('the recipient')
  const approve: Deed = {
    name: 'Approve',
    scope: 'payouts:approve',
    icon: 'check',
    isMain: true,
    asks: {
      title: t('Pay {amount} to {whom}?', { amount: sum, whom }),
      consequences: [
        t('The money leaves the wallet now.'),
        t('It cannot be undone once the provider has received it.'),
      ],
      action: t('Pay {amount}', { amount: sum }),
      keep: t('Do not pay'),
      isDanger: false,
    },
    run: () => payoutsApprove(api, { payout_id }),
  }
  const reject: Deed = {
    name: 'Reject',
    scope: 'payouts:approve',
    icon: 'x',
    isDanger: true,
    asks: {
      title: t('Reject {amount} to {whom}?', { amount: sum, whom }),
      consequences: [t('The money goes back to the wallet.'), t('It must be requested again.')],
      action: t('Reject {amount}', { amount: sum }),
      keep: t('Leave it waiting'),
    },
    run: () => payoutsReject(api, { payout_id }),
  }
  const cancel: Deed = {
    name: 'Cancel',
    scope: 'payouts:write',
    isDanger: true,
    asks: {
      title: t('Cancel {amount} to {whom}?', { amount: sum, whom }),
      consequences: [t('The money goes back to the wallet.')],
      action: t('Cancel {amount}', { amount: sum }),
      keep: t('Leave it'),
    },
    run: () => payoutsCancel(api, { payout_id }),
  }
  if (in_review) return [reject, approve]
  return status === 'pending' ? [cancel] : []
}
