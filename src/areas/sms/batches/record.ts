// SPDX-License-Identifier: Apache-2.0
// Record of a batch read like a single message: the fields that every message has, and a status that ends in delivered
// or failed, so that pollers stop.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { one, type Queryable, statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { BatchRecord, Found } from './schema.ts'
import { findBatch, type Rejection } from './store.ts'

interface Facts {
  /** Index in the batch, and the recipient. */
  recipients: [index: number, to: string][]
  sender: string | null
  parts: number
  sent_at: Date | null
  delivered_at: Date | null
}

const factsOf = statement.tenant<Tenant & { id: string }, Facts>(
  'sms.batch_facts',
  `select coalesce(jsonb_agg(jsonb_build_array(batch_index, recipient)), '[]') as recipients,
          (array_agg(sender order by batch_index))[1] as sender, coalesce(sum(segments), 0)::int as parts,
          max(sent_at) as sent_at, max(delivered_at) as delivered_at
     from sms.messages
    where ${mine} and batch_id = $id`,
)

/** Batch in the form of a message; null when there is none. */
export async function readAsOne(db: Queryable, tenant: Tenant, id: string): Promise<Static<typeof Found> | null> {
  const found = await findBatch(db, tenant, id)
  if (!found) return null
  const { record, rejections } = found
  const facts = await one(db.query(factsOf, { ...tenant, id }))
  const status = statusOf(record)
  return {
    ...record,
    message_id: idOf('smsBatch', id),
    status,
    direction: 'outbound',
    to: everybody(facts, rejections),
    from: facts.sender ?? '',
    parts: facts.parts,
    created_at: record.timestamp,
    sent_at: status === 'queued' ? null : facts.sent_at,
    delivered_at: status === 'delivered' ? facts.delivered_at : null,
  }
}

/** Queued while one waits, sent while one is under way; then delivered if any was. */
function statusOf({ counts, completed_at }: Static<typeof BatchRecord>): 'queued' | 'sent' | 'delivered' | 'failed' {
  const isOver = completed_at !== null
  if (!isOver && counts.queued > 0) return 'queued'
  if (!isOver && counts.sent > 0) return 'sent'
  return counts.delivered > 0 ? 'delivered' : 'failed'
}

function everybody({ recipients }: Facts, rejections: readonly Rejection[]): string[] {
  const refused = rejections.map(({ index, to }): [number, string] => [index, to])
  return [...recipients, ...refused].sort(([a], [b]) => a - b).map(([, to]) => to)
}
