// SPDX-License-Identifier: Apache-2.0
// The price list as areas and operators meet it: which price wins, and how soon a change is known everywhere.
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { createTestDatabase } from '../../test/database.ts'
import { eventually, patienceMs } from '../../test/eventually.ts'
import { runs } from '../../test/properties.ts'
import { AppError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import type { PriceQuery } from '../platform/app.ts'
import { Signals } from '../platform/nodes/signals.ts'
import { announcePrices, listPrices, type NewPrice, PriceBook, packPrices, removePrice, setPrice } from './prices.ts'

const database = await createTestDatabase(['platform', 'ledger'])
const db = database.connect()
after(() => database.drop())

const atMs = Date.parse('2026-03-01T12:00:00Z')
const patient = { timeout: patienceMs() }
const silent = { warn: () => undefined }
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const [ada, ben] = [newUuid(atMs), newUuid(atMs)]

const segment: NewPrice = {
  area: 'sms',
  unit: 'segment',
  country: null,
  network: null,
  account: null,
  money: { micros: 1_000_000n, currency: 'KES' },
  effectiveFrom: new Date(0),
}
const asked: PriceQuery = {
  area: 'sms',
  unit: 'segment',
  currency: 'KES',
  account: ada,
  country: 'KE',
  network: '63902',
  atMs,
}

test('the most exact price in force wins, and of equally exact ones the latest', async () => {
  const places = [
    { country: null, network: null },
    { country: 'KE', network: null },
    { country: 'KE', network: '63902' },
    { country: 'KE', network: '63903' },
    { country: 'UG', network: '63902' },
  ]
  const anyPrice = fc.record({
    area: fc.constantFrom('sms', 'voice'),
    unit: fc.constantFrom('segment', 'minute'),
    account: fc.constantFrom(null, null, ada, ben),
    place: fc.constantFrom(...places),
    currency: fc.constantFrom('KES' as const, 'UGX' as const),
    fromHour: fc.integer({ min: 0, max: 8 }),
    isRemoved: fc.boolean(),
  })
  const anyQuery = fc.record({
    area: fc.constantFrom('sms', 'voice', 'email'),
    unit: fc.constantFrom('segment', 'minute'),
    account: fc.constantFrom(ada, ben),
    place: fc.constantFrom(
      {},
      { country: 'KE' },
      { country: 'KE', network: '63902' },
      { country: 'UG', network: '63902' },
      { country: 'TZ' },
      { network: '63902' },
    ),
    currency: fc.constantFrom('KES' as const, 'UGX' as const),
    atHour: fc.integer({ min: -1, max: 9 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyPrice, { maxLength: 60 }),
      fc.array(anyQuery, { minLength: 20, maxLength: 40 }),
      async (made, queries) => {
        await database.sql('truncate ledger.prices')
        const prices = new Map<string, NewPrice>()
        const book = new PriceBook({ db, signals: new Signals(db), log: silent })
        // The first reading is of the list, the others of what changed since.
        for (const part of [made.slice(0, made.length / 3), made.slice(made.length / 3)]) {
          await db.acrossTx(async (tx) => {
            for (const [i, { area, unit, account, place, currency, fromHour, isRemoved }] of part.entries()) {
              const effectiveFrom = new Date(atMs + fromHour * 3_600_000)
              const price = { area, unit, account, ...place, money: { micros: BigInt(i), currency }, effectiveFrom }
              const key = JSON.stringify([area, unit, account, place, currency, fromHour])
              const { id } = await setPrice(tx, price, atMs)
              prices.set(key, price)
              if (!isRemoved) continue
              await removePrice(tx, id)
              prices.delete(key)
            }
          })
          await book.refresh()
        }
        for (const { area, unit, account, place, currency, atHour } of queries) {
          const query: PriceQuery = { area, unit, account, currency, ...place, atMs: atMs + atHour * 3_600_000 }
          assert.deepEqual(book.quote(query), bestOf([...prices.values()], query), JSON.stringify(query))
        }
      },
    ),
    { numRuns: runs(15) },
  )
})

test('a long list takes little memory, and reading it leaves the event loop to others', async () => {
  const rows = await manyPrices()
  const book = new PriceBook({ db, signals: new Signals(db), log: silent })
  let [isOver, turns] = [false, 0]
  const takeTurns = async () => {
    for (; !isOver; turns++) await turn()
  }
  const before = bytesInUse()
  const taken = takeTurns()
  await book.refresh()
  isOver = true
  await taken
  assert.ok(turns >= rows / 1_000, `the event loop turned ${turns} times`)
  // What the connection read is given back a little later.
  await eventually(async () => (bytesInUse() - before) / rows < 150, 'at most 150 bytes for each price')
  for (const network of ['1', '700', '5000', '5001', `${rows}`])
    assert.equal(book.quote({ ...asked, network })?.micros, BigInt(network))
  assert.equal(book.quote({ ...asked, network: '0' }), null)
})

test('after a change what changed is read, and not the list', async () => {
  await manyPrices()
  const book = new PriceBook({ db, signals: new Signals(db), log: silent })
  await book.refresh()
  await db.acrossTx((tx) => setPrice(tx, { ...segment, country: 'KE', network: '700' }, atMs))
  await behindTheBack(5)
  await book.refresh()
  assert.equal(book.quote({ ...asked, network: '700' })?.micros, 1_000_000n)
  assert.equal(book.quote({ ...asked, network: '701' })?.micros, 701n)
})

test('a start reads the list as it was packed and what changed since, or every price where too much has', async (t) => {
  await manyPrices()
  // Prices of one thing in several pages, and names that are in another order in UTF-16.
  const names = ['many', 'é', '\uffee', '😀']
  await database.sql(
    `insert into ledger.prices (id, area, unit, country, network, currency, amount, effective_from)
     select gen_random_uuid(), 'sms', 'segment', 'KE', name, 'KES', n, to_timestamp(n)
       from generate_series(1, 1200) n, unnest($1::text[]) name`,
    [names],
  )
  t.after(() => database.sql('truncate ledger.price_pages'))
  await packPrices(db)
  assert.deepEqual(await quotedAtStart(...names), [1_200, 1_200, 1_200, 1_200])
  await db.acrossTx((tx) => setPrice(tx, { ...segment, country: 'KE', network: '0' }, atMs))
  await database.sql(`delete from ledger.prices where network = '2'`)
  await behindTheBack(5)
  assert.deepEqual(await quotedAtStart('1', '500', '501', '701', '30000'), [1, 500, 501, 701, 30_000])
  assert.deepEqual(await quotedAtStart('0', '2'), [1_000_000, null])
  // Two changes are too few to pack it again for, unless one of them is a removed price that is forgotten.
  await packPrices(db)
  assert.deepEqual(await quotedAtStart('701', '2'), [701, null])
  await database.sql(`update ledger.removed_prices set removed_at = now() - interval '8 days'`)
  await packPrices(db)
  assert.deepEqual(await quotedAtStart('701', '0', '2'), [5, 1_000_000, null])
  const removed = async () => (await database.sql('select from ledger.removed_prices')).length
  assert.equal(await removed(), 1, 'a node that has just read the pages before is told of it')
  await packPrices(db)
  assert.equal(await removed(), 0)
  await behindTheBack(6)
  await database.sql('update ledger.price_pages set revision = revision - 6000')
  assert.deepEqual(await quotedAtStart('701', '2'), [6, null])
})

/** Another amount for network 701 which no revision tells of: only who reads each price sees it. */
async function behindTheBack(amount: number): Promise<void> {
  await database.sql('alter table ledger.prices disable trigger user')
  await database.sql(`update ledger.prices set amount = ${amount} where network = '701'`)
  await database.sql('alter table ledger.prices enable trigger user')
}

async function quotedAtStart(...networks: string[]): Promise<(number | null)[]> {
  const book = new PriceBook({ db, signals: new Signals(db), log: silent })
  await book.refresh()
  return networks.map((network) => {
    const money = book.quote({ ...asked, network })
    return money && Number(money.micros)
  })
}

async function manyPrices(): Promise<number> {
  const rows = 30_000
  await database.sql('truncate ledger.prices')
  await database.sql(
    `insert into ledger.prices (id, area, unit, country, network, currency, amount, effective_from)
     select gen_random_uuid(), 'sms', 'segment', 'KE', n::text, 'KES', n, 'epoch' from generate_series(1, ${rows}) n`,
  )
  return rows
}

function bytesInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('a price set twice for the same moment has the second amount and keeps its id', async () => {
  await database.sql('truncate ledger.prices')
  const forAda = { ...segment, account: ada, country: 'KE', network: '63902' }
  const first = await db.acrossTx((tx) => setPrice(tx, forAda, atMs))
  const second = await db.acrossTx((tx) => setPrice(tx, { ...forAda, money: { micros: 0n, currency: 'KES' } }, atMs))
  const everybody = await db.acrossTx((tx) => setPrice(tx, { ...forAda, account: null }, atMs))
  assert.deepEqual(second, { ...first, money: { micros: 0n, currency: 'KES' } })
  assert.notEqual(everybody.id, first.id)
  assert.deepEqual(await db.acrossTx((tx) => removePrice(tx, first.id)), second)
  assert.equal(await db.acrossTx((tx) => removePrice(tx, first.id)), null)
  assert.deepEqual(await listPrices(db, { limit: 10, order: 'asc' }), [everybody])
})

test('a price of a network without its country is refused, because nothing would ever find it', async () => {
  const lost = db.acrossTx((tx) => setPrice(tx, { ...segment, network: '63902' }, atMs))
  await assert.rejects(lost, (error) => error instanceof AppError && error.code === 'VALIDATION_ERROR')
})

test('an operator pages through the list in both directions and by area and country', async () => {
  await database.sql('truncate ledger.prices')
  const made: string[] = []
  for (const country of ['KE', 'UG', 'KE', 'TZ', 'KE'])
    for (const area of ['sms', 'voice'])
      made.push(
        (
          await db.acrossTx((tx) =>
            setPrice(tx, { ...segment, area, country, effectiveFrom: new Date(made.length) }, atMs),
          )
        ).id,
      )
  const pages = async (order: 'asc' | 'desc', wanted: { area?: string; country?: string }): Promise<string[]> => {
    const seen: string[] = []
    for (;;) {
      const afterId = seen.at(-1)
      const page = await listPrices(db, { ...wanted, ...(afterId === undefined ? {} : { afterId }), limit: 2, order })
      if (page.length === 0) return seen
      seen.push(...page.map(({ id }) => id))
    }
  }
  assert.deepEqual(await pages('asc', {}), made)
  assert.deepEqual(await pages('desc', {}), made.toReversed())
  assert.deepEqual(await pages('asc', { area: 'sms', country: 'KE' }), [made[0], made[4], made[8]])
})

test('a price change is known on another node as soon as it is announced', patient, async (t) => {
  const { book } = await startedBook(t)
  assert.equal(book.quote(asked), null)
  const { id } = await db.acrossTx(async (tx) => {
    const price = await setPrice(tx, segment, atMs)
    await announcePrices(tx, new Signals(db))
    return price
  })
  await until(() => book.quote(asked)?.micros === 1_000_000n)
  await db.acrossTx(async (tx) => {
    await removePrice(tx, id)
    await announcePrices(tx, new Signals(db))
  })
  await until(() => book.quote(asked) === null)
})

test('a price change that was announced while the line was cut is known once it is back', patient, async (t) => {
  const { book } = await startedBook(t)
  await db.acrossTx((tx) => setPrice(tx, segment, atMs))
  await database.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'listen pamoja'`,
  )
  await until(() => book.quote(asked)?.micros === 1_000_000n)
})

test('a price change that nobody announced is known after the next regular reading', patient, async (t) => {
  const { book } = await startedBook(t, 20)
  await db.acrossTx((tx) => setPrice(tx, segment, atMs))
  await until(() => book.quote(asked)?.micros === 1_000_000n)
})

test('while the list cannot be read the prices in memory stay in force', patient, async (t) => {
  const { book, warnings } = await startedBook(t, 20)
  await db.acrossTx((tx) => setPrice(tx, segment, atMs))
  await book.refresh()
  await database.sql('alter table ledger.prices rename to prices_away')
  try {
    await assert.rejects(book.refresh())
    await until(() => warnings.length > 0)
    assert.equal(book.quote(asked)?.micros, 1_000_000n)
  } finally {
    await database.sql('alter table ledger.prices_away rename to prices')
  }
  await book.refresh()
})

test('a refresh asked for during another one sees what was committed before it was asked for', async (t) => {
  const { book } = await startedBook(t)
  const early = book.refresh()
  await db.acrossTx((tx) => setPrice(tx, segment, atMs))
  await Promise.all([book.refresh(), book.refresh()])
  assert.equal(book.quote(asked)?.micros, 1_000_000n)
  await early
})

/** The rules of the price list, as slowly as they can be said. */
function bestOf(
  prices: readonly NewPrice[],
  { area, unit, currency, account, country, network, atMs: whenMs }: PriceQuery,
): NewPrice['money'] | null {
  const exactness = (price: NewPrice): number => (price.account ? 4 : 0) + (price.network ? 2 : price.country ? 1 : 0)
  const fitting = prices.filter(
    (price) =>
      price.area === area &&
      price.unit === unit &&
      price.money.currency === currency &&
      (price.account === null || price.account === account) &&
      (price.country === null || price.country === country) &&
      (price.network === null || price.network === network) &&
      price.effectiveFrom.getTime() <= whenMs,
  )
  fitting.sort((a, b) => exactness(b) - exactness(a) || b.effectiveFrom.getTime() - a.effectiveFrom.getTime())
  return fitting[0]?.money ?? null
}

async function startedBook(t: TestContext, refreshMs = 3_600_000): Promise<{ book: PriceBook; warnings: string[] }> {
  await database.sql('truncate ledger.prices')
  const warnings: string[] = []
  const signals = new Signals(db)
  const book = new PriceBook({
    db,
    signals,
    log: { warn: (...words: unknown[]) => void warnings.push(String(words.at(-1))) },
    refreshMs,
  })
  await signals.start()
  await book.start()
  t.after(async () => {
    await book.stop()
    await signals.stop()
  })
  return { book, warnings }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}
