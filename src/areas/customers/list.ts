// SPDX-License-Identifier: Apache-2.0
// Lists of customers by what they are searched for.
import { numberInQuery } from '../../kernel/phone.ts'
import type { Queryable } from '../../platform/db.ts'
import { timeWindow, type Window } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { ownerOf } from './addresses.ts'
import { type Audience, audienceOf, pageOfAudience, segmentWith } from './segments/segment.ts'
import { type AddressKind, type CustomerRow, listCustomers, searchCustomers } from './store.ts'

export interface CustomerFilter {
  readonly phone?: string
  readonly email?: string
  readonly external_id?: string
  readonly tag?: string
  readonly q?: string
  readonly seen_after?: string
}

/** Customers of a segment that are looked at together where another filter leaves some out. */
const lookedAt = 1_000

/** Customers of a segment and a window that match every other filter given. */
export async function listedInSegment(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  { segment, at, ...filter }: CustomerFilter & { readonly segment: string; readonly at: Date },
): Promise<CustomerRow[]> {
  return listedIn(queryable, tenant, window, audienceOf(await segmentWith(queryable, tenant, segment)), at, filter)
}

async function listedIn(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  audience: Audience,
  at: Date,
  filter: CustomerFilter,
): Promise<CustomerRow[]> {
  const found: CustomerRow[] = []
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const most = isFiltered ? lookedAt : window.limit + 1
  let { after } = window
  for (;;) {
    const place = { after, descending: window.descending, most }
    const ids = await pageOfAudience(queryable, tenant, audience, at, place)
    found.push(...(await listedCustomers(queryable, tenant, window, filter, ids)))
    after = ids.at(-1) ?? null
    if (found.length > window.limit || ids.length < most) return found.slice(0, window.limit + 1)
  }
}

/** Customers of a window that match every filter given. */
export async function listedCustomers(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: CustomerFilter,
  among: readonly string[] | null = null,
): Promise<CustomerRow[]> {
  const { tag, q, seen_after } = filter
  const owners = await named(queryable, tenant, filter)
  const ids = owners === null || among === null ? (owners ?? among) : owners.filter((id) => among.includes(id))
  if (ids?.length === 0) return []
  // In the order of a list all customers would be read for a tag that few have.
  if (tag !== undefined && ids === null && q === undefined) {
    const audience = { filter: { field: 'tags', op: 'eq', value: tag }, segment: null }
    return listedIn(queryable, tenant, window, audience, new Date(0), seen_after === undefined ? {} : { seen_after })
  }
  const seenAfter = seen_after === undefined ? null : timeWindow({ from: seen_after }).from
  const asked = { ...tenant, ...window, ids, tag: tag?.toLowerCase() ?? null, seenAfter }
  if (q === undefined) return queryable.query(listCustomers, asked)
  const words = q.toLowerCase().split(/[^\p{L}\p{N}\p{M}]+/u)
  return queryable.query(searchCustomers, {
    ...asked,
    words: words.flatMap((word) => (word === '' ? [] : `${word}:*`)).join(' & '),
    begins: numberInQuery(q).toLowerCase(),
  })
}

/** Customers that the filters name by an address; null where none does. */
async function named(queryable: Queryable, tenant: Tenant, filter: CustomerFilter): Promise<string[] | null> {
  const { phone, email, external_id } = filter
  const asked: [AddressKind, string | undefined][] = [
    ['phone', phone && numberInQuery(phone)],
    ['email', email?.toLowerCase()],
    ['external', external_id],
  ]
  let found: string[] | null = null
  for (const [kind, address] of asked) {
    if (address === undefined) continue
    const owner = await ownerOf(queryable, tenant, kind, address)
    found = owner === null || (found !== null && !found.includes(owner)) ? [] : [owner]
  }
  return found
}
