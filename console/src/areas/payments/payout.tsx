// SPDX-License-Identifier: Apache-2.0
// One payout: how far it is, its timeline, and where the money went.
import { payoutsGet, payoutsTimeline } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment, money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { CopyCurl, Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

export function PayoutPage({ id }: { id: string }) {
  const own = { payout_id: id }
  const { value, error, reload } = useLoad(id, () => payoutsGet(api, own))
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
        <CopyCurl path={payoutsGet.at(own)} />
      </PageHead>
      {value.failure_message && (
        <div class="callout bad">
          <p>{value.failure_message}</p>
        </div>
      )}
      <Timeline path={payoutsTimeline.at(own)} live="payout." />
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
