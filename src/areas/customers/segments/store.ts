// SPDX-License-Identifier: Apache-2.0
// SQL of segments.
import { statement } from '../../../platform/db.ts'
import type { Window } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Filter } from './filter.ts'

export interface SegmentRow {
  id: string
  name: string
  /** Null for a fixed list. */
  filter: Filter | null
  created_at: Date
  updated_at: Date
}

const columns = 'id, name, filter, created_at, updated_at'

type Written = One & { name: string; filter: string | null; at: Date }

export const insertSegment = statement.tenant<Written, SegmentRow>(
  'customers.insert_segment',
  `insert into customers.segments (bucket, account_id, environment, id, name, filter, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $name, $filter::jsonb, $at, $at) returning ${columns}`,
)

export const updateSegment = statement.tenant<Written, SegmentRow>(
  'customers.update_segment',
  `update customers.segments set name = $name, filter = $filter::jsonb, updated_at = $at
    where ${mine} and id = $id returning ${columns}`,
)

export const deleteSegment = statement.tenant<One, SegmentRow>(
  'customers.delete_segment',
  `delete from customers.segments where ${mine} and id = $id returning ${columns}`,
)

export const findSegment = statement.tenant<One, SegmentRow>(
  'customers.find_segment',
  `select ${columns} from customers.segments where ${mine} and id = $id`,
)

/** Newest segment with a name. */
export const findNamedSegment = statement.tenant<Tenant & { name: string }, SegmentRow>(
  'customers.find_named_segment',
  `select ${columns} from customers.segments where ${mine} and name = $name order by id desc limit 1`,
)

export const listSegments = statement.tenant<Tenant & Window, SegmentRow>(
  'customers.list_segments',
  `select ${columns} from customers.segments
    where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id limit $limit::int + 1`,
)

/** Members of a list that are customers; returns them. */
export const insertMembers = statement.tenant<One & { customers: readonly string[] }, { customer_id: string }>(
  'customers.insert_segment_members',
  `insert into customers.segment_members (bucket, account_id, environment, segment_id, customer_id)
   select distinct $bucket::smallint, $account::uuid, $environment::text, $id::uuid, coalesce(c.merged_into, c.id)
     from customers.customers c
    where c.bucket = $bucket and c.account_id = $account and c.environment = $environment and c.id = any($customers::uuid[])
   on conflict do nothing returning customer_id`,
)

export const deleteMembers = statement.tenant<One, object>(
  'customers.delete_segment_members',
  `delete from customers.segment_members where ${mine} and segment_id = $id`,
)

/** Moves the place of a customer in lists to another, in two steps: rows that the other has already stay behind. */
export const moveMembers = statement.tenant<Tenant & { from: string; into: string }, object>(
  'customers.move_segment_members',
  `with gone as (
     delete from customers.segment_members where ${mine} and customer_id = $from::uuid returning segment_id)
   insert into customers.segment_members (bucket, account_id, environment, segment_id, customer_id)
   select $bucket::smallint, $account::uuid, $environment::text, g.segment_id, $into::uuid from gone g on conflict do nothing`,
)

type Asked = Tenant & { filter: string | null; segment: string | null; at: Date }

/** Slices by which the size of an account is told, of 1,024. */
export const firstSlices = 8

/** Customers in the first slices of an account. Their number is written out: the index has the first 256 only. */
export const countSlices = statement.tenant<Tenant, { count: number }>(
  'customers.count_slices',
  `select count(*)::int as count from customers.customers
    where ${mine} and merged_into is null and (uuid_hash(id) & 1023) < ${firstSlices}`,
)

/** Customers of a segment: in slices from one to before another, or all of them. */
export const countSegment = statement.tenant<
  Asked & { from: number | null; to: number | null; most: number },
  { count: number }
>(
  'customers.count_segment',
  `select customers.count_segment($bucket::smallint, $account::uuid, $environment::text, $filter::jsonb, $segment::uuid,
     $at::timestamptz, $from::int, $to::int, $most::int) as count`,
)

export const segmentPage = statement.tenant<
  Asked & { after: string | null; descending: boolean; most: number },
  { id: string }
>(
  'customers.segment_page',
  `select p.id from customers.segment_page($bucket::smallint, $account::uuid, $environment::text, $filter::jsonb, $segment::uuid,
     $at::timestamptz, $after::uuid, $descending::boolean, $most::int) p(id)`,
)
