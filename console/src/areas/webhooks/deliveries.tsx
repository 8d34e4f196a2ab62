// SPDX-License-Identifier: Apache-2.0
// One webhook and what was delivered to it, with what it answered: changing, switching, deleting, a new secret, a test event.
import { useState } from 'preact/hooks'
import {
  webhooksActivateSecret,
  webhooksDelete,
  webhooksDeliveries,
  webhooksGet,
  webhooksRedeliver,
  webhooksReplay,
  webhooksRotateSecret,
  webhooksTest,
  webhooksUpdate,
} from '#sdk/operations.ts'
import type { WebhookDetail } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { severalAmong } from '../../kit/choose.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { listOf } from '../../kit/filled.ts'
import { Filters, filtersOf } from '../../kit/filters.tsx'
import { FormFields, formOf } from '../../kit/form.tsx'
import { Ago, FiguresRow } from '../../kit/kit.tsx'
import { kindsOfEvents } from '../../kit/known.ts'
import { created, type ListOf, ListRecords, state, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { count } from '../../kit/words.ts'
import { go, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'
import { WebhookSecret } from './secret.tsx'

export function Deliveries({ id }: PageProps) {
  const { query } = usePlace()
  const webhook = useLoad(id, () => webhooksGet(api, { id }))
  const [secret, setSecret] = useState<string | null>(null)
  const [turn, setTurn] = useState(0)
  const list = deliveriesOf(id)
  const done = (): Promise<void> => {
    setTurn((before) => before + 1)
    return webhook.reload()
  }
  return (
    <Opened record={webhook}>
      {(value) => (
        <Detail
          in={['/webhooks', 'Webhooks']}
          id={id}
          title={new URL(value.url).host}
          note={<span class="mono">{value.url}</span>}
          state={value.enabled ? value.health.state : 'disabled'}
          deeds={may('webhooks:write') ? deedsOf(value, setSecret) : []}
          onDone={done}
          path={webhooksGet.at({ id })}
          raw={value}
        >
          {value.disabled_reason && (
            <div class="callout warn">
              <p>{value.disabled_reason}</p>
            </div>
          )}
          {secret && <WebhookSecret secret={secret} />}
          <FiguresRow
            figures={[
              [t('Delivered, 24 hours'), count(value.health.success_24h)],
              [t('Failed, 24 hours'), count(value.health.failure_24h)],
              [t('Waiting'), count(value.health.pending)],
              [t('Median response time'), value.health.p50_ms === null ? '–' : `${Math.round(value.health.p50_ms)} ms`],
            ]}
          />
          {value.health.last_success_at && (
            <p class="soft">
              {t('Last success')} <Ago at={value.health.last_success_at} />
            </p>
          )}
          {may('webhooks:write') && <Change webhook={value} onDone={done} />}
          <Filters list={list} filters={filtersOf(list, query)} />
          <ListRecords list={list} turn={turn} />
        </Detail>
      )}
    </Opened>
  )
}

function Change({ webhook: { id, url, events, description }, onDone }: { webhook: WebhookDetail; onDone(): unknown }) {
  return (
    <details class="card making">
      <summary>{t('Edit')}</summary>
      <FormFields
        initial={{ url, ...eventsFilled(events), description: description ?? undefined }}
        onMade={() => void onDone()}
        form={{
          title: 'Edit',
          action: 'Save',
          fields: [
            { name: 'url', label: 'Address', isRequired: true },
            { name: 'events', label: 'Events', show: severalAmong(kindsOfEvents) },
            { name: 'single', label: 'Individual events', hint: 'Such as payment.completed; several with commas' },
            { name: 'description', label: 'Description' },
          ],
          make: async (filled) => {
            const wanted = listOf([filled.events, filled.single].filter(Boolean).join(','))
            const body = { url: filled.url, events: wanted, description: filled.description ?? null }
            await webhooksUpdate(api, { id, body })
            return null
          },
        }}
      />
    </details>
  )
}

/** Kinds that are ticked, and the single events beside them. */
function eventsFilled(events: readonly string[]): { events: string; single: string } {
  const isKind = (one: string): boolean => kindsOfEvents[one] !== undefined
  return { events: events.filter(isKind).join(','), single: events.filter((one) => !isKind(one)).join(', ') }
}

function deedsOf({ id, url, enabled, secret_activates_at }: WebhookDetail, show: (secret: string) => void): Deed[] {
  const { host } = new URL(url)
  const replay: Deed = {
    name: 'Replay',
    icon: 'again',
    form: formOf(webhooksReplay, {
      title: 'Send events again',
      action: 'Send again',
      given: { id },
      fields: [
        { name: 'from', label: 'From', as: 'moment', isRequired: true },
        { name: 'to', label: 'To', as: 'moment', isRequired: true },
        { name: 'status', label: 'Events', among: ['failed', 'all'] },
        { name: 'events', label: 'Events', as: 'list', hint: 'Empty: all' },
      ],
      initial: { status: 'failed' },
    }),
  }
  const activate: Deed = {
    name: 'Use the new secret now',
    icon: 'key',
    run: () => webhooksActivateSecret(api, { id }),
  }
  return [
    replay,
    ...(secret_activates_at === null ? [] : [activate]),
    {
      name: 'Delete',
      icon: 'trash',
      isDanger: true,
      asks: {
        title: t('Delete {name}?', { name: host }),
        consequences: [t('It no longer receives events.'), t('Its deliveries are no longer shown.')],
        action: t('Delete {name}', { name: host }),
        keep: t('Keep it'),
      },
      run: async () => {
        await webhooksDelete(api, { id })
        go('/webhooks')
      },
    },
    {
      name: 'New secret',
      icon: 'key',
      asks: {
        title: t('A new secret for {name}?', { name: host }),
        consequences: [t('Deliveries are signed with both secrets for a day, then with the new one.')],
        action: t('Rotate secret'),
        isDanger: false,
      },
      run: async () => show((await webhooksRotateSecret(api, { id })).secret),
    },
    {
      name: enabled ? 'Disable' : 'Enable',
      ...(enabled
        ? {
            asks: {
              title: t('Disable {name}?', { name: host }),
              consequences: [t('Deliveries stop until it is enabled again.')],
              action: t('Disable {name}', { name: host }),
              keep: t('Keep it enabled'),
            },
          }
        : {}),
      run: () => webhooksUpdate(api, { id, body: { enabled: !enabled } }),
    },
    { name: 'Send a test event', icon: 'send', isMain: true, run: () => webhooksTest(api, { id }) },
  ]
}

function deliveriesOf(id: string): ListOf {
  return {
    title: 'Deliveries',
    icon: 'hook',
    path: webhooksDeliveries.at({ id }),
    keyField: 'id',
    open: [`/webhooks/${id}/`, 'id'],
    live: '',
    dates: ['from', 'to'],
    sorts: true,
    columns: [
      created,
      { name: 'Event', field: 'event', as: 'mono', priority: 1, card: 'title', grows: true },
      { name: 'Object', field: 'resource_id', as: 'id', priority: 3, card: 'sub' },
      { name: 'Answer', field: 'response_status', as: 'mono', orField: 'last_error', priority: 1, card: 'end' },
      { name: 'Attempts', field: 'attempts', as: 'count', priority: 3 },
      {
        name: 'Duration',
        field: 'duration_ms',
        priority: 4,
        text: (ms) => (ms === null ? '–' : `${Math.round(Number(ms))} ms`),
      },
      state,
    ],
    filters: [
      { name: 'status', label: 'State', among: ['pending', 'delivering', 'delivered', 'failed', 'cancelled'] },
      { name: 'event', label: 'Event' },
    ],
    none: { title: 'No deliveries', advice: 'Events that happen from now on are listed here.' },
    actions: [
      {
        name: 'Send again',
        scope: 'webhooks:write',
        isBulk: true,
        run: (row) => webhooksRedeliver(api, { id, delivery_id: textOf(row.id) }),
      },
    ],
  }
}
