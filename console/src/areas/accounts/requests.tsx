// SPDX-License-Identifier: Apache-2.0
// Request log: what the account's programs asked, and what they were answered.
import { logsList } from '#sdk/operations.ts'
import type { RequestLogEntry } from '#sdk/schemas.ts'
import { Choice, PageHead } from '../../kit/kit.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import { filterBy, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const statuses = ['200', '201', '400', '401', '402', '403', '404', '409', '422', '429', '500']

export function Requests() {
  const { query } = usePlace()
  const filters = { method: query.get('method') ?? '', status: query.get('status') ?? '' }
  return (
    <div class="page">
      <PageHead title="Requests">
        <Choice
          label="Method"
          value={filters.method}
          among={methods}
          onChange={(method) => filterBy({ ...filters, method })}
        />
        <Choice
          label="Status"
          value={filters.status}
          among={statuses}
          onChange={(status) => filterBy({ ...filters, status })}
        />
      </PageHead>
      <RequestList query={filters} />
    </div>
  )
}

export function RequestList({ query = {}, limit }: { query?: Record<string, string>; limit?: number }) {
  return (
    <Records<RequestLogEntry>
      label="Requests"
      path={logsList.at()}
      query={query}
      {...(limit === undefined ? {} : { limit })}
      keyOf={({ request_id }) => request_id}
      empty={none(t('No requests'), t('What your programs ask with a key of this environment is listed here.'))}
      columns={[
        { name: 'Time', show: ({ at }) => moment(at) },
        { name: 'Method', show: ({ method }) => <span class="mono">{method}</span> },
        { name: 'Path', show: ({ path }) => <span class="mono">{path}</span> },
        {
          name: 'Status',
          show: ({ status, error_code }) => (
            <span class={status < 400 ? 'mono good' : 'mono bad'}>
              {status} {error_code}
            </span>
          ),
        },
        { name: 'Took', isNumber: true, show: ({ duration_ms }) => `${Math.round(duration_ms)} ms` },
      ]}
    />
  )
}
