// SPDX-License-Identifier: Apache-2.0
// One subscription: what it costs, until when it is paid for, and pausing, resuming or ending it.
import {
  billingCancelSubscription,
  billingGetPlan,
  billingGetSubscription,
  billingPauseSubscription,
  billingResumeSubscription,
} from '#sdk/operations.ts'
import type { Subscription } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { Story } from '../../kit/story.tsx'
import { count, date, money, shortId, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { changeSubscription } from './forms.ts'

export function SubscriptionPage({ id }: PageProps) {
  const own = { subscription_id: id }
  const subscription = useLoad(id, () => billingGetSubscription(api, own))
  useLive('subscription. invoice.', subscription.reload, { about: id })
  return (
    <Opened record={subscription}>
      {(value) => (
        <Detail
          in={['/subscriptions', 'Subscriptions']}
          id={id}
          title={value.customer.name ?? value.customer.email ?? value.customer.phone ?? t('Subscription')}
          note={money(value.amount, value.currency)}
          state={value.status}
          deeds={deedsOf(value)}
          onDone={subscription.reload}
          path={billingGetSubscription.at(own)}
          raw={value}
        >
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Plan'), <PlanName id={value.plan_id} />],
                [t('Quantity'), count(value.quantity)],
                [t('Paid until'), date(value.current_period_end)],
                [t('Next bill'), <Ago at={value.next_billing_at} />],
                [t('Paid by'), words(value.payment_method.type)],
                [t('Latest invoice'), <RecordLink id={value.latest_invoice_id} />],
                [t('Ends with the period'), value.cancel_at_period_end ? t('Yes') : t('No')],
                [t('Reason'), value.cancel_reason],
              ]}
            />
          </Card>
          <Story id={id} />
        </Detail>
      )}
    </Opened>
  )
}

function PlanName({ id }: { id: string }) {
  const plan = useLoad(id, () => billingGetPlan(api, { plan_id: id }))
  return <Link to={`/plans/${id}`}>{plan.value?.name ?? shortId(id)}</Link>
}

function deedsOf(subscription: Subscription): Deed[] {
  const { subscription_id, status, customer, current_period_end } = subscription
  if (!may('billing:write') || status === 'cancelled') return []
  const name = customer.name ?? customer.email ?? t('the customer')
  const end: Deed = {
    name: 'Cancel',
    isDanger: true,
    asks: {
      title: t('End the subscription of {name}?', { name }),
      consequences: [
        t('It ends on {date} and is not renewed.', { date: date(current_period_end) }),
        t('Payments made are not refunded.'),
      ],
      reason: t('Reason'),
      action: t('End it on {date}', { date: date(current_period_end) }),
      keep: t('Keep it'),
    },
    run: ({ reason }) => billingCancelSubscription(api, { subscription_id, query: { at_period_end: true, reason } }),
  }
  const pause: Deed = {
    name: 'Pause',
    icon: 'pause',
    asks: {
      title: t('Pause the subscription of {name}?', { name }),
      consequences: [t('Nothing is billed until it is resumed.')],
      action: t('Pause it'),
      isDanger: false,
    },
    run: () => billingPauseSubscription(api, { subscription_id }),
  }
  const resume: Deed = { name: 'Resume', icon: 'play', run: () => billingResumeSubscription(api, { subscription_id }) }
  const change: Deed = { name: 'Change', icon: 'pencil', form: changeSubscription(subscription) }
  return [end, change, status === 'paused' ? resume : pause]
}
