// SPDX-License-Identifier: Apache-2.0
// Segments: who is in one, and how many.
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable, sqlState } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Filter } from './filter.ts'
import {
  countSegment,
  countSlices,
  findNamedSegment,
  findSegment,
  firstSlices,
  type SegmentRow,
  segmentPage,
} from './store.ts'

/** Segments are counted exactly up to here. */
export const maxExact = 10_000
const allSlices = 1_024
/** Accounts up to this size are read whole. The samples of larger ones are in the first fifth of the slices, which an index has. */
const maxReadWhole = 50_000
/** Customers of a larger account that are looked at, all in all, step by step until an estimate is good. */
const samples = [1_000, 4_000, 10_000] as const
/** Customers of a sample after which an estimate is good, mostly by a twentieth. */
const enoughSeen = 1_600
/** Customers of a sample after which an estimate that takes long is good enough, mostly by a fifth. */
const fewSeen = 100
/** Time of an estimate from which on it takes long. */
const longMs = 150
/** Estimate up to which a segment is tried to be counted exactly. */
const maxTried = maxExact * 1.5
/** Sample by which that is decided. */
const triedFrom = 4_000
/** Time for an exact count in a large account, which a condition without an index may not do with. */
const exactMs = 100
const wholeMs = 30_000
/** Limit of a count that has none. */
const everybody = 2_000_000_000
const timedOut = '57014'

/** Customers that are asked for: a filter, or the list of a segment. */
export interface Audience {
  readonly filter: Filter | null
  readonly segment: string | null
}

export interface Counted {
  readonly count: number
  /** An estimate is within so many of the count, in 19 of 20 cases; null for a count that is exact. */
  readonly margin: number | null
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
  const exactly = async (most: number, statementTimeoutMs: number): Promise<number> => {
    const all = { ...asked, from: null, to: null, most }
    const { count } = await app.db.tx(tenant, (tx) => one(tx.query(countSegment, all)), { statementTimeoutMs })
    return count
  }
  if (isWhole) return { count: await exactly(everybody, wholeMs), margin: null }
  const { bucket, account, environment } = tenant
  const { count: first } = await one(app.db.query(countSlices, { bucket, account, environment }))
  const customers = first * (allSlices / firstSlices)
  if (customers <= maxReadWhole || audience.filter === null)
    return { count: await exactly(everybody, wholeMs), margin: null }
  const startMs = performance.now()
  let [seen, slices] = [0, 0]
  let few: number | null = null
  let isTried = false
  const isRare = () => slices > 0 && (seen * allSlices) / slices <= maxTried
  for (const size of samples) {
    const to = Math.max(slices + 1, Math.round((size / customers) * allSlices))
    const takesMs = ((performance.now() - startMs) / Math.max(1, slices)) * to
    if (seen >= enoughSeen || (seen >= fewSeen && takesMs > longMs)) break
    isTried = size > triedFrom && isRare()
    // A rare one is tried to be counted exactly, beside the step that is needed where this takes too long.
    const [more, exact] = await Promise.all([
      one(app.db.query(countSegment, { ...asked, from: slices, to, most: everybody })),
      isTried ? maybeExact(() => exactly(maxExact + 1, exactMs)) : null,
    ])
    few = exact
    seen += more.count
    slices = to
  }
  // Also where the sample was left for the time it takes: an index may tell who is in it.
  if (!isTried && isRare()) few = await maybeExact(() => exactly(maxExact + 1, exactMs))
  if (few !== null && few <= maxExact) return { count: few, margin: null }
  const each = allSlices / slices
  // No less than were counted before the limit of exact counts.
  return { count: Math.max(Math.round(seen * each), few ?? 0), margin: Math.ceil(2 * Math.sqrt(seen + 1) * each) }
}

/** Null for a count that takes too long. */
async function maybeExact(count: () => Promise<number>): Promise<number | null> {
  try {
    return await count()
  } catch (error) {
    if (sqlState(error) === timedOut) return null
    throw error
  }
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
