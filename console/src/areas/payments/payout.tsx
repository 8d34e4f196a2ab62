// SPDX-License-Identifier: Apache-2.0
// One payout: how far it is, its timeline, and where the money went.
import { get } from '../../api.ts'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment, money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { CopyCurl, Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

interface Payout {
  payout_id: string
  status: string
  amount: number
  currency: string
  fee: number
  provider: string | null
  reference: string | null
  failure_message: string | null
  created_at: string
  completed_at: string | null
}

export function PayoutPage({ id }: { id: string }) {
  const path = `/v1/payouts/${encodeURIComponent(id)}`
  const { value, error, reload } = useLoad(id, () => get<Payout>(path))
  useLive('payout.', reload)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/payouts">{t('Payouts')}</Link> / <span class="mono">{value.payout_id}</span>
      </p>
      <PageHead title={money(value.amount, value.currency)}>
        <Pill state={value.status} />
        <CopyCurl path={path} />
      </PageHead>
      {value.failure_message && (
        <div class="callout bad">
          <p>{value.failure_message}</p>
        </div>
      )}
      <Timeline path={path} live="payout." />
      <Card title="Details">
        <Facts
          rows={[
            ['By', value.provider],
            ['Fee', money(value.fee, value.currency)],
            ['Reference', value.reference],
            ['Begun', moment(value.created_at)],
            ['Completed', moment(value.completed_at)],
          ]}
        />
      </Card>
    </div>
  )
}
