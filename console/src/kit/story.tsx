// SPDX-License-Identifier: Apache-2.0
// Story of a record: the events that happened to it, oldest first, in words, each with its page.
import { eventsList } from '#sdk/operations.ts'
import type { Event } from '#sdk/schemas.ts'
import { api, may } from '../api.ts'
import { useLive } from '../live.ts'
import { Link } from '../place.tsx'
import { t } from '../words.ts'
import { Ago, Card, Problem, Waiting } from './kit.tsx'
import { valueAt } from './list-page.tsx'
import { useLoad } from './load.ts'
import { money, words } from './words.ts'

/** What happened, by the name of the event in the API. */
const happened: Readonly<Record<string, string>> = {
  'messenger.message': 'Message received',
  'payment.created': 'Payment requested',
  'payment.requires_action': 'Payer must confirm',
  'payment.completed': 'Payment completed',
  'payment.failed': 'Payment failed',
  'payment.refunded': 'Payment refunded',
  'payment.disputed': 'Dispute opened',
  'payment.dispute_closed': 'Dispute closed',
  'refund.failed': 'Refund failed',
  'invoice.opened': 'Invoice issued',
  'invoice.sent': 'Invoice sent',
  'invoice.payment_succeeded': 'Invoice paid in full',
  'invoice.payment_failed': 'Payment failed',
  'invoice.refunded': 'Payment refunded',
  'invoice.overdue': 'Invoice overdue',
  'invoice.voided': 'Invoice voided',
  'subscription.created': 'Subscription started',
  'subscription.renewed': 'Subscription renewed',
  'subscription.past_due': 'Charge failed',
  'subscription.trial_ending': 'Trial ends soon',
  'subscription.cancelled': 'Subscription ended',
  'identity.created': 'Check started',
  'identity.pending': 'Check awaits review',
  'identity.verified': 'Check passed',
  'identity.rejected': 'Check failed',
  'identity.expired': 'Document expired',
}

/** Where the payload of an event says which state was reached. */
const stateIn: Readonly<Record<string, string>> = {
  'messenger.status': 'entry.0.changes.0.value.statuses.0.status',
  'payment.dispute_closed': 'dispute_status',
}

/** `Delivered`, `Dispute closed: Won`; the name of the event where it has no words. */
function wordsOf({ event, payload }: Event): string {
  const name = happened[event]
  const state = valueAt(payload, stateIn[event] ?? '')
  const parts = [name && t(name), typeof state === 'string' && words(state)].filter(Boolean)
  return parts.length > 0 ? parts.join(': ') : event
}

/** What was given back, where it is told: one payment can be refunded more than once. */
function amountOf({ payload }: Event): string | null {
  const [amount, currency] = [valueAt(payload, 'refund.amount'), valueAt(payload, 'refund.currency')]
  return typeof amount === 'number' && typeof currency === 'string' ? money(amount, currency) : null
}

export function Story({ id }: { id: string }) {
  const mayRead = may('events:read')
  const events = useLoad(id, async () =>
    mayRead ? eventsList(api, { query: { resource_id: id, order: 'asc', limit: 100 } }) : null,
  )
  useLive(mayRead ? '' : null, events.reload, { about: id })
  if (!mayRead || events.value?.data.length === 0) return null
  return (
    <Card title={t('Timeline')}>
      {events.error && <Problem error={events.error} retry={events.reload} />}
      {!events.value && !events.error && <Waiting lines={3} />}
      <ol class="story">
        {events.value?.data.map((one) => (
          <li key={one.id}>
            <span class="two-lines">
              <Link to={`/events/${one.id}`}>{wordsOf(one)}</Link>
              {amountOf(one) && <small>{amountOf(one)}</small>}
            </span>
            <span class="soft push">
              <Ago at={one.created_at} />
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
