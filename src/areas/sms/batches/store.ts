// SPDX-License-Identifier: Apache-2.0
// Stored batches, and the messages of one.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { type MessageRow, messageColumns, type Notes } from '../store.ts'
import type { BatchRecord } from './schema.ts'

/** An entry of a batch that became no message. */
export interface Rejection {
  index: number
  to: string
  error_code: string
  error: string
  existing_id?: string
}

interface BatchRow {
  id: string
  total: number
  accepted: number
  rejected: number
  segments: number
  cost: bigint
  currency: string
  metadata: Notes
  rejections: Rejection[]
  created_at: Date
  completed_at: Date | null
}

const addBatch = statement.tenant<
  Tenant &
    Omit<BatchRow, 'metadata' | 'rejections' | 'created_at' | 'completed_at'> & {
      metadata: string
      rejections: string
      createdAt: Date
    },
  object
>(
  'sms.add_batch',
  `insert into sms.batches (bucket, account_id, environment, id, total, accepted, rejected, segments, cost, currency, metadata,
                            rejections, created_at)
   values ($bucket, $account, $environment, $id, $total, $accepted, $rejected, $segments, $cost, $currency,
           $metadata::jsonb, $rejections::jsonb, $createdAt)`,
)

const selectBatch = statement.tenant<Tenant & { id: string }, BatchRow>(
  'sms.find_batch',
  `select id, total, accepted, rejected, segments, cost, currency, metadata, rejections, created_at, completed_at
     from sms.batches
    where ${mine} and id = $id`,
)

const countBatch = statement.tenant<
  Tenant & { id: string },
  { status: MessageRow['status']; messages: number; cancelled: number; cost: bigint; last: Date | null }
>(
  'sms.count_batch',
  `select status, count(*)::int as messages, count(*) filter (where error_code = 'CANCELLED')::int as cancelled,
          coalesce(sum(cost) filter (where status <> 'failed' or sent_at is not null), 0)::bigint as cost,
          max(coalesce(delivered_at, failed_at)) as last
     from sms.messages
    where ${mine} and batch_id = $id
    group by status`,
)

const messagesOfBatch = statement.tenant<Tenant & { id: string; after: number; limit: number }, MessageRow>(
  'sms.messages_of_batch',
  `select ${messageColumns} from sms.messages
    where ${mine} and batch_id = $id
      and batch_index > $after::int
    order by batch_index limit $limit::int + 1`,
)

/** Message whose job is unclaimed, with the attempt that must still be current when it is ended. */
export interface Waiting {
  id: string
  job: string
  attempt: number
}

const cancellable = statement.tenant<Tenant & { id: string }, Waiting>(
  'sms.cancellable',
  `select id, job, attempt from sms.cancellable($bucket::smallint, $account::uuid, $environment::text, $id::uuid)`,
)

/** The messages of a batch that are not out, nor about to be. */
export async function cancellableOf(queryable: Queryable, tenant: Tenant, id: string): Promise<Waiting[]> {
  return queryable.query(cancellable, { ...tenant, id })
}

/** Marks a batch as complete; gives nothing when it was marked before. */
const complete = statement.tenant<Tenant & { id: string; at: Date }, { id: string }>(
  'sms.complete_batch',
  `update sms.batches set completed_at = $at
    where ${mine} and id = $id and completed_at is null
   returning id`,
)

/** State of a batch by the account's clock. A message sent longer ago than `waitSeconds` is no longer waited for. */
const lookAtBatch = statement.tenant<Tenant & { id: string; waitSeconds: number }, BatchState>(
  'sms.look_at_batch',
  `select count(*) filter (where m.status = 'queued'
                              or (m.status = 'sent' and m.sent_at > c.now - $waitSeconds::int * interval '1 second'))::int as open,
          coalesce(ceil(extract(epoch from max(m.scheduled_at) filter (where m.status = 'queued') - c.now) * 1000), 0)::bigint
            as due_in_ms,
          c.offset_ms
     from (select now() + o.offset_ms * interval '1 millisecond' as now, o.offset_ms
             from (select accounts.clock_offset_ms($account::uuid, $environment::text) as offset_ms) o) c
     left join sms.messages m
       on m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.batch_id = $id
    group by c.now, c.offset_ms`,
)

interface BatchState {
  /** Messages that may still change. */
  open: number
  /** Milliseconds until the last scheduled message; 0 or less when none waits. */
  due_in_ms: bigint
  offset_ms: bigint
}

export async function completeBatch(tx: Tx, tenant: Tenant, id: string, at: Date): Promise<boolean> {
  return (await maybe(tx.query(complete, { ...tenant, id, at }))) !== null
}

export async function batchState(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
  waitSeconds: number,
): Promise<BatchState> {
  return one(queryable.query(lookAtBatch, { ...tenant, id, waitSeconds }))
}

export async function insertBatch(
  tx: Tx,
  tenant: Tenant,
  { metadata, rejections, created_at, ...head }: Omit<BatchRow, 'completed_at'>,
): Promise<void> {
  await tx.query(addBatch, {
    ...tenant,
    ...head,
    metadata: JSON.stringify(metadata),
    rejections: JSON.stringify(rejections),
    createdAt: created_at,
  })
}

export async function findBatch(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
): Promise<{ record: Static<typeof BatchRecord>; rejections: readonly Rejection[] } | null> {
  const row = await maybe(queryable.query(selectBatch, { ...tenant, id }))
  if (!row) return null
  const found = await queryable.query(countBatch, { ...tenant, id })
  const count = (status: string) => found.find((group) => group.status === status)?.messages ?? 0
  const counts = {
    queued: count('queued'),
    sent: count('sent'),
    delivered: count('delivered'),
    failed: count('failed'),
  }
  const isOver = row.completed_at !== null || counts.queued + counts.sent === 0
  const cancelled = found.reduce((sum, group) => sum + group.cancelled, 0)
  const end = cancelled > 0 && cancelled === row.accepted ? 'cancelled' : 'completed'
  const last = Math.max(...found.map((group) => Number(group.last ?? 0)), row.created_at.getTime())
  const { rejections, created_at, completed_at, id: _, ...head } = row
  return {
    rejections,
    record: {
      batch_id: idOf('smsBatch', id),
      status: isOver ? end : 'queued',
      ...head,
      // Refunded messages are not counted.
      cost: found.reduce((sum, { cost }) => sum + cost, 0n),
      timestamp: created_at,
      counts,
      completed_at: completed_at ?? (isOver ? new Date(last) : null),
    },
  }
}

/** Messages of a batch in the order of its entries, one more than asked for. */
export async function batchMessages(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
  afterIndex: number,
  limit: number,
): Promise<MessageRow[]> {
  return queryable.query(messagesOfBatch, { ...tenant, id, after: afterIndex, limit })
}
