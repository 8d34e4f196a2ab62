// SPDX-License-Identifier: Apache-2.0
// One delivery of a webhook: its timeline from the event over every attempt to the answer, and sending it again.

import { webhooksDelivery, webhooksRedeliver } from '#sdk/operations.ts'
import type { DeliveryDetail } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, CopyId, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { useLive } from '../../live.ts'
import type { Frame } from '../../timeline/frame.ts'
import { Frames } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

export function DeliveryPage({ id: webhook, inner: id }: PageProps) {
  const own = { id: webhook, delivery_id: id }
  const delivery = useLoad(id, () => webhooksDelivery(api, own))
  useLive('', delivery.reload, { about: delivery.value?.resource_id ?? id, everyMs: 2_000 })
  return (
    <Opened record={delivery}>
      {(value) => (
        <Detail
          in={[`/webhooks/${webhook}`, 'Deliveries']}
          id={id}
          title={value.event}
          state={value.status}
          deeds={
            may('webhooks:write') ? [{ name: 'Send again', icon: 'again', run: () => webhooksRedeliver(api, own) }] : []
          }
          onDone={delivery.reload}
          path={webhooksDelivery.at(own)}
          raw={value}
        >
          <Frames frames={framesOf(value)} path={webhooksDelivery.at(own)} />
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Event'), <RecordLink id={value.event_id} />],
                [t('Object'), <RecordLink id={value.resource_id} />],
                [t('Webhook'), <CopyId id={webhook} />],
                [t('Address'), <span class="mono">{value.request.url}</span>],
                [t('Attempts'), String(value.attempts)],
                [t('Next attempt'), <Ago at={value.next_attempt_at} />],
                [t('Last error'), value.last_error],
              ]}
            />
          </Card>
        </Detail>
      )}
    </Opened>
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
