// SPDX-License-Identifier: Apache-2.0
// Customers' request log and usage: queries.
import { idOf } from '../../kernel/ids.ts'
import { maybe, type Queryable, statement } from '../db.ts'
import { finder } from '../operator/finding.ts'
import type { Window } from '../schema/lists.ts'
import { mine, type Tenant } from '../tenant.ts'

export interface LoggedRequest {
  id: string
  key_id: string
  operation: string | null
  method: string
  path: string
  status: number
  error_code: string | null
  duration_us: number
  ip: string
  warning: string | null
  request_body: string | null
  response_body: string | null
}

const shown = `id, key_id, operation, method, path, status, error_code, duration_us, ip, warning, request_body, response_body`

export interface RequestFilter {
  from: string
  to: string
  status: number | null
  operation: string | null
  method: string | null
  key: string | null
}

const list = statement.tenant<
  Tenant & RequestFilter & { after: string | null; descending: boolean; limit: number },
  LoggedRequest
>(
  'platform.list_requests',
  `select ${shown} from platform.requests
    where ${mine} and id >= $from and id < $to
      and ($status::int is null or status = $status) and ($operation::text is null or operation = $operation)
      and ($method::text is null or method = $method) and ($key::uuid is null or key_id = $key)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
  { mayBeLate: true },
)

const find = statement.tenant<Tenant & { id: string }, LoggedRequest>(
  'platform.find_request',
  `select ${shown} from platform.requests
    where ${mine} and id = $id`,
)

const sumUsage = statement.tenant<
  Tenant & { from: string; to: string; byDay: boolean; byArea: boolean; byOperation: boolean },
  { day: string | null; area: string | null; operation: string | null; requests: number; errors: number }
>(
  'platform.sum_usage',
  `select case when $byDay::boolean then day end as day, case when $byArea::boolean then area end as area,
          case when $byOperation::boolean then operation end as operation,
          sum(requests)::int as requests, sum(errors)::int as errors
     from platform.usage
    where ${mine} and day >= $from::date and day <= $to::date
    group by 1, 2, 3 order by 1, 2, 3`,
  { mayBeLate: true },
)

export async function listRequests(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: RequestFilter,
): Promise<LoggedRequest[]> {
  return queryable.query(list, { ...tenant, ...window, ...filter })
}

export async function findRequest(queryable: Queryable, tenant: Tenant, id: string): Promise<LoggedRequest | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}

/** Requests and errors of a range of days, grouped as requested. */
export async function usageOf(
  queryable: Queryable,
  tenant: Tenant,
  range: { from: string; to: string },
  by: { day: boolean; area: boolean; operation: boolean },
): Promise<{ day: string | null; area: string | null; operation: string | null; requests: number; errors: number }[]> {
  return queryable.query(sumUsage, { ...tenant, ...range, byDay: by.day, byArea: by.area, byOperation: by.operation })
}

export const requestFinder = finder({
  kind: 'request',
  prefix: 'request',
  table: 'platform.requests',
  ...{ scope: 'logs:read', label: `t.method || ' ' || t.path` },
  status: 't.status',
  path: (id) => `/logs/${idOf('request', id)}`,
})
