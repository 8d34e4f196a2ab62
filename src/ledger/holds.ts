// SPDX-License-Identifier: Apache-2.0
// Holds of a wallet in order, with their outcome. They are ordered by the ids of their sources, so that they can be
// shown among the wallet's movements.
import type { Currency } from '../kernel/money.ts'
import { type Queryable, statement } from '../platform/db.ts'
import { mine, type Tenant } from '../platform/tenant.ts'

/** Holds read for a page, of any currency. */
const scanRows = 10_000

export interface Hold {
  /** The UUID of what the money is set aside for. */
  id: string
  step: string
  micros: bigint
  capturedMicros: bigint
  releasedMicros: bigint
  /** `captured`: all or a part was paid; the rest, if any, was given back. */
  status: 'open' | 'captured' | 'released'
}

interface HoldRow {
  source_id: string
  step: string
  amount: bigint
  captured: bigint
  released: bigint
  open: boolean
  shown: boolean
  is_last: boolean
}

interface Parameters {
  bucket: number
  account: string
  environment: string
  currency: string
  from: string
  to: string
  scan: number
  limit: number
}

const newestFirst = pageStatement('ledger.holds_newest_first', 'desc')
const oldestFirst = pageStatement('ledger.holds_oldest_first', 'asc')

function pageStatement(name: string, direction: 'asc' | 'desc') {
  return statement.tenant<{ [K in keyof Parameters]: Parameters[K] }, HoldRow>(
    name,
    `select h.source_id, h.step, h.amount, h.captured, h.released, h.open, h.currency = $currency as shown,
            h.place = $scan::int as is_last
       from (select s.*, row_number() over (order by s.source_id ${direction}, s.step ${direction}) as place
               from (select * from ledger.holds
                      where ${mine} and source_id >= $from::uuid and source_id < $to::uuid
                      order by source_id ${direction}, step ${direction}
                      limit $scan::int) s) h
      where h.currency = $currency or h.place = $scan
      order by h.place
      limit $limit::int + 1`,
  )
}

/** A page of a wallet's holds in one currency: ids from `from` on and below `to`. `next` is where the next page begins. */
export async function holdsOf(
  queryable: Queryable,
  tenant: Tenant,
  currency: Currency,
  { from, to, descending, limit }: { from: string; to: string; descending: boolean; limit: number },
): Promise<{ holds: Hold[]; next: string | null }> {
  const rows = await queryable.query(descending ? newestFirst : oldestFirst, {
    ...tenant,
    currency,
    from,
    to,
    scan: scanRows,
    limit,
  })
  const last = rows.length > limit ? rows[limit - 1] : rows.find((row) => row.is_last)
  const holds = rows.slice(0, limit).filter(({ shown }) => shown)
  return { holds: holds.map(holdOf), next: last?.source_id ?? null }
}

function holdOf({ source_id, step, amount, captured, released, open }: HoldRow): Hold {
  const status = open ? 'open' : captured > 0n ? 'captured' : 'released'
  return { id: source_id, step, micros: amount, capturedMicros: captured, releasedMicros: released, status }
}
