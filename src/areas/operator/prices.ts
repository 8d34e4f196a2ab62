// SPDX-License-Identifier: Apache-2.0
// Prices, set by the operator: in force on the answering node at once, on the others when the signal reaches them.
import { type Static, Type } from 'typebox'
import { allCountries } from '../../kernel/countries.ts'
import { AppError, invalid, invalidAt } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import { formatMicros, microDecimals, parseAmount } from '../../kernel/money.ts'
import { parseMoment } from '../../kernel/time.ts'
import { currencyTaken } from '../../ledger/currencies.ts'
import {
  announcePrices,
  findPrice,
  listPrices,
  type NewPrice,
  type Price,
  priceBeside,
  removePrice,
  setPrice,
} from '../../ledger/prices.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, list, type Route, read, writeAcross } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { type Queryable, statement, type Tx } from '../../platform/db.ts'
import {
  Amount,
  AmountIn,
  At,
  CountryOrAll,
  CurrencyCode,
  Deleted,
  listQuery,
  Moment,
  Nullable,
} from '../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../platform/schema/lists.ts'

export const maxImportRows = 10_000

const Word = (description: string) =>
  Type.String({
    pattern: '^[a-z][a-z0-9_.-]{0,39}$',
    rule: 'must have 1 to 40 small letters, digits, _, . or -',
    description,
  })

const PriceRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the price, such as `prc_…`' }),
    area: Type.String({ description: 'Product area, such as `sms`' }),
    unit: Type.String({ description: 'Priced unit, such as `segment`' }),
    country: Nullable(Type.String({ description: 'Destination country, ISO 3166; null: everywhere' })),
    network: Nullable(Type.String({ description: 'Network within the country; null: all of them' })),
    account_id: Nullable(Type.String({ description: 'Id of the account that it applies to; null: all accounts' })),
    amount: Amount({ description: 'Price per unit, to a millionth' }),
    currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
    effective_from: At({ description: 'Time from which it applies' }),
    created_at: At({ description: 'Time it was set' }),
  },
  { title: 'Price' },
)

export const PriceSet = Type.Object({
  area: Word('Product area: sms, messenger, email, voice, ussd, identity, payments or payouts'),
  unit: Word(
    'Priced unit: `segment` of sms, `minute` of voice, `mobile_money.percent` of payments; an unknown one is refused with a list of the known ones',
  ),
  country: Type.Optional(CountryOrAll({ description: 'Destination country; default everywhere' })),
  network: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, description: 'Network within the country; default every network' }),
  ),
  account_id: Type.Optional(
    Type.String({ maxLength: 60, description: 'Id of the account that it applies to, `acc_…`; default all accounts' }),
  ),
  amount: AmountIn({ description: 'Price per unit, to a millionth; at most 10000000' }),
  currency: CurrencyCode({ description: 'Currency of the amount' }),
  effective_from: Type.Optional(Moment({ description: 'Time from which it applies; default at once' })),
})

const strangers = statement.home<{ accounts: readonly string[] }, { account: string }>(
  'operator.accounts_that_are_none',
  'select a.id as account from unnest($accounts::uuid[]) a(id) where accounts.plan_of(a.id) is null',
)

export const ImportReply = Type.Object(
  { imported: Type.Integer({ description: 'Number of prices that were set' }) },
  { title: 'PriceImport' },
)

const listAll = list({
  path: '/v1/operator/prices',
  operation: 'operator.listPrices',
  summary: 'List prices',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    area: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Product area: sms, messenger, email, voice, ussd, identity, payments or payouts',
      }),
    ),
    country: Type.Optional(CountryOrAll({ description: 'Filter by country; prices for everywhere have none' })),
  }),
  row: PriceRecord,
  examples: [{ name: 'Prices of SMS', query: { area: 'sms' } }],
  handle: async ({ db }, { query }) => {
    const window = windowOf(query)
    const rows = await listPrices(db, {
      limit: window.limit + 1,
      order: window.descending ? 'desc' : 'asc',
      ...(window.after ? { afterId: window.after } : {}),
      ...(query.area === undefined ? {} : { area: query.area }),
      ...(query.country === undefined ? {} : { country: query.country }),
    })
    return pageOf(window, rows, priceRecord)
  },
})

const set = writeAcross({
  method: 'POST',
  path: '/v1/operator/prices',
  operation: 'operator.setPrice',
  summary: 'Set a price',
  description:
    'The most specific price applies: for the account, then the network, then the country. Setting an existing one changes its amount.',
  scope: 'operator',
  body: PriceSet,
  reply: { status: 201, schema: PriceRecord, location: ({ id }) => `/v1/operator/prices/${id}` },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY'],
  examples: [
    { name: 'A segment in Kenya', body: { area: 'sms', unit: 'segment', country: 'KE', amount: 0.8, currency: 'KES' } },
  ],
  handle: async (app, tx, { body }, caller) => {
    const wanted = newPrice(app, body, caller.receivedMs, '')
    if ((await ofNobody(tx, [wanted])).length > 0) throw noSuchAccount('')
    const price = await store(app, tx, wanted, caller)
    const problem = await boundsProblem(tx, price)
    if (problem !== null) throw invalidAt('amount', problem)
    await announcePrices(tx, app.signals)
    return priceRecord(price)
  },
  follow: answerKnowing,
})

const get = read({
  method: 'GET',
  path: '/v1/operator/prices/:id',
  operation: 'operator.getPrice',
  summary: 'Get a price',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: PriceRecord },
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params }) => {
    const uuid = uuidOf('price', params.id)
    const found = uuid && (await findPrice(db, uuid))
    if (!found) throw noSuchPrice()
    return priceRecord(found)
  },
})

const importAll = writeAcross({
  method: 'POST',
  path: '/v1/operator/prices/import',
  operation: 'operator.importPrices',
  summary: 'Import prices from JSON',
  scope: 'operator',
  bodyLimitBytes: 10 * 1024 * 1024,
  body: Type.Object({
    prices: Type.Array(PriceSet, {
      minItems: 1,
      maxItems: maxImportRows,
      rule: `must list 1 to ${maxImportRows} prices`,
      description: 'Prices, each with the fields of a single one',
    }),
  }),
  reply: { status: 200, schema: ImportReply },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY', 'PAYLOAD_TOO_LARGE'],
  examples: [
    {
      name: 'Two networks',
      body: {
        prices: [
          { area: 'sms', unit: 'segment', country: 'KE', network: 'Safaricom', amount: 0.7, currency: 'KES' },
          { area: 'sms', unit: 'segment', country: 'KE', network: 'Airtel', amount: 0.75, currency: 'KES' },
        ],
      },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const prices = body.prices.map((price, i) => newPrice(app, price, caller.receivedMs, `prices[${i}].`))
    const [stray] = await ofNobody(tx, prices)
    if (stray) throw noSuchAccount(`prices[${prices.indexOf(stray)}].`)
    for (const price of prices) await store(app, tx, price, caller)
    for (const [i, price] of prices.entries()) {
      const problem = await boundsProblem(tx, price)
      if (problem !== null) throw invalidAt(`prices[${i}].amount`, problem)
    }
    await announcePrices(tx, app.signals)
    return { imported: body.prices.length }
  },
  follow: answerKnowing,
})

const remove = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/prices/:id',
  operation: 'operator.removePrice',
  summary: 'Remove a price',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const uuid = uuidOf('price', params.id)
    const removed = uuid && (await removePrice(tx, uuid))
    if (!removed) throw noSuchPrice()
    await record(tx, caller, 'price.remove', params.id, { before: auditable(removed) })
    await announcePrices(tx, app.signals)
    return { id: params.id, deleted: true as const }
  },
  follow: answerKnowing,
})

/**
 * Reloads prices, so that the caller's next request has the new ones. A failure is ignored: they are stored in any case.
 */
export async function knowPrices({ prices }: App): Promise<void> {
  await prices.refresh().catch(() => undefined)
}

async function answerKnowing<Reply>(app: App, _input: object, _caller: Caller, reply: Reply): Promise<Reply> {
  await knowPrices(app)
  return reply
}

function noSuchPrice(): AppError {
  return new AppError('NOT_FOUND', 'there is no such price; price ids begin with prc_')
}

export async function store(app: App, tx: Tx, wanted: NewPrice, caller: Caller): Promise<Price> {
  const price = await setPrice(tx, wanted, app.clock.nowMs())
  await record(tx, caller, 'price.set', idOf('price', price.id), { after: auditable(price) })
  return price
}

/** Highest price: the cost of ten thousand long texts still fits into a sum. */
const maxAmount = 10_000_000
const maxMicros = BigInt(maxAmount) * 10n ** BigInt(microDecimals)

/** Areas whose prices are fees on an amount, with its least and most. */
const moneyAreas = ['payments', 'payouts']
const wholeMicros = 100n * 10n ** BigInt(microDecimals)

/** Problem of prices whose least amount exceeds the most. Prices set in one request are checked once all are stored. */
export async function boundsProblem(tx: Tx, price: NewPrice): Promise<string | null> {
  const [, way, bound] = /^(.+)\.(min|max)$/.exec(price.unit) ?? []
  if (way === undefined || !moneyAreas.includes(price.area)) return null
  const other = await priceBeside(tx, price, `${way}.${bound === 'min' ? 'max' : 'min'}`)
  if (!other) return null
  const [min, max] = bound === 'min' ? [price, other] : [other, price]
  if (min.money.micros <= max.money.micros) return null
  const [least, most] = [min, max].map(({ money }) => formatMicros(money.micros))
  return `nothing could be paid: ${min.unit} would be ${least}, and ${max.unit} ${most}`
}

/** `place` stands before the names of fields that are wrong. */
export function newPrice(app: App, input: Static<typeof PriceSet>, nowMs: number, place: string): NewPrice {
  const micros = parseAmount(input.amount, microDecimals)
  if (typeof micros !== 'bigint') throw invalid(`${place}amount`, micros.problem)
  if (micros > maxMicros) throw invalid(`${place}amount`, `must be at most ${maxAmount}`)
  if (moneyAreas.includes(input.area) && input.unit.endsWith('.percent') && micros > wholeMicros)
    throw invalid(`${place}amount`, 'must be a percentage of at most 100')
  const currency = currencyTaken(app, input.currency, `${place}currency`)
  const account = input.account_id === undefined ? null : uuidOf('account', input.account_id)
  if (input.account_id !== undefined && account === null) throw noSuchAccount(place)
  requireCharged(app, input, place)
  if (input.country === allCountries && input.area !== 'payments')
    throw invalid(`${place}country`, `is ${allCountries} only for payments by card; leave it out for all countries`)
  if (input.network !== undefined && input.country === undefined) throw invalid(`${place}network`, 'requires country')
  return {
    area: input.area,
    unit: input.unit,
    country: input.country ?? null,
    network: input.network ?? null,
    account,
    money: { micros, currency },
    effectiveFrom: (input.effective_from === undefined ? null : parseMoment(input.effective_from)) ?? new Date(nowMs),
  }
}

/** A price that nothing is charged by would be taken for one that is in force. */
function requireCharged({ charges }: App, { area, unit }: Static<typeof PriceSet>, place: string): void {
  const units = charges.get(area)
  if (!units) throw invalid(`${place}area`, `has no charges; available: ${[...charges.keys()].join(', ')}`)
  if (!units.includes(unit)) throw invalid(`${place}unit`, `is not a unit of ${area}; available: ${units.join(', ')}`)
}

/** Prices whose account does not exist. */
export async function ofNobody(queryable: Queryable, prices: readonly NewPrice[]): Promise<NewPrice[]> {
  const accounts = [...new Set(prices.flatMap(({ account }) => account ?? []))]
  if (accounts.length === 0) return []
  const none = new Set((await queryable.query(strangers, { accounts })).map(({ account }) => account))
  return prices.filter(({ account }) => account !== null && none.has(account))
}

export function noSuchAccount(place: string): AppError {
  return invalid(`${place}account_id`, 'must be the id of an account, which begins with acc_')
}

function priceRecord({ id, area, unit, country, network, account, money, effectiveFrom, createdAt }: Price) {
  return {
    id: idOf('price', id),
    area,
    unit,
    country,
    network,
    account_id: account && idOf('account', account),
    amount: money.micros,
    currency: money.currency,
    effective_from: effectiveFrom,
    created_at: createdAt,
  }
}

function auditable({ area, unit, country, network, account, money, effectiveFrom }: Price): object {
  return {
    area,
    unit,
    country,
    network,
    account_id: account && idOf('account', account),
    amount: formatMicros(money.micros),
    currency: money.currency,
    effective_from: effectiveFrom,
  }
}

export const priceRoutes: readonly Route[] = [listAll, set, get, importAll, remove]
