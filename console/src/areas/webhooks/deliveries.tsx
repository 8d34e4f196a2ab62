// SPDX-License-Identifier: Apache-2.0
// One webhook and what was delivered to it, with what it answered; a tester, and sending again.
import { useState } from 'preact/hooks'
import { webhooksDeliveries, webhooksGet, webhooksRedeliver, webhooksTest } from '#sdk/operations.ts'
import type { Delivery } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Choice, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import { filterBy, Link, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

const statuses = ['pending', 'delivering', 'delivered', 'failed', 'cancelled']

export function Deliveries({ id }: { id: string }) {
  const { query } = usePlace()
  const { value, error, reload } = useLoad(id, () => webhooksGet(api, { id }))
  const [turn, setTurn] = useState(0)
  const [refused, setRefused] = useState<Error | null>(null)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const status = query.get('status') ?? ''
  const run = (what: Promise<unknown>): void => {
    setRefused(null)
    what.then(() => setTurn((before) => before + 1), setRefused)
  }
  const again = (delivery: Delivery) => webhooksRedeliver(api, { id, delivery_id: delivery.id })
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/webhooks">{t('Webhooks')}</Link> / <span class="mono">{value.id}</span>
      </p>
      <PageHead title={new URL(value.url).host}>
        <Pill state={value.enabled ? 'active' : 'disabled'} />
        <button type="button" class="btn" onClick={() => run(webhooksTest(api, { id }))}>
          {t('Send a test event')}
        </button>
      </PageHead>
      <p class="mono soft">{value.url}</p>
      {refused && <Problem error={refused} />}
      {value.disabled_reason && (
        <div class="callout warn">
          <p>{value.disabled_reason}</p>
        </div>
      )}
      <search class="filters">
        <Choice
          label={t('State')}
          value={status}
          among={statuses}
          onChange={(wanted) => filterBy({ status: wanted })}
        />
      </search>
      <Records<Delivery>
        key={turn}
        label={t('Deliveries')}
        path={webhooksDeliveries.at({ id })}
        query={{ status }}
        live=""
        keyOf={(row) => row.id}
        empty={none(t('No deliveries'), t('Events that happen from now on are listed here.'))}
        columns={[
          {
            name: t('Time'),
            show: (row) => <Link to={`/webhooks/${id}/${row.id}`}>{moment(row.created_at)}</Link>,
          },
          { name: t('Event'), show: ({ event }) => <span class="mono">{event}</span> },
          { name: t('About'), show: ({ resource_id }) => <About id={resource_id} /> },
          { name: t('State'), show: (row) => <Pill state={row.status} /> },
          { name: t('Answer'), show: ({ response_status, last_error }) => response_status ?? last_error ?? '–' },
          { name: t('Attempts'), isNumber: true, show: ({ attempts }) => attempts },
          {
            name: t('Took'),
            isNumber: true,
            show: ({ duration_ms }) => (duration_ms === null ? '–' : `${Math.round(duration_ms)} ms`),
          },
          {
            name: t('Actions'),
            show: (row) => (
              <button type="button" class="btn small" onClick={() => run(again(row))}>
                {t('Send again')}
              </button>
            ),
          },
        ]}
      />
    </div>
  )
}

const pages: readonly [prefix: string, page: string][] = [
  ['sms_', '/messages/'],
  ['smi_', '/messages/'],
  ['pay_', '/payments/'],
  ['po_', '/payouts/'],
]

/** Resource of an event, as a link where it has a page. */
export function About({ id }: { id: string }) {
  const [, page] = pages.find(([prefix]) => id.startsWith(prefix)) ?? []
  if (page === undefined) return <span class="mono cut">{id}</span>
  return (
    <Link to={`${page}${id}`} class="mono cut">
      {id}
    </Link>
  )
}
