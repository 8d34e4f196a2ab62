// SPDX-License-Identifier: Apache-2.0
// SQL of bulks; their counts come from their messages.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { BulkRecord } from './schema.ts'

export interface BulkRow {
  id: string
  status: Static<typeof BulkRecord>['status']
  paused_reason: 'bounce_rate' | 'complaint_rate' | 'request' | null
  total: number
  accepted: number
  rejected: number
  suppressed: number
  batch_size: number
  batches: number
  batches_sent: number
  batch_interval: number
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
}

const columns = `id, status, paused_reason, total, accepted, rejected, suppressed, batch_size, batches, batches_sent, batch_interval, created_at,
  started_at, completed_at`

const find = statement.tenant<One, BulkRow>(
  'email.find_bulk',
  `select ${columns} from email.bulks where ${mine} and id = $id`,
)
const lock = statement.tenant<One, BulkRow>(
  'email.lock_bulk',
  `select ${columns} from email.bulks where ${mine} and id = $id for update`,
)

export async function findBulk(queryable: Queryable, tenant: Tenant, id: string): Promise<BulkRow | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}

export async function lockBulk(queryable: Queryable, tenant: Tenant, id: string): Promise<BulkRow | null> {
  return maybe(queryable.query(lock, { ...tenant, id }))
}

export const insertBulk = statement.tenant<
  One & {
    status: string
    total: number
    accepted: number
    rejected: number
    suppressed: number
    batchSize: number
    batches: number
    interval: number
    cost: bigint
    currency: string
    template: string | null
    scheduledAt: Date | null
    at: Date
  },
  object
>(
  'email.insert_bulk',
  `insert into email.bulks (bucket, account_id, environment, id, status, total, accepted, rejected, suppressed, batch_size, batches, batch_interval, cost,
     currency, template_id, scheduled_at, created_at)
   values ($bucket, $account, $environment, $id, $status, $total, $accepted, $rejected, $suppressed, $batchSize, $batches, $interval, $cost,
     $currency, $template, $scheduledAt, $at)`,
)

export const acceptMessages = statement.tenant<
  Tenant & { bulk: string; common: string; entries: string; amount: bigint; currency: string; transfer: string },
  { verdict: string }
>(
  'email.accept_bulk',
  `select email.accept_bulk($bucket::smallint, $account, $environment, $bulk, $common::jsonb, $entries::jsonb, $amount, $currency, $transfer) as verdict`,
)

export const changeBulk = statement.tenant<
  One & {
    status: string
    reason: string | null
    batchesSent: number
    startedAt: Date | null
    completedAt: Date | null
  },
  BulkRow
>(
  'email.change_bulk',
  `update email.bulks set status = $status, paused_reason = $reason, batches_sent = $batchesSent, started_at = $startedAt, completed_at = $completedAt
    where ${mine} and id = $id returning ${columns}`,
)

export const dispatchBatch = statement.tenant<
  Tenant & { bulk: string; from: number; to: number; jobs: readonly string[]; lane: string },
  { many: number }
>(
  'email.dispatch_batch',
  `select email.dispatch_batch($bucket::smallint, $account, $environment, $bulk, $from::int, $to::int, $jobs::uuid[], $lane) as many`,
)

type Counts = Static<typeof BulkRecord>['counts']

/** Internal counts: hard bounces, and messages no server has accepted yet. */
type AllCounts = Counts & { hard: number; under_way: number }

const counting = statement.tenant<Tenant & { bulk: string }, AllCounts>(
  'email.count_bulk',
  `select count(*) filter (where r.status in ('scheduled', 'queued'))::int as queued, count(*) filter (where r.status = 'sent')::int as sent,
          count(*) filter (where r.status = 'delivered')::int as delivered, count(*) filter (where r.opened_at is not null)::int as opened,
          count(*) filter (where r.clicked_at is not null)::int as clicked, count(*) filter (where r.status = 'bounced')::int as bounced,
          count(*) filter (where r.complained_at is not null)::int as complained,
          count(*) filter (where r.unsubscribed_at is not null)::int as unsubscribed,
          count(*) filter (where r.status in ('failed', 'cancelled'))::int as failed, count(*) filter (where r.bounce_type = 'hard')::int as hard,
          count(*) filter (where r.status = 'sent' and (r.attempts = 0 or r.next_attempt_at is not null))::int as under_way
     from email.messages m
     join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment and r.message_id = m.id
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.bulk_id = $bulk`,
)

const nothing = {
  queued: 0,
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  failed: 0,
  hard: 0,
  under_way: 0,
}

export async function countsOf(queryable: Queryable, tenant: Tenant, bulk: string): Promise<AllCounts> {
  const [row = nothing] = await queryable.query(counting, { ...tenant, bulk })
  return row
}

export function recordOf(row: BulkRow, { hard: _, under_way: __, ...counts }: AllCounts): Static<typeof BulkRecord> {
  const {
    status,
    total,
    accepted,
    rejected,
    suppressed,
    batches,
    batches_sent,
    created_at,
    started_at,
    completed_at,
    paused_reason,
  } = row
  return {
    bulk_id: idOf('emailBulk', row.id),
    status,
    total,
    accepted,
    rejected,
    suppressed,
    batches,
    batches_sent,
    counts,
    created_at,
    started_at,
    completed_at,
    paused_reason: status === 'paused' ? paused_reason : null,
  }
}
