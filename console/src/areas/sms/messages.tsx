// SPDX-License-Identifier: Apache-2.0
// Messages, newest first, filtered by the server.
import { smsList } from '#sdk/operations.ts'
import type { SmsMessage } from '#sdk/schemas.ts'
import { may } from '../../api.ts'
import { Choice, Field, PageHead, Pill } from '../../kit/kit.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment, money } from '../../kit/words.ts'
import { filterBy, Link, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

const statuses = ['queued', 'sent', 'delivered', 'failed', 'received']
const directions = ['outbound', 'inbound']

export function Messages() {
  const { query } = usePlace()
  const filters = {
    status: query.get('status') ?? '',
    direction: query.get('direction') ?? '',
    to: query.get('to') ?? '',
  }
  return (
    <div class="page">
      <PageHead title="Messages">
        {may('sms:write') && (
          <Link to="/send" class="btn primary">
            {t('Send a text')}
          </Link>
        )}
      </PageHead>
      <search class="filters">
        <Choice
          label="State"
          value={filters.status}
          among={statuses}
          onChange={(status) => filterBy({ ...filters, status })}
        />
        <Choice
          label="Direction"
          value={filters.direction}
          among={directions}
          onChange={(direction) => filterBy({ ...filters, direction })}
        />
        <Field label="To" value={filters.to} onInput={(to) => filterBy({ ...filters, to })} />
      </search>
      <MessageList query={filters} />
    </div>
  )
}

export function MessageList({ query = {}, limit }: { query?: Record<string, string>; limit?: number }) {
  return (
    <Records<SmsMessage>
      label="Messages"
      path={smsList.at()}
      query={query}
      live="sms."
      {...(limit === undefined ? {} : { limit })}
      keyOf={({ message_id }) => message_id}
      empty={none(
        t('No messages'),
        may('sms:write') ? t('Send a text, or take away a filter.') : t('Texts are listed here.'),
      )}
      columns={[
        {
          name: 'Time',
          show: ({ message_id, created_at }) => <Link to={`/messages/${message_id}`}>{moment(created_at)}</Link>,
        },
        { name: 'State', show: ({ status }) => <Pill state={status} /> },
        { name: 'From', show: ({ from }) => from },
        { name: 'To', show: ({ to }) => <span class="mono">{to}</span> },
        { name: 'Text', show: ({ message }) => <span class="cut">{message ?? t('Erased')}</span> },
        { name: 'Cost', isNumber: true, show: ({ cost, currency }) => money(cost, currency) },
      ]}
    />
  )
}
