// SPDX-License-Identifier: Apache-2.0
// Story of a record: the events that happened to it, oldest first, each with its page.
import { eventsList } from '#sdk/operations.ts'
import { api, may } from '../api.ts'
import { useLive } from '../live.ts'
import { Link } from '../place.tsx'
import { t } from '../words.ts'
import { Ago, Card, Problem, Waiting } from './kit.tsx'
import { useLoad } from './load.ts'

/** Names of events are those of the API; what happened is also told by the record itself. */
export function Story({ id }: { id: string }) {
  const mayRead = may('events:read')
  const events = useLoad(id, async () =>
    mayRead ? eventsList(api, { query: { resource_id: id, order: 'asc', limit: 100 } }) : null,
  )
  useLive(mayRead ? '' : null, events.reload, { about: id })
  if (!mayRead || events.value?.data.length === 0) return null
  return (
    <Card title={t('Timeline')}>
      {events.error && <Problem error={events.error} retry={events.reload} />}
      {!events.value && !events.error && <Waiting lines={3} />}
      <ol class="story">
        {events.value?.data.map(({ id: event, event: name, created_at }) => (
          <li key={event}>
            <Link to={`/events/${event}`} class="mono">
              {name}
            </Link>
            <span class="soft push">
              <Ago at={created_at} />
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
