// SPDX-License-Identifier: Apache-2.0
// Events: the list, and one of them with what subscribers receive.
import { eventsGet, eventsList, eventsTrigger } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { oneOf } from '../../kit/choose.tsx'
import { Detail, Opened, Raw } from '../../kit/detail.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, CopyId, Facts } from '../../kit/kit.tsx'
import { eventNames } from '../../kit/known.ts'
import { created, type ListOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { t } from '../../words.ts'

const trigger = formOf(eventsTrigger, {
  title: 'Trigger an event',
  action: 'Trigger',
  fields: [
    {
      name: 'event',
      label: 'Event',
      isRequired: true,
      hint: 'Such as payment.completed',
      show: oneOf(eventNames, { isOpen: true }),
    },
    {
      name: 'override',
      label: 'Custom values',
      as: 'json',
      hint: t('JSON, such as {example}', { example: '{"amount":500}' }),
    },
  ],
})

export const events: ListOf = {
  title: 'Events',
  icon: 'bolt',
  deeds: [{ name: 'Trigger an event', icon: 'bolt', scope: 'sandbox:write', form: trigger }],
  path: eventsList.at(),
  keyField: 'id',
  open: ['/events/', 'id'],
  live: '',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    { name: 'Event', field: 'event', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Object', field: 'resource_id', as: 'id', priority: 1, card: 'sub' },
    { name: 'Request', field: 'request_id', as: 'id', priority: 3 },
  ],
  filters: [
    { name: 'event', label: 'Event' },
    { name: 'resource_id', label: 'Object' },
  ],
}

export function EventPage({ id }: PageProps) {
  const event = useLoad(id, () => eventsGet(api, { id }))
  return (
    <Opened record={event}>
      {(value) => (
        <Detail in={['/events', 'Events']} id={id} title={value.event} path={eventsGet.at({ id })} raw={value}>
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Time'), <Ago at={value.created_at} />],
                [t('Object'), <RecordLink id={value.resource_id} />],
                [t('Request'), value.request_id && <CopyId id={value.request_id} />],
              ]}
            />
          </Card>
          <Raw title={t('Payload')} value={value.payload} isOpen />
        </Detail>
      )}
    </Opened>
  )
}
