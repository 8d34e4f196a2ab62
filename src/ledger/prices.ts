// SPDX-License-Identifier: Apache-2.0
// Price list, kept in memory because every message needs it. What changed is read when another node signals a change,
// when signals may have been lost, and once a minute in any case; the whole list at the start and once a day. It is read
// in pages: a list of 100,000 prices in one go would keep the event loop for seconds.
import { AppError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { isCurrency, type Money } from '../kernel/money.ts'
import { dayMs } from '../kernel/time.ts'
import type { PriceQuery, PriceSource } from '../platform/app.ts'
import { type Database, maybe, one, type Queryable, statement, type Tx } from '../platform/db.ts'
import { Followed } from '../platform/nodes/followed.ts'
import type { Signals } from '../platform/nodes/signals.ts'
import type { Logger } from '../platform/telemetry/log.ts'

const defaultRefreshMs = 60_000
/** Changes read and taken over at a time: a few milliseconds of the event loop. */
const pageRows = 250
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

const forgetRemoved = statement.home<{ days: number }, object>(
  'ledger.forget_removed_prices',
  `delete from ledger.removed_prices where removed_at < now() - $days::int * interval '1 day'`,
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

/** Deletes what is kept of removed prices once every node has read it. */
export async function forgetRemovedPrices(db: Database): Promise<void> {
  await db.query(forgetRemoved, { days: removedDays })
}

/** Prices of one thing for everybody or for one account, each list newest first. */
interface Tariff {
  anywhere: Entry[]
  countries: Map<string, { anyNetwork: Entry[]; networks: Map<string, Entry[]> }>
}

interface Entry {
  fromMs: number
  money: Money
}

/** Area, unit, currency, account; the account is an empty text for everybody. */
type Tariffs = Map<string, Map<string, Map<string, Map<string, Tariff>>>>

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
  #tariffs: Tariffs = new Map()
  /** Last change taken over. */
  #revision = 0n
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
    return this.#entry(query)?.money ?? null
  }

  /** Time at which the price that `quote` gives came into force. */
  inForceSince(query: PriceQuery): Date | null {
    const entry = this.#entry(query)
    return entry && new Date(entry.fromMs)
  }

  #entry({ area, unit, currency, account, country = '', network = '', atMs }: PriceQuery): Entry | null {
    const accounts = this.#tariffs.get(area)?.get(unit)?.get(currency)
    if (!accounts) return null
    return inForce(accounts.get(account), country, network, atMs) ?? inForce(accounts.get(''), country, network, atMs)
  }

  refresh(): Promise<void> {
    return this.#followed.read()
  }

  async #load(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - this.#wholeAtMs < wholeMs) {
      for await (const changes of this.#changes(this.#revision)) this.#revision = takeOver(this.#tariffs, changes)
      return
    }
    const tariffs: Tariffs = new Map()
    let [revision, rows] = [0n, 0]
    for await (const changes of this.#changes(0n)) {
      revision = takeOver(tariffs, changes)
      rows += changes.length
    }
    if (rows > expectedRows)
      this.#log.warn({ rows }, 'price list is very long and every node keeps it in memory: remove old prices')
    this.#tariffs = tariffs
    this.#revision = revision
    this.#wholeAtMs = nowMs
  }

  /** Changes after a revision, a page at a time, in their order. */
  async *#changes(after: bigint): AsyncGenerator<readonly ChangeRow[]> {
    for (let last: bigint | undefined = after; last !== undefined; ) {
      const changes: readonly ChangeRow[] = await this.#db.query(selectChanges, { after: last, limit: pageRows })
      if (changes.length > 0) yield changes
      last = changes.length < pageRows ? undefined : changes.at(-1)?.revision
    }
  }
}

function inForce(tariff: Tariff | undefined, country: string, network: string, atMs: number): Entry | null {
  if (!tariff) return null
  const local = tariff.countries.get(country)
  return latest(local?.networks.get(network), atMs) ?? latest(local?.anyNetwork, atMs) ?? latest(tariff.anywhere, atMs)
}

/** Almost always the first or second entry: the ones before it are announced for later. */
function latest(entries: readonly Entry[] | undefined, atMs: number): Entry | null {
  if (entries) for (const entry of entries) if (entry.fromMs <= atMs) return entry
  return null
}

/** Takes over changes in their order; gives the revision of the last. */
function takeOver(tariffs: Tariffs, changes: readonly ChangeRow[]): bigint {
  let revision = 0n
  for (const change of changes) {
    const entries = entriesFor(tariffs, change)
    const fromMs = Number(change.effective_from)
    const at = entries.findIndex((entry) => entry.fromMs <= fromMs)
    const isKnown = entries[at]?.fromMs === fromMs
    const { amount, currency } = change
    const added = amount === null ? [] : [{ fromMs, money: moneyOf({ amount, currency }) }]
    entries.splice(at < 0 ? entries.length : at, isKnown ? 1 : 0, ...added)
    revision = change.revision
  }
  return revision
}

function entriesFor(
  tariffs: Tariffs,
  { area, unit, currency, account_id, country, network }: Omit<ChangeRow, 'revision'>,
): Entry[] {
  const units = child(tariffs, area, () => new Map())
  const currencies = child(units, unit, () => new Map())
  const accounts = child(currencies, currency, () => new Map())
  const tariff = child(accounts, account_id ?? '', () => ({ anywhere: [], countries: new Map() }))
  if (country === '') return tariff.anywhere
  const local = child(tariff.countries, country, () => ({ anyNetwork: [], networks: new Map() }))
  return network === '' ? local.anyNetwork : child(local.networks, network, () => [])
}

function child<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
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
