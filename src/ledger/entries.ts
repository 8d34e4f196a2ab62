// SPDX-License-Identifier: Apache-2.0
// A wallet's movements in order, each with the balance after it. The order is that of their ids, and a balance is the sum
// of everything up to its row: the rows and the balance they are reckoned from are read in one statement, so that both are
// of the same moment.
import { firstUuidAt, timeOfUuid } from '../kernel/ids.ts'
import type { Currency } from '../kernel/money.ts'
import { dayMs } from '../kernel/time.ts'
import { type Queryable, statement } from '../platform/db.ts'
import { mine, type Tenant } from '../platform/tenant.ts'
import { mark, settledMs } from './rollups.ts'

/** Transfers read for a page; a page may be shorter than asked for when too few of them match. */
const scanRows = 10_000
/** The last millisecond that a UUIDv7 can name. */
const lastMs = 2 ** 48 - 1

/** Type of a movement, and the condition by which it is recognised. The first match counts. */
const kinds = {
  usage_sms: `t.credit = 'revenue:sms'`,
  usage_messenger: `t.credit = 'revenue:messenger'`,
  usage_email: `t.credit = 'revenue:email'`,
  usage_voice: `t.credit = 'revenue:voice'`,
  usage_ussd: `t.credit = 'revenue:ussd'`,
  usage_identity: `t.credit = 'revenue:identity'`,
  payout: `t.step like 'payout:settle%' and t.debit = 'wallet'`,
  payout_fee: `t.step like 'payout:fee%' and t.debit = 'wallet'`,
  payout_reversal: `t.reverses like 'payout:%'`,
  refund: `t.step like 'refund:%'`,
  dispute: `t.step in ('dispute:capture', 'dispute:rest') or t.step like 'dispute:owed:%'`,
  usage_reversal: `t.debit like 'revenue:%'`,
  topup: `t.step = 'topup:settle'`,
  payment: `t.step in ('payment:settle', 'invoice:settle', 'payment:release', 'invoice:release')`,
  adjustment: 'true',
} as const

export type EntryType = keyof typeof kinds

export const entryTypes = [
  'usage_sms',
  'usage_messenger',
  'usage_email',
  'usage_voice',
  'usage_ussd',
  'usage_identity',
  'payout',
  'payout_fee',
  'payout_reversal',
  'refund',
  'dispute',
  'usage_reversal',
  'topup',
  'payment',
  'adjustment',
] as const satisfies EntryType[]

/** A movement of money into a wallet, or out of it. */
export interface Entry {
  id: string
  sourceId: string
  /** The account on the other side, such as `revenue:sms`. */
  counter: string
  type: EntryType
  /** Below zero: out of the wallet. */
  micros: bigint
  balanceAfterMicros: bigint
  description: string | null
}

/** Window of a page: ids below `to`, or from `from` on. `openingMicros` is the balance there, if known. */
export interface EntryWindow {
  from: string
  to: string
  descending: boolean
  openingMicros: bigint | null
  limit: number
  type: EntryType | null
}

/** Start of the next page, and the balance there if it is final. */
interface NextEntries {
  id: string
  openingMicros: bigint | null
}

type Parameters = {
  bucket: number
  account: string
  environment: string
  currency: string
  from: string
  to: string
  nextDay: string
  opening: bigint | null
  type: string | null
  scan: number
  limit: number
}

interface EntryRow {
  id: string
  source_id: string
  counter: string
  type: EntryType
  effect: bigint
  balance_after: bigint
  description: string | null
  shown: boolean
  is_last: boolean
}

/** Source of a movement: where payouts share the hold of a batch, the payout that the step names. */
const source = `case when t.step like 'payout:%' then coalesce(substring(t.step from '[0-9a-f-]{36}')::uuid, t.source_id)
                                 else t.source_id end`

const newestFirst = pageStatement('ledger.entries_newest_first', 'desc')
const oldestFirst = pageStatement('ledger.entries_oldest_first', 'asc')

/**
 * The balance below an id is what the wallet holds less what came from that id on: the rest of its day and what is not
 * rolled up yet by transfer, the days between by their sums.
 */
function pageStatement(name: string, direction: 'asc' | 'desc') {
  const anchor = direction === 'desc' ? '$to' : '$from'
  const tenant = (alias: string) =>
    `${alias}.bucket = $bucket and ${alias}.account_id = $account and ${alias}.environment = $environment`
  const wallets = (alias: string) => `${alias}.currency = $currency and 'wallet' in (${alias}.debit, ${alias}.credit)`
  const effect = (alias: string) =>
    `case when ${alias}.credit = 'wallet' then ${alias}.amount else -${alias}.amount end`
  const type = Object.entries(kinds).map(([kind, holds]) => `when ${holds} then '${kind}'`)
  return statement.tenant<Parameters, EntryRow>(
    name,
    `with known as (select ${mark} as mark),
          opening as (select coalesce($opening::bigint, (
            coalesce((select w.balance from ledger.wallets w where ${tenant('w')} and w.currency = $currency), 0)
            - coalesce((select sum(${effect('r')}) from ledger.rollups r
                         where ${tenant('r')} and ${wallets('r')} and r.day > ledger.day_of(${anchor}::uuid)), 0)
            - coalesce((select sum(${effect('t')}) from ledger.transfers t
                         where ${tenant('t')} and ${wallets('t')} and t.id >= ${anchor}::uuid
                           and t.id < least((select k.mark from known k), $nextDay::uuid)), 0)
            - coalesce((select sum(${effect('t')}) from ledger.transfers t
                         where ${tenant('t')} and ${wallets('t')}
                           and t.id >= greatest((select k.mark from known k), ${anchor}::uuid)), 0))::bigint) as micros)
     select e.id, e.source_id, e.counter, e.type, e.effect, e.description, e.is_mine and e.is_wanted as shown,
            e.place = $scan::int as is_last,
            ((select o.micros from opening o) ${direction === 'desc' ? '- e.running + e.effect' : '+ e.running'})::bigint as balance_after
       from (select s.*, $type::text is null or s.type = $type as is_wanted,
                    sum(s.effect) over (order by s.id ${direction} rows unbounded preceding) as running,
                    row_number() over (order by s.id ${direction}) as place
               from (select t.id, ${source} as source_id, t.description, case when t.debit = 'wallet' then t.credit else t.debit end as counter,
                            ${wallets('t')} as is_mine, case ${type.join(' ')} end as type,
                            case when ${wallets('t')} then ${effect('t')} else 0 end as effect
                       from ledger.transfers t
                      where ${tenant('t')} and t.id >= $from::uuid and t.id < $to::uuid
                      order by t.id ${direction}
                      limit $scan::int) s) e
      where (e.is_mine and e.is_wanted) or e.place = $scan
      order by e.id ${direction}
      limit $limit::int + 1`,
  )
}

/** A page of a wallet's movements in one currency. */
export async function entriesOf(
  queryable: Queryable,
  tenant: Tenant,
  currency: Currency,
  { from, to, descending, openingMicros, limit, type }: EntryWindow,
  nowMs: number,
): Promise<{ entries: Entry[]; next: NextEntries | null }> {
  const anchor = descending ? to : from
  const rows = await queryable.query(descending ? newestFirst : oldestFirst, {
    ...tenant,
    currency,
    from,
    to,
    nextDay: nextDayOf(anchor),
    opening: openingMicros,
    type,
    scan: scanRows,
    limit,
  })
  const last = rows.length > limit ? rows[limit - 1] : rows.find((row) => row.is_last)
  return {
    entries: rows
      .slice(0, limit)
      .filter(({ shown }) => shown)
      .map(entryOf),
    next: last ? nextAfter(last, descending, nowMs) : null,
  }
}

const movementOf = statement.tenant<Tenant & { source: string; step: string }, { id: string }>(
  'ledger.movement_of',
  `select id from ledger.transfers
    where ${mine} and source_id = $source and step = $step
      and 'wallet' in (debit, credit)
    order by id limit 1`,
)

/** Balance after a step that moved money, as the list of movements shows it; null when the step was not taken. */
export async function balanceAfter(
  queryable: Queryable,
  tenant: Tenant,
  currency: Currency,
  { sourceId: source, step }: { sourceId: string; step: string },
): Promise<bigint | null> {
  const [found] = await queryable.query(movementOf, { ...tenant, source, step })
  if (!found) return null
  const atMs = timeOfUuid(found.id).getTime()
  const itself = {
    from: found.id,
    to: firstUuidAt(atMs + 1),
    descending: false,
    openingMicros: null,
    limit: 1,
    type: null,
  }
  const { entries } = await entriesOf(queryable, tenant, currency, itself, atMs)
  return entries[0]?.balanceAfterMicros ?? null
}

function entryOf({ id, source_id, counter, type, effect, balance_after, description }: EntryRow): Entry {
  return { id, sourceId: source_id, counter, type, micros: effect, balanceAfterMicros: balance_after, description }
}

/** A balance in the last minutes may still change: a transaction that is open now may bring a row with an older id. */
function nextAfter({ id, effect, balance_after }: EntryRow, descending: boolean, nowMs: number): NextEntries {
  const isSettled = id < firstUuidAt(nowMs - settledMs)
  return { id, openingMicros: isSettled ? (descending ? balance_after - effect : balance_after) : null }
}

/** The first id of the day after an id's. */
function nextDayOf(id: string): string {
  const nextMs = (Math.floor(timeOfUuid(id).getTime() / dayMs) + 1) * dayMs
  return firstUuidAt(Math.min(nextMs, lastMs))
}
