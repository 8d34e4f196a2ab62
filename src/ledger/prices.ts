// SPDX-License-Identifier: Apache-2.0
// Price list, kept in memory because every message needs it. What changed is read when another node signals a change,
// when signals may have been lost, and once a minute in any case; the whole list once a day. A start reads pages of it that
// were kept, and what changed since.
import { AppError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { isCurrency, type Money } from '../kernel/money.ts'
import { dayMs } from '../kernel/time.ts'
import type { PriceQuery, PriceSource } from '../platform/app.ts'
import { type Database, maybe, one, type Queryable, statement, type Tx } from '../platform/db.ts'
import { Followed } from '../platform/nodes/followed.ts'
import type { Signals } from '../platform/nodes/signals.ts'
import type { Logger } from '../platform/telemetry/log.ts'
import { type Page, PriceList } from './price-list.ts'

const defaultRefreshMs = 60_000
/** Changes read and taken over at a time: a few milliseconds of the event loop. */
const changesAtOnce = 250
/** Prices in a page of the list: less than a socket gives at once, so that reading many of them copies nothing twice. */
const pageRows = 500
/** Changes since the pages were packed: after so many they are packed again, and beyond so many a start reads the whole list. */
const [enoughToPack, maxSincePacked] = [1_000, 5_000n]
/** Changes since the whole list was read, beyond which it is read again: they take more memory than the list. */
const maxChanges = 20_000
/** Time after which the whole list is read again. */
const wholeMs = dayMs
/** Removed prices are kept for nodes that have not read of them yet. */
const removedDays = 7
/** Longer lists still work; the operator hears that each node keeps all of it. */
const expectedRows = 200_000

/** Price of one unit from a moment on: everywhere, in a country or network, for all accounts or for one. */
export interface Price {
  /** UUID. */
  id: string
  area: string
  unit: string
  country: string | null
  /** Always within a country. */
  network: string | null
  /** UUID. */
  account: string | null
  money: Money
  effectiveFrom: Date
  createdAt: Date
}

export type NewPrice = Omit<Price, 'id' | 'createdAt'>

interface PriceRow {
  id: string
  area: string
  unit: string
  country: string
  network: string
  account_id: string | null
  currency: string
  amount: bigint
  effective_from: Date
  created_at: Date
}

const columns = 'id, area, unit, country, network, account_id, currency, amount, effective_from, created_at'

/** Change of the list; without an amount the price was removed. */
interface ChangeRow extends Omit<PriceRow, 'id' | 'amount' | 'created_at'> {
  revision: bigint
  amount: bigint | null
}

const changeColumns = 'revision, area, unit, country, network, account_id, currency, effective_from'

const selectChanges = statement.home<{ after: bigint; limit: number }, ChangeRow>(
  'ledger.price_changes',
  `(select ${changeColumns}, amount from ledger.prices
     where revision > $after::bigint order by revision limit $limit::int)
    union all
   (select ${changeColumns}, null::bigint as amount from ledger.removed_prices
     where revision > $after::bigint order by revision limit $limit::int)
    order by revision limit $limit::int`,
)

const selectLastRevision = statement.home<object, { revision: bigint }>(
  'ledger.last_price_revision',
  `select greatest((select max(revision) from ledger.prices), (select max(revision) from ledger.removed_prices), 0) as revision`,
)

const selectWhole = statement.home<{ pageRows: number }, Page>(
  'ledger.whole_price_list',
  'select rows, lines from ledger.paged_prices($pageRows::int) order by number',
)

const selectPacked = statement.home<object, Page & { revision: bigint }>(
  'ledger.packed_prices',
  'select revision, rows, lines from ledger.price_pages order by number',
)

const pack = statement.home<{ pageRows: number; enough: number; removedDays: number }, object>(
  'ledger.pack_prices',
  'select from ledger.pack_prices($pageRows::int, $enough::int, $removedDays::int)',
)

type PageParameters = { area: string | null; country: string | null; after: string | null; limit: number }

const selectNewestFirst = statement.home<PageParameters, PriceRow>('ledger.prices_newest_first', page('<', 'desc'))

const selectOldestFirst = statement.home<PageParameters, PriceRow>('ledger.prices_oldest_first', page('>', 'asc'))

const upsertPrice = statement.home<
  {
    id: string
    area: string
    unit: string
    country: string
    network: string
    account: string | null
    currency: string
    amount: bigint
    effectiveFrom: Date
  },
  PriceRow
>(
  'ledger.set_price',
  `insert into ledger.prices (id, area, unit, country, network, account_id, currency, amount, effective_from)
   values ($id, $area, $unit, $country, $network, $account, $currency, $amount, $effectiveFrom)
   on conflict (area, unit, country, network, currency, effective_from,
                coalesce(account_id, '00000000-0000-0000-0000-000000000000'))
     do update set amount = excluded.amount
   returning ${columns}`,
)

const selectPrice = statement.home<{ id: string }, PriceRow>(
  'ledger.find_price',
  `select ${columns} from ledger.prices where id = $id`,
)

const selectInForce = statement.home<
  {
    area: string
    unit: string
    currency: string
    account: string | null
    country: string
    network: string
    at: Date
  },
  PriceRow
>(
  'ledger.price_in_force',
  `select ${columns} from ledger.prices
    where area = $area and unit = $unit and currency = $currency and effective_from <= $at
      and (account_id is null or account_id = $account::uuid) and country in ('', $country) and network in ('', $network)
    order by account_id is null, network = '', country = '', effective_from desc limit 1`,
)

const deletePrice = statement.home<{ id: string }, PriceRow>(
  'ledger.remove_price',
  `delete from ledger.prices where id = $id returning ${columns}`,
)

/** A page of the price list. `afterId` is the id of the last row already seen. */
export async function listPrices(
  queryable: Queryable,
  wanted: { area?: string; country?: string; afterId?: string; limit: number; order: 'asc' | 'desc' },
): Promise<Price[]> {
  const { area = null, country = null, afterId: after = null, limit, order } = wanted
  const select = order === 'desc' ? selectNewestFirst : selectOldestFirst
  return (await queryable.query(select, { area, country, after, limit })).map(priceOf)
}

/** A price of the list; null when there is none with this UUID. */
export async function findPrice(queryable: Queryable, id: string): Promise<Price | null> {
  const row = await maybe(queryable.query(selectPrice, { id }))
  return row && priceOf(row)
}

/** The price of another unit of the same thing when this one comes into force, as `quote` would give it then; null without one. */
export async function priceBeside(queryable: Queryable, price: NewPrice, unit: string): Promise<Price | null> {
  const { area, country, network, account, money, effectiveFrom: at } = price
  const named = { area, unit, currency: money.currency, account, country: country ?? '', network: network ?? '', at }
  const row = await maybe(queryable.query(selectInForce, named))
  return row && priceOf(row)
}

/** Adds a price; one for the same thing from the same moment on gets the new amount. Announce it in the same transaction. */
export async function setPrice(tx: Tx, price: NewPrice, atMs: number): Promise<Price> {
  const { area, unit, country, network, account, money, effectiveFrom } = price
  if (network && !country) throw new AppError('VALIDATION_ERROR', 'network: country is required with network')
  const row = await one(
    tx.query(upsertPrice, {
      id: newUuid(atMs),
      area,
      unit,
      country: country ?? '',
      network: network ?? '',
      account,
      currency: money.currency,
      amount: money.micros,
      effectiveFrom,
    }),
  )
  return priceOf(row)
}

/** Takes a price off the list and gives it; null when there is none with this UUID. Announce it in the same transaction. */
export async function removePrice(tx: Tx, id: string): Promise<Price | null> {
  const row = await maybe(tx.query(deletePrice, { id }))
  return row && priceOf(row)
}

/** Tells every node to read the price list again, once the transaction is committed. Once per transaction is enough. */
export async function announcePrices(tx: Tx, signals: Signals): Promise<void> {
  await signals.send(tx, 'prices', 'changed')
}

/** Packs the list for starts where enough of it has changed, and deletes what is kept of removed prices once every node has read it. */
export async function packPrices(db: Database): Promise<void> {
  await db.query(pack, { pageRows, enough: enoughToPack, removedDays })
}

export interface PriceBookOptions {
  db: Database
  signals: Signals
  log: Pick<Logger, 'warn'>
  refreshMs?: number
}

export class PriceBook implements PriceSource {
  readonly #db: Database
  readonly #log: Pick<Logger, 'warn'>
  readonly #followed: Followed
  #list: PriceList | null = null
  /** Last change taken over, and how many were since the whole list was read. */
  #revision = 0n
  #changes = 0
  #wholeAtMs = Number.NEGATIVE_INFINITY

  constructor({ db, signals, log, refreshMs = defaultRefreshMs }: PriceBookOptions) {
    this.#db = db
    this.#log = log
    this.#followed = new Followed(
      { signals, log },
      { topic: 'prices', everyMs: refreshMs, what: 'price list', load: () => this.#load() },
    )
  }

  /** Reads the list for the first time and keeps it fresh from then on. */
  start(): Promise<void> {
    return this.#followed.start()
  }

  stop(): Promise<void> {
    return this.#followed.stop()
  }

  /**
   * Price of a unit at a moment; null when none is set. The most specific price in force wins: the account's own, then
   * network before country before everywhere, then the latest.
   */
  quote(query: PriceQuery): Money | null {
    return this.#list?.inForce(query)?.money ?? null
  }

  /** Time at which the price that `quote` gives came into force. */
  inForceSince(query: PriceQuery): Date | null {
    const entry = this.#list?.inForce(query)
    return entry ? new Date(entry.fromMs) : null
  }

  refresh(): Promise<void> {
    return this.#followed.read()
  }

  async #load(): Promise<void> {
    const nowMs = performance.now()
    if (this.#list === null || nowMs - this.#wholeAtMs >= wholeMs || this.#changes > maxChanges) {
      // What changes while the pages are read is taken over as a change.
      const { revision } = await one(this.#db.query(selectLastRevision, {}))
      const packed = this.#list === null ? await this.#packed(revision) : null
      this.#list = packed?.list ?? (await this.#whole())
      ;[this.#revision, this.#changes, this.#wholeAtMs] = [packed?.revision ?? revision, 0, nowMs]
    }
    await this.#takeOver(this.#list)
  }

  /** List as it was packed; null where it never was, or too much has changed since. */
  async #packed(last: bigint): Promise<{ list: PriceList; revision: bigint } | null> {
    const pages = await this.#db.query(selectPacked, {})
    const revision = pages[0]?.revision
    if (revision === undefined || last - revision > maxSincePacked) return null
    return { list: this.#listOf(pages), revision }
  }

  async #whole(): Promise<PriceList> {
    return this.#listOf(await this.#db.query(selectWhole, { pageRows }))
  }

  #listOf(pages: readonly Page[]): PriceList {
    const rows = pages.reduce((sum, page) => sum + page.rows, 0)
    if (rows > expectedRows)
      this.#log.warn({ rows }, 'price list is very long and every node keeps it in memory: remove old prices')
    return new PriceList(pages)
  }

  /** Takes over what changed since the last time, in its order. */
  async #takeOver(list: PriceList): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const changes = await this.#db.query(selectChanges, { after: this.#revision, limit: changesAtOnce })
      for (const { account_id, effective_from, amount, ...priced } of changes)
        list.change({ ...priced, account: account_id ?? '' }, Number(effective_from), amount)
      this.#revision = changes.at(-1)?.revision ?? this.#revision
      this.#changes += changes.length
      isLast = changes.length < changesAtOnce
    }
  }
}

function priceOf(row: PriceRow): Price {
  return {
    id: row.id,
    area: row.area,
    unit: row.unit,
    country: row.country || null,
    network: row.network || null,
    account: row.account_id,
    money: moneyOf(row),
    effectiveFrom: row.effective_from,
    createdAt: row.created_at,
  }
}

function moneyOf({ amount, currency }: Pick<PriceRow, 'amount' | 'currency'>): Money {
  if (!isCurrency(currency)) throw new Error(`the price list holds an unknown currency: ${currency}`)
  return { micros: amount, currency }
}

function page(beyond: '<' | '>', direction: 'asc' | 'desc'): string {
  return `select ${columns} from ledger.prices
    where ($area::text is null or area = $area) and ($country::text is null or country = $country)
      and ($after::uuid is null or id ${beyond} $after::uuid)
    order by id ${direction} limit $limit::int`
}
