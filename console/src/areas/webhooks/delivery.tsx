// SPDX-License-Identifier: Apache-2.0
// One delivery of a webhook: its timeline from the event over every attempt to the answer, and sending it again.

import { useState } from 'preact/hooks'
import { webhooksDelivery, webhooksRedeliver } from '#sdk/operations.ts'
import type { DeliveryDetail } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import type { Frame } from '../../timeline/frame.ts'
import { CopyCurl, Frames } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'
import { About } from './deliveries.tsx'

export function DeliveryPage({ webhook, id }: { webhook: string; id: string }) {
  const own = { id: webhook, delivery_id: id }
  const { value, error, reload } = useLoad(id, () => webhooksDelivery(api, own))
  const [refused, setRefused] = useState<Error | null>(null)
  useLive('', reload)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const again = (): void => {
    setRefused(null)
    webhooksRedeliver(api, own).then(reload, setRefused)
  }
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/webhooks">{t('Webhooks')}</Link> / <Link to={`/webhooks/${webhook}`}>{webhook}</Link> /{' '}
        <span class="mono">{value.id}</span>
      </p>
      <PageHead title={value.event}>
        <Pill state={value.status} />
        <CopyCurl path={webhooksDelivery.at(own)} />
        {may('webhooks:write') && (
          <button type="button" class="btn" onClick={again}>
            {t('Send again')}
          </button>
        )}
      </PageHead>
      {refused && <Problem error={refused} />}
      <Frames frames={framesOf(value)} path={webhooksDelivery.at(own)} />
      <Card title={t('Details')}>
        <Facts
          rows={[
            [t('Event'), <span class="mono">{value.event_id}</span>],
            [t('About'), <About id={value.resource_id} />],
            [t('Address'), <span class="mono">{value.request.url}</span>],
            [t('Attempts'), String(value.attempts)],
            [t('Next attempt'), moment(value.next_attempt_at)],
            [t('Last error'), value.last_error],
          ]}
        />
      </Card>
    </div>
  )
}

const state = {
  kind: 'state',
  direction: null,
  peer: null,
  duration_ms: null,
  request: null,
  answer: null,
  pdus: [],
} as const

/** The event, each attempt, and how it ended. */
function framesOf({ event, created_at, delivered_at, request, attempts_log, replay_of }: DeliveryDetail): Frame[] {
  const attempts = attempts_log.map(
    (one): Frame => ({
      at: one.at,
      kind: 'webhook',
      direction: 'out',
      title: t('Attempt {number}', { number: one.attempt }),
      peer: [one.url, one.ip].filter(Boolean).join(', '),
      status: one.status === null ? (one.error ?? one.reason) : String(one.status),
      is_ok: one.status !== null && one.status < 300,
      duration_ms: one.duration_ms,
      request: JSON.stringify({ headers: request.headers, body: bodyOf(request.body) }),
      answer: answerOf(one),
      pdus: [],
    }),
  )
  const begun: Frame = { ...state, pdus: [], at: created_at, title: event, status: replay_of, is_ok: null }
  const ended: Frame[] =
    delivered_at === null
      ? []
      : [{ ...state, pdus: [], at: delivered_at, title: 'delivered', status: null, is_ok: true }]
  return [begun, ...attempts, ...ended]
}

function answerOf({ response_headers, response_body }: DeliveryDetail['attempts_log'][number]): string | null {
  if (response_headers === null && response_body === null) return null
  return JSON.stringify({ headers: response_headers, body: bodyOf(response_body) })
}

function bodyOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return text
  }
}
