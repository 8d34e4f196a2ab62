// SPDX-License-Identifier: Apache-2.0
// Routes of segments.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, noContent, type Route, read, write } from '../../../platform/api/route.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { At, listQuery, Nullable } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { checkedFilter, filterFields } from './filter.ts'
import { audienceOf, type Counted, countAudience, maxExact, segmentWith } from './segment.ts'
import {
  deleteMembers,
  deleteSegment,
  insertMembers,
  insertSegment,
  listSegments,
  type SegmentRow,
  updateSegment,
} from './store.ts'

const maxMembers = 10_000

const FilterIn = Type.Record(Type.String(), Type.Unknown(), {
  rule: 'must be an object with and, or, not, or with field, op and value',
  description: `Tree of {and: […]}, {or: […]}, {not: …} and conditions {field, op, value}, at most 20. Fields are ${filterFields.join(', ')}; operators eq, in, lt, lte, gt, gte, within_days and exists`,
})

const fields = {
  name: Type.String({
    ...{ minLength: 1, maxLength: 100, rule: 'must have 1 to 100 characters' },
    description: 'Name of the segment',
  }),
  filter: Type.Optional(FilterIn),
  customer_ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 40 }), {
      ...{ maxItems: maxMembers, rule: `must be a list of at most ${maxMembers} customers` },
      description: 'Customer ids of a fixed list, instead of a filter; unknown ones are left out',
    }),
  ),
}

const SegmentIn = Type.Object(fields)
const SegmentChange = Type.Object({ ...fields, name: Type.Optional(fields.name) })

const Segment = Type.Object(
  {
    id: Type.String({ description: 'Id of the segment, such as `seg_…`' }),
    name: Type.String({ description: 'Name of the segment' }),
    filter: Nullable(Type.Record(Type.String(), Type.Unknown()), { description: 'Filter; null for a fixed list' }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'Segment' },
)

const Count = Type.Object(
  {
    count: Type.Integer({ description: 'Customers in the segment' }),
    estimated: Type.Boolean({ description: `True if the count is an estimate, as it is above ${maxExact}` }),
    margin: Type.Integer({
      description: 'The count is right within this number, in 19 of 20 estimates; 0 if it is exact',
    }),
  },
  { title: 'SegmentCount' },
)

const vips = {
  name: 'Regulars in Kenya',
  filter: {
    and: [
      { field: 'country', op: 'eq', value: 'KE' },
      {
        or: [
          { field: 'tags', op: 'eq', value: 'vip' },
          { field: 'attributes.visits', op: 'gte', value: 10 },
        ],
      },
      { field: 'consent.sms', op: 'eq', value: 'granted' },
    ],
  },
}

const create = write({
  method: 'POST',
  path: '/v1/segments',
  operation: 'segments.create',
  summary: 'Create a segment',
  description:
    'Creates a segment from a filter, whose members change with the customers, or from a fixed list of customers.',
  scope: 'customers:write',
  body: SegmentIn,
  reply: { status: 201, schema: Segment, location: ({ id }) => `/v1/segments/${id}` },
  errors: ['SEGMENT_INVALID'],
  examples: [{ name: 'By a filter', body: vips }],
  handle: async (_app, tx, { body }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    requireOne(body)
    const id = newUuid(receivedMs)
    const filter = body.filter === undefined ? null : JSON.stringify(checkedFilter(body.filter))
    const row = await one(tx.query(insertSegment, { ...tenant, id, name: body.name, filter, at: new Date(nowMs) }))
    await addMembers(tx, caller, id, body.customer_ids)
    await record(tx, caller, 'segment.create', idOf('segment', id))
    return shown(row)
  },
})

const listAll = list({
  path: '/v1/segments',
  operation: 'segments.list',
  summary: 'List segments',
  scope: 'customers:read',
  query: Type.Object(listQuery),
  row: Segment,
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listSegments, { ...tenant, ...window }), shown)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/segments/:id',
  operation: 'segments.get',
  summary: 'Get a segment',
  scope: 'customers:read',
  params: IdParam,
  reply: { status: 200, schema: Segment },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => shown(await segmentWith(app.db, tenant, params.id)),
})

const change = write({
  method: 'PATCH',
  path: '/v1/segments/:id',
  operation: 'segments.update',
  summary: 'Update a segment',
  description:
    'A list of customers replaces the previous one, or the filter. Campaigns that have started keep their audience.',
  scope: 'customers:write',
  params: IdParam,
  body: SegmentChange,
  reply: { status: 200, schema: Segment },
  errors: ['NOT_FOUND', 'SEGMENT_INVALID'],
  examples: [{ name: 'Another filter', body: { filter: { field: 'tags', op: 'eq', value: 'vip' } } }],
  handle: async (_app, tx, { params, body }, caller) => {
    const { tenant, nowMs } = caller
    const before = await segmentWith(tx, tenant, params.id)
    const { id } = before
    if (body.filter !== undefined || body.customer_ids !== undefined) requireOne(body)
    const filter =
      body.customer_ids !== undefined ? null : body.filter === undefined ? before.filter : checkedFilter(body.filter)
    const row = await one(
      tx.query(updateSegment, {
        ...{ ...tenant, id, name: body.name ?? before.name, at: new Date(nowMs) },
        filter: filter === null ? null : JSON.stringify(filter),
      }),
    )
    if (body.filter !== undefined || body.customer_ids !== undefined) await tx.query(deleteMembers, { ...tenant, id })
    await addMembers(tx, caller, id, body.customer_ids)
    await record(tx, caller, 'segment.update', idOf('segment', id))
    return shown(row)
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/segments/:id',
  operation: 'segments.delete',
  summary: 'Delete a segment',
  description: 'The customers of the segment are not deleted.',
  scope: 'customers:write',
  params: IdParam,
  reply: noContent,
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const { id } = await segmentWith(tx, caller.tenant, params.id)
    await tx.query(deleteMembers, { ...caller.tenant, id })
    await tx.query(deleteSegment, { ...caller.tenant, id })
    await record(tx, caller, 'segment.delete', idOf('segment', id))
    return {}
  },
})

const count = read({
  method: 'GET',
  path: '/v1/segments/:id/count',
  operation: 'segments.count',
  summary: 'Count the customers of a segment',
  description: `Exact up to ${maxExact} customers, then estimated. With \`exact=true\` all are counted, which takes seconds in a large account.`,
  scope: 'customers:read',
  params: IdParam,
  query: Type.Object({
    exact: Type.Optional(Type.Boolean({ rule: 'must be true or false', description: 'True returns an exact count' })),
  }),
  reply: { status: 200, schema: Count },
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, { tenant, nowMs }) => {
    const audience = audienceOf(await segmentWith(app.db, tenant, params.id))
    return told(await countAudience(app, tenant, audience, new Date(nowMs), query.exact))
  },
})

const tryFilter = read({
  method: 'POST',
  path: '/v1/segments/count',
  operation: 'segments.countFilter',
  summary: 'Count the customers of a filter',
  description: 'Counts the customers that match a filter, without storing it.',
  scope: 'customers:read',
  body: Type.Object({ filter: FilterIn }),
  reply: { status: 200, schema: Count },
  errors: ['SEGMENT_INVALID'],
  examples: [{ name: 'Customers in Kenya', body: { filter: { field: 'country', op: 'eq', value: 'KE' } } }],
  handle: async (app, { body }, { tenant, nowMs }) => {
    const audience = { filter: checkedFilter(body.filter), segment: null }
    return told(await countAudience(app, tenant, audience, new Date(nowMs)))
  },
})

function told({ count, margin }: Counted): Static<typeof Count> {
  return { count, estimated: margin !== null, margin: margin ?? 0 }
}

function requireOne({ filter, customer_ids }: Static<typeof SegmentChange>): void {
  if ((filter === undefined) === (customer_ids === undefined))
    throw invalid('filter', 'is required, or customer_ids; not both')
}

async function addMembers(tx: Tx, { tenant }: Caller, id: string, given: readonly string[] | undefined): Promise<void> {
  if (given === undefined) return
  const customers = given.flatMap((one) => uuidOf('customer', one) ?? [])
  if (customers.length < given.length)
    throw new AppError('VALIDATION_ERROR', 'customer_ids must be ids of customers, which begin with cus_')
  await tx.query(insertMembers, { ...tenant, id, customers })
}

function shown({ id, name, filter, created_at, updated_at }: SegmentRow): Static<typeof Segment> {
  return { id: idOf('segment', id), name, filter: filter && { ...filter }, created_at, updated_at }
}

export const segmentRoutes: readonly Route[] = [create, listAll, tryFilter, get, change, remove, count]
