// SPDX-License-Identifier: Apache-2.0
// Outcomes of batches, for the area that sent them.
import { type Queryable, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'

export interface BatchOutcome {
  batch: string
  status: 'queued' | 'sent' | 'delivered' | 'failed'
  error_code: string | null
  messages: number
  /** Price of those that were not given back. */
  cost: bigint
  replied: number
}

const outcomes = statement.tenant<Tenant & { batches: readonly string[] }, BatchOutcome>(
  'sms.outcomes_of_batches',
  `select m.batch_id as batch, m.status, m.error_code, count(*)::int as messages,
          coalesce(sum(m.cost) filter (where m.status <> 'failed' or m.sent_at is not null), 0)::bigint as cost,
          count(*) filter (where m.status in ('sent', 'delivered') and exists (
            select from sms.messages r
             where r.bucket = m.bucket and r.direction = 'inbound' and r.sender = m.recipient and r.account_id = m.account_id
               and r.environment = m.environment and r.id > m.id and r.in_reply_to = m.id))::int as replied
     from sms.messages m
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.batch_id = any($batches::uuid[])
    group by m.batch_id, m.status, m.error_code`,
)

export async function outcomesOfBatches(
  queryable: Queryable,
  tenant: Tenant,
  batches: readonly string[],
): Promise<BatchOutcome[]> {
  return batches.length === 0 ? [] : queryable.query(outcomes, { ...tenant, batches })
}
