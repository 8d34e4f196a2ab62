// SPDX-License-Identifier: Apache-2.0
// One payment: how far it is, what it comes to, and who was asked for it.
import { get } from '../../api.ts'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import type { Payment } from '../../records.ts'

export function PaymentPage({ id }: { id: string }) {
  const { value, error, reload } = useLoad(id, () => get<Payment>(`/v1/payments/${encodeURIComponent(id)}`))
  useLive('pay', reload)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const { currency } = value
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/payments">Payments</Link> / <span class="mono">{value.payment_id}</span>
      </p>
      <PageHead title={money(value.amount, currency)}>
        <Pill state={value.status} />
      </PageHead>
      {value.failure_message && (
        <div class="callout bad">
          <p>{value.failure_message}</p>
        </div>
      )}
      <Card title="Details">
        <Facts
          rows={[
            ['By', [words(value.method), value.provider].filter(Boolean).join(', ')],
            ['Phone', value.phone && <span class="mono">{value.phone}</span>],
            ['Fee', money(value.fee, currency)],
            ['You receive', money(value.net_amount, currency)],
            ['Reference', value.reference],
            ['Description', value.description],
            ['Reference of the provider', value.provider_reference],
            ['Begun', moment(value.created_at)],
            ['Completed', moment(value.completed_at)],
            ['Runs out', moment(value.expires_at)],
          ]}
        />
      </Card>
    </div>
  )
}
