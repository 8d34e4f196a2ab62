// SPDX-License-Identifier: Apache-2.0
// Outcomes of batches, and what was answered to them, for the area that sent them.
import { firstUuidAt, timeOfUuid } from '../../../kernel/ids.ts'
import { type Queryable, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'

export interface BatchOutcome {
  batch: string
  country: string | null
  network: string | null
  status: 'queued' | 'sent' | 'delivered' | 'failed'
  error_code: string | null
  messages: number
  /** Price of those that were not given back. */
  cost: bigint
  replied: number
}

const outcomes = statement.tenant<Tenant & { batches: readonly string[] }, BatchOutcome>(
  'sms.outcomes_of_batches',
  `select m.batch_id as batch, m.country, m.network, m.status, m.error_code, count(*)::int as messages,
          coalesce(sum(m.cost) filter (where m.status <> 'failed' or m.sent_at is not null), 0)::bigint as cost,
          count(*) filter (where m.status in ('sent', 'delivered') and exists (
            select from sms.messages r
             where r.bucket = m.bucket and r.direction = 'inbound' and r.sender = m.recipient and r.account_id = m.account_id
               and r.environment = m.environment and r.id > m.id and r.in_reply_to = m.id))::int as replied
     from sms.messages m
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.batch_id = any($batches::uuid[])
    group by m.batch_id, m.country, m.network, m.status, m.error_code`,
)

export async function outcomesOfBatches(
  queryable: Queryable,
  tenant: Tenant,
  batches: readonly string[],
): Promise<BatchOutcome[]> {
  return batches.length === 0 ? [] : queryable.query(outcomes, { ...tenant, batches })
}

export interface BatchReply {
  id: string
  batch: string
  sender: string
  text: string | null
  created_at: Date
}

/** Time by which the clocks of two nodes may differ, of which one sent and the other was answered. */
const clocksDifferMs = 60_000

const replies = statement.tenant<
  Tenant & { batches: readonly string[]; since: string; after: string | null; limit: number },
  BatchReply
>(
  'sms.replies_to_batches',
  `select r.id, m.batch_id as batch, r.sender, r.body as text, r.created_at
     from sms.messages r
    cross join lateral (
      select a.batch_id from sms.messages a
       where a.bucket = $bucket and a.account_id = $account and a.environment = $environment and a.id = r.in_reply_to and a.recipient = r.sender
      offset 0) m
    where r.bucket = $bucket and r.account_id = $account and r.environment = $environment and r.direction = 'inbound'
      and r.in_reply_to is not null and m.batch_id = any($batches::uuid[])
      and r.id > $since::uuid and r.id < coalesce($after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by r.id desc limit $limit::int + 1`,
)

/** What was answered to batches, newest first: one more than the limit if there is more. Read from the answers, not from all that was sent. */
export async function repliesToBatches(
  queryable: Queryable,
  tenant: Tenant,
  { batches, after, limit }: { batches: readonly string[]; after: string | null; limit: number },
): Promise<BatchReply[]> {
  const [oldest] = [...batches].sort()
  if (oldest === undefined) return []
  const since = firstUuidAt(timeOfUuid(oldest).getTime() - clocksDifferMs)
  return queryable.query(replies, { ...tenant, batches, since, after, limit })
}
