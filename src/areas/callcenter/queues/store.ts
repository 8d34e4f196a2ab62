// SPDX-License-Identifier: Apache-2.0
// SQL of queues.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { QueueDocument } from './queue.ts'

export interface QueueRow {
  id: string
  name: string
  status: 'open' | 'closed' | 'paused'
  document: QueueDocument
  last_agent: string | null
  breached_at: Date | null
  created_at: Date
  updated_at: Date
}

const columns = 'id, name, status, document, last_agent, breached_at, created_at, updated_at'

/** Inserts a queue; no row when the name is taken. */
export const insertQueue = statement.tenant<One & { name: string; document: string; at: Date }, QueueRow>(
  'callcenter.insert_queue',
  `insert into callcenter.queues (bucket, account_id, environment, id, name, status, document, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $name, 'open', $document::jsonb, $at, $at)
   on conflict (bucket, account_id, environment, name) do nothing
   returning ${columns}`,
)

export const findQueue = statement.tenant<One, QueueRow>(
  'callcenter.find_queue',
  `select ${columns} from callcenter.queues where ${mine} and id = $id`,
)

export const lockQueue = statement.tenant<One, QueueRow>(
  'callcenter.lock_queue',
  `select ${columns} from callcenter.queues where ${mine} and id = $id for update`,
)

export const findQueueNamed = statement.tenant<Tenant & { name: string }, QueueRow>(
  'callcenter.find_queue_named',
  `select ${columns} from callcenter.queues where ${mine} and name = $name`,
)

export const listQueues = statement.tenant<Tenant, QueueRow>(
  'callcenter.list_queues',
  `select ${columns} from callcenter.queues where ${mine} order by id desc limit 2000`,
)

/** Those of the queues that are there. */
export const queuesAmong = statement.tenant<Tenant & { ids: readonly string[] }, { id: string }>(
  'callcenter.queues_among',
  `select id from callcenter.queues where ${mine} and id = any($ids::uuid[])`,
)

export const saveQueue = statement.tenant<One & { name: string; status: string; document: string; at: Date }, QueueRow>(
  'callcenter.save_queue',
  `update callcenter.queues set name = $name, status = $status, document = $document::jsonb, updated_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

/** Stores the last agent served, for round robin. */
export const noteTurn = statement.tenant<One & { agent: string }, object>(
  'callcenter.note_turn',
  `update callcenter.queues set last_agent = $agent where ${mine} and id = $id`,
)

export const noteBreach = statement.tenant<One & { at: Date | null }, object>(
  'callcenter.note_breach',
  `update callcenter.queues set breached_at = $at where ${mine} and id = $id`,
)

/** Queue that keeps business hours, by their id. */
export interface HoursKeeper {
  id: string
  hours: string
}

export const hoursKeepers = statement.tenant<Tenant, HoursKeeper>(
  'callcenter.hours_keepers',
  `select id, document->>'business_hours_id' as hours from callcenter.queues
    where ${mine} and document->>'business_hours_id' is not null order by id limit 2000`,
)

/** Makes these queues, and no others, keep the business hours. */
export const giveHours = statement.tenant<Tenant & { hours: string; queues: readonly string[]; at: Date }, object>(
  'callcenter.give_hours',
  `update callcenter.queues
      set document = jsonb_set(document, '{business_hours_id}',
                               case when id = any($queues::uuid[]) then to_jsonb($hours::text) else 'null'::jsonb end),
          updated_at = $at
    where ${mine}
      and (id = any($queues::uuid[])) is distinct from coalesce(document->>'business_hours_id' = $hours::text, false)`,
)
