// SPDX-License-Identifier: Apache-2.0
// Outcomes of bulks, for the area that sent them.
import { type Queryable, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'

export interface BulkOutcome {
  bulk: string
  status: string
  reason: string | null
  messages: number
  opened: number
  clicked: number
  /** Price of them. */
  cost: bigint
}

const outcomes = statement.tenant<Tenant & { bulks: readonly string[] }, BulkOutcome>(
  'email.outcomes_of_bulks',
  `select m.bulk_id as bulk, r.status, coalesce(r.reason, r.bounce_type) as reason, count(*)::int as messages,
          count(r.opened_at)::int as opened, count(r.clicked_at)::int as clicked, coalesce(sum(m.cost), 0)::bigint as cost
     from email.messages m
     join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment
      and r.message_id = m.id
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.bulk_id = any($bulks::uuid[])
    group by m.bulk_id, r.status, coalesce(r.reason, r.bounce_type)`,
)

export async function outcomesOfBulks(
  queryable: Queryable,
  tenant: Tenant,
  bulks: readonly string[],
): Promise<BulkOutcome[]> {
  return bulks.length === 0 ? [] : queryable.query(outcomes, { ...tenant, bulks })
}
