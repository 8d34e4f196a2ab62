// SPDX-License-Identifier: Apache-2.0
// Segments: who is in one, and how many.
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable, sqlState } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Filter } from './filter.ts'
import { countSegment, countSlices, findNamedSegment, findSegment, type SegmentRow, segmentPage } from './store.ts'

/** Segments are counted exactly up to here. */
export const maxExact = 10_000
const allSlices = 1_024
/** Slices by which the size of an account is told. */
const firstSlices = 4
/** Accounts up to this size are read whole. */
const maxReadWhole = 50_000
/** Customers of a larger account that are looked at: a few for a segment that many are in, more for others. */
const samples = [4_000, 10_000] as const
/** Customers of a sample after which an estimate is good: by a twentieth, mostly. */
const enoughSeen = 400
/** Estimate of the first sample, which is mostly good by a tenth, up to which a segment is tried to be counted exactly. */
const maxTried = maxExact * 1.5
/** Time for an exact count in a large account, which a condition without an index may not do with. */
const exactMs = 150
const wholeMs = 30_000
const timedOut = '57014'

/** Customers that are asked for: a filter, or the list of a segment. */
export interface Audience {
  readonly filter: Filter | null
  readonly segment: string | null
}

export interface Counted {
  readonly count: number
  readonly isEstimated: boolean
}

/** Reads a segment. Throws NOT_FOUND. */
export async function segmentWith(queryable: Queryable, tenant: Tenant, id: string): Promise<SegmentRow> {
  const uuid = uuidOf('segment', id)
  const row = uuid === null ? null : await maybe(queryable.query(findSegment, { ...tenant, id: uuid }))
  if (row === null) throw new AppError('NOT_FOUND', 'there is no such segment; the ids of segments begin with seg_')
  return row
}

/** Reads a segment by its id or its name. Throws NOT_FOUND. */
export async function segmentNamed(queryable: Queryable, tenant: Tenant, name: string): Promise<SegmentRow> {
  const named = await maybe(queryable.query(findNamedSegment, { ...tenant, name }))
  return named ?? segmentWith(queryable, tenant, name)
}

export function audienceOf({ id, filter }: SegmentRow): Audience {
  return { filter, segment: filter === null ? id : null }
}

/** Counts an audience: exactly up to 10,000 customers, or all of them if asked to. */
export async function countAudience(
  app: App,
  tenant: Tenant,
  audience: Audience,
  at: Date,
  isWhole = false,
): Promise<Counted> {
  const asked = { ...tenant, ...written(audience), at }
  const exactly = async (most: number, statementTimeoutMs: number) =>
    (
      await app.db.tx(tenant, (tx) => one(tx.query(countSegment, { ...asked, slices: null, most })), {
        statementTimeoutMs,
      })
    ).count
  if (isWhole) return { count: await exactly(2_000_000_000, wholeMs), isEstimated: false }
  const { count: first } = await one(app.db.query(countSlices, { ...tenant, slices: firstSlices }))
  const customers = first * (allSlices / firstSlices)
  if (customers <= maxReadWhole || audience.filter === null) {
    const count = await exactly(maxReadWhole * 2, wholeMs)
    return { count, isEstimated: count === maxReadWhole * 2 }
  }
  const sampled = async (size: number): Promise<{ seen: number; estimated: number }> => {
    const slices = Math.max(1, Math.round((size / customers) * allSlices))
    const { count: seen } = await one(app.db.query(countSegment, { ...asked, slices, most: size * 10 }))
    return { seen, estimated: Math.round((seen * allSlices) / slices) }
  }
  const quick = await sampled(samples[0])
  if (quick.estimated <= maxTried) {
    const count = await exactly(maxExact + 1, exactMs).catch((error: unknown) => {
      if (sqlState(error) === timedOut) return null
      throw error
    })
    if (count !== null && count <= maxExact) return { count, isEstimated: false }
  }
  const { estimated } = quick.seen >= enoughSeen ? quick : await sampled(samples[1])
  return { count: estimated, isEstimated: true }
}

/** Ids of an audience in their order, after one. */
export async function pageOfAudience(
  queryable: Queryable,
  tenant: Tenant,
  audience: Audience,
  at: Date,
  { after, descending, most }: { after: string | null; descending: boolean; most: number },
): Promise<string[]> {
  const rows = await queryable.query(segmentPage, { ...tenant, ...written(audience), at, after, descending, most })
  return rows.map(({ id }) => id)
}

function written({ filter, segment }: Audience): { filter: string | null; segment: string | null } {
  return { filter: filter === null ? null : JSON.stringify(filter), segment }
}
