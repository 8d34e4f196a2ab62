// SPDX-License-Identifier: Apache-2.0
// Webhooks: where events are sent.
import { PageHead, Pill } from '../../kit/kit.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import type { Webhook } from '../../records.ts'

export function Webhooks() {
  return (
    <div class="page">
      <PageHead title="Webhooks" />
      <Records<Webhook>
        label="Webhooks"
        path="/v1/webhooks"
        keyOf={({ id }) => id}
        empty={none('No webhooks', 'POST /v1/webhooks registers an address that is told of events.')}
        columns={[
          {
            name: 'Address',
            show: ({ id, url }) => (
              <Link to={`/webhooks/${id}`} class="mono">
                {url}
              </Link>
            ),
          },
          { name: 'Events', show: ({ events }) => <span class="cut">{events.join(', ')}</span> },
          { name: 'State', show: ({ enabled }) => <Pill state={enabled ? 'active' : 'disabled'} /> },
          { name: 'Since', show: ({ created_at }) => moment(created_at) },
        ]}
      />
    </div>
  )
}
