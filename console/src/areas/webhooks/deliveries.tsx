// SPDX-License-Identifier: Apache-2.0
// One webhook and what was delivered to it, with what it answered.
import { get } from '../../api.ts'
import { Choice, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import { filterBy, Link, usePlace } from '../../place.tsx'
import type { Delivery, Webhook } from '../../records.ts'

const statuses = ['pending', 'delivering', 'delivered', 'failed', 'cancelled']

export function Deliveries({ id }: { id: string }) {
  const { query } = usePlace()
  const path = `/v1/webhooks/${encodeURIComponent(id)}`
  const { value, error, reload } = useLoad(id, () => get<Webhook>(path))
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const status = query.get('status') ?? ''
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/webhooks">Webhooks</Link> / <span class="mono">{value.id}</span>
      </p>
      <PageHead title={new URL(value.url).host}>
        <Pill state={value.enabled ? 'active' : 'disabled'} />
      </PageHead>
      <p class="mono soft">{value.url}</p>
      {value.disabled_reason && (
        <div class="callout warn">
          <p>{value.disabled_reason}</p>
        </div>
      )}
      <search class="filters">
        <Choice label="State" value={status} among={statuses} onChange={(wanted) => filterBy({ status: wanted })} />
      </search>
      <Records<Delivery>
        label="Deliveries"
        path={`${path}/deliveries`}
        query={{ status }}
        keyOf={(row) => row.id}
        empty={none('No deliveries', 'Events that happen from now on are listed here.')}
        columns={[
          { name: 'Time', show: ({ created_at }) => moment(created_at) },
          { name: 'Event', show: ({ event }) => <span class="mono">{event}</span> },
          { name: 'State', show: (row) => <Pill state={row.status} /> },
          { name: 'Answer', show: ({ response_status, last_error }) => response_status ?? last_error ?? '–' },
          { name: 'Attempts', isNumber: true, show: ({ attempts }) => attempts },
          {
            name: 'Took',
            isNumber: true,
            show: ({ duration_ms }) => (duration_ms === null ? '–' : `${Math.round(duration_ms)} ms`),
          },
        ]}
      />
    </div>
  )
}
